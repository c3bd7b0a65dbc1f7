//! Broken and unfit files: the error says where and what to do.

use grammask_mask_cache::{Vocabulary, VocabularyOptions};
use proptest::prelude::*;

fn check(json: &str) -> String {
    check_bytes(json.as_bytes())
}

fn check_bytes(json: &[u8]) -> String {
    let error = Vocabulary::from_tokenizer_json(json, &VocabularyOptions::default()).expect_err("a bad file");
    assert!(error.place().is_some() || !error.to_string().starts_with("tokenizer.json"));
    error.to_string()
}

/// A file whose model is in order.
fn with_decoder(decoder: &str) -> String {
    check(&format!(
        r#"{{"decoder": {decoder}, "model": {{"type": "BPE", "vocab": {{"a": 0}}, "merges": []}}}}"#
    ))
}

fn with_model(model: &str) -> String {
    check(&format!(r#"{{"model": {model}}}"#))
}

#[test]
fn not_a_tokenizer() {
    insta::assert_snapshot!(check(""), @"tokenizer.json, line 1 column 0: EOF while parsing a value; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    insta::assert_snapshot!(check("{\n  \"model\": {\"vocab\": {\"a\": 0,}}\n}"), @"tokenizer.json, line 2 column 30: trailing comma; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    insta::assert_snapshot!(check("[]"), @"tokenizer.json, line 1 column 2: invalid length 0, expected an object with `model`, `decoder` and `added_tokens`; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    insta::assert_snapshot!(check(r#"{"bos_token": "<s>", "eos_token": "</s>"}"#), @"tokenizer.json, line 1 column 41: missing field `model`; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    insta::assert_snapshot!(check_bytes(b"{\n\"model\": \"\xff\"}"), @"tokenizer.json, line 2 column 11: the file is not UTF-8; give the `tokenizer.json` itself, not an archive or a binary model");
    insta::assert_snapshot!(check(&format!(r#"{{"decoder": {}1{}}}"#, "[".repeat(200), "]".repeat(200))), @"tokenizer.json, line 1 column 139: recursion limit exceeded; give the whole `tokenizer.json` of a Hugging Face tokenizer");
}

#[test]
fn bad_vocabularies() {
    insta::assert_snapshot!(with_model(r#"{"type": "BPE", "merges": []}"#), @"tokenizer.json, line 1 column 39: missing field `vocab`; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    insta::assert_snapshot!(with_model(r#"{"type": "BPE", "vocab": "none", "merges": []}"#), @r#"tokenizer.json, line 1 column 41: invalid type: string "none", expected an object from tokens to ids or a list of tokens and scores; give the whole `tokenizer.json` of a Hugging Face tokenizer"#);
    insta::assert_snapshot!(with_model(r#"{"type": "BPE", "vocab": {"a": -1}, "merges": []}"#), @"tokenizer.json, line 1 column 43: invalid value: integer `-1`, expected u32; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    insta::assert_snapshot!(with_model(r#"{"type": "BPE", "vocab": {"a": 1.5}, "merges": []}"#), @"tokenizer.json, line 1 column 44: invalid type: floating point `1.5`, expected u32; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    insta::assert_snapshot!(with_model(r#"{"type": "BPE", "vocab": {"a": 4294967295}, "merges": []}"#), @"tokenizer.json, /model/vocab/a: the vocabulary has 4294967296 ids, limit 4194304; raise `max_tokens` (at most 16777214) or drop ids that no model emits");
    insta::assert_snapshot!(with_model(r#"{"type": "BPE", "vocab": {"a/b": 1, "c": 0, "x/y~z": 1}}"#), @r#"tokenizer.json, /model/vocab/x~1y~0z: id 1 is given to both "a/b" and "x/y~z"; give each id one token"#);
    insta::assert_snapshot!(with_model(r#"{"type": "Unigram", "vocab": [["a", 0], ["b"]]}"#), @"tokenizer.json, line 1 column 55: invalid length 1, expected a tuple of size 2; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    insta::assert_snapshot!(with_model(r#"{"type": "Unigram", "vocab": {"a": 0}}"#), @"tokenizer.json, /model/vocab: a `BPE` model has an object from tokens to ids, a `Unigram` model a list of tokens and scores; correct the model's `type`");
}

#[test]
fn unfit_models() {
    insta::assert_snapshot!(with_model(r#"{"vocab": {"a": 0}}"#), @r#"tokenizer.json, /model: the model has no `type`; add "BPE" or "Unigram""#);
    insta::assert_snapshot!(with_model(r#"{"type": "WordPiece", "vocab": {"a": 0}}"#), @"tokenizer.json, /model/type: of a WordPiece model, the text of a token depends on its neighbours, so it has no bytes of its own; decide on bytes for each token and use `from_tokens`");
    insta::assert_snapshot!(with_model(r#"{"type": "WordLevel", "vocab": {"a": 0}}"#), @"tokenizer.json, /model/type: of a WordLevel model, the text of a token depends on its neighbours, so it has no bytes of its own; decide on bytes for each token and use `from_tokens`");
    insta::assert_snapshot!(with_model(r#"{"type": "Neural", "vocab": {"a": 0}}"#), @r#"tokenizer.json, /model/type: "Neural" is not a known model; use `BPE` or `Unigram`, or `from_tokens`"#);
    insta::assert_snapshot!(with_model(r#"{"type": "BPE", "vocab": {}, "end_of_word_suffix": "</w>"}"#), @r#"tokenizer.json, /model/end_of_word_suffix: with the affix "</w>", the text of a token depends on its neighbours, so it has no bytes of its own; decide on bytes for each token and use `from_tokens`"#);
    insta::assert_snapshot!(with_model(r###"{"type": "BPE", "vocab": {}, "continuing_subword_prefix": "##"}"###), @r###"tokenizer.json, /model/continuing_subword_prefix: with the affix "##", the text of a token depends on its neighbours, so it has no bytes of its own; decide on bytes for each token and use `from_tokens`"###);
}

#[test]
fn unfit_decoders() {
    insta::assert_snapshot!(with_decoder(r###"{"type": "WordPiece", "prefix": "##", "cleanup": true}"###), @"tokenizer.json, /decoder/type: with the decoder WordPiece, the text of a token depends on its neighbours, so it has no bytes of its own; decide on bytes for each token and use `from_tokens`");
    insta::assert_snapshot!(with_decoder(r#"{"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "BPEDecoder"}]}"#), @"tokenizer.json, /decoder/decoders/1/type: with the decoder BPEDecoder, the text of a token depends on its neighbours, so it has no bytes of its own; decide on bytes for each token and use `from_tokens`");
    insta::assert_snapshot!(with_decoder(r#"{"type": "Telepathy"}"#), @r#"tokenizer.json, /decoder/type: "Telepathy" is not a known decoder; set the option `coding`, or use `from_tokens`"#);
    insta::assert_snapshot!(with_decoder(r#"{}"#), @r#"tokenizer.json, /decoder/type: "" is not a known decoder; set the option `coding`, or use `from_tokens`"#);
    insta::assert_snapshot!(with_decoder(r#"{"type": "Replace", "pattern": {"Regex": "_+"}, "content": " "}"#), @r#"tokenizer.json, /decoder/pattern: not a text (`{"String": ...}`); regular expressions in decoders are not supported: set the option `coding`, or use `from_tokens`"#);
    insta::assert_snapshot!(with_decoder(r#"{"type": "Replace", "pattern": {"String": "_"}}"#), @"tokenizer.json, /decoder/content: not a string; write the text to put in place of the pattern");
    insta::assert_snapshot!(with_decoder(r#"{"type": "Replace", "pattern": {"String": "_"}, "content": "long"}"#), @"tokenizer.json, /decoder/content: longer than the pattern it replaces, which is not supported: use `from_tokens`");
    insta::assert_snapshot!(with_decoder(r#"{"type": "Strip", "content": "ab", "start": 1, "stop": 0}"#), @"tokenizer.json, /decoder/content: not one character; write the one to cut off");
    insta::assert_snapshot!(with_decoder(r#"{"type": "Strip", "content": "a", "start": -1, "stop": 0}"#), @"tokenizer.json, /decoder/start: not a count; write how often to cut, 0 for never");
    insta::assert_snapshot!(with_decoder(r#"{"type": "Metaspace", "replacement": 7}"#), @"tokenizer.json, /decoder/replacement: not a character; write the one that stands for a space");
}

#[test]
fn replacements_across_tokens() {
    let after = |joining: &str| {
        with_decoder(&format!(
            r#"{{"type": "Sequence", "decoders": [{{"type": "{joining}"}},
                {{"type": "Replace", "pattern": {{"String": "ab"}}, "content": ""}}]}}"#
        ))
    };
    insta::assert_snapshot!(after("Fuse"), @"tokenizer.json, /decoder/decoders/1/pattern: more than one character, after a step that joins the tokens: it may begin in one token and end in another; use `from_tokens`");
    assert_eq!(after("ByteLevel"), after("Fuse"));
}

#[test]
fn decoders_that_would_take_days() {
    let steps = vec![r#"{"type": "ByteFallback"}"#; 17].join(",");
    insta::assert_snapshot!(with_decoder(&format!(r#"{{"type": "Sequence", "decoders": [{steps}]}}"#)), @"tokenizer.json, /decoder/decoders/16: more than 16 steps; set the option `coding`, or use `from_tokens`");
    let pattern = "a".repeat(65);
    let replace = format!(r#"{{"type": "Replace", "pattern": {{"String": "{pattern}"}}, "content": ""}}"#);
    insta::assert_snapshot!(with_decoder(&replace), @"tokenizer.json, /decoder/pattern: more than 64 bytes long, which is not supported: use `from_tokens`");
}

#[test]
fn bad_added_tokens() {
    let with_added = |added: &str| {
        check(&format!(
            r#"{{"added_tokens": {added}, "model": {{"type": "BPE", "vocab": {{"a": 0}}, "merges": []}}}}"#
        ))
    };
    insta::assert_snapshot!(with_added(r#"[{"id": 1}]"#), @"tokenizer.json, line 1 column 27: missing field `content`; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    insta::assert_snapshot!(with_added(r#"[{"id": 1, "content": "x"}, {"id": 1, "content": "y"}]"#), @r#"tokenizer.json, /added_tokens/1/id: id 1 is given to both "x" and "y"; give each id one token"#);
    insta::assert_snapshot!(with_added(r#"[{"id": 99999999, "content": "x", "special": true}]"#), @"tokenizer.json, /added_tokens/0: the vocabulary has 100000000 ids, limit 4194304; raise `max_tokens` (at most 16777214) or drop ids that no model emits");
}

/// A file that has a bit of everything.
const FILE: &str = r#"{"added_tokens": [{"id": 3, "content": "</s>", "special": true}],
    "pre_tokenizer": {"type": "Metaspace"},
    "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "_"}, "content": " "},
        {"type": "ByteFallback"}, {"type": "Strip", "content": "a", "start": 1, "stop": 2}]},
    "model": {"type": "BPE", "byte_fallback": true, "vocab": {"_a": 0, "<0x41>": 1}, "merges": []}}"#;

proptest! {
    #[test]
    fn damaged_files_never_panic(
        changes in prop::collection::vec((0..FILE.len(), prop::sample::select(b"{}[]\",:019-_aZ\xE2\\".to_vec())), 0..4),
        cut in 0..FILE.len() * 4,
    ) {
        let mut bytes = FILE.as_bytes().to_vec();
        for (place, byte) in changes {
            bytes[place] = byte;
        }
        bytes.truncate(cut);
        let options = VocabularyOptions::default().stop_ids([]).max_tokens(1000);
        if let Err(error) = Vocabulary::from_tokenizer_json(&bytes, &options) {
            assert!(!error.to_string().is_empty());
        }
    }
}
