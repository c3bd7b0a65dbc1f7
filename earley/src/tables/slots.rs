//! Slots of a configuration: where the counts of open repeats are kept, and how a step changes them.

use super::ids::{SLOTS, SlotIndex};

/// A set of slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SlotSet(u8);

impl SlotSet {
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) fn insert(&mut self, slot: SlotIndex) {
        self.0 |= 1 << slot.raw();
    }

    pub(crate) fn contains(self, slot: SlotIndex) -> bool {
        self.0 >> slot.raw() & 1 == 1
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = SlotIndex> {
        SlotIndex::all().filter(move |&slot| self.contains(slot))
    }
}

/// The effect of a step on one slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SlotChange {
    Keep,
    /// An iteration ended and another one began.
    Increment,
    /// A repeat began.
    Zero,
}

impl SlotChange {
    /// Two bits.
    const fn bits(self) -> u8 {
        match self {
            Self::Keep => 0,
            Self::Increment => 1,
            Self::Zero => 2,
        }
    }
}

/// The effect of the history of an item within one step on every slot: two bits each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag(u8);

impl Tag {
    pub(crate) const KEEP: Self = Self(0);

    pub(crate) fn with(self, slot: SlotIndex, change: SlotChange) -> Self {
        let shift = 2 * slot.raw();
        Self(self.0 & !(3 << shift) | change.bits() << shift)
    }

    /// The tag with every slot outside the set forgotten.
    pub(crate) fn restrict(self, slots: SlotSet) -> Self {
        /// Two bits for each slot of the set that is the index.
        const SPREAD: [u8; 1 << SLOTS] = [0, 3, 12, 15, 48, 51, 60, 63];
        Self(self.0 & SPREAD[usize::from(slots.0)])
    }

    pub(crate) fn get(self, slot: SlotIndex) -> SlotChange {
        match self.0 >> (2 * slot.raw()) & 3 {
            0 => SlotChange::Keep,
            1 => SlotChange::Increment,
            _ => SlotChange::Zero,
        }
    }
}

/// The effect of a transition on the counts. `None` clears the slot: the target does not use it.
pub(crate) type SlotChanges = [Option<SlotChange>; SLOTS];

/// The counts after a transition.
pub(crate) fn apply(changes: &SlotChanges, counts: &[u32; SLOTS]) -> [u32; SLOTS] {
    let mut after = [0; SLOTS];
    for slot in 0..SLOTS {
        after[slot] = match changes[slot] {
            // An unused slot is 0 in every configuration, so that states which behave alike are equal.
            None | Some(SlotChange::Zero) => 0,
            Some(SlotChange::Keep) => counts[slot],
            Some(SlotChange::Increment) => counts[slot].saturating_add(1),
        };
    }
    after
}
