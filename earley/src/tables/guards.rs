//! Questions that closures ask of counts.

use super::ids::SlotIndex;

/// A question that was asked of a count, and its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Guard {
    pub(crate) slot: SlotIndex,
    /// Least number of iterations.
    pub(crate) min: u32,
    /// Greatest number of iterations, `u32::MAX` for any.
    pub(crate) max: u32,
    /// With one more iteration: is the minimum met?
    pub(crate) may_end: bool,
    /// With one more iteration: is another one possible?
    pub(crate) may_continue: bool,
}

impl Guard {
    /// The least and the greatest count for which the answers are these.
    pub(crate) fn counts(&self) -> (u32, u32) {
        // The guard compares the count after one more iteration.
        let enough = self.min.saturating_sub(1);
        let full = self.max.saturating_sub(1);
        let (mut low, mut high) = (0, u32::MAX);
        if self.may_end {
            low = enough;
        } else {
            high = enough.saturating_sub(1);
        }
        if self.may_continue {
            high = high.min(full.saturating_sub(1));
        } else {
            low = low.max(full);
        }
        (low, high)
    }
}
