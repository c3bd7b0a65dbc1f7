//! A compiled grammar: the engine and the masks that all texts on it share.
//!
//! An engine over a vocabulary comes in, and a [`CompiledGrammar`](compiled::CompiledGrammar) goes out, which
//! hands its current tables to matchers. When tables are full or the budget is passed, a new generation takes
//! their place. The moment of this may be changed here alone; matchers hold the generation of their state and
//! move over by themselves. This folder imports `base` and `cache`.

pub(crate) mod compiled;
pub(crate) mod generation;
pub(crate) mod requested_attributes;
pub(crate) mod spelling_gaps;
