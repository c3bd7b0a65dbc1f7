//! Slices against a check of every token, character by character.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use grammask_mask_cache::{Slice, TokenSets, Trie, Vocabulary, bits, words_for};
use proptest::prelude::*;

use crate::support::{ids, token_lists, vocabulary};

/// The number of characters of a text over the class, a cut one at the end counted; `None` if it is not one. Tries
/// all ways to complete the last character.
fn chars_inside(slice: Slice<'_>, text: &[u8]) -> Option<u32> {
    let class = slice.class();
    let in_class = |text: &[u8]| {
        let text = std::str::from_utf8(text).ok()?;
        let holds = |character: char| match u8::try_from(character) {
            Ok(byte) if byte < 128 => class.ascii >> byte & 1 == 1,
            _ => class.non_ascii,
        };
        text.chars().all(holds).then(|| text.chars().count() as u32)
    };
    if let Some(count) = in_class(text) {
        return Some(count);
    }
    (1..=3_usize.min(text.len())).find_map(|cut| {
        let (whole, tail) = text.split_at(text.len() - cut);
        let is_cut = class.non_ascii && beginnings().contains(tail);
        if is_cut { in_class(whole).map(|count| count + 1) } else { None }
    })
}

/// The beginnings that cut characters above U+007F have.
fn beginnings() -> &'static HashSet<Vec<u8>> {
    static BEGINNINGS: OnceLock<HashSet<Vec<u8>>> = OnceLock::new();
    BEGINNINGS.get_or_init(|| {
        let mut beginnings = HashSet::new();
        for character in '\u{80}'..=char::MAX {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            for length in 1..bytes.len() {
                if !beginnings.contains(&bytes[..length]) {
                    beginnings.insert(bytes[..length].to_vec());
                }
            }
        }
        beginnings
    })
}

fn trie_tokens(trie: &Trie) -> Vec<u32> {
    let mut tokens: Vec<u32> =
        trie.nodes().iter().map(|node| node.token()).filter(|&token| token != trie.no_token()).collect();
    tokens.extend(trie.duplicates().iter().map(|(_, other)| other.get()));
    tokens.extend(trie.long_tokens().iter().map(|id| id.get()));
    tokens.sort_unstable();
    tokens
}

fn check(vocabulary: Vocabulary) {
    let vocabulary = &Arc::new(vocabulary);
    let sets = TokenSets::shared(vocabulary);
    let words = words_for(vocabulary.len());
    for slice in sets.slices() {
        let (mut inside, mut residual, mut lengths) = (vec![], vec![], vec![]);
        for id in ids(vocabulary) {
            let bytes = vocabulary.token_bytes(id);
            let chars = chars_inside(slice, bytes);
            assert_eq!(slice.is_inside(bytes), chars.is_some(), "{bytes:x?} in {:?}", slice.class());
            match chars {
                _ if bytes.is_empty() => {}
                Some(chars) => {
                    inside.push(id.index());
                    lengths.push((id.index(), chars));
                }
                None => residual.push(id.get()),
            }
        }
        assert_eq!(slice.tokens().len(), words);
        assert_eq!(bits::iter(slice.tokens()).collect::<Vec<_>>(), inside);
        assert_eq!(trie_tokens(slice.residual()), residual);
        assert!(slice.is_ready());
        assert_eq!(slice.max_chars(), lengths.iter().map(|&(_, chars)| chars).max().unwrap_or(0));
        for bound in (0..36).chain([60, 69, 70, 100, 254, 255, 256, 257, 258, 300, u32::MAX]) {
            let expected: Vec<usize> =
                lengths.iter().filter(|&&(_, chars)| chars <= bound).map(|&(index, _)| index).collect();
            let mut written = vec![u32::MAX; words];
            slice.write_at_most(bound, &mut written);
            assert_eq!(bits::iter(&written).collect::<Vec<_>>(), expected, "at most {bound}");
            if let Some(stored) = slice.at_most(bound) {
                assert_eq!(stored, written);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn slices_hold_the_texts_over_their_class(tokens in token_lists()) {
        check(vocabulary(&tokens));
    }
}

#[test]
fn vocabularies_of_no_and_one_token() {
    check(vocabulary(&[]));
    check(vocabulary(&[None]));
    check(vocabulary(&[Some(b"a".to_vec())]));
    check(vocabulary(&[Some(b"\"".to_vec())]));
}

#[test]
fn no_class_holds_an_earlier_one() {
    let sets = TokenSets::shared(&Arc::new(vocabulary(&[])));
    let classes: Vec<_> = sets.slices().map(|slice| *slice.class()).collect();
    for (place, later) in classes.iter().enumerate() {
        for earlier in &classes[..place] {
            assert!(
                earlier.ascii & !later.ascii != 0 || (earlier.non_ascii && !later.non_ascii),
                "{later:?}"
            );
        }
    }
    assert!(sets.slices().enumerate().all(|(place, slice)| slice.place() == place));
    assert!(sets.slice(classes.len() - 1).is_some());
    assert!(sets.slice(classes.len()).is_none());
}

#[test]
fn a_class_may_begin_where_all_its_first_bytes_can() {
    let sets = TokenSets::shared(&Arc::new(vocabulary(&[])));
    let first_bytes = |slice: Slice<'_>| {
        let class = slice.class();
        let mut next = [0_u64; 4];
        for byte in 0..=255_u8 {
            let begins = if byte < 0x80 {
                class.contains_ascii(byte)
            } else {
                class.non_ascii && (0xC2..=0xF4).contains(&byte)
            };
            next[usize::from(byte) / 64] |= u64::from(begins) << (byte % 64);
        }
        next
    };
    for slice in sets.slices() {
        let next = first_bytes(slice);
        assert!(slice.may_begin(&next));
        assert!(slice.may_begin(&[u64::MAX; 4]));
        for byte in (0..256).filter(|byte| next[byte / 64] >> (byte % 64) & 1 == 1) {
            let mut fewer = next;
            fewer[byte / 64] &= !(1 << (byte % 64));
            assert!(!slice.may_begin(&fewer), "byte {byte} of {:?}", slice.class());
        }
    }
}

#[test]
fn preparing_builds_slices_with_characters_beyond_ascii() {
    let sets = TokenSets::shared(&Arc::new(vocabulary(&[Some(b"a".to_vec())])));
    let before = sets.memory_usage();
    assert!(sets.slices().all(|slice| !slice.is_ready()));
    sets.prepare();
    assert!(sets.slices().all(|slice| slice.is_ready() == slice.class().non_ascii));
    assert!(sets.memory_usage() > before);
}

#[test]
fn one_slice_is_the_inside_of_json_strings() {
    let sets = TokenSets::shared(&Arc::new(vocabulary(&[Some(b"a".to_vec())])));
    let outside = ["\"", "\\", "\n"];
    let inside = |slice: &grammask_mask_cache::Slice<'_>| {
        slice.is_inside("é\u{7f} 'x".as_bytes())
            && outside.iter().all(|text| !slice.is_inside(text.as_bytes()))
    };
    assert!(sets.slices().any(|slice| inside(&slice)));
}

#[test]
fn sets_are_shared_as_long_as_somebody_holds_them() {
    let vocabulary = Arc::new(vocabulary(&[Some(b"a".to_vec())]));
    let sets = TokenSets::shared(&vocabulary);
    assert!(Arc::ptr_eq(&sets, &TokenSets::shared(&vocabulary)));
    sets.prepare();
    drop(sets);
    assert_eq!(Arc::strong_count(&vocabulary), 1);
    assert!(TokenSets::shared(&vocabulary).slices().all(|slice| !slice.is_ready()));
}
