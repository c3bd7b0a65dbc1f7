//! From expressions to automata.
//!
//! A grammar and the scope to compile come in, a draft with one automaton for each rule goes out
//! ([`expressions::build`]). [`plan`] decides which rules are inlined or joined and which repeats are written out; the
//! construction of one kind of expression can change without care for the others. This folder imports `encoding`,
//! `draft` and `link`, and no pass.

pub(crate) mod ids;
pub(crate) mod rule_graph;
mod joined_rules;
pub(crate) mod plan;
pub(crate) mod dispatch;
pub(crate) mod shared_rules;
pub(crate) mod expressions;
