//! The kind of a mask as a whole, and the name under which it is compared with others.

use std::sync::Arc;

use grammask_mask_cache::{StoredMask, TokenId};
use grammask_parser_backend::MaskKey;

/// The kind of a mask as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaskKind {
    /// Every id of the vocabulary is allowed: there is nothing to apply.
    All,
    /// The mask equals the one that this matcher filled last; a copy that was transferred then still holds.
    Unchanged,
    /// One token is allowed.
    Single(TokenId),
    /// Some tokens are allowed.
    Some,
}

/// In place of an address: the mask of the state is not that of the key.
pub(super) const NARROWED: usize = 0;

/// The name of a mask: the address of a generation of tables, which the holder of the name keeps alive, and
/// the key in it.
pub(super) type MaskName = (usize, MaskKey);

/// A mask, and the name of its state.
#[derive(Clone)]
pub(super) struct NamedMask {
    pub(super) name: MaskName,
    pub(super) mask: Arc<StoredMask>,
}

impl NamedMask {
    pub(super) fn kind(&self) -> MaskKind {
        match self.mask.single() {
            Some(id) => MaskKind::Single(id),
            None if self.mask.allows_all() => MaskKind::All,
            None => MaskKind::Some,
        }
    }
}

/// Whether a mask is known.
pub(crate) enum MaskLookup {
    /// It was, and was written.
    Filled(MaskKind),
    /// It has to be computed. Equal names, equal masks.
    Missing(MaskName),
    /// It is not that simple, and for the matcher itself to fill.
    Other,
}
