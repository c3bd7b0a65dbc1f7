//! Removes edges that read nothing, where that does not add many others.
//!
//! Closing every state over its epsilon edges removes them all, and makes a sequence of n optional parts
//! quadratic. So a state is closed only if the copied edges are about as many as the removed ones. Edges of a
//! state that no other edge leads to are free, since that state disappears. Readers of the program follow the
//! remaining ones.

use crate::draft::automata::{Draft, Edge, Label};
use crate::draft::ids::DraftStateId;
use crate::ids::{Id, IdVec};
use crate::pace::Pace;

/// Edges that one state may gain beyond those that it loses.
const ALLOWANCE: usize = 2;
/// States that are looked at for one state.
const MAX_MEMBERS: usize = 32;
/// Edges that are looked at, in multiples of all. Keeps the pass linear: a choice of loops inside of a loop has a state
/// with an edge to each, which all of them look through.
const MAX_LOOKS: usize = 8;

pub(crate) fn remove_epsilons(draft: &mut Draft, pace: &mut Pace<'_>) {
    let mut pass = EpsilonRemoval {
        entering: IdVec::default(),
        met: IdVec::default(),
        members: Vec::new(),
        disappears: Vec::new(),
        looks: MAX_LOOKS.saturating_mul(draft.edges.len()),
        draft,
    };
    pass.bypass_lone_epsilons(pace);
    pass.count_entering(pace);
    if pace.has_stopped() {
        return;
    }
    // Later states first: they mostly are the targets of earlier ones, and what is copied from them is closed
    // already.
    for state in pass.draft.states.ids().rev().take_while(|&state| pace.goes_on_at(state)) {
        pass.close(state);
        if pass.looks == 0 {
            break;
        }
    }
}

/// How many edges a copy of an edge is once texts are written out.
fn becomes(edge: Edge) -> usize {
    1 + usize::from(edge.label.as_name().is_some())
}

struct EpsilonRemoval<'d> {
    draft: &'d mut Draft,
    /// How many edges lead into each state; a fragment's start counts as entered.
    entering: IdVec<DraftStateId, u32>,
    /// The state for which each state was met last.
    met: IdVec<DraftStateId, DraftStateId>,
    /// States that the state at hand reaches without reading.
    members: Vec<DraftStateId>,
    /// The states that become unreachable once the state at hand is closed.
    disappears: Vec<bool>,
    /// Edges that may be looked at still.
    looks: usize,
}

impl EpsilonRemoval<'_> {
    /// A state whose only edge reads nothing, and which is not final, is the same as the state after it.
    fn bypass_lone_epsilons(&mut self, pace: &mut Pace<'_>) {
        let count = self.draft.states.len();
        let states = self.draft.states.ids();
        let mut same: IdVec<DraftStateId, DraftStateId> =
            states.clone().map(|state| self.lone_target(state)).collect();
        for state in states.take_while(|&state| pace.goes_on_at(state)) {
            let mut end = state;
            let mut steps = 0;
            // A ring of such states leads nowhere and is left as it is.
            while same[end] != end && steps <= count {
                end = same[end];
                steps += 1;
            }
            let mut at = state;
            while same[at] != end && same[at] != at && steps <= count {
                // Every state on the way gets the end, so the whole pass takes linear time.
                at = std::mem::replace(&mut same[at], end);
            }
        }
        pace.for_each(self.draft.edges.as_mut_slice(), |edge| edge.to = same[edge.to]);
        for fragment in self.draft.fragments.iter_mut().filter(|fragment| fragment.prebuilt.is_none()) {
            fragment.start = same[fragment.start];
        }
    }

    fn lone_target(&self, state: DraftStateId) -> DraftStateId {
        let head = self.draft.states[state].head;
        // Most states read a byte first.
        if self.draft.edges.get(head).is_none_or(|edge| edge.label < Label::EPSILON) {
            return state;
        }
        let mut edges = self.draft.edges(state);
        match (edges.next(), edges.next()) {
            (Some(edge), None) if edge.label == Label::EPSILON && !self.draft.states[state].is_final() => {
                edge.to
            }
            _ => state,
        }
    }

    fn count_entering(&mut self, pace: &mut Pace<'_>) {
        let count = self.draft.states.len();
        self.met = IdVec::of(DraftStateId::NONE, count);
        self.entering = IdVec::of(0, count);
        pace.for_each(self.draft.edges.as_mut_slice(), |edge| self.entering[edge.to] += 1);
        for start in self.draft.starts() {
            // Two, so that a start never counts as a state that only one edge leads to.
            self.entering[start] += 2;
        }
    }

    fn close(&mut self, state: DraftStateId) {
        let lost = self.draft.edges(state).filter(|edge| edge.label == Label::EPSILON).count();
        if lost == 0 || !self.collect(state, lost + ALLOWANCE) {
            return;
        }
        let mut next = self.draft.states[state].head;
        while let Some(edge) = self.draft.edges.get_mut(next) {
            next = edge.next;
            if edge.label == Label::EPSILON {
                edge.label = Label::DEAD;
                // Kept up to date, because closing one state can make others disappear, whose edges are free
                // for the next ones.
                self.entering[edge.to] -= 1;
            }
        }
        let members = std::mem::take(&mut self.members);
        for &member in &members {
            let is_final = self.draft.states[member].is_final();
            self.draft.states[state].make_final_if(is_final);
            let mut next = self.draft.states[member].head;
            while let Some(&edge) = self.draft.edges.get(next) {
                next = edge.next;
                if edge.label != Label::EPSILON && edge.label != Label::DEAD {
                    self.draft.edge(state, edge.label, edge.to);
                    self.entering[edge.to] += 1;
                }
            }
        }
        self.members = members;
    }

    /// Collects the states that the state reaches without reading, unless that would copy more than `budget`
    /// edges.
    fn collect(&mut self, state: DraftStateId, budget: usize) -> bool {
        self.members.clear();
        self.met[state] = state;
        let mut copied = 0;
        // A state that only disappearing states lead to disappears; the state at hand counts as one here.
        self.disappears.clear();
        let (mut from, mut from_disappears) = (state, true);
        let mut next = 0;
        loop {
            for edge in self.draft.edges(from) {
                self.looks = self.looks.saturating_sub(1);
                if edge.label != Label::EPSILON || std::mem::replace(&mut self.met[edge.to], state) == state {
                    continue;
                }
                let disappears = from_disappears && self.entering[edge.to] == 1;
                self.members.push(edge.to);
                self.disappears.push(disappears);
                if !disappears {
                    let edges = self.draft.edges(edge.to);
                    let edges = edges.inspect(|_| self.looks = self.looks.saturating_sub(1));
                    let edges = edges.filter(|edge| edge.label != Label::EPSILON);
                    copied += edges.take(budget + 1).map(becomes).sum::<usize>();
                }
                if copied > budget || self.members.len() > MAX_MEMBERS {
                    return false;
                }
            }
            let Some(&member) = self.members.get(next) else { return true };
            (from, from_disappears) = (member, self.disappears[next]);
            next += 1;
        }
    }
}
