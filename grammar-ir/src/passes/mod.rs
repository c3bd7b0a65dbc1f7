//! Passes: rewriting a grammar into another one of the same language.
//!
//! Each pass is one file, one function and one error, and does not know the others; [`optimize`] is the page on
//! which they are composed. A pass keeps rules in their order with their names, spans and lookaheads; it makes
//! a new arena, so ids of the old grammar mean nothing in the new one. Shared expressions stay shared.
//!
//! A finished grammar comes in and a finished grammar goes out. A pass can be changed alone, as long as the language
//! stays the same. Imports the builder, the analyses and everything below them.

mod combine;
mod drop_unreachable;
mod inline;
mod optimize;
mod resolve_tokens;
mod rewrite;
mod simplify;

pub use combine::{append, append_body, concat, union};
pub use drop_unreachable::{DropUnreachableError, below, drop_unreachable};
pub use inline::{InlineError, InlineOptions, inline};
pub use optimize::{PassError, PassOptions, optimize};
pub use resolve_tokens::{
    ResolveTokensError, SpecialNames, TokenNames, TokenSort, mentions_tokens, resolve_tokens,
    resolve_tokens_with,
};
pub use simplify::{SimplifyError, simplify};
