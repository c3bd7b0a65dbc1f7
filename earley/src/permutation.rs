//! Parts in any order: which of them were read.
//!
//! Automata would need a state for every subset of the parts. Here the subset stands in the *context* of the open
//! call ([`Context::Open`](crate::context::Context::Open)), interned, so that only subsets exist that some text has
//! reached. A part returns to a context in which it has been read; its call is not followed where it must not be
//! read again, or where the parts that are still owed would not fit in behind it.

use grammask_fsm::Permutation;
use grammask_parser_backend::Progress;
use smallvec::{SmallVec, smallvec};

/// The parts that were read.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(crate) struct Read {
    /// One bit for each part that occurs at most once. Every part that may come has a set of its own: where sets are
    /// small, making them takes no allocation.
    parts: SmallVec<[u64; 2]>,
    /// How many parts were read; numbers from the bounds on are not told apart.
    count: u32,
    /// How many of the required parts are still to be read.
    owed: u32,
    /// How many of the optional parts can still be read.
    optional: u32,
}

impl Clone for Read {
    /// Large sets have as much room as they need: what a `SmallVec` clones has a power of two.
    fn clone(&self) -> Self {
        Self { parts: SmallVec::from_slice(&self.parts), ..*self }
    }
}

impl Read {
    /// Nothing read.
    pub(crate) fn nothing(permutation: &Permutation) -> Self {
        let (required, once) = (permutation.required as usize, permutation.once as usize);
        let optional = permutation.parts[required..once].iter().filter(|part| part.is_some()).count();
        Self {
            parts: smallvec![0; once.div_ceil(64)],
            count: 0,
            owed: permutation.required,
            // Parts are numbered in 32 bits.
            optional: optional as u32,
        }
    }

    /// As numbers that are not the engine's.
    pub(crate) fn to_progress(&self) -> Progress {
        Progress::Parts { once: self.parts.as_slice().into(), count: self.count }
    }

    /// What was read, if that can be.
    pub(crate) fn from_parts(permutation: &Permutation, once: &[u64], count: u32) -> Option<Self> {
        let mut read = Self::nothing(permutation);
        if once.len() != read.parts.len() {
            return None;
        }
        read.parts = SmallVec::from_slice(once);
        read.count = count;
        for part in 0..permutation.once {
            if read.contains(part) {
                match part < permutation.required {
                    true => read.owed = read.owed.checked_sub(1)?,
                    false => read.optional = read.optional.checked_sub(1)?,
                }
            }
        }
        Some(read)
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + if self.parts.spilled() { size_of_val(&*self.parts) } else { 0 }
    }

    pub(crate) fn contains(&self, part: u32) -> bool {
        self.parts.get(part as usize / 64).is_some_and(|word| word >> (part % 64) & 1 == 1)
    }

    /// The same and a part, if it may be read now.
    pub(crate) fn with(&self, permutation: &Permutation, part: u32) -> Option<Self> {
        if permutation.max.is_some_and(|max| self.count >= max) {
            return None;
        }
        let mut after = Self { parts: SmallVec::new(), ..*self };
        if part < permutation.once {
            if self.contains(part) {
                return None;
            }
            if part < permutation.required {
                after.owed -= 1;
            } else {
                after.optional -= 1;
            }
        }
        after.count = (self.count + 1).min(permutation.max.unwrap_or(0).max(permutation.min));
        if !after.can_finish(permutation) {
            return None;
        }
        after.parts = SmallVec::from_slice(&self.parts);
        if let Some(word) = after.parts.get_mut(part as usize / 64).filter(|_| part < permutation.once) {
            *word |= 1 << (part % 64);
        }
        Some(after)
    }

    /// Whether nothing is owed.
    pub(crate) fn may_end(&self, permutation: &Permutation) -> bool {
        self.owed == 0 && self.count >= permutation.min
    }

    /// Whether another part may be read.
    pub(crate) fn may_go_on(&self, permutation: &Permutation) -> bool {
        // As long as there is room there is room for one of those that are owed.
        permutation.max.is_none_or(|max| self.count < max)
            && (self.owed > 0 || self.optional > 0 || is_endless(permutation))
    }

    /// Whether parts, or none, can be read so that nothing is owed.
    fn can_finish(&self, permutation: &Permutation) -> bool {
        let least = self.owed.max(permutation.min.saturating_sub(self.count));
        let fits = permutation.max.is_none_or(|max| self.count.saturating_add(least) <= max);
        fits && (least <= self.owed + self.optional || is_endless(permutation))
    }

    /// The least number of parts to read from here on.
    pub(crate) fn least(&self, permutation: &Permutation) -> u32 {
        self.owed.max(permutation.min.saturating_sub(self.count))
    }
}

/// Whether some part may be read any number of times.
fn is_endless(permutation: &Permutation) -> bool {
    permutation.parts[permutation.once as usize..].iter().any(Option::is_some)
}
