//! Rules for the text of files.

use std::fs;

use super::finding::Finding;
use super::sources::Sources;

/// More lines than this, and a file holds more than one thing.
const MAX_LINES: usize = 800;

/// Files that may be longer, and why.
const LONG_FILES: [(&str, &str); 0] = [];

/// Files that tools leave behind.
const LEFTOVERS: [&str; 6] = [".snap.new", ".pending-snap", ".orig", ".rej", ".bk", ".swp"];

/// Written in two halves, so that this file obeys its own rules.
const MARKERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const UNFINISHED: [&str; 4] =
    [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[ign", "ore"), concat!("dbg", "!(")];
const MACHINE_PATHS: [&str; 4] =
    [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in &sources.files {
        let relative = sources.relative(path);
        if LEFTOVERS.iter().any(|ending| relative.ends_with(ending)) {
            findings.push(Finding::new(relative, "a leftover of a tool; look at it, then delete it"));
            continue;
        }
        if !is_prose_or_code(&relative) {
            continue;
        }
        let Ok(text) = fs::read_to_string(path) else {
            findings.push(Finding::new(relative, "is not UTF-8"));
            continue;
        };
        findings.extend(check_text(&relative, &text));
    }
    for (file, _) in LONG_FILES {
        if !sources.files.iter().any(|path| sources.relative(path) == file) {
            findings.push(Finding::new(file, "is excepted from the limit on lines, and does not exist"));
        }
    }
    findings
}

/// Data (schemas, corpus cases, lock files) may hold any text.
fn is_prose_or_code(relative: &str) -> bool {
    let endings = [".rs", ".toml", ".md", ".sh", ".py", ".ts", ".js", ".mjs", ".c", ".h", ".yml"];
    endings.iter().any(|ending| relative.ends_with(ending)) || relative.starts_with(".ci/")
}

fn check_text(relative: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_rust = relative.ends_with(".rs");
    if is_rust {
        let lines = text.lines().count();
        let excepted = LONG_FILES.iter().any(|(file, _)| *file == relative);
        if lines > MAX_LINES && !excepted {
            findings.push(Finding::new(relative, format!("has {lines} lines; split it (limit {MAX_LINES})")));
        }
        if lines <= MAX_LINES && excepted {
            findings.push(Finding::new(relative, "no longer needs its exception from the limit on lines"));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        findings.push(Finding::new(relative, "does not end with a line feed"));
    }
    for (number, line) in text.lines().enumerate() {
        if let Some(message) = check_line(line, is_rust) {
            findings.push(Finding::new(format!("{relative}:{}", number + 1), message));
        }
    }
    if is_rust {
        let names = text.lines().zip(text.lines().skip(1)).zip(2..);
        for ((_, _), number) in names.filter(|((before, line), _)| is_badly_named_test(before, line)) {
            let message = "name a test after what it shows, without `test_`";
            findings.push(Finding::new(format!("{relative}:{number}"), message));
        }
    }
    findings
}

fn is_badly_named_test(before: &str, line: &str) -> bool {
    before.trim() == "#[test]" && line.trim_start().starts_with("fn test_")
}

fn check_line(line: &str, is_rust: bool) -> Option<String> {
    if let Some(marker) = MARKERS.iter().find(|marker| contains_word(line, marker)) {
        return Some(format!("{marker}: finish it, or say in words what is absent and why"));
    }
    if is_rust && let Some(found) = UNFINISHED.iter().find(|pattern| line.contains(**pattern)) {
        return Some(format!("`{found}`: finish it or take it out"));
    }
    if MACHINE_PATHS.iter().any(|path| names_path(line, path)) {
        return Some("names a folder of one machine".to_owned());
    }
    // In Rust the formatter sees to it, and what it leaves is inside a literal.
    (!is_rust && line.ends_with([' ', '\t'])).then(|| "ends with a space or a tab".to_owned())
}

/// Whether the word occurs with neither a letter nor a digit beside it.
fn contains_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        ![before, after].iter().flatten().any(|c| c.is_alphanumeric() || *c == '_')
    })
}

/// Whether an absolute path begins so; the same letters inside a URL or a relative path are something else.
fn names_path(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !['.', '-', '_', '/', '}', '*'].contains(&c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_words() {
        assert!(contains_word(concat!("// TO", "DO: x"), concat!("TO", "DO")));
        assert!(!contains_word(r"`\uXXXX`", concat!("XX", "X")));
    }

    #[test]
    fn paths_are_absolute() {
        assert!(names_path(concat!("\"/ro", "ot/x\""), concat!("/ro", "ot/")));
        assert!(!names_path(concat!("https://a.example/ho", "me/x"), concat!("/ho", "me/")));
    }

    #[test]
    fn lines_are_counted_and_trimmed() {
        assert_eq!(check_text("a.rs", "fn main() {}\n"), []);
        let long = "x();\n".repeat(MAX_LINES + 1);
        assert_eq!(check_text("a.rs", &long).len(), 1);
        assert_eq!(check_text("a.md", "word \nend").len(), 2);
    }
}
