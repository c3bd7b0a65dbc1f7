//! The ids of the parts of automata over characters.

use crate::ids::define_id;

define_id! {
    /// A state of a [`RangeDfa`](super::dfa::RangeDfa). The start is the first one.
    TextStateId
}

define_id! {
    /// A state of an [`Nfa`](super::nfa::Nfa).
    NfaStateId
}

define_id! {
    /// An arc of an [`Nfa`](super::nfa::Nfa), by its place among all when they are in order.
    ArcRank
}

define_id! {
    /// A set of states of an [`Nfa`](super::nfa::Nfa) before arcs that read nothing are followed.
    KernelId
}

define_id! {
    /// A state of one of the operands of a search, of either kind of automaton.
    OperandStateId
}

define_id! {
    /// A class of equivalent states.
    BlockId
}

define_id! {
    /// A place among the states of all blocks.
    MemberId
}

define_id! {
    /// A set of the letters that lead from a state into a block.
    LetterSetId
}

define_id! {
    /// A class of characters that no state of some automata tells apart.
    LetterId
}
