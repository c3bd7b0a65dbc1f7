//! Orders of an object's members, judged by a validator.

use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, KeyOrder, compile, compile_grammar};
use grammask_oracle::Recogniser;
use serde_json::Value;

/// Schemas that declare `a`, `b` and `c`, and nothing else.
const SCHEMAS: &[&str] = &[
    r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{},"c":{"type":"null"}}}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["c","a"]}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["b"],"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"additionalProperties":false,"minProperties":2}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["a"],"maxProperties":2}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"minProperties":1,"maxProperties":1}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"dependentRequired":{"a":["b"],"b":["c"]}}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"patternProperties":{"^[yz]$":{"type":"integer"}}}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"propertyNames":{"enum":["a","b","z"]}}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"additionalProperties":{"type":"string"}}"#,
    r#"{"type":"object","properties":{"c":{}},"allOf":[{"properties":{"a":{"type":"integer"}},"required":["b"]},
        {"properties":{"b":{}},"required":["a"]}]}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"if":{"required":["a"]},"then":{"required":["b"]},
        "else":{"required":["c"]}}"#,
    r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"anyOf":[{"required":["y"]},{"required":["c"]}]}"#,
];

const MEMBERS: &[&str] = &[r#""a":1"#, r#""a":"x""#, r#""b":1"#, r#""c":null"#, r#""z":1"#, r#""y":"x""#];

fn name(member: &str) -> &str {
    &member[..3]
}

/// Sequences of up to three members, names of which may repeat.
fn sequences() -> Vec<Vec<&'static str>> {
    let mut all: Vec<Vec<&str>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..3 {
        let to = all.len();
        for at in from..to {
            all.extend(
                MEMBERS.iter().map(|member| [all[at].as_slice(), &[*member]].concat()).collect::<Vec<_>>(),
            );
        }
        from = to;
    }
    all
}

fn repeats(sequence: &[&str]) -> bool {
    (1..sequence.len()).any(|at| sequence[..at].iter().any(|other| name(other) == name(sequence[at])))
}

fn recogniser(schema: &str, key_order: KeyOrder) -> Recogniser {
    let compiled = compile(schema, &JsonSchemaOptions::default().key_order(key_order));
    Recogniser::new(&compiled.unwrap_or_else(|error| panic!("{schema}\n{error}")).grammar)
}

fn has(recogniser: &Recogniser, text: &str) -> bool {
    let mut chart = recogniser.begin();
    text.bytes().all(|byte| chart.push(byte)) && chart.is_complete()
}

#[test]
fn any_order_takes_every_order_of_what_is_valid() {
    for schema in SCHEMAS {
        let recogniser = recogniser(schema, KeyOrder::Any);
        let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        let mut valid = 0;
        for sequence in sequences() {
            let text = format!("{{{}}}", sequence.join(","));
            let value: Value = serde_json::from_str(&text).unwrap();
            let is_valid = validator.is_valid(&value);
            if repeats(&sequence) {
                // Free names may repeat; what is taken is valid all the same.
                assert!(is_valid || !has(&recogniser, &text), "{text}\n{schema}");
                continue;
            }
            valid += usize::from(is_valid);
            assert_eq!(has(&recogniser, &text), is_valid, "{text}\n{schema}");
        }
        assert!(valid > 1, "{schema}");
    }
}

#[test]
fn declared_names_do_not_repeat_in_any_order() {
    for key_order in [KeyOrder::Any, KeyOrder::RequiredFirst, KeyOrder::Declared] {
        let recogniser = recogniser(SCHEMAS[1], key_order);
        for text in [r#"{"a":1,"c":1,"a":1}"#, r#"{"c":1,"c":1}"#, r#"{"c":1,"\u0061":1,"a":1}"#] {
            assert!(!has(&recogniser, text), "{text}");
        }
    }
}

#[test]
fn required_members_first() {
    let recogniser = recogniser(SCHEMAS[1], KeyOrder::RequiredFirst);
    assert!(has(&recogniser, r#"{"a":1,"c":2,"b":3,"z":4}"#));
    assert!(!has(&recogniser, r#"{"a":1,"b":3,"c":2}"#));
}

#[test]
fn a_member_that_not_demands_is_the_last() {
    let schema =
        r#"{"type":"object","properties":{"a":{}},"not":{"additionalProperties":{"type":"integer"}}}"#;
    let recogniser = recogniser(schema, KeyOrder::Any);
    assert!(has(&recogniser, r#"{"z":"x"}"#) && has(&recogniser, r#"{"y":1,"a":1,"z":"x"}"#));
    assert!(!has(&recogniser, "{}") && !has(&recogniser, r#"{"a":1,"z":1}"#));
}

#[test]
fn many_members_cost_no_more_than_their_number() {
    let properties: Vec<String> =
        (0..300).map(|index| format!(r#""p{index}":{{"type":"integer"}}"#)).collect();
    let schema = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
    let any = compile(&schema, &JsonSchemaOptions::default().key_order(KeyOrder::Any)).unwrap();
    let declared = compile(&schema, &JsonSchemaOptions::default()).unwrap();
    assert!(any.grammar.expr_count() < 2 * declared.grammar.expr_count());
}

#[test]
fn free_members_tell_no_alternatives_apart() {
    let kind = |name: &str| {
        format!(
            r#"{{"properties":{{"{name}":{{"type":"string"}},"a":{{"type":"array"}},"b":{{"type":"boolean"}}}},
            "required":["{name}"],"additionalProperties":false}}"#
        )
    };
    let kinds = ["w", "x", "y", "z"].map(kind).join(",");
    let schema = format!(r#"{{"type":"object","not":{{"anyOf":[{kinds}]}}}}"#);
    let rules = |order| {
        compile_grammar(&schema, &JsonSchemaOptions::default().key_order(order)).unwrap().rule_count()
    };
    // Another value of `a` fails all four, so it is no case of each of them.
    let (any, declared) = (rules(KeyOrder::Any), rules(KeyOrder::Declared));
    assert!(any < 100 && declared < 900, "{any} and {declared}");
    let recogniser = recogniser(&schema, KeyOrder::Any);
    for text in [r#"{"w":"","a":1}"#, r#"{"a":1,"q":1}"#, r#"{"b":[],"z":""}"#, r#"{"x":"","y":""}"#, "{}"] {
        assert!(has(&recogniser, text), "{text}");
    }
    for text in [r#"{"w":""}"#, r#"{"a":[],"x":""}"#, r#"{"b":true,"y":"","a":[]}"#] {
        assert!(!has(&recogniser, text), "{text}");
    }
}

#[test]
fn items_of_finite_sets_are_kept_apart() {
    let items = ["1", "1.0", "2", r#""a""#, r#""b""#, "true", "false", "null"];
    let schemas = [
        r#"{"type":"array","items":{"enum":[1,2,"a",null]},"uniqueItems":true}"#,
        r#"{"type":"array","items":{"type":"boolean"},"uniqueItems":true,"minItems":1}"#,
        r#"{"type":"array","items":{"enum":["a","b",1]},"uniqueItems":true,"minItems":2,"maxItems":2}"#,
        r#"{"type":"array","items":{"enum":["a"]},"uniqueItems":true,"maxItems":0}"#,
    ];
    for schema in schemas {
        let recogniser = recogniser(schema, KeyOrder::Declared);
        let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        let mut texts = vec!["[]".to_owned()];
        for one in items {
            texts.push(format!("[{one}]"));
            for two in items {
                texts.push(format!("[{one}, {two}]"));
                texts.extend(items.iter().map(|three| format!("[{one},{two},{three}]")));
            }
        }
        for text in texts {
            let is_valid = validator.is_valid(&serde_json::from_str(&text).unwrap());
            assert_eq!(has(&recogniser, &text), is_valid, "{text}\n{schema}");
        }
    }
    let none = r#"{"type":"array","items":{"enum":["a","b"]},"uniqueItems":true,"minItems":3}"#;
    assert!(compile(none, &JsonSchemaOptions::default()).is_err());
}
