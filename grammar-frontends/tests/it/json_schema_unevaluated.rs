//! `unevaluatedProperties` and `unevaluatedItems`: what other keywords saw depends on which of them hold.

use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, KeyOrder};
use serde_json::{Value, json};

use crate::schema_texts;

/// The grammar of a schema has the first texts and lacks the others. Keys come in any order.
#[track_caller]
fn check(schema: Value, accepted: &[&str], rejected: &[&str]) {
    schema_texts::check(&schema, &JsonSchemaOptions::default().key_order(KeyOrder::Any), accepted, rejected);
}

#[test]
fn what_is_declared_beside_it_is_evaluated() {
    check(
        json!({"properties": {"a": true}, "patternProperties": {"^x": true}, "unevaluatedProperties": false}),
        &["{}", r#"{"a":1,"x2":2}"#, "[1]"],
        &[r#"{"b":1}"#, r#"{"a":1,"b":1}"#],
    );
    check(
        json!({"prefixItems": [true], "unevaluatedItems": {"type": "null"}}),
        &["[]", "[1]", "[1,null,null]", "{}"],
        &["[1,1]"],
    );
    check(json!({"additionalProperties": true, "unevaluatedProperties": false}), &[r#"{"b":1}"#], &[]);
    check(json!({"items": true, "unevaluatedItems": false}), &["[1,2]"], &[]);
}

#[test]
fn branches_count_where_they_hold() {
    let schema = json!({
        "properties": {"kind": true},
        "anyOf": [
            {"properties": {"kind": {"const": "a"}, "left": true}, "required": ["kind"]},
            {"properties": {"right": {"type": "null"}}, "required": ["right"]}
        ],
        "unevaluatedProperties": false
    });
    check(
        schema,
        &[
            r#"{"kind":"a"}"#,
            r#"{"kind":"a","left":1}"#,
            r#"{"right":null}"#,
            r#"{"right":null,"left":1,"kind":"a"}"#,
        ],
        &[r#"{"kind":"b","right":null,"left":1}"#, r#"{"kind":"a","right":1}"#, r#"{"kind":"a","more":1}"#],
    );
    let schema = json!({
        "oneOf": [
            {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": {"type": "integer"}}, "required": ["b"]}
        ],
        "unevaluatedProperties": false
    });
    check(
        schema,
        &[r#"{"a":1}"#, r#"{"b":1}"#],
        &["{}", r#"{"a":1,"b":1}"#, r#"{"a":1,"b":"x"}"#, r#"{"a":1,"c":1}"#],
    );
    // Members that `not` looks at are not evaluated.
    check(
        json!({"not": {"not": {"properties": {"a": true}, "required": ["a"]}}, "unevaluatedProperties": {"type": "null"}}),
        &[r#"{"a":null}"#],
        &[r#"{"a":1}"#, "{}"],
    );
}

#[test]
fn conditions_and_dependencies() {
    let schema = json!({
        "if": {"properties": {"kind": {"const": 1}}, "required": ["kind"]},
        "then": {"properties": {"one": true}},
        "else": {"properties": {"other": true}},
        "unevaluatedProperties": false
    });
    check(
        schema,
        &[r#"{"kind":1,"one":2}"#, r#"{"other":2}"#, "{}"],
        &[r#"{"kind":2,"other":2}"#, r#"{"one":2}"#, r#"{"kind":1,"other":2}"#],
    );
    check(
        json!({"if": {"properties": {"a": {"const": 1}}}, "unevaluatedProperties": {"type": "null"}}),
        &[r#"{"a":1}"#, r#"{"a":null,"b":null}"#, r#"{"a":1,"b":null}"#],
        &[r#"{"a":2}"#, r#"{"a":1,"b":1}"#],
    );
    check(
        json!({
            "properties": {"a": true},
            "dependentSchemas": {"a": {"properties": {"b": true}}},
            "unevaluatedProperties": false
        }),
        &["{}", r#"{"a":1}"#, r#"{"b":2,"a":1}"#, "3"],
        &[r#"{"b":2}"#, r#"{"a":1,"c":1}"#],
    );
}

#[test]
fn references_and_nesting() {
    let schema = json!({
        "$ref": "#/$defs/base",
        "properties": {"b": true},
        "unevaluatedProperties": false,
        "$defs": {"base": {"properties": {"a": {"$ref": "#"}}, "required": ["a"]}}
    });
    check(
        schema,
        &[r#"{"a":1}"#, r#"{"a":{"a":1,"b":1},"b":2}"#],
        &["{}", r#"{"a":1,"c":1}"#, r#"{"a":{"a":1,"c":1}}"#],
    );
    // An inner one evaluates all that it looks at; a cousin does not see what its cousin evaluates.
    check(
        json!({"allOf": [{"unevaluatedProperties": true}], "unevaluatedProperties": false}),
        &[r#"{"a":1}"#],
        &[],
    );
    check(
        json!({"allOf": [{"properties": {"a": true}}, {"unevaluatedProperties": false}]}),
        &["{}"],
        &[r#"{"a":1}"#],
    );
    check(
        json!({
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "$recursiveAnchor": true,
            "properties": {"next": {"$recursiveRef": "#"}},
            "unevaluatedProperties": false
        }),
        &[r#"{"next":{"next":{}}}"#],
        &[r#"{"next":{"more":{}}}"#],
    );
}

#[test]
fn items_by_place_and_by_contains() {
    check(
        json!({
            "prefixItems": [{"type": "integer"}],
            "anyOf": [{"prefixItems": [true, {"const": 2}]}, {"prefixItems": [true, true, {"const": 3}]}],
            "unevaluatedItems": false
        }),
        &["[1]", "[1,2]", "[1,2,3]", "[1,9,3]", "[1,9]"],
        &["[1,2,4]", "[1,9,4]", "[1,2,3,4]"],
    );
    check(
        json!({"contains": {"type": "string"}, "unevaluatedItems": {"type": "integer"}}),
        &[r#"["a"]"#, r#"[1,"a",2,"b"]"#],
        &["[1]", r#"["a",null]"#],
    );
    // In draft 2019-09 `contains` evaluates nothing.
    check(
        json!({
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "contains": {"type": "string"},
            "unevaluatedItems": {"type": "integer"}
        }),
        &[],
        &[r#"["a"]"#, r#"[1,"a"]"#],
    );
    check(
        json!({
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "items": [{"type": "string"}],
            "unevaluatedItems": false
        }),
        &[r#"["a"]"#, "[]"],
        &[r#"["a",1]"#],
    );
}

#[test]
fn older_drafts_do_not_have_it() {
    check(
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "unevaluatedProperties": false}),
        &[r#"{"a":1}"#],
        &[],
    );
}

/// Many kinds of objects, which a constant tells apart: beside the other keywords each has a case, and no two have one.
#[test]
fn many_kinds_exclude_each_other() {
    let kind = |kind: usize| {
        let (name, own) = (format!("k{kind}"), format!("a{kind}"));
        let has = json!({"kind": {"const": name}, own.clone(): {"type": "integer"}, "more": true});
        json!({"properties": has, "required": ["kind", own]})
    };
    let kinds: Vec<Value> = (0..30).map(kind).collect();
    let (good, bad) = (
        [r#"{"kind":"k0","a0":1}"#, r#"{"more":[],"a29":1,"kind":"k29"}"#],
        [
            r#"{"kind":"k0"}"#,
            r#"{"kind":"k0","a0":"x"}"#,
            r#"{"kind":"k0","a0":1,"a1":1}"#,
            r#"{"kind":"k30","a0":1}"#,
            r#"{"a0":1}"#,
            "{}",
            "1",
        ],
    );
    check(json!({"type": "object", "oneOf": kinds, "unevaluatedProperties": false}), &good, &bad);
    check(json!({"oneOf": kinds, "unevaluatedProperties": false}), &good, &bad);
    let conditions: Vec<Value> = (0..30)
        .map(|kind| {
            let (name, own) = (format!("k{kind}"), format!("a{kind}"));
            let then = json!({"properties": {own.clone(): {"type": "integer"}}, "required": [own]});
            json!({"if": {"properties": {"kind": {"const": name}}, "required": ["kind"]}, "then": then})
        })
        .collect();
    let names: Vec<String> = (0..30).map(|kind| format!("k{kind}")).collect();
    let described = json!({
        "type": "object",
        "properties": {"kind": {"enum": names}, "more": true},
        "required": ["kind"],
        "allOf": conditions,
        "unevaluatedProperties": false
    });
    check(described, &good, &bad);
}
