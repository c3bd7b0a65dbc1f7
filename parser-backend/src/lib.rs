//! The seam between parsers and token masks.
//!
//! A *backend* follows a grammar byte by byte. The computation of masks sees only the trait [`Backend`]:
//! opaque states that can be stepped, compared and hashed. Everything that is not context-free (the counts of
//! open repeats, the names that an object has used up) is inside the state. So rollback and fork remain
//! copies of a value.
//!
//! This crate holds the trait, its vocabulary types, and the vector in which histories of states are shared by forks
//! ([`SharedVec`]); no engine, no automaton.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// In the order in which they build on one another.

// The arguments and errors of a call.
mod class;
mod configuration;
mod counts;
mod error;
mod tokens;
// Bounds on the work of a call.
mod fuel;
// A vector that grows along a text.
mod shared_vec;
// The trait.
mod backend;

pub use backend::{Backend, DistinctScope, Ended, MaskKey, Requirement, Split};
pub use class::{CharClass, Run};
pub use configuration::{Configuration, OpenCall, OpenGroup, Progress};
pub use counts::TableCounts;
pub use error::{BuildError, StepError};
pub use fuel::Fuel;
pub use shared_vec::SharedVec;
pub use tokens::TokenSet;
