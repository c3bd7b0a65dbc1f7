//! Why a vocabulary could not be loaded.

use std::fmt;

use grammask_grammar_ir::shorten;

use crate::ids::TokenId;

/// A vocabulary was refused. `Display` says where the reason is (a JSON pointer, or a line and column) and
/// what to change.
#[derive(Clone, PartialEq, Eq)]
pub struct VocabularyError {
    place: Option<String>,
    message: String,
}

impl VocabularyError {
    fn new(message: impl Into<String>) -> Self {
        Self { place: None, message: shorten(&message.into()).into_owned() }
    }

    /// The place in the tokenizer's file: a JSON pointer such as `/model/vocab`, or `line 3 column 7`. `None`
    /// where the reason lies in the options or in the tokens as a whole.
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    pub(crate) fn at(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(message).within(place)
    }

    /// The same error with its place in the file.
    pub(crate) fn within(self, place: impl Into<String>) -> Self {
        Self { place: Some(shorten(&place.into()).into_owned()), ..self }
    }

    pub(crate) fn syntax(error: &serde_json::Error) -> Self {
        let full = error.to_string();
        let place = format!("line {} column {}", error.line(), error.column());
        // The parser appends the place, which is at the front here.
        let reason = full.strip_suffix(&format!(" at {place}")).unwrap_or(&full);
        Self::at(place, format!("{reason}; give the whole `tokenizer.json` of a Hugging Face tokenizer"))
    }

    pub(crate) fn not_utf8(line: usize, column: usize) -> Self {
        Self::at(
            format!("line {line} column {column}"),
            "the file is not UTF-8; give the `tokenizer.json` itself, not an archive or a binary model",
        )
    }

    pub(crate) fn too_many_tokens(count: usize, limit: usize) -> Self {
        Self::new(format!(
            "the vocabulary has {count} ids, limit {limit}; raise `max_tokens` (at most {}) or drop ids that no \
             model emits",
            TokenId::MAX_COUNT
        ))
    }

    pub(crate) fn too_many_bytes(limit: usize) -> Self {
        Self::new(format!(
            "the tokens have more than {limit} bytes together; raise `max_bytes` if that is meant"
        ))
    }

    pub(crate) fn trie_too_large(limit: usize) -> Self {
        Self::new(format!(
            "the prefix trie of the tokens has more than {limit} nodes; drop tokens, the longest first"
        ))
    }

    pub(crate) fn unsorted_tokens(id: TokenId) -> Self {
        Self::new(format!(
            "token {id} is out of order; sort the tokens by their bytes, then by id, and give each id once"
        ))
    }

    pub(crate) fn size_too_small(size: usize, needed: usize) -> Self {
        Self::new(format!(
            "`size` is {size} but the tokenizer has ids up to {}; give the number of rows of the model's output \
             layer, which is at least {needed}",
            needed - 1
        ))
    }

    pub(crate) fn id_out_of_range(what: &str, id: u32, len: usize) -> Self {
        Self::new(format!(
            "{what} id {id} is not an id of the vocabulary, which has {len}; give an id below that, or a larger \
             `size`"
        ))
    }

    pub(crate) fn no_stop_token() -> Self {
        Self::new(
            "no special token of the vocabulary is known to end a text; give the ids that do as `stop_ids` (the \
             model's `generation_config.json` has them as `eos_token_id`), or an empty list if there are none",
        )
    }

    pub(crate) fn given_twice(place: String, id: u32, one: &str, other: &str) -> Self {
        Self::at(place, format!("id {id} is given to both {one:?} and {other:?}; give each id one token"))
    }

    #[cfg(feature = "embedded-vocab")]
    pub(crate) fn embedded(reason: impl fmt::Display) -> Self {
        Self::new(format!(
            "the embedded vocabulary cannot be read: {reason}; load a `tokenizer.json` instead"
        ))
    }
}

impl fmt::Display for VocabularyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(formatter, "tokenizer.json, {place}: {}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

impl fmt::Debug for VocabularyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "VocabularyError({self})")
    }
}

impl std::error::Error for VocabularyError {}
