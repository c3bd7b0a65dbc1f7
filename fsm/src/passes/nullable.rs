//! Finds the fragments that derive the empty string, and the calls that they make before they read a byte.
//!
//! The states that a fragment reaches without reading are marked from its start on. A call is passed at once
//! if the callee may read nothing, and waits for it otherwise (as in `prune`). The calls met on the way are
//! the *left calls*, from which left recursion is read off.

use crate::draft::automata::{Draft, Label};
use crate::draft::ids::{DraftFragmentId, DraftStateId};
use crate::ids::{Id, IdVec};
use crate::pace::Pace;
use crate::passes::ids::EntryId;

/// Calls that happen before the caller has read a byte: (caller, callee), in no order.
pub(crate) struct LeftCalls(pub(crate) Vec<(DraftFragmentId, DraftFragmentId)>);

/// Sets `nullable` of every fragment, and the minimum of nullable repeats to 0.
pub(crate) fn nullable(draft: &mut Draft, pace: &mut Pace<'_>) -> LeftCalls {
    let mut left_calls = Vec::with_capacity(64);
    let mut reached: IdVec<DraftStateId, bool> = IdVec::of(false, draft.states.len());
    let mut waiting: IdVec<DraftFragmentId, EntryId> = IdVec::of(EntryId::NONE, draft.fragments.len());
    let mut entries: IdVec<EntryId, (DraftStateId, EntryId)> = IdVec::with_capacity(64);
    let mut stack: Vec<DraftStateId> = draft.starts().collect();
    // All fragments at once: whether one may read nothing does not depend on its callers.
    for &start in &stack {
        reached[start] = true;
    }
    while let Some(id) = stack.pop().filter(|&id| pace.goes_on_at(id)) {
        let state = draft.states[id];
        let owner = state.fragment();
        // The first final state that is reached without reading. From here on calls of this fragment are
        // passed at once, so those that wait are the earlier ones.
        if state.is_final() && !draft.fragments[owner].nullable {
            draft.fragments[owner].nullable = true;
            let mut next = std::mem::replace(&mut waiting[owner], EntryId::NONE);
            while let Some(&(target, following)) = entries.get(next) {
                if !std::mem::replace(&mut reached[target], true) {
                    stack.push(target);
                }
                next = following;
            }
        }
        let mut next = state.head;
        while let Some(&edge) = draft.edges.get(next) {
            next = edge.next;
            // A call at a reached state happens before a byte is read, whether it is passed or waits.
            if let Some(callee) = edge.label.as_call() {
                left_calls.push((owner, callee));
                if !draft.fragments[callee].call_is_nullable() {
                    waiting[callee] = entries.push((edge.to, waiting[callee]));
                    continue;
                }
            } else if edge.label != Label::EPSILON {
                continue;
            }
            if !std::mem::replace(&mut reached[edge.to], true) {
                stack.push(edge.to);
            }
        }
    }
    for fragment in draft.fragments.iter_mut() {
        if let Some(count) = fragment.count.as_mut().filter(|_| fragment.nullable) {
            count.min = 0;
        }
    }
    LeftCalls(left_calls)
}
