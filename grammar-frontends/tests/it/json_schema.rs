//! JSON Schema against two judges: the naive recogniser says which texts the grammar has, a validator says
//! which values satisfy the schema.

use grammask_grammar_frontends::json_schema::{
    JsonSchemaOptions, Objects, Spelling, Whitespace, compile_grammar,
};
use grammask_oracle::Recogniser;
use serde_json::Value;

/// A schema, its grammar's recogniser and its validator.
struct Case {
    schema: String,
    recogniser: Recogniser,
    validator: jsonschema::Validator,
}

fn check(schema: &str) -> Case {
    check_with(schema, &JsonSchemaOptions::default())
}

/// With every spelling of a value.
fn check_any(schema: &str) -> Case {
    check_with(schema, &JsonSchemaOptions::default().spelling(Spelling::Any))
}

fn check_with(schema: &str, options: &JsonSchemaOptions) -> Case {
    let grammar = compile_grammar(schema, options).unwrap_or_else(|error| panic!("{schema}\n{error}"));
    let value: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&value).unwrap();
    Case { schema: schema.to_owned(), recogniser: Recogniser::new(&grammar), validator }
}

impl Case {
    fn has(&self, text: &str) -> bool {
        let mut chart = self.recogniser.begin();
        text.bytes().all(|byte| chart.push(byte)) && chart.is_complete()
    }

    fn is_valid(&self, text: &str) -> bool {
        serde_json::from_str(text).is_ok_and(|value: Value| self.validator.is_valid(&value))
    }

    /// Texts of the grammar; all are valid.
    fn accepts(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(self.is_valid(text), "the validator refuses {text}\n{}", self.schema);
            assert!(self.has(text), "the grammar lacks {text}\n{}", self.schema);
        }
        self
    }

    /// Texts of invalid values, or of no value.
    fn rejects(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(!self.is_valid(text), "the validator takes {text}\n{}", self.schema);
            assert!(!self.has(text), "the grammar has {text}\n{}", self.schema);
        }
        self
    }

    /// Valid values in a spelling that does not belong to the text language.
    fn does_not_spell(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(self.is_valid(text), "the validator refuses {text}\n{}", self.schema);
            assert!(!self.has(text), "the grammar has {text}\n{}", self.schema);
        }
        self
    }

    /// For each text the grammar and the validator agree.
    fn agrees<Text: AsRef<str>>(&self, texts: impl IntoIterator<Item = Text>) -> &Self {
        for text in texts {
            let text = text.as_ref();
            assert_eq!(self.has(text), self.is_valid(text), "{text}\n{}", self.schema);
        }
        self
    }
}

/// Values of every type and shape that the schemas below speak about.
const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "10",
    "1.5",
    "2.0",
    "-0.5",
    "100",
    r#""""#,
    r#""a""#,
    r#""ab""#,
    r#""abc""#,
    r#""A""#,
    r#""1""#,
    "[]",
    "[1]",
    "[1,2]",
    r#"["a"]"#,
    r#"["a","b"]"#,
    "[null]",
    r#"[1,"a"]"#,
    "[1,2,3]",
    "[[1]]",
    "[{}]",
    "{}",
    r#"{"a":1}"#,
    r#"{"a":"x"}"#,
    r#"{"b":1}"#,
    r#"{"b":"x"}"#,
    r#"{"a":1,"b":2}"#,
    r#"{"a":1,"b":"x"}"#,
    r#"{"a":1,"b":2,"c":3}"#,
    r#"{"c":null}"#,
    r#"{"a":{"a":1}}"#,
    r#"{"a":null}"#,
    r#"{"a":[1]}"#,
    r#"{"x":1}"#,
    r#"{"x":"y"}"#,
    r#"{"a":1,"x":2}"#,
    r#"{"a":1,"x":"y"}"#,
];

#[test]
fn grammar_and_validator_agree_on_small_values() {
    for schema in [
        "true",
        "{}",
        r#"{"type":"null"}"#,
        r#"{"type":["string","null"]}"#,
        r#"{"type":["integer","array"]}"#,
        r#"{"enum":[1,"a",null,[1],{"a":1},true]}"#,
        r#"{"const":{"a":1,"b":[2]}}"#,
        r#"{"enum":["a","ab",1],"type":"string","maxLength":1}"#,
        r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#,
        r#"{"properties":{"a":{"type":"integer"}},"additionalProperties":false}"#,
        r#"{"properties":{"a":true},"additionalProperties":{"type":"string"}}"#,
        r#"{"required":["a","b"]}"#,
        r#"{"patternProperties":{"^a":{"type":"integer"},"b$":{"type":"string"}}}"#,
        r#"{"patternProperties":{"^[ab]":{"type":"integer"}},"properties":{"a":{"minimum":1}},"additionalProperties":false}"#,
        r#"{"propertyNames":{"pattern":"^[ab]$"}}"#,
        r#"{"propertyNames":{"enum":["a","x"]}}"#,
        r#"{"minProperties":1}"#,
        r#"{"maxProperties":1}"#,
        r#"{"properties":{"a":{},"b":{},"c":{}},"minProperties":2,"additionalProperties":false}"#,
        r#"{"properties":{"a":{},"b":{},"c":{}},"maxProperties":2,"required":["b"]}"#,
        r#"{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":2}"#,
        r#"{"prefixItems":[{"type":"integer"}],"items":{"type":"string"}}"#,
        r#"{"prefixItems":[{"type":"integer"},{"type":"string"}],"items":false,"minItems":1}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"integer"}],"additionalItems":false}"#,
        r#"{"contains":{"type":"integer"}}"#,
        r#"{"contains":{"type":"integer"},"minContains":2}"#,
        r#"{"contains":{"type":"integer"},"maxContains":1,"maxItems":2}"#,
        r#"{"type":"string","minLength":2}"#,
        r#"{"type":"string","maxLength":2,"pattern":"b"}"#,
        r#"{"pattern":"^[a-z]+$","minLength":2,"maxLength":2}"#,
        r#"{"allOf":[{"pattern":"a"},{"pattern":"b$"}]}"#,
        r#"{"allOf":[{"type":["integer","string"]},{"type":["string","null"]}]}"#,
        r#"{"allOf":[{"properties":{"a":{"minimum":1}}},{"properties":{"a":{"type":"integer"},"b":{"type":"string"}}}]}"#,
        r#"{"properties":{"a":{}},"additionalProperties":false,"allOf":[{"required":["a"]}]}"#,
        r#"{"anyOf":[{"type":"integer"},{"minimum":2}]}"#,
        r#"{"anyOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{},"b":{}}}"#,
        r#"{"oneOf":[{"type":"integer"},{"minimum":2}]}"#,
        r#"{"oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{},"b":{}}}"#,
        r#"{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}"#,
        r#"{"oneOf":[{"pattern":"a"},{"pattern":"b"}]}"#,
        r#"{"oneOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"a":{"const":"x"}},"required":["a"]}]}"#,
        r#"{"not":{"type":"integer"}}"#,
        r#"{"not":{"enum":[1,"a",null,true]}}"#,
        r#"{"not":{"required":["a"]}}"#,
        r#"{"not":{"properties":{"a":{"type":"integer"}},"required":["a"]}}"#,
        r#"{"not":{"properties":{"a":{}},"additionalProperties":false}}"#,
        r#"{"type":"string","not":{"pattern":"a"}}"#,
        r#"{"type":"string","not":{"minLength":2}}"#,
        r#"{"type":"number","not":{"minimum":1,"maximum":2}}"#,
        r#"{"type":"array","not":{"items":{"type":"integer"}}}"#,
        r#"{"type":"array","not":{"minItems":1,"maxItems":1}}"#,
        r#"{"not":{"not":{"type":"string"}}}"#,
        r#"{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]},"properties":{"a":{},"b":{},"c":{}}}"#,
        r#"{"if":{"properties":{"a":{"const":1}}},"then":{"maxProperties":1},"properties":{"a":{},"b":{}}}"#,
        r#"{"if":{"type":"integer"},"then":{"minimum":2},"else":{"type":"string"}}"#,
        r#"{"dependentRequired":{"a":["b"]},"properties":{"a":{},"b":{}}}"#,
        r#"{"dependentSchemas":{"a":{"properties":{"b":{"type":"string"}}}},"properties":{"a":{}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"b":{"maxProperties":2}},"properties":{"a":{},"b":{}}}"#,
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"integer"}},"minimum":2}"##,
        r##"{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}"##,
        r##"{"$ref":"#x","$defs":{"n":{"$anchor":"x","type":"string"}}}"##,
        r##"{"$id":"http://e.org/root","$ref":"n","$defs":{"n":{"$id":"n","$ref":"#/$defs/m","$defs":{"m":{"type":"array"}}}}}"##,
        r#"{"multipleOf":2}"#,
        r#"{"type":"integer","multipleOf":5,"minimum":1}"#,
        r#"{"minimum":1,"exclusiveMaximum":3}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","const":1}"#,
        r#"{"uniqueItems":true,"maxItems":1}"#,
        r#"{"uniqueItems":false}"#,
        r#"{"definitions":{"x":{"uniqueItems":true}},"title":"t","x-other":{"y":1}}"#,
    ] {
        check_any(schema).agrees(VALUES);
        // By default an integer has no fraction.
        check(schema).agrees(VALUES.iter().filter(|&&text| text != "2.0"));
    }
}

#[test]
fn numbers_between_bounds() {
    let bounds = ["-12.5", "-10", "-1", "-0.25", "0", "0.05", "0.5", "1", "9.99", "10", "12.30", "105"];
    let mut texts: Vec<String> = bounds.iter().map(|&bound| bound.to_owned()).collect();
    for whole in ["0", "1", "2", "9", "10", "11", "12", "13", "99", "100", "104", "105", "106", "999"] {
        for fraction in [
            "", ".0", ".04", ".05", ".050", ".06", ".2", ".25", ".26", ".3", ".5", ".51", ".98", ".99",
            ".990", ".991",
        ] {
            texts.push(format!("{whole}{fraction}"));
            if whole != "0" || fraction.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
                texts.push(format!("-{whole}{fraction}"));
            }
        }
    }
    // Integers have no fraction in the default spelling.
    let is_printed = |text: &&String| text.trim_end_matches('0').strip_suffix('.').is_none();
    let printed: Vec<&String> = texts.iter().filter(is_printed).collect();
    for (at, lower) in bounds.iter().enumerate() {
        check(&format!(r#"{{"type":"number","minimum":{lower}}}"#)).agrees(&texts);
        check(&format!(r#"{{"type":"integer","exclusiveMaximum":{lower}}}"#)).agrees(&printed);
        check_any(&format!(r#"{{"type":"number","minimum":{lower}}}"#)).agrees(&texts);
        check_any(&format!(r#"{{"type":"integer","exclusiveMaximum":{lower}}}"#)).agrees(&texts);
        for upper in &bounds[at + 1..] {
            let schema = format!(r#"{{"type":"number","minimum":{lower},"exclusiveMaximum":{upper}}}"#);
            check_any(&schema).agrees(&texts);
            check(&schema).agrees(&texts);
            let schema = format!(r#"{{"type":"number","exclusiveMinimum":{lower},"maximum":{upper}}}"#);
            check_any(&schema).agrees(&texts);
            check(&schema).agrees(&texts);
        }
    }
}

#[test]
fn multiples() {
    for (schema, step) in [
        (r#"{"type":"integer","multipleOf":7,"minimum":-30,"maximum":120}"#, 1),
        (r#"{"type":"integer","multipleOf":12,"minimum":13}"#, 1),
        (r#"{"type":"integer","multipleOf":10,"exclusiveMaximum":50}"#, 1),
        (r#"{"type":"integer","multipleOf":1.5}"#, 1),
        (r#"{"type":"number","multipleOf":0.25}"#, 100),
        (r#"{"type":"number","multipleOf":0.5,"minimum":-2.5,"exclusiveMaximum":9}"#, 100),
        (r#"{"type":"number","multipleOf":0.3,"exclusiveMinimum":0.3,"maximum":7.25}"#, 100),
        (r#"{"type":"number","multipleOf":2.5,"exclusiveMinimum":-7.5}"#, 10),
        (r#"{"type":"number","multipleOf":0.75,"maximum":-1.5}"#, 100),
        (r#"{"type":"number","multipleOf":0.07,"minimum":1.05,"maximum":1.9}"#, 100),
        (r#"{"type":"number","multipleOf":0.5,"not":{"type":"integer"},"maximum":3}"#, 100),
        (r#"{"type":"number","multipleOf":0.1,"minimum":-0.35,"maximum":2}"#, 100),
        (r#"{"allOf":[{"multipleOf":4},{"multipleOf":6}],"type":"number"}"#, 1),
    ] {
        let texts = (-260..260).map(|number: i32| {
            let (sign, size) = (if number < 0 { "-" } else { "" }, number.abs());
            match step {
                1 => format!("{sign}{size}"),
                _ => format!("{sign}{}.{:02}", size / 100, size % 100),
            }
        });
        let texts: Vec<String> = texts.collect();
        check_any(schema).agrees(&texts);
        check(schema).agrees(&texts);
    }
}

#[test]
fn numbers_that_are_no_multiples() {
    let texts = || (-40..=40).map(|number| number.to_string());
    for schema in [
        r#"{"type":"integer","not":{"multipleOf":3}}"#,
        r#"{"type":"integer","minimum":-7,"maximum":31,"multipleOf":2,"not":{"multipleOf":3}}"#,
        r#"{"type":"integer","allOf":[{"not":{"multipleOf":4}},{"not":{"multipleOf":6}}]}"#,
        r#"{"type":"number","exclusiveMinimum":5,"not":{"multipleOf":5}}"#,
        r#"{"oneOf":[{"type":"integer","multipleOf":3},{"type":"integer","multipleOf":5}]}"#,
        r#"{"type":"integer","not":{"multipleOf":1.5}}"#,
        r#"{"type":"integer","multipleOf":2.5,"not":{"multipleOf":0.4}}"#,
        r#"{"type":"integer","anyOf":[{"not":{"multipleOf":0.01}},{"multipleOf":7}]}"#,
    ] {
        check_any(schema).agrees(texts()).agrees(["0.5", "-7.25", "5.01", "12.0", "15.00", "null"]);
    }
}

#[test]
fn spellings_of_numbers() {
    check_any(r#"{"type":"integer"}"#)
        .accepts(&["0", "-7", "1.0", "120.000"])
        .rejects(&["1.5", "01", "1.", "+1", ""]);
    check_any(r#"{"type":"integer"}"#).does_not_spell(&["1e3"]);
    check_any(r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer"}"#)
        .accepts(&["3"])
        .rejects(&["3.0"]);
    check_any(r#"{"type":"number"}"#).accepts(&["1e5", "-2.50E-3", "0.0"]).rejects(&["1e", ".5"]);
    check_any(r#"{"enum":[1e2,0.10,-3]}"#)
        .accepts(&["100", "100.0", "0.1", "0.100", "-3", "-3.0"])
        .rejects(&["10", "0.11", "3"]);
    check_any(r#"{"minimum":12345678901234567890123456789.5,"type":"number"}"#)
        .accepts(&["12345678901234567890123456789.5", "99999999999999999999999999999"]);
    assert!(
        !check_any(r#"{"minimum":12345678901234567890123456789.5,"type":"number"}"#)
            .has("12345678901234567890123456789.49")
    );
}

#[test]
fn strings_are_decoded_text() {
    check_any(r#"{"enum":["a/é😀"]}"#)
        .accepts(&[r#""a/é😀""#, r#""\u0061\/\u00e9\uD83D\ude00""#])
        .rejects(&[r#""a/e""#, r#""\ud83d""#]);
    check_any(r#"{"maxLength":1,"type":"string"}"#)
        .accepts(&[r#""""#, r#""😀""#, r#""\ud83d\ude00""#, r#""\n""#])
        .rejects(&[r#""ab""#, "\"\n\""]);
    check_any(r#"{"properties":{"a":{"type":"integer"}}}"#)
        .accepts(&[r#"{"\u0061":1}"#, r#"{"b":"x"}"#])
        .rejects(&[r#"{"\u0061":"x"}"#]);
    check_any(r#"{"pattern":"^\\d{3}-[A-Z]{2,4}$","type":"string"}"#)
        .accepts(&[r#""123-AB""#])
        .rejects(&[r#""123-A""#, r#""x123-AB""#]);
    check_any(r#"{"pattern":"^[a-z]{1,5000}$","maxLength":3,"minLength":2}"#).agrees([
        r#""a""#,
        r#""ab""#,
        r#""abcd""#,
    ]);
}

#[test]
fn order_and_repetition_of_keys() {
    let case = check(r#"{"type":"object","properties":{"a":{},"b":{}},"required":["z","b"]}"#);
    case.accepts(&[r#"{"a":1,"b":2,"z":3}"#, r#"{"b":2,"z":3,"y":1,"y":2}"#]);
    case.rejects(&[r#"{"a":1,"b":2}"#]);
    case.does_not_spell(&[r#"{"b":2,"a":1,"z":3}"#, r#"{"z":3,"b":2}"#, r#"{"a":1,"a":1,"b":2,"z":3}"#]);
}

#[test]
fn whitespace_stands_between_tokens() {
    let schema =
        r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"null"}}},"required":["a"]}"#;
    check_any(schema)
        .accepts(&[r#"{"a":[null,null]}"#, "{ \"a\"\t:\n[ null\r, null ] , \"b\" : { } }", r#"{"a":[ ]}"#])
        .does_not_spell(&[r#" {"a":[]}"#, r#"{"a":[]} "#]);
    let long = format!("{{{}\"a\":[]}}", " ".repeat(65));
    check_any(schema).does_not_spell(&[&long]);
    let options = |whitespace| JsonSchemaOptions::default().whitespace(whitespace);
    check_with(schema, &options(Whitespace::Free { max_run: None })).accepts(&[&long]);
    check_with(schema, &options(Whitespace::Compact))
        .accepts(&[r#"{"a":[null,null]}"#])
        .does_not_spell(&[r#"{"a": [null,null]}"#]);
    let fixed = Whitespace::Fixed { item_separator: ", ".into(), key_separator: ": ".into() };
    check_with(schema, &options(fixed)).accepts(&[r#"{"a": [null, null], "b": {}}"#]).does_not_spell(&[
        r#"{"a":[null, null]}"#,
        r#"{"a": [null,null]}"#,
        r#"{"a": [ ]}"#,
    ]);
}

/// The option that closes objects takes values away, and lets none in that is invalid.
#[test]
fn closed_objects() {
    let closed = |schema: &str| check_with(schema, &JsonSchemaOptions::default().objects(Objects::Closed));
    closed(r#"{"properties":{"a":{}, "c":{"type":"object"}}}"#)
        .accepts(&[r#"{"a":1}"#, r#"{"c":{"d":1}}"#])
        .does_not_spell(&[r#"{"b":1}"#]);
    // Conditions stay open.
    let kind = r#"{"properties":{"k":{"const":"a"}},"required":["k"]}"#;
    let members = r#""properties":{"k":{"enum":["a","b"]},"y":{},"z":{}},"required":["k"]"#;
    closed(&format!(r#"{{"type":"object",{members},"if":{kind},"then":{{"required":["z"]}}}}"#))
        .accepts(&[r#"{"k":"a","z":1}"#, r#"{"k":"a","y":1,"z":1}"#, r#"{"k":"b","y":1}"#])
        .rejects(&[r#"{"k":"a","y":1}"#, r#"{"k":"a"}"#])
        .does_not_spell(&[r#"{"k":"b","x":1}"#]);
    closed(&format!(r#"{{{members},"not":{kind}}}"#))
        .accepts(&[r#"{"k":"b","y":1}"#])
        .rejects(&[r#"{"k":"a","y":1}"#])
        .does_not_spell(&[r#"{"k":"b","x":1}"#]);
    closed(&format!(r#"{{"contains":{kind},"maxContains":1}}"#))
        .accepts(&[r#"[{"k":"a"},{"k":"b"}]"#])
        .rejects(&[r#"[{"k":"a"},{"k":"a","x":1}]"#]);
    closed(r#"{"oneOf":[{"properties":{"a":{}}},{"properties":{"a":{},"b":{}},"required":["b"]}]}"#)
        .accepts(&[r#"{"a":1}"#])
        .rejects(&[r#"{"a":1,"b":2}"#])
        .does_not_spell(&[r#"{"c":1}"#]);
}

#[test]
fn schemas_for_one_object_are_closed_together() {
    let closed = |schema: &str| check_with(schema, &JsonSchemaOptions::default().objects(Objects::Closed));
    closed(r#"{"allOf":[{"properties":{"a":{"type":"object","properties":{"x":{}}}},"required":["a"]},{"properties":{"b":{}}}]}"#)
        .accepts(&[r#"{"a":{"x":1},"b":1}"#, r#"{"a":{}}"#])
        .rejects(&[r#"{"b":1}"#])
        .does_not_spell(&[r#"{"a":{},"b":1,"c":1}"#, r#"{"a":{"y":1}}"#]);
    closed(r#"{"properties":{"k":{},"y":{}},"dependentSchemas":{"k":{"properties":{"y":{"minimum":5}}}}}"#)
        .accepts(&[r#"{"k":1,"y":7}"#, r#"{"y":1}"#])
        .rejects(&[r#"{"k":1,"y":3}"#])
        .does_not_spell(&[r#"{"z":1}"#]);
    closed(r#"{"properties":{"k":{}},"dependentRequired":{"k":["z"]}}"#)
        .accepts(&[r#"{"k":1,"z":1}"#, "{}"])
        .rejects(&[r#"{"k":1}"#])
        .does_not_spell(&[r#"{"k":1,"z":1,"w":1}"#]);
    // A consequence may ask for a member that is not declared.
    closed(r#"{"properties":{"k":{}},"if":{"required":["k"]},"then":{"required":["z"]},"else":{"properties":{"e":{}}}}"#)
        .accepts(&[r#"{"k":1,"z":1}"#, r#"{"e":1}"#, "{}"])
        .rejects(&[r#"{"k":1}"#])
        .does_not_spell(&[r#"{"k":1,"z":1,"w":1}"#, r#"{"w":1}"#]);
    // Alternatives do not count for one another.
    let of = |name: &str, kind: u8| {
        format!(r#"{{"properties":{{"t":{{"const":{kind}}},"{name}":{{}}}},"required":["{name}"]}}"#)
    };
    for keyword in ["anyOf", "oneOf"] {
        let alternatives = format!(r#""{keyword}":[{},{}]"#, of("a", 1), of("b", 2));
        closed(&format!(r#"{{"type":"object","required":["t"],{alternatives}}}"#))
            .accepts(&[r#"{"t":1,"a":1}"#, r#"{"t":2,"b":1}"#])
            .does_not_spell(&[r#"{"t":1,"a":1,"b":1}"#]);
        closed(&format!(
            r#"{{"type":"object","properties":{{"t":{{}},"k":{{}}}},"required":["t"],{alternatives}}}"#
        ))
        .accepts(&[r#"{"t":1,"k":1,"a":1}"#, r#"{"t":2,"b":1}"#])
        .rejects(&[r#"{"t":1,"k":1}"#])
        .does_not_spell(&[r#"{"t":1,"a":1,"b":1}"#, r#"{"t":1,"a":1,"c":1}"#]);
    }
    let base = r##""$defs":{"x":{"properties":{"a":{}},"patternProperties":{"^p":{"type":"null"}}}}"##;
    closed(&format!(r##"{{{base},"$ref":"#/$defs/x","properties":{{"b":{{"$ref":"#/$defs/x"}}}}}}"##))
        .accepts(&[r#"{"b":{"a":1,"p":null},"a":1,"p":null}"#])
        .rejects(&[r#"{"p":1}"#])
        .does_not_spell(&[r#"{"b":{"b":1}}"#, r#"{"c":1}"#]);
    // One that says what others are keeps its word.
    let open = r#"{"properties":{"a":{}},"additionalProperties":{"type":"null"}}"#;
    closed(&format!(r#"{{"allOf":[{open},{{"properties":{{"b":{{}}}}}}]}}"#))
        .accepts(&[r#"{"a":1,"b":null,"c":null}"#])
        .rejects(&[r#"{"b":1}"#, r#"{"c":1}"#]);
    let others = r#""unevaluatedProperties":{"type":"null"}"#;
    closed(&format!(r#"{{"properties":{{"a":{{}}}},"allOf":[{{"properties":{{"b":{{}}}}}}],{others}}}"#))
        .accepts(&[r#"{"a":1,"b":1,"c":null}"#])
        .rejects(&[r#"{"c":1}"#]);
    closed(&format!(r#"{{"properties":{{"a":{{}}}},{others}}}"#))
        .accepts(&[r#"{"a":1,"c":null}"#])
        .rejects(&[r#"{"c":1}"#]);
    // A list of names declares nothing.
    let names = r#""propertyNames":{"enum":["a","b","c"]}"#;
    closed(&format!(r#"{{"properties":{{"a":{{}}}},"allOf":[{{"required":["b"]}}],{names}}}"#))
        .accepts(&[r#"{"a":1,"b":1}"#])
        .rejects(&[r#"{"a":1}"#, r#"{"b":1,"d":1}"#])
        .does_not_spell(&[r#"{"b":1,"c":1}"#]);
    // In old drafts a reference hides the keywords beside it, and some keywords mean nothing.
    let draft = r#""$schema":"http://json-schema.org/draft-07/schema#","definitions":{"o":{}}"#;
    let hidden = r##"{"type":"array","dependencies":{"a":["x"]},"$ref":"#/definitions/o"}"##;
    closed(&format!(
        r#"{{{draft},"properties":{{"a":{{}}}},"allOf":[{hidden}],"dependentRequired":{{"a":["y"]}}}}"#
    ))
    .accepts(&[r#"{"a":1}"#])
    .does_not_spell(&[r#"{"z":1}"#, r#"{"x":1}"#, r#"{"y":1}"#]);
    // Schemas that lead back to themselves.
    closed(r##"{"properties":{"v":{}},"anyOf":[{"required":["v"]},{"properties":{"next":{"$ref":"#"}},"required":["next"]}]}"##)
        .accepts(&[r#"{"v":1}"#, r#"{"next":{"v":1}}"#, r#"{"v":1,"next":{"next":{"v":1}}}"#])
        .rejects(&["{}", r#"{"next":{}}"#])
        .does_not_spell(&[r#"{"v":1,"w":1}"#]);
    // Of more parts each allows what any mentions.
    let parts: Vec<String> = (0..40).map(|part| format!(r#"{{"properties":{{"p{part}":{{}}}}}}"#)).collect();
    closed(&format!(r#"{{"type":"object","allOf":[{}]}}"#, parts.join(",")))
        .accepts(&[r#"{"p0":1,"p39":1}"#, "{}"])
        .does_not_spell(&[r#"{"p40":1}"#]);
}

#[test]
fn labels_that_need_tables_are_not_spelled() {
    let case = check(r#"{"type":"string","format":"hostname"}"#);
    case.does_not_spell(&[r#""xn--4gbwdl.xn--wgbh1c""#]);
    let long = format!("\"{}\"", "a".repeat(63));
    case.accepts(&[&long, r#""abcd""#, r#""a--b""#, r#""a-b-c""#]);
    case.rejects(&[r#""ab-""#, r#""a--""#, &long.replace("aa\"", "aaa\"")]);
}

#[test]
fn formats() {
    let table: &[(&str, &[&str], &[&str])] = &[
        (
            "date",
            &["2024-02-29", "2000-02-29", "1999-12-31"],
            &["2023-02-29", "1900-02-29", "2024-04-31", "24-01-01"],
        ),
        ("time", &["23:59:59Z", "00:00:00.5+01:30", "23:59:60Z"], &["24:00:00Z", "12:00:00", "22:59:60Z"]),
        (
            "date-time",
            &["2024-02-29T12:00:00Z", "1985-04-12t23:20:50.52z"],
            &["2024-02-30T12:00:00Z", "2024-01-01"],
        ),
        ("duration", &["P4DT12H30M5S", "P2W", "PT0S", "P1Y2M"], &["PT", "P", "P1D2H", "P2W1D", "4D"]),
        (
            "email",
            &["joe@example.com", "a.b+c@x-y.org", "\\\"joe bloggs\\\"@example.com", "j@[127.0.0.1]"],
            &["joe", ".a@b.c", "a..b@c.d"],
        ),
        ("hostname", &["www.example.com", "a", "a-b--c.d4", "ab-c"], &["-a.b", "a_b", "a..b", "", "xn--X"]),
        ("ipv4", &["127.0.0.1", "255.255.255.255"], &["256.0.0.1", "01.2.3.4", "1.2.3"]),
        (
            "ipv6",
            &["::", "::1", "1:2:3:4:5:6:7:8", "fe80::a:b", "::ffff:192.168.0.1", "1::8", "1:2:3:4:5:6:7::"],
            &["1:2:3:4:5:6:7", "1::2::3", ":::", "12345::", "1:2:3:4:5:6:7:8:9"],
        ),
        (
            "uri",
            &["http://a.b/c?d=e#f", "urn:x:y", "mailto:j@e.org", "http://[::1]:80/"],
            &["//a.b", "a b:c", "/x", "http:// x"],
        ),
        ("uri-reference", &["/a/b", "", "#f", "http://x", "a/b:c"], &["a\\\\b", "a b"]),
        ("uuid", &["2EB8AA08-aa98-11ea-b4aa-73b441d16380"], &["2eb8aa08aa9811eab4aa73b441d16380"]),
        ("json-pointer", &["", "/a~0b/~1", "/"], &["a", "/~2", "#/a"]),
        ("relative-json-pointer", &["0#", "1/a", "0"], &["01", "#", "/a"]),
        ("uri-template", &["http://e.org/{a}{?b,c*}", "x"], &["{a", "http://e.org/{}"]),
        ("iri", &["http://ƒøø.ßår/?∂éœ=πîx#πîüx"], &["/abc"]),
        (
            "regex",
            &[
                "^[a-z]+(?:-[0-9]{2,4})?$",
                "",
                "\\\\d+\\\\.\\\\w",
                "(a|(b|[^c-]))*?",
                "^(?!x)y",
                "a{10,12}",
                "[-+ -~]",
            ],
            &["^(abc]", "a**", "(a", "a)", "[z-a]", "a{3,2}", "a{21,20}", "\\\\", "*", "(?<=a", "(a)\\\\2"],
        ),
        ("unknown", &["anything"], &[]),
    ];
    for (format, good, bad) in table {
        let case = check(&format!(r#"{{"type":"string","format":"{format}"}}"#));
        let quoted = |texts: &[&str]| texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>();
        for text in quoted(good) {
            assert!(case.has(&text), "{format}: the grammar lacks {text}");
            assert!(case.is_valid(&text), "{format}: the validator refuses {text}");
        }
        for text in quoted(bad) {
            assert!(!case.has(&text), "{format}: the grammar has {text}");
        }
    }
}

#[test]
fn patterns_as_strings_are_patterns() {
    let case = check(r#"{"type":"string","format":"regex"}"#);
    let mut accepted = 0;
    let is_pattern = |text: &str| regress::Regex::with_flags(text, "u").is_ok();
    let has = |text: &str| case.has(&Value::from(text).to_string());
    for text in crate::regex_language::texts(&['a', '0', '-', '(', ')', '?', '[', ']', '^', '&', '~'], 4) {
        if has(&text) {
            accepted += 1;
            assert!(is_pattern(&text), "{text} is no pattern");
        }
    }
    assert!(accepted > 200, "{accepted}");
    let within = crate::regex_language::texts(&['a', '0', '-', '[', '^', '&'], 4);
    for class in within.iter().map(|text| format!("[{text}]")) {
        // Ranges that begin with these are left out.
        let is_left_out = class.contains("^-") || class.contains("--");
        assert!(has(&class) == is_pattern(&class) || is_left_out && !has(&class), "{class}");
    }
    for texts in [
        crate::regex_language::texts(&['\\', '0', '[', ']', 'a', '*'], 5),
        crate::regex_language::texts(&['0', '1', '{', ',', '}'], 4)
            .iter()
            .map(|text| format!("a{{{text}"))
            .collect(),
    ] {
        for text in texts {
            assert_eq!(has(&text), is_pattern(&text), "{text}");
        }
    }
    for text in [
        "[+*/^-]",
        "a{00,1}",
        "a{09,010}",
        "[A-Za-z_~]",
        "[[-^]",
        "[a-z-9]",
        r"[\0a]",
        r"(\0)*\0+a",
        r"(a)\0\1\0b",
        r"\ud83d",
        r"\u{d83d}",
        r"\u{0000000041}",
        r"\p{Lu}",
        r"\p{LC}",
    ] {
        assert!(has(text) && is_pattern(text), "{text}");
    }
    for text in [
        r"\01",
        r"[\00]",
        r"\0\01",
        r"(\0)\00",
        r"(a)\1\01",
        "[b-a]",
        "[^--+]",
        "[a--]",
        r"\ud83",
        r"\u{110000}",
        "a{1,0}",
        "a{02,01}",
        r"\p{Lx}",
        r"\p{letter}",
        r"\p{gc=}",
        r"\p{sc=Lu}",
    ] {
        assert!(!has(text) && !is_pattern(text), "{text}");
    }
}

#[test]
fn lengths_beside_patterns() {
    check(r#"{"type":"string","pattern":"^data:(a|bc);[xy]*$","minLength":9,"maxLength":12}"#)
        .accepts(&[r#""data:a;xy""#, r#""data:a;xyxyx""#, r#""data:bc;xyxy""#, r#""data:bc;x""#])
        .rejects(&[r#""data:a;x""#, r#""data:a;xyxyxy""#, r#""data:bc;xyxyx""#, r#""data:ac;xy""#]);
    let long = |length: usize| format!("\"{}@example.com\"", "a".repeat(length));
    let case = check(r#"{"type":"string","format":"email","maxLength":70}"#);
    assert!(case.has(&long(58)) && !case.has(&long(59)));
    assert!(case.has(r#""a@[IPv6:1:2:3:4:5:6:7:8]""#));
    assert!(
        compile_grammar(
            r#"{"type":"string","format":"email","maxLength":1024}"#,
            &JsonSchemaOptions::default()
        )
        .is_ok()
    );
}

#[test]
fn schemas_that_look_alike() {
    // A reference means what its own resource says.
    check(
        r##"{
            "properties": {
                "a": {"items": {"$ref": "#/$defs/x"}},
                "b": {"$id": "http://example.org/b", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"const": 2}}},
                "c": {"$id": "http://example.org/c", "properties": {"d": {"items": {"$ref": "#/$defs/x"}}},
                    "$defs": {"x": {"const": 3}}}
            },
            "$defs": {"x": {"const": 1}}
        }"##,
    )
    .accepts(&[r#"{"a":[1],"b":[2],"c":{"d":[3]}}"#])
    .rejects(&[r#"{"a":[2]}"#, r#"{"a":[1],"b":[1]}"#, r#"{"c":{"d":[1]}}"#]);
    // A property may have the name of a keyword, one that asserts nothing among them.
    check(
        r#"{
            "additionalProperties": false,
            "properties": {
                "a": {"additionalProperties": false, "properties": {"title": {"type": "null"}}},
                "b": {"additionalProperties": false, "properties": {"title": {"type": "boolean"}}},
                "c": {"title": "c", "additionalProperties": false, "properties": {"title": {"type": "null"}}},
                "d": {"enum": [{"title": 1}]},
                "e": {"enum": [{"title": 2}]}
            }
        }"#,
    )
    .accepts(&[
        r#"{"a":{"title":null},"b":{"title":true},"c":{"title":null},"d":{"title":1},"e":{"title":2}}"#,
    ])
    .rejects(&[r#"{"a":{"title":true}}"#, r#"{"b":{"title":null}}"#, r#"{"c":{"title":1}}"#])
    .rejects(&[r#"{"d":{"title":2}}"#, r#"{"e":{"title":1}}"#]);
    // One schema, twice among the alternatives of which exactly one is to hold.
    check(r#"{"oneOf": [{"minLength": 2, "title": "a"}, {"minLength": 2, "title": "b"}, {"const": "a"}]}"#)
        .accepts(&[r#""a""#])
        .rejects(&[r#""ab""#, "1"]);
}

/// One character or more beside a pattern is written without an intersection, which would make the pattern deterministic.
#[test]
fn patterns_without_the_empty_text() {
    let mut texts = vec![String::new()];
    for place in 0..31 {
        let longer: Vec<String> = ["a", "b"].iter().map(|next| format!("{}{next}", texts[place])).collect();
        texts.extend(longer);
    }
    let texts: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
    for pattern in [
        "^a*$",
        "^(a*b?)*$",
        "^(a|b*){2,3}$",
        "^(a?b?){0,2}a?$",
        "^a*b*$",
        "^(|a|ab)(b|)$",
        "^((a*){2}|b)?(ab)*$",
        "^ab*$",
        "^(a{0,2}){3}$",
        "^(a|b){0,4}$",
        "b*",
        "",
    ] {
        let schema = format!(r#"{{"type":"string","minLength":1,"pattern":"{pattern}"}}"#);
        check(&schema).agrees(&texts);
        let grammar = compile_grammar(&schema, &JsonSchemaOptions::default()).unwrap();
        assert!(!grammar.to_string().contains("Intersection"), "{grammar}");
    }
    check(r#"{"type":"string","minLength":1,"pattern":"^a?b?a?b?a?b?a?$"}"#).agrees(&texts);
    check(r#"{"type":"string","minLength":1,"format":"regex"}"#)
        .accepts(&[r#""a*""#, r#""(a|b)""#])
        .rejects(&[r#""""#, r#""(""#]);
}
