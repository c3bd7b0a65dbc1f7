//! Masks against the naive recogniser, bit by bit.

use std::fmt::Write;

use grammask_mask_cache::{TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{Compiler, MatchError, Matcher};
use grammask_oracle::random::{self, GrammarOptions};
use grammask_oracle::{Chart, Recogniser};
use grammask_parser_backend::StepError;

/// Compares every mask along a text with the oracle's; ids follow each other in `tokens`, the stop token last.
/// Returns how many masks were compared.
fn check(seed: u64, case: &random::Case) -> usize {
    let stop = case.vocabulary.len();
    let tokens = case.vocabulary.iter().map(Some).chain([None]);
    let options = VocabularyOptions::default().stop_ids([stop as u32]);
    let vocabulary = Vocabulary::from_tokens(tokens, &options).unwrap();
    let compiler = Compiler::new(vocabulary);
    let recogniser = Recogniser::new(&case.grammar);
    let grammar = match compiler.grammar(&case.grammar) {
        Ok(grammar) => grammar,
        Err(error) => panic!("seed {seed}: {error}\n{:?}", case.grammar),
    };
    let mut matcher = grammar.matcher();
    let mut chart = recogniser.begin();
    let mut compared = 0;
    for at in 0..=case.text.len() {
        compare(seed, case, &mut matcher, &chart, stop);
        compared += 1;
        let Some(&byte) = case.text.get(at) else { break };
        let accepted = matcher.accept_bytes(&[byte]).is_ok();
        assert_eq!(accepted, chart.push(byte), "seed {seed}: byte {byte:#04x} at {at}\n{}", show(case));
        if !accepted {
            break;
        }
    }
    compared
}

fn compare(seed: u64, case: &random::Case, matcher: &mut Matcher, chart: &Chart<'_>, stop: usize) {
    let mut expected = grammask_oracle::mask(chart, &case.vocabulary);
    expected.push(chart.is_complete());
    let mut mask = TokenMask::new(stop + 1);
    match matcher.fill_mask(&mut mask) {
        Ok(_) => {
            let found: Vec<bool> = (0..=stop)
                .map(|id| {
                    let vocabulary = matcher.grammar().vocabulary();
                    vocabulary.id(id as u32).is_some_and(|id| mask.contains(id))
                })
                .collect();
            assert_eq!(found, expected, "seed {seed} after {} steps\n{}", matcher.steps(), show(case));
        }
        Err(MatchError::Limit(StepError::Unspellable { .. })) => {
            assert!(!expected.contains(&true), "seed {seed}: a token is allowed\n{}", show(case));
        }
        Err(error) => panic!("seed {seed}: {error}\n{}", show(case)),
    }
    for (id, allowed) in expected.iter().enumerate() {
        let id = matcher.grammar().vocabulary().id(id as u32).unwrap();
        let mut fork = matcher.fork();
        assert_eq!(fork.accept_token(id).is_ok(), *allowed, "seed {seed}: token {id:?}\n{}", show(case));
    }
}

fn show(case: &random::Case) -> String {
    let mut shown = String::new();
    let _ = writeln!(shown, "{}", case.grammar);
    let _ = writeln!(shown, "text: {:?}", String::from_utf8_lossy(&case.text));
    for (id, token) in case.vocabulary.iter().enumerate() {
        let _ = writeln!(shown, "{id}: {:?}", String::from_utf8_lossy(token));
    }
    shown
}

/// Number of random cases; `GRAMMASK_CASES` asks for more.
fn cases() -> u64 {
    std::env::var("GRAMMASK_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(2_000)
}

#[test]
fn masks_equal_the_oracle_on_random_grammars() {
    let mut compared = 0;
    for seed in 0..cases() {
        compared += check(seed, &random::case(seed));
    }
    assert!(compared as u64 >= cases() * 3, "{compared} masks in {} cases", cases());
}

#[test]
fn masks_equal_the_oracle_on_context_free_grammars() {
    for seed in 0..cases() / 2 {
        let options = GrammarOptions::context_free();
        check(seed, &random::case_with(seed, &options, &random::VocabularyOptions::default()));
    }
}
