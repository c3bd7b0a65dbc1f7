//! The operations of a mask on words that the caller owns: rows of a batch, pinned memory, tensors.
//!
//! Positions outside the words are never an error: they are not contained, and writing them does nothing.

/// Number of words that hold one bit for each of `len` ids.
pub const fn words_for(len: usize) -> usize {
    len.div_ceil(32)
}

/// Sets a bit.
pub fn set(words: &mut [u32], index: usize) {
    if let Some(word) = words.get_mut(index / 32) {
        *word |= 1 << (index % 32);
    }
}

/// Clears a bit.
pub fn clear(words: &mut [u32], index: usize) {
    if let Some(word) = words.get_mut(index / 32) {
        *word &= !(1 << (index % 32));
    }
}

/// Whether a bit is set.
pub fn contains(words: &[u32], index: usize) -> bool {
    words.get(index / 32).is_some_and(|word| word >> (index % 32) & 1 == 1)
}

/// Number of set bits.
pub fn count(words: &[u32]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// Positions of the set bits, ascending.
pub fn iter(words: &[u32]) -> impl Iterator<Item = usize> + '_ {
    // Most words of a mask of few tokens are zero.
    words.iter().enumerate().filter(|&(_, &word)| word != 0).flat_map(|(place, &word)| {
        // Each step takes the lowest bit off the word.
        std::iter::successors(Some(word), |&left| {
            let left = left & (left - 1);
            (left != 0).then_some(left)
        })
        .map(move |left| place * 32 + left.trailing_zeros() as usize)
    })
}

/// Sets bits `0..len` and clears all others.
pub fn fill(words: &mut [u32], len: usize) {
    words.fill(u32::MAX);
    clear_tail(words, len);
}

/// Clears all bits from `len` on.
pub fn clear_tail(words: &mut [u32], len: usize) {
    if !len.is_multiple_of(32)
        && let Some(word) = words.get_mut(len / 32)
    {
        *word &= (1 << (len % 32)) - 1;
    }
    if let Some(past) = words.get_mut(words_for(len)..) {
        past.fill(0);
    }
}

/// Sets in `into` the bits that are set in `from`, as far as both reach.
pub fn or(into: &mut [u32], from: &[u32]) {
    for (word, other) in into.iter_mut().zip(from) {
        *word |= other;
    }
}

/// Copies `from` over the beginning of `into`, as far as both reach.
pub fn copy(into: &mut [u32], from: &[u32]) {
    let both = into.len().min(from.len());
    into[..both].copy_from_slice(&from[..both]);
}
