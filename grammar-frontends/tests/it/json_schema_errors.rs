//! What is refused, where and why; and what the report says.

use grammask_grammar_frontends::json_schema::{
    FreeNames, JsonSchemaOptions, Treatment, Unsupported, Whitespace, compile,
};
use insta::assert_snapshot;

fn refusal(schema: &str) -> String {
    refusal_with(schema, &JsonSchemaOptions::default())
}

fn refusal_with(schema: &str, options: &JsonSchemaOptions) -> String {
    match compile(schema, options) {
        Ok(_) => panic!("compiled: {schema}"),
        Err(error) => {
            let first = error.iter().next().unwrap();
            let hint = first.hint().unwrap_or("-");
            format!("{} at `{}`: {} ({hint})", first.code(), first.pointer().unwrap_or("-"), first.message())
        }
    }
}

fn report(schema: &str, options: &JsonSchemaOptions) -> String {
    let compiled = compile(schema, options).unwrap();
    let lines = compiled.report.entries().iter().map(|entry| {
        let note = entry.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
        format!("{}: {}{note}", entry.pointer, entry.treatment.name())
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn malformed_schemas() {
    assert_snapshot!(refusal("{"), @"");
    assert_snapshot!(refusal("[]"), @"");
    assert_snapshot!(refusal(r#"{"type":"text"}"#), @"");
    assert_snapshot!(refusal(r#"{"properties":{"a/b":{"minimum":"1"}}}"#), @"");
    assert_snapshot!(refusal(r#"{"properties":[]}"#), @"");
    assert_snapshot!(refusal(r#"{"properties":{"a":3}}"#), @"");
    assert_snapshot!(refusal(r#"{"required":true}"#), @"");
    assert_snapshot!(refusal(r#"{"minLength":1.5}"#), @"");
    assert_snapshot!(refusal(r#"{"multipleOf":0}"#), @"");
    assert_snapshot!(refusal(r#"{"enum":1}"#), @"");
    assert_snapshot!(refusal(r#"{"anyOf":{}}"#), @"");
    assert_snapshot!(refusal(r#"{"uniqueItems":1}"#), @"");
    assert_snapshot!(refusal(r#"{"$ref":1}"#), @"");
    assert_snapshot!(refusal(r#"{"$schema":1}"#), @"");
}

#[test]
fn unsupported_keywords() {
    assert_snapshot!(refusal(r#"{"items":{"uniqueItems":true}}"#), @"");
    assert_snapshot!(refusal(r#"{"unevaluatedProperties":false}"#), @"");
    assert_snapshot!(refusal(r#"{"unevaluatedItems":{"type":"null"}}"#), @"");
    assert_snapshot!(refusal(r##"{"$dynamicRef":"#x"}"##), @"");
    assert_snapshot!(refusal(r#"{"pattern":"a(?=b)"}"#), @"");
    assert_snapshot!(refusal(r#"{"patternProperties":{"\\1":{}}}"#), @"");
    assert_snapshot!(refusal(r#"{"format":"regex"}"#), @"");
    assert_snapshot!(refusal(r#"{"minProperties":2}"#), @"");
    assert_snapshot!(refusal(r#"{"type":"integer","multipleOf":123457}"#), @"");
    assert_snapshot!(refusal(r#"{"multipleOf":0.15,"maximum":3}"#), @"");
    assert_snapshot!(refusal(r#"{"format":"uri","maxLength":100000}"#), @"");
    assert_snapshot!(refusal(r#"{"minimum":1e1000}"#), @"");
    assert_snapshot!(refusal(r#"{"allOf":[{"contains":{"const":1}},{"contains":{"const":2}}]}"#), @"");
    assert_snapshot!(refusal(r#"{"$schema":"http://json-schema.org/draft-03/schema#"}"#), @"");
    let unique = JsonSchemaOptions::default().free_names(FreeNames::Unique);
    assert_snapshot!(refusal_with(r#"{"type":"object"}"#, &unique), @"");
    let spaces = Whitespace::Fixed { item_separator: " ".into(), key_separator: ":".into() };
    assert_snapshot!(refusal_with("true", &JsonSchemaOptions::default().whitespace(spaces)), @"");
}

#[test]
fn references() {
    assert_snapshot!(refusal(r##"{"items":{"$ref":"#/$defs/x~1y"}}"##), @"");
    assert_snapshot!(refusal(r#"{"$ref":"other.json"}"#), @"");
    assert_snapshot!(refusal(r##"{"$ref":"#nowhere"}"##), @"");
    assert_snapshot!(refusal(r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"type":"null"},{"$ref":"#"}]}}}"##), @"");
}

#[test]
fn unsatisfiable_schemas() {
    assert_snapshot!(refusal("false"), @"");
    assert_snapshot!(refusal(r#"{"type":"string","minLength":3,"maxLength":2}"#), @"");
    assert_snapshot!(refusal(r#"{"type":"integer","minimum":0.1,"maximum":0.9}"#), @"");
    assert_snapshot!(refusal(r#"{"allOf":[{"type":"string"},{"type":"null"}]}"#), @"");
    assert_snapshot!(refusal(r##"{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}"##), @"");
    assert_snapshot!(refusal(r#"{"type":"object","properties":{"a":{"enum":[]}},"required":["a"]}"#), @"");
}

#[test]
fn reports() {
    let schema = r#"{"$schema":"http://json-schema.org/draft-06/schema#","title":"t","type":"object",
        "properties":{"a":{"format":"date","type":"string"},"b":{"format":"color","x-y":1}},"if":{}}"#;
    assert_snapshot!(report(schema, &JsonSchemaOptions::default()), @"");
    let lenient = JsonSchemaOptions::default().unsupported(Unsupported::Ignore);
    let schema = r#"{"items":{"type":"string","pattern":"(?=a)"},"uniqueItems":true}"#;
    assert_snapshot!(report(schema, &lenient), @"");
    let compiled = compile(schema, &lenient).unwrap();
    assert_eq!(compiled.report.with_treatment(Treatment::Ignored).count(), 2);
    assert_eq!(compiled.report.to_json()[0]["treatment"], "enforced");
}
