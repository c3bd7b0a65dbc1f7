//! Append-only tables that are read without locks.
//!
//! A growing `Vec` moves its elements, so readers would need a lock. Here the elements live in chunks of
//! doubling size that never move: an index is located with one count of leading zeros and two loads.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

/// Elements in the first chunk.
const FIRST: usize = 64;
/// Chunks double, so these hold more elements than 32-bit ids can name.
const CHUNKS: usize = 27;

/// The chunk of an index and the place in it.
#[inline]
fn locate(index: usize) -> (usize, usize) {
    let shifted = index + FIRST;
    let top = shifted.ilog2();
    ((top - FIRST.ilog2()) as usize, shifted - (1 << top))
}

/// Elements of any type, each written once.
pub(crate) struct Table<T> {
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
}

impl<T> Table<T> {
    pub(crate) fn new() -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS] }
    }

    /// The element at an index that was handed out by whoever appends.
    pub(crate) fn get(&self, index: usize) -> &T {
        let (chunk, place) = locate(index);
        let element = self.chunks[chunk].get().and_then(|elements| elements[place].get());
        element.expect("ids are published after their element is written")
    }

    /// Writes the element at an index that has none yet.
    pub(crate) fn set(&self, index: usize, value: T) {
        let (chunk, place) = locate(index);
        let elements =
            self.chunks[chunk].get_or_init(|| (0..FIRST << chunk).map(|_| OnceLock::new()).collect());
        let fresh = elements[place].set(value).is_ok();
        debug_assert!(fresh, "an element is written once");
    }
}

/// Rows of atomic words, all of one width.
pub(crate) struct Rows {
    chunks: [OnceLock<Box<[AtomicU32]>>; CHUNKS],
    width: usize,
}

impl Rows {
    pub(crate) fn new(width: usize) -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS], width }
    }

    /// One word of a row that was appended.
    #[inline]
    pub(crate) fn word(&self, row: usize, column: usize) -> &AtomicU32 {
        let (chunk, place) = locate(row);
        let words = self.chunks[chunk].get().expect("ids are published after their row is allocated");
        &words[place * self.width + column]
    }

    /// A row that was appended.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[AtomicU32] {
        let (chunk, place) = locate(row);
        let words = self.chunks[chunk].get().expect("ids are published after their row is allocated");
        &words[place * self.width..(place + 1) * self.width]
    }

    /// Makes sure that a row exists, all zero.
    pub(crate) fn allocate(&self, row: usize) {
        let (chunk, _) = locate(row);
        let words = (FIRST << chunk) * self.width;
        self.chunks[chunk].get_or_init(|| (0..words).map(|_| AtomicU32::new(0)).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_follow_one_another() {
        let mut expected = (0, 0);
        for index in 0..5_000 {
            assert_eq!(locate(index), expected);
            expected.1 += 1;
            if expected.1 == FIRST << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn elements_stay_where_they_are() {
        let table = Table::new();
        for index in 0..1_000usize {
            table.set(index, index * 3);
        }
        assert!((0..1_000).all(|index| *table.get(index) == index * 3));
    }
}
