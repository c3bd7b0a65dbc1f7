//! Sets of token ids as packed bits.
//!
//! A mask holds one bit for every token id: bit `id % 32` of word `id / 32`, so the least significant bit of
//! a word is its smallest id. Inference engines and their kernels read this layout directly. Bits past the
//! last id (the *tail*) are 0, so equality, counting and hashing of whole words are correct.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::bits::{self, words_for};
use super::stored_mask::StoredMask;
use crate::ids::TokenId;

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
    /// The stored mask whose bits the words are, if nobody wrote them since. Methods that give out the words
    /// for writing reset it first.
    source: Option<Arc<StoredMask>>,
    /// Words that hold other masks and are not shown, those that were shown last at the end.
    spare: Vec<SpareBuffer>,
}

/// Words that hold a stored mask.
#[derive(Clone)]
struct SpareBuffer {
    words: Box<[u32]>,
    source: Arc<StoredMask>,
}

/// Spare buffers that a mask keeps beside the one that it shows. Texts go to and fro between few kinds of masks: within a string
/// and outside, within a name.
const MAX_SPARE: usize = 7;

/// A copy has the bits alone.
impl Clone for TokenMask {
    fn clone(&self) -> Self {
        Self { words: self.words.clone(), len: self.len, source: self.source.clone(), spare: Vec::new() }
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
        Self { words: vec![0; words_for(len)].into_boxed_slice(), len, source: None, spare: Vec::new() }
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

    /// The words, to be written. The caller leaves the tail bits 0.
    pub fn as_mut_words(&mut self) -> &mut [u32] {
        self.source = None;
        &mut self.words
    }

    /// Makes the mask equal to a stored one of the same vocabulary, as [`StoredMask::write`] does. If the
    /// mask holds it already, nothing is copied. If it holds a mask that shares its greater part, only the
    /// differences are: the same inside of a string, or two masks of a few tokens each.
    ///
    /// To make this likely, up to eight buffers are kept. [`as_words`](Self::as_words) shows the current one,
    /// which may have another address after each call. A mask with fewer ids than the stored one gets as
    /// many.
    pub fn load(&mut self, stored: &Arc<StoredMask>) {
        if self.len < stored.id_count() {
            *self = Self::new(stored.id_count());
        }
        // The words were written by the caller, or never: nothing is known of them.
        let Some(before) = &self.source else {
            stored.write(&mut self.words);
            self.source = Some(Arc::clone(stored));
            return;
        };
        if Arc::ptr_eq(before, stored) {
            return;
        }
        // Changing many words takes as long as showing another buffer, which may hold the mask already.
        let is_large = stored.is_large() || before.is_large();
        if is_large || !stored.write_changes(before, &mut self.words) {
            // The masks of a text that nears its bound come once and not again, so they get no buffer of
            // their own.
            match stored.is_later_in_countdown(before) {
                true => stored.write(&mut self.words),
                false => self.show_spare(stored),
            }
        }
        self.source = Some(Arc::clone(stored));
    }

    /// Shows a spare buffer, because the words shown now hold too different a mask.
    #[inline(never)]
    fn show_spare(&mut self, stored: &Arc<StoredMask>) {
        // From the buffer that was shown last: texts alternate between few masks.
        let same = self.spare.iter().rposition(|buffer| Arc::ptr_eq(&buffer.source, stored));
        let mut shown = match same.or_else(|| self.update_spare(stored)) {
            Some(place) => self.spare.remove(place).words,
            None => {
                let mut words = match self.spare.len() < MAX_SPARE {
                    true => vec![0; self.words.len()].into_boxed_slice(),
                    // The buffer that was shown least recently gives its memory.
                    false => self.spare.remove(0).words,
                };
                stored.write(&mut words);
                words
            }
        };
        std::mem::swap(&mut shown, &mut self.words);
        self.spare.extend(self.source.take().map(|source| SpareBuffer { words: shown, source }));
    }

    /// Turns a spare buffer into a mask, if that takes little.
    fn update_spare(&mut self, stored: &StoredMask) -> Option<usize> {
        if stored.is_large() {
            return None;
        }
        self.spare.iter_mut().rposition(|SpareBuffer { words, source }| {
            !source.is_large() && stored.write_changes(source, words)
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
            self.source.clone_from(&other.source);
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
        let spare = self.spare.iter().map(|buffer| size_of::<SpareBuffer>() + size_of_val(&*buffer.words));
        size_of::<Self>() + size_of_val(&*self.words) + spare.sum::<usize>()
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
