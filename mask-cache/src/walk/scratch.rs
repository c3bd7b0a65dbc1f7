//! Working memory of mask computations.

use crate::mask::sparse_words::SparseWords;

/// Scratch space of mask computations. Kept by the caller and reused; it grows to the size that it needs.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The buffer of ids; longer than the number of ids that were found.
    pub(super) buffer: Vec<u32>,
    /// Ids found.
    pub(crate) ids: Vec<u32>,
    /// A bit for each id found, or ids to be found later.
    pub(crate) words: Vec<u32>,
    /// Words that are 0 between uses.
    pub(crate) zeros: Vec<u32>,
}

impl Scratch {
    /// Forgets the ids found.
    pub(crate) fn clear_ids(&mut self) -> &mut Self {
        self.ids.clear();
        self
    }

    /// Replaces each id found by others.
    pub(crate) fn replace_ids<'i>(&mut self, others: impl Fn(u32) -> &'i [u32]) {
        self.words.clear();
        for &id in &self.ids {
            self.words.extend_from_slice(others(id));
        }
        std::mem::swap(&mut self.ids, &mut self.words);
    }

    /// The ids found, as bits.
    pub(crate) fn sparse_ids(&mut self, vocabulary_len: usize) -> SparseWords {
        SparseWords::from_ids(&self.ids, vocabulary_len, &mut self.zeros)
    }

    /// Ids as bits.
    pub(crate) fn sparse_of(&mut self, ids: &[u32], vocabulary_len: usize) -> SparseWords {
        SparseWords::from_ids(ids, vocabulary_len, &mut self.zeros)
    }

    /// Room for ids, which may [replace](Self::replace_all_ids) those found.
    pub(crate) fn take_buffer(&mut self) -> Vec<u32> {
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        words
    }

    /// Replaces the ids found.
    pub(crate) fn replace_all_ids(&mut self, others: Vec<u32>) {
        self.words = std::mem::replace(&mut self.ids, others);
    }

    /// The ids found.
    pub(crate) fn ids(&mut self) -> &mut Vec<u32> {
        &mut self.ids
    }
}
