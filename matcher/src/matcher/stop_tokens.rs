//! The tokens that end a text.

use std::sync::Arc;

use grammask_mask_cache::{TokenId, Vocabulary};

/// The tokens that end the text of one matcher, where the text is whole.
///
/// Servers let a request bring its own; the vocabulary stays as it is, shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopTokens {
    /// Those of the vocabulary.
    #[default]
    Vocabulary,
    /// These in their place. As long as the text is not whole they are refused, even if their bytes would fit;
    /// those of the vocabulary are refused throughout.
    Own(Arc<[TokenId]>),
    /// None: the caller stops when the text is complete.
    None,
    /// None, and these are refused, too, even if their bytes would fit.
    Never(Arc<[TokenId]>),
}

impl StopTokens {
    /// Without ids that the vocabulary does not have.
    pub(crate) fn known_to(self, vocabulary: &Vocabulary) -> Self {
        let is_known = |id: &TokenId| vocabulary.id(id.get()).is_some();
        let known = |ids: Arc<[TokenId]>| match ids.iter().all(is_known) {
            true => ids,
            false => ids.iter().copied().filter(is_known).collect(),
        };
        match self {
            Self::Own(ids) => Self::Own(known(ids)),
            Self::Never(ids) => Self::Never(known(ids)),
            stop => stop,
        }
    }

    /// Whether no token ends the text.
    pub(crate) fn never_end(&self) -> bool {
        matches!(self, StopTokens::None | StopTokens::Never(_))
    }

    /// Whether the token is no text unless the grammar names it.
    pub(crate) fn contains(&self, id: TokenId, vocabulary: &Vocabulary) -> bool {
        match self {
            StopTokens::Vocabulary => vocabulary.is_stop(id),
            StopTokens::Own(ids) | StopTokens::Never(ids) => ids.contains(&id),
            StopTokens::None => false,
        }
    }

    /// The ids that the vocabulary does not know to be stop tokens.
    #[inline]
    pub(crate) fn own(&self) -> &[TokenId] {
        match self {
            StopTokens::Own(ids) | StopTokens::Never(ids) => ids,
            StopTokens::Vocabulary | StopTokens::None => &[],
        }
    }
}
