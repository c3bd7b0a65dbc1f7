//! Sorting of ids that lie close together.
//!
//! A set of the subset construction has up to as many members as the automaton has states, and each of its letters sorts
//! them. Sorting by comparisons takes a logarithm more than the steps that are charged for it.

use crate::ids::Id;

/// Room to sort in.
#[derive(Default)]
pub(super) struct DenseSort {
    words: Vec<u64>,
}

/// Fewer ids than this are sorted by comparisons.
const FEW: usize = 16;

/// An empty word takes a nanosecond, and to sort an id by comparisons 10.
const WORDS: usize = 4;

impl DenseSort {
    /// Sorts ids, and keeps each once. Linear where every so many words of bits from the least to the greatest hold one.
    pub(super) fn sort<I: Id>(&mut self, ids: &mut Vec<I>) {
        let bounds = ids.iter().min().zip(ids.iter().max());
        let Some((&least, &greatest)) = bounds.filter(|_| ids.len() >= FEW) else {
            ids.sort_unstable();
            ids.dedup();
            return;
        };
        let first = least.index() / 64;
        let count = greatest.index() / 64 - first + 1;
        if count > WORDS * ids.len() {
            ids.sort_unstable();
            ids.dedup();
            return;
        }
        self.words.clear();
        self.words.resize(count, 0);
        for id in ids.drain(..) {
            self.words[id.index() / 64 - first] |= 1 << (id.index() % 64);
        }
        for (at, &word) in self.words.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                let bit = usize::try_from(word.trailing_zeros()).unwrap_or(0);
                ids.push(I::from_index(64 * (first + at) + bit));
                word &= word - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::ids::NfaStateId;

    #[test]
    fn dense_and_sparse_ids_are_sorted_as_by_comparisons() {
        let mut sorter = DenseSort::default();
        for (count, spread) in
            [(0, 1), (5, 3), (15, 1), (16, 1), (100, 7), (100, 63), (100, 977), (100, 300), (1_000, 64)]
        {
            let mut ids: Vec<NfaStateId> =
                (0..count).map(|at| NfaStateId::from_index(1_000 + at * 7_919 % (count * spread))).collect();
            ids.extend_from_within(..count / 2);
            let mut expected = ids.clone();
            expected.sort_unstable();
            expected.dedup();
            sorter.sort(&mut ids);
            assert_eq!(ids, expected, "{count} ids, {spread}");
        }
    }
}
