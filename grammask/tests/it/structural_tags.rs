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

/// Strings between Qwen's marks may have a line break on both sides.
#[test]
fn strings_on_lines_of_their_own() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"enum": ["x", 1]},
            "b": {"type": "string", "maxLength": 2},
            "c": {"type": "string", "pattern": "^[a-z]+$"},
        },
    });
    check(
        json!({"type": "json_schema", "json_schema": schema, "style": "qwen_xml"}),
        &[
            "<parameter=a>\nx\n</parameter>\n<parameter=b>\nab\n</parameter>",
            "<parameter=a>x</parameter><parameter=c>\nabc\n</parameter>",
            "<parameter=a>\n1\n</parameter>",
            "<parameter=b>\n\n\n</parameter>",
        ],
        &[
            "<parameter=a>\nx</parameter>",
            "<parameter=a>\n\nx\n</parameter>",
            "<parameter=a> x </parameter>",
            "<parameter=b>\nabc\n</parameter>",
            "<parameter=c>\nabc\n\n</parameter>",
            "<parameter=c>abc\n</parameter>",
        ],
    );
    check(
        json!({"type": "json_schema", "json_schema": schema, "style": "qwen_xml", "excludes": ["\nx"]}),
        &["<parameter=a>x</parameter>", "<parameter=c>\nabc\n</parameter>"],
        &["<parameter=a>\nx\n</parameter>", "<parameter=c>\nxa\n</parameter>"],
    );
    check(
        json!({"type": "json_schema", "json_schema": schema, "style": "glm_xml"}),
        &["<arg_key>a</arg_key><arg_value>x</arg_value>"],
        &["<arg_key>a</arg_key><arg_value>\nx\n</arg_value>"],
    );
}

/// Values inside of Seed-OSS's marks are JSON or Python's literals.
#[test]
fn values_of_python_between_marks() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": ["string", "boolean", "null"]}},
            "b": {"type": "boolean"},
            "c": {"type": "object", "properties": {"d": {"type": "string", "maxLength": 1}}, "required": ["d"]},
            "e": {"type": "string"},
        },
    });
    check(
        json!({"type": "json_schema", "json_schema": schema, "style": "seed_xml"}),
        &[
            "<parameter=a>['x', \"y\", True, None]</parameter>",
            "<parameter=a>[\"x\", true, null]</parameter>\n<parameter=b>False</parameter>",
            "<parameter=c>{'d': 'x'}</parameter><parameter=e>'as it is</parameter>",
            "<parameter=c>{\"d\": \"\\n\"}</parameter>",
        ],
        &[
            "<parameter=a>['x\"]</parameter>",
            "<parameter=b>'True'</parameter>",
            "<parameter=c>{d: 'x'}</parameter>",
            "<parameter=c>{'d': 'xy'}</parameter>",
            "<parameter=c>{'d: 'x'}</parameter>",
        ],
    );
    let tag = json!({"format": {"type": "json_schema", "json_schema": {"type": "object"}, "style": "seed_xml", "excludes": ["x"]}});
    let refusal = compiler().structural_tag(&tag.to_string(), &StructuralTagOptions::default());
    assert!(refusal.unwrap_err().to_string().contains("excludes"));
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
