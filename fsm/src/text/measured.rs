//! Texts of an automaton up to a length, with a count beside the automaton.
//!
//! A URI of at most 2,048 characters is a product of 130 states of a pattern and 2,048 lengths, though the length matters
//! only near its bound. So the first part of a text is read by the pattern alone, while the engine counts its
//! characters. From a certain count on the rest of the text is read by an automaton that knows how many characters
//! are left. These are as many as the shortest end of the pattern takes at most, so no text is caught in between.
//! The states that a text can only be in before that count need no rest.

use grammask_grammar_ir::hash::HashMap;

use super::alphabet::CompressedAlphabet;
use super::counted::{deepest, longest, shortest_ends};
use super::dfa::{DfaBuilder, RangeArc, RangeDfa};
use super::ids::{LetterId, TextStateId};
use super::meter::Meter;
use crate::error::Failure;
use crate::ids::{Id, IdVec};

/// An automaton whose first part counts.
pub(crate) struct Measured {
    /// The states of the first part, then those of the rest.
    pub(crate) automaton: CompressedAlphabet,
    /// The step of a character that leads to each state of the first part.
    pub(crate) steps: IdVec<TextStateId, Step>,
    /// The number of characters after which the rest begins.
    pub(crate) limit: u32,
}

/// The most bytes of the shortest spelling of a character, in JSON strings and outside of them.
const LONGEST_CHARACTER: u32 = 6;

/// Where a character leads that is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nowhere: no character leads to the state.
    None,
    /// To the state.
    Always,
    /// To the state, or from the last count on to this one of the rest.
    Until(TextStateId),
}

impl Measured {
    /// The texts of a pattern of at most `max` characters; `None` where a product is about as small.
    pub(crate) fn new(
        pattern: &CompressedAlphabet,
        max: u32,
        meter: &mut Meter,
    ) -> Result<Option<Self>, Failure> {
        let dfa = &pattern.dfa;
        let states = dfa.state_count();
        meter.spend(dfa.arc_count() + states)?;
        // An engine that looks for a shortest ending counts bytes. Such an ending has no more characters than bytes, so
        // the rest has room for it, too.
        let is_short = pattern.letters_of_one_byte();
        let spelled = ends(dfa, |arc| {
            let letters = LetterId::from_raw(arc.lo)..LetterId::from_raw(arc.hi + 1);
            if is_short.slice(letters).contains(&true) { 1 } else { LONGEST_CHARACTER }
        });
        // From a state that is left early enough, every shortest end is within the bound.
        let most = spelled.iter().copied().max().unwrap_or(0);
        let depths = deepest(dfa);
        let is_early =
            |state: TextStateId| depths[state].is_some_and(|depth| depth.saturating_add(most) < max);
        let late = dfa.states().filter(|&state| !is_early(state));
        let room = late.map(|state| spelled[state]).max().unwrap_or(0);
        let Some(limit) = max.checked_sub(room).filter(|&limit| limit > room) else { return Ok(None) };
        let (needed, longest) = (ends(dfa, |_| 1), longest(dfa));
        let mut builder = DfaBuilder::with_capacity(states * 2, dfa.arc_count() * 2);
        for state in dfa.states() {
            dfa.arcs(state).iter().for_each(|&arc| builder.arc(arc));
            builder.end_state(dfa.is_final(state));
        }
        // The rest: pairs of a state of the pattern and the characters that are left, no more than can follow.
        let mut pairs: Vec<(TextStateId, u32)> = Vec::with_capacity(states);
        let mut numbers: HashMap<(TextStateId, u32), TextStateId> = HashMap::default();
        let mut number = |(state, left): (TextStateId, u32), pairs: &mut Vec<(TextStateId, u32)>| {
            let pair = (state, longest[state].map_or(left, |longest| longest.min(left)));
            *numbers.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                TextStateId::from_index(states + pairs.len() - 1)
            })
        };
        let mut steps = IdVec::of(Step::None, states);
        for arc in dfa.states().flat_map(|state| dfa.arcs(state)) {
            steps[arc.to] = match is_early(arc.to) {
                true => Step::Always,
                false => Step::Until(number((arc.to, room), &mut pairs)),
            };
        }
        let mut next = 0;
        while let Some(&(state, left)) = pairs.get(next) {
            next += 1;
            meter.spend(dfa.arcs(state).len() + 1)?;
            meter.counted_states(states + pairs.len())?;
            for arc in dfa.arcs(state) {
                let Some(left) = left.checked_sub(1).filter(|&left| needed[arc.to] <= left) else { continue };
                builder.arc(RangeArc { to: number((arc.to, left), &mut pairs), ..*arc });
            }
            builder.end_state(dfa.is_final(state));
        }
        Ok(Some(Self { automaton: pattern.with(builder.finish()), steps, limit }))
    }
}

/// The length of the shortest way from each state to a final one. All states have one.
fn ends(dfa: &RangeDfa, length: impl Fn(&RangeArc) -> u32) -> IdVec<TextStateId, u32> {
    let length = &length;
    let arcs =
        dfa.states().flat_map(|from| dfa.arcs(from).iter().map(move |arc| (from, arc.to, length(arc))));
    shortest_ends(dfa.state_count(), arcs, dfa.states().filter(|&state| dfa.is_final(state)))
}
