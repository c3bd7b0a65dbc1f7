//! A handful of grammars with texts, for looking at the hot path.
//!
//! Nothing comes in; grammars with texts go out. Imports nothing of this program.

pub(crate) mod growing;
mod workloads;

pub(crate) use workloads::{OwnedSource, Size, Workload, all};
