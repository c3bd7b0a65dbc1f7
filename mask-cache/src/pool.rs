//! Masks of local parts, shared by all grammars of one vocabulary.

use std::sync::Arc;

use crate::local::LocalMask;
use crate::recent::Recent;

/// Masks of local parts by what the parts are: the cross-grammar cache.
///
/// A local part is found by its whole description ([`Backend::structure`](grammask_parser_backend::Backend::structure)),
/// not by a hash of it, so one grammar cannot be made to get another one's masks. When the pool outgrows its budget,
/// the masks that were not used for longest go; grammars keep what they use.
#[derive(Debug)]
pub struct LocalPool {
    masks: Recent<Box<[u32]>, Arc<LocalMask>>,
}

impl LocalPool {
    /// An empty pool that holds at most about `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self { masks: Recent::new(max_bytes) }
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

    pub(crate) fn all(&self) -> Vec<(Box<[u32]>, Arc<LocalMask>)> {
        self.masks.all()
    }

    pub(crate) fn keep(&self, structure: Vec<u32>, mask: &Arc<LocalMask>) {
        let size = size_of_val(&*structure) + mask.memory_usage() + 64;
        self.masks.keep(structure.into(), Arc::clone(mask), size);
    }
}
