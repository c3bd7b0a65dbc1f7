//! Merges states that go on alike.
//!
//! Two states of one fragment with the same edges, both final or both not, accept the same. States are
//! visited after those that they lead to (as far as loops allow), so that equal ends are merged before their
//! predecessors are compared. A trie of literals becomes a graph with shared ends in one pass over its edges.
//! Minimal automata would need partition refinement; what it finds beyond this (unrolled loops) is rare.

use crate::draft::automata::{Draft, Label};
use crate::draft::ids::{DraftEdgeId, DraftStateId};
use crate::ids::{Grouped, Id, IdVec, halves, ids};
use crate::pace::Pace;

/// For each state the one that is kept for it.
type SameStates = IdVec<DraftStateId, DraftStateId>;

pub(crate) fn merge_suffixes(draft: &mut Draft, pace: &mut Pace<'_>) {
    let count = draft.states.len();
    let mut same: SameStates = draft.states.ids().collect();
    let mut seen: IdVec<DraftStateId, bool> = IdVec::of(false, count);
    let mut heights: IdVec<DraftStateId, u32> = IdVec::of(u32::MAX, count);
    let mut known = SuffixClasses { slots: Vec::new(), mask: 0 };
    // The states of a fragment, each after those that it leads to.
    let mut order: Vec<DraftStateId> = Vec::with_capacity(256);
    // Pending states with the edges that are still to be followed.
    let mut stack: Vec<(DraftStateId, DraftEdgeId)> = Vec::with_capacity(256);
    let mut is_any = false;
    for start in draft.starts() {
        order.clear();
        if !std::mem::replace(&mut seen[start], true) {
            stack.push((start, draft.states[start].head));
        }
        // A depth-first search with an explicit stack, which lists a state after all that it leads to. Where
        // a loop makes that impossible, the state that closes it is compared by its number, and may be kept
        // although it is equal to another.
        while let Some((state, next)) = stack.last_mut() {
            if !pace.goes_on_at(*state) {
                return;
            }
            if let Some(edge) = draft.edges.get(*next) {
                *next = edge.next;
                let to = edge.to;
                if edge.label != Label::DEAD && !std::mem::replace(&mut seen[to], true) {
                    stack.push((edge.to, draft.states[to].head));
                }
                continue;
            }
            order.push(*state);
            stack.pop();
        }
        let layers = measure_heights(draft, &order, &mut heights, pace);
        if pace.has_stopped() {
            return;
        }
        if layers == order.len() {
            // Nearly all fragments are literals, where each state is the only one of its height.
            continue;
        }
        // States of different fragments are never merged: a final state belongs to its fragment.
        let mut merge = |states: &[DraftStateId]| {
            known.clear(states.len());
            for &state in states.iter().take_while(|&&state| pace.goes_on_at(state)) {
                let kept = known.find_or_add(draft, state, &same);
                is_any |= kept != state;
                same[state] = kept;
            }
            !pace.has_stopped()
        };
        let goes_on = if layers < MIN_LAYERS {
            merge(&order)
        } else {
            let by_height = Grouped::new(layers, order.iter().map(|&state| (heights[state], state)));
            ids(layers).map(|height| by_height.of(height)).filter(|states| states.len() > 1).all(merge)
        };
        if !goes_on {
            return;
        }
    }
    if !is_any {
        return;
    }
    // All edges once, at the end: states that are not kept are simply not reached any more.
    pace.for_each(draft.edges.as_mut_slice(), |edge| edge.to = same[edge.to]);
    for fragment in draft.fragments.iter_mut().filter(|fragment| fragment.prebuilt.is_none()) {
        fragment.start = same[fragment.start];
    }
}

/// Fragments with fewer heights are compared as a whole.
const MIN_LAYERS: usize = 4096;

/// Finds how far each state is from the end, by the longest way without a loop, and returns one more than the greatest
/// height. States that go on alike have the same height, loops apart. So the states of a text of megabytes are
/// compared height by height, and not through a table of megabytes.
fn measure_heights(
    draft: &Draft,
    order: &[DraftStateId],
    heights: &mut IdVec<DraftStateId, u32>,
    pace: &mut Pace<'_>,
) -> usize {
    let mut layers = 0;
    for &state in order.iter().take_while(|&&state| pace.goes_on_at(state)) {
        // An edge that closes a loop leads to a state without a height, and each height but 0 has one below it.
        let height = draft.edges(state).filter_map(|edge| heights[edge.to].checked_add(1)).max().unwrap_or(0);
        heights[state] = height;
        layers = layers.max(Id::index(height) + 1);
    }
    layers
}

/// The states of a fragment that were kept, in a table with open addressing whose size is known. For the
/// thousands of small look-ups of a compilation a general map costs more than the rest of the pass. The
/// states of two fragments are never the same, so each fragment has a table of its own, which stays in the
/// cache.
struct SuffixClasses {
    /// Hash and state. Those past the mask are left from another fragment.
    slots: Vec<(u32, DraftStateId)>,
    mask: usize,
}

impl SuffixClasses {
    /// Begins a fragment with this number of states.
    fn clear(&mut self, states: usize) {
        let slots = (2 * states).next_power_of_two();
        self.mask = slots - 1;
        if self.slots.len() < slots {
            self.slots.resize(slots, (0, DraftStateId::NONE));
        }
        self.slots[..slots].fill((0, DraftStateId::NONE));
    }

    /// A state with the same edges as this one: an earlier one if there is any.
    fn find_or_add(&mut self, draft: &Draft, state: DraftStateId, same: &SameStates) -> DraftStateId {
        let hash = signature(draft, state, same);
        // One half finds the slot and the other is compared first, so unequal states are rarely compared edge
        // by edge.
        let (high, low) = halves(hash);
        let mut slot = high & self.mask;
        loop {
            let (other_hash, other) = self.slots[slot];
            if other == DraftStateId::NONE {
                self.slots[slot] = (low, state);
                return state;
            }
            if other_hash == low && equal(draft, state, other, same) {
                return other;
            }
            slot = (slot + 1) & self.mask;
        }
    }
}

/// A hash that does not depend on the order of the edges.
fn signature(draft: &Draft, state: DraftStateId, same: &SameStates) -> u64 {
    let own = draft.states[state];
    let start = mix(u64::from(own.fragment().raw()) << 1 | u64::from(own.is_final()));
    draft.edges(state).fold(start, |sum, edge| {
        // An edge to the state itself counts as such, so that two loops over the same letters are equal.
        let to = if edge.to == state { DraftStateId::NONE } else { same[edge.to] };
        sum.wrapping_add(mix(u64::from(edge.label.raw()) << 32 | u64::from(to.raw())))
    })
}

/// Both halves of a product, one on the other, as in wyhash.
fn mix(value: u64) -> u64 {
    let product = u128::from(value ^ 0x9E37_79B9_7F4A_7C15) * 0xBF58_476D_1CE4_E5B9;
    (product as u64) ^ (product >> 64) as u64
}

/// Whether two states go on alike.
fn equal(draft: &Draft, left: DraftStateId, right: DraftStateId, same: &SameStates) -> bool {
    let (one, other) = (draft.states[left], draft.states[right]);
    if one.fragment() != other.fragment() || one.is_final() != other.is_final() {
        return false;
    }
    let edges = |state: DraftStateId| {
        let target = move |to: DraftStateId| if to == state { DraftStateId::NONE } else { same[to] };
        draft.edges(state).map(move |edge| (edge.label, target(edge.to)))
    };
    // States that go on alike were mostly written alike.
    if edges(left).eq(edges(right)) {
        return true;
    }
    let sorted = |state: DraftStateId| {
        let mut list: Vec<(Label, DraftStateId)> = edges(state).collect();
        list.sort_unstable();
        list
    };
    sorted(left) == sorted(right)
}
