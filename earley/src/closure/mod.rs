//! From the items that a byte led to, to the set of all items that can read the next byte.
//!
//! The input is a *kernel* of items and the counts before the byte. The result is a list of items, the
//! changes of the slots, and the questions that were asked of counts. The order of prediction and the pruning
//! may change here without changes elsewhere, as long as the set allows the same texts. This folder imports
//! only the tables.

pub(crate) mod closure_cache;
pub(crate) mod complete;
pub(crate) mod predict;
pub(crate) mod rebuild;
pub(crate) mod set_closure;
pub(crate) mod subsume;
pub(crate) mod tag_map;
