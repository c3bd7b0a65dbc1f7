//! A program with a gap, and the arms that fill it.
//!
//! A compiled grammar with one open rule and some compiled tools come in; a program in which a prefix trie chooses
//! among the tools goes out, without compiling anything again. The writer in [`prefix_trie`] keeps the invariants of
//! emission by hand: a change of `program`'s tables needs a change here. This folder imports `compile` and `link`.

pub(crate) mod ids;
pub(crate) mod prefix_trie;
pub(crate) mod program_template;
