//! Token ids.

use std::fmt;

/// The number of a token in its vocabulary.
///
/// Ids have 24 bits, because the trie keeps an id and a byte in one word, and one value past the last id is
/// kept free to mean "none".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(u32);

impl TokenId {
    /// Most ids that a vocabulary can have: 2^24 - 2.
    pub const MAX_COUNT: usize = (1 << 24) - 2;

    /// An id, or `None` if it is too large for any vocabulary.
    #[inline]
    pub const fn new(id: u32) -> Option<Self> {
        if (id as usize) < Self::MAX_COUNT { Some(Self(id)) } else { None }
    }

    /// The id as a number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The id as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The ids below `count`, which is at most [`MAX_COUNT`](Self::MAX_COUNT).
    pub(crate) fn below(count: usize) -> impl Iterator<Item = Self> {
        (0..u32::try_from(count).unwrap_or(u32::MAX)).map_while(Self::new)
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The kind of an id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TokenKind {
    /// A byte string that can be part of the text.
    Text,
    /// A special token: allowed only where the grammar names it.
    Special,
    /// A special token that ends the text.
    Stop,
    /// An id without bytes: a hole, padding or an empty token. Never allowed.
    Empty,
}
