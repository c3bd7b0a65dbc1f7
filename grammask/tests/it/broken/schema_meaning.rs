//! References that lead nowhere, schemas that nothing satisfies, and what is not supported.

use insta::assert_snapshot;

use super::schema;

#[test]
fn references() {
    assert_snapshot!(schema(r##"{"$ref": "#/$defs/missing"}"##), @r##"
    [json-schema/reference] Error: `#/$defs/missing` leads to nothing in this document
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"$ref": "#/$defs/missing"}
       │          ────────┬────────
       │                  ╰────────── here
       │
       │ Help: correct the reference or add what it names
       │
       │ Note: at `/$ref`
    ───╯
    "##);
    assert_snapshot!(schema(r##"{"$ref": "#nowhere"}"##), @r##"
    [json-schema/reference] Error: `#nowhere` leads to nothing in this document
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"$ref": "#nowhere"}
       │          ─────┬────
       │               ╰────── here
       │
       │ Help: correct the reference or add what it names
       │
       │ Note: at `/$ref`
    ───╯
    "##);
    assert_snapshot!(schema(r#"{"$ref": "other.json"}"#), @r#"
    [json-schema/reference] Error: `other.json` leads to another document, and no retriever was given
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"$ref": "other.json"}
       │          ──────┬─────
       │                ╰─────── here
       │
       │ Help: copy the schema under `$defs` and refer to it there, or give a retriever
       │
       │ Note: at `/$ref`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"$ref": "https://example.com/schema"}"#), @r#"
    [json-schema/reference] Error: `https://example.com/schema` leads to another document, and no retriever was given
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"$ref": "https://example.com/schema"}
       │          ──────────────┬─────────────
       │                        ╰─────────────── here
       │
       │ Help: copy the schema under `$defs` and refer to it there, or give a retriever
       │
       │ Note: at `/$ref`
    ───╯
    "#);
    assert_snapshot!(schema(r##"{"$ref": "#"}"##), @r##"
    [json-schema/reference] Error: this schema refers to itself without a step into an item or the value of a property
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"$ref": "#"}
       │ ──────┬──────
       │       ╰──────── here
       │
       │ Help: remove the reference that leads back here
    ───╯
    "##);
    assert_snapshot!(schema(r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##), @r##"
    [json-schema/reference] Error: this schema refers to itself without a step into an item or the value of a property
       ╭─[ schema.json:1:38 ]
       │
     1 │ {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
       │                                      ──────────┬──────────
       │                                                ╰──────────── here
       │
       │ Help: remove the reference that leads back here
       │
       │ Note: at `/$defs/a`
    ───╯
    "##);
    assert_snapshot!(schema(r##"{"allOf": [{"not": {"$ref": "#"}}]}"##), @r##"
    [json-schema/reference] Error: this schema refers to itself without a step into an item or the value of a property
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"allOf": [{"not": {"$ref": "#"}}]}
       │ ─────────────────┬─────────────────
       │                  ╰─────────────────── here
       │
       │ Help: remove the reference that leads back here
    ───╯
    "##);
    assert_snapshot!(schema(r##"{"$ref": "#/$defs/a~2b"}"##), @r##"
    [json-schema/reference] Error: `#/$defs/a~2b` leads to nothing in this document
       ╭─[ schema.json:1:10 ]
       │
     1 │ {"$ref": "#/$defs/a~2b"}
       │          ───────┬──────
       │                 ╰──────── here
       │
       │ Help: correct the reference or add what it names
       │
       │ Note: at `/$ref`
    ───╯
    "##);
    assert_snapshot!(schema(r##"{"$ref": "#/properties/x/type", "properties": {"x": {"type": "string"}}}"##), @r##"
    [json-schema/malformed] Error: this must be a schema: an object, `true` or `false`
       ╭─[ schema.json:1:62 ]
       │
     1 │ {"$ref": "#/properties/x/type", "properties": {"x": {"type": "string"}}}
       │                                                              ────┬───
       │                                                                  ╰───── here
       │
       │ Help: write such a value here
       │
       │ Note: at `/properties/x/type`
    ───╯
    "##);
    assert_snapshot!(schema(r##"{"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}"##), @r##"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: what it requires is excluded, or never ends
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
       │ ───────────────────────────────────────┬───────────────────────────────────────
       │                                        ╰───────────────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "##);
}

#[test]
fn unsatisfiable_schemas() {
    assert_snapshot!(schema("false"), @"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: what it requires is excluded, or never ends
       ╭─[ schema.json:1:1 ]
       │
     1 │ false
       │ ──┬──
       │   ╰──── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    ");
    assert_snapshot!(schema(r#"{"not": {}}"#), @r#"
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
    assert_snapshot!(schema(r#"{"type": "string", "minLength": 5, "maxLength": 3}"#), @r#"
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
    assert_snapshot!(schema(r#"{"type": "integer", "minimum": 3, "maximum": 2}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no number satisfies `type`, `minimum` and `maximum` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "integer", "minimum": 3, "maximum": 2}
       │ ───────────────────────┬───────────────────────
       │                        ╰───────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"type": "integer", "exclusiveMinimum": 2, "exclusiveMaximum": 3}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no number satisfies `type`, `exclusiveMinimum` and `exclusiveMaximum` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "integer", "exclusiveMinimum": 2, "exclusiveMaximum": 3}
       │ ────────────────────────────────┬────────────────────────────────
       │                                 ╰────────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"properties": {"a": {"type": "number", "multipleOf": 0.1, "minimum": 0.01, "maximum": 0.09}}, "required": ["a"], "type": "object"}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no number satisfies `type`, `minimum`, `maximum` and `multipleOf` together
       ╭─[ schema.json:1:22 ]
       │
     1 │ {"properties": {"a": {"type": "number", "multipleOf": 0.1, "minimum": 0.01, "maximum": 0.09}}, "required": ["a"], "type": "object"}
       │                      ───────────────────────────────────┬───────────────────────────────────
       │                                                         ╰───────────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
       │
       │ Note: at `/properties/a`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"type": "integer", "multipleOf": 2, "not": {"multipleOf": 1}}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `not` and the keywords beside it
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "integer", "multipleOf": 2, "not": {"multipleOf": 1}}
       │ ───────────────────────────────┬──────────────────────────────
       │                                ╰──────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"enum": ["a"], "type": "integer"}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `enum` and the keywords beside it
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"enum": ["a"], "type": "integer"}
       │ ─────────────────┬────────────────
       │                  ╰────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"const": 3, "minimum": 5}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `const` and the keywords beside it
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"const": 3, "minimum": 5}
       │ ─────────────┬────────────
       │              ╰────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"type": "string", "pattern": "^a$", "minLength": 2}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no string satisfies `pattern` and `minLength` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "string", "pattern": "^a$", "minLength": 2}
       │ ──────────────────────────┬─────────────────────────
       │                           ╰─────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"properties": {"a": false}, "required": ["a"], "type": "object"}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no object satisfies `properties` and `required` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"properties": {"a": false}, "required": ["a"], "type": "object"}
       │ ────────────────────────────────┬────────────────────────────────
       │                                 ╰────────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"additionalProperties": false, "required": ["a"], "type": "object"}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no object satisfies `additionalProperties` and `required` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"additionalProperties": false, "required": ["a"], "type": "object"}
       │ ──────────────────────────────────┬─────────────────────────────────
       │                                   ╰─────────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"type": "array", "items": {"not": {}}, "minItems": 1}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `not` and the keywords beside it
       ╭─[ schema.json:1:28 ]
       │
     1 │ {"type": "array", "items": {"not": {}}, "minItems": 1}
       │                            ─────┬─────
       │                                 ╰─────── here
       │
       │ Help: relax one of the keywords that contradict each other
       │
       │ Note: at `/items`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"type": "object", "minProperties": 3, "maxProperties": 2}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: no object satisfies `minProperties` and `maxProperties` together
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"type": "object", "minProperties": 3, "maxProperties": 2}
       │ ─────────────────────────────┬────────────────────────────
       │                              ╰────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"allOf": [{"type": "string"}, {"type": "number"}]}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `allOf` and the keywords beside it
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"allOf": [{"type": "string"}, {"type": "number"}]}
       │ ─────────────────────────┬─────────────────────────
       │                          ╰─────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"oneOf": [{"type": "string"}, {"type": "string"}]}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `oneOf` and the keywords beside it
       ╭─[ schema.json:1:1 ]
       │
     1 │ {"oneOf": [{"type": "string"}, {"type": "string"}]}
       │ ─────────────────────────┬─────────────────────────
       │                          ╰─────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"type": "object", "properties": {"a": {"type": "integer", "allOf": [{"minimum": 5}, {"maximum": 4}]}}, "required": ["a"]}"#), @r#"
    [json-schema/unsatisfiable] Error: no JSON text satisfies the schema: nothing satisfies `allOf` and the keywords beside it
       ╭─[ schema.json:1:40 ]
       │
     1 │ {"type": "object", "properties": {"a": {"type": "integer", "allOf": [{"minimum": 5}, {"maximum": 4}]}}, "required": ["a"]}
       │                                        ───────────────────────────────┬──────────────────────────────
       │                                                                       ╰──────────────────────────────── here
       │
       │ Help: relax one of the keywords that contradict each other
       │
       │ Note: at `/properties/a`
    ───╯
    "#);
}

#[test]
fn unsupported_keywords() {
    assert_snapshot!(schema(r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-z]{3}$"}, "uniqueItems": true}"#), @r#"
    [json-schema/unsupported] Error: `uniqueItems`: there may be more items than values that they may have, as far as these can be counted
       ╭─[ schema.json:1:88 ]
       │
     1 │ {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{3}$"}, "uniqueItems": true}
       │                                                                                        ──┬─
       │                                                                                          ╰─── here
       │
       │ Help: bound the number of items with `maxItems`, or list the values under `enum`
       │
       │ Note: at `/uniqueItems`
    ───╯
    "#);
    assert_snapshot!(schema(r##"{"$dynamicRef": "#a"}"##), @r##"
    [json-schema/reference] Error: `#a` leads to nothing in this document
       ╭─[ schema.json:1:17 ]
       │
     1 │ {"$dynamicRef": "#a"}
       │                 ──┬─
       │                   ╰─── here
       │
       │ Help: correct the reference or add what it names
       │
       │ Note: at `/$dynamicRef`
    ───╯
    "##);
    assert_snapshot!(schema(r#"{"type": "string", "format": "idn-email"}"#), @r#"
    [json-schema/unsupported] Error: `format`: `idn-email` is not enforced
       ╭─[ schema.json:1:30 ]
       │
     1 │ {"type": "string", "format": "idn-email"}
       │                              ─────┬─────
       │                                   ╰─────── here
       │
       │ Help: remove the format, or ask for formats to be annotations
       │
       │ Note: at `/format`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"pattern": "b(?<=a$)"}"#), @r#"
    [regex/look-around] Error: pattern, column 2: look-behind is not supported here: it may look past the parts before it in its group, or it holds assertions
       ╭─[ schema.json:1:13 ]
       │
     1 │ {"pattern": "b(?<=a$)"}
       │             ─────┬────
       │                  ╰────── here
       │
       │ Help: write before it, in its group, parts that read at least as many characters as it looks at
       │
       │ Note: at `/pattern`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"pattern": "(a)\\1"}"#), @r#"
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
    assert_snapshot!(schema(r#"{"pattern": "["}"#), @r#"
    [regex/syntax] Error: pattern, column 1: this character class is not closed
       ╭─[ schema.json:1:13 ]
       │
     1 │ {"pattern": "["}
       │             ─┬─
       │              ╰─── here
       │
       │ Help: add a `]`, or write `\[`
       │
       │ Note: at `/pattern`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"properties": {"code": {"pattern": "^[A-Z{3}$"}}}"#), @r#"
    [regex/syntax] Error: pattern, column 2: this character class is not closed
       ╭─[ schema.json:1:37 ]
       │
     1 │ {"properties": {"code": {"pattern": "^[A-Z{3}$"}}}
       │                                     ─────┬─────
       │                                          ╰─────── here
       │
       │ Help: add a `]`, or write `\[`
       │
       │ Note: at `/properties/code/pattern`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"patternProperties": {"^(x\\b)+": {}}}"#), @r#"
    [regex/look-around] Error: pattern, column 4: look-around and word boundaries are not supported in this repeat without a bound
       ╭─[ schema.json:1:36 ]
       │
     1 │ {"patternProperties": {"^(x\\b)+": {}}}
       │                                    ─┬
       │                                     ╰── here
       │
       │ Help: move it out of the repeat, give the repeat a bound of up to 64, or let the parts beside look-around read as many characters as it looks at
       │
       │ Note: at `/patternProperties/^(x\b)+`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"type": "integer", "multipleOf": 1000000007}"#), @r#"
    [json-schema/unsupported] Error: `multipleOf`: telling the multiples of 1000000007 takes more than 20000 states
       ╭─[ schema.json:1:35 ]
       │
     1 │ {"type": "integer", "multipleOf": 1000000007}
       │                                   ─────┬────
       │                                        ╰────── here
       │
       │ Help: use a smaller step, or raise the limit `states`
       │
       │ Note: at `/multipleOf`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"type": "number", "minimum": 1e500}"#), @r#"
    [json-schema/unsupported] Error: `minimum`: a number of more than 400 digits when written without an exponent
       ╭─[ schema.json:1:31 ]
       │
     1 │ {"type": "number", "minimum": 1e500}
       │                               ──┬──
       │                                 ╰──── here
       │
       │ Help: use fewer digits or raise the limit `digits`
       │
       │ Note: at `/minimum`
    ───╯
    "#);
}

/// A refusal after the frontend is reported at its place in the schema, not by rules that nobody wrote.
#[test]
fn limits_of_later_stages() {
    assert_snapshot!(schema(r#"{"properties": {"a": {"minimum": 1}, "b": {"type": "string", "pattern": "^(a|b)*a(a|b){20}c$", "not": {"pattern": "bab"}}}}"#), @r#"
    [json-schema/limit] Error: `pattern`: limit reached, more than 50000 states for its text; simplify it or raise `text.max_states`
       ╭─[ schema.json:1:73 ]
       │
     1 │ {"properties": {"a": {"minimum": 1}, "b": {"type": "string", "pattern": "^(a|b)*a(a|b){20}c$", "not": {"pattern": "bab"}}}}
       │                                                                         ──────────┬──────────
       │                                                                                   ╰──────────── here
       │
       │ Note: at `/properties/b/pattern`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"properties": {"a": {"type": "string", "anyOf": [{"enum": ["x"]}, {"not": {"pattern": "a.{20}b"}}]}}}"#), @r#"
    [json-schema/limit] Error: `pattern`: limit reached, more than 50000 states for its text; simplify it or raise `text.max_states`
       ╭─[ schema.json:1:88 ]
       │
     1 │ {"properties": {"a": {"type": "string", "anyOf": [{"enum": ["x"]}, {"not": {"pattern": "a.{20}b"}}]}}}
       │                                                                                        ────┬────
       │                                                                                            ╰────── here
       │
       │ Note: at `/properties/a/anyOf/1/not/pattern`
    ───╯
    "#);
    assert_snapshot!(schema(r#"{"properties": {"a": {"propertyNames": {"allOf": [{"pattern": "a.{20}b"}, {"pattern": "c.{20}d"}]}}}}"#), @r#"
    [json-schema/limit] Error: `propertyNames`: limit reached, more than 50000 states for its text; simplify it or raise `text.max_states`
       ╭─[ schema.json:1:40 ]
       │
     1 │ {"properties": {"a": {"propertyNames": {"allOf": [{"pattern": "a.{20}b"}, {"pattern": "c.{20}d"}]}}}}
       │                                        ─────────────────────────────┬─────────────────────────────
       │                                                                     ╰─────────────────────────────── here
       │
       │ Note: at `/properties/a/propertyNames`
    ───╯
    "#);
}
