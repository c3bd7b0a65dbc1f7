//! Sets of bytes, printed for people.

use std::fmt;

/// A set of bytes: bit `b % 64` of word `b / 64`, as backends answer.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ByteSet(pub [u64; 4]);

impl ByteSet {
    /// Puts a byte into the set.
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    /// Whether the byte is in the set.
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }

    /// The bytes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        let set = *self;
        (0..=255).filter(move |&byte| set.contains(byte))
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// Those that only this set holds.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<Bytes: IntoIterator<Item = u8>>(bytes: Bytes) -> Self {
        let mut set = Self::default();
        bytes.into_iter().for_each(|byte| set.insert(byte));
        set
    }
}

/// Ranges, with printable ASCII as itself: `{"0-9a\xff"}`.
impl fmt::Display for ByteSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("{")?;
        let mut next = 0u16;
        while next < 256 {
            let start = next;
            while next < 256 && self.contains(next as u8) {
                next += 1;
            }
            match next - start {
                0 => next += 1,
                1 => write!(formatter, "{}", (start as u8).escape_ascii())?,
                2 => {
                    write!(formatter, "{}{}", (start as u8).escape_ascii(), (next as u8 - 1).escape_ascii())?
                }
                _ => {
                    let last = (next - 1) as u8;
                    write!(formatter, "{}-{}", (start as u8).escape_ascii(), last.escape_ascii())?;
                }
            }
        }
        formatter.write_str("}")
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_ranges() {
        let set: ByteSet = (b'0'..=b'9').chain([b'a', b'b', 0xff]).collect();
        assert_eq!(set.to_string(), r"{0-9ab\xff}");
        assert_eq!(set.len(), 13);
        assert_eq!(ByteSet([u64::MAX; 4]).to_string(), r"{\x00-\xff}");
        assert_eq!(ByteSet::default().to_string(), "{}");
    }
}
