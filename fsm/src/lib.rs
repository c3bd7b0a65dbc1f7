//! Byte automata of grammars.
//!
//! [`compile`] turns a [`Grammar`](grammask_grammar_ir::Grammar) into a [`Program`]: for each rule that the
//! root reaches one automaton over bytes, whose edges read a byte range, nothing, or another automaton. All
//! automata are in flat tables and have no dead ends; parsers run on them. The module [`text`] holds the
//! algebra of regular languages over characters that intersections and complements need, and [`picture`]
//! draws programs.
//!
//! This crate parses no text and knows no tokens. To match a plain regular expression against text, a
//! regular expression library is faster and smaller.
//!
//! # Example
//!
//! ```
//! use grammask_fsm::{CompileOptions, compile};
//! use grammask_grammar_ir::GrammarBuilder;
//!
//! // A JSON string of at most a thousand characters.
//! let mut builder = GrammarBuilder::new();
//! let any = builder.any_char();
//! let text = builder.repeat(any, 0, Some(1_000));
//! let inside = builder.json_escaped(text);
//! let quote = builder.literal("\"");
//! let body = builder.sequence([quote, inside, quote]);
//! let root = builder.add_rule("root", body)?;
//! let grammar = builder.finish(root)?;
//!
//! let program = compile(&grammar, &CompileOptions::default())?;
//! // The repeat is a counter over one character, not a thousand copies; escapes are a fragment of their own.
//! assert_eq!(program.fragment_count(), 3);
//! assert!(program.state_count() < 40);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The model
//!
//! A [`Fragment`] is the automaton of a rule or of the body of a counted repeat. A [`Call`] reads one
//! sentence of a rule's fragment, or for a counted fragment as many iterations as its [`Count`] says. Small
//! rules are written into their callers and small repeats are written out. In JSON strings some automata are
//! fragments that all places share. They are the escapes of a class of characters, the names that differ from
//! a list of others, and automata of more than 64 states under a regular operator. None of this changes the
//! language of a program.
//!
//! # Errors and limits
//!
//! [`AutomataError`] names the rule; its [`Cause`] tells a grammar that is wrong from a limit that was reached.
//! Limits are fields of [`CompileOptions`]. No input overflows the stack, and work is about linear in the
//! size of the tables, except below intersections and complements, where [`TextLimits`] bounds it.
//!
//! # Features
//!
//! * `serde`: [`Program`] implements `Serialize` and `Deserialize`. Whatever is read is checked, so that a damaged
//!   or forged program is an error and never a broken one.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// In the order in which data flows: a module imports only those above it.
pub mod utf8;
mod ids;
pub mod graph;
mod error;
mod options;
mod pace;
pub mod text;
mod program;
mod draft;
mod encoding;
mod link;
mod build;
mod passes;
mod compile;
mod template;
mod deferred;
#[cfg(feature = "serde")]
mod stored;
pub mod picture;

pub use compile::pipeline::{compile, compile_with};
pub use deferred::extract_rules::compile_deferred;
pub use deferred::size_estimate::SizeEstimate;
pub use error::{AutomataError, Cause};
pub use grammask_grammar_ir as ir;
pub use grammask_grammar_ir::{Distinct, Toggle};
pub use link::scope::LinkedProgram;
pub use options::{CompileOptions, PartSize, TextLimits};
pub use program::byte_classes::ByteClasses;
pub use program::deferred::DeferredProgram;
pub use program::distances::{Distances, Ending, ShortestEnding};
pub use program::expanded_suffixes::{ExpandedSuffixes, FollowAnswer};
pub use program::fragment_name::FragmentName;
pub use program::left_corners::{CornerCall, Cycle, LeftCorners};
pub use program::tables::{
    BuildCost, ByteEdge, Call, Count, Fragment, FragmentId, LabelId, Options, Permutation, Program, Role,
    State, StateId, SubProgramCounts, TokenEdge, TokenLabel, TokenSide,
};
pub use template::program_template::{ProgramTemplate, TemplateArm};
