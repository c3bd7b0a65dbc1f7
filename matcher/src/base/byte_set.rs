//! Sets of bytes.

use std::fmt;

use grammask_grammar_ir::byte_set;

/// A set of bytes. `Display` lists them for people: `'0'..='9', '"', 0xe2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByteSet {
    /// Bit `b % 64` of word `b / 64` stands for byte `b`.
    words: [u64; 4],
}

impl ByteSet {
    /// The set as 256 bits: bit `b % 64` of word `b / 64` stands for byte `b`.
    pub fn words(&self) -> [u64; 4] {
        self.words
    }

    /// Whether a byte is in the set.
    pub fn contains(&self, byte: u8) -> bool {
        byte_set::contains(&self.words, byte)
    }

    /// Whether no byte is.
    pub fn is_empty(&self) -> bool {
        self.words == [0; 4]
    }

    /// The bytes of the set, the least first.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        byte_set::iter(&self.words)
    }
}

impl From<[u64; 4]> for ByteSet {
    fn from(words: [u64; 4]) -> Self {
        Self { words }
    }
}

impl fmt::Display for ByteSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if(|&next| last.checked_add(1) == Some(next)) {
                last = next;
            }
            formatter.write_str(separator)?;
            separator = ", ";
            write!(formatter, "{}", Shown(first))?;
            match last - first {
                0 => {}
                1 => write!(formatter, ", {}", Shown(last))?,
                _ => write!(formatter, "..={}", Shown(last))?,
            }
        }
        Ok(())
    }
}

/// The only byte of a set, if it holds just one.
pub(crate) fn only_byte(bits: &[u64; 4]) -> Option<u8> {
    let count: u32 = bits.iter().map(|word| word.count_ones()).sum();
    if count == 1 { byte_set::iter(bits).next() } else { None }
}

/// A byte as people write it: a character of ASCII that can be seen, or a number.
pub(crate) struct Shown(pub(crate) u8);

impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b' '..=b'~' => write!(formatter, "{:?}", char::from(self.0)),
            byte => write!(formatter, "{byte:#04x}"),
        }
    }
}
