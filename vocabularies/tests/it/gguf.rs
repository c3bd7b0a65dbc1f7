//! GGUF files: each tokenizer that llama.cpp knows, and files that are wrong.

use grammask_mask_cache::VocabularyOptions;
use grammask_vocabularies::from_gguf;

use crate::support::{Gguf, entry, gguf, gguf_model, list};

fn check(file: &[u8]) -> String {
    let options = VocabularyOptions::default();
    // Most of these files name no token that ends a text.
    let vocabulary = from_gguf(file, &options).or_else(|_| from_gguf(file, &options.stop_ids([])));
    list(&vocabulary.expect("a good file"))
}

fn refused(file: &[u8]) -> String {
    let error = from_gguf(file, &VocabularyOptions::default()).expect_err("a bad file");
    assert!(error.place().is_some());
    error.to_string()
}

// The types, under llama.cpp's names.
const NORMAL: i32 = 1;
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const USER_DEFINED: i32 = 4;
const UNUSED: i32 = 5;
const BYTE: i32 = 6;

#[test]
fn llama() {
    let tokens = [
        ("<unk>", UNKNOWN),
        ("<s>", CONTROL),
        ("</s>", CONTROL),
        ("<0x0A>", BYTE),
        ("<0x41>", NORMAL),
        ("\u{2581}the\u{2581}", NORMAL),
        ("a\u{2581}b", USER_DEFINED),
        ("[PAD7]", USER_DEFINED),
        ("[PAD7]", USER_DEFINED),
        ("gone", UNUSED),
        ("odd", 0),
        ("", NORMAL),
        ("<turn>", CONTROL),
    ];
    let file = gguf_model("llama", &tokens, &[entry("tokenizer.ggml.eot_token_id", Gguf::U32(12))]);
    insta::assert_snapshot!(check(&file), @"
    0 ! <unk>
    1 ! <s>
    2 . </s>
    3 = \\n
    4 = <0x41>
    5 =  the 
    6 = a\\xe2\\x96\\x81b
    7 -
    8 = [PAD7]
    9 -
    10 -
    11 -
    12 . <turn>
    ");
}

#[test]
fn gpt2() {
    let tokens = [
        ("Ġa", NORMAL),
        ("Ċ", NORMAL),
        ("日", NORMAL),
        ("Ġb", USER_DEFINED),
        ("<end>", CONTROL),
        ("\u{2581}c", NORMAL),
    ];
    let end = entry("tokenizer.ggml.eos_token_id", Gguf::U32(4));
    insta::assert_snapshot!(check(&gguf_model("gpt2", &tokens, std::slice::from_ref(&end))), @"
    0 =  a
    1 = \\n
    2 = \\xe6\\x97\\xa5
    3 = \\xc4\\xa0b
    4 . <end>
    5 = \\xe2\\x96\\x81c
    ");
    // Some that split a text in ways of their own have spaces as U+2581.
    let split = entry("tokenizer.ggml.pre", Gguf::Text("sarvam-moe"));
    let file = gguf_model("gpt2", &tokens, &[end, split]);
    insta::assert_snapshot!(check(&file).lines().last().unwrap(), @"5 =  c");
}

#[test]
fn other_tokenizers() {
    let tokens = [("\u{2581}a", NORMAL), ("</s>", CONTROL), ("<0xFF>", BYTE), ("Ġ", NORMAL)];
    let spaces = check(&gguf_model("t5", &tokens, &[]));
    insta::assert_snapshot!(spaces, @"
    0 =  a
    1 . </s>
    2 = \\xff
    3 = \\xc4\\xa0
    ");
    for model in ["gemma4", "bert", "llama"] {
        assert_eq!(check(&gguf_model(model, &tokens, &[])), spaces, "{model}");
    }
    insta::assert_snapshot!(check(&gguf_model("plamo2", &tokens, &[])), @"
    0 = \\xe2\\x96\\x81a
    1 . </s>
    2 = \\xff
    3 = \\xc4\\xa0
    ");
    insta::assert_snapshot!(check(&gguf_model("test", &[("x", NORMAL); 17], &[])).lines().last().unwrap(), @"16 = 10");
    let escaped =
        [("<s>", CONTROL), (r"\n\t\r\\\'", NORMAL), (r"\xe2\x81a", NORMAL), ("é", NORMAL), ("x", UNUSED)];
    insta::assert_snapshot!(check(&gguf_model("rwkv", &escaped, &[])), @r"
    0 ! <s>
    1 = \n\t\r\\\'
    2 = \xe2\x81a
    3 = \xc3\xa9
    4 -
    ");
    let dna = [("A\u{E000}", NORMAL), ("<oov>", CONTROL), ("ACGT\u{E000}", NORMAL), ("ACGT", NORMAL)];
    insta::assert_snapshot!(check(&gguf_model("hybriddna", &dna, &[])), @"
    0 = A\\xee\\x80\\x80
    1 ! <oov>
    2 = ACGT
    3 = ACGT
    ");
}

#[test]
fn what_ends_a_text() {
    let tokens = [("<a>", CONTROL), ("<b>", CONTROL), ("<c>", CONTROL), ("</s>", CONTROL), ("d", NORMAL)];
    let stop = |more: &[Vec<u8>], options: &VocabularyOptions| -> Vec<u32> {
        let vocabulary = from_gguf(&*gguf_model("llama", &tokens, more), options).expect("a good file");
        vocabulary.stop_tokens().iter().map(|id| id.get()).collect()
    };
    let default = VocabularyOptions::default();
    assert_eq!(stop(&[], &default), [2, 3], "the default of llama.cpp, and a known name");
    let end = |id| entry("tokenizer.ggml.eos_token_id", Gguf::I64(id));
    assert_eq!(stop(&[end(4)], &default), [3, 4]);
    let message = entry("tokenizer.ggml.eom_token_id", Gguf::U32(0));
    assert_eq!(stop(&[end(1), message.clone()], &default), [0, 1, 3]);
    assert_eq!(
        stop(&[end(-1), message], &VocabularyOptions::default().stop_ids([2])),
        [2],
        "the caller decides"
    );
}

#[test]
fn a_file_without_types() {
    let file = gguf(&[
        entry("tokenizer.ggml.model", Gguf::Text("llama")),
        entry("tokenizer.ggml.tokens", Gguf::Texts(&[b"<unk>", b"<s>", b"</s>", b"\xe2\x96\x81", b"\xff"])),
        entry("tokenizer.ggml.eos_token_id", Gguf::U32(2)),
    ]);
    insta::assert_snapshot!(check(&file), @"
    0 = <unk>
    1 = <s>
    2 . </s>
    3 =  
    4 = \\xff
    ");
}

#[test]
fn files_without_a_tokenizer() {
    let named = |name| refused(&gguf_model(name, &[("a", NORMAL)], &[]));
    insta::assert_snapshot!(named("none"), @"GGUF, key `tokenizer.ggml.model`: `none`: the model has no tokenizer; give the file of its tokenizer");
    insta::assert_snapshot!(named("no_vocab"), @"GGUF, key `tokenizer.ggml.model`: `no_vocab`: the model has no tokenizer; give the file of its tokenizer");
    insta::assert_snapshot!(named("gpt5\n"), @r"GGUF, key `tokenizer.ggml.model`: `gpt5\n` is not a known tokenizer; give the model's tokenizer.json");
    insta::assert_snapshot!(refused(&gguf(&[])), @"GGUF, key `tokenizer.ggml.model`: the file has no tokenizer; give the model's own, or its tokenizer.json");
    let only_model = gguf(&[entry("tokenizer.ggml.model", Gguf::Text("llama"))]);
    insta::assert_snapshot!(refused(&only_model), @"GGUF, key `tokenizer.ggml.tokens`: the file has no tokens; convert it again");
}

#[test]
fn wrong_headers() {
    let header = |version: [u8; 4]| [b"GGUF".to_vec(), version.to_vec(), vec![0; 16]].concat();
    insta::assert_snapshot!(refused(b"GGML"), @"GGUF, byte 4: the file does not begin with `GGUF`; give a model in that format");
    insta::assert_snapshot!(refused(&header([1, 0, 0, 0])), @"GGUF, byte 8: version 1, where 2 and 3 can be read; convert the model again");
    insta::assert_snapshot!(refused(&header([0, 0, 0, 3])), @"GGUF, byte 8: the numbers are stored with the greatest byte first; convert the model for this machine");
    insta::assert_snapshot!(refused(&header([3, 0, 0, 0])[..17]), @"GGUF, byte 16: the file ends here; fetch it again, in full");
}

#[test]
fn wrong_entries() {
    let text = |key| gguf(&[entry(key, Gguf::Text("x"))]);
    insta::assert_snapshot!(refused(&text("tokenizer.ggml.tokens")), @"GGUF, key `tokenizer.ggml.tokens`, byte 57: not a list; convert the model again");
    insta::assert_snapshot!(refused(&text("tokenizer.ggml.eos_token_id")), @"GGUF, key `tokenizer.ggml.eos_token_id`, byte 63: not a whole number; convert the model again");
    let number = gguf(&[entry("tokenizer.ggml.model", Gguf::U32(1))]);
    insta::assert_snapshot!(refused(&number), @"GGUF, key `tokenizer.ggml.model`, byte 56: not a text; convert the model again");
    let numbers = gguf(&[entry("tokenizer.ggml.tokens", Gguf::I32s(&[1]))]);
    insta::assert_snapshot!(refused(&numbers), @"GGUF, key `tokenizer.ggml.tokens`, byte 69: a list of other things than this key has; convert the model again");
    let twice = gguf(&[
        entry("tokenizer.ggml.model", Gguf::Text("x")),
        entry("tokenizer.ggml.model", Gguf::Text("x")),
    ]);
    insta::assert_snapshot!(refused(&twice), @"GGUF, key `tokenizer.ggml.model`, byte 106: the key is there twice; convert the model again");
    let mut odd = gguf(&[entry("general.name", Gguf::U32(0))]);
    odd[44] = 13;
    insta::assert_snapshot!(refused(&odd), @"GGUF, key `general.name`, byte 48: 13 is the type of no value; fetch the file again");
    let mut nested = gguf(&[entry("a", Gguf::I32s(&[0; 4]))]);
    nested[37] = 9;
    insta::assert_snapshot!(refused(&nested), @"GGUF, key `a`, byte 49: a list of lists, which llama.cpp does not read; convert the model again");
}

#[test]
fn wrong_tokens() {
    let llama = |tokens: &[(&str, i32)]| refused(&gguf_model("llama", tokens, &[]));
    insta::assert_snapshot!(llama(&[("a", NORMAL), ("<0x0>", BYTE)]), @"GGUF, key `tokenizer.ggml.tokens`, token 1, byte 229: the type says that it is a byte, and its text is not like `<0x0A>`; convert it again");
    let rwkv = |text| refused(&gguf_model("rwkv", &[(text, NORMAL)], &[]));
    insta::assert_snapshot!(rwkv(r"a\"), @"GGUF, key `tokenizer.ggml.tokens`, token 0, byte 220: the text ends inside an escape; convert the model again");
    insta::assert_snapshot!(rwkv(r"\x0g"), @r"GGUF, key `tokenizer.ggml.tokens`, token 0, byte 220: not a hexadecimal digit after `\x`");
    let cut = gguf(&[
        entry("tokenizer.ggml.model", Gguf::Text("gpt2")),
        entry("tokenizer.ggml.tokens", Gguf::Texts(&[b"\xe2\x96"])),
    ]);
    insta::assert_snapshot!(refused(&cut), @"GGUF, key `tokenizer.ggml.tokens`, token 0, byte 121: not UTF-8, as tokens of this tokenizer are; fetch the file again");
    assert_eq!(&cut[121..123], b"\xe2\x96", "the place is that of the text");
    let types = gguf(&[
        entry("tokenizer.ggml.model", Gguf::Text("gpt2")),
        entry("tokenizer.ggml.tokens", Gguf::Texts(&[b"a", b"b"])),
        entry("tokenizer.ggml.token_type", Gguf::I32s(&[1])),
    ]);
    insta::assert_snapshot!(refused(&types), @"GGUF, key `tokenizer.ggml.token_type`: 1 types for 2 tokens; convert the model again");
    let end = gguf_model("llama", &[("a", NORMAL)], &[entry("tokenizer.ggml.eos_token_id", Gguf::I64(-1))]);
    insta::assert_snapshot!(refused(&end), @"GGUF, key `tokenizer.ggml.eos_token_id`: id -1 of 1 tokens; name the ids that end a text with `stop_ids`");
}

#[test]
fn limits() {
    let file = gguf_model("llama", &[("abc", NORMAL), ("def", NORMAL)], &[]);
    let refused =
        |options: VocabularyOptions| from_gguf(&*file, &options).expect_err("past a limit").to_string();
    insta::assert_snapshot!(refused(VocabularyOptions::default().max_tokens(1)), @"GGUF, key `tokenizer.ggml.tokens`, byte 212: 2 tokens, limit 1; raise `max_tokens` if that is meant");
    insta::assert_snapshot!(refused(VocabularyOptions::default().max_bytes(5)), @"GGUF, key `tokenizer.ggml.tokens`, byte 231: a text of 3 bytes, where at most 2 can be; raise `max_bytes` if that is meant");
    insta::assert_snapshot!(refused(VocabularyOptions::default().size(1)), @"GGUF: `size` is 1 but the tokenizer has ids up to 1; give the number of rows of the model's output layer, which is at least 2");
    assert!(from_gguf(&*file, &VocabularyOptions::default().max_tokens(2).max_bytes(6).stop_ids([])).is_ok());
}
