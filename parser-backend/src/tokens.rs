//! Tokens that a grammar names, taken as a whole.

/// A set of token ids, as a grammar gives it. A backend does not look into it but to compare ids; which ids there
/// are is the vocabulary's matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TokenSet<'e> {
    /// These ids. Sorted, each once.
    Inside(&'e [u32]),
    /// All others. Text tokens and special tokens are meant; no stop token, no hole, no padding.
    Outside(&'e [u32]),
}

impl TokenSet<'_> {
    /// Whether an id is in the set.
    pub fn contains(&self, id: u32) -> bool {
        match self {
            Self::Inside(ids) => ids.binary_search(&id).is_ok(),
            Self::Outside(ids) => ids.binary_search(&id).is_err(),
        }
    }

    /// Whether the set lists an id that it holds.
    pub fn names(&self, id: u32) -> bool {
        matches!(self, Self::Inside(_)) && self.contains(id)
    }
}
