//! The whole corpus on the naive recogniser and on every backend, and random grammars and hostile inputs beside it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod allocations;
mod corpus;
mod formats;
mod hostile;
mod random;
mod schemas;
mod serialisers;
mod tool_turns;
