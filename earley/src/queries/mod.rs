//! Questions about states that are neither bytes nor classes: whole tokens, unions, the shortest completion.
//!
//! States come in, and states or lengths go out. The files do not know one another, and each may change
//! without changes elsewhere. This folder imports the automaton and what lies below it.

pub(crate) mod shortest_completion;
pub(crate) mod union;
pub(crate) mod whole_tokens;
