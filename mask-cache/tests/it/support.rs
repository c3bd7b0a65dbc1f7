//! Vocabularies for tests.

use grammask_mask_cache::{TokenId, Vocabulary, VocabularyOptions};
use proptest::prelude::*;

/// An id of a test's vocabulary.
pub(crate) fn id(number: u32) -> TokenId {
    TokenId::new(number).expect("tests use small ids")
}

/// All ids of a vocabulary.
pub(crate) fn ids(vocabulary: &Vocabulary) -> impl Iterator<Item = TokenId> + '_ {
    (0..).map_while(|number| vocabulary.id(number))
}

/// A vocabulary of these tokens, `None` for holes.
pub(crate) fn vocabulary(tokens: &[Option<Vec<u8>>]) -> Vocabulary {
    Vocabulary::from_tokens(tokens.iter().map(Option::as_ref), &VocabularyOptions::default().stop_ids([]))
        .expect("a small vocabulary")
}

/// Token lists with all properties of real ones and more: holes, empty and equal tokens, tokens that are
/// prefixes of others, and tokens too long for a trie. Some tokens have cut characters or bytes that are not
/// UTF-8.
pub(crate) fn token_lists() -> impl Strategy<Value = Vec<Option<Vec<u8>>>> {
    let piece = prop_oneof![
        4 => "[ab]{1,3}".prop_map(String::into_bytes),
        2 => "[a-z ]{0,5}".prop_map(String::into_bytes),
        2 => "[A-Za-z0-9_\"\\\\\n\u{7f}-]{0,4}".prop_map(String::into_bytes),
        2 => "[aé日😀]{0,4}".prop_map(String::into_bytes),
        1 => "[a日]{30,70}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..4),
        1 => prop::sample::select(vec![
            vec![0xE2, 0x96], vec![0xF0, 0x9F, 0x98], vec![0xC3], vec![0x80], vec![0xED, 0xA0], vec![0xF5],
            vec![0xE0, 0x80], vec![0xF4, 0x90], vec![0xC0], vec![0xF4, 0x8F], vec![b'a', 0xF0, 0x9F],
        ]),
        1 => (250_usize..260, "[ab]{1,2}").prop_map(|(length, end)| {
            let mut long = vec![b'a'; length];
            long.extend(end.into_bytes());
            long
        }),
    ];
    prop::collection::vec(prop::option::weighted(0.9, piece), 0..80)
}
