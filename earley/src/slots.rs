//! Slots of a configuration: where the counts of open repeats are kept, and how a step changes them.

/// Counts that a configuration carries. Repeats nested deeper, or open at two different counts at once, keep
/// their count in the context instead. Three cover a string with `maxLength` in two arrays with `maxItems`.
pub(crate) const SLOTS: usize = 3;

/// A set of slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SlotSet(u8);

impl SlotSet {
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) fn insert(&mut self, slot: u8) {
        self.0 |= 1 << slot;
    }

    pub(crate) fn contains(self, slot: u8) -> bool {
        self.0 >> slot & 1 == 1
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u8> {
        (0..SLOTS as u8).filter(move |&slot| self.contains(slot))
    }
}

/// What a step does to one slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SlotChange {
    Keep,
    /// An iteration ended and another one began.
    Increment,
    /// A repeat began.
    Zero,
}

/// What the history of an item within one step did to every slot: two bits each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag(u8);

impl Tag {
    pub(crate) const KEEP: Self = Self(0);

    pub(crate) fn with(self, slot: u8, change: SlotChange) -> Self {
        let shift = 2 * slot;
        Self(self.0 & !(3 << shift) | (change as u8) << shift)
    }

    /// The tag with every slot outside the set forgotten.
    pub(crate) fn restrict(self, slots: SlotSet) -> Self {
        /// Two bits for each slot of the set that is the index.
        const SPREAD: [u8; 1 << SLOTS] = [0, 3, 12, 15, 48, 51, 60, 63];
        Self(self.0 & SPREAD[usize::from(slots.0)])
    }

    pub(crate) fn get(self, slot: u8) -> SlotChange {
        match self.0 >> (2 * slot) & 3 {
            0 => SlotChange::Keep,
            1 => SlotChange::Increment,
            _ => SlotChange::Zero,
        }
    }
}
