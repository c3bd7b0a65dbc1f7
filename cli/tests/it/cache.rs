use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Run, run};

/// An empty directory that is not there yet.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    path
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the directory is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn name(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}

fn check(cache: &Path, options: &[&str], text: &str) -> Run {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#;
    let arguments = ["check", "--schema-text", schema, "--text", text, "--cache", name(cache)];
    run(&[&arguments, options].concat())
}

#[test]
fn answers_do_not_depend_on_the_cache() {
    let cache = directory("cache-answers");
    for round in 0..2 {
        for backend in ["earley", "pda"] {
            let good = check(&cache, &["--backend", backend], r#"{"a": 1, "b": 2}"#);
            assert_eq!((good.code, good.err.as_str()), (0, ""), "round {round}, {good:?}");
            let bad = check(&cache, &["--backend", backend], r#"{"a": "1"}"#);
            assert_eq!(bad.code, 1, "round {round}, {bad:?}");
        }
        assert_eq!(files(&cache).len(), 1, "one structure over one vocabulary");
    }
    assert_eq!(
        check(&cache, &["--closed"], r#"{"a": 1, "b": 2}"#).code,
        1,
        "other options, another structure"
    );
    assert_eq!(files(&cache).len(), 2);
}

#[test]
fn a_damaged_file_is_said_and_written_anew() {
    let cache = directory("cache-damaged");
    check(&cache, &[], r#"{"a": 1}"#);
    let file = files(&cache).remove(0);
    let whole = fs::read(&file).expect("the file is there");
    for damaged in [&whole[..whole.len() - 1], b"", b"something else"] {
        fs::write(&file, damaged).expect("it can be written");
        let run = check(&cache, &[], r#"{"a": 1}"#);
        assert!(run.code == 0 && run.err.starts_with("warning: the cache was of no use: `"), "{run:?}");
        assert_eq!(fs::read(&file).expect("the file is there"), whole);
    }
    assert_eq!(check(&cache, &[], r#"{"a": 1}"#).err, "");
}

/// Warnings are no part of a file, so that what has some is not kept.
#[test]
fn warnings_are_said_each_time() {
    let cache = directory("cache-warnings");
    let schema = r#"{"$schema": "http://json-schema.org/draft-07/schema#", "unevaluatedItems": false}"#;
    let tag = format!(
        r#"{{"type": "structural_tag", "format": {{"type": "json_schema", "json_schema": {schema}}}}}"#
    );
    let lark = format!("start: %json {schema}\n");
    for (option, structure) in [("--schema-text", schema), ("--tag-text", &tag), ("--lark-text", &lark)] {
        for _ in 0..2 {
            let run = run(&["check", option, structure, "--text", "{}", "--cache", name(&cache)]);
            assert!(
                run.code == 0 && run.err.starts_with("warning: ") && run.err.contains("`unevaluatedItems`"),
                "{run:?}"
            );
        }
    }
    assert!(files(&cache).is_empty());
}

#[test]
fn what_is_refused_is_not_kept() {
    let cache = directory("cache-refused");
    let run = run(&["check", "--regex-text", "(", "--text", "", "--cache", name(&cache)]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("Error") && files(&cache).is_empty(), "{run:?}");
}

#[test]
fn a_file_is_no_directory() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache-file");
    fs::write(&file, "").expect("it can be written");
    let run = check(&file, &[], "{}");
    assert!(run.code == 2 && run.err.contains("as a cache"), "{run:?}");
}
