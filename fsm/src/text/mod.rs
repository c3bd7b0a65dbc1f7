//! Regular languages over characters: the algebra that intersections and complements need.
//!
//! Automata over bytes cannot be complemented for text, because the complement would hold byte strings that
//! are not UTF-8. The product of two spellings of one text (a JSON string's escapes) would be empty. So the
//! algebra works on characters, and bytes come last.
//!
//! Characters are numbered without the surrogates, 0 to 0x10F7FF, so that the neighbours U+D7FF and U+E000
//! have neighbouring numbers and a range never has a hole. Arcs carry ranges; there is no alphabet table.
//!
//! Expressions of a grammar come in (`evaluate`), automata over characters go out (`dfa`), which `encoding` turns
//! into bytes. Any construction here can be replaced by another one with the same language. This folder imports only
//! the files at the bottom of the crate (`error`, `ids`, `options`).

pub(crate) mod ids;
pub(crate) mod scalars;
pub(crate) mod chars;
pub(crate) mod meter;
pub(crate) mod spelling;
pub(crate) mod json_encoder;
mod lists;
mod dense;
pub(crate) mod dfa;
pub(crate) mod nfa;
mod acyclic;
pub(crate) mod minimize;
pub(crate) mod alphabet;
mod emptiness;
mod counted;
pub(crate) mod measured;
mod product;
pub(crate) mod evaluate;
mod automaton;

pub use automaton::TextAutomaton;
pub use evaluate::MAX_COUNTED_MIN;
