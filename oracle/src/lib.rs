//! A naive recogniser that judges the engines in tests.
//!
//! It reads the grammar as it stands: no passes, no automata, nothing shared with an engine but the IR.
//! Every step is chosen for being easy to believe; speed is only what property tests need (ten thousand small
//! grammars in a minute). Not for serving: time and memory grow with the text, and with the grammar's counts
//! where they are below a regular operator.
//!
//! # How it decides
//!
//! * Context-free parts: Earley's algorithm over *dotted expressions* ([`Recogniser`]). Every expression is a
//!   nonterminal of its own, so there is one rule of advance for each kind of expression and nothing is
//!   compiled.
//! * Regular operators (intersection, complement, JSON escaping): Brzozowski's derivatives, character by
//!   character, with an explicit search for a sentence where emptiness is not plain.
//! * Tag dispatch: the free text read so far is compared with every pattern, symbol by symbol.
//! * Tokens that are taken as a whole are symbols beside the bytes ([`Symbol`]); a text of tokens is read in every
//!   way at once ([`Derivations`]).
//! * A byte is taken if and only if some item of the chart takes it. That this means "the text is a prefix of
//!   some sentence" rests on one invariant: only expressions that derive something are ever predicted.
//!
//! # Example
//!
//! ```
//! use grammask_grammar_ir::GrammarBuilder;
//! use grammask_oracle::{Recogniser, mask};
//!
//! // root ::= "(" root ")" | "é"
//! let mut builder = GrammarBuilder::new();
//! let root = builder.declare("root")?;
//! let (open, inner, close) = (builder.literal("("), builder.rule(root), builder.literal(")"));
//! let nested = builder.sequence([open, inner, close]);
//! let leaf = builder.literal("é");
//! let body = builder.choice([nested, leaf]);
//! builder.define(root, body)?;
//!
//! let recogniser = Recogniser::new(&builder.finish(root)?);
//! let mut chart = recogniser.begin();
//! assert!(chart.push(b'('));
//! assert!(!chart.push(b')'), "a refused byte is not read");
//! assert_eq!(mask(&chart, &["((", "\u{e9})", "\u{e9}))", ""]), [true, true, false, false]);
//! # Ok::<(), grammask_grammar_ir::GrammarError>(())
//! ```
//!
//! # Errors and limits
//!
//! There are none to report: every grammar that a builder hands out is served. A text has at most 2^32 - 1
//! bytes. Nothing recurses.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// In the order in which they build on one another.

// Reading inside one expression.
mod dispatch;
mod permutation;
mod term;
mod utf8;
// Regular operators, by derivatives of terms.
mod text;
// Facts that follow from the grammar alone.
mod facts;
// A grammar made ready.
mod recogniser;
// Earley sets over a text.
mod chart;
// Questions about a text.
mod derivations;
mod judge;
// Random grammars, texts and vocabularies.
pub mod random;

pub use chart::Chart;
pub use derivations::Derivations;
pub use dispatch::Symbol;
pub use recogniser::Recogniser;

/// Which of the tokens may come next: those that have bytes, all of which can be read one after the other.
pub fn mask<Token: AsRef<[u8]>>(chart: &Chart<'_>, tokens: &[Token]) -> Vec<bool> {
    let mut chart = chart.clone();
    let start = chart.len();
    tokens
        .iter()
        .map(|token| {
            let bytes = token.as_ref();
            let allowed = !bytes.is_empty() && bytes.iter().all(|&byte| chart.push(byte));
            chart.truncate(start);
            allowed
        })
        .collect()
}
