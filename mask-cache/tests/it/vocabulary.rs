//! Vocabularies made from tokens.

use std::collections::HashSet;

use grammask_mask_cache::{TokenId, TokenKind, Vocabulary, VocabularyOptions};
use proptest::prelude::*;

use crate::support::{id, ids, token_lists, vocabulary};

/// Every id's kind and name, one a line.
fn list(vocabulary: &Vocabulary) -> String {
    let line = |id| format!("{id} {:?} {:?}\n", vocabulary.kind(id), vocabulary.token_name(id));
    ids(vocabulary).map(line).collect()
}

fn build(tokens: &[&str], options: &VocabularyOptions) -> Vocabulary {
    Vocabulary::from_tokens(tokens.iter().copied().map(Some), options).expect("a small vocabulary")
}

#[test]
fn kinds_and_names() {
    let options = VocabularyOptions::default().special_ids([1, 5, 6]).size(8);
    let vocabulary = build(&["a", "<|eot_id|>", "", "</s>", "é", "<pad>", ""], &options);
    insta::assert_snapshot!(list(&vocabulary), @r#"
    0 Text "a"
    1 Stop "<|eot_id|>"
    2 Empty ""
    3 Text "</s>"
    4 Text "é"
    5 Special "<pad>"
    6 Special ""
    7 Empty ""
    "#);
    assert_eq!(vocabulary.stop_tokens(), [id(1)]);
    assert_eq!(vocabulary.special_token(b"<pad>"), Some(id(5)));
    assert_eq!(vocabulary.special_token(b""), None);
    assert_eq!(vocabulary.special_token(b"a"), None);
    assert_eq!(vocabulary.text_token(b"</s>"), Some(id(3)));
    assert_eq!(vocabulary.text_token(b"<pad>"), None);
    assert_eq!(vocabulary.text_token(b""), None);
    assert_eq!(vocabulary.special_tokens().iter().collect::<Vec<_>>(), [id(1), id(5), id(6)]);
    assert_eq!(vocabulary.special_names().count(), 2);
    assert_eq!(vocabulary.max_token_len(), 4);
    assert_eq!(vocabulary.missing_bytes().len(), 255);
}

#[test]
fn given_stop_ids_win_and_become_special() {
    let options = VocabularyOptions::default().special_ids([1]).stop_ids([0, 0]);
    let vocabulary = build(&["x", "</s>"], &options);
    insta::assert_snapshot!(list(&vocabulary), @r#"
    0 Stop "x"
    1 Special "</s>"
    "#);
    let none = build(&["x", "</s>"], &VocabularyOptions::default().special_ids([1]).stop_ids([]));
    assert_eq!(none.stop_tokens(), []);
}

#[test]
fn a_vocabulary_without_a_stop_token_is_meant() {
    let refused = |tokens: &[&str], options: VocabularyOptions| {
        Vocabulary::from_tokens(tokens.iter().copied().map(Some), &options).unwrap_err().to_string()
    };
    let options = VocabularyOptions::default;
    insta::assert_snapshot!(refused(&["a", "</s>"], options()), @"no special token of the vocabulary is known to end a text; give the ids that do as `stop_ids` (the model's `generation_config.json` has them as `eos_token_id`), or an empty list if there are none");
    let expected = refused(&["a"], options());
    assert_eq!(refused(&[], options().size(4)), expected);
    assert_eq!(refused(&["a", "<pad>"], options().special_ids([1])), expected);
    let file = br#"{"model": {"type": "BPE", "vocab": {"a": 0, "</s>": 1}, "merges": []}}"#;
    assert_eq!(Vocabulary::from_tokenizer_json(file, &options()).unwrap_err().to_string(), expected);
    let vocabulary = Vocabulary::from_tokenizer_json(file, &options().stop_ids([])).unwrap();
    assert_eq!(vocabulary.stop_tokens(), []);
    assert_eq!(build(&["a", "</s>"], &options().special_ids([1])).stop_tokens(), [id(1)]);
}

#[test]
fn end_of_message_ends_the_text_only_without_return() {
    let special = VocabularyOptions::default().special_ids([0, 1]);
    assert_eq!(build(&["<|end|>", "<|user|>"], &special).stop_tokens(), [id(0)]);
    assert_eq!(build(&["<|end|>", "<|return|>"], &special).stop_tokens(), [id(1)]);
}

#[test]
fn ids_outside_have_nothing() {
    for tokens in [&[][..], &["a"]] {
        let vocabulary = build(tokens, &VocabularyOptions::default().stop_ids([]));
        let outside = id(tokens.len() as u32);
        assert_eq!(vocabulary.id(outside.get()), None);
        assert_eq!(vocabulary.kind(outside), TokenKind::Empty);
        assert_eq!(vocabulary.token_bytes(outside), b"");
        assert_eq!(vocabulary.token_name(outside), "");
        assert!(!vocabulary.is_stop(outside));
    }
    assert!(build(&[], &VocabularyOptions::default().stop_ids([])).is_empty());
    assert_eq!(TokenId::new(u32::MAX), None);
}

#[test]
fn tokens_of_all_lengths_come_back() {
    let tokens: Vec<Option<Vec<u8>>> =
        (0..60u8).map(|len| Some((0..len).map(|at| at ^ len).collect())).collect();
    let vocabulary = vocabulary(&tokens);
    let texts = vocabulary.token_texts();
    for (id, token) in ids(&vocabulary).zip(&tokens) {
        assert_eq!(Some(texts.get(id)), token.as_deref());
    }
    assert_eq!(texts.get(id(60)), b"");
}

#[test]
fn contradictions_and_limits_are_refused() {
    let refusal = |options: VocabularyOptions| {
        Vocabulary::from_tokens([Some("a"), Some("bc")], &options).unwrap_err().to_string()
    };
    let options = VocabularyOptions::default;
    insta::assert_snapshot!(refusal(options().size(1)), @"`size` is 1 but the tokenizer has ids up to 1; give the number of rows of the model's output layer, which is at least 2");
    insta::assert_snapshot!(refusal(options().special_ids([2])), @"special id 2 is not an id of the vocabulary, which has 2; give an id below that, or a larger `size`");
    insta::assert_snapshot!(refusal(options().stop_ids([u32::MAX])), @"stop id 4294967295 is not an id of the vocabulary, which has 2; give an id below that, or a larger `size`");
    insta::assert_snapshot!(refusal(options().size(1 << 23)), @"the vocabulary has 8388608 ids, limit 4194304; raise `max_tokens` (at most 16777214) or drop ids that no model emits");
    insta::assert_snapshot!(refusal(options().max_tokens(1)), @"the vocabulary has 2 ids, limit 1; raise `max_tokens` (at most 16777214) or drop ids that no model emits");
    insta::assert_snapshot!(refusal(options().max_bytes(2)), @"the tokens have more than 2 bytes together; raise `max_bytes` if that is meant");
}

#[test]
fn fingerprints_are_stable() {
    let vocabulary = build(&["a", "</s>"], &VocabularyOptions::default().special_ids([1]));
    insta::assert_snapshot!(format!("{:032x}", vocabulary.fingerprint()), @"429d6f4a1d4e713b40b02120c2e87ea6");
}

#[test]
fn fingerprints_tell_vocabularies_apart() {
    let options = || VocabularyOptions::default().stop_ids([]);
    let all = [
        build(&[], &options()),
        build(&[], &options().size(1)),
        build(&["ab", "c"], &options()),
        build(&["a", "bc"], &options()),
        build(&["a", "bc"], &options().size(3)),
        build(&["a", "bc"], &options().special_ids([1])),
        build(&["a", "bc"], &options().stop_ids([1])),
        build(&["a", "bd"], &options().stop_ids([1])),
        build(&["", "abc"], &options()),
    ];
    let different: HashSet<u128> = all.iter().map(Vocabulary::fingerprint).collect();
    assert_eq!(different.len(), all.len());
}

#[cfg(feature = "embedded-vocab")]
#[test]
fn the_embedded_vocabulary() {
    let vocabulary = Vocabulary::o200k_harmony().unwrap();
    assert_eq!(vocabulary.len(), 201_088);
    assert_eq!(vocabulary.special_tokens().count(), 1090);
    assert_eq!(vocabulary.missing_bytes(), b"");
    assert_eq!(vocabulary.max_token_len(), 128);
    let stop: Vec<_> = vocabulary.stop_tokens().iter().map(|&id| vocabulary.token_name(id)).collect();
    assert_eq!(stop, ["<|endoftext|>", "<|return|>", "<|call|>"]);
    assert!(std::sync::Arc::ptr_eq(&vocabulary, &Vocabulary::o200k_harmony().unwrap()));
}

proptest! {
    #[test]
    fn tokens_come_out_as_they_went_in(tokens in token_lists()) {
        let vocabulary = vocabulary(&tokens);
        assert_eq!(vocabulary.len(), tokens.len());
        for (id, token) in ids(&vocabulary).zip(&tokens) {
            assert_eq!(vocabulary.token_bytes(id), token.as_deref().unwrap_or_default());
            let expected = if vocabulary.token_bytes(id).is_empty() { TokenKind::Empty } else { TokenKind::Text };
            assert_eq!(vocabulary.kind(id), expected);
        }
        let mut sorted: Vec<TokenId> = ids(&vocabulary).collect();
        sorted.retain(|&id| !vocabulary.token_bytes(id).is_empty());
        sorted.sort_by_key(|&id| (vocabulary.token_bytes(id), id));
        assert_eq!(vocabulary.sorted_text_tokens(), sorted);
        let missing: Vec<u8> =
            (0..=255).filter(|&byte| !tokens.contains(&Some(vec![byte]))).collect();
        assert_eq!(vocabulary.missing_bytes(), missing);
    }
}
