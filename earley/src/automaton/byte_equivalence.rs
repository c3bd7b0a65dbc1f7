//! Classes of bytes that match the same edges of a set.
//!
//! The naive way compares, for each class, which of the set's edges it matches. Edges are ranges, so two
//! running sets of bits do it in one pass. A class is like the byte that was read if it lies inside every
//! range that the byte lies inside of, and outside of all others.

use std::ops::Range;

use grammask_fsm::ByteClasses;
use grammask_grammar_ir::byte_set::{add_range, ranges};

/// The classes that match the same edges as one byte.
pub(crate) struct ByteEquivalence {
    /// The least and the greatest byte inside all edges that match.
    matching: (u8, u8),
    /// A bit for each class inside an edge that does not match.
    mismatching: [u64; 4],
}

impl ByteEquivalence {
    /// No edge seen yet.
    pub(crate) fn new() -> Self {
        Self { matching: (0, u8::MAX), mismatching: [0; 4] }
    }

    /// Takes note of an edge that matches the byte, by its first and its last byte.
    #[inline]
    pub(crate) fn add_match(&mut self, first: u8, last: u8) {
        self.matching = (self.matching.0.max(first), self.matching.1.min(last));
    }

    /// The first and the last byte that lie inside of all the edges so far. An edge that holds none of those in between
    /// need not be told.
    #[inline]
    pub(crate) fn bytes(&self) -> (u8, u8) {
        self.matching
    }

    /// Takes note of an edge that does not match the byte, by its first and its last class.
    #[inline]
    pub(crate) fn add_mismatch(&mut self, (first, last): (u8, u8)) {
        add_range(&mut self.mismatching, first, last);
    }

    /// The classes, as ranges.
    pub(crate) fn classes(&self, classes: &ByteClasses) -> impl Iterator<Item = Range<usize>> {
        let mut bits = [0; 4];
        if self.matching.0 <= self.matching.1 {
            add_range(&mut bits, classes.class(self.matching.0), classes.class(self.matching.1));
        }
        ranges(std::array::from_fn(|word| bits[word] & !self.mismatching[word]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_equivalent_that_match_the_same_edges() {
        // Each byte is a class of its own.
        let classes = ByteClasses::from_ranges((0..=255).map(|byte| (byte, byte)));
        let edges = [(0u8, 90u8), (10, 10), (20, 70), (60, 200), (64, 66)];
        for byte in 0..=255u8 {
            let matches = |class: u8| edges.map(|(first, last)| (first..=last).contains(&class));
            let mut equivalence = ByteEquivalence::new();
            for &(first, last) in &edges {
                match (first..=last).contains(&byte) {
                    true => equivalence.add_match(first, last),
                    false => equivalence.add_mismatch((first, last)),
                }
            }
            let found: Vec<usize> = equivalence.classes(&classes).flatten().collect();
            let expected: Vec<usize> =
                (0..=255).filter(|&class| matches(class) == matches(byte)).map(usize::from).collect();
            assert_eq!(found, expected, "byte {byte}");
        }
    }
}
