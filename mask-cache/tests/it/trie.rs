//! The trie against a list of all prefixes of all tokens.

use std::collections::{BTreeMap, BTreeSet};

use grammask_mask_cache::{TokenId, Trie, Vocabulary};
use proptest::prelude::*;

use crate::support::{id, ids, token_lists, vocabulary};

/// Rebuilds from the definition what the trie must hold, and compares everything.
fn check(vocabulary: &Vocabulary, trie: &Trie, tokens: &BTreeSet<TokenId>) {
    let mut by_bytes: BTreeMap<&[u8], Vec<TokenId>> = BTreeMap::new();
    for &id in tokens {
        by_bytes.entry(vocabulary.token_bytes(id)).or_default().push(id);
    }
    let is_long = |bytes: &[u8]| bytes.len() > 255;
    let long: Vec<TokenId> =
        by_bytes.iter().filter(|(bytes, _)| is_long(bytes)).flat_map(|(_, ids)| ids).copied().collect();
    assert_eq!(trie.long_tokens(), long);

    // Byte strings in their order are the nodes in pre-order.
    let short = || by_bytes.iter().filter(|(bytes, _)| !is_long(bytes));
    let prefixes: BTreeSet<&[u8]> =
        short().flat_map(|(bytes, _)| (1..=bytes.len()).map(|end| &bytes[..end])).collect();
    let prefixes: Vec<&[u8]> = prefixes.into_iter().collect();
    assert_eq!(trie.nodes().len(), prefixes.len());
    assert_eq!(trie.no_token() as usize, vocabulary.len());
    for (index, (node, prefix)) in trie.nodes().iter().zip(&prefixes).enumerate() {
        assert_eq!(Some(&node.byte()), prefix.last());
        assert_eq!(usize::from(node.depth()), prefix.len());
        let skip = (index + 1..prefixes.len())
            .find(|&next| !prefixes[next].starts_with(prefix))
            .unwrap_or(prefixes.len());
        assert_eq!(node.skip() as usize, skip);
        let least = by_bytes.get(prefix).map_or(trie.no_token(), |ids| ids[0].get());
        assert_eq!(node.token(), least);
    }
    for byte in 0..=255 {
        let expected: Vec<usize> = (0..prefixes.len()).filter(|&index| prefixes[index][0] == byte).collect();
        let range: Vec<usize> = trie.first_byte(byte).map(|index| index as usize).collect();
        assert_eq!(range, expected, "first byte {byte}");
    }
    let duplicates: Vec<(TokenId, TokenId)> =
        short().flat_map(|(_, ids)| ids[1..].iter().map(|&other| (ids[0], other))).collect();
    assert_eq!(trie.duplicates(), duplicates);
    for (bytes, ids) in short() {
        assert_eq!(trie.find(bytes), Some(ids[0]));
        let longer = [bytes, &b"~"[..]].concat();
        assert_eq!(trie.find(&longer), by_bytes.get(&longer[..]).map(|ids| ids[0]));
    }
}

fn text_tokens(vocabulary: &Vocabulary) -> BTreeSet<TokenId> {
    ids(vocabulary).filter(|&id| !vocabulary.token_bytes(id).is_empty()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_trie_holds_the_prefixes(tokens in token_lists()) {
        let vocabulary = vocabulary(&tokens);
        check(&vocabulary, vocabulary.trie(), &text_tokens(&vocabulary));
    }

    #[test]
    fn a_trie_over_some_of_the_tokens(tokens in token_lists(), kept in any::<u64>()) {
        let vocabulary = vocabulary(&tokens);
        let is_kept = |id: &TokenId| kept >> (id.get() % 64) & 1 == 1;
        let kept = vocabulary.sorted_text_tokens().iter().copied().filter(is_kept);
        let trie = Trie::from_sorted(vocabulary.len(), kept.map(|id| (id, vocabulary.token_bytes(id)))).unwrap();
        check(&vocabulary, &trie, &text_tokens(&vocabulary).into_iter().filter(is_kept).collect());
    }
}

#[test]
fn no_tokens_no_nodes() {
    let trie = Trie::from_sorted(3, []).unwrap();
    assert!(trie.nodes().is_empty());
    assert_eq!(trie.first_byte(0), 0..0);
    assert_eq!(trie.first_byte(255), 0..0);
    assert_eq!(trie.find(b""), None);
    assert_eq!(trie.find(b"a"), None);
}

#[test]
fn wrong_input_is_refused() {
    let refusal = |len, tokens: &[(u32, &'static [u8])]| {
        let tokens = tokens.iter().map(|&(number, bytes)| (id(number), bytes));
        Trie::from_sorted(len, tokens).unwrap_err().to_string()
    };
    insta::assert_snapshot!(
        refusal(9, &[(1, b"b"), (0, b"a")]),
        @"token 0 is out of order; sort the tokens by their bytes, then by id, and give each id once"
    );
    insta::assert_snapshot!(
        refusal(9, &[(1, b"a"), (1, b"a")]),
        @"token 1 is out of order; sort the tokens by their bytes, then by id, and give each id once"
    );
    insta::assert_snapshot!(
        refusal(1, &[(1, b"a")]),
        @"token id 1 is not an id of the vocabulary, which has 1; give an id below that, or a larger `size`"
    );
}

#[test]
fn more_nodes_than_a_skip_can_count_are_refused() {
    // Tokens of 255 bytes that differ in their first three: nearly every byte is a node of its own.
    let tokens: Vec<Vec<u8>> = (0..70_000_u32)
        .map(|number| {
            let mut token = vec![b'x'; 255];
            token[..3].copy_from_slice(&number.to_be_bytes()[1..]);
            token
        })
        .collect();
    let sorted = tokens.iter().zip(0..).map(|(token, number)| (id(number), &token[..]));
    let error = Trie::from_sorted(tokens.len(), sorted).unwrap_err();
    insta::assert_snapshot!(
        error,
        @"the prefix trie of the tokens has more than 16777215 nodes; drop tokens, the longest first"
    );
}
