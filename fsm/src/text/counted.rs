//! Products with a bound on the length.
//!
//! The plain product has a state for each state of a pattern and each length. But where all continuations are
//! short and the bound is far, the length read so far does not matter. It no longer falls short, and it
//! cannot exceed the bound. Such lengths are one. An example is a pattern with a long loop and a large part
//! without loops after it (a mail address, with an address of 40 forms at its end). In its product only the
//! loop is multiplied.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::dfa::RangeDfa;
use super::ids::TextStateId;
use crate::ids::{Grouped, Id, IdVec, ids_between};

/// A state of an automaton, and one of an automaton that counts: how many characters were read.
type Pair = (TextStateId, TextStateId);

/// An automaton that accepts by length alone, and for each state of another one how many characters can follow.
pub(crate) struct Counted {
    min: u32,
    max: u32,
    /// `None` if there is no greatest number.
    longest: IdVec<TextStateId, Option<u32>>,
}

impl Counted {
    /// `None` if the second automaton does not count up to a bound.
    pub(crate) fn new(pattern: &RangeDfa, count: &RangeDfa) -> Option<Self> {
        let (min, max) = bounds(count)?;
        Some(Self { min, max, longest: longest(pattern) })
    }

    /// The pair of states that represents a pair with the same continuations.
    pub(crate) fn representative(&self, (state, count): Pair) -> Pair {
        let length = count.raw();
        // The lower bound is met, and the longest continuation stays below the upper one: all such counts
        // accept the same rest.
        let is_settled = self.longest[state]
            .is_some_and(|longest| length >= self.min && length.saturating_add(longest) <= self.max);
        (state, if is_settled { TextStateId::from_raw(self.min) } else { count })
    }
}

/// The bounds of an automaton whose `i`th state is reached by all texts of `i` characters from some class.
fn bounds(dfa: &RangeDfa) -> Option<(u32, u32)> {
    let max = dfa.states().next_back()?;
    let first = dfa.arcs(TextStateId::FIRST);
    let is_chain = ids_between(TextStateId::FIRST..max).all(|state| {
        let arcs = dfa.arcs(state);
        arcs.len() == first.len()
            && arcs
                .iter()
                .zip(first)
                .all(|(arc, first)| (arc.lo, arc.hi, arc.to) == (first.lo, first.hi, state.plus(1)))
    });
    let min = dfa.states().find(|&state| dfa.is_final(state))?;
    let counts = max > TextStateId::FIRST
        && is_chain
        && dfa.arcs(max).is_empty()
        && ids_between(min..max.plus(1)).all(|state| dfa.is_final(state));
    counts.then_some((min.raw(), max.raw()))
}

/// How many characters can follow each state at most; `None` where a loop can be reached.
pub(super) fn longest(dfa: &RangeDfa) -> IdVec<TextStateId, Option<u32>> {
    longest_paths(dfa.state_count(), arcs(dfa))
}

/// How many characters can lead to each state at most; `None` where a loop can be on the way.
pub(super) fn deepest(dfa: &RangeDfa) -> IdVec<TextStateId, Option<u32>> {
    longest_paths(dfa.state_count(), arcs(dfa).map(|(from, to)| (to, from)))
}

fn arcs(dfa: &RangeDfa) -> impl Iterator<Item = (TextStateId, TextStateId)> + Clone {
    dfa.states().flat_map(|from| dfa.arcs(from).iter().map(move |arc| (from, arc.to)))
}

/// The length of the shortest way from each state to one of the ends; `u32::MAX` where there is none. Edges are given with
/// their lengths.
pub(super) fn shortest_ends<I: Id>(
    count: usize,
    edges: impl Iterator<Item = (I, I, u32)> + Clone,
    ends: impl Iterator<Item = I>,
) -> IdVec<I, u32> {
    let before = Grouped::new(count, edges.map(|(from, to, length)| (to, (from, length))));
    let mut shortest: IdVec<I, u32> = IdVec::of(u32::MAX, count);
    let mut open: BinaryHeap<Reverse<(u32, I)>> = ends.map(|state| Reverse((0, state))).collect();
    while let Some(Reverse((end, state))) = open.pop() {
        if end >= shortest[state] {
            continue;
        }
        shortest[state] = end;
        let longer = before.of(state).iter().map(|&(from, length)| (end.saturating_add(length), from));
        open.extend(longer.filter(|&(end, from)| end < shortest[from]).map(Reverse));
    }
    shortest
}

/// The length of the longest path that begins in each state; `None` where it is endless.
fn longest_paths(
    count: usize,
    arcs: impl Iterator<Item = (TextStateId, TextStateId)> + Clone,
) -> IdVec<TextStateId, Option<u32>> {
    let mut open: IdVec<TextStateId, usize> = IdVec::of(0, count);
    arcs.clone().for_each(|(from, _)| open[from] += 1);
    let before = Grouped::new(count, arcs.map(|(from, to)| (to, from)));
    let mut longest = IdVec::of(None, count);
    let mut below: IdVec<TextStateId, u32> = IdVec::of(0, count);
    // From the states without arcs backwards, each one when all its targets are done. States that can reach a
    // loop are never done.
    let mut done: Vec<TextStateId> = open.ids().filter(|&state| open[state] == 0).collect();
    while let Some(state) = done.pop() {
        longest[state] = Some(below[state]);
        for &from in before.of(state) {
            below[from] = below[from].max(below[state].saturating_add(1));
            open[from] -= 1;
            if open[from] == 0 {
                done.push(from);
            }
        }
    }
    longest
}
