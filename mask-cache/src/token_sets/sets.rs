//! All sets of tokens that depend on a vocabulary alone.

use std::fmt;
use std::sync::Arc;

use once_cell::race::OnceBox;

use super::json_tokens::lists::JsonTokens;
use super::json_tokens::multi_value::{MultiValueTokens, ValuePosition};
use super::slices::{Slice, SliceCells};
use crate::ids::TokenId;
use crate::vocabulary::tokens::Vocabulary;

/// Sets of tokens that are computed from a [`Vocabulary`] once, when first asked for, and that all its grammars share.
///
/// All of them together take some 40 ms for 128,000 tokens. They are kept as long as somebody holds them: a compiler
/// holds those of its vocabulary.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
///
/// use grammask_mask_cache::{TokenSets, Vocabulary, VocabularyOptions};
///
/// let tokens = [Some("a"), Some("\""), Some("a\"")];
/// let vocabulary = Arc::new(Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([]))?);
/// let sets = TokenSets::shared(&vocabulary);
/// let letters = sets.slices().find(|slice| !slice.class().contains_ascii(b'"')).ok_or("there is one")?;
/// assert_eq!(letters.tokens(), [0b1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TokenSets {
    vocabulary: Arc<Vocabulary>,
    slices: SliceCells,
    json_tokens: OnceBox<JsonTokens>,
    multi_value: OnceBox<MultiValueTokens>,
}

impl TokenSets {
    /// The sets of a vocabulary: those that somebody holds already, or new ones.
    pub fn shared(vocabulary: &Arc<Vocabulary>) -> Arc<Self> {
        vocabulary.derived().get_or_make(|| Self {
            vocabulary: Arc::clone(vocabulary),
            slices: SliceCells::default(),
            json_tokens: OnceBox::new(),
            multi_value: OnceBox::new(),
        })
    }

    /// The vocabulary that the tokens belong to.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The slices, in the order in which to try them: those that leave less to walk come first. Their tables are built
    /// when first asked for.
    pub fn slices(&self) -> impl ExactSizeIterator<Item = Slice<'_>> {
        Slice::all(&self.vocabulary, &self.slices)
    }

    /// The slice at a [place](Slice::place).
    pub fn slice(&self, place: usize) -> Option<Slice<'_>> {
        self.slices().nth(place)
    }

    /// The lists of tokens that JSON has outside of strings.
    pub(crate) fn json_tokens(&self) -> &JsonTokens {
        self.json_tokens.get_or_init(|| Box::new(JsonTokens::new(&self.vocabulary)))
    }

    /// The tokens that may hold a whole item of an array, or name of an object, beside another one: all that could,
    /// and perhaps more. Found once, in a millisecond.
    pub fn tokens_across_values(&self, position: ValuePosition) -> &[TokenId] {
        self.multi_value.get_or_init(|| Box::new(MultiValueTokens::new(&self.vocabulary))).at(position)
    }

    /// Computes the sets of nearly every grammar now; the first masks would otherwise wait for them. Some 30 ms for 128,000
    /// tokens, once. Slices of ASCII characters alone wait until a pattern needs one, which takes 2 to 4 ms.
    pub fn prepare(&self) {
        self.slices().filter(|slice| slice.class().non_ascii).for_each(Slice::prepare);
        self.json_tokens();
        self.tokens_across_values(ValuePosition::Array);
    }

    /// Bytes of memory held by the sets computed so far, without the vocabulary.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>()
            + self.slices.memory_usage()
            + self.json_tokens.get().map_or(0, JsonTokens::memory_usage)
            + self.multi_value.get().map_or(0, MultiValueTokens::memory_usage)
    }
}

impl fmt::Debug for TokenSets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TokenSets").field("vocabulary", &self.vocabulary).finish_non_exhaustive()
    }
}
