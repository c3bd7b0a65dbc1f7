//! Against listing the language: the sets of all short texts of every expression, grown until nothing is new.

use std::collections::BTreeSet;

use grammask_grammar_ir::{Expr, ExprId, Grammar};
use grammask_oracle::{Recogniser, random};

const MAX_BYTES: usize = 5;
const MAX_TEXTS: usize = 1000;

type Texts = BTreeSet<Vec<u8>>;

/// All sentences of at most `MAX_BYTES` bytes, unless there are too many.
fn sentences(grammar: &Grammar) -> Option<Texts> {
    let mut sets: Vec<Texts> = vec![Texts::new(); grammar.expr_count()];
    loop {
        let mut changed = false;
        for index in 0..sets.len() {
            let set = texts(grammar, ExprId::new(index).unwrap(), &sets);
            if set.len() > MAX_TEXTS {
                return None;
            }
            changed |= set.len() > sets[index].len();
            sets[index] = set;
        }
        if !changed {
            return Some(sets[grammar.rule(grammar.root()).body().index()].clone());
        }
    }
}

fn texts(grammar: &Grammar, expr: ExprId, sets: &[Texts]) -> Texts {
    match grammar.expr(expr) {
        Expr::Empty => [vec![]].into(),
        Expr::Bytes(bytes) => [bytes.to_vec()].into(),
        Expr::Class(ranges) => {
            let characters = ranges.iter().flat_map(|&(low, high)| low..=high);
            characters.map(|character| character.to_string().into_bytes()).collect()
        }
        Expr::Sequence(parts) => {
            parts.iter().fold([vec![]].into(), |texts, part| join(&texts, &sets[part.index()]))
        }
        Expr::Choice(parts) => parts.iter().flat_map(|part| sets[part.index()].clone()).collect(),
        Expr::Repeat { body, min, max } => {
            let mut times: Texts = [vec![]].into();
            let mut all = Texts::new();
            // A short text has few iterations that are not empty, and bounds are small here.
            for count in 0..=max.unwrap_or(min + MAX_BYTES as u32) {
                if count >= min {
                    all.extend(times.iter().cloned());
                }
                times = join(&times, &sets[body.index()]);
            }
            all
        }
        Expr::Rule(rule) => sets[grammar.rule(rule).body().index()].clone(),
        other => panic!("{other:?} is not context-free"),
    }
}

fn join(firsts: &Texts, seconds: &Texts) -> Texts {
    let pairs = firsts.iter().flat_map(|first| seconds.iter().map(move |second| (first, second)));
    let short = pairs.filter(|(first, second)| first.len() + second.len() <= MAX_BYTES);
    short.map(|(first, second)| [&first[..], second].concat()).collect()
}

#[test]
fn random_context_free_grammars() {
    let options = random::GrammarOptions {
        class_weight: 0,
        left_recursion_percent: 25,
        doubling_percent: 15,
        count: 3,
        ..random::GrammarOptions::context_free()
    };
    let (mut listed, mut members) = (0, 0);
    for seed in 0..800 {
        let mut rng = random::Rng::new(seed);
        let grammar = random::any_grammar(&mut rng, &options);
        let Some(sentences) = sentences(&grammar) else { continue };
        listed += 1;
        let recogniser = Recogniser::new(&grammar);
        let context = || format!("seed {seed}\n{grammar}");
        assert!(!recogniser.is_language_empty() || sentences.is_empty(), "{}", context());
        for sentence in sentences.iter().take(100) {
            assert!(recogniser.accepts(sentence), "{sentence:?} {}", context());
            members += 1;
            let mutant = random::mutate(&mut rng, sentence);
            if mutant.len() <= MAX_BYTES {
                assert_eq!(
                    recogniser.accepts(&mutant),
                    sentences.contains(&mutant),
                    "{mutant:?} {}",
                    context()
                );
            }
        }
        // Bytes that are allowed lead to a sentence, a short one where the walk finds one.
        for _ in 0..4 {
            if let Some(found) = random::sentence(&mut rng, &recogniser, MAX_BYTES) {
                assert!(sentences.contains(&found), "{found:?} {}", context());
            }
        }
    }
    assert!(listed > 400 && members > 3000, "{listed} {members}");
}
