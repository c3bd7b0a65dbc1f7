//! The whole corpus on the naive recogniser and on every backend, and random grammars and hostile inputs beside it.

mod allocations;
mod corpus;
mod formats;
mod hostile;
mod random;
mod schemas;
mod serialisers;
mod tool_turns;
