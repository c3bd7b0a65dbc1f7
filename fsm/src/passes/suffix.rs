//! Merges states that go on alike.
//!
//! Two states of one fragment with the same edges, both final or both not, accept the same. States are
//! visited after those that they lead to (as far as loops allow), so that equal ends are merged before their
//! predecessors are compared: a trie of literals becomes a graph with shared ends in one pass over its edges.
//! Minimal automata would need partition refinement; what it finds beyond this (unrolled loops) is rare.

use ahash::AHashMap;

use crate::draft::{Draft, Label};

pub(crate) fn merge_suffixes(draft: &mut Draft) {
    let count = draft.states.len();
    let mut same: Vec<u32> = (0..count as u32).collect();
    let mut seen = vec![false; count];
    // By a hash of fragment, finality and edges; equality is checked.
    let mut known: AHashMap<u64, u32> = AHashMap::new();
    let hasher = ahash::RandomState::with_seeds(1, 2, 3, 4);
    // Pending states; those whose successors were visited are marked by the flag.
    let mut stack: Vec<(u32, u32)> = Vec::new();
    for number in 0..draft.fragments.len() {
        let start = draft.fragments[number].start;
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
            let hash = signature(draft, state, &same, &hasher);
            match known.entry(hash) {
                std::collections::hash_map::Entry::Occupied(entry) => {
                    let other = *entry.get();
                    if equal(draft, state, other, &same) {
                        same[state as usize] = other;
                    }
                }
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(state);
                }
            }
        }
    }
    for edge in &mut draft.edges {
        edge.to = same[edge.to as usize];
    }
    for fragment in &mut draft.fragments {
        fragment.start = same[fragment.start as usize];
    }
}

/// A hash that does not depend on the order of the edges.
fn signature(draft: &Draft, state: u32, same: &[u32], hasher: &ahash::RandomState) -> u64 {
    let own = draft.states[state as usize];
    let edges = draft.edges(state).fold(0u64, |sum, edge| {
        let to = if edge.to == state { u32::MAX } else { same[edge.to as usize] };
        let mixed = (u64::from(edge.label.raw()) << 32 | u64::from(to)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        sum.wrapping_add(mixed ^ mixed >> 29)
    });
    hasher.hash_one((own.fragment, own.is_final, edges))
}

fn equal(draft: &Draft, left: u32, right: u32, same: &[u32]) -> bool {
    let (one, other) = (draft.states[left as usize], draft.states[right as usize]);
    let edges = |state: u32| {
        let mut list: Vec<(Label, u32)> = draft
            .edges(state)
            .map(|edge| (edge.label, if edge.to == state { u32::MAX } else { same[edge.to as usize] }))
            .collect();
        list.sort_unstable();
        list
    };
    one.fragment == other.fragment && one.is_final == other.is_final && edges(left) == edges(right)
}
