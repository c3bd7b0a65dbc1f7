//! Sentences that make a reader stumble, in Markdown and in the comments of Rust sources.
//!
//! Two kinds are counted: those that begin with "What", "Who" or "Whoever" and are no questions, and those of
//! more than 30 words. The table beside this file has the counts that a file may have; a file without a line has
//! none. A count may only go down, and `cargo xtask tidy --lower` writes smaller ones into the table.
//!
//! A paragraph ends at an empty line, a heading, a table, a fenced block or the next item of a list; code, tables
//! and headings are left out. A line `name : type` of a list of parameters (numpydoc) is a heading. A sentence
//! ends at a full stop, a question mark or an exclamation mark, if the next word begins with a capital letter, a
//! digit or code. A word is a piece between spaces with a letter or a digit in it, and code between backticks is
//! one word.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::finding::Finding;
use super::sources::Sources;

/// Relative to the root: a line `beginnings long-sentences path` for each file that has any.
const TABLE: &str = "xtask/src/tidy/prose.txt";

const MAX_WORDS: usize = 30;
const BEGINNINGS: [&str; 3] = ["What", "Who", "Whoever"];
const ABBREVIATIONS: [&str; 6] = ["e.g.", "i.e.", "etc.", "cf.", "vs.", "No."];

/// Dated results are never edited.
const LEFT_OUT: &str = "record/";

/// Whether smaller counts are findings or are written into the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Smaller {
    Report,
    Write,
}

/// The lines of the sentences that are counted, by kind.
#[derive(Default)]
struct Counted {
    beginnings: Vec<usize>,
    long: Vec<usize>,
}

/// How many sentences of each kind a file may have: beginnings, then long ones.
type Ceilings = BTreeMap<String, (usize, usize)>;

pub(super) fn check(sources: &Sources, smaller: Smaller) -> Result<Vec<Finding>> {
    let path = sources.root.join(TABLE);
    let table = fs::read_to_string(&path).with_context(|| format!("cannot read {TABLE}"))?;
    let mut ceilings = parse(&table)?;
    let mut findings = Vec::new();
    let mut lowered = Ceilings::new();
    for path in &sources.files {
        let relative = sources.relative(path);
        if relative.starts_with(LEFT_OUT) || !(has_ending(path, "rs") || has_ending(path, "md")) {
            continue;
        }
        let counted = count(&fs::read_to_string(path)?, has_ending(path, "rs"));
        let ceiling = ceilings.remove(&relative).unwrap_or_default();
        findings.extend(above(&relative, &counted, ceiling));
        let now = (counted.beginnings.len().min(ceiling.0), counted.long.len().min(ceiling.1));
        if now != ceiling && smaller == Smaller::Report {
            findings.push(Finding::new(
                &relative,
                "has fewer stumbling sentences; run `cargo xtask tidy --lower`",
            ));
        }
        if now != (0, 0) {
            lowered.insert(relative, now);
        }
    }
    match smaller {
        Smaller::Write => fs::write(&path, format(&lowered)?)?,
        Smaller::Report => findings.extend(ceilings.keys().map(|file| {
            Finding::new(
                file,
                format!("has a line in {TABLE}, and does not exist; run `cargo xtask tidy --lower`"),
            )
        })),
    }
    Ok(findings)
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

fn parse(table: &str) -> Result<Ceilings> {
    let lines = table.lines().map(|line| {
        let mut fields = line.splitn(3, ' ');
        let mut next =
            || fields.next().with_context(|| format!("{TABLE}: `{line}` has fewer than three fields"));
        let counts = (next()?.parse()?, next()?.parse()?);
        Ok((next()?.to_owned(), counts))
    });
    lines.collect()
}

fn format(ceilings: &Ceilings) -> Result<String> {
    let mut table = String::new();
    for (file, (beginnings, long)) in ceilings {
        writeln!(table, "{beginnings} {long} {file}")?;
    }
    Ok(table)
}

fn above(file: &str, counted: &Counted, ceiling: (usize, usize)) -> Vec<Finding> {
    let kinds = [
        (
            &counted.beginnings,
            ceiling.0,
            "begins with \"What\", \"Who\" or \"Whoever\"; begin with a noun".to_owned(),
        ),
        (&counted.long, ceiling.1, format!("has more than {MAX_WORDS} words; make two of it")),
    ];
    let mut findings = Vec::new();
    for (lines, ceiling, advice) in kinds {
        if lines.len() > ceiling {
            findings.extend(lines.iter().map(|line| {
                Finding::new(
                    format!("{file}:{line}"),
                    format!("this sentence {advice} (the file may have {ceiling})"),
                )
            }));
        }
    }
    findings
}

fn count(text: &str, is_rust: bool) -> Counted {
    let mut counted = Counted::default();
    for paragraph in paragraphs(text, is_rust) {
        for sentence in sentences(&paragraph) {
            let [(line, first), .., (_, last)] = sentence else { continue };
            let is_question = last.trim_end_matches(is_closing).ends_with('?');
            let first = first.trim_matches(|c: char| !c.is_alphanumeric());
            if BEGINNINGS.contains(&first) && !is_question {
                counted.beginnings.push(*line);
            }
            if words(sentence) > MAX_WORDS {
                counted.long.push(*line);
            }
        }
    }
    counted
}

/// The pieces between spaces of each paragraph, each with the number of its line.
fn paragraphs(text: &str, is_rust: bool) -> Vec<Vec<(usize, &str)>> {
    let mut paragraphs = vec![Vec::new()];
    let mut marker = "";
    let mut is_fenced = false;
    for (number, line) in (1..).zip(text.lines()) {
        let mut line = line.trim();
        if is_rust {
            let (found, rest) = comment(line);
            if found != marker {
                paragraphs.push(Vec::new());
                is_fenced = false;
            }
            marker = found;
            line = rest.trim();
        }
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        is_fenced ^= is_fence;
        let is_left_out = is_fenced
            || is_fence
            || line.is_empty()
            || line.starts_with(['#', '|', '<'])
            || line.contains(" : ");
        let item = item(line);
        if is_left_out || item.is_some() {
            paragraphs.push(Vec::new());
        }
        if let Some(paragraph) = paragraphs.last_mut()
            && !is_left_out
        {
            paragraph.extend(item.unwrap_or(line).split_whitespace().map(|piece| (number, piece)));
        }
    }
    paragraphs
}

/// The marker of a comment that fills its line and the text after it. Code has neither.
fn comment(line: &str) -> (&str, &str) {
    let markers = ["//!", "///", "//"].into_iter();
    markers.filter_map(|marker| Some((marker, line.strip_prefix(marker)?))).next().unwrap_or(("", ""))
}

/// The text of an item of a list.
fn item(line: &str) -> Option<&str> {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if numbered.len() < line.len() {
        numbered.strip_prefix('.')
    } else {
        line.strip_prefix(['-', '*', '+'])
    };
    rest.and_then(|rest| rest.strip_prefix(' '))
}

/// The sentences of a paragraph, cut where one ends and the next begins.
fn sentences<'p, 't>(paragraph: &'p [(usize, &'t str)]) -> Vec<&'p [(usize, &'t str)]> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut is_code = false;
    for (at, (_, piece)) in paragraph.iter().enumerate() {
        is_code ^= piece.matches('`').count() % 2 == 1;
        let ends = !is_code && piece.trim_end_matches(is_closing).ends_with(['.', '!', '?']);
        let next = paragraph.get(at + 1).is_none_or(|(_, next)| begins_sentence(next));
        if ends && next && !ABBREVIATIONS.contains(piece) {
            sentences.push(&paragraph[start..=at]);
            start = at + 1;
        }
    }
    sentences.push(&paragraph[start..]);
    sentences
}

fn is_closing(c: char) -> bool {
    [')', '"', '\'', '*', '_', '”'].contains(&c)
}

fn begins_sentence(piece: &str) -> bool {
    let first = piece.chars().find(|c| !['*', '_', '(', '[', '"', '\'', '“'].contains(c));
    first.is_some_and(|c| c.is_uppercase() || c.is_ascii_digit() || c == '`')
}

fn words(sentence: &[(usize, &str)]) -> usize {
    let mut is_code = false;
    let mut words = 0;
    for (_, piece) in sentence {
        let was_code = is_code;
        is_code ^= piece.matches('`').count() % 2 == 1;
        words += usize::from(!was_code && piece.contains(char::is_alphanumeric));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, is_rust: bool) -> (Vec<usize>, Vec<usize>) {
        let counted = count(text, is_rust);
        (counted.beginnings, counted.long)
    }

    #[test]
    fn beginnings_are_counted() {
        assert_eq!(
            lines("What is left is read.\nIt is. Whoever\nreads it stumbles. **Who** does not?", false).0,
            [1, 2]
        );
        assert_eq!(lines("- What tools leave behind\n- `x`: what others leave", false).0, [1]);
        assert_eq!(
            lines("//! Reads.\n/// What it reads.\nfn f() {\n    // Who reads it.\n}", true).0,
            [2, 4]
        );
    }

    #[test]
    fn questions_headings_tables_and_code_do_not_count() {
        let text = "# What it does now\n\n| What | x |\n\nWhat does it do? Whatever it does.\n\n```text\nWhat it did.\n```\n";
        assert_eq!(lines(text, false), (vec![], vec![]));
        assert_eq!(lines("fn f() { let x = \"What a string.\"; }", true), (vec![], vec![]));
    }

    #[test]
    fn long_sentences_are_counted() {
        let thirty = vec!["word"; 30].join(" ");
        assert_eq!(lines(&format!("A {thirty}."), false).1, [1]);
        assert_eq!(lines(&format!("{thirty}."), false).1, Vec::<usize>::new());
        assert_eq!(lines(&format!("{thirty} -> `a b c`."), false).1, [1], "an arrow is no word, code is one");
        assert_eq!(lines(&format!("// A\n// {thirty}"), true).1, [1], "over two lines");
        assert_eq!(lines(&format!("A word.\n// {thirty}"), true).1, Vec::<usize>::new());
    }

    #[test]
    fn parameters_of_python_are_headings() {
        let fifteen = vec!["word"; 15].join(" ");
        let text = format!(
            "//! Parameters\n//! ----------\n//! a : int\n//!     {fifteen}\n//! b, c : str, optional\n//!     {fifteen}"
        );
        assert_eq!(lines(&text, true).1, Vec::<usize>::new());
        assert_eq!(lines(&text.replace(" : ", ": "), true).1, [1]);
    }

    #[test]
    fn sentences_end_at_marks_before_a_capital() {
        let fifteen = vec!["word"; 15].join(" ");
        let two = |mark: &str| lines(&format!("{fifteen}{mark} {fifteen} word."), false).1.len();
        assert_eq!((two(","), two(". `x`"), two(".) The"), two("? 1")), (1, 0, 0, 0));
        assert_eq!((two(", e.g. The"), two(" `x. Y`"), two(". one")), (1, 1, 1));
    }

    #[test]
    fn counts_may_only_go_down() {
        let counted = count("What a. What b.", false);
        assert_eq!(above("a.md", &counted, (2, 0)), []);
        assert_eq!(above("a.md", &counted, (1, 0)).len(), 2, "each place is named");
        let ceilings = parse("2 0 a.md\n0 13 b c.rs\n").unwrap();
        assert_eq!(ceilings["b c.rs"], (0, 13));
        assert_eq!(format(&ceilings).unwrap(), "2 0 a.md\n0 13 b c.rs\n");
        assert!(parse("2 a.md").is_err());
    }
}
