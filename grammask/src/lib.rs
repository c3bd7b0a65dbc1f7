//! Structured generation: at every decoding step of a language model, the exact set of tokens that keep its text
//! within a structure.
//!
//! ```
//! use grammask::{Compiler, JsonSchemaOptions, TokenMask, Vocabulary, VocabularyOptions};
//!
//! // A vocabulary of single bytes; real ones come from `grammask::vocabularies::load`.
//! let tokens = (0..=255u8).map(|byte| Some(vec![byte])).chain([None]);
//! let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([256]))?;
//!
//! let compiler = Compiler::builder(vocabulary).build();
//! let schema = r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}"#;
//! let grammar = compiler.json_schema(schema, &JsonSchemaOptions::default())?;
//!
//! let mut matcher = grammar.matcher();
//! let mut mask = TokenMask::new(compiler.vocabulary().len());
//! matcher.fill_mask(&mut mask)?;
//! assert_eq!(mask.iter().map(|id| id.index()).collect::<Vec<_>>(), [usize::from(b'{')]);
//! matcher.accept_bytes(br#"{"ok": true}"#)?;
//! assert!(matcher.is_completed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate is the facade: it re-exports what users of the whole need. Those who want one layer only depend on
//! that crate: `grammask-grammar-ir`, `grammask-fsm`, `grammask-grammar-frontends`, `grammask-earley`,
//! `grammask-pda`, `grammask-mask-cache`, `grammask-vocabularies`, `grammask-matcher`.
//!
//! # Vocabularies
//!
//! [`vocabularies::load`] reads the tokens of a model from the file that comes with it: Hugging Face's
//! `tokenizer.json`, GGUF, a SentencePiece model, Mistral's `tekken.json` or a rank file of tiktoken.
//!
//! # Backends
//!
//! The parser below the masks can be chosen, and masks are the same. [`earley`] serves every grammar and is the default.
//! [`pda`] declines left recursion, permutations (`KeyOrder::Any` among them), tokens that are taken as a whole, and
//! `max_tokens`. An engine of your own implements [`Backend`] and [`BuildBackend`].
//!
//! ```
//! use grammask::{Compiler, EbnfOptions, Vocabulary, VocabularyOptions, pda};
//!
//! let tokens = (0..=255u8).map(|byte| Some(vec![byte])).chain([None]);
//! let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([256]))?;
//! let compiler = Compiler::builder(vocabulary).backend::<pda::Engine>().build();
//! let mut matcher = compiler.ebnf(r#"root ::= "a" root "b" | "c""#, &EbnfOptions::default())?.matcher();
//! matcher.accept_bytes(b"aacbb")?;
//! assert!(matcher.is_completed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Engines
//!
//! `docs/rust-engines.md` in the repository is the guide for authors of serving engines: the loop, batches, drafts, forced
//! text, captures, cancellation, limits.
//!
//! # Features
//!
//! On by default:
//!
//! * `ebnf` (with GBNF), `json-schema`, `lark`, `regex`, `structural-tag`, `tool-formats`: a syntax each, with those that it
//!   is made of.
//! * `pda`: the second parser backend.
//!
//! Off by default:
//!
//! * `embedded-vocab`: `Vocabulary::o200k_harmony`, a vocabulary of 201,088 tokens inside the program.
//! * `apply`: the module `apply`, which puts masks on logits.
//! * `cuda`: `apply` on NVIDIA devices too (Linux). Needs no CUDA to build, and a driver only where it is used.
//! * `schemars`: Rust types as structures (`Compiler::json_type`, `Tools`).
//! * `store`: compiled grammars as bytes (`CompiledGrammar::to_bytes`, `Compiler::load`), and `StoreDirectory`.
//! * `tokenizers`, `tiktoken-rs`, `toktrie`: vocabularies of tokenizers that these libraries have loaded.
//! * `tracing`: spans of what takes long: compiling, masks that are computed, tables that are dropped.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// Structures as texts. Each syntax has a module of its own.
#[cfg(feature = "ebnf")]
pub use grammask_grammar_frontends::ebnf::{self, EbnfOptions};
#[cfg(feature = "ebnf")]
pub use grammask_grammar_frontends::gbnf;
pub use grammask_grammar_frontends::json::{self, JsonObject, JsonValue};
#[cfg(feature = "json-schema")]
pub use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions};
#[cfg(feature = "lark")]
pub use grammask_grammar_frontends::lark::{self, LarkOptions, NamedGrammar};
#[cfg(feature = "regex")]
pub use grammask_grammar_frontends::regex::{self, RegexOptions};
#[cfg(feature = "structural-tag")]
pub use grammask_grammar_frontends::structural_tag::{self, StructuralTag, StructuralTagOptions};
#[cfg(feature = "tool-formats")]
pub use grammask_grammar_frontends::tool_formats::{self, ToolFormat, ToolRequest};
pub use grammask_grammar_frontends::{Color, Diagnostic, Diagnostics};
#[cfg(feature = "schemars")]
pub use grammask_matcher::{ReadError, Tools, ToolsError, TypedGrammar};
// Structures as data.
pub use grammask_grammar_ir::{self as ir, Grammar, GrammarBuilder, GrammarError, Interrupt, Interrupted};

// Vocabularies and masks.
#[cfg(feature = "apply")]
pub use grammask_gpu_apply as apply;
pub use grammask_mask_cache::{
    LocalPool, StoredMask, TokenCoding, TokenDecoder, TokenId, TokenKind, TokenMask, Vocabulary,
    VocabularyBuilder, VocabularyError, VocabularyOptions, words_for,
};
pub use grammask_vocabularies as vocabularies;

// From a structure to a grammar, and a text along it.
pub use grammask_matcher::{
    Budget, BudgetCache, BufferTooSmall, ByteSet, Capture, CaptureEnds, CompileCache, CompileError,
    CompiledGrammar, Compiler, CompilerBuilder, Explanation, ForcedTokens, Limits, MaskKind, MatchError,
    Matcher, Replay, SpellingGaps, StopTokens,
};
// Many texts at once, drafts, files.
pub use grammask_matcher::{
    BackgroundCompile, BackgroundMatcher, BatchMatcher, BatchRow, DraftError, DraftRow, DraftTree, OtherRows,
    Threads, ThreadsError, TokenCountError,
};
#[cfg(feature = "store")]
pub use grammask_matcher::{StoreDirectory, StoreError};

// Parsers.
pub use grammask_earley as earley;
pub use grammask_fsm as fsm;
pub use grammask_matcher::{BackendSettings, BuildBackend};
pub use grammask_parser_backend::{self as parser_backend, Backend, StepError};
#[cfg(feature = "pda")]
pub use grammask_pda as pda;

/// Switches and counters, for experiments and for reports: no program needs them to be right or fast.
///
/// The passes over automata and the ways to a mask can be switched off one by one; no switch changes a mask. Counters say
/// how often each way was taken, and how long it took.
pub mod tuning {
    pub use grammask_fsm::CompileOptions;
    pub use grammask_grammar_ir::Toggle;
    pub use grammask_mask_cache::{Clock, MaskCounts, MaskOptions, TokenSets, WayCount};
    #[cfg(feature = "store")]
    pub use grammask_matcher::DirectoryStats;
    pub use grammask_matcher::{CompileTimes, CompilerStats, GrammarStats, GrammarUsage, MatcherStats};
    pub use grammask_parser_backend::TableCounts;
}

/// The examples of the guide, so that they are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../docs/rust-engines.md")]
pub struct Guide;
