//! Programs that are compiled later.
//!
//! A grammar comes in; a [`DeferredProgram`](crate::DeferredProgram) with a size estimate and a job goes out, or a
//! program with some of its rules deferred ([`extract_rules::compile_deferred`]). The size counts against the limits,
//! and does no harm where the automata turn out larger. This folder imports `compile`, and `build` for its graph of
//! rules; nothing below it knows that compilation can wait, except for the closure that `program` keeps.

pub(crate) mod size_estimate;
pub(crate) mod constructors;
pub(crate) mod extract_rules;
