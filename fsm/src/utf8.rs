//! The well-formed byte sequences of UTF-8 (The Unicode Standard, table 3-7), once for all modules.
//!
//! A character is one byte up to U+007F. Above it there are eight rows of sequences, by their lead bytes.
//! Four leads (E0, ED, F0, F4) narrow the byte that follows them, so that overlong forms, surrogates and code
//! points above U+10FFFF cannot be written. [`SEQUENCES`] lists the rows; [`LEADS`] and [`Position`] are the
//! same table as an automaton.

/// An inclusive range of bytes.
pub type ByteRange = (u8, u8);

/// The rows of the table above U+007F: for each byte of a character, the range that it is from.
pub const SEQUENCES: &[&[ByteRange]] = &[
    &[(0xC2, 0xDF), (0x80, 0xBF)],
    &[(0xE0, 0xE0), (0xA0, 0xBF), (0x80, 0xBF)],
    &[(0xE1, 0xEC), (0x80, 0xBF), (0x80, 0xBF)],
    &[(0xED, 0xED), (0x80, 0x9F), (0x80, 0xBF)],
    &[(0xEE, 0xEF), (0x80, 0xBF), (0x80, 0xBF)],
    &[(0xF0, 0xF0), (0x90, 0xBF), (0x80, 0xBF), (0x80, 0xBF)],
    &[(0xF1, 0xF3), (0x80, 0xBF), (0x80, 0xBF), (0x80, 0xBF)],
    &[(0xF4, 0xF4), (0x80, 0x8F), (0x80, 0xBF), (0x80, 0xBF)],
];

/// The code points of each row of [`SEQUENCES`], inclusive.
pub const CODE_POINTS: [(u32, u32); 8] = [
    (0x80, 0x7FF),
    (0x800, 0xFFF),
    (0x1000, 0xCFFF),
    (0xD000, 0xD7FF),
    (0xE000, 0xFFFF),
    (0x1_0000, 0x3_FFFF),
    (0x4_0000, 0xF_FFFF),
    (0x10_0000, 0x10_FFFF),
];

/// The code points of one lead byte of each row.
pub const BLOCK_SIZES: [u32; 8] = [0x40, 0x800, 0x1000, 0x800, 0x1000, 0x3_0000, 0x4_0000, 0x1_0000];

/// A position inside the bytes of a text: between two characters, or in the middle of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Position {
    /// Between two characters.
    Boundary,
    /// Before the last continuation byte.
    Before1,
    /// Before the last two continuation bytes.
    Before2,
    /// Before the last three continuation bytes.
    Before3,
    /// After the lead E0, which has no overlong forms.
    AfterE0,
    /// After the lead ED, which has no surrogates.
    AfterEd,
    /// After the lead F0, which has no overlong forms.
    AfterF0,
    /// After the lead F4, which ends at U+10FFFF.
    AfterF4,
}

/// A range of bytes, and the position after one of them.
pub type Segment = (u8, u8, Position);

/// The lead bytes of characters above U+007F, in the order of [`SEQUENCES`].
pub const LEADS: [Segment; 8] = [
    (0xC2, 0xDF, Position::Before1),
    (0xE0, 0xE0, Position::AfterE0),
    (0xE1, 0xEC, Position::Before2),
    (0xED, 0xED, Position::AfterEd),
    (0xEE, 0xEF, Position::Before2),
    (0xF0, 0xF0, Position::AfterF0),
    (0xF1, 0xF3, Position::Before3),
    (0xF4, 0xF4, Position::AfterF4),
];

impl Position {
    /// The positions in the middle of a character.
    pub const INSIDE: [Self; 7] = [
        Self::Before1,
        Self::Before2,
        Self::Before3,
        Self::AfterE0,
        Self::AfterEd,
        Self::AfterF0,
        Self::AfterF4,
    ];

    /// A bit of its own for each position.
    pub const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The position after a byte; `None` where no text goes on with it.
    pub fn after(self, byte: u8) -> Option<Self> {
        let segments = match self {
            Self::Boundary if byte.is_ascii() => return Some(Self::Boundary),
            Self::Boundary => &LEADS[..],
            _ => self.continuations(),
        };
        segments.iter().find(|(first, last, _)| (first..=last).contains(&&byte)).map(|segment| segment.2)
    }

    /// The continuation bytes that may be read here: one segment, and none at a boundary, where a character begins.
    pub const fn continuations(self) -> &'static [Segment] {
        match self {
            Self::Boundary => &[],
            Self::Before1 => &[(0x80, 0xBF, Self::Boundary)],
            Self::Before2 => &[(0x80, 0xBF, Self::Before1)],
            Self::Before3 => &[(0x80, 0xBF, Self::Before2)],
            Self::AfterE0 => &[(0xA0, 0xBF, Self::Before1)],
            Self::AfterEd => &[(0x80, 0x9F, Self::Before1)],
            Self::AfterF0 => &[(0x90, 0xBF, Self::Before2)],
            Self::AfterF4 => &[(0x80, 0x8F, Self::Before2)],
        }
    }
}
