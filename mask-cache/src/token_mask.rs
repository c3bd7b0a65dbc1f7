//! Sets of token ids as packed bits.
//!
//! A mask holds one bit for every token id: bit `id % 32` of word `id / 32`, so the least significant bit of a
//! word is its smallest id. Inference engines and their kernels read this layout as it stands. Bits past the
//! last id (the *tail*) are 0, which is what makes equality, counting and hashing of whole words correct.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::{StoredMask, TokenId, Vocabulary};

/// Number of words that hold one bit for each of `len` ids.
pub const fn words_for(len: usize) -> usize {
    len.div_ceil(32)
}

/// A set of token ids of a vocabulary with a known number of ids.
///
/// # Example
///
/// ```
/// use grammask_mask_cache::{TokenId, TokenMask};
///
/// let mut mask = TokenMask::new(40);
/// let id = TokenId::new(33).ok_or("ids are small")?;
/// mask.set(id);
/// assert_eq!(mask.as_words(), [0, 0b10]);
/// assert_eq!(mask.iter().collect::<Vec<_>>(), [id]);
/// # Ok::<(), &str>(())
/// ```
pub struct TokenMask {
    words: Box<[u32]>,
    len: usize,
    /// The stored mask whose bits the words are, if nobody wrote them since. Whatever hands the words out to be
    /// written forgets it first.
    holds: Option<Arc<StoredMask>>,
    /// Words that hold other masks and are not shown, those that were shown last at the end.
    behind: Vec<Behind>,
}

/// Words that hold a stored mask.
#[derive(Clone)]
struct Behind {
    words: Box<[u32]>,
    holds: Arc<StoredMask>,
}

/// Words that a mask keeps behind those that it shows. Texts go to and fro between few kinds of masks: within a string
/// and outside, within a name.
const MAX_BEHIND: usize = 7;

/// A copy has the bits alone.
impl Clone for TokenMask {
    fn clone(&self) -> Self {
        Self { words: self.words.clone(), len: self.len, holds: self.holds.clone(), behind: Vec::new() }
    }
}

impl PartialEq for TokenMask {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.words == other.words
    }
}

impl Eq for TokenMask {}

impl Hash for TokenMask {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.len, &self.words).hash(state);
    }
}

impl TokenMask {
    /// The empty set over ids `0..len`.
    pub fn new(len: usize) -> Self {
        Self { words: vec![0; words_for(len)].into_boxed_slice(), len, holds: None, behind: Vec::new() }
    }

    /// Number of ids that the mask has a bit for.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no id is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The words, [`words_for`]`(len)` of them.
    pub fn as_words(&self) -> &[u32] {
        &self.words
    }

    /// The words, to be written. Whoever writes leaves the tail bits 0.
    pub fn as_mut_words(&mut self) -> &mut [u32] {
        self.holds = None;
        &mut self.words
    }

    /// Makes the mask equal to a stored one of this vocabulary; as [`StoredMask::write`], but nothing is copied if
    /// the mask holds it already, and only the differences are if it holds a mask that shares its greater part:
    /// the same inside of a string, or two masks of a few tokens each.
    ///
    /// So that this is nearly always so, up to eight buffers are kept, of which [`as_words`](Self::as_words) shows the one
    /// that is meant: it may lie at another address after each call.
    pub fn load(&mut self, stored: &Arc<StoredMask>, vocabulary: &Vocabulary) {
        let Some(before) = &self.holds else {
            stored.write(vocabulary, &mut self.words);
            self.holds = Some(Arc::clone(stored));
            return;
        };
        if Arc::ptr_eq(before, stored) {
            return;
        }
        let is_large = stored.is_large() || before.is_large();
        if is_large || !stored.write_changes(before, vocabulary, &mut self.words) {
            match stored.succeeds(before) {
                true => stored.write(vocabulary, &mut self.words),
                false => self.show_behind(stored, vocabulary),
            }
        }
        self.holds = Some(Arc::clone(stored));
    }

    /// Shows words in place of others that hold too different a mask.
    #[inline(never)]
    fn show_behind(&mut self, stored: &Arc<StoredMask>, vocabulary: &Vocabulary) {
        let same = self.behind.iter().rposition(|behind| Arc::ptr_eq(&behind.holds, stored));
        let mut shown = match same.or_else(|| self.change_behind(stored, vocabulary)) {
            Some(place) => self.behind.remove(place).words,
            None => {
                let mut words = match self.behind.len() < MAX_BEHIND {
                    true => vec![0; self.words.len()].into_boxed_slice(),
                    false => self.behind.remove(0).words,
                };
                stored.write(vocabulary, &mut words);
                words
            }
        };
        std::mem::swap(&mut shown, &mut self.words);
        self.behind.extend(self.holds.take().map(|holds| Behind { words: shown, holds }));
    }

    /// Turns words behind those that are shown into a mask, if that takes little.
    fn change_behind(&mut self, stored: &StoredMask, vocabulary: &Vocabulary) -> Option<usize> {
        if stored.is_large() {
            return None;
        }
        self.behind.iter_mut().rposition(|Behind { words, holds }| {
            !holds.is_large() && stored.write_changes(holds, vocabulary, words)
        })
    }

    /// Puts an id into the set. Ids past the last one are ignored.
    pub fn set(&mut self, id: TokenId) {
        if id.index() < self.len {
            bits::set(self.as_mut_words(), id.index());
        }
    }

    /// Takes an id out of the set.
    pub fn clear(&mut self, id: TokenId) {
        bits::clear(self.as_mut_words(), id.index());
    }

    /// Whether an id is in the set.
    pub fn contains(&self, id: TokenId) -> bool {
        bits::contains(&self.words, id.index())
    }

    /// Number of ids in the set.
    pub fn count(&self) -> usize {
        bits::count(&self.words)
    }

    /// The ids in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> + '_ {
        bits::iter(&self.words).filter_map(|index| u32::try_from(index).ok().and_then(TokenId::new))
    }

    /// Puts every id into the set.
    pub fn fill(&mut self) {
        let len = self.len;
        bits::fill(self.as_mut_words(), len);
    }

    /// Takes every id out of the set.
    pub fn clear_all(&mut self) {
        self.as_mut_words().fill(0);
    }

    /// Makes the mask equal to `other`. The allocation is kept where the lengths agree.
    pub fn copy_from(&mut self, other: &Self) {
        if self.len == other.len {
            self.words.copy_from_slice(&other.words);
            self.holds.clone_from(&other.holds);
        } else {
            *self = other.clone();
        }
    }

    /// Puts the ids of `other` into the set, as far as this mask has bits for them.
    pub fn or_with(&mut self, other: &Self) {
        let len = self.len;
        let words = self.as_mut_words();
        bits::or(words, &other.words);
        bits::clear_tail(words, len);
    }

    /// Bytes of memory held.
    pub fn memory_usage(&self) -> usize {
        let behind = self.behind.iter().map(|behind| size_of::<Behind>() + size_of_val(&*behind.words));
        size_of::<Self>() + size_of_val(&*self.words) + behind.sum::<usize>()
    }
}

impl fmt::Debug for TokenMask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Enough to recognise a set; a full mask would print a hundred thousand numbers.
        const SHOWN: usize = 16;
        let count = self.count();
        write!(formatter, "TokenMask({count} of {}: ", self.len)?;
        formatter.debug_list().entries(bits::iter(&self.words).take(SHOWN)).finish()?;
        if count > SHOWN {
            formatter.write_str(" ...")?;
        }
        formatter.write_str(")")
    }
}

/// The same operations on words that the caller owns: rows of a batch, pinned memory, tensors.
///
/// Positions outside the words are never an error: they are not contained, and writing them does nothing.
pub mod bits {
    use super::words_for;

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
        words.iter().enumerate().flat_map(|(place, &word)| {
            // Each step takes the lowest bit off the word.
            std::iter::successors((word != 0).then_some(word), |&rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| place * 32 + rest.trailing_zeros() as usize)
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(value: u32) -> TokenId {
        TokenId::new(value).unwrap()
    }

    #[test]
    fn tail_bits_stay_zero() {
        for len in [0, 1, 31, 32, 33, 64, 100] {
            let mut mask = TokenMask::new(len);
            mask.fill();
            assert_eq!(mask.count(), len);
            mask.set(id(len as u32));
            assert_eq!(mask.count(), len);
            let mut longer = TokenMask::new(len + 40);
            longer.fill();
            mask.or_with(&longer);
            assert_eq!(mask.count(), len);
            assert_eq!(mask.iter().count(), len);
        }
    }

    #[test]
    fn positions_outside_are_ignored() {
        let mut words = [0; 2];
        bits::set(&mut words, 64);
        bits::clear(&mut words, 1000);
        assert_eq!(words, [0, 0]);
        assert!(!bits::contains(&words, 64));
        bits::copy(&mut words, &[1, 2, 3]);
        assert_eq!(words, [1, 2]);
        bits::clear_tail(&mut words, 33);
        assert_eq!(words, [1, 0]);
    }

    #[test]
    fn debug_is_short() {
        let mut mask = TokenMask::new(100);
        mask.set(id(3));
        assert_eq!(format!("{mask:?}"), "TokenMask(1 of 100: [3])");
        mask.fill();
        assert!(format!("{mask:?}").ends_with("15] ...)"));
    }
}
