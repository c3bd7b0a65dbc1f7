//! Parts in any order: the subset that was read.
//!
//! Automata would need a state for every subset of the parts. Here the subset is kept in the *context* of the
//! open call ([`Context::Permutation`](super::contexts::Context::Permutation)), interned, so that only
//! subsets exist that some text has reached. While a part is read its caller's return state names it
//! ([`after_part`](super::ids::ReturnState::after_part)), because of all parts that may come few do. The call of a part
//! is not followed if it must not be read again, or if the parts that are still required would not fit in
//! after it.

use grammask_fsm::Permutation;
use grammask_parser_backend::Progress;
use smallvec::{SmallVec, smallvec};

use super::ids::{index, number};

/// The parts that were read.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(crate) struct PartSubset {
    /// One bit for each part that occurs at most once. Where sets are small, making them takes no allocation.
    read: SmallVec<[u64; 2]>,
    /// How many parts were read; numbers from the bounds on are not told apart.
    count: u32,
    /// How many of the required parts are still to be read.
    required_left: u32,
    /// How many of the optional parts can still be read.
    optional_left: u32,
}

impl Clone for PartSubset {
    /// Large sets have exactly the room that they need; a clone of a `SmallVec` would have a power of two.
    fn clone(&self) -> Self {
        Self { read: SmallVec::from_slice(&self.read), ..*self }
    }
}

impl PartSubset {
    /// No part.
    pub(crate) fn empty(permutation: &Permutation) -> Self {
        let (required, once) = (index(permutation.required), index(permutation.once));
        let optional_left = permutation.parts[required..once].iter().filter(|part| part.is_some()).count();
        Self {
            read: smallvec![0; once.div_ceil(64)],
            count: 0,
            required_left: permutation.required,
            // Parts are numbered in 32 bits.
            optional_left: number(optional_left),
        }
    }

    /// As numbers that are not the engine's.
    pub(crate) fn to_progress(&self) -> Progress {
        Progress::Parts { once: self.read.as_slice().into(), count: self.count }
    }

    /// The subset of some parts, if a text can have read them.
    pub(crate) fn from_parts(permutation: &Permutation, once: &[u64], count: u32) -> Option<Self> {
        let mut subset = Self::empty(permutation);
        if once.len() != subset.read.len() {
            return None;
        }
        subset.read = SmallVec::from_slice(once);
        subset.count = count;
        for part in 0..permutation.once {
            if subset.contains(part) {
                match part < permutation.required {
                    true => subset.required_left = subset.required_left.checked_sub(1)?,
                    false => subset.optional_left = subset.optional_left.checked_sub(1)?,
                }
            }
        }
        Some(subset)
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + if self.read.spilled() { size_of_val(&*self.read) } else { 0 }
    }

    /// A bit for each part that occurs at most once.
    pub(crate) fn read(&self) -> &[u64] {
        &self.read
    }

    pub(crate) fn contains(&self, part: u32) -> bool {
        self.read.get(index(part) / 64).is_some_and(|word| word >> (part % 64) & 1 == 1)
    }

    /// Whether a part may be read now.
    pub(crate) fn may_read(&self, permutation: &Permutation, part: u32) -> bool {
        self.counted(permutation, part).is_some()
    }

    /// The same subset and a part, if that part may be read now.
    pub(crate) fn with(&self, permutation: &Permutation, part: u32) -> Option<Self> {
        let mut after = self.counted(permutation, part)?;
        after.read = SmallVec::from_slice(&self.read);
        if let Some(word) = after.read.get_mut(index(part) / 64).filter(|_| part < permutation.once) {
            *word |= 1 << (part % 64);
        }
        Some(after)
    }

    /// The numbers of [`with`](Self::with), without the set.
    fn counted(&self, permutation: &Permutation, part: u32) -> Option<Self> {
        if permutation.max.is_some_and(|max| self.count >= max) {
            return None;
        }
        let mut after = Self { read: SmallVec::new(), ..*self };
        if part < permutation.once {
            if self.contains(part) {
                return None;
            }
            if part < permutation.required {
                after.required_left -= 1;
            } else {
                after.optional_left -= 1;
            }
        }
        // Without a maximum, counts from the minimum on make no difference; they are one state.
        after.count = (self.count + 1).min(permutation.max.unwrap_or(0).max(permutation.min));
        after.can_finish(permutation).then_some(after)
    }

    /// Whether no part is required any more.
    pub(crate) fn may_end(&self, permutation: &Permutation) -> bool {
        self.required_left == 0 && self.count >= permutation.min
    }

    /// Whether another part may be read.
    pub(crate) fn may_continue(&self, permutation: &Permutation) -> bool {
        // As long as there is room, there is room for one of the required parts.
        permutation.max.is_none_or(|max| self.count < max)
            && (self.required_left > 0 || self.optional_left > 0 || has_unbounded_part(permutation))
    }

    /// Whether parts, or none, can be read so that no part is required any more.
    fn can_finish(&self, permutation: &Permutation) -> bool {
        let remaining = self.required_left.max(permutation.min.saturating_sub(self.count));
        let fits = permutation.max.is_none_or(|max| self.count.saturating_add(remaining) <= max);
        fits && (remaining <= self.required_left + self.optional_left || has_unbounded_part(permutation))
    }

    /// The least number of parts to read from here on.
    pub(crate) fn min_remaining(&self, permutation: &Permutation) -> u32 {
        self.required_left.max(permutation.min.saturating_sub(self.count))
    }
}

/// Whether some part may be read any number of times.
fn has_unbounded_part(permutation: &Permutation) -> bool {
    permutation.parts[index(permutation.once)..].iter().any(Option::is_some)
}
