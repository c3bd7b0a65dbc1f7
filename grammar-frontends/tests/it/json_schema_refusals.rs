//! Messages about schemas that are refused: keyword, JSON pointer, the place in their text, the reason, and
//! the text to write instead.

use grammask_grammar_frontends::Color;
use grammask_grammar_frontends::json_schema::{FreeNames, JsonSchemaOptions, Whitespace, compile};
use insta::assert_snapshot;

fn refusal(schema: &str) -> String {
    refusal_with(schema, &JsonSchemaOptions::default())
}

fn refusal_with(schema: &str, options: &JsonSchemaOptions) -> String {
    let error = compile(schema, options).unwrap_err();
    let pointer = error.iter().next().unwrap().pointer().unwrap_or("-").to_owned();
    format!("at `{pointer}`\n{}", error.render(schema, "schema.json", Color::Never))
}

#[test]
fn text_that_is_no_json() {
    assert_snapshot!(refusal(r##"{"type": "object",
 "properties": {"a": {"type": "string",}}}"##), @r#"
    at `-`
    [json-schema/syntax] Error: the schema is no JSON: trailing comma
       ╭─[ schema.json:2:40 ]
       │
     2 │  "properties": {"a": {"type": "string",}}}
       │                                        ┬
       │                                        ╰── here
       │
       │ Help: leave out the comma before the closing bracket
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": 'string'}"##), @r#"
    at `-`
    [json-schema/syntax] Error: the schema is no JSON: expected value
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"type": 'string'}
       │          ┬
       │          ╰── here
       │
       │ Help: correct the JSON
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "string""##), @r#"
    at `-`
    [json-schema/syntax] Error: the schema is no JSON: EOF while parsing an object
       ╭─[ schema.json:1:17 ]
       │
     1 │ {"type": "string"
       │                 ┬
       │                 ╰── here
       │
       │ Help: the text ends too early; give the whole schema
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"enum": ["a
b"]}"##), @r#"
    at `-`
    [json-schema/syntax] Error: the schema is no JSON: control character (\u0000-\u001F) found while parsing a string
       ╭─[ schema.json:1:13 ]
       │
     1 │ {"enum": ["a
       │             ┬
       │             ╰── here
       │
       │ Help: close the string before the line ends; line breaks inside are written `\n`
    ───╯
    "#);
}

#[test]
fn values_of_the_wrong_kind() {
    assert_snapshot!(refusal(r##"{"properties": {"size": {"type": "int"}}}"##), @r#"
    at `/properties/size/type`
    [json-schema/malformed] Error: `type` must be `null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a list of these
       ╭─[ schema.json:1:34 ]
       │
     1 │ {"properties": {"size": {"type": "int"}}}
       │                                  ──┬──
       │                                    ╰──── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/properties/size/type`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"properties": {"size": {"type": "string", "minLength": -1}}}"##), @r#"
    at `/properties/size/minLength`
    [json-schema/malformed] Error: `minLength` must be a whole number that is not negative
       ╭─[ schema.json:1:57 ]
       │
     1 │ {"properties": {"size": {"type": "string", "minLength": -1}}}
       │                                                         ─┬
       │                                                          ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/properties/size/minLength`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"required": "name"}"##), @r#"
    at `/required`
    [json-schema/malformed] Error: `required` must be a list of strings
       ╭─[ schema.json:1:14 ]
       │
     1 │ {"required": "name"}
       │              ───┬──
       │                 ╰──── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/required`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"properties": {"tags": {"items": {"enum": "red"}}}}"##), @r#"
    at `/properties/tags/items/enum`
    [json-schema/malformed] Error: `enum` must be a list of values
       ╭─[ schema.json:1:44 ]
       │
     1 │ {"properties": {"tags": {"items": {"enum": "red"}}}}
       │                                            ──┬──
       │                                              ╰──── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/properties/tags/items/enum`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"properties": {"price": {"multipleOf": 0}}}"##), @r#"
    at `/properties/price/multipleOf`
    [json-schema/malformed] Error: `multipleOf` must be a number above zero
       ╭─[ schema.json:1:41 ]
       │
     1 │ {"properties": {"price": {"multipleOf": 0}}}
       │                                         ┬
       │                                         ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/properties/price/multipleOf`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"oneOf": {"type": "string"}}"##), @r#"
    at `/oneOf`
    [json-schema/malformed] Error: `oneOf` must be a list of schemas
       ╭─[ schema.json:1:11 ]
       │
     1 │ {"oneOf": {"type": "string"}}
       │           ─────────┬────────
       │                    ╰────────── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/oneOf`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"properties": {"a": "string"}}"##), @r#"
    at `/properties/a`
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:22 ]
       │
     1 │ {"properties": {"a": "string"}}
       │                      ────┬───
       │                          ╰───── here
       │
       │ Help: write such a value here
       │
       │ Note: at `/properties/a`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"patternProperties": {"^x": 3}}"##), @r#"
    at `/patternProperties/^x`
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:30 ]
       │
     1 │ {"patternProperties": {"^x": 3}}
       │                              ┬
       │                              ╰── here
       │
       │ Help: write such a value here
       │
       │ Note: at `/patternProperties/^x`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"$schema": "http://json-schema.org/draft-03/schema#"}"##), @r#"
    at `/$schema`
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
    assert_snapshot!(refusal(r##"{"not": ["null"]}"##), @r#"
    at `/not`
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:9 ]
       │
     1 │ {"not": ["null"]}
       │         ────┬───
       │             ╰───── here
       │
       │ Help: write such a value here
       │
       │ Note: at `/not`
    ───╯
    "#);
}

#[test]
fn references() {
    assert_snapshot!(refusal(r##"{"properties": {"a": {"$ref": "#/definitions/item"}}, "$defs": {"item": {}}}"##), @r##"
    at `/properties/a/$ref`
    [json-schema/reference] Error: `#/definitions/item` leads to nothing in this document
       ╭─[ schema.json:1:31 ]
       │
     1 │ {"properties": {"a": {"$ref": "#/definitions/item"}}, "$defs": {"item": {}}}
       │                               ──────────┬─────────
       │                                         ╰─────────── here
       │
       │ Help: correct the reference or add what it names
       │
       │ Note: at `/properties/a/$ref`
    ───╯
    "##);
    assert_snapshot!(refusal(r##"{"$ref": "https://example.com/other.json"}"##), @r#"
    at `/$ref`
    [json-schema/reference] Error: `https://example.com/other.json` leads to another document, and no retriever was given
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"$ref": "https://example.com/other.json"}
       │          ────────────────┬───────────────
       │                          ╰───────────────── here
       │
       │ Help: copy the schema under `$defs` and refer to it there, or give a retriever
       │
       │ Note: at `/$ref`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}"##), @r##"
    at `/$defs/a`
    [json-schema/reference] Error: this schema refers to itself without a step into an item or the value of a property
       ╭─[ schema.json:1:17 ]
       │
     1 │ {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
       │                 ──────────┬──────────
       │                           ╰──────────── here
       │
       │ Help: remove the reference that leads back here
       │
       │ Note: at `/$defs/a`
    ───╯
    "##);
    assert_snapshot!(refusal(r##"{"$dynamicRef": "#node"}"##), @r##"
    at `/$dynamicRef`
    [json-schema/reference] Error: `#node` leads to nothing in this document
       ╭─[ schema.json:1:17 ]
       │
     1 │ {"$dynamicRef": "#node"}
       │                 ───┬───
       │                    ╰───── here
       │
       │ Help: correct the reference or add what it names
       │
       │ Note: at `/$dynamicRef`
    ───╯
    "##);
    assert_snapshot!(refusal(r##"{"items": {"$ref": 7}}"##), @r#"
    at `/items/$ref`
    [json-schema/malformed] Error: `$ref` must be a string
       ╭─[ schema.json:1:20 ]
       │
     1 │ {"items": {"$ref": 7}}
       │                    ┬
       │                    ╰── here
       │
       │ Help: write such a value, or leave the keyword out
       │
       │ Note: at `/items/$ref`
    ───╯
    "#);
}

#[test]
fn patterns_and_formats() {
    assert_snapshot!(refusal(r##"{"properties": {"id": {"type": "string", "pattern": "^(y(?<!xy))+$"}}}"##), @r#"
    at `/properties/id/pattern`
    [regex/look-around] Error: pattern, column 4: look-around and word boundaries are not supported in this repeat without a bound
       ╭─[ schema.json:1:53 ]
       │
     1 │ {"properties": {"id": {"type": "string", "pattern": "^(y(?<!xy))+$"}}}
       │                                                     ───────┬───────
       │                                                            ╰───────── here
       │
       │ Help: move it out of the repeat, give the repeat a bound of up to 64, or let the parts beside look-around read as many characters as it looks at
       │
       │ Note: at `/properties/id/pattern`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"pattern": "(a)\\1"}"##), @r#"
    at `/pattern`
    [regex/back-reference] Error: pattern, column 4: back-references are not supported
       ╭─[ schema.json:1:13 ]
       │
     1 │ {"pattern": "(a)\\1"}
       │             ────┬───
       │                 ╰───── here
       │
       │ Help: repeat the group's pattern; equality of two parts cannot be enforced
       │
       │ Note: at `/pattern`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"pattern": "[z-a]"}"##), @r#"
    at `/pattern`
    [regex/syntax] Error: pattern, column 2: the first character of this range comes after the last
       ╭─[ schema.json:1:13 ]
       │
     1 │ {"pattern": "[z-a]"}
       │             ───┬───
       │                ╰───── here
       │
       │ Help: swap the two, or write `\-` for a dash
       │
       │ Note: at `/pattern`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"pattern": "(abc"}"##), @r#"
    at `/pattern`
    [regex/syntax] Error: pattern, column 1: this group is not closed
       ╭─[ schema.json:1:13 ]
       │
     1 │ {"pattern": "(abc"}
       │             ───┬──
       │                ╰──── here
       │
       │ Help: add a `)`, or write `\(`
       │
       │ Note: at `/pattern`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"patternProperties": {"(a(?<=ba))+": {}}}"##), @r#"
    at `/patternProperties/(a(?<=ba))+`
    [regex/look-around] Error: pattern, column 3: look-around and word boundaries are not supported in this repeat without a bound
       ╭─[ schema.json:1:39 ]
       │
     1 │ {"patternProperties": {"(a(?<=ba))+": {}}}
       │                                       ─┬
       │                                        ╰── here
       │
       │ Help: move it out of the repeat, give the repeat a bound of up to 64, or let the parts beside look-around read as many characters as it looks at
       │
       │ Note: at `/patternProperties/(a(?<=ba))+`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "string", "format": "idn-hostname"}"##), @r#"
    at `/format`
    [json-schema/unsupported] Error: `format`: `idn-hostname` is not enforced
       ╭─[ schema.json:1:30 ]
       │
     1 │ {"type": "string", "format": "idn-hostname"}
       │                              ───────┬──────
       │                                     ╰──────── here
       │
       │ Help: remove the format, or ask for formats to be annotations
       │
       │ Note: at `/format`
    ───╯
    "#);
}

#[test]
fn numbers() {
    assert_snapshot!(refusal(r##"{"type": "integer", "multipleOf": 1000003}"##), @r#"
    at `/multipleOf`
    [json-schema/unsupported] Error: `multipleOf`: telling the multiples of 1000003 takes more than 20000 states
       ╭─[ schema.json:1:35 ]
       │
     1 │ {"type": "integer", "multipleOf": 1000003}
       │                                   ───┬───
       │                                      ╰───── here
       │
       │ Help: use a smaller step, or raise the limit `states`
       │
       │ Note: at `/multipleOf`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "number", "multipleOf": 0.00003, "maximum": 10}"##), @r#"
    at `/multipleOf`
    [json-schema/unsupported] Error: `multipleOf`: telling the multiples of a step with a fraction takes more than 20000 states
       ╭─[ schema.json:1:34 ]
       │
     1 │ {"type": "number", "multipleOf": 0.00003, "maximum": 10}
       │                                  ───┬───
       │                                     ╰───── here
       │
       │ Help: use a whole step or a power of ten, or raise the limit `states`
       │
       │ Note: at `/multipleOf`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "number", "minimum": 1e999}"##), @r#"
    at `/minimum`
    [json-schema/unsupported] Error: `minimum`: a number of more than 400 digits when written without an exponent
       ╭─[ schema.json:1:31 ]
       │
     1 │ {"type": "number", "minimum": 1e999}
       │                               ──┬──
       │                                 ╰──── here
       │
       │ Help: use fewer digits or raise the limit `digits`
       │
       │ Note: at `/minimum`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "number", "not": {"multipleOf": 0.00003}}"##), @r#"
    at ``
    [json-schema/unsupported] Error: `multipleOf`: telling the numbers that are no multiples takes more than 20000 states
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "number", "not": {"multipleOf": 0.00003}}
       │ ─────────────────────────┬────────────────────────
       │                          ╰────────────────────────── here
       │
       │ Help: remove the `not` around it, or raise the limit `states`
    ───╯
    "#);
}

#[test]
fn arrays_and_objects() {
    assert_snapshot!(refusal(r##"{"type": "array", "items": {"type": "string", "pattern": "^[0-9]{4}$"}, "uniqueItems": true}"##), @r#"
    at `/uniqueItems`
    [json-schema/unsupported] Error: `uniqueItems`: there may be more items than values that they may have, as far as these can be counted
       ╭─[ schema.json:1:88 ]
       │
     1 │ {"type": "array", "items": {"type": "string", "pattern": "^[0-9]{4}$"}, "uniqueItems": true}
       │                                                                                        ──┬─
       │                                                                                          ╰─── here
       │
       │ Help: bound the number of items with `maxItems`, or list the values under `enum`
       │
       │ Note: at `/uniqueItems`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "string", "pattern": "^([a-z]+ ?){3,20}$", "minLength": 60000}"##), @r#"
    at `/minLength`
    [json-schema/unsupported] Error: `minLength`: keeping a length of 60000 beside the pattern or format takes more than 20000 states
       ╭─[ schema.json:1:66 ]
       │
     1 │ {"type": "string", "pattern": "^([a-z]+ ?){3,20}$", "minLength": 60000}
       │                                                                  ──┬──
       │                                                                    ╰──── here
       │
       │ Help: put the length into the pattern, or use a smaller bound
       │
       │ Note: at `/minLength`
    ───╯
    "#);
}

#[test]
fn nothing_satisfies_it() {
    assert_snapshot!(refusal(r##"{"type": "integer", "minimum": 10, "maximum": 5}"##), @r#"
    at ``
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no number satisfies `type`, `minimum` and `maximum` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "integer", "minimum": 10, "maximum": 5}
       │ ────────────────────────┬───────────────────────
       │                         ╰───────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "string", "minLength": 5, "maxLength": 3}"##), @r#"
    at ``
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no string satisfies `minLength` and `maxLength` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "string", "minLength": 5, "maxLength": 3}
       │ ─────────────────────────┬────────────────────────
       │                          ╰────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"allOf": [{"type": "string"}, {"type": "integer"}]}"##), @r#"
    at ``
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `allOf` and the keywords beside it
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"allOf": [{"type": "string"}, {"type": "integer"}]}
       │ ──────────────────────────┬─────────────────────────
       │                           ╰─────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "enum": [1, 2]}}}"##), @r#"
    at `/properties/a`
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `enum` and the keywords beside it
       ╭─[ schema.json:1:59 ]
       │
     1 │ {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "enum": [1, 2]}}}
       │                                                           ─────────────────┬────────────────
       │                                                                            ╰────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
       │
       │ Note: at `/properties/a`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "object", "required": ["a"], "properties": {"a": false}}"##), @r#"
    at ``
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no object satisfies `properties` and `required` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "object", "required": ["a"], "properties": {"a": false}}
       │ ────────────────────────────────┬────────────────────────────────
       │                                 ╰────────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "object", "required": ["a"], "additionalProperties": false}"##), @r#"
    at ``
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no object satisfies `additionalProperties` and `required` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "object", "required": ["a"], "additionalProperties": false}
       │ ──────────────────────────────────┬─────────────────────────────────
       │                                   ╰─────────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}}"##), @r##"
    at ``
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: what it requires is excluded, or never ends
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}}
       │ ───────────────────────────────────────┬───────────────────────────────────────
       │                                        ╰───────────────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "##);
    assert_snapshot!(refusal(r##"{"type": "array", "minItems": 2, "prefixItems": [{}], "items": false}"##), @r#"
    at ``
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no array satisfies `prefixItems`, `items` and `minItems` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "array", "minItems": 2, "prefixItems": [{}], "items": false}
       │ ──────────────────────────────────┬──────────────────────────────────
       │                                   ╰──────────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "object",
 "required": ["code"],
 "properties": {
   "code": {"type": "string", "pattern": "^[A-Z]{2}$", "minLength": 3}}}"##), @r#"
    at `/properties/code`
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no string satisfies `pattern` and `minLength` together
       ╭─[ schema.json:4:12 ]
       │
     4 │    "code": {"type": "string", "pattern": "^[A-Z]{2}$", "minLength": 3}}}
       │            ─────────────────────────────┬─────────────────────────────
       │                                         ╰─────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
       │
       │ Note: at `/properties/code`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "object",
 "required": ["when"],
 "properties": {
   "when": {"type": "string", "pattern": "^x_", "format": "date"}}}"##), @r#"
    at `/properties/when`
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no string satisfies all of this: the pattern `^x_`, the format `date`
       ╭─[ schema.json:4:12 ]
       │
     4 │    "when": {"type": "string", "pattern": "^x_", "format": "date"}}}
       │            ───────────────────────────┬──────────────────────────
       │                                       ╰──────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
       │
       │ Note: at `/properties/when`
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"const": 3, "enum": [1, 2]}"##), @r#"
    at ``
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `const` and the keywords beside it
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"const": 3, "enum": [1, 2]}
       │ ──────────────┬─────────────
       │               ╰─────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"not": {}}"##), @r#"
    at ``
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `not` and the keywords beside it
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"not": {}}
       │ ─────┬─────
       │      ╰─────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(refusal(r##"{"type": "object", "required": ["a", "b", "c"], "maxProperties": 2}"##), @r#"
    at ``
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no object satisfies `required` and `maxProperties` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "object", "required": ["a", "b", "c"], "maxProperties": 2}
       │ ─────────────────────────────────┬─────────────────────────────────
       │                                  ╰─────────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
}

#[test]
fn options_and_limits() {
    let unique = JsonSchemaOptions::default().free_names(FreeNames::Unique);
    assert_snapshot!(refusal_with(r#"{"type": "object", "patternProperties": {"^[a-z]{2}$": {}}, "additionalProperties": false}"#, &unique), @r#"
    at `/additionalProperties`
    [json-schema/unsupported] Error: `additionalProperties`: it leaves names free, and here they are not kept from repeating
       ╭─[ schema.json:1:85 ]
       │
     1 │ {"type": "object", "patternProperties": {"^[a-z]{2}$": {}}, "additionalProperties": false}
       │                                                                                     ──┬──
       │                                                                                       ╰──── here
       │
       │ Help: declare all names and close the object, or allow free names to repeat
       │
       │ Note: at `/additionalProperties`
    ───╯
    "#);
    let separators = Whitespace::Fixed { item_separator: ";".to_owned(), key_separator: ":".to_owned() };
    let separators = JsonSchemaOptions::default().whitespace(separators);
    assert_snapshot!(refusal_with("{}", &separators), @r"
    at `-`
    schema.json: error: a separator is a comma (between items) or a colon (between name and value), with whitespace around it
    ");
    let mut limits = JsonSchemaOptions::default().limits;
    limits.alternatives = 4;
    let few = JsonSchemaOptions::default().limits(limits);
    let schema = r#"{"anyOf": [{"minimum": 0, "maximum": 1}, {"minimum": 2, "maximum": 3},
  {"minimum": 4, "maximum": 5}, {"minimum": 6, "maximum": 7}, {"minimum": 8, "maximum": 9}]}"#;
    assert_snapshot!(refusal_with(schema, &few), @r#"
    at `/anyOf`
    [json-schema/unsupported] Error: `anyOf`: written out as alternatives, the combination has more than 4 of them
       ╭─[ schema.json:1:11 ]
       │
     1 │ {"anyOf": [{"minimum": 0, "maximum": 1}, {"minimum": 2, "maximum": 3},
       │           ──────────────────────────────┬─────────────────────────────
       │                                         ╰─────────────────────────────── here
       │
       │ Help: use fewer or smaller alternatives, or raise the limit `alternatives`
       │
       │ Note: at `/anyOf`
    ───╯
    "#);
}
