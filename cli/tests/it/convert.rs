use std::path::Path;

use crate::program::{run, run_with};

#[test]
fn what_is_printed_describes_the_same_texts() {
    let schema =
        r#"{"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}, "required": ["a"]}"#;
    let ebnf = run(&["convert", "--schema", schema]);
    assert_eq!(ebnf.code, 0, "{ebnf:?}");
    assert!(ebnf.out.contains("root ::="), "{}", ebnf.out);
    for (text, code) in [(r#"{"a": 3}"#, 0), (r#"{"a": 2}"#, 1), (r#"{"a": 12, "b": []}"#, 0), ("{}", 1)] {
        let original = run(&["check", "--schema", schema, "--text", text]);
        let printed = run(&["check", "--ebnf-text", &ebnf.out, "--text", text]);
        assert_eq!((original.code, printed.code), (code, code), "{text}: {printed:?}");
    }
}

#[test]
fn regular_expressions_become_rules() {
    let run = run(&["convert", "--regex-text", "a(b|c)*", "--json"]);
    let value = run.json();
    assert!(value["ebnf"].as_str().unwrap().contains("::="));
    assert!(value["rules"].as_array().unwrap().iter().any(|name| name == "root"));
}

#[test]
fn grammars_are_read_from_standard_input() {
    let run = run_with(&["convert", "--gbnf", "-"], "root ::= \"a\" | [0-9]+\n");
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn automata_are_drawn() {
    let dot = run(&["viz", "--regex-text", "(a|bc)*", "--format", "dot"]);
    assert_eq!(dot.code, 0, "{dot:?}");
    assert!(dot.out.starts_with("digraph"), "{}", dot.out);
    let svg = run(&["viz", "--regex-text", "(a|bc)*"]);
    assert!(svg.out.contains("<svg") && svg.out.trim_end().ends_with("</svg>"), "{}", svg.out);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("automaton.gv");
    let written = run(&["viz", "--regex-text", "a", "-o", file.to_str().unwrap()]);
    assert_eq!((written.code, written.out.as_str()), (0, ""), "{written:?}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("digraph"));
}

#[test]
fn an_unknown_rule_is_named() {
    let run = run(&["viz", "--regex-text", "a", "--rule", "nowhere"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("nowhere"), "{}", run.err);
}
