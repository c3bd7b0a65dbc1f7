//! How much work one call may do.

use crate::error::StepError;

/// The work left to one call. A unit is about one item of one parse set built, some 50 ns; steps that only
/// look a table up burn none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fuel {
    left: u64,
    full: u64,
}

impl Fuel {
    /// Fuel for `units` of work.
    pub fn new(units: u64) -> Self {
        Self { left: units, full: units }
    }

    /// Fuel without end, for callers that bound their work otherwise.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// Burns `units`, or fails and leaves the tank empty.
    pub fn burn(&mut self, units: u64) -> Result<(), StepError> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(StepError::OutOfWork { limit: self.full })
            }
        }
    }

    /// What is left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// What was burnt so far.
    pub fn burnt(&self) -> u64 {
        self.full - self.left
    }
}
