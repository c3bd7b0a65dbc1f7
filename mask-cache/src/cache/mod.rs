//! Computed masks, kept by their keys.
//!
//! A parser state comes in; a shared mask goes out, found or computed. Budgets, the order of eviction and the
//! order of the ways may be changed here without changes elsewhere. The serialised form of a saved pool
//! stays. This folder may import every other folder of the crate.

pub(crate) mod counters;
pub(crate) mod local_pool;
pub(crate) mod lru_map;
pub(crate) mod memo;
pub(crate) mod options;
pub(crate) mod saved_pool;
