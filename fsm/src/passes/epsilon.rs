//! Removes edges that read nothing, where that does not add many others.
//!
//! Closing every state over its epsilon edges removes them all, and makes a sequence of n optional parts
//! quadratic. So a state is closed only if the copied edges are about as many as the removed ones; edges of a
//! state that nobody else leads to are free, since that state disappears. What is left over is followed by
//! whoever reads the program.

use crate::draft::automata::{Draft, Edge, Label};

/// Edges that one state may gain beyond those that it loses.
const ALLOWANCE: usize = 2;
/// States that are looked at for one state. Keeps the pass linear.
const MAX_MEMBERS: usize = 32;

pub(crate) fn remove_epsilons(draft: &mut Draft) {
    let mut pass = EpsilonRemoval {
        draft,
        entering: Vec::new(),
        met: Vec::new(),
        members: Vec::new(),
        disappears: Vec::new(),
    };
    pass.bypass_lone_epsilons();
    pass.count_entering();
    for state in (0..pass.draft.states.len() as u32).rev() {
        pass.close(state);
    }
}

/// How many edges a copy of an edge is once texts are written out.
fn becomes(edge: Edge) -> usize {
    1 + usize::from(edge.label.as_name().is_some())
}

struct EpsilonRemoval<'d> {
    draft: &'d mut Draft,
    /// How many edges lead into each state; a fragment's start counts as entered.
    entering: Vec<u32>,
    /// The state for which each state was met last, plus one.
    met: Vec<u32>,
    /// States that the state at hand reaches without reading.
    members: Vec<u32>,
    /// Which of them nobody reaches any more once the state at hand is closed.
    disappears: Vec<bool>,
}

impl EpsilonRemoval<'_> {
    /// A state whose only edge reads nothing, and which is not final, is the same as the state behind it.
    fn bypass_lone_epsilons(&mut self) {
        let count = self.draft.states.len() as u32;
        let mut same: Vec<u32> = (0..count).map(|state| self.lone_target(state)).collect();
        for state in 0..count {
            let mut end = state;
            let mut steps = 0;
            // A ring of such states leads nowhere and is left as it is.
            while same[end as usize] != end && steps <= count {
                end = same[end as usize];
                steps += 1;
            }
            let mut at = state;
            while same[at as usize] != end && same[at as usize] != at && steps <= count {
                at = std::mem::replace(&mut same[at as usize], end);
            }
        }
        for edge in &mut self.draft.edges {
            edge.to = same[edge.to as usize];
        }
        for fragment in self.draft.fragments.iter_mut().filter(|fragment| fragment.prebuilt.is_none()) {
            fragment.start = same[fragment.start as usize];
        }
    }

    fn lone_target(&self, state: u32) -> u32 {
        let head = self.draft.states[state as usize].head;
        // Most states read a byte first.
        if self.draft.edges.get(head as usize).is_none_or(|edge| edge.label < Label::EPSILON) {
            return state;
        }
        let mut edges = self.draft.edges(state);
        match (edges.next(), edges.next()) {
            (Some(edge), None)
                if edge.label == Label::EPSILON && !self.draft.states[state as usize].is_final =>
            {
                edge.to
            }
            _ => state,
        }
    }

    fn count_entering(&mut self) {
        let count = self.draft.states.len();
        self.met = vec![0; count];
        self.entering = vec![0; count];
        for edge in &self.draft.edges {
            self.entering[edge.to as usize] += 1;
        }
        for start in self.draft.starts() {
            self.entering[start as usize] += 2;
        }
    }

    fn close(&mut self, state: u32) {
        let lost = self.draft.edges(state).filter(|edge| edge.label == Label::EPSILON).count();
        if lost == 0 || !self.collect(state, lost + ALLOWANCE) {
            return;
        }
        let mut next = self.draft.states[state as usize].head;
        while let Some(edge) = self.draft.edges.get_mut(next as usize) {
            next = edge.next;
            if edge.label == Label::EPSILON {
                edge.label = Label::DEAD;
                self.entering[edge.to as usize] -= 1;
            }
        }
        let members = std::mem::take(&mut self.members);
        for &member in &members {
            self.draft.states[state as usize].is_final |= self.draft.states[member as usize].is_final;
            let mut next = self.draft.states[member as usize].head;
            while let Some(&edge) = self.draft.edges.get(next as usize) {
                next = edge.next;
                if edge.label != Label::EPSILON && edge.label != Label::DEAD {
                    self.draft.edge(state, edge.label, edge.to);
                    self.entering[edge.to as usize] += 1;
                }
            }
        }
        self.members = members;
    }

    /// Collects what the state reaches without reading, unless that would copy more than `budget` edges.
    fn collect(&mut self, state: u32, budget: usize) -> bool {
        self.members.clear();
        self.met[state as usize] = state + 1;
        let mut copied = 0;
        // A state that only disappearing states lead to disappears; the state at hand counts as one here.
        self.disappears.clear();
        let (mut from, mut from_disappears) = (state, true);
        let mut next = 0;
        loop {
            for edge in self.draft.edges(from).filter(|edge| edge.label == Label::EPSILON) {
                if std::mem::replace(&mut self.met[edge.to as usize], state + 1) == state + 1 {
                    continue;
                }
                let disappears = from_disappears && self.entering[edge.to as usize] == 1;
                self.members.push(edge.to);
                self.disappears.push(disappears);
                if !disappears {
                    let edges = self.draft.edges(edge.to).filter(|edge| edge.label != Label::EPSILON);
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
