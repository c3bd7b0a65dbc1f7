//! Masks as the library `toktrie` holds them.

use grammask::TokenMask;
use toktrie::{SimpleVob, TokTrie};

/// A mask as a set of `toktrie`, which is written token by token: from the empty set or from the full one, as takes fewer
/// steps.
pub(crate) fn token_set(mask: &TokenMask, trie: &TokTrie) -> SimpleVob {
    let mut set = trie.alloc_token_set();
    let is_dense = mask.count() > mask.len() / 2;
    set.set_all(is_dense);
    let flipped = if is_dense { u32::MAX } else { 0 };
    let mut start = 0;
    for word in mask.as_words() {
        let mut rest = word ^ flipped;
        while rest != 0 {
            let id = start + rest.trailing_zeros();
            match is_dense {
                // Bits past the last token are 0 in a mask.
                true if id as usize >= mask.len() => break,
                true => set.disallow_token(id),
                false => set.allow_token(id),
            }
            rest &= rest - 1;
        }
        start += u32::BITS;
    }
    set
}
