//! Schemas whose items and names differ: masks against tokens that are accepted, and finished documents against a judge.

use grammask_grammar_frontends::json_schema::{
    self, FreeNames, JsonSchemaOptions, KeyOrder, Spelling, Whitespace,
};
use grammask_grammar_ir::passes;
use grammask_mask_cache::TokenMask;
use grammask_matcher::Limits;

use crate::distinct::{Reader, bytes_of, compiler, differs};
use crate::random::Random;

/// Walks a schema's grammar at random: masks say what is accepted, and what is finished repeats nothing.
#[track_caller]
fn check_schema(schema: &str, options: &JsonSchemaOptions, compared: fn(usize) -> bool) {
    let options = options.clone().whitespace(Whitespace::Compact);
    let compiler = compiler(Limits::default());
    let vocabulary = compiler.vocabulary();
    let grammar = compiler.json_schema(schema, &options).unwrap();
    let mut random = Random::new(schema.len() as u64);
    // Few letters, so that things occur again.
    let few = b"[]{},:\"ab01.-e\\u6nul";
    let mut mask = TokenMask::new(vocabulary.len());
    for _ in 0..6 {
        let mut matcher = grammar.matcher();
        for step in 0..40 {
            matcher.fill_mask(&mut mask).unwrap();
            let mut ways = Vec::new();
            for id in (0..vocabulary.len() as u32).filter_map(|id| vocabulary.id(id)) {
                let bytes = vocabulary.token_bytes(id);
                // All tokens now and then, and those of few letters always.
                let is_few = bytes.iter().all(|byte| few.contains(byte));
                if bytes.is_empty() || !is_few && step % 8 != 0 {
                    continue;
                }
                let accepted = matcher.fork().accept_token(id).is_ok();
                assert_eq!(mask.contains(id), accepted, "{schema}: {:?}", vocabulary.token_name(id));
                if accepted && is_few {
                    ways.push(id);
                }
            }
            let Some(&id) = ways.get(random.below(ways.len().max(1))) else { break };
            matcher.accept_token(id).unwrap();
        }
        let ending = matcher.shortest_ending(10_000).unwrap().unwrap();
        matcher.accept_bytes(&ending).unwrap();
        assert!(matcher.is_completed(), "{schema}");
    }
    let mut documents = 0;
    for _ in 0..20 {
        let mut matcher = grammar.matcher();
        let mut text = Vec::new();
        for _ in 0..random.below(60) {
            let bytes = bytes_of(matcher.next_bytes());
            // The judge's numbers have no room for large exponents.
            let is_few = |byte: &u8| few.contains(byte) && *byte != b'e';
            let bytes: Vec<u8> = bytes.into_iter().filter(is_few).collect();
            let Some(&byte) = bytes.get(random.below(bytes.len().max(1))) else { break };
            matcher.accept_bytes(&[byte]).unwrap();
            text.push(byte);
        }
        text.extend(matcher.shortest_ending(10_000).unwrap().unwrap());
        // A half of a pair is none by itself.
        if !text.windows(4).any(|part| part.starts_with(b"\\ud")) {
            let value = Reader { text: &[text.as_slice(), b" "].concat(), at: 0 }.value();
            assert!(differs(&value, 0, compared), "{schema}: {}", String::from_utf8_lossy(&text));
            documents += 1;
        }
    }
    assert!(documents > 5);
}

#[test]
fn schemas_whose_items_differ() {
    for schema in [
        r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": true, "minItems": 3}"#,
        r#"{"type": "array", "items": {"type": "string", "maxLength": 1}, "uniqueItems": true, "minItems": 5}"#,
        r#"{"type": "array", "items": {"type": "string", "pattern": "^(a|b[ab]*)$"}, "uniqueItems": true, "minItems": 2}"#,
        r#"{"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "minItems": 4}"#,
        r#"{"type": "array", "items": {"type": "number"}, "uniqueItems": true, "minItems": 4}"#,
        r#"{"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "uniqueItems": true, "minItems": 4}"#,
        r#"{"type": "array", "items": {"type": "integer", "minimum": 1}, "uniqueItems": true}"#,
        r#"{"type": "array", "items": {"type": ["string", "null", "number"]}, "uniqueItems": true, "minItems": 2}"#,
        r#"{"type": "array", "prefixItems": [{"const": "a"}, {"type": "string"}], "items": {"type": ["string", "integer"]},
            "uniqueItems": true, "minItems": 3}"#,
        r#"{"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}},
            "required": ["a"], "additionalProperties": false}, "uniqueItems": true, "minItems": 2}"#,
        r#"{"type": "array", "items": {"properties": {"a": {"enum": [0, 1]}}}, "uniqueItems": true, "minItems": 3}"#,
        r#"{"type": "array", "items": {"type": "array", "items": {"type": ["integer", "null"]}}, "uniqueItems": true}"#,
        r#"{"type": "array", "items": {"type": "object", "additionalProperties": {"type": "array", "uniqueItems": true,
            "items": {"type": "string"}}}, "uniqueItems": true, "minItems": 2}"#,
        r#"{"type": "object", "properties": {"a": {"$ref": ""}, "b": {"type": "array", "items": {"type": "string"},
            "uniqueItems": true}}, "required": ["b"], "additionalProperties": false}"#,
        r##"{"type": "object", "anyOf": [
            {"properties": {"a": {"$ref": "#/$defs/a"}, "b": {"type": "integer"}}, "required": ["a", "b"],
                "additionalProperties": {"type": "integer"}},
            {"properties": {"a": {"$ref": "#/$defs/a"}, "c": {"type": "string"}}, "required": ["a"],
                "additionalProperties": {"type": "string"}}],
            "$defs": {"a": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "minItems": 2}}}"##,
    ] {
        let compared = match schema.starts_with(r#"{"type": "object""#) {
            true => |depth| depth > 0,
            false => |depth| depth == 0,
        };
        check_schema(schema, &JsonSchemaOptions::default(), compared);
    }
}

#[test]
fn schemas_whose_free_names_differ() {
    let unique = JsonSchemaOptions::default().free_names(FreeNames::Unique);
    for order in [KeyOrder::Declared, KeyOrder::Any] {
        let options = unique.clone().key_order(order);
        for schema in [
            r#"{"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "integer"}}"#,
            r#"{"type": "object", "additionalProperties": {"type": "object"}, "minProperties": 2}"#,
            r#"{"type": "object", "patternProperties": {"^a[ab]*$": {"type": "null"}}, "additionalProperties": false}"#,
        ] {
            check_schema(schema, &options, |_| true);
        }
    }
    // Members are counted, so that names differ where the caller did not ask for it.
    let schema = r#"{"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 3}"#;
    check_schema(schema, &JsonSchemaOptions::default(), |_| true);
}

#[test]
fn schemas_whose_items_differ_in_one_alternative() {
    for order in [KeyOrder::Declared, KeyOrder::Any] {
        let options = JsonSchemaOptions::default().key_order(order);
        for schema in [
            r#"{"anyOf": [
                {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}},
                    "required": ["a"]},
                {"type": "object", "properties": {"b": {"const": 1}}, "required": ["b"]}]}"#,
            r#"{"anyOf": [{"type": "array", "items": {"type": ["string", "number", "null"]}, "uniqueItems": true, "minItems": 3},
                {"type": "array", "items": {"enum": ["a", "b", 0, 1, null]}, "maxItems": 6}]}"#,
            r#"{"type": "array", "items": {"type": "array", "items": {"enum": [0, 1, "a"]}}, "minItems": 1,
                "if": {"contains": {"const": ["a"]}}, "then": {"uniqueItems": true}}"#,
        ] {
            check_schema(schema, &options, |_| false);
        }
    }
}

#[test]
fn alternatives_of_one_type_are_refused_where_names_run_out() {
    let schema = r#"{"anyOf": [{"type": "array", "items": {"type": "object"}, "uniqueItems": true},
        {"type": "array", "items": {"patternProperties": {"^[ab]$": {}}, "additionalProperties": false}}]}"#;
    let error = compiler(Limits::default()).json_schema(schema, &JsonSchemaOptions::default()).unwrap_err();
    assert!(error.to_string().contains("read side by side"), "{error}");
}

/// An ending goes on where the parser alone could end and the items may not, whatever whitespace there may be.
#[test]
fn endings_of_items_that_must_differ() {
    for (schema, read) in [
        (r#"{"type":"array","items":{"type":"object"},"uniqueItems":true,"minItems":2}"#, ""),
        (
            r#"{"type":"array","items":{"enum":["x",1]},"uniqueItems":true,"maxItems":2,"contains":{"const":1}}"#,
            "[1,",
        ),
    ] {
        for spelling in [Spelling::Printed, Spelling::Any, Spelling::Compact] {
            let options = JsonSchemaOptions::default().spelling(spelling);
            let mut matcher = compiler(Limits::default()).json_schema(schema, &options).unwrap().matcher();
            matcher.accept_bytes(read.as_bytes()).unwrap();
            let ending = matcher.shortest_ending(1_000).unwrap().unwrap();
            assert!(ending.len() < 12, "{schema}: {}", String::from_utf8_lossy(&ending));
            matcher.accept_bytes(&ending).unwrap();
            assert!(matcher.is_completed());
        }
    }
}

/// Where the parser's own shortest ending writes a value twice, another one is found, and it is not much longer.
#[test]
fn short_endings_of_items_that_must_differ() {
    let contains = |contains: &str| {
        format!(r#"{{"type":"array","uniqueItems":true,"maxItems":3,"contains":{contains},"minContains":2}}"#)
    };
    let many = |items: &str| {
        format!(r#"{{"type":"array","uniqueItems":true,"minItems":300,"maxItems":300,"items":{items}}}"#)
    };
    for (schema, shortest) in [
        (contains(r#"{"enum":[1,2]}"#), 5),
        (contains(r#"{"enum":[0.5,1.5,2]}"#), 7),
        (contains(r#"{"enum":[1,"1",null]}"#), 7),
        (contains(r#"{"type":"integer","minimum":0,"maximum":3}"#), 5),
        (contains(r#"{"type":"string","pattern":"^[ab]$"}"#), 9),
        // All numbers of one and two digits, and 200 others of three.
        (many(r#"{"type":"integer","minimum":0}"#), 10 + 90 * 2 + 200 * 3 + 301),
        (many(r#"{"type":"number"}"#), 10 + 90 * 2 + 200 * 3 + 301),
    ] {
        for spelling in [Spelling::Printed, Spelling::Any, Spelling::Compact, Spelling::Canonical] {
            let options = JsonSchemaOptions::default().spelling(spelling);
            let mut matcher = compiler(Limits::default()).json_schema(&schema, &options).unwrap().matcher();
            let ending = matcher.shortest_ending(10_000).unwrap().unwrap();
            let text = String::from_utf8_lossy(&ending);
            assert!(ending.len() <= shortest + shortest / 4, "{} bytes of {schema}: {text}", ending.len());
            matcher.accept_bytes(&ending).unwrap();
            assert!(matcher.is_completed());
        }
    }
}

/// A spelling that a condition of `contains` leaves out does not use up the last value that the condition asks for.
#[test]
fn no_other_spelling_takes_the_place_of_a_value_that_must_occur() {
    let contains = |more: &str| format!(r#"{{"type":"array","uniqueItems":true,"contains":{more}}}"#);
    for (spelling, schema, read, refused) in [
        (Spelling::Any, contains(r#"{"const":1}"#), "[", "1e0,"),
        (Spelling::Any, contains(r#"{"const":0},"maxItems":2"#), "[", "0e0,"),
        (Spelling::Any, contains(r#"{"const":[1]}"#), "[[", "1e0],"),
        (Spelling::Any, contains(r#"{"const":{"a":1}}"#), "[{\"a\":", "1e0},"),
        (Spelling::Any, contains(r#"{"enum":[1,2]},"minContains":2,"maxItems":3"#), "[1,", "2e0,"),
        (Spelling::Any, contains(r#"{"const":1},"items":{"type":"number"}"#), "[", "1e0,"),
        (Spelling::Printed, contains(r#"{"type":"integer","const":1}"#), "[", "1.0,"),
        (Spelling::Printed, contains(r#"{"type":"integer","const":10000000000000000}"#), "[", "1e16,"),
    ] {
        let options = JsonSchemaOptions::default().spelling(spelling);
        let mut matcher = compiler(Limits::default()).json_schema(&schema, &options).unwrap().matcher();
        matcher.accept_bytes(read.as_bytes()).unwrap();
        assert!(matcher.fork().accept_bytes(refused.as_bytes()).is_err(), "{schema}");
        // Wherever the text has gone so far, it can end.
        for byte in refused.bytes() {
            if matcher.accept_bytes(&[byte]).is_err() {
                break;
            }
            let ending = matcher.shortest_ending(1_000).unwrap().unwrap();
            let mut ended = matcher.fork();
            ended.accept_bytes(&ending).unwrap();
            assert!(ended.is_completed(), "{schema}: {}", String::from_utf8_lossy(&ending));
        }
    }
    // Where all that is none of the values cannot be written out, the array is taken all the same.
    let arrays: Vec<String> = (0..40).map(|at| format!("[{at},{},{}]", at + 1, at + 2)).collect();
    let many = contains(&format!(r#"{{"enum":[{}]}}"#, arrays.join(",")));
    let unique = contains(r#"{"type":"array","items":{"enum":[1,"b"]},"maxItems":2,"uniqueItems":true}"#);
    for schema in [many, unique] {
        assert!(compiler(Limits::default()).json_schema(&schema, &JsonSchemaOptions::default()).is_ok());
    }
}

/// Grammars that are joined: where a text may begin with an array of either, and only one says that items differ.
#[test]
fn joined_grammars_that_begin_alike_are_refused() {
    let part = |schema: &str| json_schema::compile_grammar(schema, &JsonSchemaOptions::default()).unwrap();
    let unique = part(r#"{"type":"array","items":{"type":"integer"},"uniqueItems":true}"#);
    let compiler = compiler(Limits::default());
    for (schema, is_clear) in [
        (r#"{"type":"array","items":{"type":"null"}}"#, false),
        ("true", false),
        (r#"{"type":"object"}"#, true),
        (r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#, true),
    ] {
        let joined = compiler.grammar(&passes::union(&[&unique, &part(schema)]).unwrap());
        match joined {
            Ok(grammar) => assert!(is_clear && grammar.matcher().accept_bytes(b"[").is_ok(), "{schema}"),
            Err(error) => assert!(!is_clear && error.to_string().contains("`anyOf`"), "{schema}: {error}"),
        }
    }
}
