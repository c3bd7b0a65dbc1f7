//! Tokens that a grammar names, taken as a whole.

use crate::error::StepError;
use crate::fuel::Fuel;
use crate::not_offered::NotOffered;

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

/// Steps by tokens that are read as a whole: an optional part of a [`Backend`](crate::Backend).
///
/// Serves: grammars that name special tokens, or text tokens by their ids.
///
/// Without it: the backend declines such a grammar when it is built. Masks of all others are the same.
pub trait TokenEdges<S> {
    /// The labels of the tokens that the state can read as a whole, in a fixed order, each once. None unless the
    /// grammar names tokens.
    fn token_labels(&self, state: S) -> &[u32];

    /// The tokens of a label.
    fn token_set(&self, label: u32) -> TokenSet<'_>;

    /// Reads a token as a whole, by all of the state's labels whose sets contain it. `None`: no label's set
    /// does.
    fn step_token(&self, state: S, id: u32, fuel: &mut Fuel) -> Result<Option<S>, StepError>;

    /// The union of two states: it reads the texts that either reads. It is needed for a token that was read
    /// both as a whole and as its bytes.
    fn join(&self, one: S, other: S, fuel: &mut Fuel) -> Result<S, StepError>;
}

impl<S> TokenEdges<S> for NotOffered {
    #[inline]
    fn token_labels(&self, _: S) -> &[u32] {
        &[]
    }

    fn token_set(&self, _: u32) -> TokenSet<'_> {
        TokenSet::Inside(&[])
    }

    fn step_token(&self, _: S, _: u32, _: &mut Fuel) -> Result<Option<S>, StepError> {
        Ok(None)
    }

    /// Never asked: no state reads a token as a whole.
    fn join(&self, _: S, _: S, _: &mut Fuel) -> Result<S, StepError> {
        Err(StepError::OutOfWork { limit: 0 })
    }
}
