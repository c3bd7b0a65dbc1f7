//! Makes small regular fragments deterministic and minimal.
//!
//! An engine that caches sets of states determinises by itself, but finds equal futures only where the sets
//! are equal. For a small fragment without calls the minimal automaton is cheap and gives every future one
//! state. Fragments that are deterministic already are left alone, and so are those that would grow.

use crate::draft::automata::{Draft, DraftFragment, Label};
use crate::options::{CompileOptions, TextLimits};
use crate::text::dfa::RangeDfa;
use crate::text::meter::Meter;
use crate::text::minimize::minimize;
use crate::text::nfa::Nfa;

pub(crate) fn determinize(draft: &mut Draft, options: &CompileOptions) {
    let most = options.determinize_states as usize;
    let mut number = vec![u32::MAX; draft.states.len()];
    let mut members = Vec::with_capacity(most);
    for fragment in 0..draft.fragments.len() {
        let DraftFragment { start, prebuilt: ref finished, .. } = draft.fragments[fragment];
        if finished.is_some() {
            continue;
        }
        if !collect(draft, start, most, &mut number, &mut members) || is_deterministic(draft, &members) {
            continue;
        }
        let limits =
            TextLimits { max_states: 2 * most, max_steps: 64 * most + 1024, max_total_steps: usize::MAX };
        let mut meter = Meter::new(limits);
        let smaller = nfa(draft, &members, &number)
            .determinize(&mut meter)
            .and_then(|dfa| minimize(&dfa, &mut meter))
            .ok()
            .filter(|dfa| dfa.state_count() <= members.len());
        if let Some(dfa) = smaller {
            replace(draft, fragment, &dfa);
        }
    }
}

/// The states of a fragment, unless it has calls, reads tokens or texts, or has more than `most` states.
fn collect(draft: &Draft, start: u32, most: usize, number: &mut [u32], members: &mut Vec<u32>) -> bool {
    members.clear();
    members.push(start);
    number[start as usize] = 0;
    let mut next = 0;
    while let Some(&state) = members.get(next) {
        next += 1;
        for edge in draft.edges(state) {
            let is_plain = edge.label == Label::EPSILON || edge.label.as_bytes().is_some();
            if !is_plain || members.len() > most {
                return false;
            }
            if number[edge.to as usize] == u32::MAX {
                number[edge.to as usize] = members.len() as u32;
                members.push(edge.to);
            }
        }
    }
    true
}

fn is_deterministic(draft: &Draft, members: &[u32]) -> bool {
    let mut ranges = Vec::new();
    members.iter().all(|&state| {
        ranges.clear();
        ranges.extend(draft.edges(state).map(|edge| edge.label.as_bytes()));
        ranges.sort_unstable();
        let overlap = |pair: &[Option<(u8, u8)>]| match (pair[0], pair[1]) {
            (Some(left), Some(right)) => left.1 >= right.0,
            _ => true,
        };
        ranges.first().is_none_or(|range| range.is_some()) && !ranges.windows(2).any(overlap)
    })
}

/// The fragment as an automaton whose letters are bytes.
fn nfa(draft: &Draft, members: &[u32], number: &[u32]) -> Nfa {
    let mut nfa = Nfa::new();
    // Two states of the automaton are its start and its end; the fragment's follow.
    let place = |state: u32| number[state as usize] + 2;
    for _ in members {
        nfa.state();
    }
    nfa.epsilon(Nfa::START, 2);
    for &state in members {
        if draft.states[state as usize].is_final {
            nfa.epsilon(place(state), Nfa::END);
        }
        for edge in draft.edges(state) {
            match edge.label.as_bytes() {
                Some((lo, hi)) => nfa.arc(place(state), u32::from(lo), u32::from(hi), place(edge.to)),
                None => nfa.epsilon(place(state), place(edge.to)),
            }
        }
    }
    nfa
}

fn replace(draft: &mut Draft, fragment: usize, dfa: &RangeDfa) {
    draft.current = fragment as u32;
    let base = draft.states.len() as u32;
    for state in 0..dfa.state_count() as u32 {
        let added = draft.state();
        draft.states[added as usize].is_final = dfa.is_final(state);
    }
    for state in 0..dfa.state_count() as u32 {
        for arc in dfa.arcs(state) {
            // Letters are the bytes that were put in.
            draft.edge(base + state, Label::bytes(arc.lo as u8, arc.hi as u8), base + arc.to);
        }
    }
    draft.fragments[fragment].start = base;
}
