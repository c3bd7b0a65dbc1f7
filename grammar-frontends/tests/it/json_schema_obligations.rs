//! Obligations of arrays and objects: items and members that must occur somewhere.

use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, KeyOrder};
use serde_json::{Value, json};

use crate::schema_texts;

/// Whether a name occurs twice in an object.
fn repeats(text: &str) -> bool {
    let names = serde_json::from_str::<Value>(text).unwrap().as_object().map_or(0, |members| members.len());
    text.starts_with('{') && text.matches("\":").count() > names
}

/// The grammar of a schema has the first texts and lacks the others, in each order of keys. In any order it is for the
/// engine to keep names from repeating.
#[track_caller]
fn check(schema: Value, accepted: &[&str], rejected: &[&str]) {
    for order in [KeyOrder::Declared, KeyOrder::Any] {
        let options = JsonSchemaOptions::default().key_order(order);
        let is_grammars = |text: &&&str| order == KeyOrder::Declared || !repeats(text);
        let rejected: Vec<&str> = rejected.iter().filter(is_grammars).copied().collect();
        schema_texts::check(&schema, &options, accepted, &rejected);
    }
}

#[test]
fn several_contains() {
    check(
        json!({"allOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}], "maxItems": 3}),
        &["[1,2]", "[2,1]", "[3,2,1]", "[1,1,2]"],
        &["[]", "[1]", "[1,1]", "[2,3]", "[1,2,3,4]"],
    );
    // One item may count for both.
    check(
        json!({"allOf": [{"contains": {"minimum": 3}}, {"contains": {"maximum": 5}}], "items": {"type": "integer"}}),
        &["[4]", "[1,9]", "[9,1]"],
        &["[]", "[1]", "[9]", "[9,8]"],
    );
    check(
        json!({
            "type": "array",
            "allOf": [
                {"contains": {"type": "string"}, "minContains": 2, "maxContains": 3},
                {"contains": {"type": "null"}, "minContains": 0, "maxContains": 1},
                {"not": {"items": {"type": ["string", "null"]}}}
            ]
        }),
        &[r#"["a","b",1]"#, r#"[1,null,"a",2,"b","c"]"#],
        &[r#"["a","b"]"#, r#"["a",1]"#, r#"[null,null,"a","b",1]"#, r#"["a","b","c","d",1]"#],
    );
}

#[test]
fn different_items_at_places() {
    check(
        json!({"prefixItems": [{"type": "boolean"}, {"type": "boolean"}], "items": false, "uniqueItems": true}),
        &["[]", "[true]", "[true,false]", "[false, true]"],
        &["[true,true]", "[false,false]", "[true,false,true]"],
    );
    check(
        json!({
            "prefixItems": [{"enum": [1, "a", null]}, {"enum": ["a", "b"]}, {"enum": [1, "b"]}],
            "items": false,
            "minItems": 2,
            "uniqueItems": true
        }),
        &[r#"[1,"a"]"#, r#"[null,"a",1]"#, r#"["a","b",1.0]"#],
        &["[]", "[1]", r#"["a","a"]"#, r#"[1,"b",1.0]"#, r#"[null,"b","b"]"#],
    );
}

/// Asks for a member whose name matches and whose value satisfies.
fn some_member(pattern: &str, value: Value) -> Value {
    json!({"not": {"patternProperties": {pattern: {"not": value}}}})
}

#[test]
fn members_by_name() {
    let some_name = |pattern: &str| json!({"not": {"propertyNames": {"not": {"pattern": pattern}}}});
    check(
        json!({"type": "object", "allOf": [some_name("^a"), some_name("b$")]}),
        &[r#"{"ab":1}"#, r#"{"a":1,"b":2}"#, r#"{"b":1,"c":2,"a":2}"#, r#"{"ac":1,"ac":1,"cb":1}"#],
        &["{}", r#"{"a":1}"#, r#"{"b":1}"#, r#"{"a":1,"ac":1}"#, r#"{"ba":1}"#],
    );
    check(
        json!({"type": "object", "allOf": [some_name("^a"), some_name("b$")], "maxProperties": 1}),
        &[r#"{"ab":1}"#, r#"{"acb":1}"#],
        &["{}", r#"{"a":1,"b":2}"#, r#"{"a":1}"#],
    );
    // A name that the schema allows is a witness where it is declared, too.
    check(
        json!({"properties": {"ax": {"type": "null"}}, "type": "object", "allOf": [some_name("^a"), some_name("b$")]}),
        &[r#"{"ax":null,"b":2}"#, r#"{"ax":null,"ab":2}"#, r#"{"ab":2}"#],
        &[r#"{"ax":1,"b":2}"#, r#"{"ax":null}"#],
    );
}

#[test]
fn members_by_value() {
    check(
        json!({"type": "object", "allOf": [
            some_member("^a", json!({"type": "integer"})),
            some_member("^a", json!({"type": "integer", "minimum": 5})),
            some_member("z", json!(true))
        ]}),
        &[r#"{"z":1,"a":7}"#, r#"{"az":7}"#, r#"{"a":1,"z":1,"b":2,"a":5}"#],
        &["{}", r#"{"a":7}"#, r#"{"z":1,"a":4}"#, r#"{"z":1,"a":7,"a":1}"#, r#"{"az":1}"#],
    );
    // There is room for one member, which is the witness of both.
    check(
        json!({"type": "object", "maxProperties": 1, "allOf": [
            some_member("a", json!({"minimum": 3})),
            some_member("b", json!({"maximum": 5}))
        ]}),
        &[r#"{"ab":4}"#, r#"{"xbya":"s"}"#],
        &["{}", r#"{"ab":2}"#, r#"{"a":4}"#, r#"{"a":4,"b":4}"#],
    );
    // Counts go along.
    check(
        json!({"type": "object", "properties": {"k": true}, "minProperties": 2, "maxProperties": 2, "required": ["k"],
            "allOf": [some_member("a", json!({"type": "null"}))]}),
        &[r#"{"k":1,"a":null}"#],
        &["{}", r#"{"k":1}"#, r#"{"k":1,"b":null}"#, r#"{"k":1,"b":1,"a":null}"#, r#"{"a":null}"#],
    );
}

#[test]
fn members_by_value_under_names_that_differ() {
    check(
        json!({"type": "object", "allOf": [
            some_member("^a", json!({"type": "integer"})),
            some_member("^b", json!({"type": "string"}))
        ]}),
        &[r#"{"a":1,"b":"x"}"#, r#"{"b":"x","a":1}"#, r#"{"c":1,"a":"s","b2":"x","a":1}"#],
        &["{}", r#"{"a":1}"#, r#"{"b":"x"}"#, r#"{"a":"x","b":1}"#, r#"{"a":1,"b":"x","a":"x"}"#],
    );
}

#[test]
fn alternatives_are_told_apart_by_what_their_names_can_be() {
    let keyed = |pattern: &str| {
        json!({"type": "object", "minProperties": 1, "additionalProperties": false,
            "patternProperties": {pattern: {"$ref": "#"}}})
    };
    check(
        json!({"oneOf": [
            keyed("^[0-9]+$"),
            keyed("^[a-z]+$"),
            {"type": "string", "pattern": "^x"},
            {"type": "string", "pattern": "^y", "minLength": 2}
        ]}),
        &[r#"{"1":"x"}"#, r#"{"a":{"2":"ya"},"b":"x"}"#, r#""yy""#],
        &["{}", r#"{"1":"x","a":"x"}"#, r#"{"a":"y"}"#],
    );
}
