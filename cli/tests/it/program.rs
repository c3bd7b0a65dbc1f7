//! Running the program, and a vocabulary small enough to look at.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The result of a run of the program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// Standard output as one JSON value.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).expect("standard output is one JSON value")
    }
}

/// Runs the program without input.
pub(crate) fn run(arguments: &[&str]) -> Run {
    run_with(arguments, "")
}

/// Runs the program with a text on standard input.
pub(crate) fn run_with(arguments: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_grammask"))
        .args(arguments)
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    // A program that ends before it has read everything is no mistake of the test.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
    Run {
        code: output.status.code().expect("the program exits"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// A byte-level tokenizer: every byte, a few words, and `</s>`, which ends the text.
pub(crate) fn tokenizer() -> &'static str {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tiny-tokenizer.json");
        std::fs::write(&file, tokenizer_json()).expect("the file can be written");
        file
    });
    file.to_str().expect("the path is UTF-8")
}

/// The id of `</s>`: 256 bytes and the words come before it.
pub(crate) const STOP: u32 = 256 + WORDS.len() as u32;

const WORDS: [&str; 8] = ["name", "age", "\":", "\",", "red", "green", "gre", "true"];

fn tokenizer_json() -> String {
    let mut vocabulary = String::new();
    for byte in 0..=255_u8 {
        let _ = write!(vocabulary, "{}: {byte},", quote(&letter(byte).to_string()));
    }
    for (id, word) in (256..).zip(WORDS) {
        let letters: String = word.bytes().map(letter).collect();
        let _ = write!(vocabulary, "{}: {id},", quote(&letters));
    }
    vocabulary.pop();
    format!(
        r#"{{"version": "1.0", "added_tokens": [{{"id": {STOP}, "content": "</s>", "special": true,
            "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}}],
            "pre_tokenizer": {{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}},
            "decoder": {{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}},
            "model": {{"type": "BPE", "vocab": {{{vocabulary}}}, "merges": []}}}}"#
    )
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The letter that stands for a byte in byte-level files: printable ones for themselves, the others in order
/// from U+0100 on.
fn letter(byte: u8) -> char {
    let prints = |byte: u8| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    if prints(byte) {
        return char::from(byte);
    }
    let number = (0..byte).filter(|&other| !prints(other)).count() as u32;
    char::from_u32(0x100 + number).expect("the letters lie below the surrogates")
}
