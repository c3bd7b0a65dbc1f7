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
//! A validator says more about the errors of a finished document. For masks over a parser of your own,
//! `grammask-mask-cache` is enough.
//!
//! # Features
//!
//! * `schemars`: `Compiler::json_type` and `Tools`, for types with `schemars::JsonSchema`.
//! * `store`: compiled grammars and shared masks as bytes, and `StoreDirectory`, which keeps them in files.
//! * `tracing`: spans of the crate `tracing`, target `grammask`, level debug. They are `frontend`, `automata`
//!   and `backend` while compiling, `mask` for each mask that is computed, and `evict` where tables are
//!   dropped to keep a budget.
#![deny(missing_docs)]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "structural-tag"),
    allow(dead_code, reason = "the cache and the threads serve structural tags too")
)]

// In the order in which data flows. Each folder imports only folders above it.

// Limits, errors, counters, threads.
mod base;

// The caches between compilations, and the budget of memory.
mod cache;

// The compiled grammar and its tables.
mod grammar;

// From a source text to a compiled grammar.
mod compile;

// Items and names that must differ.
mod unique;

// One text on a compiled grammar.
mod matcher;

// Batches, compiling in the background, masks ahead of time.
mod serving;

// Grammars and masks as bytes and files.
#[cfg(feature = "store")]
mod store;

// Rust types as structures.
#[cfg(feature = "schemars")]
mod types;

// Code that programs share in builds that are not optimised.
#[cfg(debug_assertions)]
mod instances;

pub use base::buffer_size::BufferTooSmall;
pub use base::byte_set::ByteSet;
pub use base::error::{CompileError, MatchError};
pub use base::limits::Limits;
pub use base::stats::{CompileTimes, CompilerStats, GrammarStats, GrammarUsage, MatcherStats};
pub use base::threads::{Threads, ThreadsError};
pub use cache::budget::{Budget, BudgetCache};
pub use cache::compile_cache::CompileCache;
pub use compile::backend::{BackendSettings, BuildBackend};
pub use compile::builder::CompilerBuilder;
pub use compile::compiler::Compiler;
pub use grammar::compiled::CompiledGrammar;
pub use grammar::spelling_gaps::SpellingGaps;
pub use grammask_earley as earley;
pub use grammask_earley::CaptureEnds;
pub use grammask_fsm as fsm;
pub use grammask_grammar_frontends as frontends;
pub use grammask_grammar_ir as ir;
pub use grammask_mask_cache as mask_cache;
pub use grammask_parser_backend as parser_backend;
pub use matcher::attributes::Capture;
pub use matcher::draft::{DraftError, DraftRow, DraftTree, OtherRows};
pub use matcher::explain::Explanation;
pub use matcher::forced::ForcedTokens;
pub use matcher::mask_kind::MaskKind;
pub use matcher::matcher::Matcher;
pub use matcher::stop_tokens::StopTokens;
pub use matcher::switch::Replay;
pub use serving::background::{BackgroundCompile, BackgroundMatcher};
pub use serving::batch::{BatchMatcher, BatchRow, TokenCountError};
#[cfg(feature = "store")]
pub use store::bytes::StoreError;
#[cfg(feature = "store")]
pub use store::directory::{DirectoryStats, StoreDirectory};
#[cfg(feature = "schemars")]
pub use types::error::ReadError;
#[cfg(feature = "schemars")]
pub use types::tools::{Tools, ToolsError};
#[cfg(feature = "schemars")]
pub use types::typed_grammar::TypedGrammar;
