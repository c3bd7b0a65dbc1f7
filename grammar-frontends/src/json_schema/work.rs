//! The work that one schema takes, against its limit.
//!
//! A limit on work is a limit on time only where a unit takes about the same time wherever it is charged. So
//! each walk over a list charges for its length, at the place where it walks: goals that are conjoined, names
//! that are put to tests, shapes that are compared. All of them share one count.

use std::cell::Cell;
use std::rc::Rc;

/// Units of some 50 nanoseconds. Copies share one count.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    spent: Rc<Cell<u64>>,
    most: u64,
}

impl Work {
    pub(crate) fn up_to(most: u64) -> Self {
        Self { spent: Rc::new(Cell::new(0)), most }
    }

    /// Adds units that were, or are about to be, worked off.
    pub(crate) fn charge(&self, units: usize) {
        self.spent.set(self.spent.get().saturating_add(units as u64));
    }

    /// Whether the limit is passed. Callers may then cut their work short: the schema is refused, so no result is used.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.get() > self.most
    }
}
