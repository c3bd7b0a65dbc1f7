//! The options that leave one spelling of a value: escapes of characters, and numbers.

use grammask_grammar_frontends::json_schema::{
    Escapes, FreeNames, JsonSchemaOptions, Numbers, Spelling, compile_value,
};
use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
use grammask_oracle::Recogniser;
use serde_json::{Value, json};

use crate::schema_texts::check;

fn escapes(escapes: Escapes) -> JsonSchemaOptions {
    JsonSchemaOptions::default().escapes(escapes)
}

/// One kind of schema for each way in which strings and names are lowered.
fn schemas_of_strings(text: &str) -> Vec<Value> {
    let length = text.chars().count();
    vec![
        json!({}),
        json!({"type": "string"}),
        json!({"type": "string", "minLength": length, "maxLength": length}),
        json!({"enum": [text, "other"]}),
        json!({"const": text}),
        json!({"type": "string", "pattern": "^(.|\\s)*$"}),
        json!({"type": "string", "pattern": "^[^#]{1,99}$", "maxLength": 20}),
        json!({"type": "string", "not": {"enum": ["other", "\n"]}}),
        json!({"type": "string", "allOf": [{"not": {"pattern": "^other"}}, {"pattern": "^(other|[^o])"}]}),
    ]
}

#[test]
fn characters_have_one_spelling() {
    let text = "a\"\\/\n\u{1f}\u{7f}\u{e9}\u{1f600}";
    let needed = r#""a\"\\/\n\u001f"#.to_owned() + "\u{7f}\u{e9}\u{1f600}\"";
    let ascii = r#""a\"\\/\n\u001f\u007f\u00e9\ud83d\ude00""#;
    assert_eq!(needed, Value::from(text).to_string());
    let others = [
        needed.replace('a', r"\u0061"),
        needed.replace('/', r"\/"),
        needed.replace(r"\n", r"\u000a"),
        needed.replace("001f", "001F"),
        needed.replace('\u{e9}', r"\u00e9"),
        ascii.replace("00e9", "00E9"),
        ascii.replace("ud83d", "uD83D"),
        ascii.replace(r"\u007f", "\u{7f}"),
    ];
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    for schema in schemas_of_strings(text) {
        let all = [&[needed.as_str(), ascii], others.as_slice()].concat();
        check(&schema, &escapes(Escapes::Any), &all, &[]);
        let but_ascii = [&[ascii], others.as_slice()].concat();
        check(&schema, &escapes(Escapes::Needed), &[&needed], &but_ascii);
        let but_needed = [&[needed.as_str()], others.as_slice()].concat();
        check(&schema, &escapes(Escapes::Ascii), &[ascii], &but_needed);
    }
}

#[test]
fn names_are_spelled_as_strings_are() {
    let schemas = [
        json!({"type": "object", "properties": {"\u{e9}": {"type": "null"}}, "additionalProperties": false}),
        json!({"type": "object", "patternProperties": {"^\u{e9}": {"type": "null"}}, "additionalProperties": false}),
        json!({"type": "object", "additionalProperties": {"type": "null"}}),
        json!({"const": {"\u{e9}": null}}),
    ];
    let (plain, escaped) = ("{\"\u{e9}\":null}", r#"{"\u00e9":null}"#);
    for schema in schemas {
        check(&schema, &escapes(Escapes::Needed), &[plain], &[escaped]);
        check(&schema, &escapes(Escapes::Ascii), &[escaped], &[plain]);
    }
}

#[test]
fn a_number_has_one_spelling() {
    let canonical = JsonSchemaOptions::default().numbers(Numbers::Canonical);
    let never = ["1.0", "1e0", "-0", "-0.0", "0.0", "01", "2.50", "1.", "-2.0", "25e-1", "6.0", "100.0"];
    let cases: [(Value, &[&str]); 14] = [
        (json!({}), &["0", "-1", "10", "2.5", "-0.05", "100"]),
        (json!({"type": "number"}), &["0", "-1", "10", "2.5", "-0.05", "100.001"]),
        (json!({"type": "integer"}), &["0", "-1", "10", "100"]),
        (json!({"type": "number", "minimum": -10, "maximum": 1000}), &["0", "-1", "2.5", "-0.05", "1000"]),
        (json!({"type": "number", "exclusiveMinimum": 0.5}), &["0.51", "1", "20.25"]),
        (json!({"type": "integer", "minimum": -7, "maximum": 12}), &["0", "-7", "12"]),
        (json!({"enum": [0, 1.0, 2.50, 6]}), &["0", "1", "2.5", "6"]),
        (json!({"type": "integer", "enum": [0, 1.0, 100]}), &["0", "1", "100"]),
        (json!({"const": -2.50}), &["-2.5"]),
        (json!({"type": "integer", "multipleOf": 3}), &["0", "-6", "6", "100002"]),
        (json!({"type": "number", "multipleOf": 0.01}), &["0", "-6", "2.5", "0.05"]),
        (json!({"type": "number", "multipleOf": 2.5}), &["0", "-2.5", "5", "100"]),
        (json!({"type": "number", "multipleOf": 0.3, "minimum": -1}), &["0", "-0.3", "0.9", "6"]),
        (json!({"type": "number", "not": {"type": "integer"}}), &["0.5", "-0.05", "2.5"]),
    ];
    for (schema, texts) in cases {
        check(&schema, &canonical, texts, &never);
        check(&schema, &JsonSchemaOptions::default(), texts, &[]);
    }
    let old = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"});
    check(&old, &canonical, &["6000"], &["6000.0"]);
}

/// Values decide which numbers a condition allows, however they are printed.
#[test]
fn conditions_do_not_change_how_numbers_are_printed() {
    let cases: [(Value, &[&str], &[&str]); 12] = [
        (
            json!({"exclusiveMinimum": 0}),
            &["1e-07", "1e-7", "1.0E-7", "1e+308", "1.5e16"],
            &["-1e-7", "0", "-0.0"],
        ),
        (
            json!({"minimum": 1e-7, "maximum": 2.5e-7}),
            &["1e-07", "2.5e-7", "1.75E-7", "0.0000002"],
            &["9.9e-8", "2.6e-07"],
        ),
        (json!({"maximum": -1e20}), &["-1e20", "-1.0E20", "-1e+21"], &["-1e19", "-9.9E19", "1e20"]),
        (
            json!({"type": "integer"}),
            &["1000000000000000000000", "-0", "64"],
            &["1e+21", "1.0E7", "1.5E7", "1.5e+21", "1.0E-7", "1e5", "64.0", "-0.0"],
        ),
        (json!({"type": "integer", "minimum": 0}), &["10000000000000000", "-0"], &["-1", "1e16"]),
        (json!({"multipleOf": 0.00001}), &["1e-05", "3e-5", "1.0E-4", "1e+16"], &["1e-06", "1.5e-05"]),
        (json!({"multipleOf": 0.5}), &["2.5", "1e+308", "1.25E10"], &["2.25", "1e-05", "1.23456781E7"]),
        (json!({"multipleOf": 25}), &["75", "1.0E7", "1.5e300"], &["1e-05", "1.2345678E7", "1.00000001E7"]),
        (json!({"multipleOf": 0.3}), &["0.6", "30.0"], &["1e-05", "1e+16", "1.0E7"]),
        (json!({"multipleOf": 1000}), &["1.0E7", "1.234E7", "7000"], &["1.23456E7", "1.0E-7"]),
        (
            json!({"enum": [1e-7, 64]}),
            &["1e-07", "1.0E-7", "0.0000001", "64", "64.0", "64.00", "0.00000010"],
            &["1e-08", "6.4e1", "64.01"],
        ),
        (json!({"const": 1e21}), &["1e21", "1e+21", "1.0E21", "1000000000000000000000"], &["1e+22"]),
    ];
    for (mut schema, accepted, rejected) in cases {
        for mode in [Spelling::Printed, Spelling::Any] {
            let rejected: Vec<&str> = match mode {
                Spelling::Any => Vec::new(),
                _ => rejected.to_vec(),
            };
            if schema.get("type").is_none() && schema.get("enum").is_none() && schema.get("const").is_none() {
                schema["type"] = json!("number");
            }
            check(&schema, &JsonSchemaOptions::default().spelling(mode), accepted, &rejected);
        }
    }
    let old = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"});
    check(&old, &JsonSchemaOptions::default(), &["6000", "-0"], &["6000.0", "1e+21", "1.0E7"]);
}

/// `x-guidance`, as llguidance has it.
#[test]
fn options_that_a_schema_carries_are_honoured_or_refused() {
    let with = |guidance: Value| json!({"type": "array", "items": {"type": "null"}, "x-guidance": guidance});
    let options = JsonSchemaOptions::default();
    let fixed = json!({"whitespace_flexible": false});
    check(&with(fixed), &options, &["[null,null]"], &["[null, null]", "[ ]"]);
    check(&with(json!({"whitespace_flexible": true})), &options, &["[null,\t\tnull]"], &[" []"]);
    let spaced = json!({"whitespace_flexible": false, "item_separator": ", "});
    check(&with(spaced), &options, &["[null, null]"], &["[null,null]"]);
    for refused in [
        json!(1),
        json!({"whitespace_pattern": "x"}),
        json!({"whitespace_flexible": false, "item_separator": "\\s*,"}),
        json!({"item_separator": ", "}),
        json!({"item_separator": ", ", "whitespace_flexible": true}),
        json!({"whitespace_pattern": "[ ]?"}),
        json!({"coerce_one_of": 1}),
        json!({"colour": "red"}),
    ] {
        assert!(compile_value(&with(refused.clone()).into(), &options).is_err(), "{refused}");
    }
}

/// `coerce_one_of` reads `oneOf` as `anyOf`, beside `unevaluatedProperties` and below `not`, too.
#[test]
fn one_of_is_read_as_any_of_where_the_schema_says_so() {
    let with = |coerce: bool, mut schema: Value| {
        schema["x-guidance"] = json!({"coerce_one_of": coerce});
        schema
    };
    let options = JsonSchemaOptions::default();
    let numbers = json!({"type": "integer", "oneOf": [{"minimum": 3}, {"maximum": 5}]});
    check(&with(false, numbers.clone()), &options, &["2", "6"], &["3", "4"]);
    check(&with(true, numbers.clone()), &options, &["2", "3", "4", "6"], &["x"]);
    let neither =
        json!({"type": "integer", "not": {"oneOf": [{"minimum": 3}, {"maximum": 1}, {"const": 4}]}});
    check(&with(false, neither.clone()), &options, &["2", "4"], &["1", "3"]);
    check(&with(true, neither), &options, &["2"], &["1", "3", "4"]);
    let has = |name: &str| json!({"properties": {name: {"type": "null"}}, "required": [name]});
    let members = json!({"type": "object", "unevaluatedProperties": false, "oneOf": [has("a"), has("b")]});
    let both = r#"{"a":null,"b":null}"#;
    check(&with(false, members.clone()), &options, &[r#"{"a":null}"#], &["{}", both]);
    check(&with(true, members), &options, &[r#"{"a":null}"#, both], &["{}", r#"{"a":null,"c":null}"#]);
}

#[test]
fn a_structural_tag_says_how_its_values_are_spelled() {
    let options = StructuralTagOptions::default();
    let accepts = |spelling: &str, text: &str| {
        let format = json!({"type": "json_schema", "json_schema": {"type": "integer"}, "spelling": spelling});
        let tag = json!({"type": "structural_tag", "format": format}).to_string();
        let grammar = StructuralTag::parse(&tag, &options).unwrap().grammar(&options).unwrap();
        Recogniser::new(&grammar).accepts(text.as_bytes())
    };
    assert!(accepts("any", "1.00") && !accepts("printed", "1.00"));
    assert!(accepts("any", "1.0") && !accepts("printed", "1.0") && accepts("printed", "1"));
    let odd = json!({"type": "json_schema", "json_schema": {}, "spelling": "odd"});
    let odd = json!({"type": "structural_tag", "format": odd}).to_string();
    assert!(StructuralTag::parse(&odd, &options).is_err());
}

/// Free names are kept distinct where they are few, or where there is room for one.
#[test]
fn free_names_that_cannot_repeat() {
    let unique = JsonSchemaOptions::default().free_names(FreeNames::Unique);
    let few = json!({"type": "object", "properties": {"x2": {"type": "null"}, "y": {"type": "null"}},
        "patternProperties": {"^x[0-3]$": {"type": "null"}}, "additionalProperties": false});
    let both = [r#"{"x1":null,"x1":null}"#, r#"{"x2":null,"x2":null}"#, r#"{"x4":null}"#];
    check(&few, &unique, &["{}", r#"{"x2":null,"x0":null,"x3":null}"#], &both);
    // Where names may repeat, nothing is changed.
    check(&few, &JsonSchemaOptions::default(), &both[..1], &both[1..]);
    let room_for_one = json!({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"],
        "maxProperties": 2, "additionalProperties": {"type": "null"}});
    let (one, two) = (r#"{"a":null,"b":null}"#, r#"{"a":null,"b":null,"b":null}"#);
    check(&room_for_one, &unique, &[r#"{"a":null}"#, one], &[two]);
    // Where names are many, the object is marked, and who follows a text keeps them apart.
    let free = compile_value(&json!({"type": "object", "maxProperties": 2}).into(), &unique).unwrap().grammar;
    assert!(free.rule_ids().any(|rule| free.rule(rule).options().distinct.is_some()));
}

/// Names that are few count one by one.
#[test]
fn names_of_a_pattern_count_once() {
    let schema = json!({"type": "object", "patternProperties": {"^[ab]$": {"type": "null"}},
        "additionalProperties": false, "minProperties": 2});
    let accepted = [r#"{"a":null,"b":null}"#];
    let rejected = ["{}", r#"{"a":null}"#, r#"{"a":null,"a":null}"#];
    check(&schema, &JsonSchemaOptions::default(), &accepted, &rejected);
}

/// Items that are told apart: whole numbers between bounds, few texts of a pattern, places without a common value.
#[test]
fn items_that_are_few_do_not_repeat() {
    let options = JsonSchemaOptions::default();
    let digits = json!({"type": "array", "uniqueItems": true, "items": {"type": "integer", "minimum": -1, "maximum": 12}});
    check(&digits, &options, &["[]", "[1,12,-1]", "[1,2]"], &["[1,1]", "[1,2,1]", "[1,2.0]", "[13]"]);
    let steps = json!({"type": "array", "uniqueItems": true,
        "items": {"type": "integer", "minimum": 0, "maximum": 9, "multipleOf": 3}});
    check(&steps, &options, &["[9,0,3]"], &["[3,3]", "[1]"]);
    let names =
        json!({"type": "array", "uniqueItems": true, "items": {"type": "string", "pattern": "^[ab]?$"}});
    check(&names, &options, &[r#"["a","b",""]"#], &[r#"["a","a"]"#, r#"["","\u0061","a"]"#, r#"["c"]"#]);
    let places = json!({"type": "array", "uniqueItems": true, "prefixItems": [{"type": "string"}, {"type": "number"}],
        "items": false});
    check(&places, &options, &[r#"["a",1]"#, r#"["a"]"#], &["[1]"]);
}
