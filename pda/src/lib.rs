//! Parallel stacks in one persistent tree: the second parser backend.
//!
//! # What it is
//!
//! A pushdown automaton reads a context-free grammar with a stack: a call of a rule pushes where to go on, the end
//! of a rule pops. Where the grammar leaves a choice there are several stacks at once. The naive way copies a
//! stack for every choice, and again to be able to take a token back. This engine follows XGrammar's first paper
//! (section 3.3, the persistent execution stack):
//!
//! 1. all stacks live in one tree, from their tops down to a common bottom. A stack is a pointer to its top node;
//!    pushing and popping copy nothing, and branches share what they have in common (`tree`);
//! 2. nodes are hash-consed, so equal stacks are one, and the list of the stacks that are alive can be interned. A
//!    [`State`] is the number of such a list: rollback and fork copy a number (`stacks`);
//! 3. a list remembers which list each class of bytes leads to, so a step that was taken once is a table read
//!    for every later text and thread;
//! 4. the number of iterations of a counted repeat is kept in a node of the stack. So `maxLength: 65536` is
//!    one node more and not 65,536 copies of an automaton. Masks are kept under the list in which counts far
//!    from a bound are replaced by one that behaves alike (`tree`);
//! 5. a state that may call one rule in several ways is one caller, which waits in several states (`callers`). Where a caller
//!    may end, equal ones below it are skipped (`closure`). Many stacks that are left have a mask each, and the masks are
//!    merged;
//! 6. long runs inside strings are found by reading a character at a time and jumping over steps that only
//!    count (`runs`). The part of the stacks that does not depend on the caller can be cut out (`split`).
//!
//! # When to use it, and when not
//!
//! It exists so that two ways to parse can be compared behind one trait, and judge each other in tests.
//! Earley's algorithm (`grammask-earley`) serves more grammars: it also shares the common parts of parallel
//! parses *above* the place where they part, whereas this engine keeps a stack for each.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use grammask_fsm::CompileOptions;
//! use grammask_grammar_ir::GrammarBuilder;
//! use grammask_parser_backend::{Backend, Fuel};
//! use grammask_pda::{Config, Engine};
//!
//! // nest ::= "(" nest ")" | "x"
//! let mut builder = GrammarBuilder::new();
//! let nest = builder.declare("nest")?;
//! let (open, inner, close, x) =
//!     (builder.literal("("), builder.rule(nest), builder.literal(")"), builder.literal("x"));
//! let deeper = builder.sequence([open, inner, close]);
//! let body = builder.choice([deeper, x]);
//! builder.define(nest, body)?;
//! let program = grammask_fsm::compile(&builder.finish(nest)?, &CompileOptions::default())?;
//!
//! let engine = Engine::new(Arc::new(program), Config::default())?;
//! let mut state = engine.start();
//! for byte in b"((x))" {
//!     state = engine.step(state, *byte, &mut Fuel::unlimited())?.expect("the text is nested");
//! }
//! assert!(engine.is_complete(state));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors and limits
//!
//! Left recursion, also hidden behind rules that may be empty, is declined when the engine is built, with a
//! [`BuildError`](grammask_parser_backend::BuildError) that names the rules: the stacks would grow without
//! end. So are grammars that name tokens which are taken as a whole, or have parts in any order. [`Config`] bounds memory and the number
//! of stacks; [`Fuel`](grammask_parser_backend::Fuel) bounds the work of a call. A limit that is reached is a
//! [`StepError`](grammask_parser_backend::StepError): *indeterminate*, and the state that was asked of stays
//! valid. A grammar whose choices differ only after a nesting doubles its stacks with every level, and
//! reaches that limit. An example is `a ::= "(" b ")" | "(" c "]" | "x"` with `b ::= a` and `c ::= a ";"`.
//!
//! # Threads
//!
//! An [`Engine`] is `Sync`. Steps that were taken before read tables without a lock; new ones take a lock.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// In the order of the data flow: each module imports only modules above it.
mod config;
// Where a caller goes on.
mod callers;
// The persistent tree of stacks.
mod tree;
// Lists of stacks, interned.
mod stacks;
// From the stacks after a byte to all stacks that can read the next byte.
mod closure;
// Grammars that are declined.
mod left_recursion;
// Steps, computed once.
mod automaton;
// Long texts over a class of characters.
mod runs;
// The part of a list that does not depend on its callers.
mod split;
// How near the end of the text is.
mod shortest_completion;
// All of it as a backend.
mod engine;

pub use config::Config;
pub use engine::Engine;
pub use grammask_fsm as fsm;
pub use grammask_grammar_ir as ir;
pub use grammask_parser_backend as parser_backend;
pub use stacks::State;
