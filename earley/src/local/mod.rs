//! Local parts: the part of a set that does not depend on the callers of its rule.
//!
//! A state comes in. Results are the state of its local part, a description of it that other grammars share,
//! and the texts that may follow its rule. A split may be refused for any reason, so the number of states
//! that are split may change here without changes elsewhere. This folder imports the automaton and the
//! tables.

pub(crate) mod canonical_form;
pub(crate) mod context_expansion;
pub(crate) mod split;
