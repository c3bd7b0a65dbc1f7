//! The tokens of a model.
//!
//! A [`Vocabulary`] is loaded once per process and shared by every grammar. It knows the bytes of each text
//! token, which ids are special and which of them end the text, and it owns the prefix [`Trie`] over the text tokens.

use std::borrow::Cow;
use std::fmt;

use super::derived::DerivedTables;
use super::token_texts::TokenTexts;
use super::trie::Trie;
use crate::ids::{TokenId, TokenKind};
use crate::mask::token_mask::TokenMask;

/// The tokens of a model: bytes for ids. Immutable; share it in an `Arc`.
///
/// Ids are `0..len`. Some have no bytes and are never allowed: holes in the numbering, empty tokens, and padding
/// up to the width of the model's output. Special tokens have a name but no bytes, so no text matches them.
///
/// # Example
///
/// ```
/// use grammask_mask_cache::{TokenKind, Vocabulary, VocabularyOptions};
///
/// let tokens = [Some("a"), Some("ab"), None, Some("</s>")];
/// let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().special_ids([3]))?;
/// let stop = vocabulary.special_token(b"</s>").ok_or("the token is there")?;
/// assert_eq!(vocabulary.kind(stop), TokenKind::Stop);
/// assert_eq!(vocabulary.token_bytes(stop), b"");
/// assert_eq!(vocabulary.text_token(b"ab").map(|id| id.get()), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Vocabulary {
    /// Bytes of the text tokens.
    pub(super) texts: TokenTexts,
    /// Special ids, stop ids included.
    pub(super) special: TokenMask,
    /// Ascending.
    pub(super) stop: Vec<TokenId>,
    /// Names of the special tokens that have one, by id.
    pub(super) names: Vec<(TokenId, Box<[u8]>)>,
    /// Text tokens by their bytes, then by id.
    pub(super) sorted: Vec<TokenId>,
    pub(super) trie: Trie,
    pub(super) missing_bytes: Vec<u8>,
    pub(super) max_token_len: usize,
    pub(super) fingerprint: u128,
    pub(super) derived: DerivedTables,
}

impl Vocabulary {
    /// Number of ids, padding included.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no ids at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id with this number, if the vocabulary has it.
    pub fn id(&self, number: u32) -> Option<TokenId> {
        TokenId::new(number).filter(|id| id.index() < self.len())
    }

    /// The bytes of a text token; empty for every other id.
    #[inline]
    pub fn token_bytes(&self, id: TokenId) -> &[u8] {
        self.texts.get(id)
    }

    /// The bytes of all text tokens. Cheap to clone.
    pub fn token_texts(&self) -> &TokenTexts {
        &self.texts
    }

    /// The kind of an id. Ids of another vocabulary are [`TokenKind::Empty`].
    pub fn kind(&self, id: TokenId) -> TokenKind {
        if !self.token_bytes(id).is_empty() {
            TokenKind::Text
        } else if !self.special.contains(id) {
            TokenKind::Empty
        } else if self.is_stop(id) {
            TokenKind::Stop
        } else {
            TokenKind::Special
        }
    }

    /// The special ids, stop ids included.
    pub fn special_tokens(&self) -> &TokenMask {
        &self.special
    }

    /// The stop ids, ascending.
    pub fn stop_tokens(&self) -> &[TokenId] {
        &self.stop
    }

    /// Whether an id ends the text.
    pub fn is_stop(&self, id: TokenId) -> bool {
        self.stop.binary_search(&id).is_ok()
    }

    /// A token for people to read: the name of a special token, or the bytes of a text token with invalid
    /// UTF-8 replaced. It is empty for ids that have neither.
    pub fn token_name(&self, id: TokenId) -> Cow<'_, str> {
        let name = self.special_name(id).unwrap_or_else(|| self.token_bytes(id));
        String::from_utf8_lossy(name)
    }

    /// The name of a special token, if it is one and has a name.
    pub fn special_name(&self, id: TokenId) -> Option<&[u8]> {
        let place = self.names.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.names[place].1)
    }

    /// The special token with a name; the least id where several have it.
    pub fn special_token(&self, name: &[u8]) -> Option<TokenId> {
        self.names.iter().find(|(_, other)| **other == *name).map(|(id, _)| *id)
    }

    /// The special tokens that have a name, ascending.
    pub fn special_names(&self) -> impl Iterator<Item = (TokenId, &[u8])> {
        self.names.iter().map(|(id, name)| (*id, &**name))
    }

    /// The text token with exactly these bytes; the least id where several have them.
    pub fn text_token(&self, bytes: &[u8]) -> Option<TokenId> {
        let first = self.sorted.partition_point(|&id| self.token_bytes(id) < bytes);
        self.sorted.get(first).copied().filter(|&id| self.token_bytes(id) == bytes)
    }

    /// The text tokens, ordered by their bytes, then by id.
    pub fn sorted_text_tokens(&self) -> &[TokenId] {
        &self.sorted
    }

    /// The prefix trie of the text tokens.
    pub fn trie(&self) -> &Trie {
        &self.trie
    }

    /// The place of tables that are computed from the tokens and shared.
    pub(crate) fn derived(&self) -> &DerivedTables {
        &self.derived
    }

    /// The bytes that are not a token by themselves, ascending. Text with such a byte may have no spelling at all.
    /// Bytes that UTF-8 never uses (0xC0, 0xC1, 0xF5 to 0xFF) are often missing and never missed.
    pub fn missing_bytes(&self) -> &[u8] {
        &self.missing_bytes
    }

    /// Length in bytes of the longest text token; 0 if there is none.
    pub fn max_token_len(&self) -> usize {
        self.max_token_len
    }

    /// A hash of everything that matters for masks: bytes and order of tokens, kinds and names. Equal for
    /// equal content on every platform and in every process; changes only with the major version of this
    /// crate. Not cryptographic: a person who chooses the vocabulary can build two with the same hash.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// Bytes of memory held.
    pub fn memory_usage(&self) -> usize {
        let names: usize =
            self.names.iter().map(|(_, name)| size_of::<(TokenId, Box<[u8]>)>() + name.len()).sum();
        size_of::<Self>()
            + self.texts.memory_usage()
            + self.special.memory_usage()
            + (self.stop.capacity() + self.sorted.capacity()) * size_of::<TokenId>()
            + names
            + self.trie.memory_usage()
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Vocabulary")
            .field("len", &self.len())
            .field("text_tokens", &self.sorted.len())
            .field("special_tokens", &self.special.count())
            .field("stop_tokens", &self.stop)
            .field("fingerprint", &format_args!("{:032x}", self.fingerprint))
            .finish_non_exhaustive()
    }
}
