//! The passes between build and emission, one file each.
//!
//! A draft comes in and is rewritten in place. States without a way to the end are pruned, empty edges
//! removed, states with equal beginnings or ends merged, small fragments determinised. [`emit`] numbers the
//! rest and writes the program. A pass keeps the language and can be replaced alone. Those that only make
//! automata smaller can be switched off. This folder imports `draft`, `link`, `program` and, for subset
//! construction and minimisation, `text`; no pass imports another one, except for the facts that
//! [`nullable`] finds.

pub(crate) mod ids;
pub(crate) mod prune;
pub(crate) mod nullable;
pub(crate) mod left_recursion;
pub(crate) mod epsilon;
pub(crate) mod prefix;
pub(crate) mod suffix;
pub(crate) mod determinize;
pub(crate) mod emit;
