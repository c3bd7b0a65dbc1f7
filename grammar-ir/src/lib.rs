//! The grammar as data.
//!
//! A [`Grammar`] is an arena of rules and expressions. Frontends build one with a [`GrammarBuilder`],
//! passes rewrite it, and automata are compiled from it. This crate knows no concrete syntax but the one
//! in which it prints itself, does no I/O and runs no parser.
//!
//! # Meaning
//!
//! A grammar denotes a set of strings over bytes and *tokens*; without token expressions, a set of byte
//! strings. A token in it is an id of some vocabulary, taken as a whole. A text written with tokens is in the
//! language if each token can be read as itself or as its bytes so that the whole is in it. Special tokens
//! have no bytes, so no class, literal or free text matches them.
//!
//! A character class denotes the UTF-8 encodings of its characters; a literal is a byte string.
//! [`Expr::Intersection`], [`Expr::Complement`] and [`Expr::JsonEscaped`] are *regular operators*: their
//! operands must be text (valid UTF-8) and must not be recursive. [`Expr::Permutation`] is not regular, so it
//! must not be below one of them, but it needs no more than a parser that remembers which of its parts it has
//! read.
//!
//! Rules may carry [`RuleOptions`]: a bound on the number of their tokens, a name for the text that they
//! read, a temperature to sample with. Only the first restricts what is allowed, and only where tokens are
//! counted.
//!
//! # Example
//!
//! ```
//! use grammask_grammar_ir::GrammarBuilder;
//!
//! let mut builder = GrammarBuilder::new();
//! let root = builder.declare("root")?;
//! let digit = builder.class([('0', '9')]);
//! let digits = builder.repeat(digit, 1, None);
//! let minus = builder.literal("-");
//! let sign = builder.optional(minus);
//! let body = builder.sequence([sign, digits]);
//! builder.define(root, body)?;
//! let grammar = builder.finish(root)?;
//! assert_eq!(grammar.rule_count(), 1);
//! # Ok::<(), grammask_grammar_ir::GrammarError>(())
//! ```
//!
//! # Errors and limits
//!
//! Building fails with a [`GrammarError`] that names the rule. Ids are 32 bits wide: a grammar holds at most
//! 2^32 - 2 rules, expressions, literal bytes and ranges each, and 2^24 operands; the builder refuses more.
//! Expressions may be shared and nested to any depth: nothing here recurses, and analyses and passes look at
//! a shared expression once.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// In the order in which they build on one another.

// Ids, small types and options: they import nothing.
pub mod byte_set;
mod char_class;
pub mod hash;
mod ids;
mod interrupt;
mod json_escapes;
mod per_process;
mod rule_options;
mod setters;
mod shorten;
mod span;
mod text_search;
mod toggle;
mod token;
// Errors, and the two operators with rules of their own.
mod dispatch;
mod error;
mod permutation;
// The grammar itself.
mod expr;
mod grammar;
// Facts about a grammar.
pub mod analysis;
mod equality;
// The checks of a finished grammar.
mod check;
mod check_dispatch;
// The one way to make a grammar.
mod builder;
// Grammars to equivalent grammars, and to text.
pub mod passes;
mod print;

pub use builder::GrammarBuilder;
pub use char_class::{CharRange, normalize_ranges};
pub use dispatch::{AfterDispatch, Dispatch, DispatchEnd, Pattern, PatternPart, TagDispatch};
pub use equality::Counterparts;
pub use error::GrammarError;
pub use expr::Expr;
pub use grammar::{Grammar, Rule};
pub use ids::{ExprId, RuleId};
pub use interrupt::{Interrupt, Interrupted};
pub use json_escapes::JsonEscapes;
pub use per_process::PerProcess;
pub use permutation::{Occurrence, Permutation};
pub use print::{PrintError, PrintOptions, print};
pub use rule_options::{CaptureOption, Distinct, EndCapture, RuleOptions, Temperature};
pub use shorten::shorten;
pub use span::Span;
pub use text_search::TextSearch;
pub use toggle::Toggle;
pub use token::TokenRef;
