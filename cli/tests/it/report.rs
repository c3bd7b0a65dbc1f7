use crate::program::run;

const REFUSED: &str =
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-z]{3}$"}, "uniqueItems": true}"#;

#[test]
fn every_keyword_is_reported() {
    let report = run(&["report", "--schema-text", r#"{"type": "string", "title": "t"}"#]);
    assert_eq!(report.code, 0, "{}", report.err);
    let lines: Vec<Vec<&str>> =
        report.out.lines().map(|line| line.split_whitespace().take(3).collect()).collect();
    assert!(lines.contains(&vec!["/type", "type", "enforced"]), "{}", report.out);
    assert!(lines.contains(&vec!["/title", "title", "annotation"]), "{}", report.out);
}

#[test]
fn a_refused_keyword_is_told_with_its_reason() {
    let report = run(&["report", "--schema-text", REFUSED, "--json"]);
    assert_eq!(report.code, 1, "{}", report.err);
    let value = report.json();
    let entries = value.as_array().expect("a list of keywords");
    let refused: Vec<_> = entries.iter().filter(|entry| entry["treatment"] == "refused").collect();
    assert_eq!(refused.len(), 1, "{value}");
    assert_eq!(refused[0]["pointer"], "/uniqueItems");
    assert!(refused[0]["note"].is_string(), "{value}");
}

#[test]
fn only_schemas_have_keywords() {
    assert_eq!(run(&["report", "--regex-text", "a"]).code, 2);
    assert_eq!(run(&["report", "--schema-text", r#"{"type": "nothing"}"#]).code, 2);
}

#[test]
fn names_of_a_schema_are_no_orders_to_the_terminal() {
    let schema = r#"{"properties": {"\u001b[66mX\u0007\n": {"format": "idn-email"}}}"#;
    let report = run(&["--color", "always", "report", "--schema-text", schema]);
    assert!(!report.out.contains("[66mX\u{7}") && !report.out.contains("\u{1b}[66m"), "{:?}", report.out);
    assert!(report.out.contains(r"\u{1b}[66mX\u{7}\n"), "{}", report.out);
    let missing = run(&["--color", "always", "convert", "--schema", "no\u{1b}[66mfile"]);
    assert!(
        missing.err.contains(r"no\u{1b}[66mfile") && !missing.err.contains("\u{1b}[66m"),
        "{:?}",
        missing.err
    );
    let unknown = run(&["--color", "always", "con\u{1b}[66mvert"]);
    assert!(!unknown.err.contains("\u{1b}[66m"), "{:?}", unknown.err);
}
