//! Answers about the behaviour of a set on long texts over a class.

use grammask_grammar_ir::hash::HashMap;
use grammask_parser_backend::{CharClass, Run};

use crate::tables::ids::{SLOTS, SetId, SlotIndex};

/// The answer for a set, for all counts in the same intervals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RunShape {
    Unknown,
    Unbounded,
    /// As long as the count in the slot stays at most this.
    UpTo {
        slot: SlotIndex,
        until: u32,
    },
    /// At least this many characters; of longer texts nothing is known.
    AtLeast(u32),
    /// The same, as long as the count in the slot cannot come to more than `until`.
    AtLeastUpTo {
        chars: u32,
        slot: SlotIndex,
        until: u32,
    },
}

impl RunShape {
    pub(crate) fn at(self, counts: &[u32; SLOTS]) -> Run {
        match self {
            Self::Unknown => Run::Unknown,
            Self::Unbounded => Run::Unbounded,
            Self::UpTo { slot, until } => Run::AtMost(until.saturating_sub(counts[slot.index()])),
            Self::AtLeast(chars) => Run::AtLeast(chars),
            Self::AtLeastUpTo { chars, slot, until } => {
                Run::AtLeast(chars.min(until.saturating_sub(counts[slot.index()])))
            }
        }
    }
}

/// Answers by set, intervals of counts, and class.
#[derive(Default)]
pub(crate) struct RunCache {
    shapes: HashMap<(SetId, [u32; SLOTS], CharClass), RunShape>,
}

impl RunCache {
    pub(crate) fn get(&self, set: SetId, intervals: [u32; SLOTS], class: &CharClass) -> Option<RunShape> {
        self.shapes.get(&(set, intervals, *class)).copied()
    }

    pub(crate) fn insert(&mut self, set: SetId, intervals: [u32; SLOTS], class: &CharClass, shape: RunShape) {
        self.shapes.insert((set, intervals, *class), shape);
    }
}
