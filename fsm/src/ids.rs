//! Ids that stand for nothing.

/// No state, no edge, no fragment.
pub(crate) const NONE: u32 = u32::MAX;
