//! The tokens of a model: their bytes, ids, kinds and names, the trie of the text tokens, and the loaders.
//!
//! A `tokenizer.json` or a list of tokens comes in; an immutable [`Vocabulary`] goes out. The loaders and the
//! layout of the trie may be changed here, as long as the fingerprint of equal content stays equal. This
//! folder may import the ids and the masks. It knows nothing of the sets that are computed from a vocabulary.
//! It only keeps a weak reference to them ([`derived`]), by which all users of one vocabulary find the same
//! ones.

mod build;
mod coding;
pub(crate) mod derived;
#[cfg(feature = "embedded-vocab")]
mod embedded;
pub(crate) mod error;
pub(crate) mod options;
mod stop_tokens;
mod token_names;
mod token_texts;
mod tokenizer_json;
pub(crate) mod tokens;
pub(crate) mod trie;

pub use self::build::VocabularyBuilder;
pub use self::coding::TokenCoding;
pub use self::error::VocabularyError;
pub use self::options::VocabularyOptions;
pub use self::stop_tokens::STOP_TOKEN_NAMES;
pub use self::token_texts::TokenTexts;
pub use self::tokenizer_json::TokenDecoder;
pub use self::tokens::Vocabulary;
pub use self::trie::{Trie, TrieNode};
