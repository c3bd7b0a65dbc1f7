//! Passes: what they do, and that they keep the language.

use grammask_grammar_ir::passes::{append, concat, drop_unreachable, union};
use grammask_grammar_ir::{Grammar, GrammarBuilder, Span};
use grammask_oracle::Recogniser;
use grammask_oracle::random::{self, GrammarOptions};
use insta::assert_snapshot;

use crate::grammar;

#[test]
fn what_is_kept_keeps_name_span_and_lookahead() {
    let mut builder = GrammarBuilder::new();
    let [unused, root, seen] = ["unused", "root", "seen"].map(|name| builder.declare(name).unwrap());
    let (x, reference) = (builder.literal("x"), builder.rule(seen));
    for rule in [unused, root, seen] {
        builder.define(rule, x).unwrap();
    }
    builder.set_lookahead(root, reference);
    builder.set_span(root, Span::new(1, 2));
    let kept = drop_unreachable(&builder.finish(root).unwrap()).unwrap();
    assert_eq!(kept.rule(kept.root()).span(), Some(Span::new(1, 2)));
    assert_snapshot!(kept, @r#"
    root ::= "x" (=(seen))
    seen ::= "x"
    "#);
}

/// Whether two grammars allow the same bytes, and end at the same places, along random texts of the first.
fn check_same_language(seed: u64, before: &Grammar, after: &Grammar) {
    let (ours, theirs) = (Recogniser::new(before), Recogniser::new(after));
    let context = || format!("seed {seed}\n{before}\n{after}");
    assert_eq!(ours.is_language_empty(), theirs.is_language_empty(), "{}", context());
    let mut rng = random::Rng::new(seed);
    for _ in 0..4 {
        let text = random::walk(&mut rng, &ours, 10);
        let (mut our_chart, mut their_chart) = (ours.begin(), theirs.begin());
        for &byte in &text {
            assert_eq!(our_chart.is_complete(), their_chart.is_complete(), "{text:?} {}", context());
            assert_eq!(our_chart.next_bytes(), their_chart.next_bytes(), "{text:?} {}", context());
            assert!(our_chart.push(byte) && their_chart.push(byte));
        }
        assert_eq!(our_chart.is_complete(), their_chart.is_complete(), "{text:?} {}", context());
    }
}

#[test]
fn random_grammars_keep_their_language() {
    for seed in 0..200 {
        let options = random::GrammarOptions::default();
        let grammar = random::any_grammar(&mut random::Rng::new(seed), &options);
        check_same_language(seed, &grammar, &drop_unreachable(&grammar).unwrap());
    }
}

#[test]
fn grammars_combine() {
    let one = grammar(|builder| {
        let a = builder.literal("a");
        builder.repeat(a, 1, None)
    });
    let two = grammar(|builder| {
        let b = builder.literal("b");
        let body = builder.choice([b]);
        let rule = builder.add_rule("tail", body).unwrap();
        let tail = builder.rule(rule);
        builder.optional(tail)
    });
    assert_snapshot!(concat(&[&one, &two, &one]).unwrap().to_string(), @r#"
    root ::= root_1 root_2 root_1
    root_1 ::= "a"+
    root_2 ::= tail?
    tail ::= "b"
    "#);
    assert_snapshot!(union(&[&one, &two]).unwrap().to_string(), @r#"
    root ::= root_1 | root_2
    root_1 ::= "a"+
    root_2 ::= tail?
    tail ::= "b"
    "#);
    assert_snapshot!(concat(&[]).unwrap().to_string(), @r#"root ::= """#);
    assert_snapshot!(union(&[]).unwrap().to_string(), @"root ::= []");
}

#[test]
fn doubling_a_grammar_is_not_unfolded() {
    let mut doubled = grammar(|builder| builder.literal("a"));
    for _ in 0..40 {
        doubled = concat(&[&doubled, &doubled]).unwrap();
    }
    assert_eq!(doubled.to_string().lines().count(), 41);
}

/// A grammar that is appended to others has their numbers before its own in every pool, and is the same grammar.
#[test]
fn appended_grammars_are_the_same() {
    let kinds = || {
        let context_free = GrammarOptions::context_free();
        let tokens = GrammarOptions::with_tokens(9);
        [
            GrammarOptions::default(),
            context_free,
            GrammarOptions::with_tags(),
            tokens,
            GrammarOptions::permutation(),
        ]
    };
    let grammar = |seed, options: &GrammarOptions| random::any_grammar(&mut random::Rng::new(seed), options);
    for seed in 0..100 {
        let mut builder = GrammarBuilder::new();
        let before = kinds().map(|options| append(&mut builder, &grammar(seed + 1_000, &options)).unwrap());
        let others = kinds().map(|options| grammar(seed, &options));
        let appended = others.each_ref().map(|other| append(&mut builder, other).unwrap());
        let all: Vec<_> = before.iter().chain(&appended).map(|&rule| builder.rule(rule)).collect();
        let body = builder.choice(all);
        let root = builder.declare_fresh("all").unwrap();
        builder.define(root, body).unwrap();
        let whole = builder.finish(root).unwrap();
        for (rule, other) in appended.into_iter().zip(&others) {
            assert!(whole.counterparts(rule, other, usize::MAX).is_some(), "seed {seed}:\n{other}");
        }
    }
}

/// A common rule that was copied already is referred to, whatever it is called now, and the grammars stay the same.
#[test]
fn common_rules_are_copied_once() {
    for seed in 0..200 {
        let mut rng = random::Rng::new(seed);
        let kinds =
            [GrammarOptions::default(), GrammarOptions::context_free(), GrammarOptions::permutation()];
        let [one, two] = [seed, seed + 1_000].map(|seed| {
            let grammar = random::any_grammar(&mut random::Rng::new(seed), &kinds[seed as usize % 3]);
            let mut builder = GrammarBuilder::new();
            let root = append(&mut builder, &grammar).unwrap();
            grammar.rule_ids().filter(|_| rng.percent(50)).for_each(|rule| builder.add_common(rule));
            builder.finish(root).unwrap()
        });
        // Both again, below a rule of their own.
        let around = union(&[&two, &one]).unwrap();
        let mut builder = GrammarBuilder::new();
        let grammars = [&one, &two, &around, &one, &two, &around];
        let appended = grammars.map(|grammar| append(&mut builder, grammar).unwrap());
        let all: Vec<_> = appended.iter().map(|&rule| builder.rule(rule)).collect();
        let body = builder.choice(all);
        let root = builder.declare_fresh("all").unwrap();
        builder.define(root, body).unwrap();
        let whole = builder.finish(root).unwrap();
        for (rule, other) in appended.into_iter().zip(grammars) {
            assert!(whole.counterparts(rule, other, usize::MAX).is_some(), "seed {seed}:\n{other}\n{whole}");
        }
    }
    let number = |builder: &mut GrammarBuilder| {
        let digit = builder.literal("1");
        let digits = builder.repeat(digit, 1, None);
        let rule = builder.add_rule("number", digits).unwrap();
        builder.add_common(rule);
        builder.rule(rule)
    };
    let pair = grammar(|builder| {
        let number = number(builder);
        builder.sequence([number, number])
    });
    let signed = grammar(|builder| {
        let (sign, number) = (builder.literal("-"), number(builder));
        builder.sequence([sign, number])
    });
    assert_snapshot!(union(&[&pair, &signed]).unwrap().to_string(), @r#"
    root ::= root_1 | root_3
    root_1 ::= number number
    number ::= "1"+
    root_3 ::= "-" number
    "#);
}
