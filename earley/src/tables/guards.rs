//! Questions that closures ask of counts.

use super::ids::{SLOTS, SlotIndex};

/// A question that was asked of a count, and its answer.
#[derive(Clone, Copy, Debug)]
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
    fn counts(&self) -> (u32, u32) {
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

/// For each slot the least and the greatest count for which all questions that were asked have the same answers.
///
/// Repeats that begin together count in one slot, and each of them asks its own questions. A list of these
/// would have as many entries as there are repeats, for each of the counts at which an answer changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CountRanges {
    pub(crate) low: [u32; SLOTS],
    pub(crate) high: [u32; SLOTS],
}

impl Default for CountRanges {
    fn default() -> Self {
        Self::ALL
    }
}

impl CountRanges {
    /// Nothing was asked.
    pub(crate) const ALL: Self = Self { low: [0; SLOTS], high: [u32::MAX; SLOTS] };

    /// Narrows the counts to those with the same answer to one more question.
    pub(crate) fn add(&mut self, guard: &Guard) {
        let slot = guard.slot.index();
        let (min, max) = guard.counts();
        self.low[slot] = self.low[slot].max(min);
        self.high[slot] = self.high[slot].min(max);
    }

    pub(crate) fn contain(&self, counts: &[u32; SLOTS]) -> bool {
        (0..SLOTS).all(|slot| (self.low[slot]..=self.high[slot]).contains(&counts[slot]))
    }
}
