//! What is done to the automata between build and emission, one pass a file.

pub(crate) mod determinize;
pub(crate) mod emit;
pub(crate) mod epsilon;
pub(crate) mod left_recursion;
pub(crate) mod nullable;
pub(crate) mod prefix;
pub(crate) mod prune;
pub(crate) mod suffix;
