//! Merges states that go on alike.
//!
//! Two states of one fragment with the same edges, both final or both not, accept the same. States are
//! visited after those that they lead to (as far as loops allow), so that equal ends are merged before their
//! predecessors are compared: a trie of literals becomes a graph with shared ends in one pass over its edges.
//! Minimal automata would need partition refinement; what it finds beyond this (unrolled loops) is rare.

use crate::draft::{Draft, Label, NONE};

pub(crate) fn merge_suffixes(draft: &mut Draft) {
    let count = draft.states.len();
    let mut same: Vec<u32> = (0..count as u32).collect();
    let mut seen = vec![false; count];
    let mut known = Known::new(count);
    // Pending states with the edges that are still to be followed.
    let mut stack: Vec<(u32, u32)> = Vec::with_capacity(256);
    for start in draft.starts() {
        if !std::mem::replace(&mut seen[start as usize], true) {
            stack.push((start, draft.states[start as usize].head));
        }
        while let Some((state, next)) = stack.last_mut() {
            if let Some(edge) = draft.edges.get(*next as usize) {
                *next = edge.next;
                let to = edge.to as usize;
                if edge.label != Label::DEAD && !std::mem::replace(&mut seen[to], true) {
                    stack.push((edge.to, draft.states[to].head));
                }
                continue;
            }
            let state = *state;
            stack.pop();
            same[state as usize] = known.find_or_add(draft, state, &same);
        }
    }
    for edge in &mut draft.edges {
        edge.to = same[edge.to as usize];
    }
    for fragment in draft.fragments.iter_mut().filter(|fragment| fragment.finished.is_none()) {
        fragment.start = same[fragment.start as usize];
    }
}

/// The states that were kept, in a table with open addressing that never grows: its size is known, and for
/// the thousands of small look-ups of a compilation a general map costs more than the rest of the pass.
struct Known {
    /// Hash and state.
    slots: Vec<(u32, u32)>,
}

impl Known {
    fn new(states: usize) -> Self {
        Self { slots: vec![(0, NONE); (2 * states + 1).next_power_of_two()] }
    }

    /// A state that goes on like this one: an earlier one if there is any.
    fn find_or_add(&mut self, draft: &Draft, state: u32, same: &[u32]) -> u32 {
        let hash = signature(draft, state, same);
        let mask = self.slots.len() - 1;
        let mut slot = (hash >> 32) as usize & mask;
        loop {
            let (other_hash, other) = self.slots[slot];
            if other == NONE {
                self.slots[slot] = (hash as u32, state);
                return state;
            }
            if other_hash == hash as u32 && equal(draft, state, other, same) {
                return other;
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// A hash that does not depend on the order of the edges.
fn signature(draft: &Draft, state: u32, same: &[u32]) -> u64 {
    let own = draft.states[state as usize];
    let start = mix(u64::from(own.fragment) << 1 | u64::from(own.is_final));
    draft.edges(state).fold(start, |sum, edge| {
        let to = if edge.to == state { u32::MAX } else { same[edge.to as usize] };
        sum.wrapping_add(mix(u64::from(edge.label.raw()) << 32 | u64::from(to)))
    })
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}

/// Whether two states go on alike.
fn equal(draft: &Draft, left: u32, right: u32, same: &[u32]) -> bool {
    let (one, other) = (draft.states[left as usize], draft.states[right as usize]);
    if one.fragment != other.fragment || one.is_final != other.is_final {
        return false;
    }
    let edges = |state: u32| {
        let target = move |to: u32| if to == state { u32::MAX } else { same[to as usize] };
        draft.edges(state).map(move |edge| (edge.label, target(edge.to)))
    };
    // States that go on alike were mostly written alike.
    if edges(left).eq(edges(right)) {
        return true;
    }
    let sorted = |state: u32| {
        let mut list: Vec<(Label, u32)> = edges(state).collect();
        list.sort_unstable();
        list
    };
    sorted(left) == sorted(right)
}
