//! The generators: what they promise, and that they reach what they are for.

use grammask_grammar_ir::Expr;
use grammask_oracle::random::{GrammarOptions, Rng};
use grammask_oracle::{Recogniser, mask, random};

#[test]
fn cases_are_viable_and_reproducible() {
    let (mut allowed, mut refused, mut empty, mut sentences) = (0, 0, 0, 0);
    for seed in 0..600 {
        let case = random::case(seed);
        let recogniser = Recogniser::new(&case.grammar);
        assert!(!recogniser.is_language_empty());
        let chart = recogniser.read(&case.prefix).unwrap();
        for (token, is_allowed) in case.vocabulary.iter().zip(mask(&chart, &case.vocabulary)) {
            assert!(!is_allowed || !token.is_empty());
            empty += usize::from(token.is_empty());
            allowed += usize::from(is_allowed);
            refused += usize::from(!is_allowed);
        }
        sentences += usize::from(recogniser.accepts(&case.text));
        let again = random::case(seed);
        assert_eq!(case.grammar, again.grammar);
        assert_eq!((case.vocabulary, case.prefix, case.text), (again.vocabulary, again.prefix, again.text));
    }
    // Masks that are nearly all ones or zeros, or texts that all die, would test little.
    assert!(allowed > 900 && refused > 3000 && empty > 200, "{allowed} {refused} {empty}");
    assert!((120..540).contains(&sentences), "{sentences}");
}

#[test]
fn every_construct_comes_up() {
    let mut counts = [0; 13];
    for seed in 0..500 {
        let grammar = random::any_grammar(&mut Rng::new(seed), &GrammarOptions::with_tokens(4));
        for index in 0..grammar.expr_count() {
            let kind = match grammar.expr(grammask_grammar_ir::ExprId::new(index).unwrap()) {
                Expr::Empty => 0,
                Expr::Bytes(_) => 1,
                Expr::Class(_) => 2,
                Expr::Sequence(_) => 3,
                Expr::Choice(_) => 4,
                Expr::Repeat { .. } => 5,
                Expr::Rule(_) => 6,
                Expr::Intersection(_) => 7,
                Expr::TagDispatch(_) => 8,
                Expr::JsonEscaped(..) => 9,
                Expr::Token(_) => 10,
                Expr::ExcludeToken(_) => 11,
                Expr::Complement(_) => 12,
                Expr::TagText(_) => continue,
                other => panic!("{other:?} has no knob"),
            };
            counts[kind] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn knobs_switch_constructs_off() {
    for seed in 0..200 {
        let text = random::any_grammar(&mut Rng::new(seed), &GrammarOptions::context_free()).to_string();
        assert!(!["Intersection(", "Complement(", "JsonEscaped("].iter().any(|word| text.contains(word)));
        let regular = random::any_grammar(&mut Rng::new(seed), &GrammarOptions::regular());
        assert_eq!(regular.rule_count(), 1);
        assert!(!regular.to_string().contains("Bytes("));
    }
    let nothing =
        GrammarOptions { rules: 0, depth: u32::MAX, parts: 0, count: 0, ..GrammarOptions::default() };
    for seed in 0..50 {
        random::grammar(&mut Rng::new(seed), &nothing);
    }
}

#[test]
fn walks_and_mutations_stay_in_bounds() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let grammar = random::grammar(&mut rng, &GrammarOptions::default());
        let recogniser = Recogniser::new(&grammar);
        let walk = random::walk(&mut rng, &recogniser, 9);
        assert!(walk.len() <= 9 && recogniser.is_prefix(&walk));
        if let Some(sentence) = random::sentence(&mut rng, &recogniser, 9) {
            assert!(sentence.len() <= 9 && recogniser.accepts(&sentence));
        }
        assert!(random::mutate(&mut rng, &walk).len().abs_diff(walk.len()) <= 3);
    }
}

#[test]
fn numbers_are_in_range_and_spread() {
    let mut rng = Rng::new(0);
    let mut seen = [0; 7];
    for _ in 0..7000 {
        seen[rng.below(7)] += 1;
    }
    assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
    assert_eq!(rng.below(0), 0);
    assert_eq!(rng.between(3, 2), 3);
    assert_eq!(rng.weighted(&[0, 0]), None);
    assert_eq!(rng.weighted(&[0, 5, 0]), Some(1));
    assert_eq!(rng.pick::<u8>(&[]), None);
}
