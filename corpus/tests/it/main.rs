//! The whole corpus on the naive recogniser and on every backend, and random grammars beside it.

mod corpus;
mod formats;
mod random;
mod schemas;
mod serialisers;
