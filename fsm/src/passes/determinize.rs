//! Makes small regular fragments deterministic and minimal.
//!
//! An engine that caches sets of states determinises by itself, but finds equal futures only where the sets
//! are equal. For a small fragment without calls the minimal automaton is cheap and gives every future one
//! state. Fragments that are deterministic already are left alone, and so are those that would grow.

use crate::draft::automata::{Draft, DraftFragment, Label};
use crate::draft::ids::{DraftFragmentId, DraftStateId};
use crate::ids::{Id, IdVec, low_byte};
use crate::options::{CompileOptions, TextLimits};
use crate::text::dfa::RangeDfa;
use crate::text::ids::NfaStateId;
use crate::text::meter::Meter;
use crate::text::minimize::minimize;
use crate::text::nfa::Nfa;

/// The states of a fragment in an automaton over characters.
type Numbers = IdVec<DraftStateId, NfaStateId>;

/// The first of them. Two states of the automaton are its start and its end.
const FIRST: NfaStateId = NfaStateId::THIRD;

/// The pass takes at most a quarter of the steps that the limit on a grammar's texts allows. When they are spent, the
/// remaining fragments stay as they are.
const SHARE_OF_STEPS: usize = 4;

pub(crate) fn determinize(draft: &mut Draft, options: &CompileOptions) {
    let most = usize::try_from(options.determinize_states).unwrap_or(usize::MAX);
    let mut number: Numbers = IdVec::of(NfaStateId::NONE, draft.states.len());
    let mut members = Vec::with_capacity(most);
    let most_steps = options.text.max_total_steps / SHARE_OF_STEPS;
    let mut spent = 0;
    for fragment in draft.fragments.ids() {
        let DraftFragment { start, prebuilt: ref finished, .. } = draft.fragments[fragment];
        if finished.is_some() {
            continue;
        }
        if spent > most_steps {
            break;
        }
        // Only small fragments that read nothing but bytes. Anything else has been merged as far as the other
        // passes could.
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
            // Determinisation may grow an automaton, or reach its limit. Then the fragment stays as it is.
            .filter(|dfa| dfa.state_count() <= members.len());
        spent = spent.saturating_add(meter.total());
        if let Some(dfa) = smaller {
            replace(draft, fragment, &dfa);
        }
    }
}

/// The states of a fragment, unless it has calls, reads tokens or texts, or has more than `most` states.
fn collect(
    draft: &Draft,
    start: DraftStateId,
    most: usize,
    number: &mut Numbers,
    members: &mut Vec<DraftStateId>,
) -> bool {
    members.clear();
    members.push(start);
    number[start] = FIRST;
    let mut next = 0;
    while let Some(&state) = members.get(next) {
        next += 1;
        for edge in draft.edges(state) {
            let is_plain = edge.label == Label::EPSILON || edge.label.as_bytes().is_some();
            if !is_plain || members.len() > most {
                return false;
            }
            if number[edge.to] == NfaStateId::NONE {
                number[edge.to] = FIRST.plus(members.len());
                members.push(edge.to);
            }
        }
    }
    true
}

fn is_deterministic(draft: &Draft, members: &[DraftStateId]) -> bool {
    let mut ranges = Vec::new();
    members.iter().all(|&state| {
        ranges.clear();
        ranges.extend(draft.edges(state).map(|edge| edge.label.as_bytes()));
        ranges.sort_unstable();
        // An edge that reads nothing has no range, and sorts first.
        let overlap = |pair: &[Option<(u8, u8)>]| match (pair[0], pair[1]) {
            (Some(left), Some(right)) => left.1 >= right.0,
            _ => true,
        };
        ranges.first().is_none_or(|range| range.is_some()) && !ranges.windows(2).any(overlap)
    })
}

/// The fragment as an automaton whose letters are bytes.
fn nfa(draft: &Draft, members: &[DraftStateId], number: &Numbers) -> Nfa {
    let mut nfa = Nfa::new();
    for _ in members {
        nfa.state();
    }
    nfa.epsilon(Nfa::START, FIRST);
    for &state in members {
        if draft.states[state].is_final() {
            nfa.epsilon(number[state], Nfa::END);
        }
        for edge in draft.edges(state) {
            match edge.label.as_bytes() {
                Some((lo, hi)) => nfa.arc(number[state], u32::from(lo), u32::from(hi), number[edge.to]),
                None => nfa.epsilon(number[state], number[edge.to]),
            }
        }
    }
    nfa
}

fn replace(draft: &mut Draft, fragment: DraftFragmentId, dfa: &RangeDfa) {
    draft.current = fragment;
    let base = draft.states.next_id();
    for state in dfa.states() {
        let added = draft.state();
        draft.states[added].make_final_if(dfa.is_final(state));
    }
    for state in dfa.states() {
        for arc in dfa.arcs(state) {
            // Letters are the bytes that were put in.
            draft.edge(
                base.plus(state.index()),
                Label::bytes(low_byte(arc.lo), low_byte(arc.hi)),
                base.plus(arc.to.index()),
            );
        }
    }
    // The old states are not reached any more, and emission leaves them out.
    draft.fragments[fragment].start = base;
}
