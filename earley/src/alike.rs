//! Classes of bytes that match the same edges of a set.
//!
//! The naive way compares, for each class, which of the set's edges it matches. Edges are ranges, so two running
//! sets of bits do it in one pass: a class is like the byte that was read if it lies inside every range that the
//! byte lies inside of, and outside of all others.

use std::ops::Range;

use grammask_fsm::ByteClasses;

/// The classes that match the same edges as one byte.
pub(crate) struct Alike {
    /// The least and the greatest byte inside all edges that match.
    inside: (u8, u8),
    /// A bit for each class inside an edge that does not match.
    outside: [u64; 4],
}

impl Alike {
    /// No edge seen yet.
    pub(crate) fn new() -> Self {
        Self { inside: (0, u8::MAX), outside: [0; 4] }
    }

    /// Takes note of an edge that matches the byte, by its first and its last byte.
    #[inline]
    pub(crate) fn inside(&mut self, first: u8, last: u8) {
        self.inside = (self.inside.0.max(first), self.inside.1.min(last));
    }

    /// The first and the last byte that lie inside of all the edges so far. An edge that holds none of those in between
    /// need not be told.
    #[inline]
    pub(crate) fn bytes(&self) -> (u8, u8) {
        self.inside
    }

    /// Takes note of an edge that does not match the byte, by its first and its last class.
    #[inline]
    pub(crate) fn outside(&mut self, (first, last): (u8, u8)) {
        add_range(&mut self.outside, first, last);
    }

    /// The classes, as ranges.
    pub(crate) fn classes(&self, classes: &ByteClasses) -> impl Iterator<Item = Range<usize>> {
        let mut bits = [0; 4];
        if self.inside.0 <= self.inside.1 {
            add_range(&mut bits, classes.class(self.inside.0), classes.class(self.inside.1));
        }
        ranges(std::array::from_fn(|word| bits[word] & !self.outside[word]))
    }
}

/// The set bits, as ranges; one that goes over the end of a word is told in two pieces.
pub(crate) fn ranges(bits: [u64; 4]) -> impl Iterator<Item = Range<usize>> {
    bits.into_iter().enumerate().flat_map(|(place, word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let first = (left != 0).then(|| left.trailing_zeros())?;
            let end = first + (left >> first).trailing_ones();
            left &= u64::MAX.checked_shl(end).unwrap_or(0);
            Some(place * 64 + first as usize..place * 64 + end as usize)
        })
    })
}

/// Sets the bits of `first..=last`.
#[inline]
pub(crate) fn add_range(bits: &mut [u64; 4], first: u8, last: u8) {
    let (low, high) = (usize::from(first >> 6), usize::from(last >> 6));
    let (from, to) = (u64::MAX << (first & 63), u64::MAX >> (63 - (last & 63)));
    if low == high {
        bits[low] |= from & to;
        return;
    }
    bits[low] |= from;
    bits[low + 1..high].fill(u64::MAX);
    bits[high] |= to;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_set_their_bits() {
        for (start, end) in [(0u8, 255u8), (0, 0), (63, 64), (65, 200), (255, 255), (128, 191), (1, 130)] {
            let mut bits = [0; 4];
            add_range(&mut bits, start, end);
            for byte in 0..=255u8 {
                let set = bits[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1;
                assert_eq!(set, (start..=end).contains(&byte), "{start}..={end} at {byte}");
            }
            let range = usize::from(start)..=usize::from(end);
            assert_eq!(ranges(bits).flatten().collect::<Vec<_>>(), range.collect::<Vec<_>>());
        }
    }

    #[test]
    fn classes_are_alike_that_match_the_same_edges() {
        // Each byte is a class of its own.
        let classes = ByteClasses::from_ranges((0..=255).map(|byte| (byte, byte)));
        let edges = [(0u8, 90u8), (10, 10), (20, 70), (60, 200), (64, 66)];
        for byte in 0..=255u8 {
            let matches = |class: u8| edges.map(|(first, last)| (first..=last).contains(&class));
            let mut alike = Alike::new();
            for &(first, last) in &edges {
                match (first..=last).contains(&byte) {
                    true => alike.inside(first, last),
                    false => alike.outside((first, last)),
                }
            }
            let found: Vec<usize> = alike.classes(&classes).flatten().collect();
            let expected: Vec<usize> =
                (0..=255).filter(|&class| matches(class) == matches(byte)).map(usize::from).collect();
            assert_eq!(found, expected, "byte {byte}");
        }
    }
}
