//! Errors about long inputs are short.

use std::fmt::Display;

use grammask_earley::Engine;
use grammask_grammar_frontends::ebnf::EbnfOptions;
use grammask_grammar_frontends::json_schema::JsonSchemaOptions;
use grammask_grammar_frontends::lark::LarkOptions;
use grammask_grammar_frontends::regex::RegexOptions;
use grammask_grammar_frontends::structural_tag::StructuralTagOptions;
use grammask_grammar_frontends::{Color, ebnf};
use grammask_mask_cache::{Vocabulary, VocabularyOptions};
use grammask_matcher::{BuildBackend, CompileError, CompiledGrammar, Compiler};
use grammask_pda as pda;

/// Characters of a finding: a pointer, a message and a hint, each of which may repeat some.
const MAX_CHARS: usize = 1_100;

/// Findings of one source.
const MAX_FINDINGS: usize = 20;

fn compiler_of<B: BuildBackend>() -> Compiler<B> {
    let tokens = (0..=255u8).map(|byte| Some(vec![byte])).chain([None]);
    let options = VocabularyOptions::default().stop_ids([256]);
    Compiler::builder(Vocabulary::from_tokens(tokens, &options).unwrap()).backend::<B>().build()
}

fn check_message(source: &str, error: &impl Display) {
    let beginning: String = source.chars().take(60).collect();
    let message = error.to_string();
    assert!(message.chars().count() <= MAX_CHARS * MAX_FINDINGS, "{beginning}: {}", message.chars().count());
    for line in message.lines() {
        assert!(line.chars().count() <= MAX_CHARS, "{beginning}: {} characters", line.chars().count());
    }
}

fn check<B: BuildBackend>(source: &str, compiled: Result<CompiledGrammar<B>, CompileError>) {
    // A source that compiles has no message.
    let Err(error) = compiled else { return };
    check_message(source, &error);
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        check_message(source, &error);
        cause = error.source();
    }
    let Some(diagnostics) = error.diagnostics() else { return };
    for one in diagnostics.iter() {
        let texts = [Some(one.message()), one.hint()].into_iter().flatten();
        let labels = one.labels().iter().map(|label| label.message());
        texts.chain(labels).for_each(|text| check_message(source, &text));
    }
    check_message(source, &diagnostics.render(source, "source", Color::Never));
}

/// A long name in each place of a template.
fn long(template: &str) -> String {
    template.replace("NAME", &"x\u{e9}".repeat(50_000)).replace("WORD", &"word".repeat(25_000))
}

#[test]
fn of_grammars() {
    let compiler = compiler_of::<Engine>();
    for template in [
        "root ::= WORD",
        "WORD ::= \"a\"",
        "root ::= WORD\nWORD ::= \"a\"\nWORD ::= \"b\"",
        "root ::= WORD\nWORD ::= WORD \"a\"",
        "root ::= \"NAME",
        "root ::= [NAME",
        "root ::= 'NAME'",
        "root ::= \"\\qNAME\"",
        "root ::= NAME",
        "root[WORD] ::= \"a\"",
        "root[lazy=WORD] ::= \"a\"",
        "root ::= Token(\"NAME\")",
        "root ::= Complement(WORD)\nWORD ::= \"a\" WORD | \"\"",
        "root ::= WORD\nWORD ::= \"a\"{7,2}",
        "root ::= Regex(\"(?<NAME\")",
        "root = NAME",
        "NAME",
    ] {
        let source = long(template);
        let compiled = compiler.ebnf(&source, &EbnfOptions::default());
        assert!(compiled.is_err(), "{template}");
        check(&source, compiled);
        check(&source, compiler.gbnf(&source, &EbnfOptions::default()));
    }
    let source = long("WORD ::= WORD \"a\" | \"b\"\nroot ::= WORD");
    check(&source, compiler_of::<pda::Engine>().ebnf(&source, &EbnfOptions::default()));
    let root = EbnfOptions::default().root(long("NAME"));
    check_message("root", &ebnf::parse("a ::= \"a\"", &root).unwrap_err());
    for template in [
        "start: WORD",
        "WORD: \"a\"",
        "start: \"NAME",
        "start: /(?<NAME/",
        "%import WORD",
        "%WORD",
        "start[WORD=1]: \"a\"",
        "start: WORD\nWORD: \"a\"\nWORD: \"b\"",
        "start: <NAME>",
        "NAME",
    ] {
        let source = long(template);
        check(&source, compiler.lark(&source, &LarkOptions::default()));
    }
}

#[test]
fn of_patterns_and_schemas() {
    let compiler = compiler_of::<Engine>();
    let mut options = RegexOptions::default();
    options.limits.pattern_bytes = 1 << 22;
    for template in
        ["(?<NAME", "(?<NAME>a)(?<NAME>a)", "\\p{NAME}", "a{WORD", "[NAME", "(?NAME)", "\\k<NAME>"]
    {
        let source = long(template);
        check(&source, compiler.regex(&source, &options));
    }
    for template in [
        r#"{"type": "NAME"}"#,
        r#"{"$ref": "NAME"}"#,
        r##"{"$ref": "#/$defs/NAME"}"##,
        r#"{"properties": {"NAME": 3}}"#,
        r#"{"properties": {"NAME": {"type": 3}}}"#,
        r#"{"pattern": "(?<NAME"}"#,
        r#"{"type": "array", "items": {"format": 3, "pattern": "(NAME"}}"#,
        r#"{"$schema": "NAME"}"#,
        r#"{"NAME": 1, "type": "object", "unevaluatedProperties": {"NAME": 2}, "minLength": "NAME"}"#,
        r#"{"enum": ["NAME"], "type": "integer"}"#,
        r#"{"const": "NAME", "maxLength": 3}"#,
        r#"{"type": "object", "required": ["NAME"], "properties": {"NAME": false}}"#,
        r##"{"$defs": {"NAME": {"$ref": "#/$defs/NAME"}}, "$ref": "#/$defs/NAME"}"##,
        r#"{"contentEncoding": "NAME", "contains": "NAME"}"#,
        r#"{"NAME"#,
        "NAME",
    ] {
        let source = long(template);
        check(&source, compiler.json_schema(&source, &JsonSchemaOptions::default()));
    }
    for template in [
        r#"{"format": {"type": "NAME"}}"#,
        r#"{"format": {"type": "json_schema", "json_schema": {"type": "NAME"}}}"#,
        r#"{"format": {"type": "regex", "pattern": "(?<NAME"}}"#,
        r#"{"format": {"type": "grammar", "grammar": "root ::= WORD"}}"#,
        r#"{"format": {"type": "const_string", "NAME": 1}}"#,
        r#"{"structures": [{"begin": "NAME", "schema": {}, "end": "x"}], "triggers": ["y"]}"#,
        r#"{"format": {"type": "token", "token": "NAME"}}"#,
        r#"{"NAME"#,
    ] {
        let source = long(template);
        check(&source, compiler.structural_tag(&source, &StructuralTagOptions::default()));
    }
}

#[test]
fn of_many_mistakes() {
    let compiler = compiler_of::<Engine>();
    let many = |mistake: &str, between: &str| {
        let all = (0..20_000).map(|number| mistake.replace('#', &number.to_string()));
        all.collect::<Vec<_>>().join(between)
    };
    for source in [
        format!("root ::= {}", many("x#", " ")),
        format!("root ::= \"a\"\n{}", many("x ::= \"b\"", "\n")),
        format!("root ::= {}", many("\"\\q#\"", " ")),
        format!("root ::= {}", many("[z-a]", " ")),
        format!("root ::= {}", many("Token(\"x#\")", " ")),
        many("x# = 3", "\n"),
        many("x#[odd=#] ::= \"a\"", "\n"),
    ] {
        let compiled = compiler.ebnf(&source, &EbnfOptions::default());
        assert!(compiled.is_err(), "{:.60}", source);
        check(&source, compiled);
        check(&source, compiler.gbnf(&source, &EbnfOptions::default()));
    }
    for source in [
        format!("start: {}", many("x#", " ")),
        format!("start: \"a\"\n{}", many("x: \"b\"", "\n")),
        format!("start: {}", many("<|x#|>", " ")),
        format!("start: {}", many("/(/", " ")),
        many("%odd x#", "\n"),
    ] {
        let compiled = compiler.lark(&source, &LarkOptions::default());
        assert!(compiled.is_err(), "{:.60}", source);
        check(&source, compiled);
    }
    for properties in [
        many(r#""x#": {"type": "odd#"}"#, ", "),
        many(r#""x#": {"$ref": "odd#"}"#, ", "),
        many(r#""x#": {"pattern": "("}"#, ", "),
    ] {
        let source = format!(r#"{{"type": "object", "properties": {{{properties}}}}}"#);
        let compiled = compiler.json_schema(&source, &JsonSchemaOptions::default());
        assert!(compiled.is_err(), "{:.90}", source);
        check(&source, compiled);
    }
    for tags in [
        many(r#"{"type": "odd#"}"#, ", "),
        many(r#"{"type": "token", "token": "x#"}"#, ", "),
        many(r#"{"type": "regex", "pattern": "("}"#, ", "),
    ] {
        let source = format!(r#"{{"format": {{"type": "sequence", "elements": [{tags}]}}}}"#);
        let compiled = compiler.structural_tag(&source, &StructuralTagOptions::default());
        assert!(compiled.is_err(), "{:.90}", source);
        check(&source, compiled);
    }
}

#[test]
fn of_tokenizers() {
    for template in [
        r#"{"model": {"type": "NAME"}}"#,
        r#"{"model": {"type": "BPE", "vocab": {"NAME": 0, "WORD": 0}, "merges": []}}"#,
        r#"{"model": {"type": "BPE", "vocab": {"NAME": -1}, "merges": []}}"#,
        r#"{"model": {"type": "BPE", "vocab": "NAME"}}"#,
        r#"{"model": {"type": "BPE", "vocab": {}}, "decoder": {"type": "NAME"}}"#,
        r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "decoder": {"type": "Replace", "pattern": {"Regex": "NAME"}, "content": ""}}"#,
        r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "added_tokens": [{"id": 0, "content": "NAME", "special": true}]}"#,
        r#"{"NAME"#,
        "NAME",
    ] {
        let source = long(template);
        if let Err(error) = Vocabulary::from_tokenizer_json(source.as_bytes(), &VocabularyOptions::default())
        {
            check_message(&source, &error);
            check_message(&source, &format!("{error:?}"));
        }
    }
}
