//! Schemas that are no JSON, and keywords with values of the wrong kind.

use insta::assert_snapshot;

use super::schema;

#[test]
fn malformed_schemas() {
    assert_snapshot!(schema(""), @"
    [json-schema/syntax] Error: the schema is no JSON: EOF while parsing a value
       ╭─[ schema.json:1:1 ]
       │
     1 │
       │ ┬
       │ ╰── here
       │
       │ Help: the text ends too early; give the whole schema
    ───╯
    ");
    assert_snapshot!(schema("{"), @"
    [json-schema/syntax] Error: the schema is no JSON: EOF while parsing an object
       ╭─[ schema.json:1:1 ]
       │
     1 │ {
       │ ┬
       │ ╰── here
       │
       │ Help: the text ends too early; give the whole schema
    ───╯
    ");
    assert_snapshot!(schema(r#"{"type": "string",}"#), @r#"
    [json-schema/syntax] Error: the schema is no JSON: trailing comma
       ╭─[ schema.json:1:19 ]
       │
     1 │ {"type": "string",}
       │                   ┬
       │                   ╰── here
       │
       │ Help: leave out the comma before the closing bracket
    ───╯
    "#);
    assert_snapshot!(schema("{'type': 'string'}"), @"
    [json-schema/syntax] Error: the schema is no JSON: key must be a string
       ╭─[ schema.json:1:2 ]
       │
     1 │ {'type': 'string'}
       │  ┬
       │  ╰── here
       │
       │ Help: put names in double quotes
    ───╯
    ");
    assert_snapshot!(schema(r#"{"type": string}"#), @r#"
    [json-schema/syntax] Error: the schema is no JSON: expected value
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"type": string}
       │          ┬
       │          ╰── here
       │
       │ Help: correct the JSON
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"a": 1e}"#), @r#"
    [json-schema/syntax] Error: the schema is no JSON: invalid number
       ╭─[ schema.json:1:9 ]
       │
     1 │ {"a": 1e}
       │         ┬
       │         ╰── here
       │
       │ Help: correct the JSON
    ───╯
    "#);
    assert_snapshot!(schema("[]"), @"
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:1 ]
       │
     1 │ []
       │ ─┬
       │  ╰── here
       │
       │ Help: write such a value here
    ───╯
    ");
    assert_snapshot!(schema(r#""string""#), @r#"
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:1 ]
       │
     1 │ "string"
       │ ────┬───
       │     ╰───── here
       │
       │ Help: write such a value here
    ───╯
    "#);
    assert_snapshot!(schema("3"), @"
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:1 ]
       │
     1 │ 3
       │ ┬
       │ ╰── here
       │
       │ Help: write such a value here
    ───╯
    ");
    assert_snapshot!(schema("null"), @"
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:1 ]
       │
     1 │ null
       │ ──┬─
       │   ╰─── here
       │
       │ Help: write such a value here
    ───╯
    ");
    assert_snapshot!(schema(r#"{"type":"string"} x"#), @r#"
    [json-schema/syntax] Error: the schema is no JSON: trailing characters
       ╭─[ schema.json:1:19 ]
       │
     1 │ {"type":"string"} x
       │                   ┬
       │                   ╰── here
       │
       │ Help: give one JSON value and nothing after it
    ───╯
    "#);
    assert_snapshot!(schema("{\n  \"type\": \"object\",\n  \"properties\": {\n    \"a\": {\"type\": \"strin}\n  }\n}"), @r#"
    [json-schema/syntax] Error: the schema is no JSON: control character (\u0000-\u001F) found while parsing a string
       ╭─[ schema.json:4:26 ]
       │
     4 │     "a": {"type": "strin}
       │                          ┬
       │                          ╰── here
       │
       │ Help: close the string before the line ends; line breaks inside are written `\n`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"a": "\ud800"}"#), @r#"
    [json-schema/syntax] Error: the schema is no JSON: an escape is half of a pair of surrogates, which is no character
       ╭─[ schema.json:1:14 ]
       │
     1 │ {"a": "\ud800"}
       │              ┬
       │              ╰── here
       │
       │ Help: correct the JSON
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"a": 01}"#), @r#"
    [json-schema/syntax] Error: the schema is no JSON: invalid number
       ╭─[ schema.json:1:8 ]
       │
     1 │ {"a": 01}
       │        ┬
       │        ╰── here
       │
       │ Help: correct the JSON
    ───╯
    "#);
}

#[test]
fn misused_keywords() {
    assert_snapshot!(schema(r#"{"type": "str"}"#), @r#"
    [json-schema/malformed] Error: `type` must be `null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a list of these
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"type": "str"}
       │          ──┬──
       │            ╰──── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/type`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"type": 3}"#), @r#"
    [json-schema/malformed] Error: `type` must be `null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a list of these
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"type": 3}
       │          ┬
       │          ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/type`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"type": []}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies a `type` without names
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": []}
       │ ──────┬─────
       │       ╰─────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"properties": []}"#), @r#"
    [json-schema/malformed] Error: `properties` must be an object
       ╭─[ schema.json:1:16 ]
       │
     1 │ {"properties": []}
       │                ─┬
       │                 ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/properties`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"properties": {"a": 3}}"#), @r#"
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:22 ]
       │
     1 │ {"properties": {"a": 3}}
       │                      ┬
       │                      ╰── here
       │
       │ Help: write such a value here
       │
       │ Note: at `/properties/a`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"required": "a"}"#), @r#"
    [json-schema/malformed] Error: `required` must be a list of strings
       ╭─[ schema.json:1:14 ]
       │
     1 │ {"required": "a"}
       │              ─┬─
       │               ╰─── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/required`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"required": [1]}"#), @r#"
    [json-schema/malformed] Error: `required` must be a list of strings
       ╭─[ schema.json:1:14 ]
       │
     1 │ {"required": [1]}
       │              ─┬─
       │               ╰─── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/required`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"minLength": -1}"#), @r#"
    [json-schema/malformed] Error: `minLength` must be a whole number that is not negative
       ╭─[ schema.json:1:15 ]
       │
     1 │ {"minLength": -1}
       │               ─┬
       │                ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/minLength`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"minLength": "3"}"#), @r#"
    [json-schema/malformed] Error: `minLength` must be a whole number that is not negative
       ╭─[ schema.json:1:15 ]
       │
     1 │ {"minLength": "3"}
       │               ─┬─
       │                ╰─── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/minLength`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"maxLength": 1.5}"#), @r#"
    [json-schema/malformed] Error: `maxLength` must be a whole number that is not negative
       ╭─[ schema.json:1:15 ]
       │
     1 │ {"maxLength": 1.5}
       │               ─┬─
       │                ╰─── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/maxLength`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"minimum": "3"}"#), @r#"
    [json-schema/malformed] Error: `minimum` must be a number
       ╭─[ schema.json:1:13 ]
       │
     1 │ {"minimum": "3"}
       │             ─┬─
       │              ╰─── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/minimum`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"multipleOf": 0}"#), @r#"
    [json-schema/malformed] Error: `multipleOf` must be a number above zero
       ╭─[ schema.json:1:16 ]
       │
     1 │ {"multipleOf": 0}
       │                ┬
       │                ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/multipleOf`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"multipleOf": -2}"#), @r#"
    [json-schema/malformed] Error: `multipleOf` must be a number above zero
       ╭─[ schema.json:1:16 ]
       │
     1 │ {"multipleOf": -2}
       │                ─┬
       │                 ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/multipleOf`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"enum": []}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies an `enum` without values
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"enum": []}
       │ ──────┬─────
       │       ╰─────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"enum": "a"}"#), @r#"
    [json-schema/malformed] Error: `enum` must be a list of values
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"enum": "a"}
       │          ─┬─
       │           ╰─── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/enum`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"items": 3}"#), @r#"
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:11 ]
       │
     1 │ {"items": 3}
       │           ┬
       │           ╰── here
       │
       │ Help: write such a value here
       │
       │ Note: at `/items`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"prefixItems": {}}"#), @r#"
    [json-schema/malformed] Error: `prefixItems` must be a list of schemas
       ╭─[ schema.json:1:17 ]
       │
     1 │ {"prefixItems": {}}
       │                 ─┬
       │                  ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/prefixItems`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"anyOf": {}}"#), @r#"
    [json-schema/malformed] Error: `anyOf` must be a list of schemas
       ╭─[ schema.json:1:11 ]
       │
     1 │ {"anyOf": {}}
       │           ─┬
       │            ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/anyOf`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"pattern": 3}"#), @r#"
    [json-schema/malformed] Error: `pattern` must be a string
       ╭─[ schema.json:1:13 ]
       │
     1 │ {"pattern": 3}
       │             ┬
       │             ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/pattern`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"additionalProperties": "no"}"#), @r#"
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:26 ]
       │
     1 │ {"additionalProperties": "no"}
       │                          ──┬─
       │                            ╰─── here
       │
       │ Help: write such a value here
       │
       │ Note: at `/additionalProperties`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"$ref": 3}"#), @r#"
    [json-schema/malformed] Error: `$ref` must be a string
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"$ref": 3}
       │          ┬
       │          ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/$ref`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"$schema": 3}"#), @r#"
    [json-schema/malformed] Error: `$schema` must be a string
       ╭─[ schema.json:1:13 ]
       │
     1 │ {"$schema": 3}
       │             ┬
       │             ╰── here
       │
       │ Help: name a draft of JSON Schema
       │
       │ Note: at `/$schema`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"$schema": "http://json-schema.org/draft-03/schema#"}"#), @r#"
    [json-schema/unsupported] Error: `$schema`: draft-03 is not supported
       ╭─[ schema.json:1:13 ]
       │
     1 │ {"$schema": "http://json-schema.org/draft-03/schema#"}
       │             ────────────────────┬────────────────────
       │                                 ╰────────────────────── here
       │
       │ Help: use draft-04 or a later one
       │
       │ Note: at `/$schema`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"format": 3}"#), @r#"
    [json-schema/malformed] Error: `format` must be a string
       ╭─[ schema.json:1:12 ]
       │
     1 │ {"format": 3}
       │            ┬
       │            ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/format`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"dependentRequired": {"a": "b"}}"#), @r#"
    [json-schema/malformed] Error: `dependentRequired` must be an object of lists of strings
       ╭─[ schema.json:1:23 ]
       │
     1 │ {"dependentRequired": {"a": "b"}}
       │                       ─────┬────
       │                            ╰────── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/dependentRequired`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"dependencies": {"a": "b"}}"#), @r#"
    [json-schema/malformed] Error: `dependencies` must be an object of schemas and lists of strings
       ╭─[ schema.json:1:18 ]
       │
     1 │ {"dependencies": {"a": "b"}}
       │                  ─────┬────
       │                       ╰────── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/dependencies`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"patternProperties": {"(": {}}}"#), @r#"
    [regex/syntax] Error: pattern, column 1: this group is not closed
       ╭─[ schema.json:1:29 ]
       │
     1 │ {"patternProperties": {"(": {}}}
       │                             ─┬
       │                              ╰── here
       │
       │ Help: add a `)`, or write `\(`
       │
       │ Note: at `/patternProperties/(`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"properties": {"a": {"items": {"type": "strng"}}}}"#), @r#"
    [json-schema/malformed] Error: `type` must be `null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a list of these
       ╭─[ schema.json:1:41 ]
       │
     1 │ {"properties": {"a": {"items": {"type": "strng"}}}}
       │                                         ───┬───
       │                                            ╰───── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/properties/a/items/type`
    ───╯
    "#);
    assert_snapshot!(schema(r##"{"$defs": 3, "$ref": "#/$defs/a"}"##), @r##"
    [json-schema/reference] Error: `#/$defs/a` leads to nothing in this document
       ╭─[ schema.json:1:22 ]
       │
     1 │ {"$defs": 3, "$ref": "#/$defs/a"}
       │                      ─────┬─────
       │                           ╰─────── here
       │
       │ Help: correct the reference or add what it names
       │
       │ Note: at `/$ref`
    ───╯
    "##);
}
