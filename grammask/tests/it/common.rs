//! Helpers that the suites share.

use std::sync::LazyLock;

use grammask::{Compiler, TokenId, Vocabulary, VocabularyOptions};

/// Words and fragments as a byte-pair encoding finds them.
const WORDS: [&str; 60] = [
    "the",
    "and",
    "ing",
    "tion",
    "er",
    "ed",
    "name",
    "type",
    "value",
    "true",
    "false",
    "null",
    "id",
    "key",
    "list",
    "item",
    "data",
    "user",
    "date",
    "time",
    "number",
    "string",
    "object",
    "array",
    "red",
    "green",
    "blue",
    "alpha",
    "beta",
    "x",
    "y",
    "a",
    "b",
    "c",
    "aa",
    "ab",
    "ba",
    "bb",
    "aaaa",
    "\u{e9}",
    "\u{df}",
    "\u{4e2d}",
    "\u{6587}",
    "\u{1f600}",
    "\u{430}\u{431}",
    "0",
    "1",
    "12",
    "123",
    "2024",
    "-",
    "+",
    "*",
    "/",
    ".",
    "e",
    "E",
    "u00",
    "\\n",
    "\\\"",
];

/// Marks before or after words in JSON and in code.
const MARKS: [&str; 30] = [
    " ", "  ", "\n", "\n  ", "\t", "\"", "\":", "\": ", "\": \"", "\", \"", "\",", ", \"", ",", ", ", "{",
    "{\"", "}", "\"}", "}}", "[", "[\"", "]", "\"]", "]}", ":", ": ", "(", ")", "(\"", ");",
];

/// A vocabulary of about 2,000 tokens, always the same: all bytes, words, words after a blank or a mark,
/// digits, runs, parts of characters. It also has two tokens of equal bytes, special tokens and holes.
pub(crate) fn vocabulary() -> Vocabulary {
    let mut tokens: Vec<Option<Vec<u8>>> = (0..=255_u8).map(|byte| Some(vec![byte])).collect();
    let mut push = |token: Vec<u8>| tokens.push(Some(token));
    for word in WORDS {
        push(word.as_bytes().to_vec());
        for mark in MARKS.iter().step_by(2) {
            push(format!("{mark}{word}").into_bytes());
            push(format!("{word}{mark}").into_bytes());
        }
    }
    for mark in MARKS {
        push(mark.as_bytes().to_vec());
    }
    for number in 0..100 {
        push(format!("{number:02}").into_bytes());
    }
    for length in [2, 3, 4, 8, 16, 32, 64, 100] {
        push(" ".repeat(length).into_bytes());
        push("a".repeat(length).into_bytes());
        push("\u{4e2d}".repeat(length).into_bytes());
    }
    // Cut characters, and a byte sequence that is no text at all.
    push(b"\xe4\xb8".to_vec());
    push(b"\xad\xe6\x96\x87".to_vec());
    push(b"a\xf0\x9f".to_vec());
    push(b"\xff\xfe".to_vec());
    tokens.push(None);
    tokens.push(Some(b"<|special|>".to_vec()));
    tokens.push(Some(b"<|end|>".to_vec()));
    tokens.push(Some(Vec::new()));
    let last = u32::try_from(tokens.len()).unwrap();
    let options =
        VocabularyOptions::default().special_ids([last - 3]).stop_ids([last - 2]).size(tokens.len() + 37);
    Vocabulary::from_tokens(tokens, &options).unwrap()
}

/// A compiler with the default limits for [`vocabulary`], shared by all tests of the binary.
pub(crate) fn compiler() -> &'static Compiler {
    static COMPILER: LazyLock<Compiler> = LazyLock::new(|| Compiler::new(vocabulary()));
    &COMPILER
}

/// Every id of a vocabulary.
pub(crate) fn ids(vocabulary: &Vocabulary) -> impl Iterator<Item = TokenId> + '_ {
    (0..u32::try_from(vocabulary.len()).unwrap()).filter_map(|number| vocabulary.id(number))
}
