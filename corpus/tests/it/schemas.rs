//! Random schemas and instances, with a validator as the judge.

use std::fmt::Write as _;

use grammask_corpus::schemas::{Comparison, Judge, KEYWORDS, compare};
use serde_json::Value;

/// Pairs of a schema and an instance. `GRAMMASK_CASES=20000` is the long run.
const PAIRS: usize = 3000;

/// In how many schemas each keyword is, at least, for every hundred pairs.
const LEAST_SCHEMAS: usize = 1;

/// Percent of the schemas that may be refused.
const MOST_REFUSED: usize = 5;

fn judge(schema: &Value) -> Option<Judge> {
    let validator = jsonschema::options().should_validate_formats(true).build(schema).ok()?;
    Some(Box::new(move |value| validator.is_valid(value)))
}

#[test]
fn grammars_and_a_validator_agree() {
    let cases = std::env::var("GRAMMASK_CASES").ok();
    let pairs = cases.map_or(PAIRS, |cases| cases.parse().expect("GRAMMASK_CASES is a number of pairs"));
    let comparison = compare(0, pairs, judge);
    let told = describe(&comparison);
    assert!(comparison.disagreements.is_empty(), "{told}");
    assert!(comparison.refusals() * 100 <= comparison.schemas * MOST_REFUSED, "too many refusals\n{told}");
    assert!((45..=55).contains(&(comparison.valid * 100 / comparison.pairs)), "half are to be valid\n{told}");
    for keyword in KEYWORDS {
        let count = comparison.keywords.get(keyword).copied().unwrap_or(0);
        assert!(count * 100 >= pairs * LEAST_SCHEMAS, "{keyword} occurs in {count} schemas only\n{told}");
    }
}

fn describe(comparison: &Comparison) -> String {
    let Comparison { schemas, unsatisfiable, pairs, valid, walks, .. } = comparison;
    let mut text = format!(
        "{schemas} schemas: {} refused, {unsatisfiable} unsatisfiable; {pairs} pairs, {valid} of them valid; {walks} \
         walks; {} disagreements\n",
        comparison.refusals(),
        comparison.disagreements.len()
    );
    for (keyword, count) in &comparison.keywords {
        let _ = write!(text, "{keyword} {count}, ");
    }
    let _ = writeln!(text);
    for (reason, (count, example)) in &comparison.refused {
        let _ = writeln!(text, "{count:>6} {reason}\n       {example}");
    }
    for disagreement in comparison.disagreements.iter().take(40) {
        let _ = writeln!(text, "{disagreement}");
    }
    text
}
