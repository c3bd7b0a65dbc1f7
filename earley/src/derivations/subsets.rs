//! The subsets of parts in any order that one text has read, numbered.
//!
//! A hash table could not be shared by copies of the chart, and not be cut where the text is. Here the subsets are the
//! nodes of a binary trie over the bits of their hashes, and a new subset is a new leaf. So a copy shares all but the
//! last ones, and the last ones can be taken off.

use grammask_grammar_ir::hash::hash_of;
use grammask_parser_backend::SharedVec;

use crate::tables::ids::{index, number};
use crate::tables::part_subset::PartSubset;

#[derive(Clone, Debug, Default)]
pub(super) struct Subsets {
    nodes: SharedVec<Node>,
    /// Bytes of the nodes.
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Node {
    subset: PartSubset,
    above: u32,
    /// The nodes below, by the next bit of the hash.
    below: [u32; 2],
}

/// In place of a node's number.
const NONE: u32 = u32::MAX;

impl Subsets {
    pub(super) fn len(&self) -> u32 {
        number(self.nodes.len())
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.bytes
    }

    pub(super) fn get(&self, id: u32) -> &PartSubset {
        &self.nodes[index(id)].subset
    }

    /// The number of a subset.
    pub(super) fn intern(&mut self, subset: PartSubset) -> u32 {
        let mut hash = hash_of(&subset);
        let (mut above, mut place) = (NONE, if self.nodes.is_empty() { NONE } else { 0 });
        let mut side = 0;
        while let Some(node) = self.nodes.get(index(place)) {
            if node.subset == subset {
                return place;
            }
            side = usize::from(hash & 1 == 1);
            // Subsets whose hashes are equal go on below one another.
            hash = hash.rotate_right(1);
            (above, place) = (place, node.below[side]);
        }
        let new = self.len();
        if let Some(above) = self.nodes.get_mut(index(above)) {
            above.below[side] = new;
        }
        self.bytes += bytes(&subset);
        self.nodes.push(Node { subset, above, below: [NONE; 2] });
        new
    }

    /// Forgets all but the first.
    pub(super) fn truncate(&mut self, len: u32) {
        while self.len() > len
            && let Some(node) = self.nodes.pop()
        {
            self.bytes -= bytes(&node.subset);
            let last = self.len();
            if let Some(above) = self.nodes.get_mut(index(node.above)) {
                above.below.iter_mut().filter(|below| **below == last).for_each(|below| *below = NONE);
            }
        }
    }
}

fn bytes(subset: &PartSubset) -> usize {
    size_of::<Node>() - size_of::<PartSubset>() + subset.bytes()
}
