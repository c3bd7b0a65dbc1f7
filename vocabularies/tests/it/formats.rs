//! Files whose format is told from their bytes.

use std::io::{self, Read};

use grammask_mask_cache::VocabularyOptions;
use grammask_vocabularies::{Format, LoadError, detect, load};

use crate::support::{gguf_model, list, piece, trainer};

const TOKENIZER_JSON: &str = r#" {
    "version": "1.0", "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "Ġb": 1}, "merges": []}
}"#;

const TEKKEN_JSON: &str = r#"{
    "config": {"pattern": "x", "default_vocab_size": 2, "default_num_special_tokens": 0, "version": "v3"},
    "vocab": [{"rank": 0, "token_bytes": "YQ==", "token_str": "a"}, {"rank": 1, "token_bytes": "IGI="}]
}"#;

/// A good file of each format, each with the text tokens `a` and ` b`.
pub(crate) fn files() -> Vec<(Format, Vec<u8>)> {
    vec![
        (Format::TokenizerJson, TOKENIZER_JSON.into()),
        (Format::Gguf, gguf_model("llama", &[("a", 1), ("\u{2581}b", 1)], &[])),
        (Format::SentencePiece, [piece("a", 1), piece("\u{2581}b", 1), trainer()].concat()),
        (Format::Tekken, TEKKEN_JSON.into()),
        (Format::RankFile, b"YQ== 0\nIGI= 1\n".to_vec()),
    ]
}

#[test]
fn every_format_is_told_and_read() {
    for (format, file) in files() {
        assert_eq!(detect(&file), Some(format));
        let vocabulary = load(&*file, &VocabularyOptions::default().stop_ids([])).expect("a good file");
        assert_eq!(list(&vocabulary), "0 = a\n1 =  b\n", "{format}");
    }
}

#[test]
fn json_after_an_empty_line_is_no_model() {
    // A newline is also how a SentencePiece model begins.
    for start in ["\n", "\n\n", "\n{\n", "\r\n"] {
        let file = format!("{start}{}", TOKENIZER_JSON.trim_start_matches([' ', '{']));
        assert_ne!(detect(file.as_bytes()), Some(Format::SentencePiece), "{start:?}");
    }
    assert_eq!(detect(format!("\n{TOKENIZER_JSON}").as_bytes()), Some(Format::TokenizerJson));
}

#[test]
fn objects_without_a_telling_key_are_unknown() {
    assert_eq!(detect(br#"{"version": 1, "more": {"model": 2}}"#), None);
    assert_eq!(detect(br#"{"version": 1, "more": {"model": 2}, "#), None);
    assert_eq!(detect(br#"{"version": 1, "more": {"model": 2}, "vocab": ["#), Some(Format::Tekken));
}

#[test]
fn texts_are_no_ranks() {
    for text in ["two words", "YQ== ", "YQ== 1x", " 5", "a 1", "YQ==	1"] {
        assert_eq!(detect(text.as_bytes()), None, "{text:?}");
    }
    assert_eq!(detect(b"\nYQ== 1\r\n"), Some(Format::RankFile));
}

fn refused(file: &[u8]) -> LoadError {
    load(file, &VocabularyOptions::default()).expect_err("a bad file")
}

#[test]
fn other_files() {
    insta::assert_snapshot!(refused(b""), @r#"the file begins with "" and is no tokenizer.json, tekken.json, GGUF file, SentencePiece model or rank file"#);
    insta::assert_snapshot!(refused(b"PK\x03\x04\x14\0\0\0\x08\0!\0a\xffabcdef"), @r#"the file begins with "PK\x03\x04\x14\x00\x00\x00\x08\x00!\x00a\xffab" and is no tokenizer.json, tekken.json, GGUF file, SentencePiece model or rank file"#);
    assert_eq!(refused(b"PK").format(), None);
    let json = refused(b"{\"model\": 1}");
    insta::assert_snapshot!(json, @"tokenizer.json, line 1 column 11: invalid type: integer `1`, expected an object with `type` and `vocab`; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    assert_eq!((json.format(), json.place()), (Some(Format::TokenizerJson), Some("line 1 column 11")));
}

#[test]
fn a_file_may_be_too_long_or_unreadable() {
    let small = VocabularyOptions::default().max_bytes(16).stop_ids([]);
    let long = [TOKENIZER_JSON.as_bytes(), &[b' '; 256]].concat();
    insta::assert_snapshot!(load(&*long, &small).expect_err("too long"), @"the file has more than 256 bytes; raise `max_bytes` if that is meant");
    assert!(load(&long[..256], &small).is_ok());

    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable is cut"))
        }
    }
    let error = load(Broken, &small).expect_err("unreadable");
    insta::assert_snapshot!(error, @"reading failed: the cable is cut");
    assert!(std::error::Error::source(&error).is_some());
    let (_, gguf) = files().swap_remove(1);
    insta::assert_snapshot!(load(gguf[..100].chain(Broken), &VocabularyOptions::default()).expect_err("unreadable"), @"GGUF, byte 77: reading failed: the cable is cut");
}

#[test]
fn tensors_are_not_read() {
    /// Nobody reads past the metadata but to fill a buffer.
    struct Tensors(usize);
    impl Read for Tensors {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += buffer.len();
            assert!(self.0 <= 64 << 10, "tensors are read");
            buffer.fill(0);
            Ok(buffer.len())
        }
    }
    let (_, gguf) = files().swap_remove(1);
    assert!(load(gguf.chain(Tensors(0)), &VocabularyOptions::default().stop_ids([])).is_ok());
}
