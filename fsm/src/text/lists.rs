//! Lists of numbers, each once.
//!
//! A table whose keys own their lists asks for memory twice a list. Here the lists stand one behind the other, and the
//! table holds their numbers.

use grammask_grammar_ir::hash::hash_of;
use hashbrown::HashTable;

/// Lists, numbered as they are added.
#[derive(Default)]
pub(super) struct Lists {
    members: Vec<u32>,
    /// Where each list ends; it begins where the one before does.
    ends: Vec<u32>,
    /// Hash and number.
    known: HashTable<(u64, u32)>,
}

impl Lists {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn list(&self, number: u32) -> &[u32] {
        list(&self.members, &self.ends, number)
    }

    /// The number of a list, or else its hash.
    pub(super) fn find(&self, wanted: &[u32]) -> Result<u32, u64> {
        let hash = hash_of(wanted);
        let is_same = |&(other, number): &(u64, u32)| other == hash && self.list(number) == wanted;
        self.known.find(hash, is_same).map(|known| known.1).ok_or(hash)
    }

    /// Adds a list that was not found, by its hash.
    pub(super) fn add(&mut self, hash: u64, members: &[u32]) -> u32 {
        // The meter bounds the work on a text, and with it the members, far below 2^32.
        let number = self.ends.len() as u32;
        self.members.extend_from_slice(members);
        self.ends.push(self.members.len() as u32);
        self.known.insert_unique(hash, (hash, number), |known| known.0);
        number
    }
}

fn list<'l>(members: &'l [u32], ends: &[u32], number: u32) -> &'l [u32] {
    let at = number as usize;
    let start = if at == 0 { 0 } else { ends[at - 1] };
    &members[start as usize..ends[at] as usize]
}
