//! Schemas whose grammars are not written before they are read.

use std::fmt::Write as _;

use grammask_fsm::{CompileOptions, DeferredProgram, SizeEstimate, Toggle};
use grammask_grammar_frontends::json_schema::{SimpleSchema, estimate};
use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
use grammask_mask_cache::{TokenId, TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{CompiledGrammar, Compiler};
use serde_json::{Value, json};

use crate::random::Random;

/// A schema of which one look should tell that it can be compiled.
fn schema(random: &mut Random, depth: usize) -> Value {
    let kinds = ["string", "integer", "number", "boolean", "null", "object", "array"];
    let kind = kinds[random.below(if depth == 0 { 5 } else { 7 })];
    let mut schema = json!({"description": "{[\u{e9}] \"", "default": [0.5, "x"]});
    if random.below(8) > 0 {
        schema["type"] = json!(kind);
    }
    match kind {
        "string" if random.below(2) == 0 => {
            let texts: Vec<String> =
                (0..=random.below(6)).map(|number| format!("{}{number}", text(random))).collect();
            schema["enum"] = json!(texts);
        }
        "array" if random.below(4) > 0 => schema["items"] = self::schema(random, depth - 1),
        "object" => {
            let names: Vec<String> =
                (0..random.below(9)).map(|number| format!("{}{number}", text(random))).collect();
            let members = names.iter().map(|name| (name.clone(), self::schema(random, depth - 1)));
            schema["properties"] = Value::Object(members.collect());
            let mut required: Vec<&str> =
                names.iter().filter(|_| random.below(2) == 0).map(String::as_str).collect();
            match random.below(4) {
                0 => schema["additionalProperties"] = json!(false),
                1 => {
                    schema["additionalProperties"] = json!(true);
                    required.push("-owed");
                }
                _ => {}
            }
            schema["required"] = json!(required);
        }
        _ => {}
    }
    schema
}

/// Some characters of printable ASCII, none of them `$`.
fn text(random: &mut Random) -> String {
    let letters = br##"abcdefghijklmnopqrstuvwxyz ABCXYZ_-/\"'{}[]:,.<>&%#@!~^()+=?|`*;0123456789"##;
    (0..random.below(13)).map(|_| char::from(letters[random.below(letters.len())])).collect()
}

/// Compiles what was estimated; it is an error if it is not so.
fn keeps_to_it(schema: &Value, options: &StructuralTagOptions) {
    let source = schema.to_string();
    let SimpleSchema { states, characters, .. } = estimate(&source).unwrap_or_else(|| panic!("{source}"));
    let document = tag(schema);
    let grammar = StructuralTag::parse(&document, options).unwrap().skeleton(options).unwrap();
    let grammar =
        grammar.schemas[0].compile(options).unwrap_or_else(|error| panic!("{source}: {error}")).grammar;
    let automata = CompileOptions::default();
    let late = DeferredProgram::from_estimate(
        &SizeEstimate { states, characters },
        move || Some(grammar),
        &automata,
    )
    .unwrap();
    late.program().unwrap_or_else(|error| panic!("{source}: {error}"));
    assert!(late.is_compiled());
}

fn tag(schema: &Value) -> String {
    let tag =
        json!({"begin": "<a>", "content": {"type": "json_schema", "json_schema": schema}, "end": "</a>"});
    let format = json!({"type": "triggered_tags", "triggers": ["<a"], "tags": [tag]});
    json!({"type": "structural_tag", "format": format}).to_string()
}

#[test]
fn random_schemas_keep_to_it() {
    let options = StructuralTagOptions::default();
    let mut random = Random::new(11);
    for _ in 0..400 {
        keeps_to_it(&schema(&mut random, 3), &options);
    }
}

#[test]
fn small_and_large_schemas_keep_to_it() {
    let options = StructuralTagOptions::default();
    let scalars = ["string", "integer", "number", "boolean", "null", "object", "array"];
    scalars.iter().for_each(|kind| keeps_to_it(&json!({"type": kind}), &options));
    keeps_to_it(&json!({}), &options);
    keeps_to_it(&json!({"enum": [""]}), &options);
    keeps_to_it(&json!({"required": ["a"]}), &options);
    keeps_to_it(&json!({"properties": {"": {"enum": ["~"]}}}), &options);
    let wide: serde_json::Map<String, Value> =
        (0..128).map(|number| (format!("name{number}"), json!({"type": "number"}))).collect();
    keeps_to_it(&json!({"type": "object", "properties": wide}), &options);
    let all: Vec<&String> = wide.keys().collect();
    keeps_to_it(&json!({"properties": wide, "required": all}), &options);
    let texts: Vec<String> = (0..128).map(|number| format!("{number:x<100}")).collect();
    keeps_to_it(&json!({"enum": texts}), &options);
    let deep = (0..16).fold(json!({"type": "string"}), |inner, level| match level % 2 {
        0 => json!({"type": "array", "items": inner}),
        _ => json!({"type": "object", "properties": {"a": inner, "b": {}}}),
    });
    keeps_to_it(&deep, &options);
}

#[test]
fn nothing_is_foretold_of_what_may_be_refused() {
    for schema in [
        json!({"type": "integer", "enum": ["a"]}),
        json!({"enum": []}),
        json!({"enum": ["a", "a"]}),
        json!({"enum": [1]}),
        json!({"type": "text"}),
        json!({"type": ["string", "null"]}),
        json!({"type": "object", "properties": {"a": {}}, "required": ["b"]}),
        json!({"properties": {}, "additionalProperties": false, "required": ["b"]}),
        json!({"properties": {"a": false}}),
        json!({"properties": {"\u{e9}": {}}}),
        json!({"properties": {"$id": {}}}),
        json!({"required": ["a", "a"]}),
        json!({"description": 1}),
        json!({"$ref": "#"}),
        json!({"default": {"$id": "a"}}),
        json!({"items": [{}]}),
        json!({"pattern": "a"}),
        json!({"anyOf": [{}]}),
        json!(true),
    ] {
        assert_eq!(estimate(&schema.to_string()), None, "{schema}");
    }
    assert_eq!(estimate(r#"{"type": "string"} x"#), None);
}

fn vocabulary() -> Vocabulary {
    let mut tokens: Vec<Vec<u8>> = (0..=255_u8).map(|byte| vec![byte]).collect();
    let pieces = ["<a>{", "\": ", "\"a", ", \"", "\\u00", "}</a>", "true", "12", "<stop>"];
    tokens.extend(pieces.iter().map(|piece| piece.as_bytes().to_vec()));
    let stop = u32::try_from(tokens.len()).unwrap() - 1;
    Vocabulary::from_tokens(tokens.into_iter().map(Some), &VocabularyOptions::default().stop_ids([stop]))
        .unwrap()
}

/// Walks along random tokens that are allowed, and compares all masks.
fn same(one: &CompiledGrammar, other: &CompiledGrammar, random: &mut Random) {
    let vocabulary = one.vocabulary();
    let (mut ours, mut theirs) = (TokenMask::new(vocabulary.len()), TokenMask::new(vocabulary.len()));
    let (mut one, mut other) = (one.matcher(), other.matcher());
    for byte in b"<a>{" {
        let id = vocabulary.id(u32::from(*byte)).unwrap();
        one.accept_token(id).unwrap();
        other.accept_token(id).unwrap();
    }
    let mut text = String::new();
    for _ in 0..60 {
        one.fill_mask(&mut ours).unwrap();
        other.fill_mask(&mut theirs).unwrap();
        assert_eq!(ours.as_words(), theirs.as_words(), "behind {text}");
        let allowed: Vec<TokenId> = ours.iter().collect();
        let id = allowed[random.below(allowed.len())];
        let _ = write!(text, "{id:?} ");
        one.accept_token(id).unwrap();
        other.accept_token(id).unwrap();
        if one.is_terminated() {
            break;
        }
    }
}

#[test]
fn masks_are_those_of_what_is_compiled_at_once() {
    let options = StructuralTagOptions::default();
    let compilers = [Toggle::On, Toggle::Off].map(|deferred_programs| {
        let automata = CompileOptions::default().deferred_programs(deferred_programs);
        Compiler::builder(vocabulary()).automata(automata).build()
    });
    let mut random = Random::new(5);
    for _ in 0..60 {
        let mut schema = schema(&mut random, 2);
        schema["type"] = json!("object");
        schema.as_object_mut().unwrap().remove("enum");
        let document = tag(&schema);
        let [late, at_once] =
            compilers.each_ref().map(|compiler| compiler.structural_tag(&document, &options).unwrap());
        for _ in 0..3 {
            same(&late, &at_once, &mut random);
        }
    }
}
