//! The default spelling has all that serialisers print: texts of real ones are in the grammars that allow their values.
//! Integers are as serialisers print integers, not doubles: without a fraction or an exponent.
//!
//! Python and Node write random values where they are installed, and `serde_json` does here. Go's encoder and Jackson
//! stand in by examples of what sets them apart.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of a test that fails is the failure")]

use std::process::Command;

use grammask_corpus::subjects::earley;
use grammask_corpus::{BackendSubject, Subject};
use grammask_earley::Engine;
use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions, Spelling};
use grammask_oracle::random::Rng;
use serde_json::json;

fn subject(schema: &str, options: &JsonSchemaOptions) -> BackendSubject<Engine> {
    let compiled = json_schema::compile_grammar(schema, options);
    let grammar = compiled.unwrap_or_else(|error| panic!("{schema}: {error}"));
    BackendSubject(earley(&grammar).unwrap_or_else(|error| panic!("{schema}: {error}")))
}

fn accepts(subject: &impl Subject, text: &str) -> bool {
    let mut state = subject.start();
    for byte in text.bytes() {
        match subject.step(&state, byte).unwrap() {
            Some(next) => state = next,
            None => return false,
        }
    }
    subject.is_complete(&state)
}

/// Texts that a program writes, or a reason why it cannot be run.
fn written_by(program: &str, arguments: &[&str]) -> Result<Vec<String>, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("`{program}` cannot be run: {error}"))?;
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut texts: Vec<String> = text.split('\0').map(str::to_owned).collect();
    texts.pop();
    Ok(texts)
}

/// All texts are in the grammar of any value, and each number among them in grammars that allow that number.
fn check(texts: &[String]) {
    let options = JsonSchemaOptions::default();
    let any = subject("{}", &options);
    let all = subject("{}", &options.clone().spelling(Spelling::Any));
    let whole = subject(r#"{"type": "integer"}"#, &options);
    for text in texts {
        assert!(accepts(&any, text), "the grammar lacks {text:?}");
        assert!(accepts(&all, text), "the grammar of any spelling lacks {text:?}");
        if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            check_number(text, &options, &whole);
        }
    }
}

fn check_number(text: &str, options: &JsonSchemaOptions, whole: &impl Subject) {
    for schema in [
        format!(r#"{{"const": {text}}}"#),
        format!(r#"{{"type": "number", "minimum": {text}, "maximum": {text}}}"#),
    ] {
        assert!(accepts(&subject(&schema, options), text), "{schema}");
    }
    let other = format!(r#"{{"type": "number", "exclusiveMinimum": {text}}}"#);
    assert!(!accepts(&subject(&other, options), text), "{other}");
    // 64 digits at most.
    let has_digits_alone = !text.contains(['.', 'e', 'E']);
    let digits = text.trim_start_matches('-').len();
    assert_eq!(accepts(whole, text), has_digits_alone && digits <= 64, "{text}");
}

#[test]
fn texts_of_python() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/serialisers/python.py");
    match written_by("python3", &[script]) {
        Ok(texts) => check(&texts),
        Err(reason) => eprintln!("skipped: {reason}"),
    }
}

#[test]
fn texts_of_node() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/serialisers/node.js");
    match written_by("node", &[script]) {
        Ok(texts) => check(&texts),
        Err(reason) => eprintln!("skipped: {reason}"),
    }
}

#[test]
fn texts_of_serde_json() {
    let mut rng = Rng::new(7);
    let mut texts = Vec::new();
    for _ in 0..600 {
        let bits = f64::from_bits(rng.bits());
        let scale = 10f64.powi(i32::try_from(rng.below(45)).unwrap() - 20);
        let short = f64::from(u32::try_from(rng.below(1000)).unwrap()) * scale;
        let numbers = [bits, short, -short, f64::from_bits(rng.bits() >> 12)];
        texts.extend(
            numbers.iter().filter(|number| number.is_finite()).map(|it| serde_json::to_string(it).unwrap()),
        );
    }
    let value = json!({"a\u{7f}\u{1}\"\\/": [0, -1, 18_446_744_073_709_551_615_u64, [], {}, "é😀\u{2028}\n"], "b": {"c": null}});
    texts.extend([serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()]);
    check(&texts);
}

/// `encoding/json`: markup and line separators as numbers, exponents below 1e-6 and from 1e21 on, a sign before zero, tabs.
#[test]
fn texts_of_go() {
    let texts = [
        r#"{"a\u003cb\u003e\u0026":"\u2028\u2029\u0001\u0008\u000c\b\f\ufffd"}"#,
        "-0",
        "1e-7",
        "1.5e-9",
        "0.000001",
        "1e+21",
        "100000000000000000000",
        "{\n\t\"a\": [\n\t\t1,\n\t\t[]\n\t]\n}",
    ];
    check(&texts.map(str::to_owned));
}

/// Jackson: Java's form of doubles, digits of escapes in upper case, and a pretty printer with a space before each colon.
#[test]
fn texts_of_jackson() {
    let texts = [
        "1.0E-7",
        "1.0E10",
        "1.2345678E7",
        "-4.9E-324",
        "1.7976931348623157E308",
        "9999999.0",
        "0.001",
        "1.0E-4",
        "-0.0",
        r#""\u001F\u00E9\uD83D\uDE00""#,
        "{\n  \"a\" : [ 1, 2.5 ],\n  \"b\" : { },\n  \"c\" : [ ]\n}",
    ];
    check(&texts.map(str::to_owned));
}

/// Texts that no serialiser prints are refused in the default spelling and taken in the spelling `any`. Amounts are no such
/// texts: models write `12.50`, and nothing sensible can follow where the zero alone is allowed.
#[test]
fn what_none_prints() {
    let texts = [
        r#""\u0061""#,
        r#""\/""#,
        r#""\u000a""#,
        "[  ]",
        "[\n\n]",
        "[\r\n]",
        "[\t]",
        "1e5",
        "1E-7",
        "1.0e-7",
        "0e0",
        "0.0000001e21",
        "10e20",
    ];
    let long = format!("1{}", "0".repeat(64));
    let (printed, any) =
        (subject("{}", &JsonSchemaOptions::default()), JsonSchemaOptions::default().spelling(Spelling::Any));
    let any = subject("{}", &any);
    for text in ["64.00", "2.50"] {
        assert!(accepts(&printed, text) && accepts(&any, text), "the grammar lacks {text:?}");
    }
    for text in texts.into_iter().chain([long.as_str()]) {
        assert!(!accepts(&printed, text), "the grammar has {text:?}");
        assert!(accepts(&any, text), "the grammar of any spelling lacks {text:?}");
    }
}
