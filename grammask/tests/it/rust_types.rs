//! Rust types as structures: the schemas that `schemars` makes of them are taken as they are.

use std::collections::{BTreeMap, HashMap};

use grammask::{Compiler, JsonSchemaOptions};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use crate::common;

/// A measurement with everything that a field can be.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Report {
    /// Documentation becomes a description.
    #[schemars(length(min = 1, max = 20))]
    title: String,
    #[schemars(range(min = 0, max = 100))]
    percent: u8,
    ratio: f64,
    offset: i64,
    initial: char,
    verdict: Option<Verdict>,
    #[serde(default)]
    notes: Vec<String>,
    place: (i32, i32),
    counts: BTreeMap<String, u32>,
    parts: Vec<Part>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Good,
    NotSoGood,
}

/// Every manner of tagging, and recursion.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Part {
    Leaf { size: u64 },
    Branch { left: Box<Part>, right: Option<Box<Part>> },
    Plain,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum External {
    Unit,
    Value(i32),
    Pair(bool, String),
    Fields { a: Option<bool> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    One(i32),
    Two { b: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(f64),
    Text(String),
    Table(HashMap<String, Vec<bool>>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Flattened {
    id: u32,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Rest {
    name: String,
    #[schemars(regex(pattern = r"^[A-Z]{2}-[0-9]+$"))]
    code: String,
}

/// The text of a value obeys the schema of its type, byte by byte, and others do not.
#[track_caller]
fn check<T: JsonSchema + Serialize>(value: &T, refused: &[&str]) {
    let schema = serde_json::to_string(&schema_for!(T)).unwrap();
    let grammar = Compiler::new(common::vocabulary()).json_schema(&schema, &JsonSchemaOptions::default());
    let grammar = grammar.unwrap_or_else(|error| panic!("{error}\n{schema}"));
    let has = |text: &str| {
        let mut matcher = grammar.matcher();
        matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_completed()
    };
    let text = serde_json::to_string(value).unwrap();
    assert!(has(&text), "{text}\n{schema}");
    for text in refused {
        assert!(!has(text), "{text}\n{schema}");
    }
}

#[test]
fn structs() {
    let report = Report {
        title: "a".into(),
        percent: 100,
        ratio: -0.5,
        offset: -3,
        initial: 'é',
        verdict: Some(Verdict::NotSoGood),
        notes: vec!["b".into()],
        place: (1, -2),
        counts: BTreeMap::from([("c".into(), 3)]),
        parts: vec![
            Part::Plain,
            Part::Branch {
                left: Box::new(Part::Leaf { size: 7 }),
                right: Some(Box::new(Part::Branch { left: Box::new(Part::Plain), right: None })),
            },
        ],
    };
    check(&report, &["{}", r#"{"title":"","percent":1}"#, r#"{"title":"a","percent":101}"#]);
    check(
        &Flattened { id: 1, rest: Rest { name: "n".into(), code: "AB-12".into() } },
        &[r#"{"id":1,"name":"n","code":"ab"}"#, r#"{"id":-1,"name":"n","code":"AB-1"}"#],
    );
}

#[test]
fn enums() {
    for value in
        [External::Unit, External::Value(-1), External::Pair(true, "x".into()), External::Fields { a: None }]
    {
        check(&value, &[r#""Value""#, r#"{"Pair":[true]}"#, r#"{"Unit":null}"#]);
    }
    for value in [Adjacent::One(1), Adjacent::Two { b: "x".into() }] {
        check(&value, &[r#"{"t":"One","c":{"b":"x"}}"#, r#"{"t":"Three"}"#]);
    }
    for value in [
        Untagged::Number(1.5),
        Untagged::Text("x".into()),
        Untagged::Table(HashMap::from([("k".into(), vec![true])])),
    ] {
        check(&value, &["null", r#"{"k":[1]}"#]);
    }
    check(&Some(Part::Plain), &[r#"{"kind":"root"}"#]);
}
