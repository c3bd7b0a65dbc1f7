//! The base of every other folder: limits, errors, counters, the thread pool, and small helpers.
//!
//! Only plain values come in, and these types go out to all folders above. The counters, the pool and the
//! helpers may be changed freely. The fields of limits and the variants of errors are public. This folder
//! imports no other one.

pub(crate) mod buffer_size;
pub(crate) mod byte_set;
pub(crate) mod content_hash;
pub(crate) mod error;
pub(crate) mod limits;
pub(crate) mod stats;
pub(crate) mod threads;
pub(crate) mod trace;

// After `threads`, which it uses.
pub(crate) mod parallel_map;
