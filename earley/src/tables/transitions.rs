//! Entries of the table of transitions, and transitions that depend on counts.

use std::sync::OnceLock;

use super::guards::CountRanges;
use super::ids::{SLOTS, SetId, SlotIndex, TransitionId, index, number};
use super::slots::{SlotChange, SlotChanges, SlotSet};

/// No sentence goes on with the byte. A fresh row is full of it: outside of strings few bytes can be read.
pub(crate) const DEAD: u32 = 0;
/// A transition that was not computed yet.
pub(crate) const UNKNOWN: u32 = 1;
/// The counts must move into the contexts before the byte can be read.
pub(crate) const NEEDS_EXACT_COUNTS: u32 = 2;
/// From here on: a set, with counts unchanged.
pub(crate) const FIRST_SET: u32 = 3;
/// Up to here. From here on, a bit for each slot that is cleared, and the set.
pub(crate) const CLEARS: u32 = 1 << CLEARED_SHIFT;
/// With this bit: the first of a list of guarded transitions.
pub(crate) const GUARDED: u32 = 1 << 31;
/// Most sets of one automaton.
pub(super) const MAX_SETS: usize = index(CLEARS - FIRST_SET);
/// The place of the bits of cleared slots, below [`GUARDED`].
const CLEARED_SHIFT: u32 = GUARDED.trailing_zeros() - number(SLOTS);

/// The entry of a transition to a set, with counts unchanged.
#[inline]
pub(crate) fn unchanged(target: SetId) -> u32 {
    target.raw() + FIRST_SET
}

/// The entry of a guarded transition.
pub(crate) fn encode_guarded(transition: TransitionId) -> u32 {
    transition.raw() | GUARDED
}

/// The guarded transition of an entry with the bit [`GUARDED`].
#[inline]
pub(crate) fn decode_guarded(entry: u32) -> TransitionId {
    TransitionId::from_raw(entry & !GUARDED)
}

/// The entry of a transition that asks nothing of the counts, from a set with some slots. `None` where it counts.
pub(crate) fn encode_unguarded(from: SlotSet, changes: &SlotChanges, target: SetId) -> Option<u32> {
    let mut entry = unchanged(target);
    for (slot, change) in SlotIndex::all().zip(changes) {
        match change {
            Some(SlotChange::Keep) => {}
            Some(SlotChange::Increment) => return None,
            // Slots that a set does not use are 0 already.
            None | Some(SlotChange::Zero) if !from.contains(slot) => {}
            None | Some(SlotChange::Zero) => entry |= CLEARS << slot.raw(),
        }
    }
    Some(entry)
}

/// The set and the counts after an entry of a transition that asks nothing of the counts.
#[inline]
pub(crate) fn decode_unguarded(entry: u32, counts: [u32; SLOTS]) -> (SetId, [u32; SLOTS]) {
    let set = SetId::from_raw((entry & (CLEARS - 1)) - FIRST_SET);
    if entry < CLEARS {
        return (set, counts);
    }
    (set, std::array::from_fn(|slot| if entry & CLEARS << slot == 0 { counts[slot] } else { 0 }))
}

/// A transition that depends on counts or changes them.
pub(crate) struct GuardedTransition {
    /// The counts for which the transition is this one.
    counts: CountRanges,
    /// For each slot all bits, if the count is kept or goes up by one.
    keep: [u32; SLOTS],
    /// The number added to each slot.
    add: [u32; SLOTS],
    pub(crate) target: SetId,
    /// The next alternative of the same transition, for other counts.
    pub(crate) next: OnceLock<TransitionId>,
}

impl GuardedTransition {
    pub(crate) fn new(counts: CountRanges, changes: &SlotChanges, target: SetId) -> Self {
        let kept = |change: &Option<SlotChange>| match change {
            Some(SlotChange::Keep | SlotChange::Increment) => u32::MAX,
            None | Some(SlotChange::Zero) => 0,
        };
        let keep = changes.each_ref().map(kept);
        let add = changes.map(|change| u32::from(change == Some(SlotChange::Increment)));
        Self { counts, keep, add, target, next: OnceLock::new() }
    }

    /// For each slot the greatest count for which the transition is this one.
    pub(crate) fn max_counts(&self) -> &[u32; SLOTS] {
        &self.counts.high
    }

    /// The counts after the transition, if it is the one for these counts.
    #[inline]
    pub(crate) fn apply(&self, counts: &[u32; SLOTS]) -> Option<[u32; SLOTS]> {
        let mut after = [0; SLOTS];
        let CountRanges { low, high } = &self.counts;
        let mut holds = true;
        for slot in 0..SLOTS {
            holds &= low[slot] <= counts[slot] && counts[slot] <= high[slot];
            // Counts stay below the repeat's maximum, so nothing overflows.
            after[slot] = (counts[slot] & self.keep[slot]).wrapping_add(self.add[slot]);
        }
        holds.then_some(after)
    }
}
