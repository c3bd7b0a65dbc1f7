//! Items: the elements of sets.

use std::hash::{Hash, Hasher};

use grammask_fsm::StateId;

use super::ids::ContextId;

/// A state of an automaton and the context that it ends in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Item {
    pub(crate) state: StateId,
    pub(crate) context: ContextId,
}

/// Sets are looked up by their items: one number each is mixed in half the time of two.
impl Hash for Item {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.key());
    }
}

impl Item {
    pub(crate) fn key(self) -> u64 {
        u64::from(self.state.raw()) << 32 | u64::from(self.context.raw())
    }
}

/// Whether the text or the rule of a local part may end at a set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Acceptance {
    /// The text.
    pub(crate) complete: bool,
    /// The rule of a local part.
    pub(crate) local_complete: bool,
}
