//! Masks of local parts, shared by all grammars of one vocabulary.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::local::LocalMask;
use crate::recent::Recent;

/// Masks of local parts by what the parts are: the cross-grammar cache.
///
/// A local part is found by its whole description ([`Backend::structure`](grammask_parser_backend::Backend::structure)),
/// not by a hash of it, so one grammar cannot be made to get another one's masks. When the pool outgrows its budget,
/// the masks that were not used for longest go; grammars keep what they use.
///
/// A mask is worth making for what is met twice. Most local parts are met once in each of many grammars, so the pool
/// remembers the hashes of those that it was asked for.
#[derive(Debug)]
pub struct LocalPool {
    masks: Recent<Box<[u32]>, Arc<LocalMask>>,
    /// Hashes of descriptions, each at its place; a newer one takes the place of an older one. They decide about work,
    /// never about a mask.
    met: Box<[AtomicU64; MET]>,
    hasher: ahash::RandomState,
}

/// Hashes that are remembered.
const MET: usize = 1 << 12;

/// What is remembered, in the two lowest bits; an empty place has neither.
const MET_BEFORE: u64 = 1;
const HOPELESS: u64 = 3;

/// Whether something was met before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meeting {
    First,
    Again,
    /// It was, and was not worth a mask.
    Hopeless,
}

impl LocalPool {
    /// An empty pool that holds at most about `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        let met = Box::new([const { AtomicU64::new(0) }; MET]);
        Self { masks: Recent::new(max_bytes), met, hasher: ahash::RandomState::new() }
    }

    /// How many masks are kept.
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// Whether no mask is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held.
    pub fn memory_usage(&self) -> usize {
        self.masks.memory_usage()
    }

    pub(crate) fn get(&self, structure: &[u32]) -> Option<Arc<LocalMask>> {
        self.masks.get(structure)
    }

    /// Takes note that a mask was asked for. What it says of the times before may be wrong.
    pub(crate) fn meet(&self, structure: &[u32]) -> Meeting {
        let (place, hash) = self.place(structure);
        match place.swap(hash | MET_BEFORE, Ordering::Relaxed) {
            before if before == hash | MET_BEFORE => Meeting::Again,
            before if before == hash | HOPELESS => {
                place.store(before, Ordering::Relaxed);
                Meeting::Hopeless
            }
            _ => Meeting::First,
        }
    }

    /// Takes note that a mask is not worth making.
    pub(crate) fn give_up(&self, structure: &[u32]) {
        let (place, hash) = self.place(structure);
        place.store(hash | HOPELESS, Ordering::Relaxed);
    }

    fn place(&self, structure: &[u32]) -> (&AtomicU64, u64) {
        let hash = self.hasher.hash_one(structure) & !HOPELESS;
        (&self.met[(hash >> 32) as usize % MET], hash)
    }

    pub(crate) fn all(&self) -> Vec<(Box<[u32]>, Arc<LocalMask>)> {
        self.masks.all()
    }

    pub(crate) fn keep(&self, structure: Vec<u32>, mask: &Arc<LocalMask>) {
        let size = size_of_val(&*structure) + mask.memory_usage() + 64;
        self.masks.keep(structure.into(), Arc::clone(mask), size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_met_twice_is_worth_a_mask_unless_it_was_given_up() {
        let pool = LocalPool::new(1 << 20);
        assert_eq!(pool.meet(&[1, 2]), Meeting::First);
        assert_eq!(pool.meet(&[1, 2]), Meeting::Again);
        pool.give_up(&[1, 2]);
        for _ in 0..2 {
            assert_eq!(pool.meet(&[1, 2]), Meeting::Hopeless);
        }
        assert_eq!(pool.meet(&[3]), Meeting::First);
    }
}
