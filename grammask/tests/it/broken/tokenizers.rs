//! Files of tokenizers.

use insta::assert_snapshot;

use super::tokenizer;

#[test]
fn tokenizer_files() {
    assert_snapshot!(tokenizer(""), @"tokenizer.json, line 1 column 0: EOF while parsing a value; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    assert_snapshot!(tokenizer(b"PK\x03\x04"), @"tokenizer.json, line 1 column 1: expected value; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    assert_snapshot!(tokenizer(b"\xff\xfe"), @"tokenizer.json, line 1 column 1: the file is not UTF-8; give the `tokenizer.json` itself, not an archive or a binary model");
    assert_snapshot!(tokenizer("[]"), @"tokenizer.json, line 1 column 2: invalid length 0, expected an object with `model`, `decoder` and `added_tokens`; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    assert_snapshot!(tokenizer("{}"), @"tokenizer.json, line 1 column 2: missing field `model`; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    assert_snapshot!(tokenizer(r#"{"model": {}}"#), @"tokenizer.json, line 1 column 12: missing field `vocab`; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE"}}"#), @"tokenizer.json, line 1 column 25: missing field `vocab`; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": ["a"]}}"#), @r#"tokenizer.json, line 1 column 39: invalid type: string "a", expected a tuple of size 2; give the whole `tokenizer.json` of a Hugging Face tokenizer"#);
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": -1}}}"#), @"tokenizer.json, line 1 column 43: invalid value: integer `-1`, expected u32; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}}}"#), @r#"tokenizer.json, /model/vocab/b: id 0 is given to both "a" and "b"; give each id one token"#);
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 99999999}}}"#), @"tokenizer.json, /model/vocab/a: the vocabulary has 100000000 ids, limit 4194304; raise `max_tokens` (at most 16777214) or drop ids that no model emits");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "WordPiece", "vocab": {"a": 0}}}"#), @"tokenizer.json, /model/type: of a WordPiece model, the text of a token depends on its neighbours, so it has no bytes of its own; decide on bytes for each token and use `from_tokens`");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "Magic", "vocab": {"a": 0}}}"#), @r#"tokenizer.json, /model/type: "Magic" is not a known model; use `BPE` or `Unigram`, or `from_tokens`"#);
    assert_snapshot!(tokenizer(r#"{"model": {"vocab": {"a": 0}}}"#), @r#"tokenizer.json, /model: the model has no `type`; add "BPE" or "Unigram""#);
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "decoder": {"type": "CTC"}}"#), @"tokenizer.json, /decoder/type: with the decoder CTC, the text of a token depends on its neighbours, so it has no bytes of its own; decide on bytes for each token and use `from_tokens`");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "decoder": {"type": "Replace", "pattern": {"Regex": "a"}, "content": ""}}"#), @r#"tokenizer.json, /decoder/pattern: not a text (`{"String": ...}`); regular expressions in decoders are not supported: set the option `coding`, or use `from_tokens`"#);
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "added_tokens": [{"id": 0}]}"#), @"tokenizer.json, line 1 column 72: missing field `content`; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "added_tokens": [{"id": 1, "content": "x"}, {"id": 1, "content": "y"}]}"#), @r#"tokenizer.json, /added_tokens/1/id: id 1 is given to both "x" and "y"; give each id one token"#);
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "decoder": {"type": "Sequence", "decoders": [{"type": "Strip", "content": "ab", "start": 1, "stop": 0}]}}"#), @"tokenizer.json, /decoder/decoders/0/content: not one character; write the one to cut off");
    assert_snapshot!(tokenizer("{\n  \"model\": {\n    \"type\": \"BPE\",\n    \"vocab\": {\"a\": 0,}\n  }\n}"), @"tokenizer.json, line 4 column 22: trailing comma; give the whole `tokenizer.json` of a Hugging Face tokenizer");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "Unigram", "vocab": {"a": 0}}}"#), @"tokenizer.json, /model/vocab: a `BPE` model has an object from tokens to ids, a `Unigram` model a list of tokens and scores; correct the model's `type`");
    assert_snapshot!(tokenizer(r#"{"model": {"type": "BPE", "vocab": {"a": 0}, "end_of_word_suffix": "</w>"}}"#), @r#"tokenizer.json, /model/end_of_word_suffix: with the affix "</w>", the text of a token depends on its neighbours, so it has no bytes of its own; decide on bytes for each token and use `from_tokens`"#);
}
