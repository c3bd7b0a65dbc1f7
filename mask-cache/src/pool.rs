//! Masks of local parts, shared by all grammars of one vocabulary.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::local::LocalMask;

/// Masks of local parts by what the parts are: the cross-grammar cache.
///
/// A local part is found by its whole description ([`Backend::structure`](grammask_parser_backend::Backend::structure)),
/// not by a hash of it, so one grammar cannot be made to get another one's masks. When the pool outgrows its budget
/// it is emptied; grammars keep what they use.
#[derive(Debug)]
pub struct LocalPool {
    masks: RwLock<HashMap<Box<[u32]>, Arc<LocalMask>, ahash::RandomState>>,
    bytes: AtomicUsize,
    max_bytes: usize,
}

impl LocalPool {
    /// An empty pool that holds at most about `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self { masks: RwLock::default(), bytes: AtomicUsize::new(0), max_bytes }
    }

    /// How many masks are kept.
    pub fn len(&self) -> usize {
        self.masks.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether no mask is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held.
    pub fn memory_usage(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn get(&self, structure: &[u32]) -> Option<Arc<LocalMask>> {
        self.masks.read().unwrap_or_else(PoisonError::into_inner).get(structure).cloned()
    }

    pub(crate) fn all(&self) -> Vec<(Box<[u32]>, Arc<LocalMask>)> {
        let masks = self.masks.read().unwrap_or_else(PoisonError::into_inner);
        masks.iter().map(|(structure, mask)| (structure.clone(), Arc::clone(mask))).collect()
    }

    pub(crate) fn keep(&self, structure: Vec<u32>, mask: &Arc<LocalMask>) {
        let size = size_of_val(&*structure) + mask.memory_usage() + 64;
        let mut masks = self.masks.write().unwrap_or_else(PoisonError::into_inner);
        if self.bytes.load(Ordering::Relaxed) + size > self.max_bytes {
            masks.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        if masks.insert(structure.into(), Arc::clone(mask)).is_none() {
            self.bytes.fetch_add(size, Ordering::Relaxed);
        }
    }
}
