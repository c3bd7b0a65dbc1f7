//! Sorting of ids that lie close together.
//!
//! The subset construction sorts a set for each of its letters, and a set may contain all states of the automaton. The
//! work that is charged is linear in the members, so that sorting by comparisons would take a logarithm more.

use crate::ids::Id;

/// Room to sort in.
#[derive(Default)]
pub(super) struct DenseSort {
    words: Vec<u64>,
}

/// Fewer ids than this are sorted by comparisons.
const FEW: usize = 16;

/// Most words for each id. An empty word takes 1 ns, and an id that is sorted by comparisons 10 ns.
const WORDS: usize = 4;

impl DenseSort {
    /// As [`sort`](Self::sort), where the first ids are sorted already, and are mostly all but a few.
    pub(super) fn sort_after<I: Id>(&mut self, sorted: usize, ids: &mut Vec<I>) {
        if ids.len() - sorted > FEW {
            return self.sort(ids);
        }
        let mut end = sorted;
        for at in sorted..ids.len() {
            let id = ids[at];
            let place = ids[..end].partition_point(|&other| other < id);
            if place < end && ids[place] == id {
                continue;
            }
            ids[end] = id;
            ids[place..=end].rotate_right(1);
            end += 1;
        }
        ids.truncate(end);
    }

    /// Sorts ids, and keeps each once. Takes linear time if the ids are dense: at most [`WORDS`] words of bits an id.
    pub(super) fn sort<I: Id>(&mut self, ids: &mut Vec<I>) {
        let bounds = ids.iter().min().zip(ids.iter().max()).filter(|_| ids.len() >= FEW);
        let words = bounds.map(|(least, greatest)| (least.index() / 64, greatest.index() / 64));
        let dense = words.map(|(first, last)| (first, last - first + 1));
        let Some((first, count)) = dense.filter(|&(_, count)| count <= WORDS * ids.len()) else {
            ids.sort_unstable();
            ids.dedup();
            return;
        };
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
