//! The tokens inside one class of characters, by their number of characters.
//!
//! A mask that allows all tokens of a class, or those up to a number of characters, holds a shared reference
//! to these tables. So a kept mask writes itself into a buffer without any other table.

use std::fmt;
use std::sync::Arc;

use once_cell::race::OnceBox;

use super::bits;
use crate::ids::TokenId;

/// Bounds for which the tokens up to this number of characters are stored as a bitset: 0 to this. A bitset
/// has 16 KiB for 128,000 tokens. Past it, some 100 tokens have to be taken out of the whole set, which is as
/// fast as copying.
const STORED_BOUND: usize = 32;

/// For each token its number of characters, a cut one at the end counted.
pub(crate) struct CharCounts {
    /// By id, up to [`MANY`].
    counts: Box<[u8]>,
    /// The few tokens with at least [`MANY`] characters, ascending.
    many: Box<[(TokenId, u32)]>,
}

/// Stands for this many characters or more.
const MANY: u8 = u8::MAX;

impl CharCounts {
    /// The counts of some tokens, each given once; those of all others are 0.
    pub(crate) fn new(vocabulary_len: usize, tokens: impl IntoIterator<Item = (TokenId, usize)>) -> Self {
        let mut counts = vec![0; vocabulary_len].into_boxed_slice();
        let mut many = Vec::new();
        for (id, chars) in tokens {
            counts[id.index()] = u8::try_from(chars).unwrap_or(MANY);
            if chars >= usize::from(MANY) {
                many.push((id, u32::try_from(chars).unwrap_or(u32::MAX)));
            }
        }
        many.sort_unstable();
        Self { counts, many: many.into() }
    }

    fn get(&self, id: TokenId) -> u32 {
        match self.counts[id.index()] {
            MANY => {
                let place = self.many.binary_search_by_key(&id, |&(id, _)| id);
                place.map_or(u32::from(MANY), |place| self.many[place].1)
            }
            few => u32::from(few),
        }
    }

    pub(crate) fn memory_usage(&self) -> usize {
        size_of_val(&*self.counts) + size_of_val(&*self.many)
    }
}

/// The tokens of a class. Tables that depend on lengths are computed on first use.
pub(crate) struct ClassTokens {
    words: Box<[u32]>,
    counts: Arc<CharCounts>,
    lengths: OnceBox<Lengths>,
    /// The tokens of at most 0, 1, ... characters, as bitsets one after the other.
    levels: OnceBox<Box<[u32]>>,
}

struct Lengths {
    max_chars: u32,
    /// The tokens that some bound past the stored ones excludes, and their lengths, longest first.
    longer: Box<[(u32, TokenId)]>,
}

impl ClassTokens {
    /// The tokens of a class as the words of a mask.
    pub(crate) fn new(words: Box<[u32]>, counts: Arc<CharCounts>) -> Self {
        Self { words, counts, lengths: OnceBox::new(), levels: OnceBox::new() }
    }

    /// All tokens.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Number of characters of the longest token.
    pub(crate) fn max_chars(&self) -> u32 {
        self.lengths().max_chars
    }

    /// The tokens of more than this number of characters. `None` if they are more than `limit`.
    pub(crate) fn longer_than(&self, chars: u32, limit: usize) -> Option<Vec<TokenId>> {
        let listed = self.lengths().longer.iter().take_while(|(length, _)| *length > chars);
        let mut found: Vec<TokenId> = listed.map(|&(_, id)| id).take(limit + 1).collect();
        if let Some(shorter) = self.at_most(chars).filter(|_| (chars as usize) < STORED_BOUND) {
            let others = self.words.iter().zip(shorter).map(|(all, shorter)| all & !shorter);
            let others: Vec<u32> = others.collect();
            if bits::count(&others) > limit {
                return None;
            }
            found =
                bits::iter(&others).filter_map(|index| TokenId::new(u32::try_from(index).ok()?)).collect();
        }
        (found.len() <= limit).then_some(found)
    }

    /// The tokens of at most `chars` characters, if they are stored: they are for small bounds and for those that no
    /// token passes.
    pub(crate) fn at_most(&self, chars: u32) -> Option<&[u32]> {
        if chars >= self.max_chars() {
            return Some(&self.words);
        }
        let level = usize::try_from(chars).ok().filter(|&level| level <= STORED_BOUND)?;
        let words = self.words.len();
        self.levels().get(level * words..(level + 1) * words)
    }

    /// Writes the tokens of at most `chars` characters over the beginning of `into`, as far as it reaches. Exact for
    /// every bound.
    pub(crate) fn write_at_most(&self, chars: u32, into: &mut [u32]) {
        if let Some(tokens) = self.at_most(chars) {
            return bits::copy(into, tokens);
        }
        bits::copy(into, &self.words);
        for (_, id) in self.lengths().longer.iter().take_while(|(length, _)| *length > chars) {
            bits::clear(into, id.index());
        }
    }

    /// Writes all tokens, or those up to a number of characters.
    pub(crate) fn write(&self, max_chars: Option<u32>, into: &mut [u32]) {
        match max_chars {
            None => bits::copy(into, &self.words),
            Some(chars) => self.write_at_most(chars, into),
        }
    }

    /// Bytes of memory held, without the counts, which all classes share.
    pub(crate) fn memory_usage(&self) -> usize {
        let lengths = self.lengths.get().map_or(0, |lengths| size_of_val(&*lengths.longer));
        let levels = self.levels.get().map_or(0, |levels| size_of_val(&**levels));
        size_of_val(&*self.words) + lengths + levels
    }

    fn lengths(&self) -> &Lengths {
        self.lengths.get_or_init(|| {
            let mut max_chars = 0;
            let mut longer = Vec::new();
            for (chars, id) in self.tokens_with_lengths() {
                max_chars = max_chars.max(chars);
                if chars as usize > STORED_BOUND {
                    longer.push((chars, id));
                }
            }
            // The longest first: a mask clears those above its bound, and stops at the first that is not.
            longer.sort_unstable_by(|one, other| other.cmp(one));
            Box::new(Lengths { max_chars, longer: longer.into_boxed_slice() })
        })
    }

    /// The bitsets for bounds 0, 1, ..., up to the bound below that which every token keeps: that is the whole set,
    /// which is stored already.
    fn levels(&self) -> &[u32] {
        self.levels.get_or_init(|| {
            let words = self.words.len();
            let levels = (STORED_BOUND + 1).min(self.max_chars() as usize);
            let mut stored = vec![0; levels * words].into_boxed_slice();
            for (chars, id) in self.tokens_with_lengths() {
                let level = chars as usize;
                if level < levels {
                    bits::set(&mut stored[level * words..][..words], id.index());
                }
            }
            // Each level begins as the tokens of one length. Sums over the lengths make it those of at most
            // that length.
            for level in 1..levels {
                let (before, from_here) = stored.split_at_mut(level * words);
                bits::or(&mut from_here[..words], &before[(level - 1) * words..]);
            }
            Box::new(stored)
        })
    }

    fn tokens_with_lengths(&self) -> impl Iterator<Item = (u32, TokenId)> {
        let ids =
            bits::iter(&self.words).filter_map(|index| u32::try_from(index).ok().and_then(TokenId::new));
        ids.map(|id| (self.counts.get(id), id))
    }
}

impl fmt::Debug for ClassTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClassTokens")
            .field("count", &bits::count(&self.words))
            .finish_non_exhaustive()
    }
}
