use serde_json::json;

use crate::program::{STOP, run, run_with, tokenizer};

fn mask(arguments: &[&str]) -> serde_json::Value {
    let run = run(&[&["mask", "--tokenizer", tokenizer(), "--json"], arguments].concat());
    assert_eq!(run.code, 0, "{run:?}");
    run.json()
}

#[test]
fn all_spellings_are_allowed() {
    let value = mask(&["--regex-text", "red|green", "--prefix", ""]);
    let tokens: Vec<&str> =
        value["tokens"].as_array().unwrap().iter().map(|token| token["token"].as_str().unwrap()).collect();
    assert_eq!(tokens, ["g", "r", "red", "green", "gre"]);
    assert_eq!((&value["complete"], &value["forced"]), (&json!(false), &json!("")));
    assert_eq!(value["next"], json!(["'g'", "'r'"]));
}

#[test]
fn forced_text_is_told() {
    let value = mask(&["--regex-text", "red|green", "--prefix", "g"]);
    assert_eq!(value["forced"], "reen");
}

#[test]
fn the_end_is_a_token() {
    let value = mask(&["--regex-text", "red", "--prefix", "red"]);
    assert_eq!(value["complete"], true);
    assert_eq!(value["tokens"][0]["id"].to_string(), STOP.to_string());
    assert_eq!(value["tokens"][0]["kind"], "stop");
}

#[test]
fn people_see_a_table() {
    let run = run(&["mask", "--tokenizer", tokenizer(), "--regex-text", "[a-z]*", "--limit", "3"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.starts_with("allowed   33 of 265 tokens\n"), "{}", run.out);
    assert!(run.out.ends_with("and 30 more; see --limit\n"), "{}", run.out);
}

#[test]
fn a_prefix_outside_the_structure_is_a_mistake() {
    let run = run(&["mask", "--tokenizer", tokenizer(), "--regex-text", "red", "--prefix", "reed"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("line 1, column 3"), "{}", run.err);
}

#[test]
fn a_file_with_a_prefix_may_end_with_a_line_break() {
    let masks = |text: &str, pattern: &str| {
        let arguments =
            ["mask", "--tokenizer", tokenizer(), "--json", "--regex-text", pattern, "--prefix-file", "-"];
        run_with(&arguments, text)
    };
    assert_eq!(masks("re\n", "red").json()["forced"], "d");
    assert_eq!(masks("re\n", "re\\nd").json()["forced"], "d");
    assert_eq!(masks("x\n", "red").code, 2);
}
