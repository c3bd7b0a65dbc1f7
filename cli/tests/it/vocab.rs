use std::path::Path;

use serde_json::json;

use crate::program::{STOP, run, tokenizer};

#[test]
fn a_vocabulary_is_summed_up() {
    let value = run(&["vocab", "--tokenizer", tokenizer(), "--json"]).json();
    assert_eq!(value["size"].to_string(), "265");
    assert_eq!(value["text"].to_string(), "264");
    assert_eq!(value["missing_bytes"], json!([]));
    assert_eq!(value["stop"][0]["id"].to_string(), STOP.to_string());
    assert_eq!(value["longest"][0]["token"], "green");
}

#[test]
fn a_vocabulary_needs_no_stop_token_here() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-stop-token.json");
    std::fs::write(&file, r#"{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}"#).unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(run(&["vocab", "--tokenizer", file, "--json"]).json()["stop"], json!([]));
    let written = run(&["generate", "--regex-text", "ab", "--tokenizer", file]);
    assert_eq!((written.code, written.out.trim_end()), (0, "ab"), "{written:?}");
}

#[test]
fn people_see_fields() {
    let run = run(&["vocab", "--tokenizer", tokenizer()]);
    assert_eq!(run.code, 0, "{run:?}");
    for line in ["size           265 ids", "missing bytes  none", "longest tokens"] {
        assert!(run.out.lines().any(|found| found == line), "{line}: {}", run.out);
    }
}

#[test]
fn ids_are_looked_up() {
    let run = run(&["vocab", "--tokenizer", tokenizer(), "--ids", "97-98,256", "--json"]);
    let tokens: Vec<_> = run.json().as_array().unwrap().iter().map(|token| token["token"].clone()).collect();
    assert_eq!(tokens, ["a", "b", "name"]);
    let count = |arguments: &[&str]| {
        let all = [&["vocab", "--tokenizer", tokenizer(), "--json", "--ids", "97-126"], arguments].concat();
        crate::program::run(&all).json().as_array().map(Vec::len)
    };
    assert_eq!((count(&[]), count(&["--limit", "3"])), (Some(30), Some(3)));
}

#[test]
fn tokens_are_found_by_their_text() {
    let run = run(&["vocab", "--tokenizer", tokenizer(), "--find", "re", "--json"]);
    let tokens: Vec<_> = run.json().as_array().unwrap().iter().map(|token| token["token"].clone()).collect();
    assert_eq!(tokens, ["red", "green", "gre"]);
}

#[test]
fn the_format_of_the_file_does_not_matter() {
    // A SentencePiece model of two pieces: a space and `a`, and the control piece `</s>`.
    let model = b"\x0a\x06\x0a\x04\xe2\x96\x81a\x0a\x08\x0a\x04</s>\x18\x03\x12\x00";
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tiny-tokenizer.model");
    std::fs::write(&file, model).unwrap();
    let file = file.to_str().unwrap();
    let value = run(&["vocab", "--tokenizer", file, "--json"]).json();
    assert_eq!(value["size"].to_string(), "2");
    assert_eq!(value["longest"][0]["token"], " a");
    assert_eq!(value["stop"][0]["id"].to_string(), "1");
}

#[test]
fn a_rank_file_tells_its_special_tokens_by_its_name() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cl100k_base.tiktoken");
    let ranks: String = (0..100_256).map(|rank| format!("YQ== {rank}\n")).collect();
    std::fs::write(&file, ranks).unwrap();
    let value = run(&["vocab", "--tokenizer", file.to_str().unwrap(), "--json"]).json();
    assert_eq!(value["size"].to_string(), "100277");
    assert_eq!(value["text"].to_string(), "100256");
    assert_eq!(value["stop"][0]["id"].to_string(), "100257");
}

#[test]
fn mistakes_are_named() {
    let unknown = run(&["vocab", "--tokenizer", tokenizer(), "--ids", "1000"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("ids 0 to 264"), "{}", unknown.err);
    let missing = run(&["vocab", "--tokenizer", "no-such-tokenizer.json"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("no-such-tokenizer.json"), "{}", missing.err);
}
