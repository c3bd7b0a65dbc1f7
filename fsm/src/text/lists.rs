//! Lists of ids, each once.
//!
//! A table whose keys own their lists asks for memory twice a list. Here the lists are one after the other,
//! and the table holds their numbers.

use grammask_grammar_ir::hash::hash_of;
use hashbrown::HashTable;

use crate::ids::{Id, Rows};

/// Lists of `M`, numbered as they are added.
pub(super) struct Lists<L, M> {
    members: Vec<M>,
    rows: Rows<L>,
    /// Hash and number.
    known: HashTable<(u64, L)>,
}

impl<L: Id, M> Default for Lists<L, M> {
    fn default() -> Self {
        Self { members: Vec::new(), rows: Rows::default(), known: HashTable::new() }
    }
}

impl<L: Id, M: Id> Lists<L, M> {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn list(&self, number: L) -> &[M] {
        &self.members[self.rows.of(number)]
    }

    /// The number of a list, or else its hash.
    pub(super) fn find(&self, wanted: &[M]) -> Result<L, u64> {
        let hash = hash_of(wanted);
        let is_same = |&(other, number): &(u64, L)| other == hash && self.list(number) == wanted;
        self.known.find(hash, is_same).map(|known| known.1).ok_or(hash)
    }

    /// Adds a list that was not found, by its hash.
    pub(super) fn add(&mut self, hash: u64, members: &[M]) -> L {
        // The meter bounds the work on a text, and with it the members, far below 2^32.
        self.members.extend_from_slice(members);
        let number = self.rows.push(self.members.len());
        self.known.insert_unique(hash, (hash, number), |known| known.0);
        number
    }
}
