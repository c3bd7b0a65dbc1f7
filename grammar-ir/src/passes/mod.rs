//! Passes: rewriting a grammar into another one of the same language.
//!
//! Each pass is one file, one function and one error, and does not know the others. A pass keeps rules in their order
//! with their names, spans and lookaheads; it makes a new arena, so ids of the old grammar mean nothing in the new
//! one. Shared expressions stay shared. Passes that make automata smaller are those over automata: a grammar is
//! compiled as it was written.
//!
//! A finished grammar comes in and a finished grammar goes out. A pass can be changed alone, as long as the language
//! stays the same. Imports the builder, the analyses and everything below them.

mod combine;
mod drop_unreachable;
mod resolve_tokens;
mod rewrite;

pub use combine::{append, append_body, concat, union};
pub use drop_unreachable::{DropUnreachableError, below, drop_unreachable};
pub use resolve_tokens::{
    ResolveTokensError, SpecialNames, TokenNames, TokenSort, mentions_tokens, resolve_tokens,
    resolve_tokens_with,
};
