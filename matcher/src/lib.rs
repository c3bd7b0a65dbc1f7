//! From a structure to a token mask for every decoding step.
//!
//! A [`Compiler`] turns a structure (JSON Schema, EBNF, a regular expression, a grammar as data) into a
//! [`CompiledGrammar`] for one vocabulary; a [`Matcher`] follows one text through it.
//!
//! ```
//! use grammask_grammar_frontends::regex::RegexOptions;
//! use grammask_mask_cache::{TokenMask, Vocabulary, VocabularyOptions};
//! use grammask_matcher::Compiler;
//!
//! let tokens = ["a", "ab", "b", "c", ""].map(|token| Some(token.as_bytes().to_vec()));
//! let options = VocabularyOptions::default().stop_ids([4]);
//! let compiler = Compiler::new(Vocabulary::from_tokens(tokens, &options)?);
//! let grammar = compiler.regex("ab*", &RegexOptions::default())?;
//!
//! let mut matcher = grammar.matcher();
//! let mut mask = TokenMask::new(compiler.vocabulary().len());
//! matcher.fill_mask(&mut mask)?;
//! assert_eq!(mask.iter().map(|id| id.index()).collect::<Vec<_>>(), [0, 1]);
//! let id = mask.iter().next().ok_or("a token is allowed")?;
//! matcher.accept_token(id)?;
//! assert!(matcher.is_completed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors and limits
//!
//! A structure at fault is a [`CompileError`]; a token that is not allowed, a limit that is reached or a call at
//! the wrong time is a [`MatchError`]. [`Limits`] bound memory and work; their defaults suit a shared server.
//!
//! # When not to use it
//!
//! To judge a document that is finished, a validator says more about what is wrong with it. To compute masks for
//! a parser of your own, `grammask-mask-cache` is enough.
//!
//! # Features
//!
//! * `store`: compiled grammars and shared masks as bytes, and `StoreDirectory`, which keeps them in files.
//! * `tracing`: spans of the crate `tracing`, target `grammask`, level debug: `frontend`, `automata` and `backend`
//!   while compiling, `mask` for each mask that is computed, `evict` where tables are dropped to keep a budget.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod background;
mod batch;
mod budget;
mod build_backend;
mod cache;
mod compile_tags;
mod compiled;
mod compiler;
mod content_hash;
mod distinct;
mod error;
mod explain;
mod limits;
mod matcher;
mod room;
mod shared_work;
mod spelled;
mod stats;
mod stop_tokens;
#[cfg(feature = "store")]
mod store;
mod tag_pieces;
mod threads;
mod token_names;
mod trace;
mod warm;

pub use background::{BackgroundCompile, BackgroundMatcher};
pub use batch::{BatchMatcher, BatchRow};
pub use budget::Budget;
pub use build_backend::{BackendSettings, BuildBackend};
pub use cache::CompileCache;
pub use compiled::{CompiledGrammar, Usage};
pub use compiler::{Compiler, CompilerBuilder};
pub use error::{CompileError, MatchError};
pub use explain::Explanation;
pub use limits::Limits;
pub use matcher::{
    Capture, CaptureEnds, DraftError, DraftRow, DraftTree, ForcedTokens, MaskKind, Matcher, OtherRows, Replay,
};
pub use room::BufferTooSmall;
pub use stats::{CompileTimes, CompilerStats, MatcherStats, Stats};
pub use stop_tokens::StopTokens;
#[cfg(feature = "store")]
pub use store::{DirectoryUse, StoreDirectory, StoreError};
pub use threads::{Threads, ThreadsError};
