use crate::program::{run, tokenizer};

#[test]
fn only_the_text_is_on_standard_output() {
    let run = run(&["generate", "--regex-text", "red|green", "--tokenizer", tokenizer()]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(["red\n", "green\n"].contains(&run.out.as_str()), "{run:?}");
}

#[test]
fn the_embedded_vocabulary_needs_no_file() {
    let run = run(&["generate", "--regex-text", "[0-9]{4}-[0-9]{2}"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.out.len(), 8, "{run:?}");
}

#[test]
fn the_seed_decides() {
    let text = |seed| {
        let run = run(&["generate", "--regex-text", "[a-z]{20}", "--tokenizer", tokenizer(), "--seed", seed]);
        assert_eq!(run.code, 0, "{run:?}");
        run.out
    };
    assert_eq!(text("7"), text("7"));
    assert_ne!(text("7"), text("8"));
    assert_eq!(text("7").len(), 21);
}

#[test]
fn every_text_ends() {
    // Left to itself the text would have a million letters, behind which three closing brackets are owed.
    let arguments =
        ["generate", "--regex-text", r"\(\(\([a-z]{1000,1000000}\)\)\)", "--tokenizer", tokenizer()];
    let run = run(&[arguments.as_slice(), &["--max-tokens", "10", "--json"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    let value = run.json();
    assert_eq!(value["ending"], "steered");
    let text = value["text"].as_str().unwrap();
    assert!(text.starts_with("(((") && text.ends_with(")))"), "{text}");
    assert_eq!(text.len(), 1_006, "the shortest ending");
}

#[test]
fn required_members_are_written_after_the_last_token() {
    let schema = r#"{"type": "object", "properties": {"first": {}, "second": {"type": "object", "properties":
        {"third": {"type": "string", "minLength": 3}}, "required": ["third"]}}, "required": ["first", "second"]}"#;
    let arguments = ["generate", "--schema", schema, "--tokenizer", tokenizer(), "--max-tokens", "1"];
    let run = run(&arguments);
    assert_eq!(run.code, 0, "{run:?}");
    let value = run.json();
    assert!(value["second"]["third"].as_str().unwrap().len() >= 3, "{value}");
}

#[test]
fn many_texts_take_seeds_that_count_up() {
    let arguments = ["generate", "--regex-text", "[a-z]{12}", "--tokenizer", tokenizer()];
    let many = run(&[arguments.as_slice(), &["--seed", "4", "--count", "3"]].concat());
    let one = run(&[arguments.as_slice(), &["--seed", "6"]].concat());
    assert_eq!(many.out.lines().count(), 3);
    assert_eq!(many.out.lines().last(), one.out.lines().last());
}

#[test]
fn the_trace_is_a_table_on_standard_error() {
    let run = run(&["generate", "--regex-text", "(red|green) true", "--tokenizer", tokenizer(), "--trace"]);
    let head = run.err.lines().next().unwrap();
    for column in ["step", "token", "allowed", "us", "forced text"] {
        assert!(head.contains(column), "{head}");
    }
    assert!(run.err.contains("\"true\"") && !run.out.contains("step"), "{run:?}");
}

#[test]
fn tokens_that_spell_no_text_are_written_by_their_names() {
    let tag = r#"{"type":"structural_tag","format":{"type":"token","token":"<|call|>"}}"#;
    for (kind, source, text) in [
        ("--tag-text", tag, "<|call|>\n"),
        ("--lark-text", r#"start: <|start|> "hi""#, "<|start|>hi\n"),
        ("--ebnf-text", r#"root ::= "a" Token("<|start|>") "hi""#, "a<|start|>hi\n"),
    ] {
        let run = run(&["generate", kind, source]);
        assert_eq!((run.code, run.out.as_str()), (0, text), "{run:?}");
    }
    let run = run(&["generate", "--ebnf-text", r#"root ::= "a" Token("<|start|>")"#, "--max-tokens", "1"]);
    assert!(run.code == 2 && run.err.contains("raise `--max-tokens`"), "{run:?}");
}

#[test]
fn json_tells_every_step() {
    let run = run(&["generate", "--regex-text", "(red|green) true", "--tokenizer", tokenizer(), "--json"]);
    let value = run.json();
    let spelled: String =
        value["steps"].as_array().unwrap().iter().map(|step| step["token"].as_str().unwrap()).collect();
    assert_eq!(value["text"], spelled);
    assert_eq!(value["ending"], "chosen");
}
