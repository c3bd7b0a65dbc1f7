//! Random schemas and instances, with a validator as the judge.

use std::fmt::Write as _;

use grammask_corpus::BackendSubject;
use grammask_corpus::documents::{Spelled, Spelling, accepts_some_order};
use grammask_corpus::schemas::{Comparison, Family, Judge, KEYWORDS, compare};
use grammask_corpus::subjects::earley;
use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions};
use serde_json::{Value, json};

/// Pairs of a schema and an instance. `GRAMMASK_CASES=20000` is the long run.
const PAIRS: usize = 3000;

/// In how many schemas each keyword is, at least, for every hundred pairs.
const MIN_SCHEMAS: usize = 1;

fn judge(schema: &Value) -> Option<Judge> {
    let validator = jsonschema::options().should_validate_formats(true).build(schema).ok()?;
    Some(Box::new(move |value| validator.is_valid(value)))
}

/// Compares on this many pairs. Half of them have to be valid, and at most this many percent of the schemas
/// refused.
fn check(family: Family, most_refused: usize) -> Comparison {
    let number = |name: &str| {
        let value = std::env::var(name).ok();
        value.map(|value| value.parse::<usize>().expect("the variable is a number"))
    };
    let pairs = number("GRAMMASK_CASES").unwrap_or(PAIRS);
    let first_seed = number("GRAMMASK_SEED").unwrap_or(0);
    let comparison = compare(family, first_seed as u64, pairs, judge);
    let told = describe(&comparison);
    assert!(comparison.disagreements.is_empty(), "{told}");
    assert!(comparison.refusals() * 100 <= comparison.schemas * most_refused, "too many refusals\n{told}");
    assert!((45..=55).contains(&(comparison.valid * 100 / comparison.pairs)), "half are to be valid\n{told}");
    comparison
}

#[test]
fn grammars_and_a_validator_agree() {
    let comparison = check(Family::Keywords, 5);
    for keyword in KEYWORDS {
        let count = comparison.keywords.get(keyword).copied().unwrap_or(0);
        let told = describe(&comparison);
        let is_enough = count * 100 >= comparison.pairs * MIN_SCHEMAS;
        assert!(is_enough, "{keyword} occurs in {count} schemas only\n{told}");
    }
}

#[test]
fn objects_that_share_names_are_told_apart() {
    check(Family::Objects, 15);
}

/// The grammar reads few of the orders, and none of those that come first.
#[test]
fn documents_are_read_in_the_order_that_is_right() {
    let item = json!({"properties": {"d": false}, "required": ["a", "b", "c"]});
    let schema = json!({"type": "array", "not": {"items": item}});
    let compiled =
        json_schema::compile(&schema.to_string(), &JsonSchemaOptions::default()).expect("it compiles");
    let subject = BackendSubject(earley(&compiled.grammar).expect("it compiles"));
    for (members, is_valid) in [
        (r#"{"a": 1, "b": 2, "c": 3, "x": 4, "d": 5}"#, true),
        (r#"{"a": 1, "b": 2, "c": 3, "x": 4, "e": 5}"#, false),
    ] {
        let document = serde_json::from_str(&format!(r#"[{members}, {members}]"#)).expect("it is a document");
        let document = Spelled::new(&document, &mut Spelling::Canonical);
        assert_eq!(accepts_some_order(&subject, &document), Ok(is_valid), "{members}");
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
