//! What people are told whose input is broken: the place, what is wrong there, and what to write instead.
//!
//! Every case is one mistake as people make it; the reports are read as a user would read them.

use grammask::ebnf::EbnfOptions;
use grammask::gbnf::GbnfOptions;
use grammask::json_schema::JsonSchemaOptions;
use grammask::regex::RegexOptions;
use grammask::{Color, CompileError, CompiledGrammar, Vocabulary, VocabularyOptions};
use insta::assert_snapshot;

use crate::common::compiler;

fn report(source: &str, name: &str, result: Result<CompiledGrammar, CompileError>) -> String {
    let error = result.expect_err("the input is broken");
    match error.diagnostics() {
        Some(diagnostics) => diagnostics.render(source, name, Color::Never),
        None => error.to_string(),
    }
}

fn ebnf(source: &str) -> String {
    report(source, "grammar.ebnf", compiler().ebnf(source, &EbnfOptions::default()))
}

fn gbnf(source: &str) -> String {
    report(source, "grammar.gbnf", compiler().gbnf(source, &GbnfOptions::default()))
}

fn regex(pattern: &str) -> String {
    report(pattern, "pattern", compiler().regex(pattern, &RegexOptions::default()))
}

fn schema(source: &str) -> String {
    report(source, "schema.json", compiler().json_schema(source, &JsonSchemaOptions::default()))
}

fn tokenizer(json: impl AsRef<[u8]>) -> String {
    Vocabulary::from_tokenizer_json(json.as_ref(), &VocabularyOptions::default())
        .expect_err("the file is broken")
        .to_string()
}

#[test]
fn grammars() {
    assert_snapshot!(ebnf(""), @"");
    assert_snapshot!(ebnf("# only a comment\n"), @"");
    assert_snapshot!(ebnf(r#"root := "a""#), @"");
    assert_snapshot!(ebnf(r#"root = "a""#), @"");
    assert_snapshot!(ebnf("root ::= "), @"");
    assert_snapshot!(ebnf(r#"root ::= "a" |"#), @"");
    assert_snapshot!(ebnf(r#"root ::= | "a""#), @"");
    assert_snapshot!(ebnf(r#"root ::= ("a""#), @"");
    assert_snapshot!(ebnf(r#"root ::= "a")"#), @"");
    assert_snapshot!(ebnf("root ::= \"a\nb ::= \"b\""), @"");
    assert_snapshot!(ebnf("root ::= [a-z"), @"");
    assert_snapshot!(ebnf("root ::= [z-a]"), @"");
    assert_snapshot!(ebnf(r#"root ::= "a"{3,1}"#), @"");
    assert_snapshot!(ebnf(r#"root ::= "a"{,}"#), @"");
    assert_snapshot!(ebnf(r#"root ::= "a"{x}"#), @"");
    assert_snapshot!(ebnf(r#"root ::= "a"**"#), @"");
    assert_snapshot!(ebnf("root ::= *"), @"");
    assert_snapshot!(ebnf(r#"root ::= "\q""#), @"");
    assert_snapshot!(ebnf(r#"root ::= "\u12""#), @"");
    assert_snapshot!(ebnf("root ::= 'a'"), @"");
    assert_snapshot!(ebnf("root ::= item\nitme ::= \"a\""), @"");
    assert_snapshot!(ebnf("root ::= \"a\"\nroot ::= \"b\""), @"");
    assert_snapshot!(ebnf(r#"start ::= "a""#), @"");
    assert_snapshot!(ebnf("root ::= root"), @"");
    assert_snapshot!(ebnf(r#"root ::= "a" root"#), @"");
    assert_snapshot!(ebnf("root ::= a\na ::= b \"x\"\nb ::= a \"y\""), @"");
    assert_snapshot!(ebnf(r#"root ::= Complement("a" root)"#), @"");
    assert_snapshot!(ebnf(r#"root ::= Intersection("a", "b")"#), @"");
    assert_snapshot!(ebnf(r#"root ::= Intersection("a")"#), @"");
    assert_snapshot!(ebnf(r#"root ::= "a" ; "b""#), @"");
    assert_snapshot!(ebnf("root ::= /[a-z]+/"), @"");
    assert_snapshot!(ebnf("root ::= \"a\"\r\n\tx ::= \"\u{e9}\u{4e2d}\" y"), @"");
    assert_snapshot!(ebnf(r#"root ::= Bytes("\xff") Complement(Bytes("\xff"))"#), @"");
    assert_snapshot!(ebnf(r#"root ::= "a" }"#), @"");
    assert_snapshot!(ebnf(r#"1root ::= "a""#), @"");
    assert_snapshot!(ebnf("root ::= []"), @"");
}

#[test]
fn llama_grammars() {
    assert_snapshot!(gbnf("root ::= \"a\"\n  \"b\""), @"");
    assert_snapshot!(gbnf(r#"root ::= <think> "a""#), @"");
    assert_snapshot!(gbnf("root ::= \"a\" |\n"), @"");
    assert_snapshot!(gbnf(r#"root ::= "\d""#), @"");
    assert_snapshot!(gbnf(r#"root ::= Complement("a")"#), @"");
    assert_snapshot!(gbnf(r#"root.x ::= "a""#), @"");
    assert_snapshot!(gbnf(r#"root ::= "a"{2,1}"#), @"");
}

#[test]
fn patterns() {
    assert_snapshot!(regex("("), @"");
    assert_snapshot!(regex(")"), @"");
    assert_snapshot!(regex("a)"), @"");
    assert_snapshot!(regex("[a"), @"");
    assert_snapshot!(regex("[z-a]"), @"");
    assert_snapshot!(regex("*a"), @"");
    assert_snapshot!(regex("a**b("), @"");
    assert_snapshot!(regex("a{3,1}"), @"");
    assert_snapshot!(regex("a{99999999999}"), @"");
    assert_snapshot!(regex(r#"\b"#), @"");
    assert_snapshot!(regex("(?=a)"), @"");
    assert_snapshot!(regex(r#"(a)\1"#), @"");
    assert_snapshot!(regex("(?m)^a$"), @"");
    assert_snapshot!(regex(r#"\p{Nonsense}"#), @"");
    assert_snapshot!(regex("(?<n>a)(?<n>b)"), @"");
    assert_snapshot!(regex(r#"\"#), @"");
    assert_snapshot!(regex("(?P<a"), @"");
    assert_snapshot!(regex("[[:foo:]]"), @"");
    assert_snapshot!(regex(r#"\xZZ"#), @"");
    assert_snapshot!(regex("(?z)a"), @"");
    assert_snapshot!(regex("a^b"), @"");
    assert_snapshot!(regex(r#"[^\s\S]"#), @"");
}

#[test]
fn malformed_schemas() {
    assert_snapshot!(schema(""), @"");
    assert_snapshot!(schema("{"), @"");
    assert_snapshot!(schema(r#"{"type": "string",}"#), @"");
    assert_snapshot!(schema("{'type': 'string'}"), @"");
    assert_snapshot!(schema(r#"{"type": string}"#), @"");
    assert_snapshot!(schema(r#"{"a": 1e}"#), @"");
    assert_snapshot!(schema("[]"), @"");
    assert_snapshot!(schema(r#""string""#), @"");
    assert_snapshot!(schema("3"), @"");
    assert_snapshot!(schema("null"), @"");
    assert_snapshot!(schema(r#"{"type":"string"} x"#), @"");
    assert_snapshot!(schema("{\n  \"type\": \"object\",\n  \"properties\": {\n    \"a\": {\"type\": \"strin}\n  }\n}"), @"");
    assert_snapshot!(schema(r#"{"a": "\ud800"}"#), @"");
    assert_snapshot!(schema(r#"{"a": 01}"#), @"");
}

#[test]
fn misused_keywords() {
    assert_snapshot!(schema(r#"{"type": "str"}"#), @"");
    assert_snapshot!(schema(r#"{"type": 3}"#), @"");
    assert_snapshot!(schema(r#"{"type": []}"#), @"");
    assert_snapshot!(schema(r#"{"type": ["string", "string"]}"#), @"");
    assert_snapshot!(schema(r#"{"properties": []}"#), @"");
    assert_snapshot!(schema(r#"{"properties": {"a": 3}}"#), @"");
    assert_snapshot!(schema(r#"{"required": "a"}"#), @"");
    assert_snapshot!(schema(r#"{"required": [1]}"#), @"");
    assert_snapshot!(schema(r#"{"minLength": -1}"#), @"");
    assert_snapshot!(schema(r#"{"minLength": "3"}"#), @"");
    assert_snapshot!(schema(r#"{"maxLength": 1.5}"#), @"");
    assert_snapshot!(schema(r#"{"minimum": "3"}"#), @"");
    assert_snapshot!(schema(r#"{"multipleOf": 0}"#), @"");
    assert_snapshot!(schema(r#"{"multipleOf": -2}"#), @"");
    assert_snapshot!(schema(r#"{"enum": []}"#), @"");
    assert_snapshot!(schema(r#"{"enum": "a"}"#), @"");
    assert_snapshot!(schema(r#"{"items": 3}"#), @"");
    assert_snapshot!(schema(r#"{"prefixItems": {}}"#), @"");
    assert_snapshot!(schema(r#"{"allOf": []}"#), @"");
    assert_snapshot!(schema(r#"{"anyOf": {}}"#), @"");
    assert_snapshot!(schema(r#"{"pattern": 3}"#), @"");
    assert_snapshot!(schema(r#"{"additionalProperties": "no"}"#), @"");
    assert_snapshot!(schema(r#"{"$ref": 3}"#), @"");
    assert_snapshot!(schema(r#"{"$schema": 3}"#), @"");
    assert_snapshot!(schema(r#"{"$schema": "http://json-schema.org/draft-03/schema#"}"#), @"");
    assert_snapshot!(schema(r#"{"format": 3}"#), @"");
    assert_snapshot!(schema(r#"{"dependentRequired": {"a": "b"}}"#), @"");
    assert_snapshot!(schema(r#"{"patternProperties": {"(": {}}}"#), @"");
    assert_snapshot!(schema(r#"{"properties": {"a": {"items": {"type": "strng"}}}}"#), @"");
    assert_snapshot!(schema(r##"{"$defs": 3, "$ref": "#/$defs/a"}"##), @"");
}

#[test]
fn references() {
    assert_snapshot!(schema(r##"{"$ref": "#/$defs/missing"}"##), @"");
    assert_snapshot!(schema(r##"{"$ref": "#nowhere"}"##), @"");
    assert_snapshot!(schema(r#"{"$ref": "other.json"}"#), @"");
    assert_snapshot!(schema(r#"{"$ref": "https://example.com/schema"}"#), @"");
    assert_snapshot!(schema(r##"{"$ref": "#"}"##), @"");
    assert_snapshot!(schema(r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##), @"");
    assert_snapshot!(schema(r##"{"allOf": [{"not": {"$ref": "#"}}]}"##), @"");
    assert_snapshot!(schema(r##"{"$ref": "#/$defs/a~2b"}"##), @"");
    assert_snapshot!(schema(r##"{"$ref": "#/properties/x/type", "properties": {"x": {"type": "string"}}}"##), @"");
    assert_snapshot!(schema(r##"{"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}"##), @"");
}

#[test]
fn unsatisfiable_schemas() {
    assert_snapshot!(schema("false"), @"");
    assert_snapshot!(schema(r#"{"not": {}}"#), @"");
    assert_snapshot!(schema(r#"{"type": "string", "minLength": 5, "maxLength": 3}"#), @"");
    assert_snapshot!(schema(r#"{"type": "integer", "minimum": 3, "maximum": 2}"#), @"");
    assert_snapshot!(schema(r#"{"type": "integer", "exclusiveMinimum": 2, "exclusiveMaximum": 3}"#), @"");
    assert_snapshot!(schema(r#"{"enum": ["a"], "type": "integer"}"#), @"");
    assert_snapshot!(schema(r#"{"const": 3, "minimum": 5}"#), @"");
    assert_snapshot!(schema(r#"{"type": "string", "pattern": "^a$", "minLength": 2}"#), @"");
    assert_snapshot!(schema(r#"{"properties": {"a": false}, "required": ["a"], "type": "object"}"#), @"");
    assert_snapshot!(schema(r#"{"additionalProperties": false, "required": ["a"], "type": "object"}"#), @"");
    assert_snapshot!(schema(r#"{"type": "array", "items": {"not": {}}, "minItems": 1}"#), @"");
    assert_snapshot!(schema(r#"{"type": "object", "minProperties": 3, "maxProperties": 2}"#), @"");
    assert_snapshot!(schema(r#"{"allOf": [{"type": "string"}, {"type": "number"}]}"#), @"");
    assert_snapshot!(schema(r#"{"oneOf": [{"type": "string"}, {"type": "string"}]}"#), @"");
    assert_snapshot!(schema(r#"{"type": "object", "properties": {"a": {"type": "integer", "allOf": [{"minimum": 5}, {"maximum": 4}]}}, "required": ["a"]}"#), @"");
}

#[test]
fn unsupported_keywords() {
    assert_snapshot!(schema(r#"{"type": "array", "uniqueItems": true}"#), @"");
    assert_snapshot!(schema(r#"{"unevaluatedProperties": false}"#), @"");
    assert_snapshot!(schema(r##"{"$dynamicRef": "#a"}"##), @"");
    assert_snapshot!(schema(r#"{"type": "string", "format": "regex"}"#), @"");
    assert_snapshot!(schema(r#"{"pattern": "(?=a)b"}"#), @"");
    assert_snapshot!(schema(r#"{"pattern": "(a)\\1"}"#), @"");
    assert_snapshot!(schema(r#"{"pattern": "["}"#), @"");
    assert_snapshot!(schema(r#"{"properties": {"code": {"pattern": "^[A-Z{3}$"}}}"#), @"");
    assert_snapshot!(schema(r#"{"contains": {"const": 1}, "allOf": [{"contains": {"const": 2}}]}"#), @"");
    assert_snapshot!(schema(r#"{"patternProperties": {"^\\b": {}}}"#), @"");
    assert_snapshot!(schema(r#"{"type": "integer", "multipleOf": 1000000007}"#), @"");
    assert_snapshot!(schema(r#"{"type": "number", "minimum": 1e500}"#), @"");
}

#[test]
fn tokenizer_files() {
    assert_snapshot!(tokenizer(""), @"");
    assert_snapshot!(tokenizer(b"PK\x03\x04"), @"");
    assert_snapshot!(tokenizer(b"\xff\xfe"), @"");
    assert_snapshot!(tokenizer("[]"), @"");
    assert_snapshot!(tokenizer("{}"), @"");
    assert_snapshot!(tokenizer(r#"{"model": {}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE"}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": ["a"]}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": -1}}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 99999999}}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "WordPiece", "vocab": {"a": 0}}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "Magic", "vocab": {"a": 0}}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"vocab": {"a": 0}}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "decoder": {"type": "CTC"}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "decoder": {"type": "Replace", "pattern": {"Regex": "a"}, "content": ""}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "added_tokens": [{"id": 0}]}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "added_tokens": [{"id": 1, "content": "x"}, {"id": 1, "content": "y"}]}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "decoder": {"type": "Sequence", "decoders": [{"type": "Strip", "content": "ab", "start": 1, "stop": 0}]}}"#), @"");
    assert_snapshot!(tokenizer("{\n  \"model\": {\n    \"type\": \"BPE\",\n    \"vocab\": {\"a\": 0,}\n  }\n}"), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "Unigram", "vocab": {"a": 0}}}"#), @"");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}, "end_of_word_suffix": "</w>"}}"#), @"");
}
