//! All cases. The naive recogniser judges the data before the data judges anyone.

use grammask_corpus::{Report, cases, check_backend, check_oracle, gaps, subjects};

#[track_caller]
fn check(report: &Report) {
    let gaps = gaps().expect("the list of gaps can be read");
    assert!(report.passed.len() >= 180, "only {} cases pass on {}", report.passed.len(), report.backend);
    if let Err(problems) = report.against(&gaps) {
        panic!("{problems}");
    }
}

#[test]
fn the_naive_recogniser_confirms_every_case() {
    check(&check_oracle(&cases().expect("the corpus can be read")));
}

#[test]
fn earley_passes_every_case() {
    check(&check_backend("earley", &cases().expect("the corpus can be read"), subjects::earley));
}
