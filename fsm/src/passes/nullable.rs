//! Finds the fragments that derive the empty string, and what they call before they read a byte.
//!
//! The states that a fragment reaches without reading are marked from its start on; a call goes on at once if
//! the callee's call may read nothing, and waits for it otherwise (as in `prune`). The calls met on the way
//! are the *left calls*, from which left recursion is read off.

use crate::draft::automata::{Draft, Label};
use crate::ids::NONE;

/// Calls that happen before the caller has read a byte: (caller, callee), in no order.
pub(crate) struct LeftCalls(pub(crate) Vec<(u32, u32)>);

/// Sets `nullable` of every fragment, and the minimum of nullable repeats to 0.
pub(crate) fn nullable(draft: &mut Draft) -> LeftCalls {
    let mut left_calls = Vec::with_capacity(64);
    let mut reached = vec![false; draft.states.len()];
    let mut waiting = vec![NONE; draft.fragments.len()];
    let mut entries: Vec<(u32, u32)> = Vec::with_capacity(64);
    let mut stack: Vec<u32> = draft.starts().collect();
    for &start in &stack {
        reached[start as usize] = true;
    }
    while let Some(id) = stack.pop() {
        let state = draft.states[id as usize];
        let owner = state.fragment as usize;
        if state.is_final && !draft.fragments[owner].nullable {
            draft.fragments[owner].nullable = true;
            let mut next = std::mem::replace(&mut waiting[owner], NONE);
            while let Some(&(target, following)) = entries.get(next as usize) {
                if !std::mem::replace(&mut reached[target as usize], true) {
                    stack.push(target);
                }
                next = following;
            }
        }
        let mut next = state.head;
        while let Some(&edge) = draft.edges.get(next as usize) {
            next = edge.next;
            if let Some(callee) = edge.label.as_call() {
                left_calls.push((owner as u32, callee));
                if !draft.fragments[callee as usize].call_is_nullable() {
                    entries.push((edge.to, waiting[callee as usize]));
                    waiting[callee as usize] = entries.len() as u32 - 1;
                    continue;
                }
            } else if edge.label != Label::EPSILON {
                continue;
            }
            if !std::mem::replace(&mut reached[edge.to as usize], true) {
                stack.push(edge.to);
            }
        }
    }
    for fragment in &mut draft.fragments {
        if let Some(count) = fragment.count.as_mut().filter(|_| fragment.nullable) {
            count.min = 0;
        }
    }
    LeftCalls(left_calls)
}
