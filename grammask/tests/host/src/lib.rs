//! A program that links grammask keeps `serde_json` as it is.
//!
//! Cargo builds one `serde_json` for a whole program, with every feature that any crate in it asks for. Two of them change
//! what it does: with `arbitrary_precision` numbers no longer pass through tagged and flattened types, and with
//! `preserve_order` maps keep the order of insertion.

#![cfg(test)]

use grammask::{Compiler, JsonSchemaOptions, JsonValue, Vocabulary, VocabularyOptions};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Circle { radius: f64 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Placed {
    x: f64,
    #[serde(flatten)]
    shape: Shape,
}

#[test]
fn tagged_and_flattened_numbers_are_read() {
    let text = r#"{"x":0.5,"kind":"circle","radius":1.25}"#;
    let placed = Placed { x: 0.5, shape: Shape::Circle { radius: 1.25 } };
    assert_eq!(serde_json::from_str::<Placed>(text).unwrap(), placed);
    assert_eq!(serde_json::to_string(&placed).unwrap(), text);
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::from_value::<Placed>(value).unwrap(), placed);
}

#[test]
fn maps_are_sorted() {
    assert_eq!(serde_json::json!({"b": 1, "a": 2}).to_string(), r#"{"a":2,"b":1}"#);
}

/// The order of a schema and the digits of its numbers do not depend on the features of the program.
#[test]
fn schemas_keep_their_order_and_numbers() {
    let tokens = (0..=255).map(|byte| Some([byte])).chain([None]);
    let options = VocabularyOptions::default().stop_ids([256]);
    let compiler = Compiler::new(Vocabulary::from_tokens(tokens, &options).unwrap());
    let schema = r#"{
        "properties": {"b": {"const": 123456789012345678901234567890.5}, "a": {"const": 1}},
        "required": ["b", "a"], "additionalProperties": false
    }"#;
    let options = JsonSchemaOptions::default();
    let allows = |text: &str| {
        let grammar = compiler.json_schema(schema, &options).unwrap();
        grammar.matcher().accept_bytes(text.as_bytes()).is_ok()
    };
    assert!(allows(r#"{"b": 123456789012345678901234567890.5, "a": 1}"#));
    assert!(!allows(r#"{"a""#));
    assert!(!allows(r#"{"b": 123456789012345680000000000000, "a": 1}"#));
    let value: JsonValue = schema.parse().unwrap();
    assert!(value.to_string().starts_with(r#"{"properties":{"b":{"const":123456789012345678901234567890.5}"#));
}
