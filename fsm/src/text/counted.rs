//! Products with a bound on the length.
//!
//! The plain product has a state for each state of a pattern and each length. But where all ways on are short and
//! the bound is far, the length read so far does not matter: it neither falls short any more nor can it exceed the
//! bound. Such lengths are one. A pattern with a long loop and a large part without loops behind it (a mail
//! address, with an address of 40 forms at its end) has a product in which only the loop is multiplied.

use super::dfa::RangeDfa;

/// An automaton that accepts by length alone, and for each state of another one how many characters can follow.
pub(crate) struct Counted {
    min: u32,
    max: u32,
    /// `None` where there is no greatest number.
    longest: Vec<Option<u32>>,
}

impl Counted {
    /// `None` if the second automaton does not count up to a bound.
    pub(crate) fn new(pattern: &RangeDfa, count: &RangeDfa) -> Option<Self> {
        let (min, max) = bounds(count)?;
        Some(Self { min, max, longest: longest(pattern) })
    }

    /// The pair of states that stands for a pair and goes on alike.
    pub(crate) fn representative(&self, (state, count): (u32, u32)) -> (u32, u32) {
        let is_settled = self.longest[state as usize]
            .is_some_and(|longest| count >= self.min && count.saturating_add(longest) <= self.max);
        (state, if is_settled { self.min } else { count })
    }
}

/// The bounds of an automaton whose `i`th state is reached by all texts of `i` characters out of some class.
fn bounds(dfa: &RangeDfa) -> Option<(u32, u32)> {
    let max = u32::try_from(dfa.state_count()).ok()? - 1;
    let first = dfa.arcs(0);
    let is_chain = (0..max).all(|state| {
        let arcs = dfa.arcs(state);
        arcs.len() == first.len()
            && arcs
                .iter()
                .zip(first)
                .all(|(arc, first)| (arc.lo, arc.hi, arc.to) == (first.lo, first.hi, state + 1))
    });
    let min = (0..=max).find(|&state| dfa.is_final(state))?;
    let counts =
        max > 0 && is_chain && dfa.arcs(max).is_empty() && (min..=max).all(|state| dfa.is_final(state));
    counts.then_some((min, max))
}

/// How many characters can follow each state at most; `None` where a loop can be reached.
fn longest(dfa: &RangeDfa) -> Vec<Option<u32>> {
    let count = dfa.state_count();
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut open: Vec<usize> = Vec::with_capacity(count);
    for state in 0..count {
        let arcs = dfa.arcs(state as u32);
        open.push(arcs.len());
        arcs.iter().for_each(|arc| before[arc.to as usize].push(state as u32));
    }
    let mut longest = vec![None; count];
    let mut below = vec![0u32; count];
    let mut done: Vec<usize> = (0..count).filter(|&state| open[state] == 0).collect();
    while let Some(state) = done.pop() {
        longest[state] = Some(below[state]);
        for &from in &before[state] {
            let from = from as usize;
            below[from] = below[from].max(below[state].saturating_add(1));
            open[from] -= 1;
            if open[from] == 0 {
                done.push(from);
            }
        }
    }
    longest
}
