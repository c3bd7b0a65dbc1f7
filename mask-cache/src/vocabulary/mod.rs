//! The tokens of a model.
//!
//! A [`Vocabulary`] is loaded once per process and shared by every grammar. It knows the bytes of each text
//! token, which ids are special and which of them end the text; and it owns what depends on nothing else: the
//! prefix [`Trie`] over the text tokens and the [slices](crate::Slice).

mod build;
mod coding;
#[cfg(feature = "embedded-vocab")]
mod embedded;
mod error;
mod options;
mod stop_tokens;
mod texts;
mod token_id;
mod tokenizer_json;

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

pub use self::coding::TokenCoding;
pub use self::error::VocabularyError;
pub use self::options::VocabularyOptions;
pub use self::stop_tokens::STOP_TOKEN_NAMES;
pub use self::texts::TokenTexts;
pub use self::token_id::{TokenId, TokenKind};

use self::build::Draft;
use crate::lists::List;
use crate::openings::Openings;
use crate::separated::{Separated, ValuePosition};
use crate::slices::{Slice, SliceCells};
use crate::{TokenMask, Trie};

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
    texts: TokenTexts,
    /// Special ids, stop ids included.
    special: TokenMask,
    /// Ascending.
    stop: Vec<TokenId>,
    /// Names of the special tokens that have one, by id.
    names: Vec<(TokenId, Box<[u8]>)>,
    /// Text tokens by their bytes, then by id.
    sorted: Vec<TokenId>,
    trie: Trie,
    missing_bytes: Vec<u8>,
    max_token_len: usize,
    fingerprint: u128,
    slices: SliceCells,
    lists: OnceLock<[List; 2]>,
    openings: OnceLock<Openings>,
    separated: OnceLock<Separated>,
}

impl Vocabulary {
    /// The vocabulary of tokens given in the order of their ids. `None` and empty strings are ids that are never
    /// allowed. Of special and stop ids, the bytes given are the name.
    ///
    /// # Errors
    ///
    /// If an option names an id that is not there, `size` is less than the number of tokens, or a limit is
    /// passed.
    pub fn from_tokens<B: AsRef<[u8]>>(
        tokens: impl IntoIterator<Item = Option<B>>,
        options: &VocabularyOptions,
    ) -> Result<Self, VocabularyError> {
        let mut draft = Draft::new(options);
        for token in tokens {
            draft.push(token.as_ref().map_or(&[], |bytes| bytes.as_ref()))?;
        }
        draft.finish()
    }

    /// The vocabulary of a Hugging Face `tokenizer.json`.
    ///
    /// Read are the models `BPE` and `Unigram`, the decoder (or, where there is none, the pre-tokenizer) for how
    /// bytes are spelled, and the added tokens. Added tokens that the file marks `special` are special; the others
    /// are text, spelled as they stand in byte-level files and as the decoder prints them elsewhere. An added
    /// token wins over a model's token with the same id. Where the file says nothing on how bytes are spelled, the
    /// tokens decide: at least 128 tokens such as `<0x0A>`, or the letters of the byte-level alphabet.
    ///
    /// A tokenizer may drop the space at the very start of a text (`add_prefix_space`, `prepend_scheme`, a `Strip`
    /// behind a `Fuse`); a token's bytes keep it, as they are in the middle of a text.
    ///
    /// # Errors
    ///
    /// If the file is not such a tokenizer; if the text of a token depends on its neighbours (`WordPiece`,
    /// `WordLevel`, end-of-word suffixes), since then it has no bytes of its own; and as for
    /// [`from_tokens`](Self::from_tokens). The error says where in the file.
    pub fn from_tokenizer_json(json: &[u8], options: &VocabularyOptions) -> Result<Self, VocabularyError> {
        tokenizer_json::load(json, options)
    }

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

    /// What an id is. Ids of another vocabulary are [`TokenKind::Empty`].
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

    /// A token for people to read: the name of a special token, the bytes of a text token with what is not UTF-8
    /// replaced, and nothing for ids that have neither.
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

    /// The slices, in the order in which to try them: those that leave less to walk come first. Their tables are built when first asked for.
    pub fn slices(&self) -> impl ExactSizeIterator<Item = Slice<'_>> {
        Slice::all(self, &self.slices)
    }

    /// The slice at a [place](Slice::place).
    pub fn slice(&self, place: usize) -> Option<Slice<'_>> {
        self.slices().nth(place)
    }

    pub(crate) fn lists(&self) -> &[List] {
        self.lists.get_or_init(|| List::all(self))
    }

    /// The list of whitespace, the first one.
    pub(crate) fn whitespace(&self) -> &List {
        &self.lists.get_or_init(|| List::all(self))[0]
    }

    pub(crate) fn openings(&self) -> &Openings {
        self.openings.get_or_init(|| Openings::new(self))
    }

    /// The tokens that may hold a whole item of an array, or name of an object, beside another one: all that could,
    /// and perhaps more. Found once, in a millisecond.
    pub fn tokens_across_values(&self, inside: ValuePosition) -> &[TokenId] {
        self.separated.get_or_init(|| Separated::new(self)).of(inside)
    }

    /// Builds all slices now; the first masks would otherwise wait for them. Some 50 ms for 128,000 tokens, once.
    pub fn prepare(&self) {
        for slice in self.slices() {
            slice.prepare();
        }
        self.openings();
        self.tokens_across_values(ValuePosition::Array);
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

    /// A hash of all that matters for masks: bytes and order of tokens, kinds and names. Equal for equal content
    /// on every platform and in every process; changes only with the major version of this crate. Not cryptographic:
    /// whoever may choose a vocabulary can make two with the same hash.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// Bytes of memory held, slices built so far included.
    pub fn memory_usage(&self) -> usize {
        let names: usize =
            self.names.iter().map(|(_, name)| size_of::<(TokenId, Box<[u8]>)>() + name.len()).sum();
        size_of::<Self>()
            + self.texts.memory_usage()
            + self.special.memory_usage()
            + (self.stop.capacity() + self.sorted.capacity()) * size_of::<TokenId>()
            + names
            + self.trie.memory_usage()
            + self.slices.memory_usage()
            + self.lists.get().map_or(0, |lists| lists.iter().map(List::memory_usage).sum())
            + self.openings.get().map_or(0, Openings::memory_usage)
            + self.separated.get().map_or(0, Separated::memory_usage)
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
