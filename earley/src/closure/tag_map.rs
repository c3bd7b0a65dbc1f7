//! The items and contexts that a closure has visited, with their tags.

use grammask_grammar_ir::hash::HashMap;
use hashbrown::hash_map::Entry;

use crate::tables::slots::Tag;

/// Keys up to which a linear search beats hashing.
const MAX_LINEAR: usize = 24;

/// A map from keys to tags, fast while small.
#[derive(Default)]
pub(crate) struct TagMap {
    few: Vec<(u64, Tag)>,
    many: HashMap<u64, Tag>,
}

impl TagMap {
    pub(crate) fn clear(&mut self) {
        self.few.clear();
        if !self.many.is_empty() {
            self.many.clear();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.few.len().max(self.many.len())
    }

    /// The tag that a key was met with before, if it was; else the key is recorded with `tag`.
    pub(crate) fn insert(&mut self, key: u64, tag: Tag) -> Option<Tag> {
        if self.many.is_empty() {
            if let Some(&(_, known)) = self.few.iter().find(|(known, _)| *known == key) {
                return Some(known);
            }
            if self.few.len() < MAX_LINEAR {
                self.few.push((key, tag));
                return None;
            }
            self.many.extend(self.few.iter().copied());
        }
        match self.many.entry(key) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(place) => {
                place.insert(tag);
                None
            }
        }
    }
}
