//! The ways to one mask.
//!
//! A parser state and the token sets come in; the tokens that the state allows go out. All ways give the same tokens, so
//! one may be changed or removed here as long as the comparison with the plain walk holds. This folder may import the
//! token sets and the walk. It keeps no mask: the cache decides which way is taken, and remembers the result.

pub(crate) mod allowed_tokens;
pub(crate) mod context_expansion;
pub(crate) mod cost;
pub(crate) mod difference;
pub(crate) mod local_part;
mod suffix_walk;
pub(crate) mod whole_tokens;
