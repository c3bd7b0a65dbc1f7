//! Random grammars and texts: the backend and the naive recogniser must agree on every byte.

use grammask_corpus::{random, subjects};
use grammask_oracle::random::GrammarOptions;

/// Texts that a suite compares at least; each counts once for its grammar and its tokens.
const TEXTS: usize = 3_000;

#[track_caller]
fn check(seeds: std::ops::Range<u64>, options: &GrammarOptions) {
    match random::compare(seeds, options, subjects::earley) {
        Ok(tally) => assert!(tally.texts >= TEXTS, "only {tally:?}"),
        Err(problem) => panic!("{problem}"),
    }
}

#[test]
fn earley_agrees_on_grammars_of_every_kind() {
    check(0..1_000, &GrammarOptions::default());
}

#[test]
fn earley_agrees_on_context_free_grammars() {
    check(10_000..11_000, &GrammarOptions::context_free());
}

#[test]
fn earley_agrees_on_regular_operators() {
    check(20_000..20_800, &GrammarOptions::regular());
}

#[test]
fn earley_agrees_on_left_recursive_and_ambiguous_grammars() {
    let options = GrammarOptions {
        left_recursion_percent: 60,
        doubling_percent: 40,
        nullable_percent: 40,
        ..GrammarOptions::context_free()
    };
    check(30_000..31_000, &options);
}

#[test]
fn earley_agrees_on_counted_repeats() {
    let options = GrammarOptions { counted_weight: 8, count: 5, nullable_percent: 40, ..GrammarOptions::default() };
    check(40_000..40_700, &options);
}
