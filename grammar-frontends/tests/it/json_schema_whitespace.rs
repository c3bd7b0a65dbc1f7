//! Whitespace between the tokens of a JSON text: free, bounded, none, fixed separators, indented lines.

use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, KeyOrder, Spelling, Whitespace, compile};
use grammask_oracle::Recogniser;
use serde_json::{Value, json};

fn recogniser(schema: &str, options: &JsonSchemaOptions) -> Recogniser {
    match compile(schema, options) {
        Ok(compiled) => Recogniser::new(&compiled.grammar),
        Err(error) => panic!("{schema}\n{error}"),
    }
}

#[track_caller]
fn check(schema: &str, whitespace: Whitespace, accepted: &[&str], rejected: &[&str]) {
    let recogniser = recogniser(schema, &JsonSchemaOptions::default().whitespace(whitespace));
    for text in accepted {
        assert!(recogniser.accepts(text.as_bytes()), "the grammar lacks {text:?}");
    }
    for text in rejected {
        assert!(!recogniser.accepts(text.as_bytes()), "the grammar has {text:?}");
    }
}

fn indented(max_depth: u32) -> Whitespace {
    let (item_separator, key_separator) = (",".to_owned(), ": ".to_owned());
    Whitespace::Indented { indent: "  ".to_owned(), item_separator, key_separator, max_depth }
}

const LIST: &str = r#"{"type": "array", "items": {"type": "object", "properties": {"a": {"type": "null"}},
    "additionalProperties": false}}"#;

#[test]
fn free_runs_are_bounded() {
    let bounded = Whitespace::Free { max_run: Some(2) };
    check(
        LIST,
        bounded,
        &["[]", "[  ]", "[ {\"a\" \t:\r\nnull } ]"],
        &["[   ]", " []", "[] ", "[{\"a\":   null}]"],
    );
    let longest = format!("[{}]", " ".repeat(64));
    let longer = format!("[{}]", " ".repeat(65));
    check(LIST, JsonSchemaOptions::default().spelling(Spelling::Any).whitespace, &[&longest], &[&longer]);
    check(LIST, Whitespace::Free { max_run: None }, &[&longer], &[" []"]);
}

#[test]
fn printed_gaps_are_nothing_a_space_or_a_line() {
    let widest = format!("[\n{}]", " ".repeat(64));
    let wider = format!("[\n{}]", " ".repeat(65));
    let accepted = ["[]", "[ ]", "[\n  {\n\t\t\"a\" : null\n  },\n  {}\n]", "[{}, {}]", &widest];
    let rejected = ["[  ]", "[\n\n]", "[\t]", "[\r\n]", " []", "[]\n", &wider];
    check(LIST, Whitespace::Printed, &accepted, &rejected);
    check(LIST, JsonSchemaOptions::default().whitespace, &accepted, &rejected);
}

#[test]
fn whitespace_around_the_root_is_an_option() {
    let around = |count, whitespace| {
        let options = JsonSchemaOptions::default().around_root(count).whitespace(whitespace);
        recogniser(LIST, &options)
    };
    for whitespace in [Whitespace::Printed, Whitespace::Compact, indented(3)] {
        let recogniser = around(2, whitespace);
        for text in ["[]", "\r\n[]", "[] \t", " []\n\n"] {
            assert!(recogniser.accepts(text.as_bytes()), "{text:?}");
        }
        assert!(!recogniser.accepts(b"   []") && !recogniser.accepts(b"[]   "));
    }
    assert!(!around(0, Whitespace::Printed).accepts(b"[]\n"));
}

#[test]
fn none_or_fixed() {
    check(LIST, Whitespace::Compact, &["[]", "[{},{\"a\":null}]"], &["[ ]", "[{\"a\": null}]", "[{}, {}]"]);
    let fixed = |item: &str, key: &str| Whitespace::Fixed {
        item_separator: item.to_owned(),
        key_separator: key.to_owned(),
    };
    check(LIST, fixed(", ", ": "), &["[{}, {\"a\": null}]"], &["[{},{}]", "[{\"a\":null}]", "[ {} ]"]);
    check(LIST, fixed(" ,\n", " :\t"), &["[{} ,\n{\"a\" :\tnull}]"], &["[{}, {}]"]);
}

/// Arrays and objects of every kind of rule, against the printer of `serde_json`.
#[test]
fn lines_are_indented() {
    let schemas = [
        (r#"{}"#, json!({"a": [1, {"b": []}, [], {}], "c": "x"})),
        (LIST, json!([{"a": null}, {}, {"a": null}])),
        (
            r#"{"prefixItems": [{"type": "integer"}, {"type": "array"}], "items": {"type": "null"}}"#,
            json!([1, [2], null, null]),
        ),
        (r#"{"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "integer"}}"#, json!([1, 2])),
        (r#"{"type": "array", "contains": {"const": 2}}"#, json!([1, 2, [3]])),
        (r#"{"items": {"enum": [1, 2]}, "uniqueItems": true}"#, json!([2, 1])),
        (
            r#"{"prefixItems": [{"enum": [1, 2]}, {"enum": [1, 2]}], "items": false, "uniqueItems": true}"#,
            json!([2, 1]),
        ),
        (
            r#"{"required": ["a", "b"], "properties": {"a": {}, "b": {}, "c": {}}, "maxProperties": 3}"#,
            json!({"a": 1, "b": {"c": 2}, "c": []}),
        ),
        (r#"{"const": {"a": [{"b": 1}], "c": {}}}"#, json!({"a": [{"b": 1}], "c": {}})),
        (
            r##"{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}, "additionalProperties": false}}}"##,
            json!({"next": {"next": {"next": {}}}}),
        ),
    ];
    for (schema, value) in schemas {
        for order in [KeyOrder::Declared, KeyOrder::Any] {
            let options = JsonSchemaOptions::default().whitespace(indented(5)).key_order(order);
            let recogniser = recogniser(schema, &options);
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            assert!(recogniser.accepts(pretty.as_bytes()), "{schema}\n{pretty}");
            // One line less, or one space more, is another text.
            for wrong in
                [pretty.replacen("\n", "", 1), pretty.replacen("\n  ", "\n   ", 1), value.to_string()]
            {
                assert!(!recogniser.accepts(wrong.as_bytes()), "{schema}\n{wrong}");
            }
        }
    }
}

#[test]
fn what_nests_deeper_is_left_out() {
    let nested = |depth: usize| (1..depth).fold(json!([]), |inner, _| json!([inner]));
    let pretty = |value: Value| serde_json::to_string_pretty(&value).unwrap();
    let (fits, too_deep) = (pretty(nested(3)), pretty(nested(4)));
    check("{}", indented(3), &["1", &fits], &[&too_deep]);
    check("{}", indented(0), &["1", "\"a\""], &["[]", "{}"]);
    let optional =
        r#"{"type": "object", "properties": {"a": {"type": "array"}}, "additionalProperties": false}"#;
    check(optional, indented(1), &["{}"], &["{\n  \"a\": []\n}"]);
}

#[test]
fn options_that_are_no_whitespace_are_refused() {
    let indent = |indent: &str, item: &str, max_depth: u32| Whitespace::Indented {
        indent: indent.to_owned(),
        item_separator: item.to_owned(),
        key_separator: ": ".to_owned(),
        max_depth,
    };
    for whitespace in [indent("--", ",", 4), indent("  ", ";", 4), indent("  ", ",", 100_000)] {
        let options = JsonSchemaOptions::default().whitespace(whitespace);
        let error = compile("{}", &options).unwrap_err();
        assert_eq!(error.iter().next().unwrap().code(), "json-schema/options");
    }
}
