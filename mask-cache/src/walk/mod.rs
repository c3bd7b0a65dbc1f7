//! The depth-first walk of a trie over a parser backend.
//!
//! A trie and a parser state come in; the ids of the tokens that the state reads go out, in the caller's
//! scratch space. The order of the walk and its buffers may be changed here without changes elsewhere,
//! because ids come in no order. This folder may import the vocabulary and the masks. It knows no slices or
//! lists: callers cut the work into portions.

pub(crate) mod scratch;
pub(crate) mod token_trials;
pub(crate) mod trie_walk;
