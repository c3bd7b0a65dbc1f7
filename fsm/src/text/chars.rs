//! Arcs over characters, and whatever can be written with them.
//!
//! Automata over text have such arcs, and so has a draft of byte automata that characters are encoded into.

use grammask_grammar_ir::JsonEscapes;

use crate::ids::Id;

/// Reads one code point out of an inclusive range. A range may run over the surrogates, which are never
/// spelled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct CharArc<S> {
    pub(crate) lo: u32,
    pub(crate) hi: u32,
    pub(crate) to: S,
}

impl<S> CharArc<S> {
    pub(crate) fn covers(&self, lo: u32, hi: u32) -> bool {
        self.lo <= lo && hi <= self.hi
    }
}

/// An automaton over characters that is being written.
pub(crate) trait CharOutput {
    /// Its states.
    type State: Id;

    /// A new state.
    fn state(&mut self) -> Self::State;
    /// Adds arcs, sorted and disjoint, to a state.
    fn arcs(&mut self, from: Self::State, arcs: &[CharArc<Self::State>]);
    /// Adds an arc that reads nothing.
    fn epsilon(&mut self, from: Self::State, to: Self::State);
    /// Lets `from` read the escapes of a class of characters after the backslash, by way of an automaton that
    /// all places share, if the output has such automata. The class is given as ranges of code points that
    /// have escapes, sorted and not touching. `write` writes such an automaton, up to a given end, and
    /// returns its start.
    fn shared_escape(
        &mut self,
        from: Self::State,
        class: (JsonEscapes, &[(u32, u32)]),
        to: Self::State,
        write: &mut dyn FnMut(&mut Self, Self::State) -> Self::State,
    ) -> Sharing;
}

/// Whether an output could share an automaton.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    Shared,
    NotSupported,
}

/// The ranges of arcs, those that touch joined.
pub(crate) fn join_ranges<S>(arcs: &[CharArc<S>], ranges: &mut Vec<(u32, u32)>) {
    ranges.clear();
    for arc in arcs {
        match ranges.last_mut() {
            // There is nothing between the code points on either side of the surrogates.
            Some(last) if last.1 + 1 == arc.lo || (last.1, arc.lo) == (0xD7FF, 0xE000) => last.1 = arc.hi,
            _ => ranges.push((arc.lo, arc.hi)),
        }
    }
}
