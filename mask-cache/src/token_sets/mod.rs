//! Sets of tokens that depend on the vocabulary alone, computed once and shared by all grammars.
//!
//! A vocabulary comes in; sets of tokens go out, each with the trie of the tokens that it leaves to the walk.
//! Classes and lists may be added or changed here, because a set only decides how long a mask takes, never
//! which tokens are in it. Each set and its trie together must hold each of their tokens exactly once. This
//! folder may import the vocabulary and the masks, and asks a backend only whether a set applies to a state.

mod char_classes;
pub(crate) mod json_tokens;
pub(crate) mod length_prefixes;
pub(crate) mod residual_suffixes;
pub(crate) mod slices;

pub(crate) mod sets;
