//! Languages that several syntaxes can ask for, written as expressions.
//!
//! An expression or a list of texts comes in, and an expression in the caller's grammar builder goes out. How a
//! language is written may be changed here alone, as long as its texts stay the same. Imports nothing of this crate.

mod operators;
mod substring;

pub(crate) use operators::{at_most, define_bounded, shortest};
pub(crate) use substring::substring;
