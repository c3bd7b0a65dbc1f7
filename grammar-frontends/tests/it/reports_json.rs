//! Reports of what is wrong in JSON: the place is that of the value at the pointer.

use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, compile, compile_value};
use grammask_grammar_frontends::{Color, Diagnostics};
use insta::assert_snapshot;

const SCHEMA: &str = "{\n  \"properties\": {\n    \"a/b\": {\"pattern\": \"(a)\\\\1\"}\n  }\n}";

/// The refusal of a schema that is a text.
fn of_text(schema: &str) -> Diagnostics {
    compile(schema, &JsonSchemaOptions::default()).unwrap_err()
}

/// The refusal of a schema that was read before, which has no places.
fn of_value(schema: &str) -> Diagnostics {
    compile_value(&schema.parse().unwrap(), &JsonSchemaOptions::default()).unwrap_err()
}

#[test]
fn embedded_text_is_reported_at_its_pointer() {
    assert_snapshot!(of_value(SCHEMA), @"at `/properties/a~1b/pattern`: error: pattern, column 4: back-references are not supported; repeat the group's pattern; equality of two parts cannot be enforced");
    assert_snapshot!(of_text(SCHEMA), @"3:24 (at `/properties/a~1b/pattern`): error: pattern, column 4: back-references are not supported; repeat the group's pattern; equality of two parts cannot be enforced");
    assert_snapshot!(of_value(SCHEMA).render(SCHEMA, "schema.json", Color::Never), @r#"
    [regex/back-reference] Error: pattern, column 4: back-references are not supported
       ╭─[ schema.json:3:24 ]
       │
     3 │     "a/b": {"pattern": "(a)\\1"}
       │                        ────┬───
       │                            ╰───── here
       │
       │ Help: repeat the group's pattern; equality of two parts cannot be enforced
       │
       │ Note: at `/properties/a~1b/pattern`
    ───╯
    "#);
}

#[test]
fn without_a_source_the_pointer_stands_alone() {
    assert_snapshot!(of_value(SCHEMA).render("not JSON", "schema.json", Color::Never), @"schema.json: at `/properties/a~1b/pattern`: error: pattern, column 4: back-references are not supported; repeat the group's pattern; equality of two parts cannot be enforced");
    assert_snapshot!(of_value(SCHEMA).to_json(), @r#"[{"severity":"error","code":"regex/back-reference","message":"pattern, column 4: back-references are not supported","pointer":"/properties/a~1b/pattern","hint":"repeat the group's pattern; equality of two parts cannot be enforced"}]"#);
}

#[test]
fn colours_are_only_written_when_asked_for() {
    assert!(of_text(SCHEMA).render(SCHEMA, "schema.json", Color::Always).contains('\u{1b}'));
    assert!(!of_text(SCHEMA).render(SCHEMA, "schema.json", Color::Never).contains('\u{1b}'));
}

/// The pointer of a refused schema, and the part of a text at it.
fn found(schema: &str) -> (String, String) {
    let error = of_text(schema);
    let first = error.iter().next().unwrap();
    (first.pointer().unwrap().to_owned(), schema[first.span().unwrap().range()].to_owned())
}

#[test]
fn values_are_found_at_their_pointers() {
    for (schema, pointer, text) in [
        (" [1, {\"a\": 2}] ", "", "[1, {\"a\": 2}]"),
        (r#"{"title": "{\"", "anyOf": [ 1 ]}"#, "/anyOf/0", "1"),
        (
            r#"{"allOf": [true, {"x": [[], "]"]}, {"properties": {"b/c": 1.5e3}}]}"#,
            "/allOf/2/properties/b~1c",
            "1.5e3",
        ),
        (r#"{"properties": {"b": {}, "~": "x\"y"}}"#, "/properties/~0", r#""x\"y""#),
        (r#"{"properties": {"\u0065": null}}"#, "/properties/e", "null"),
        (r#"{"properties": {"a": {}, "a": [ [] ]}}"#, "/properties/a", "[ [] ]"),
    ] {
        assert_eq!(found(schema), (pointer.to_owned(), text.to_owned()));
    }
}

#[test]
fn what_is_not_in_a_text_has_no_place_in_it() {
    let refused = [r#"{"allOf": [{}, {"type": 3}]}"#, "[]"];
    let check = |schema: &str, source: &str| {
        let report = of_value(schema).render(source, "name", Color::Never);
        assert!(report.starts_with("name: at "), "{report}");
    };
    let deep = format!("{{\"allOf\": {}", "[".repeat(1_000_000));
    for source in ["", "{", "[", "{\"allOf\"", "{\"allOf\":", "\"", "\"\\", "}", "[1,", "\u{e9}", &deep] {
        refused.iter().for_each(|schema| check(schema, source));
    }
    for more in ["1", r#"{"1": {}}"#, "[{}]", "[{}, true]", r#"[{}, {"type":}]"#, r#"[{}, {"/type": 1}]"#] {
        check(refused[0], &format!(r#"{{"allOf": {more}}}"#));
    }
}

#[test]
fn a_place_inside_of_a_character_is_its_start() {
    assert_snapshot!(of_text("\n\"a\u{e9}"), @"2:3: error: the schema is no JSON: EOF while parsing a string; the text ends too early; give the whole schema");
}
