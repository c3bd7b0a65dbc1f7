//! Tokenizers that other libraries have loaded.

use std::collections::BTreeSet;

use grammask_mask_cache::VocabularyOptions;
use grammask_vocabularies::{Encoding, from_core_bpe, from_tok_trie, from_tokenizer};
use tiktoken_rs::CoreBPE;
use tokenizers::{AddedToken, Tokenizer};
use toktrie::{TokRxInfo, TokTrie};

use crate::support::list;

#[test]
fn a_tokenizer_counts_as_it_is_now() {
    let json = r#"{
        "version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "added_tokens": [],
        "model": {"type": "BPE", "vocab": {"a": 0, "Ġ": 1, "Ġa": 2}, "merges": ["Ġ a"]}
    }"#;
    let mut tokenizer: Tokenizer = json.parse().expect("a tokenizer");
    tokenizer.add_special_tokens([AddedToken::from("<|im_end|>", true)]).expect("a special token");
    let vocabulary = from_tokenizer(&tokenizer, &VocabularyOptions::default()).expect("a good tokenizer");
    insta::assert_snapshot!(list(&vocabulary), @"
    0 = a
    1 =  
    2 =  a
    3 . <|im_end|>
    ");

    let words = r#"{"version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null,
        "pre_tokenizer": null, "decoder": null, "added_tokens": [],
        "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}"#;
    let words: Tokenizer = words.parse().expect("a tokenizer");
    let error = from_tokenizer(&words, &VocabularyOptions::default()).expect_err("words have no bytes");
    assert_eq!(error.place(), Some("/model/type"));
}

#[test]
fn an_encoding_with_holes() {
    let ranks = [("a", 0), (" b", 2), ("far", 2_000), ("too far", 10_000)];
    let ranks = ranks.map(|(token, rank)| (token.as_bytes().to_vec(), rank));
    let special = [("<|endoftext|>".to_owned(), 3), ("<|im_start|>".to_owned(), 5)];
    let encoding =
        CoreBPE::new(ranks.into_iter().collect(), special.into_iter().collect(), ".").expect("an encoding");
    let vocabulary = from_core_bpe(&encoding, &VocabularyOptions::default()).expect("a good encoding");
    let listed: Vec<String> =
        list(&vocabulary).lines().filter(|line| !line.ends_with('-')).map(str::to_owned).collect();
    assert_eq!(listed, ["0 = a", "2 =  b", "3 . <|endoftext|>", "5 ! <|im_start|>", "2000 = far"]);
    assert_eq!(vocabulary.len(), 2_001);
    let far = [("<far>".to_owned(), u32::MAX)].into_iter().collect();
    let far = CoreBPE::new([(b"a".to_vec(), 0)].into_iter().collect(), far, ".").expect("an encoding");
    assert!(from_core_bpe(&far, &VocabularyOptions::default()).is_err(), "and soon");
    let error =
        from_core_bpe(&encoding, &VocabularyOptions::default().max_tokens(5)).expect_err("past the limit");
    insta::assert_snapshot!(error, @"the vocabulary has 6 ids, limit 5; raise `max_tokens` (at most 16777214) or drop ids that no model emits");
}

#[test]
fn encodings_have_the_special_tokens_that_we_know() {
    let encodings = [
        (Encoding::R50kBase, tiktoken_rs::r50k_base_singleton()),
        (Encoding::P50kEdit, tiktoken_rs::p50k_edit_singleton()),
        (Encoding::Cl100kBase, tiktoken_rs::cl100k_base_singleton()),
        (Encoding::O200kHarmony, tiktoken_rs::o200k_harmony_singleton()),
    ];
    for (encoding, library) in encodings {
        let known = encoding.special_tokens();
        let names: BTreeSet<&str> = known.iter().map(|(_, name)| &**name).collect();
        assert_eq!(names, library.special_tokens().into_iter().collect(), "{encoding:?}");
        for (id, name) in &known {
            assert_eq!(library.encode_with_special_tokens(name), [*id]);
        }
    }
    let vocabulary = from_core_bpe(tiktoken_rs::cl100k_base_singleton(), &VocabularyOptions::default());
    let vocabulary = vocabulary.expect("a good encoding");
    assert_eq!((vocabulary.len(), vocabulary.sorted_text_tokens().len()), (100_277, 100_256));
    assert_eq!(vocabulary.stop_tokens().iter().map(|id| id.get()).collect::<Vec<_>>(), [100_257]);
}

#[test]
fn a_trie() {
    let words: [&[u8]; 7] = [b"a", b"", b" b", b"\xff<end>", b"\xff", b"\xff<turn>", b"\xff<|im_end|>"];
    let words = words.map(<[u8]>::to_vec);
    let trie = |end, turn| {
        let mut info = TokRxInfo::new(7, end);
        info.tok_end_of_turn = turn;
        TokTrie::from(&info, &words)
    };
    let vocabulary = from_tok_trie(&trie(3, Some(5)), &VocabularyOptions::default()).expect("a good trie");
    insta::assert_snapshot!(list(&vocabulary), @r#"
    0 = a
    1 -
    2 =  b
    3 . <end>
    4 = \xff
    5 . <turn>
    6 . <|im_end|>
    "#);
    let vocabulary = from_tok_trie(&trie(toktrie::INVALID_TOKEN, None), &VocabularyOptions::default());
    assert_eq!(
        vocabulary.expect("a good trie").stop_tokens().iter().map(|id| id.get()).collect::<Vec<_>>(),
        [6]
    );
    let given = from_tok_trie(&trie(3, Some(5)), &VocabularyOptions::default().stop_ids([0]));
    assert_eq!(given.expect("a good trie").stop_tokens().iter().map(|id| id.get()).collect::<Vec<_>>(), [0]);
}
