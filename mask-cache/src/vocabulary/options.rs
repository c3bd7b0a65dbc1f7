//! Options for loading a vocabulary: facts that the tokens do not tell.

use crate::ids::TokenId;
use crate::vocabulary::coding::TokenCoding;

/// Options of the constructors of [`Vocabulary`](crate::Vocabulary).
///
/// ```
/// use grammask_mask_cache::{Vocabulary, VocabularyOptions};
///
/// let options = VocabularyOptions::default().special_ids([2]).stop_ids([2]).size(8);
/// let vocabulary = Vocabulary::from_tokens([Some("a"), None, Some("</s>")], &options)?;
/// assert_eq!(vocabulary.len(), 8);
/// # Ok::<(), grammask_mask_cache::VocabularyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct VocabularyOptions {
    pub(crate) special_ids: Vec<u32>,
    pub(crate) special_tokens: Vec<(u32, String)>,
    pub(crate) stop_ids: Option<Vec<u32>>,
    pub(crate) size: Option<usize>,
    pub(crate) coding: Option<TokenCoding>,
    pub(crate) max_tokens: usize,
    pub(crate) max_bytes: usize,
}

impl VocabularyOptions {
    /// Ids that are special, in addition to those that the tokenizer itself marks. Default: none.
    pub fn special_ids(mut self, ids: impl IntoIterator<Item = u32>) -> Self {
        self.special_ids = ids.into_iter().collect();
        self
    }

    /// Special tokens with ids and names, in addition to those of the tokenizer itself; where both name an
    /// id, these win. They are the tokens of files beside the tokenizer's (`added_tokens.json`), and all
    /// special tokens of formats that know none. Default: none.
    pub fn special_tokens(mut self, tokens: impl IntoIterator<Item = (u32, impl Into<String>)>) -> Self {
        self.special_tokens = tokens.into_iter().map(|(id, name)| (id, name.into())).collect();
        self
    }

    /// Ids that end the text; they become special. The model's `generation_config.json` has them as
    /// `eos_token_id`. An empty list says that there are none: the caller of a matcher ends a text that is complete.
    ///
    /// Default: the ids that the tokenizer's file names, and the special tokens whose names are in
    /// [`STOP_TOKEN_NAMES`](crate::STOP_TOKEN_NAMES). A vocabulary that has none of them is refused, because
    /// the mask after a complete text would allow no token.
    pub fn stop_ids(mut self, ids: impl IntoIterator<Item = u32>) -> Self {
        self.stop_ids = Some(ids.into_iter().collect());
        self
    }

    /// Number of ids, padding included: the width of the model's output. Default: one more than the greatest
    /// id of the tokenizer.
    pub fn size(mut self, size: usize) -> Self {
        self.size = Some(size);
        self
    }

    /// How a `tokenizer.json` spells bytes. Default: found out from the tokenizer's decoder.
    pub fn coding(mut self, coding: TokenCoding) -> Self {
        self.coding = Some(coding);
        self
    }

    /// Most ids, padding included. Default: 2^22; values above [`TokenId::MAX_COUNT`] mean that.
    pub fn max_tokens(mut self, limit: usize) -> Self {
        self.max_tokens = limit.min(TokenId::MAX_COUNT);
        self
    }

    /// Most bytes of all tokens together. Default: 64 MiB; values above 1 GiB mean that.
    pub fn max_bytes(mut self, limit: usize) -> Self {
        self.max_bytes = limit.min(1 << 30);
        self
    }
}

impl Default for VocabularyOptions {
    fn default() -> Self {
        Self {
            special_ids: Vec::new(),
            special_tokens: Vec::new(),
            stop_ids: None,
            size: None,
            coding: None,
            max_tokens: 1 << 22,
            max_bytes: 64 << 20,
        }
    }
}
