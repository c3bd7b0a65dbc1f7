//! Obligations of arrays and objects: items and members that must occur somewhere.

use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions, KeyOrder};
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

/// Arrays and objects of few values are counted exactly, whatever bound there is on the items.
#[test]
fn different_values_are_counted() {
    let schema = |items: Value, least: u32, most: u32| {
        let schema = json!({
            "type": "array", "uniqueItems": true, "items": items, "minItems": least, "maxItems": most
        });
        json_schema::compile(&schema.to_string(), &JsonSchemaOptions::default()).is_ok()
    };
    let pairs = json!({"type": "array", "items": {"enum": [1, 2]}, "maxItems": 2});
    let rows = json!({
        "type": "array", "prefixItems": [{"enum": [1, 2, 3]}], "items": {"const": null}, "maxItems": 2
    });
    let members = json!({
        "properties": {"a": {"enum": [1, 2, 3]}, "b": {"const": 1}}, "required": ["b"],
        "additionalProperties": false, "type": "object"
    });
    let constants = json!({"enum": [1, 1.0, "a", null, [], [1], {"a": 1}, {"a": [1]}]});
    let either = json!({"anyOf": [rows, {"type": "array", "items": {"const": 1}, "maxItems": 1}]});
    for (items, count) in [
        (&pairs, 7),
        (&rows, 1 + 3 + 3),
        (&members, 4),
        (&constants, 7),
        (&json!({"items": false, "type": "array"}), 1),
    ] {
        assert!(schema(items.clone(), count, 1_000) && !schema(items.clone(), count + 1, 1_000), "{items}");
    }
    // Values that two shapes share are not counted twice.
    assert!(schema(either.clone(), 7, 7) && !schema(either, 8, 8));
    let long = json!({"type": "array", "items": {"const": 1}, "minItems": 10, "maxItems": 1_000_000_000});
    assert!(schema(long, 0, 999_999));
}

/// All arrays of up to four values, put to schemas and to a count of the items that some keywords ask for.
#[test]
fn different_items_some_of_which_occur() {
    let values = [json!(1), json!(2), json!(3), json!("a")];
    let mut arrays: Vec<Vec<usize>> = vec![Vec::new()];
    for length in 0..4 {
        let longer = arrays.iter().filter(|array| array.len() == length);
        let longer =
            longer.flat_map(|array| (0..values.len()).map(|value| [array.as_slice(), &[value]].concat()));
        arrays.extend(longer.collect::<Vec<_>>());
    }
    let contains = |what: Value, min: u32, max: Option<u32>| match max {
        Some(max) => json!({"contains": what, "minContains": min, "maxContains": max}),
        None => json!({"contains": what, "minContains": min}),
    };
    // Of each keyword the values that count, and how many there have to be.
    let numbers = (json!({"type": "integer"}), [0, 1, 2].as_slice());
    let cases = [
        vec![(json!({"const": 2}), [1].as_slice(), 1, None)],
        vec![(numbers.0.clone(), numbers.1, 1, None)],
        vec![(json!({"enum": [1, "a"]}), &[0, 3], 2, None)],
        vec![(json!({"type": "string"}), &[3], 0, Some(0))],
        vec![(numbers.0.clone(), numbers.1, 0, Some(1))],
        vec![(numbers.0.clone(), numbers.1, 1, Some(1)), (json!({"enum": [1, "a"]}), &[0, 3], 1, None)],
        vec![(numbers.0.clone(), numbers.1, 3, Some(3)), (json!({"const": "a"}), &[3], 0, Some(1))],
        vec![(json!({"const": 1}), &[0], 1, None), (numbers.0.clone(), numbers.1, 1, Some(3))],
        vec![(json!({"enum": [1, 2]}), &[0, 1], 1, None), (json!({"enum": [2, 3]}), &[1, 2], 1, None)],
    ];
    for case in cases {
        for (least, most) in [(0, 4), (2, 3), (1, 1)] {
            let all: Vec<Value> =
                case.iter().map(|(what, _, min, max)| contains(what.clone(), *min, *max)).collect();
            let schema = json!({
                "type": "array", "items": {"enum": values}, "uniqueItems": true, "allOf": all,
                "minItems": least, "maxItems": most
            });
            let fits = |array: &[usize]| {
                let is_different = (1..array.len()).all(|at| !array[..at].contains(&array[at]));
                let is_met = case.iter().all(|(_, those, min, max)| {
                    let found = array.iter().filter(|value| those.contains(value)).count() as u32;
                    found >= *min && max.is_none_or(|max| found <= max)
                });
                is_different && is_met && (least..=most).contains(&array.len())
            };
            let text =
                |array: &Vec<usize>| Value::from_iter(array.iter().map(|&at| values[at].clone())).to_string();
            let (valid, invalid): (Vec<_>, Vec<_>) = arrays.iter().partition(|array| fits(array));
            if valid.is_empty() {
                json_schema::compile(&schema.to_string(), &JsonSchemaOptions::default()).unwrap_err();
                continue;
            }
            let [valid, invalid] =
                [valid, invalid].map(|arrays| arrays.into_iter().map(text).collect::<Vec<String>>());
            let [valid, invalid] =
                [&valid, &invalid].map(|texts| texts.iter().map(String::as_str).collect::<Vec<&str>>());
            check(schema, &valid, &invalid);
        }
    }
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
