//! A second parse of the text, for captures and for budgets of tokens.
//!
//! The input is a program and the bytes and tokens of one text. The result is a chart of all derivations, from which
//! captures, temperatures and the configuration at the end of the text are read. The chart shares only the program with
//! the automaton, so it may change here without care elsewhere; `assemble.rs` alone makes a state of the automaton.
//! This folder imports the automaton and the tables.

pub(crate) mod assemble;
pub(crate) mod captures;
pub(crate) mod configuration;
pub(crate) mod ids;
pub(crate) mod parse;
mod subsets;
