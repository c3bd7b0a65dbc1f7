//! Random grammars and texts: the backend and the naive recogniser must agree on every byte.

use std::ops::Range;

use grammask_corpus::{random, subjects};
use grammask_grammar_ir::Grammar;
use grammask_oracle::random::GrammarOptions;
use grammask_parser_backend::Backend;

/// Compares on the grammars of some seeds; several texts each.
#[track_caller]
fn check<B: Backend>(
    seeds: Range<u64>,
    options: &GrammarOptions,
    build: impl Fn(&Grammar) -> Result<B, String>,
) {
    check_declining(seeds, options, None, build);
}

#[track_caller]
fn check_declining<B: Backend>(
    seeds: Range<u64>,
    options: &GrammarOptions,
    declines: Option<&str>,
    build: impl Fn(&Grammar) -> Result<B, String>,
) {
    let grammars = (seeds.end - seeds.start) as usize;
    let (tally, problem) = match random::compare(seeds, options, declines, build) {
        Ok(tally) => (tally, String::new()),
        Err(problem) => (random::Tally::default(), problem),
    };
    assert!(problem.is_empty(), "{problem}");
    assert!(tally.texts >= 4 * (grammars - tally.declined), "only {tally:?}");
    let most = if declines.is_some() { (grammars / 2, tally.texts / 50) } else { (0, 0) };
    assert!(tally.declined <= most.0 && tally.indeterminate <= most.1, "{tally:?}");
}

#[test]
fn earley_agrees_on_grammars_of_every_kind() {
    check(0..500, &GrammarOptions::default(), subjects::earley);
}

#[test]
fn earley_agrees_on_context_free_grammars() {
    check(10_000..10_250, &GrammarOptions::context_free(), subjects::earley);
}

#[test]
fn earley_agrees_on_regular_operators() {
    check(20_000..20_200, &GrammarOptions::regular(), subjects::earley);
}

#[test]
fn earley_agrees_on_left_recursive_and_ambiguous_grammars() {
    let options = GrammarOptions {
        left_recursion_percent: 60,
        doubling_percent: 40,
        nullable_percent: 40,
        ..GrammarOptions::context_free()
    };
    check(30_000..30_250, &options, subjects::earley);
}

#[test]
fn earley_agrees_on_counted_repeats() {
    let options =
        GrammarOptions { counted_weight: 40, count: 6, nullable_percent: 40, ..GrammarOptions::default() };
    check(40_000..40_250, &options, subjects::earley);
}

#[test]
fn earley_agrees_on_counted_lengths() {
    check(50_000..50_400, &GrammarOptions::bounded(), subjects::earley_counting);
}

#[test]
fn pda_agrees_on_counted_lengths() {
    check_declining(
        50_400..50_700,
        &GrammarOptions::bounded(),
        Some("left recursion"),
        subjects::pda_counting,
    );
}

#[test]
fn pda_agrees_on_grammars_of_every_kind() {
    check_declining(60_000..60_500, &GrammarOptions::default(), Some("left recursion"), subjects::pda);
}

#[test]
fn pda_agrees_on_nullable_and_ambiguous_grammars() {
    let options = GrammarOptions {
        left_recursion_percent: 0,
        doubling_percent: 20,
        nullable_percent: 50,
        ..GrammarOptions::context_free()
    };
    check_declining(70_000..70_250, &options, Some("left recursion"), subjects::pda);
}

#[test]
fn pda_agrees_on_counted_repeats() {
    let options = GrammarOptions {
        left_recursion_percent: 0,
        counted_weight: 40,
        count: 6,
        nullable_percent: 40,
        ..GrammarOptions::default()
    };
    check_declining(80_000..80_250, &options, Some("left recursion"), subjects::pda);
}

#[test]
fn pda_agrees_on_regular_operators() {
    check_declining(90_000..90_200, &GrammarOptions::regular(), None, subjects::pda);
}
