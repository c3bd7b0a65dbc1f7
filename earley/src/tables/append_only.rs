//! Append-only tables that are read without locks.
//!
//! A growing `Vec` moves its elements, so readers would need a lock. Here the elements live in blocks that
//! never move. Blocks are small. A table that doubles has to clear some hundred KB in the middle of one mask.
//! Where the memory is fresh, the system clears it once more, page by page. That is 30 us, which a block of
//! 16 spreads over all sets. The *directory*, which says where the blocks are, does double; it has 24 bytes a
//! block. Its beginning, which is enough for most grammars, is found with one load, and everything after it
//! with a count of leading zeros and three loads. Each byte that is stepped waits for these.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

use super::ids::index;

/// Elements of a block.
const BLOCK: usize = 16;
/// Blocks in the beginning of the directory, and in the first chunk after it.
const BEGINNING: usize = 64;
/// Chunks double, so these hold more elements than 32-bit ids can name.
const CHUNKS: usize = 22;

/// The chunk of a block that comes after the beginning, and the place in it.
#[inline]
fn locate(block: usize) -> (usize, usize) {
    let top = block.ilog2();
    (index(top - BEGINNING.ilog2()), block - (1 << top))
}

type Block<T> = OnceLock<Box<[T]>>;

type Chunks<T> = [OnceLock<Box<[Block<T>]>>; CHUNKS];

/// Blocks of any length. The part that every step reads comes first.
#[repr(C)]
struct Blocks<T> {
    beginning: Box<[Block<T>]>,
    /// Apart, since most tables never have any, and an engine is moved some times before it rests.
    chunks: OnceLock<Box<Chunks<T>>>,
}

impl<T> Blocks<T> {
    fn new() -> Self {
        Self { beginning: fresh(BEGINNING), chunks: OnceLock::new() }
    }

    #[inline]
    fn get(&self, block: usize) -> Option<&[T]> {
        let cell = match self.beginning.get(block) {
            Some(cell) => cell,
            None => self.in_chunks(block)?,
        };
        cell.get().map(|block| &**block)
    }

    #[inline(never)]
    fn in_chunks(&self, block: usize) -> Option<&Block<T>> {
        // `OnceLock` synchronises: a reader that finds a chunk or a block sees its content. A reader only
        // asks for ids that were published, so a missing block is a bug and not a race.
        let (chunk, place) = locate(block);
        self.chunks.get()?[chunk].get().map(|blocks| &blocks[place])
    }

    fn get_or_init(&self, block: usize, make: impl FnOnce() -> Box<[T]>) -> &[T] {
        self.beginning.get(block).unwrap_or_else(|| self.make_in_chunks(block)).get_or_init(make)
    }

    #[cold]
    #[inline(never)]
    fn make_in_chunks(&self, block: usize) -> &Block<T> {
        let (chunk, place) = locate(block);
        let chunks = self.chunks.get_or_init(|| Box::new([const { OnceLock::new() }; CHUNKS]));
        &chunks[chunk].get_or_init(|| fresh(BEGINNING << chunk))[place]
    }
}

// If it were inlined, the loop would be unrolled: three kilobytes of code that every compilation has to
// fetch.
#[inline(never)]
fn fresh<T>(blocks: usize) -> Box<[Block<T>]> {
    (0..blocks).map(|_| OnceLock::new()).collect()
}

/// Elements of any type, each written once.
pub(crate) struct Table<T> {
    blocks: Blocks<OnceLock<T>>,
}

impl<T> Table<T> {
    pub(crate) fn new() -> Self {
        Self { blocks: Blocks::new() }
    }

    /// The element at an index that an append has handed out.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &T {
        let element = self.blocks.get(index / BLOCK).and_then(|elements| elements[index % BLOCK].get());
        element.expect("ids are published after their element is written")
    }

    /// Writes the element at an index that has none yet.
    pub(crate) fn set(&self, index: usize, value: T) {
        let elements =
            self.blocks.get_or_init(index / BLOCK, || (0..BLOCK).map(|_| OnceLock::new()).collect());
        let fresh = elements[index % BLOCK].set(value).is_ok();
        debug_assert!(fresh, "an element is written once");
    }
}

/// Rows of atomic words, all of one width.
#[repr(C)]
pub(crate) struct Rows {
    width: usize,
    blocks: Blocks<AtomicU32>,
}

impl Rows {
    pub(crate) fn new(width: usize) -> Self {
        Self { blocks: Blocks::new(), width }
    }

    /// A row that was appended.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[AtomicU32] {
        let words = self.blocks.get(row / BLOCK).expect("ids are published after their row is allocated");
        &words[row % BLOCK * self.width..][..self.width]
    }

    /// Makes sure that a row exists, all zero.
    pub(crate) fn allocate(&self, row: usize) {
        // Zero is `DEAD`, so only the classes of bytes that some item reads need a write before the set is
        // published.
        self.blocks.get_or_init(row / BLOCK, || (0..BLOCK * self.width).map(|_| AtomicU32::new(0)).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::ids::number;

    #[test]
    fn chunks_follow_one_another() {
        let mut expected = (0, 0);
        for block in BEGINNING..5_000 {
            assert_eq!(locate(block), expected);
            expected.1 += 1;
            if expected.1 == BEGINNING << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        let last = locate((1 << 31) / BLOCK);
        assert!(last.0 < CHUNKS);
    }

    #[test]
    fn elements_stay_where_they_are() {
        let table = Table::new();
        for index in 0..5_000usize {
            table.set(index, index * 3);
        }
        assert!((0..5_000).all(|index| *table.get(index) == index * 3));
    }

    #[test]
    fn rows_are_apart() {
        let rows = Rows::new(3);
        for row in 0..100usize {
            rows.allocate(row);
            rows.row(row)[2].store(number(row) + 1, std::sync::atomic::Ordering::Relaxed);
        }
        for row in 0..100usize {
            let words: Vec<u32> =
                rows.row(row).iter().map(|word| word.load(std::sync::atomic::Ordering::Relaxed)).collect();
            assert_eq!(words, [0, 0, number(row) + 1]);
        }
    }
}
