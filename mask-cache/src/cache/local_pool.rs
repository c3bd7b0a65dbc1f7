//! Masks of local parts, shared by all grammars of one vocabulary.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::lru_map::LruMap;
use crate::compute::local_part::LocalPartMask;

/// Masks of local parts by the descriptions of the parts: the cross-grammar cache.
///
/// A local part is found by its whole description
/// ([`LocalParts::canonical_form`](grammask_parser_backend::LocalParts::canonical_form)), not by a hash of it, so
/// one grammar cannot be made to get another one's masks. When the pool outgrows its budget, the least
/// recently used masks are evicted; grammars keep those that they use.
///
/// A mask pays for a local part that is seen twice. Most local parts are seen once in each of many grammars, so the pool
/// remembers the hashes of those that it was asked for.
#[derive(Debug)]
pub struct LocalPool {
    masks: LruMap<Box<[u32]>, Arc<LocalPartMask>>,
    /// Hashes of descriptions, each at its place; a newer one takes the place of an older one. They decide about work,
    /// never about a mask.
    seen: Box<[AtomicU64; SEEN_SLOTS]>,
    hasher: ahash::RandomState,
}

/// Hashes that are remembered.
const SEEN_SLOTS: usize = 1 << 12;

/// The two lowest bits hold the kind of the entry; an empty place has neither.
const SEEN: u64 = 1;
const REJECTED: u64 = 3;

/// Whether a local part was seen before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    FirstSeen,
    SeenBefore,
    /// It was, and a mask of it does not pay.
    Rejected,
}

impl LocalPool {
    /// An empty pool that holds at most about `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        let seen = Box::new([const { AtomicU64::new(0) }; SEEN_SLOTS]);
        Self { masks: LruMap::new(max_bytes), seen, hasher: ahash::RandomState::new() }
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

    pub(crate) fn get(&self, canonical_form: &[u32]) -> Option<Arc<LocalPartMask>> {
        self.masks.get(canonical_form)
    }

    /// Takes note that a mask was asked for. The answer about earlier calls may be wrong, because places are shared by hashes.
    pub(crate) fn admit(&self, canonical_form: &[u32]) -> Admission {
        let (place, hash) = self.place(canonical_form);
        // One atomic word for each place: two threads that ask at the same time cannot both be the first.
        // Relaxed, because the word is a hint and publishes nothing.
        match place.swap(hash | SEEN, Ordering::Relaxed) {
            before if before == hash | SEEN => Admission::SeenBefore,
            before if before == hash | REJECTED => {
                // The rejection was overwritten by the swap, so it is put back. A thread in between computes
                // the part once more.
                place.store(before, Ordering::Relaxed);
                Admission::Rejected
            }
            _ => Admission::FirstSeen,
        }
    }

    /// Takes note that a mask is not worth making.
    pub(crate) fn reject(&self, canonical_form: &[u32]) {
        let (place, hash) = self.place(canonical_form);
        place.store(hash | REJECTED, Ordering::Relaxed);
    }

    fn place(&self, canonical_form: &[u32]) -> (&AtomicU64, u64) {
        let hash = self.hasher.hash_one(canonical_form) & !REJECTED;
        (&self.seen[(hash >> 32) as usize % SEEN_SLOTS], hash)
    }

    pub(crate) fn all(&self) -> Vec<(Box<[u32]>, Arc<LocalPartMask>)> {
        self.masks.all()
    }

    pub(crate) fn keep(&self, canonical_form: Vec<u32>, mask: &Arc<LocalPartMask>) {
        // The 64 bytes stand for the entry and its slot.
        let size = size_of_val(&*canonical_form) + mask.memory_usage() + 64;
        self.masks.keep(canonical_form.into(), Arc::clone(mask), size);
    }
}
