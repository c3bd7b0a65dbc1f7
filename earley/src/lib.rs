//! A lazy automaton over interned Earley sets: the default parser backend.
//!
//! # What it is
//!
//! An Earley parser keeps, for every position of the text, the set of items that are alive there. This engine
//! interns those sets and remembers which byte leads from which set to which. Parsing becomes one table read
//! a byte, and everything that is derived from a set (the token mask above all) can be kept with it. Sets are
//! made when they are first reached. The modules explain the details: contexts instead of origins
//! (`tables::contexts`), completing before predicting (`closure`), counts of repeats beside the set
//! (`tables::slots`), long runs inside strings (`runs`). The part of a set that does not depend on its
//! callers is in `local`.
//!
//! Any context-free grammar is served: left recursion, nullable rules and ambiguity included, and repeats with
//! bounds of any size.
//!
//! # When not to use it
//!
//! To match a regular expression against a text that is known in full, a regex engine is faster. To get token
//! masks, use `grammask-matcher`, which joins this engine with a compiler and a vocabulary.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use grammask_earley::{Config, Engine};
//! use grammask_fsm::CompileOptions;
//! use grammask_grammar_ir::GrammarBuilder;
//! use grammask_parser_backend::{Backend, Fuel};
//!
//! // list ::= list "," "x" | "x"
//! let mut builder = GrammarBuilder::new();
//! let list = builder.declare("list")?;
//! let (again, comma, x) = (builder.rule(list), builder.literal(","), builder.literal("x"));
//! let longer = builder.sequence([again, comma, x]);
//! let body = builder.choice([longer, x]);
//! builder.define(list, body)?;
//! let program = grammask_fsm::compile(&builder.finish(list)?, &CompileOptions::default())?;
//!
//! let engine = Engine::new(Arc::new(program), Config::default())?;
//! let mut state = engine.start();
//! for byte in b"x,x" {
//!     state = engine.step(state, *byte, &mut Fuel::unlimited())?.expect("the text is a list");
//! }
//! assert!(engine.is_complete(state));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Options of rules
//!
//! A state of the engine does not say which tokens of a rule were counted, which text a rule has read and
//! which rules are open. For that, [`Derivations`] keep every reading of one text.
//!
//! # Errors and limits
//!
//! [`Config`] bounds memory and the size of a set; [`Fuel`](grammask_parser_backend::Fuel) bounds the work of a
//! call. A limit that is reached is a [`StepError`](grammask_parser_backend::StepError): *indeterminate*, and the
//! state that was asked of stays valid. When the tables are full, [`Tables::import`](grammask_parser_backend::Tables::import) moves a state to a new
//! engine.
//!
//! # Threads
//!
//! An [`Engine`] is `Sync`. Steps that were taken before read tables without a lock; new ones take a lock for
//! about a microsecond.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// In the order of the data flow: each module imports only modules above it.
mod config;
// The data of the automaton.
mod tables;
// From the items after a byte to all items of a set.
mod closure;
// Steps, computed once.
mod automaton;
// Questions to the automaton.
mod runs;
// Parts that other grammars share.
mod local;
// Whole tokens, unions and lengths.
mod queries;
// A second parse, for captures and budgets.
mod derivations;
// All of it as a backend.
mod engine;

pub use config::Config;
pub use derivations::captures::{CaptureEnds, Captured};
pub use derivations::parse::{Derivations, InputUnit, WholeToken};
pub use engine::Engine;
pub use grammask_fsm as fsm;
pub use grammask_grammar_ir as ir;
pub use grammask_parser_backend as parser_backend;
pub use tables::state::State;
