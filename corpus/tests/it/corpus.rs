//! All cases. The naive recogniser judges the data before the data judges anyone.

use grammask_corpus::{Case, Report, cases, check_backend, check_matcher, check_oracle, gaps, subjects};
use grammask_grammar_frontends::ebnf;

fn all() -> Vec<Case> {
    cases().expect("the corpus can be read")
}

#[track_caller]
fn check(report: &Report) {
    let gaps = gaps().expect("the list of gaps can be read");
    let total = report.passed.len() + report.failed.len();
    assert!(total >= 300, "only {total} cases were run on {}", report.backend);
    let problems = report.against(&gaps).err().unwrap_or_default();
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn the_naive_recogniser_confirms_every_case() {
    check(&check_oracle(&all()));
}

#[test]
fn earley_passes_every_case() {
    check(&check_backend("earley", &all(), subjects::earley));
}

#[test]
fn earley_passes_every_case_with_automata_that_were_written_and_read() {
    check(&check_backend("earley-stored", &all(), subjects::earley_stored));
}

#[test]
fn pda_passes_every_case_without_left_recursion() {
    check(&check_backend("pda", &all(), subjects::pda));
}

#[test]
fn a_matcher_passes_the_cases_in_which_items_differ() {
    check(&check_matcher(&all()));
}

#[test]
fn printed_grammars_read_back() {
    for case in all() {
        let Ok(grammar) = case.grammar() else { continue };
        let printed = grammar.to_string();
        let root = grammar.rule(grammar.root()).name().to_owned();
        let options = ebnf::EbnfOptions::default().root(root);
        match ebnf::parse(&printed, &options) {
            Ok(read) => {
                assert!(read.is_same(&grammar), "{}: another grammar comes back:\n{printed}", case.id())
            }
            Err(error) => panic!("{}: {error}\n{printed}", case.id()),
        }
    }
}
