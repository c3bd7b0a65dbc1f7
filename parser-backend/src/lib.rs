//! The seam between parsers and token masks.
//!
//! A *backend* follows a grammar byte by byte. The computation of masks sees only the trait [`Backend`]:
//! opaque states that can be stepped, compared and hashed. Five methods are enough for exact masks; optional
//! parts make them faster, or serve more grammars. Everything that is not context-free (the counts of
//! open repeats, the names that an object has used up) is inside the state. So rollback and fork remain
//! copies of a value.
//!
//! This crate holds the traits, their vocabulary types, and the vector in which histories of states are shared by forks
//! ([`SharedVec`]); no engine, no automaton.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// In the order in which they build on one another.

// The arguments and errors of a call.
mod error;
// Bounds on the work of a call.
mod fuel;
// A vector that grows along a text.
mod shared_vec;
// The answers of a backend without an optional part.
mod not_offered;
// The optional parts, with their vocabulary.
mod class;
mod configuration;
mod distinct;
mod local;
mod rows;
mod tables;
mod tokens;
// The trait.
mod backend;

pub use backend::{Backend, MaskKey};
pub use class::{CharClass, ClassRuns, Run};
pub use configuration::{Configuration, Configurations, OpenCall, OpenGroup, Progress};
pub use distinct::{DistinctScope, DistinctScopes};
pub use error::{BuildError, StepError};
pub use fuel::Fuel;
pub use local::{Ended, LocalParts, Split};
pub use not_offered::NotOffered;
pub use rows::Rows;
pub use shared_vec::SharedVec;
pub use tables::{TableCounts, Tables};
pub use tokens::{TokenEdges, TokenSet};
