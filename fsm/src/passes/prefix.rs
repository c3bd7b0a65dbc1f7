//! Merges states that are reached alike.
//!
//! If a state has two edges that read the same and lead to states that nothing else leads to, those two
//! states are always reached together: one state with the edges of both accepts the same. Alternatives that
//! begin alike (`"," ws "a"` and `"," ws "b"`) become one way with a fork at its end. Literals need it less,
//! since they are built as tries.

use crate::draft::automata::{Draft, Edge, Label};
use crate::ids::NONE;

pub(crate) fn merge_prefixes(draft: &mut Draft) {
    let mut stamps = SeenLabels { at: [0; 1024], stamp: 0 };
    let states = 0..draft.states.len() as u32;
    let candidates: Vec<u32> = states.filter(|&state| stamps.may_repeat(draft, state)).collect();
    if candidates.is_empty() {
        return;
    }
    let mut entering = vec![0u32; draft.states.len()];
    for edge in draft.edges.iter().filter(|edge| edge.label != Label::DEAD) {
        entering[edge.to as usize] += 1;
    }
    for start in draft.starts() {
        entering[start as usize] += 2;
    }
    let mut ids: Vec<u32> = Vec::new();
    // States whose edges changed: a merge can make edges of the merged state alike.
    let mut changed: Vec<u32> = Vec::new();
    for candidate in candidates {
        changed.push(candidate);
        while let Some(state) = changed.pop() {
            if !stamps.may_repeat(draft, state) {
                continue;
            }
            ids.clear();
            ids.extend(draft.edge_ids(state));
            merge_targets(draft, &mut ids, &mut entering, &mut changed);
        }
    }
}

/// Finds out quickly that no two edges read the same.
struct SeenLabels {
    at: [u32; 1024],
    stamp: u32,
}

impl SeenLabels {
    fn may_repeat(&mut self, draft: &Draft, state: u32) -> bool {
        let mut next = draft.states[state as usize].head;
        // Most states have one edge.
        if draft.edges.get(next as usize).is_none_or(|edge| edge.next == NONE) {
            return false;
        }
        self.stamp += 1;
        let mut repeats = false;
        while let Some(&Edge { label, next: following, .. }) = draft.edges.get(next as usize) {
            next = following;
            if label == Label::EPSILON || label == Label::DEAD {
                continue;
            }
            let raw = label.raw();
            // The first byte of a range, or the low bits of a fragment's or label's number.
            let slot = if raw < 0x1_0000 { raw >> 8 } else { 256 + raw % 768 };
            repeats |= std::mem::replace(&mut self.at[slot as usize], self.stamp) == self.stamp;
        }
        repeats
    }
}

/// Merges the targets of equal labels among the edges of one state.
fn merge_targets(draft: &mut Draft, ids: &mut [u32], entering: &mut [u32], changed: &mut Vec<u32>) {
    ids.sort_unstable_by_key(|&id| draft.edges[id as usize].label);
    let mut first: Option<Edge> = None;
    for &id in ids.iter() {
        let edge = draft.edges[id as usize];
        if edge.label == Label::EPSILON || edge.label == Label::DEAD {
            continue;
        }
        match first {
            Some(kept) if kept.label == edge.label && kept.to == edge.to => {
                draft.edges[id as usize].label = Label::DEAD;
                entering[edge.to as usize] -= 1;
            }
            Some(kept) if kept.label == edge.label && entering[edge.to as usize] == 1 => {
                draft.edges[id as usize].label = Label::DEAD;
                entering[edge.to as usize] = 0;
                append(draft, kept.to, edge.to);
                if changed.last() != Some(&kept.to) {
                    changed.push(kept.to);
                }
            }
            _ => first = Some(edge).filter(|edge| entering[edge.to as usize] == 1),
        }
    }
}

/// Gives the edges of `from` to `to`.
fn append(draft: &mut Draft, to: u32, from: u32) {
    draft.states[to as usize].is_final |= draft.states[from as usize].is_final;
    let list = std::mem::replace(&mut draft.states[from as usize].head, NONE);
    let mut last = NONE;
    let mut next = list;
    while let Some(edge) = draft.edges.get(next as usize) {
        last = next;
        next = edge.next;
    }
    if last != NONE {
        let head = std::mem::replace(&mut draft.states[to as usize].head, list);
        draft.edges[last as usize].next = head;
    }
}
