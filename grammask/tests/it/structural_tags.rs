//! Structural tags: what the fields of formats mean.

use grammask::{CompiledGrammar, StructuralTagOptions};
use serde_json::{Value, json};

use crate::common::compiler;

fn accepts(grammar: &CompiledGrammar, text: &str) -> bool {
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_completed()
}

#[track_caller]
fn check(format: Value, accepted: &[&str], rejected: &[&str]) {
    let tag = json!({"type": "structural_tag", "format": format}).to_string();
    let grammar = compiler().structural_tag(&tag, &StructuralTagOptions::default()).unwrap();
    let refused: Vec<_> = accepted.iter().filter(|text| !accepts(&grammar, text)).collect();
    let taken: Vec<_> = rejected.iter().filter(|text| accepts(&grammar, text)).collect();
    assert!(refused.is_empty() && taken.is_empty(), "refused {refused:#?}, taken {taken:#?}");
}

#[test]
fn texts_that_no_string_holds() {
    let schema = json!({
        "type": "object",
        "properties": {
            "any": {"type": "string"},
            "one": {"enum": ["x<b>y", 1]},
            "few": {"type": "string", "maxLength": 3},
            "some": {"type": "string", "pattern": "^[a&<>]+$"},
            "<b>": {"type": "null"},
            "list": {"type": "array", "items": {}},
        },
        "additionalProperties": {"type": "null"},
    });
    let format = json!({"type": "json_schema", "json_schema": schema, "excludes": ["<b>", "&&"]});
    check(
        format,
        &[
            "{}",
            r#"{"any": "< b><b&"}"#,
            r#"{"any": "<b\u003e"}"#,
            r#"{"one": "x\u003cb>y"}"#,
            r#"{"one": 1}"#,
            r#"{"few": "&<b"}"#,
            r#"{"some": "&a&<a>"}"#,
            r#"{"<b\u003e": null}"#,
            r#"{"list": ["<b", ">", {"<b": "&"}]}"#,
            r#"{"other": null}"#,
        ],
        &[
            r#"{"any": "a <b>"}"#,
            r#"{"any": "<b&&b>"}"#,
            r#"{"one": "x<b>y"}"#,
            r#"{"few": "<b>"}"#,
            r#"{"few": "abcd"}"#,
            r#"{"some": "a&&a"}"#,
            r#"{"<b>": null}"#,
            r#"{"list": [["<b>"]]}"#,
            r#"{"list": [{"&&": 1}]}"#,
            r#"{"a<b>": null}"#,
        ],
    );
}

#[test]
fn texts_that_no_string_between_marks_holds() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "string"}}, "c": {"enum": ["</f>", "d"]}},
    });
    let format =
        json!({"type": "json_schema", "json_schema": schema, "style": "qwen_xml", "excludes": ["</f>"]});
    check(
        format,
        &[
            "<parameter=a></f ></parameter>",
            r#"<parameter=b>["\u003c/f>"]</parameter>"#,
            "<parameter=c>d</parameter>",
        ],
        &[
            "<parameter=a>x</f>x</parameter>",
            r#"<parameter=b>["</f>"]</parameter>"#,
            "<parameter=c></f></parameter>",
        ],
    );
}

#[test]
fn members_between_marks_in_any_order() {
    let member = |name: &str| format!("<parameter={name}>1</parameter>");
    let format = |required: Value, free: Value| {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}},
            "required": required,
            "additionalProperties": free,
        });
        json!({"type": "json_schema", "json_schema": schema, "style": "qwen_xml", "any_order": true})
    };
    let text =
        |names: &str| names.chars().map(|name| member(&name.to_string())).collect::<Vec<_>>().join("\n");
    let texts = |names: &[&str]| names.iter().map(|names| text(names)).collect::<Vec<String>>();
    for (required, free, right, wrong) in [
        (
            json!(["a"]),
            json!(false),
            vec!["a", "ab", "ba", "cab", "cba", "bca"],
            vec!["", "b", "bc", "aa", "aba", "ad"],
        ),
        (json!([]), json!(false), vec!["", "a", "cb", "bac"], vec!["aa", "d"]),
        (
            json!(["a", "c"]),
            json!({"type": "integer"}),
            vec!["ac", "dcad", "edac", "ca"],
            vec!["d", "dc", "aca"],
        ),
    ] {
        let (right, wrong) = (texts(&right), texts(&wrong));
        let (right, wrong): (Vec<&str>, Vec<&str>) =
            (right.iter().map(|text| &**text).collect(), wrong.iter().map(|text| &**text).collect());
        check(format(required, free), &right, &wrong);
    }
}
