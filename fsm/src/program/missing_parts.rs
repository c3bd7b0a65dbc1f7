//! The parts that are missing where parts come in any order.

/// The parts of a [`Permutation`](crate::Permutation) that are still missing. Analyses learn of one part after the other,
/// and ask when there are enough of them.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct MissingParts {
    /// Parts before this index are required, as in [`Permutation`](crate::Permutation).
    optional_from: u32,
    /// Parts from this index on occur any number of times.
    repeatable_from: u32,
    /// Required parts.
    required: u32,
    /// Parts of any kind.
    parts: u32,
    separator: bool,
}

impl MissingParts {
    /// All of them: `required` parts, `once` that occur at most once, and at least `min` parts that are read.
    pub(crate) fn of(required: u32, once: u32, min: u32) -> Self {
        let parts = min.max(required);
        Self { optional_from: required, repeatable_from: once, required, parts, separator: parts > 1 }
    }

    /// Takes the part at an index that no other call named, or the separator. Returns whether nothing is missing now.
    pub(crate) fn take(&mut self, part: Option<u32>) -> bool {
        match part {
            Some(part) if part >= self.repeatable_from => self.parts = 0,
            Some(part) => {
                self.parts = self.parts.saturating_sub(1);
                self.required = self.required.saturating_sub(u32::from(part < self.optional_from));
            }
            None => self.separator = false,
        }
        self.required == 0 && self.parts == 0 && !self.separator
    }
}
