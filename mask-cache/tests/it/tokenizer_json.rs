//! A small `tokenizer.json` of each kind.

use grammask_mask_cache::{TokenCoding, TokenDecoder, TokenKind, Vocabulary, VocabularyOptions};

use crate::support::ids;

/// Loads a file, which may lack a stop token, and lists the ids: `=` text, `!` special, `.` stop, `-` nothing.
fn check(json: &str) -> String {
    let options = VocabularyOptions::default();
    let has_stop = Vocabulary::from_tokenizer_json(json.as_bytes(), &options).is_ok();
    check_with(json, &if has_stop { options } else { options.stop_ids([]) })
}

fn check_with(json: &str, options: &VocabularyOptions) -> String {
    let vocabulary = Vocabulary::from_tokenizer_json(json.as_bytes(), options).expect("a good file");
    let line = |id| match vocabulary.kind(id) {
        TokenKind::Text => format!("{id} = {}\n", vocabulary.token_bytes(id).escape_ascii()),
        TokenKind::Special => format!("{id} ! {}\n", vocabulary.token_name(id)),
        TokenKind::Stop => format!("{id} . {}\n", vocabulary.token_name(id)),
        TokenKind::Empty => format!("{id} -\n"),
    };
    ids(&vocabulary).map(line).collect()
}

#[test]
fn byte_level() {
    let json = r#"{
        "version": "1.0",
        "added_tokens": [
            {"id": 5, "content": "<|im_end|>", "special": true},
            {"id": 6, "content": "<tool é call>", "special": false, "normalized": false},
            {"id": 8, "content": "<|im_start|>", "special": true}
        ],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "x"}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false}
        ]},
        "decoder": {"type": "ByteLevel", "trim_offsets": true},
        "model": {"type": "BPE", "byte_fallback": false, "end_of_word_suffix": "", "merges": ["a b", ["Ġ", "a"]],
            "vocab": {"a": 0, "\u0120a": 1, "Ċ": 2, "â": 3, "日本": 4}}
    }"#;
    insta::assert_snapshot!(check(json), @r#"
    0 = a
    1 =  a
    2 = \n
    3 = \xe2
    4 = \xe6\x97\xa5\xe6\x9c\xac
    5 . <|im_end|>
    6 = <tool \xc3\xa9 call>
    7 -
    8 ! <|im_start|>
    "#);
}

#[test]
fn byte_level_known_from_the_pre_tokenizer() {
    let json = r#"{
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]}]},
        "decoder": null,
        "model": {"type": "BPE", "vocab": {"Ġa": 0}, "merges": []}
    }"#;
    insta::assert_snapshot!(check(json), @"0 =  a");
}

#[test]
fn byte_fallback() {
    let json = r#"{
        "added_tokens": [
            {"id": 0, "content": "<unk>", "special": true},
            {"id": 1, "content": "</s>", "special": true},
            {"id": 7, "content": "▁▁", "special": false}
        ],
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}
        ]},
        "model": {"type": "BPE", "byte_fallback": true, "merges": [],
            "vocab": {"<unk>": 0, "</s>": 1, "<0x0A>": 2, "<0xE2>": 3, "▁the▁end": 4, "<0xZZ>": 5, "▁": 6}}
    }"#;
    insta::assert_snapshot!(check(json), @r#"
    0 ! <unk>
    1 . </s>
    2 = \n
    3 = \xe2
    4 =  the end
    5 = <0xZZ>
    6 =  
    7 =
    "#);
}

#[test]
fn unigram_with_metaspace() {
    let json = r#"{
        "added_tokens": [{"id": 0, "content": "<pad>", "special": true}, {"id": 1, "content": "</s>", "special": true}],
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        "model": {"type": "Unigram", "unk_id": 2, "byte_fallback": true,
            "vocab": [["<pad>", 0.0], ["</s>", 0.0], ["<unk>", -0.5e1], ["▁a", -1.25], ["<0x41>", -2], ["", -3]]}
    }"#;
    insta::assert_snapshot!(check(json), @"
    0 ! <pad>
    1 . </s>
    2 = <unk>
    3 =  a
    4 = A
    5 -
    ");
}

#[test]
fn strip_of_single_tokens() {
    let json = r#"{
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Strip", "content": "_", "start": 1, "stop": 2}, {"type": "Fuse"}]},
        "model": {"type": "BPE", "merges": [], "vocab": {"__a___": 0, "_": 1}}
    }"#;
    insta::assert_snapshot!(check(json), @"
    0 = _a_
    1 -
    ");
}

#[test]
fn strip_of_the_whole_text() {
    // The byte-level decoder makes one text of all tokens, and so does `Fuse`.
    for joining in ["ByteLevel", "Fuse"] {
        let json = format!(
            r#"{{"decoder": {{"type": "Sequence", "decoders": [
                {{"type": "{joining}"}}, {{"type": "Strip", "content": "_", "start": 1, "stop": 2}},
                {{"type": "Replace", "pattern": {{"String": "▁"}}, "content": " "}}]}},
            "model": {{"type": "BPE", "merges": [], "vocab": {{"__a___": 0, "_": 1, "▁b": 2}}}}}}"#
        );
        assert_eq!(check(&json), "0 = __a___\n1 = _\n2 =  b\n", "{joining}");
    }
}

/// The tokens of a file are spelled for a decoder of the same file as they are in its vocabulary.
#[test]
fn a_decoder_without_its_tokens() {
    let json = |decoder: &str, model: &str| {
        format!(
            r#"{{"added_tokens": [{{"id": 0, "content": "_Ġ</s>", "special": true}},
                {{"id": 3, "content": "_Ġ<0x41>", "special": false}}], "decoder": {decoder}, "model": {model}}}"#
        )
    };
    let bpe = r#"{"type": "BPE", "byte_fallback": true, "merges": [], "vocab": {"<0x41>": 1, "_Ġa": 2}}"#;
    let unigram = r#"{"type": "Unigram", "vocab": [["x", -1], ["<0x41>", -1], ["_Ġa", -1]]}"#;
    let decoders =
        [r#"{"type": "ByteLevel"}"#, r#"{"type": "Metaspace", "replacement": "_"}"#, r#"{"type": "Fuse"}"#];
    for (decoder, model) in decoders.into_iter().flat_map(|decoder| [(decoder, bpe), (decoder, unigram)]) {
        let json = json(decoder, model);
        let options = VocabularyOptions::default().stop_ids([0]);
        let vocabulary = Vocabulary::from_tokenizer_json(json.as_bytes(), &options).expect("a good file");
        let decoder = TokenDecoder::from_tokenizer_json(json.as_bytes()).expect("a good file");
        for (id, spelled) in [(0, "_Ġ</s>"), (1, "<0x41>"), (2, "_Ġa"), (3, "_Ġ<0x41>")] {
            let token = vocabulary.id(id).expect("one of its ids");
            let bytes = vocabulary.special_name(token).unwrap_or_else(|| vocabulary.token_bytes(token));
            assert_eq!(decoder.decode(id, spelled).as_deref(), Some(bytes), "{spelled} in {json}");
        }
        assert_eq!(decoder.decode(0, "x"), None, "the added token has the id");
    }
    let refused =
        TokenDecoder::from_tokenizer_json(br#"{"model": {"type": "WordLevel", "vocab": {"a": 0}}}"#);
    assert_eq!(refused.expect_err("words").place(), Some("/model/type"));
}

#[test]
fn the_alphabet_is_a_bijection() {
    let mut seen = [0; 256];
    for character in (0..0x200).filter_map(char::from_u32) {
        // A text with a character that is not in the alphabet stays as it is.
        if let [b' ', byte] = TokenCoding::ByteLevel.decode(&format!("Ġ{character}"))[..] {
            seen[usize::from(byte)] += 1;
        }
    }
    assert_eq!(seen, [1; 256]);
}

#[test]
fn text_outside_the_alphabet_is_itself() {
    for text in ["a b", "\u{144}", "Ġ日", "\u{AD}", "\u{7F}"] {
        assert_eq!(TokenCoding::ByteLevel.decode(text), text.as_bytes(), "{text:?}");
    }
    assert_eq!(TokenCoding::ByteLevel.decode("ĠÃ©"), " é".as_bytes());
}

#[test]
fn fallback_is_exact() {
    for (text, bytes) in
        [("<0x00>", &[0][..]), ("<0xfF>", &[255]), ("<0x+1>", b"<0x+1>"), ("<0x1>", b"<0x1>")]
    {
        assert_eq!(TokenCoding::ByteFallback.decode(text), bytes, "{text}");
    }
}

#[test]
fn old_files_without_types() {
    insta::assert_snapshot!(check(r#"{"model": {"vocab": {"a b": 0}, "merges": []}}"#), @"0 = a b");
    insta::assert_snapshot!(check(r#"{"model": {"vocab": [["a", 0.5]]}}"#), @"0 = a");
}

#[test]
fn spelling_guessed_from_the_tokens() {
    let bytes: Vec<String> = (0..256).map(|byte| format!("\"<0x{byte:02X}>\": {byte}")).collect();
    let json = format!(r#"{{"model": {{"merges": [], "vocab": {{{}, "▁x": 256}}}}}}"#, bytes.join(","));
    let vocabulary =
        Vocabulary::from_tokenizer_json(json.as_bytes(), &VocabularyOptions::default().stop_ids([])).unwrap();
    assert_eq!(vocabulary.missing_bytes(), b"");
    assert!(vocabulary.text_token(b" x").is_some());

    let letters: Vec<String> =
        (0x100..0x144_u32).map(|letter| format!("\"\\u{letter:04x}\": {}", letter - 0x100)).collect();
    let json = format!(r#"{{"model": {{"merges": [], "vocab": {{{}, "Ġx": 68}}}}}}"#, letters.join(","));
    let vocabulary =
        Vocabulary::from_tokenizer_json(json.as_bytes(), &VocabularyOptions::default().stop_ids([])).unwrap();
    assert_eq!(vocabulary.missing_bytes().len(), 256 - 68);
    assert!(vocabulary.text_token(b" x").is_some());
}

#[test]
fn options_override_the_file() {
    let json = r#"{
        "added_tokens": [{"id": 2, "content": "</s>", "special": true}],
        "decoder": {"type": "CTC"},
        "model": {"type": "BPE", "merges": [], "vocab": {"Ġa": 0, "b": 1}}
    }"#;
    let options =
        VocabularyOptions::default().coding(TokenCoding::ByteLevel).special_ids([1]).stop_ids([1]).size(5);
    insta::assert_snapshot!(check_with(json, &options), @"
    0 =  a
    1 . b
    2 ! </s>
    3 -
    4 -
    ");
}

#[test]
fn added_tokens_win_over_the_model() {
    let json = r#"{
        "added_tokens": [{"id": 0, "content": "<new>"}, {"id": 0, "content": "<new>"}, {"id": 3, "content": "x"}],
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "merges": [], "vocab": {"old": 0, "x": 1}}
    }"#;
    insta::assert_snapshot!(check(json), @"
    0 = <new>
    1 = x
    2 -
    3 = x
    ");
}

#[test]
fn no_tokens() {
    insta::assert_snapshot!(check(r#"{"model": {"type": "BPE", "vocab": {}, "merges": []}}"#), @"");
    insta::assert_snapshot!(check(r#"{"model": {"type": "Unigram", "vocab": []}}"#), @"");
}
