//! What an array or an object owes: items and members that must occur somewhere.

use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, KeyOrder, compile_value};
use grammask_oracle::Recogniser;
use serde_json::{Value, json};

/// The grammar of a schema has the first texts and lacks the others, in each order of keys.
#[track_caller]
fn check(schema: Value, accepted: &[&str], rejected: &[&str]) {
    for order in [KeyOrder::Declared, KeyOrder::Any] {
        let compiled = match compile_value(&schema, &JsonSchemaOptions::default().key_order(order)) {
            Ok(compiled) => compiled,
            Err(error) => panic!("{schema}\n{error}"),
        };
        let recogniser = Recogniser::new(&compiled.grammar);
        let has = |text: &str| {
            let mut chart = recogniser.begin();
            text.bytes().all(|byte| chart.push(byte)) && chart.is_complete()
        };
        for text in accepted {
            assert!(has(text), "{order:?}: the grammar lacks {text}\n{schema}");
        }
        for text in rejected {
            assert!(!has(text), "{order:?}: the grammar has {text}\n{schema}");
        }
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
