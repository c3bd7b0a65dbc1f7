//! The lazy automaton: transitions that are computed when they are first taken, and remembered.
//!
//! A state and a byte come in, and the next state goes out. This folder is the only writer of the tables: it holds the
//! lock, interns sets and records transitions. How a transition is computed may change here without care elsewhere; the
//! memory ordering of the words of a row is a matter of `step.rs` alone. It imports the closure and the tables.

pub(crate) mod byte_equivalence;
pub(crate) mod import;
pub(crate) mod intern;
pub(crate) mod lazy;
pub(crate) mod mask_key;
pub(crate) mod step;
