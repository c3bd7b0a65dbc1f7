use crate::program::{run, run_with};

const LIST: &str = r#"{"type": "array", "items": {"enum": ["red", "green"]}}"#;

#[test]
fn a_good_text_ends_with_0() {
    let run = run_with(&["check", "--schema", LIST], "[\"red\", \"green\"]\n");
    assert_eq!((run.code, run.out.as_str()), (0, "ok: the text obeys the structure (16 bytes)\n"));
}

#[test]
fn a_refused_text_ends_with_1_and_shows_the_place() {
    let run = run_with(&["check", "--schema", LIST], "[\n  \"red\",\n  \"grün\"\n]");
    assert_eq!(run.code, 1);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0], r#"refused at line 3, column 6 (byte 16): "ü" is not allowed here"#);
    assert_eq!(lines[1], r#"3 |   "grün""#);
    assert_eq!(lines[2], "  |      ^");
    assert_eq!(lines[3], r#"only this may follow: "een\"""#);
}

#[test]
fn a_text_that_is_cut_short_is_refused_at_its_end() {
    let run = run(&["check", "--regex-text", "a+b", "--text", "aa"]);
    assert_eq!(run.code, 1);
    assert!(
        run.out.starts_with("refused at line 1, column 3 (byte 2): the text ends too early\n"),
        "{}",
        run.out
    );
    assert!(run.out.ends_with("possible here: 'a', 'b'\n"), "{}", run.out);
}

#[test]
fn nothing_may_follow_a_finished_text() {
    let run = run(&["check", "--regex-text", "ab?", "--text", "abc", "--json"]);
    assert_eq!(run.code, 1);
    let value = run.json();
    assert_eq!(value["ok"], false);
    assert_eq!(value["byte"].to_string(), "2");
    assert_eq!(value["expected"], serde_json::json!(["the end of the text"]));
}

#[test]
fn the_newline_at_the_end_can_count() {
    let arguments = ["check", "--regex-text", "a"];
    assert_eq!(run_with(&arguments, "a\n").code, 0);
    assert_eq!(run_with(&[arguments.as_slice(), &["--keep-newline"]].concat(), "a\n").code, 1);
}

#[test]
fn json_says_ok() {
    let run = run(&["check", "--ebnf-text", r#"root ::= "x" root | "x""#, "--text", "xxx", "--json"]);
    assert_eq!((run.code, run.out.as_str()), (0, "{\"ok\":true}\n"));
}

#[test]
fn captures_are_shown() {
    let grammar = "root ::= name \"=\" [0-9]+\nname[capture=\"key\"] ::= [a-z]+";
    let run = run(&["check", "--ebnf-text", grammar, "--text", "ab=12"]);
    assert_eq!(
        (run.code, run.out.as_str()),
        (0, "ok: the text obeys the structure (5 bytes)\nkey at byte 0: \"ab\"\n")
    );
    let run = crate::program::run(&["check", "--ebnf-text", grammar, "--text", "ab=12", "--json"]);
    let captures = serde_json::json!([{ "name": "key", "text": "ab", "start": 0, "end": 2 }]);
    assert_eq!(run.json()["captures"], captures);
    let run = crate::program::run(&["generate", "--ebnf-text", grammar, "--seed", "3", "--json"]);
    let value = run.json();
    let text = value["text"].as_str().unwrap();
    assert_eq!(value["captures"][0]["text"].as_str(), text.split('=').next());
}

#[test]
fn mistakes_end_with_2() {
    for arguments in [
        &["check", "--schema", "no-such-file.json", "--text", "1"][..],
        &["check", "--schema", r#"{"type": "no such type"}"#, "--text", "1"],
        &["check", "--ebnf-text", "root ::= (", "--text", "1"],
        &["check", "--regex-text", "(", "--text", "1"],
        &["check", "--text", "1"],
        &["check", "--regex-text", "a", "--schema", "{}", "--text", "1"],
        &["no-such-command"],
    ] {
        let run = run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {run:?}");
        assert!(run.err.to_lowercase().contains("error"), "{arguments:?}: {run:?}");
        assert_eq!(run.out, "", "{arguments:?}");
    }
}

#[test]
fn limits_end_with_3() {
    for arguments in [
        &["check", "--schema-text", r#"{"not": {"pattern": "a.{20}b"}}"#, "--text", "1"][..],
        &["check", "--ebnf-text", "root ::= ~((\"a\" | \"b\")* \"a\" (\"a\" | \"b\"){20})", "--text", "1"],
    ] {
        let run = run(&[arguments, &["--json"]].concat());
        assert_eq!(run.code, 3, "{arguments:?}: {run:?}");
        assert!(run.json()["error"].as_str().is_some_and(|error| error.contains("limit")), "{run:?}");
    }
}

#[test]
fn wrong_arguments_are_told_as_json_too() {
    let run = run(&["check", "--json", "--no-such-option"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.json()["error"].as_str().is_some_and(|error| error.contains("--no-such-option")), "{run:?}");
    assert!(run.err.contains("--no-such-option"), "{run:?}");
}

#[test]
fn the_help_of_every_command_has_the_exit_statuses() {
    for command in ["generate", "check", "mask", "convert", "viz", "tools", "report", "vocab"] {
        let run = run(&[command, "--help"]);
        assert!(run.code == 0 && run.out.contains("Exit status:"), "{command}: {run:?}");
    }
}

#[test]
fn a_drawing_goes_to_standard_output_if_asked() {
    let run = run(&["viz", "--regex-text", "ab", "-o", "-"]);
    assert!(run.code == 0 && run.out.starts_with("<svg"), "{run:?}");
}

#[test]
fn a_missing_file_names_the_way_out() {
    let run = run(&["check", "--schema", "no-such-file.json", "--text", "1"]);
    assert!(run.err.contains("`no-such-file.json`") && run.err.contains("--schema-text"), "{}", run.err);
}

#[test]
fn colours_are_for_terminals() {
    let arguments = ["check", "--regex-text", "a", "--text", "a"];
    assert!(!run(&arguments).out.contains('\x1b'));
    assert!(run(&[arguments.as_slice(), &["--color", "always"]].concat()).out.contains('\x1b'));
}

#[test]
fn the_other_backend_says_the_same() {
    let text = "[\n  \"red\",\n  \"grün\"\n]";
    let earley = run_with(&["check", "--schema", LIST], text);
    let stacks = run_with(&["check", "--schema", LIST, "--backend", "pda"], text);
    assert_eq!((stacks.code, stacks.out), (earley.code, earley.out));
}

#[test]
fn a_grammar_that_the_backend_declines_is_an_error() {
    let grammar = r#"root ::= root "+1" | "1""#;
    let stacks = run_with(&["check", "--ebnf-text", grammar, "--backend", "pda"], "1+1");
    assert!(stacks.code > 1 && stacks.err.contains("`root` begins with itself"), "{}", stacks.err);
    assert_eq!(run_with(&["check", "--ebnf-text", grammar], "1+1").code, 0);
}

const TAG: &str = r#"{"type": "structural_tag", "format": {"type": "tag", "begin": "<f>", "end": "</f>",
    "content": {"type": "json_schema", "json_schema": {"properties": {"a": {"type": "integer"}}, "type": "object"}}}}"#;

/// The rule that has to change is shown, also where the automata find the mistake.
#[test]
fn an_empty_grammar_shows_its_place() {
    let lark = "start: a b\na: \"x\"\nb: /x[a-c]/ & /y+/";
    let ebnf = "root ::= a b\na ::= \"x\" a\nb ::= \"x\"";
    for (option, source, rule, line) in [("--lark-text", lark, "b", 3), ("--ebnf-text", ebnf, "a", 2)] {
        let run = run(&["check", option, source, "--text", "x"]);
        assert_eq!(run.code, 2);
        let message = format!("[grammar/empty] Error: rule `{rule}`: no text matches it");
        assert!(run.err.contains(&message), "{}", run.err);
        assert!(run.err.contains(&format!("{option}:{line}:1")), "{}", run.err);
    }
}

#[test]
fn structural_tags_are_structures() {
    for (text, code) in
        [("<f>{\"a\": 1}</f>", 0), ("<f>{\"a\": true}</f>", 1), ("<f>{\"b\": 1}</f>", 1), ("{}", 1)]
    {
        let run = run(&["check", "--tag-text", TAG, "--text", text]);
        assert_eq!(run.code, code, "{text}: {run:?}");
    }
    let spelled = "<f>{\"a\":1}</f>";
    assert_eq!(run(&["check", "--tag-text", TAG, "--compact", "--text", spelled]).code, 0);
    assert_eq!(run(&["check", "--tag-text", TAG, "--compact", "--text", "<f>{\"a\": 1}</f>"]).code, 1);
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("tag.json");
    std::fs::write(&file, TAG).expect("the file can be written");
    let file = file.to_str().expect("the path is UTF-8");
    let written =
        run(&["generate", "--tag", file, "--seed", "5", "--tokenizer", crate::program::tokenizer()]);
    assert_eq!(written.code, 0, "{}", written.err);
    assert_eq!(run_with(&["check", "--tag", file], &written.out).code, 0, "{}", written.out);
    let wrong = run(&[
        "check",
        "--tag-text",
        r#"{"type": "structural_tag", "format": {"type": "nothing"}}"#,
        "--text",
        "",
    ]);
    assert!(wrong.code == 2 && wrong.err.contains("/format"), "{wrong:?}");
}

#[test]
fn values_may_begin_with_a_dash() {
    assert_eq!(run(&["check", "--schema-text", r#"{"type":"integer"}"#, "--text", "-5"]).code, 0);
    assert_eq!(run(&["check", "--regex-text", "-?[0-9]", "--text", "5"]).code, 0);
}

#[test]
fn standard_input_is_read_once() {
    let run = crate::program::run_with(&["check", "--regex", "-"], "a");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("standard input can be read once"), "{}", run.err);
}

#[test]
fn line_breaks_at_the_end_are_optional() {
    let check = |grammar: &str, text: &str, options: &[&str]| {
        crate::program::run_with(&[&["check", "--ebnf-text", grammar], options].concat(), text).code
    };
    for text in ["ab", "ab\n", "ab\r\n"] {
        assert_eq!(check("root ::= [a-z]{2}", text, &[]), 0, "{text:?}");
    }
    assert_eq!(check("root ::= [a-z]{2}", "ab\n", &["--keep-newline"]), 1);
    assert_eq!(check(r#"root ::= [a-z]{2} "\n""#, "ab\n", &[]), 0);
    assert_eq!(check(r#"root ::= [a-z]{2} "\n"?"#, "ab\n\n", &[]), 0);
    assert_eq!(check(r#"root ::= [a-z]{2} "\n""#, "ab", &[]), 1);
}

/// A token stands for other bytes in each vocabulary.
#[test]
fn tokens_need_a_vocabulary() {
    let dispatch = r#"root ::= TokenTagDispatch((5, "a"))"#;
    for (option, source) in [
        ("--ebnf-text", "root ::= Token(5)"),
        ("--ebnf-text", "root ::= Token(50000)"),
        ("--ebnf-text", r#"root ::= "a" ("b" | ExcludeToken(5))"#),
        ("--ebnf-text", dispatch),
        ("--lark-text", "start: <[5]>"),
        ("--lark-text", "start: \"a\" <|tool|>"),
        ("--tag-text", r#"{"type":"structural_tag","format":{"type":"token","token":5}}"#),
    ] {
        let run = run(&["check", option, source, "--text", "a"]);
        assert_eq!(run.code, 2, "{source}: {}", run.out);
        assert!(run.err.contains("names tokens"), "{source}: {}", run.err);
    }
    let text = r#"{"type":"structural_tag","format":{"type":"const_string","value":"<|im_end|>"}}"#;
    assert_eq!(run(&["check", "--tag-text", text, "--text", "<|im_end|>"]).code, 0);
}

/// Programs read it, control characters included.
#[test]
fn data_is_written_as_it_is() {
    let generated = run(&["generate", "--json", "--regex-text", r"a\x7fb"]);
    assert_eq!(generated.json()["text"], "a\u{7f}b");
    assert_eq!(run(&["convert", "--regex-text", r"a\x7fb", "--json"]).code, 0);
    let refused = run(&["check", "--json", "--regex-text", r"a\x7fb", "--text", "a"]);
    assert_eq!(refused.json()["forced"], "\u{7f}b");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    for arguments in [
        ["check", "--regex-text", "a", "--text", "a"].as_slice(),
        &["check", "--regex-text", "a", "--text", "b", "--json"],
        &["convert", "--regex-text", "a"],
        &["viz", "--regex-text", "a"],
        &["generate", "--regex-text", "a", "--json"],
    ] {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_grammask"));
        let status = program.args(arguments).stdout(full()).stderr(full()).status();
        assert_eq!(status.ok().and_then(|status| status.code()), Some(2), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn files_without_an_end_are_refused() {
    let endless = "`/dev/zero`: it has more than 128 MiB";
    for arguments in
        [["check", "--regex-text", "a", "/dev/zero"], ["check", "--ebnf", "/dev/zero", "--text=a"]]
    {
        let run = run(&arguments);
        assert_eq!(run.code, 2);
        assert!(run.err.contains(endless), "{}", run.err);
    }
}

#[test]
fn line_breaks_at_the_end_are_left_out_where_that_helps() {
    let check = |pattern: &str, text: &str| run_with(&["check", "--regex-text", pattern], text);
    assert_eq!(check("a\\n?", "a\n\n").code, 0);
    // A text that is cut short after a line break keeps it.
    for (pattern, text, place) in
        [("a\\nb", "a\n", "line 2, column 1 (byte 2)"), ("\\n*b", "\n\n", "line 3, column 1 (byte 2)")]
    {
        let refused = check(pattern, text);
        assert!(
            refused.out.starts_with(&format!("refused at {place}: the text ends too early")),
            "{}",
            refused.out
        );
        assert!(refused.out.contains('b'), "{}", refused.out);
    }
    let refused = check("ab", "a\n");
    assert!(
        refused.out.starts_with("refused at line 1, column 2 (byte 1): the text ends too early"),
        "{}",
        refused.out
    );
}

#[test]
fn a_character_is_refused_as_a_whole() {
    let refused = run(&["check", "--regex-text", "é", "--text", "è"]);
    assert!(refused.out.starts_with("refused at line 1, column 1 (byte 0): \"è\" is not"), "{}", refused.out);
    assert!(refused.out.ends_with("only this may follow: \"é\"\n"), "{}", refused.out);
}

#[test]
fn order_and_spelling_are_hinted_at() {
    let schema = r#"{"properties": {"a": {}, "b": {}}}"#;
    let check = |options: &[&str]| {
        run(&[&["check", "--schema", schema, "--text", r#"{"b":1,"a":2}"#], options].concat())
    };
    let refused = check(&[]);
    assert!(refused.code == 1 && refused.err.contains("--key-order any"), "{refused:?}");
    assert_eq!(check(&["--key-order", "any"]).code, 0);
    let other = run(&["check", "--schema", schema, "--text", "{", "--key-order", "any", "--spelling", "any"]);
    assert!(other.code == 1 && other.err.is_empty(), "{other:?}");
}
