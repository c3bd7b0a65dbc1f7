//! Merges states that are reached alike.
//!
//! Suppose that a state has two edges that read the same and lead to states that nothing else leads to. Those
//! two states are always reached together, so one state with the edges of both accepts the same. Alternatives
//! that begin alike (`"," ws "a"` and `"," ws "b"`) become one way with a fork at its end. Literals need it
//! less, since they are built as tries.

use crate::draft::automata::{Draft, Edge, Label};
use crate::draft::ids::{DraftEdgeId, DraftStateId};
use crate::ids::{Id, IdVec, Offset};
use crate::pace::Pace;

pub(crate) fn merge_prefixes(draft: &mut Draft, pace: &mut Pace<'_>) {
    let mut stamps = SeenLabels { at: [0; 1024], stamp: 0 };
    let states = draft.states.ids().take_while(|&state| pace.goes_on_at(state));
    let candidates: Vec<DraftStateId> = states.filter(|&state| stamps.may_repeat(draft, state)).collect();
    if candidates.is_empty() {
        return;
    }
    let mut entering: IdVec<DraftStateId, u32> = IdVec::of(0, draft.states.len());
    pace.for_each(draft.edges.as_mut_slice(), |edge| {
        entering[edge.to] += u32::from(edge.label != Label::DEAD);
    });
    if pace.has_stopped() {
        return;
    }
    for start in draft.starts() {
        // A start is entered from outside, too. With two it never counts as a state that only one edge leads
        // to.
        entering[start] += 2;
    }
    let mut ids: Vec<DraftEdgeId> = Vec::new();
    // States whose edges changed: a merge can make edges of the merged state alike.
    let mut changed: Vec<DraftStateId> = Vec::new();
    for candidate in candidates {
        if !pace.goes_on_at(candidate) {
            return;
        }
        changed.push(candidate);
        while let Some(state) = changed.pop().filter(|&state| pace.goes_on_at(state)) {
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
    fn may_repeat(&mut self, draft: &Draft, state: DraftStateId) -> bool {
        let mut next = draft.states[state].head;
        // Most states have one edge.
        if draft.edges.get(next).is_none_or(|edge| edge.next == DraftEdgeId::NONE) {
            return false;
        }
        self.stamp += 1;
        let mut repeats = false;
        while let Some(&Edge { label, next: following, .. }) = draft.edges.get(next) {
            next = following;
            if label == Label::EPSILON || label == Label::DEAD {
                continue;
            }
            let raw = label.raw();
            // The first byte of a range, or the low bits of a fragment's or label's number.
            let slot = Offset::from_raw(if raw < 0x1_0000 { raw >> 8 } else { 256 + raw % 768 });
            repeats |= std::mem::replace(&mut self.at[slot.index()], self.stamp) == self.stamp;
        }
        repeats
    }
}

/// Merges the targets of equal labels among the edges of one state.
fn merge_targets(
    draft: &mut Draft,
    ids: &mut [DraftEdgeId],
    entering: &mut IdVec<DraftStateId, u32>,
    changed: &mut Vec<DraftStateId>,
) {
    // Equal labels are side by side. The first edge of a run is kept, and takes the edges of the others'
    // targets.
    ids.sort_unstable_by_key(|&id| draft.edges[id].label);
    let mut first: Option<Edge> = None;
    for &id in ids.iter() {
        let edge = draft.edges[id];
        if edge.label == Label::EPSILON || edge.label == Label::DEAD {
            continue;
        }
        match first {
            // The same edge twice, as merging makes it.
            Some(kept) if kept.label == edge.label && kept.to == edge.to => {
                draft.edges[id].label = Label::DEAD;
                entering[edge.to] -= 1;
            }
            Some(kept) if kept.label == edge.label && entering[edge.to] == 1 => {
                draft.edges[id].label = Label::DEAD;
                entering[edge.to] = 0;
                append(draft, kept.to, edge.to);
                if changed.last() != Some(&kept.to) {
                    changed.push(kept.to);
                }
            }
            // A target that something else leads to cannot be changed, so it is not one to merge into.
            _ => first = Some(edge).filter(|edge| entering[edge.to] == 1),
        }
    }
}

/// Gives the edges of `from` to `to`.
fn append(draft: &mut Draft, to: DraftStateId, from: DraftStateId) {
    let is_final = draft.states[from].is_final();
    draft.states[to].make_final_if(is_final);
    let list = std::mem::replace(&mut draft.states[from].head, DraftEdgeId::NONE);
    let mut last = DraftEdgeId::NONE;
    let mut next = list;
    while let Some(edge) = draft.edges.get(next) {
        last = next;
        next = edge.next;
    }
    if last != DraftEdgeId::NONE {
        let head = std::mem::replace(&mut draft.states[to].head, list);
        draft.edges[last].next = head;
    }
}
