use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::program::{run, run_with, tokenizer};

/// A file with two tools.
fn tools() -> &'static str {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools.json");
        let tools = r#"[{"type": "function", "function": {"name": "on", "parameters": {"enum": [{}]}}},
                        {"type": "function", "function": {"name": "off", "parameters": {"enum": [{}]}}}]"#;
        std::fs::write(&file, tools).expect("the file can be written");
        file
    });
    file.to_str().expect("the path is UTF-8")
}

fn run_qwen(more: &[&str], input: &str) -> crate::program::Run {
    let arguments = [&["tools", "--model", "qwen_3", "--tools", tools()], more].concat();
    run_with(&arguments, input)
}

#[test]
fn the_structure_is_printed() {
    let run = run_qwen(&["--reasoning", "disabled"], "");
    assert_eq!(run.code, 0, "{}", run.err);
    let value = run.json();
    assert_eq!(value["format"]["type"], "triggered_tags");
    assert_eq!(value["format"]["tags"][1]["begin"], "<tool_call>\n{\"name\": \"off\", \"arguments\": ");
}

#[test]
fn the_example_can_be_called() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/tools/weather.json");
    let request = ["tools", "--model", "qwen_3", "--tools", example, "--tool-choice", "required"];
    let sample = run(&[&request[..], &["--sample", "--tokenizer", tokenizer()]].concat());
    assert_eq!(sample.code, 0, "{}", sample.err);
    assert!(sample.out.contains("<tool_call>\n{\"name\": \"get_"), "{}", sample.out);
    let right = "Hm.</think>\n\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</tool_call>";
    assert_eq!(run_with(&[&request[..], &["--check", "-"]].concat(), right).code, 0);
    let wrong = right.replace('3', "15");
    assert_eq!(run_with(&[&request[..], &["--check", "-"]].concat(), &wrong).code, 1);
}

#[test]
fn a_sample_obeys_the_structure() {
    let options = ["--tool-choice", "off", "--reasoning", "disabled"];
    let sample = run_qwen(&[&options[..], &["--sample", "--tokenizer", tokenizer()]].concat(), "");
    assert_eq!(sample.code, 0, "{}", sample.err);
    assert!(sample.out.starts_with("<tool_call>\n{\"name\": \"off\", \"arguments\": {"), "{}", sample.out);
    let checked = run_qwen(&[&options[..], &["--check", "-"]].concat(), &sample.out);
    assert_eq!(checked.code, 0, "{}", checked.out);
}

#[test]
fn a_wrong_answer_is_refused_where_it_goes_wrong() {
    let run = run_qwen(&["--check", "-", "--no-parallel"], "Hm.</think>\n\n<tool_call>\n{\"name\": \"up\"");
    assert_eq!(run.code, 1);
    assert!(run.out.starts_with("refused at line 4, column 11"), "{}", run.out);
}

#[test]
fn families_are_listed_and_unknown_ones_refused() {
    let list = run(&["tools", "--list"]);
    assert_eq!(list.code, 0);
    assert!(list.out.contains("harmony"), "{}", list.out);
    let unknown = run(&["tools", "--model", "quen_3", "--tools", tools()]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean `qwen_3`?"), "{}", unknown.err);
    let broken = run_with(&["tools", "--model", "qwen_3", "--tools", "-"], r#"[{"type": "function"}]"#);
    assert_eq!(broken.code, 2);
    assert!(broken.err.contains("a tool needs a name"), "{}", broken.err);
}

#[test]
fn arguments_in_any_order() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ordered.json");
    let parameters =
        r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}"#;
    let tool =
        format!(r#"[{{"type": "function", "function": {{"name": "f", "parameters": {parameters}}}}}]"#);
    std::fs::write(&file, tool).expect("the file can be written");
    let file = file.to_str().expect("the path is UTF-8");
    let request = ["tools", "--model", "qwen_3", "--tools", file, "--reasoning", "disabled"];
    let call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"b\": 1, \"a\": 2}}\n</tool_call>";
    for (order, code) in [("declared", 1), ("any", 0)] {
        let check = run_with(&[&request[..], &["--key-order", order, "--check", "-"]].concat(), call);
        assert_eq!(check.code, code, "{order}: {}", check.out);
        let printed = run(&[&request[..], &["--key-order", order]].concat()).out;
        assert_eq!(printed.contains("any_order"), code == 0, "{printed}");
    }
}

#[test]
fn a_request_has_a_bounded_number_of_tools() {
    let tools = |count: usize| {
        let tools: Vec<String> = (0..count).map(|index| format!(r#"{{"name":"f{index}"}}"#)).collect();
        format!("[{}]", tools.join(","))
    };
    let most = run_with(&["tools", "--model", "qwen_3", "--tools", "-"], &tools(10_000));
    assert_eq!(most.code, 0, "{}", most.err);
    let more = run_with(&["tools", "--model", "qwen_3", "--tools", "-"], &tools(10_001));
    assert_eq!(more.code, 3);
    assert!(more.err.contains("a request has at most 10000 tools"), "{}", more.err);
}

#[test]
fn faults_of_options_are_told_from_those_of_the_file() {
    let wrong = run(&["tools", "--model", "qwen_3", "--tools", tools(), "--tool-choice", "nope"]);
    assert!(wrong.code == 2 && wrong.err.contains("with the options of the command line"), "{}", wrong.err);
    let broken = ["tools", "--model", "qwen_3", "--tools", "-", "--tool-choice", "auto"];
    let broken = run_with(&broken, "[\n{\"type\": \"function\"}]");
    assert!(broken.code == 2 && broken.err.contains("standard input: at `/0/name`"), "{}", broken.err);
    let typo = run_with(&["tools", "--model", "qwen_3", "--tools", "-"], r#"{"tool": []}"#);
    assert!(typo.code == 2 && typo.err.contains("`standard input` has no `tools`"), "{}", typo.err);
    // A schema under another name is no function without one.
    let other = r#"[{"name": "f", "input_schema": {"type": "object"}}]"#;
    let other = run_with(&["tools", "--model", "qwen_3", "--tools", "-"], other);
    assert!(other.code == 2 && other.err.contains("`parameters`, not its `input_schema`"), "{}", other.err);
}
