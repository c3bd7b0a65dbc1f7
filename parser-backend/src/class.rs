//! Classes of characters over which strings run.

/// A class of characters: some of ASCII, and either all or none of the others. The inside of a JSON string,
/// identifiers and whitespace are such classes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CharClass {
    /// Bit `b` says that ASCII character `b` belongs to the class.
    pub ascii: u128,
    /// Whether every character above U+007F belongs to the class.
    pub non_ascii: bool,
}

impl CharClass {
    /// Whether an ASCII byte belongs to the class. False for bytes above 0x7F.
    pub fn contains_ascii(&self, byte: u8) -> bool {
        byte < 128 && self.ascii >> byte & 1 == 1
    }

    /// The bytes that begin characters of the class: bit `b % 64` of word `b / 64`.
    #[inline]
    pub const fn start_bytes(&self) -> [u64; 4] {
        // The lead bytes of UTF-8 are C2 to F4.
        let leads = if self.non_ascii { u64::MAX >> (63 - (0xF4 - 0xC0)) & !0b11 } else { 0 };
        [self.ascii as u64, (self.ascii >> 64) as u64, 0, leads]
    }
}

/// The behaviour of a state on texts whose characters all belong to a class, and which begin at a boundary of
/// characters (they may end inside one). An answer that a caller does not know is [`Unknown`](Self::Unknown) to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Run {
    /// Nothing is known; each text must be tried.
    Unknown,
    /// Every such text is allowed, however long.
    Unbounded,
    /// Such a text is allowed if and only if it has at most this many characters, a cut one at its end
    /// counted.
    AtMost(u32),
    /// Every such text of at most this many characters is allowed, a cut one at its end counted; longer ones must be
    /// tried.
    AtLeast(u32),
}
