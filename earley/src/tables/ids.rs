//! Numbers of the objects in the tables. Casts between widths of integers are made here and nowhere else.

use grammask_fsm::StateId;

/// A 32-bit number as an index.
#[inline]
pub(crate) const fn index(number: u32) -> usize {
    number as usize
}

/// An index or a length as a 32-bit number. Limits on memory keep all tables shorter than 2^32.
#[inline]
pub(crate) const fn number(index: usize) -> u32 {
    debug_assert!(index <= u32::MAX as usize, "tables are shorter than 2^32");
    index as u32
}

/// A length as units of work.
#[inline]
pub(crate) const fn units(len: usize) -> u64 {
    len as u64
}

/// The lower and the upper half of a word.
#[inline]
pub(crate) const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// A number below 256 as a byte.
#[inline]
pub(crate) const fn low_byte(number: u32) -> u8 {
    debug_assert!(number < 256, "the number of a byte");
    number as u8
}

/// Defines the number of an element of a table.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub(crate) struct $name(u32);

        #[allow(dead_code, reason = "not every table needs all of them")]
        impl $name {
            #[inline]
            pub(crate) const fn new(index: usize) -> Self {
                Self($crate::tables::ids::number(index))
            }

            #[inline]
            pub(crate) const fn from_raw(raw: u32) -> Self {
                Self(raw)
            }

            #[inline]
            pub(crate) const fn index(self) -> usize {
                $crate::tables::ids::index(self.0)
            }

            #[inline]
            pub(crate) const fn raw(self) -> u32 {
                self.0
            }
        }
    };
}

pub(crate) use id;

id! {
    /// An interned set of items.
    SetId
}

id! {
    /// A transition that depends on counts or changes them.
    TransitionId
}

id! {
    /// An interned context.
    ContextId
}

id! {
    /// An interned [`PartSubset`](super::part_subset::PartSubset).
    PartSubsetId
}

id! {
    /// An interned list of the repeats that count in each slot.
    CounterListId
}

/// The context of the root: when it completes, the text so far is a sentence.
pub(crate) const ROOT: ContextId = ContextId(0);

/// The context of a local part: when it completes, the rule that was cut out may have ended.
pub(crate) const LOCAL: ContextId = ContextId(1);

/// In an entry of a block that is being interned: the rest of the word is a place in the block.
const IN_BLOCK: u32 = 1 << 31;

impl ContextId {
    /// A member of the block that is being interned, by its place.
    pub(crate) const fn in_block(place: usize) -> Self {
        Self(IN_BLOCK | number(place))
    }

    /// The place in the block that is being interned, for a member of it.
    pub(crate) fn place_in_block(self) -> Option<usize> {
        (self.0 & IN_BLOCK != 0).then_some(index(self.0 & !IN_BLOCK))
    }

    /// The member of the block that begins with this context, by its place.
    pub(crate) const fn member(self, place: usize) -> Self {
        Self(self.0 + number(place))
    }
}

/// Where a caller goes on: a state of the program, after a part in any order, or [`TAIL`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub(crate) struct ReturnState(u32);

/// In place of a return state: the caller is at its end too, so its own context completes.
pub(crate) const TAIL: ReturnState = ReturnState(u32::MAX);

/// In a return state: the rest of the word is the number of a part in any order. Numbers of states are below 2^30.
const PART: u32 = 1 << 31;

impl ReturnState {
    #[inline]
    pub(crate) fn new(state: StateId) -> Self {
        Self(state.raw())
    }

    /// The state between parts in any order, where this part has been read.
    #[inline]
    pub(crate) const fn after_part(part: u32) -> Self {
        debug_assert!(part < PART - 1, "parts are fewer than 2^31");
        Self(PART | part)
    }

    /// The part that has been read there.
    #[inline]
    pub(crate) fn part(self) -> Option<u32> {
        (self != TAIL && self.0 & PART != 0).then_some(self.0 & !PART)
    }

    /// The state, unless a part has been read there or the caller is at its end.
    #[inline]
    pub(crate) fn state(self) -> Option<StateId> {
        if self.0 & PART == 0 { StateId::new(index(self.0)) } else { None }
    }

    #[inline]
    pub(crate) const fn raw(self) -> u32 {
        self.0
    }
}

/// Counts that a configuration carries. Repeats nested deeper, or open at two different counts at once, keep
/// their count in the context instead. Three cover a string with `maxLength` in two arrays with `maxItems`.
pub(crate) const SLOTS: usize = 3;

/// One of the slots for counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub(crate) struct SlotIndex(u8);

impl SlotIndex {
    /// All slots.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..SLOTS as u8).map(Self)
    }

    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    #[inline]
    pub(crate) const fn raw(self) -> u8 {
        self.0
    }
}
