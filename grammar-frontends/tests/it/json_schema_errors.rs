//! Refusals with their places and reasons, and the content of the report.

use grammask_grammar_frontends::json_schema::{
    self, FreeNames, JsonSchemaOptions, KeyOrder, Treatment, Unsupported, Whitespace, compile,
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

/// The value that is refused is handed out as it is written, and a long one is not.
#[test]
fn refused_values_are_handed_out() {
    let found = |schema: &str| {
        let refused = json_schema::report(schema, &JsonSchemaOptions::default()).unwrap_err();
        refused.iter().next().unwrap().found().map(str::to_owned)
    };
    assert_eq!(found(r#"{"properties": {"a/b": {"type": [ 3 ]}}}"#).as_deref(), Some("[ 3 ]"));
    assert_eq!(found(r#"{"minProperties": -1}"#).as_deref(), Some("-1"));
    let opposed = r#"{"type": "string", "minLength": 3, "maxLength": 1}"#;
    assert_eq!(found(opposed).as_deref(), Some(opposed));
    assert_eq!(found(&format!(r#"{{"type": "{}"}}"#, "x".repeat(1023))), None);
    assert_eq!(found("{"), None);
}

#[test]
fn malformed_schemas() {
    assert_snapshot!(refusal("{"), @"json-schema/syntax at `-`: the schema is no JSON: EOF while parsing an object (the text ends too early; give the whole schema)");
    assert_snapshot!(refusal("[]"), @"json-schema/malformed at ``: this must be a schema: an object, `true` or `false` (write such a value here)");
    assert_snapshot!(refusal(r#"{"type":"text"}"#), @"json-schema/malformed at `/type`: `type` must be `null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a list of these (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(r#"{"properties":{"a/b":{"minimum":"1"}}}"#), @"json-schema/malformed at `/properties/a~1b/minimum`: `minimum` must be a number (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(r#"{"properties":[]}"#), @"json-schema/malformed at `/properties`: `properties` must be an object (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(r#"{"properties":{"a":3}}"#), @"json-schema/malformed at `/properties/a`: this must be a schema: an object, `true` or `false` (write such a value here)");
    assert_snapshot!(refusal(r#"{"required":true}"#), @"json-schema/malformed at `/required`: `required` must be a list of strings (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(r#"{"minLength":1.5}"#), @"json-schema/malformed at `/minLength`: `minLength` must be a whole number that is not negative (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(r#"{"multipleOf":0}"#), @"json-schema/malformed at `/multipleOf`: `multipleOf` must be a number above zero (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(r#"{"enum":1}"#), @"json-schema/malformed at `/enum`: `enum` must be a list of values (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(r#"{"anyOf":{}}"#), @"json-schema/malformed at `/anyOf`: `anyOf` must be a list of schemas (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(r#"{"uniqueItems":1}"#), @"json-schema/malformed at `/uniqueItems`: `uniqueItems` must be `true` or `false` (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(r#"{"$ref":1}"#), @"json-schema/malformed at `/$ref`: `$ref` must be a string (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(r#"{"$schema":1}"#), @r#"json-schema/malformed at `/$schema`: `$schema` must be a string (name a draft of JSON Schema)"#);
}

#[test]
fn unsupported_keywords() {
    assert_snapshot!(refusal(r#"{"items":{"uniqueItems":true,"items":{"type":"string","pattern":"^[a-z]{3}$"}}}"#), @"json-schema/unsupported at `/items/uniqueItems`: `uniqueItems`: there may be more items than values that they may have, as far as these can be counted (bound the number of items with `maxItems`, or list the values under `enum`)");
    assert_snapshot!(refusal(r##"{"$dynamicRef":"#x"}"##), @r#"json-schema/reference at `/$dynamicRef`: `#x` leads to nothing in this document (correct the reference or add what it names)"#);
    assert_snapshot!(refusal(r#"{"pattern":"(b(?<=ab))+"}"#), @r#"regex/look-around at `/pattern`: pattern, column 3: look-around and word boundaries are not supported in this repeat without a bound (move it out of the repeat, give the repeat a bound of up to 64, or let the parts beside look-around read as many characters as it looks at)"#);
    assert_snapshot!(refusal(r#"{"patternProperties":{"\\1":{}}}"#), @r#"regex/back-reference at `/patternProperties/\1`: pattern, column 1: back-references are not supported (repeat the group's pattern; equality of two parts cannot be enforced)"#);
    assert_snapshot!(refusal(r#"{"format":"idn-email"}"#), @r#"json-schema/unsupported at `/format`: `format`: `idn-email` is not enforced (remove the format, or ask for formats to be annotations)"#);
    assert_snapshot!(refusal(r#"{"type":"integer","multipleOf":123457}"#), @r#"json-schema/unsupported at `/multipleOf`: `multipleOf`: telling the multiples of 123457 takes more than 20000 states (use a smaller step, or raise the limit `states`)"#);
    assert_snapshot!(refusal(r#"{"multipleOf":0.00003,"maximum":3}"#), @r#"json-schema/unsupported at `/multipleOf`: `multipleOf`: telling the multiples of a step with a fraction takes more than 20000 states (use a whole step or a power of ten, or raise the limit `states`)"#);
    assert_snapshot!(refusal(r#"{"format":"uri","minLength":100000}"#), @r#"json-schema/unsupported at `/minLength`: `minLength`: keeping a length of 100000 beside the pattern or format takes more than 20000 states (put the length into the pattern, or use a smaller bound)"#);
    assert_snapshot!(refusal(r#"{"minimum":1e1000}"#), @r#"json-schema/unsupported at `/minimum`: `minimum`: a number of more than 400 digits when written without an exponent (use fewer digits or raise the limit `digits`)"#);
    assert_snapshot!(refusal(r#"{"exclusiveMinimum":-1e1000}"#), @r#"json-schema/unsupported at `/exclusiveMinimum`: `exclusiveMinimum`: a number of more than 400 digits when written without an exponent (use fewer digits or raise the limit `digits`)"#);
    assert_snapshot!(refusal(r#"{"maximum":1e1000}"#), @r#"json-schema/unsupported at `/maximum`: `maximum`: a number of more than 400 digits when written without an exponent (use fewer digits or raise the limit `digits`)"#);
    assert_snapshot!(refusal(r#"{"exclusiveMaximum":1e-1000}"#), @r#"json-schema/unsupported at `/exclusiveMaximum`: `exclusiveMaximum`: a number of more than 400 digits when written without an exponent (use fewer digits or raise the limit `digits`)"#);
    assert_snapshot!(refusal(r#"{"const":1e1000}"#), @r#"json-schema/unsupported at `/const`: `const`: a number of more than 400 digits when written without an exponent (use fewer digits or raise the limit `digits`)"#);
    assert_snapshot!(refusal(r#"{"$schema":"http://json-schema.org/draft-03/schema#"}"#), @r#"json-schema/unsupported at `/$schema`: `$schema`: draft-03 is not supported (use draft-04 or a later one)"#);
    let unique = JsonSchemaOptions::default().free_names(FreeNames::Unique);
    let names = r#"{"patternProperties":{"^[a-z]{2}$":{}},"additionalProperties":false}"#;
    assert_snapshot!(refusal_with(names, &unique), @"json-schema/unsupported at `/additionalProperties`: `additionalProperties`: it leaves names free, and here they are not kept from repeating (declare all names and close the object, or allow free names to repeat)");
    let spaces = Whitespace::Fixed { item_separator: " ".into(), key_separator: ":".into() };
    assert_snapshot!(refusal_with("true", &JsonSchemaOptions::default().whitespace(spaces)), @r#"json-schema/options at `-`: a separator is a comma (between items) or a colon (between name and value), with whitespace around it (-)"#);
}

#[test]
fn references() {
    assert_snapshot!(refusal(r##"{"items":{"$ref":"#/$defs/x~1y"}}"##), @r#"json-schema/reference at `/items/$ref`: `#/$defs/x~1y` leads to nothing in this document (correct the reference or add what it names)"#);
    assert_snapshot!(refusal(r#"{"$ref":"other.json"}"#), @r#"json-schema/reference at `/$ref`: `other.json` leads to another document, and no retriever was given (copy the schema under `$defs` and refer to it there, or give a retriever)"#);
    assert_snapshot!(refusal(r##"{"$ref":"#nowhere"}"##), @r#"json-schema/reference at `/$ref`: `#nowhere` leads to nothing in this document (correct the reference or add what it names)"#);
    assert_snapshot!(refusal(r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"type":"null"},{"$ref":"#"}]}}}"##), @r#"json-schema/reference at ``: this schema refers to itself without a step into an item or the value of a property (remove the reference that leads back here)"#);
}

#[test]
fn unsatisfiable_schemas() {
    assert_snapshot!(refusal("false"), @r#"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: what it requires is excluded, or never ends (relax one of the keywords that contradict each other)"#);
    assert_snapshot!(refusal(r#"{"type":"string","minLength":3,"maxLength":2}"#), @"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: no string satisfies `minLength` and `maxLength` together (relax one of the keywords that contradict each other)");
    assert_snapshot!(refusal(r#"{"type":"integer","minimum":0.1,"maximum":0.9}"#), @"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: no number satisfies `type`, `minimum` and `maximum` together (relax one of the keywords that contradict each other)");
    assert_snapshot!(refusal(r#"{"allOf":[{"type":"string"},{"type":"null"}]}"#), @r#"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: nothing satisfies `allOf` and the keywords beside it (relax one of the keywords that contradict each other)"#);
    assert_snapshot!(refusal(r##"{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}"##), @r#"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: what it requires is excluded, or never ends (relax one of the keywords that contradict each other)"#);
    // Of the members in any order there are fewer than demanded.
    let few = r##"{"type":"object","properties":{"a":{"$ref":"#"},"b":true},"additionalProperties":false,"minProperties":2}"##;
    let any_order = JsonSchemaOptions::default().key_order(KeyOrder::Any);
    assert_snapshot!(refusal_with(few, &any_order), @"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: what it requires is excluded, or never ends (relax one of the keywords that contradict each other)");
    assert_snapshot!(refusal(r#"{"type":"object","properties":{"a":{"enum":[]}},"required":["a"]}"#), @r#"json-schema/unsatisfiable at `/properties/a`: no JSON text satisfies the schema: nothing satisfies an `enum` without values (relax one of the keywords that contradict each other)"#);
    assert_snapshot!(refusal(r#"{"type":"object","properties":{"a":{"type":[]}},"required":["a"]}"#), @r#"json-schema/unsatisfiable at `/properties/a`: no JSON text satisfies the schema: nothing satisfies a `type` without names (relax one of the keywords that contradict each other)"#);
}

/// Patterns, formats and lengths that have no text together are refused before any automaton is compiled, and
/// where they are optional they are left out.
#[test]
fn strings_that_contradict_themselves() {
    assert_snapshot!(refusal(r#"{"type":"string","pattern":"^x_","format":"json-pointer"}"#), @"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: no string satisfies all of this: the pattern `^x_`, the format `json-pointer` (relax one of the keywords that contradict each other)");
    assert_snapshot!(refusal(r#"{"type":"string","format":"uri","maxLength":3,"pattern":"^\\d{1,3}$"}"#), @r"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: no string satisfies all of this: the pattern `^\d{1,3}$`, the format `uri`, a length of at most 3 (relax one of the keywords that contradict each other)");
    assert_snapshot!(refusal(r#"{"allOf":[{"type":"string","pattern":"^a+$"},{"pattern":"^b"}]}"#), @"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: no string satisfies all of this: the pattern `^a+$`, the pattern `^b` (relax one of the keywords that contradict each other)");
    assert_snapshot!(refusal(r#"{"type":"string","pattern":"^(a|b)$","not":{"enum":["a","b"]}}"#), @"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: no string satisfies all of this: the pattern `^(a|b)$`, the values that are excluded (relax one of the keywords that contradict each other)");
    assert_snapshot!(refusal(r#"{"type":"array","minItems":1,"items":{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^x_","format":"date"}}}}"#), @"json-schema/unsatisfiable at `/items/properties/a`: no JSON text satisfies the schema: no string satisfies all of this: the pattern `^x_`, the format `date` (relax one of the keywords that contradict each other)");
    assert_snapshot!(refusal(r#"{"type":"object","minProperties":1,"propertyNames":{"pattern":"^x_","format":"date"}}"#), @"json-schema/unsatisfiable at ``: no JSON text satisfies the schema: what it requires is excluded, or never ends (relax one of the keywords that contradict each other)");
    let optional = [
        r#"{"properties":{"a":{"type":"string","pattern":"^x_","format":"date"}}}"#,
        r#"{"type":["string","null"],"pattern":"^x_","format":"date"}"#,
        r#"{"type":"object","propertyNames":{"pattern":"^x_","format":"date"}}"#,
        r#"{"patternProperties":{"^a":{"type":"string","pattern":"^[^a-z]*$","not":{"pattern":"^[^a-z]*$"}}}}"#,
        r#"{"type":"string","pattern":"^(a|b|c)$","not":{"enum":["a","b"]}}"#,
        r#"{"type":"string","pattern":"^[a-c]+$","minLength":7,"not":{"pattern":"aa|bb|cc"}}"#,
    ];
    for schema in optional {
        assert!(compile(schema, &JsonSchemaOptions::default()).is_ok(), "{schema}");
    }
}

#[test]
fn reports() {
    let schema = r#"{"$schema":"http://json-schema.org/draft-06/schema#","title":"t","type":"object",
        "properties":{"a":{"format":"date","type":"string"},"b":{"format":"color","x-y":1}},"if":{}}"#;
    assert_snapshot!(report(schema, &JsonSchemaOptions::default()), @r#"
    /$schema: annotation
    /title: annotation
    /type: enforced
    /properties: enforced
    /if: other-draft (not a keyword of this draft)
    /properties/a/type: enforced
    /properties/a/format: enforced
    /properties/b/x-y: annotation (not a keyword of JSON Schema)
    /properties/b/format: annotation (not a format of JSON Schema)
    "#);
    let lenient = JsonSchemaOptions::default().unsupported(Unsupported::Ignore);
    let schema = r#"{"items":{"type":"string","pattern":"(b(?<=ab))+"},"uniqueItems":true}"#;
    assert_snapshot!(report(schema, &lenient), @r"
    /items: enforced
    /uniqueItems: enforced
    /items/type: enforced
    /items/pattern: ignored (look-around and word boundaries are not supported in this repeat without a bound)
    ");
    let compiled = compile(schema, &lenient).unwrap();
    assert_eq!(compiled.report.with_treatment(Treatment::Ignored).count(), 1);
    let entries = compiled.report.to_json();
    let first = entries.as_array().and_then(|entries| entries.first()?.get("treatment")?.as_str());
    assert_eq!(first, Some("enforced"));
}

/// Nobody asks to go on without a keyword that is malformed.
#[test]
fn malformed_patterns_are_not_ignored() {
    let lenient = JsonSchemaOptions::default().unsupported(Unsupported::Ignore);
    for (schema, pointer) in [
        (r#"{"pattern":"("}"#, "/pattern"),
        (r#"{"properties":{"a":{"pattern":"[z-a]"}}}"#, "/properties/a/pattern"),
        (r#"{"patternProperties":{"a{3,1}":true}}"#, "/patternProperties/a{3,1}"),
    ] {
        let error = compile(schema, &lenient).unwrap_err();
        let first = error.iter().next().unwrap();
        assert_eq!((first.code(), first.pointer()), ("regex/syntax", Some(pointer)), "{schema}");
    }
}

/// All that is in the way of a schema, in Rust and as JSON.
#[test]
fn the_report_of_a_refused_schema() {
    let schema = r#"{"type": "object", "title": "t", "properties": {
        "id": {"type": "string", "pattern": "(a)\\1"},
        "tags": {"items": {"type": "string", "pattern": "^[a-z]{3}$"}, "uniqueItems": true}}}"#;
    assert!(compile(schema, &JsonSchemaOptions::default()).is_err());
    let report = json_schema::report(schema, &JsonSchemaOptions::default()).unwrap();
    let lines: Vec<String> = report
        .entries()
        .iter()
        .map(|entry| format!("{} {}", entry.pointer, entry.treatment.name()))
        .collect();
    assert_snapshot!(lines.join("\n"), @r"
    /type enforced
    /title annotation
    /properties enforced
    /properties/id/type enforced
    /properties/id/pattern refused
    /properties/tags/items enforced
    /properties/tags/items/type enforced
    /properties/tags/items/pattern enforced
    /properties/tags/uniqueItems refused
    ");
    assert_snapshot!(serde_json::to_string_pretty(&report.to_json().as_array().unwrap()[3]).unwrap(), @r#"
    {
      "pointer": "/properties/id/type",
      "keyword": "type",
      "treatment": "enforced"
    }
    "#);
    assert_snapshot!(json_schema::report("{\"type\": 1}", &JsonSchemaOptions::default()).unwrap_err(), @"1:10 (at `/type`): error: `type` must be `null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a list of these; write such a value, or leave the keyword out");
}

#[test]
fn formats_that_are_not_known_exactly() {
    assert_snapshot!(refusal(r#"{"properties":{"a":{"type":"string","not":{"format":"regex"}}}}"#), @"json-schema/unsupported at `/properties/a`: `format`: of no text it is certain that it does not obey the format `regex` (say what is wanted with a pattern)");
    assert_snapshot!(refusal(r#"{"properties":{"a":{"enum":["a","xn--ls8h"],"format":"hostname"}}}"#), @"json-schema/unsupported at `/properties/a/format`: `format`: of a name or a constant it is not certain whether it obeys the format `hostname` (leave out the format, or the constant)");
    assert_snapshot!(refusal(r#"{"properties":{"xn--ls8h":{}},"propertyNames":{"format":"hostname"}}"#), @"json-schema/unsupported at `/propertyNames/format`: `format`: of a name or a constant it is not certain whether it obeys the format `hostname` (leave out the format, or the constant)");
    let taken = r#"{"enum":["a","b c"],"format":"hostname"}"#;
    assert!(compile(taken, &JsonSchemaOptions::default()).is_ok());
}

/// A schema of llguidance may say itself what happens to keywords that cannot be enforced.
#[test]
fn the_report_follows_the_options_of_a_schema() {
    let treatments = |guidance: &str, unsupported: Unsupported| {
        let schema = format!(r#"{{"format": "idn-email", "x-guidance": {guidance}}}"#);
        let report =
            json_schema::report(&schema, &JsonSchemaOptions::default().unsupported(unsupported)).unwrap();
        report.entries().iter().find(|entry| entry.keyword == "format").unwrap().treatment
    };
    for (unsupported, treatment) in
        [(Unsupported::Refuse, Treatment::Refused), (Unsupported::Ignore, Treatment::Ignored)]
    {
        assert_eq!(treatments("{}", unsupported), treatment);
        assert_eq!(treatments(r#"{"lenient": true}"#, unsupported), Treatment::Ignored);
        assert_eq!(treatments(r#"{"lenient": false}"#, unsupported), Treatment::Refused);
    }
}

#[test]
fn the_report_goes_on_after_references_to_other_documents() {
    let schema = r#"{"properties": {"a": {"$ref": "http://x/y"}, "b": {"type": "integer"}, "c": {"$ref": "http://x/y"}}}"#;
    assert!(compile(schema, &JsonSchemaOptions::default()).is_err());
    for unsupported in [Unsupported::Refuse, Unsupported::Ignore] {
        let report =
            json_schema::report(schema, &JsonSchemaOptions::default().unsupported(unsupported)).unwrap();
        let lines =
            report.entries().iter().map(|entry| format!("{} {}", entry.pointer, entry.treatment.name()));
        let lines: Vec<String> = lines.collect();
        assert_eq!(
            lines,
            [
                "/properties enforced",
                "/properties/a/$ref refused",
                "/properties/b/type enforced",
                "/properties/c/$ref refused"
            ]
        );
    }
    let nothing = r##"{"properties": {"a": {"$ref": "#/nope"}}}"##;
    assert!(json_schema::report(nothing, &JsonSchemaOptions::default()).is_err());
}
