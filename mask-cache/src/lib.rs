//! Vocabularies, token masks, and how masks are computed and kept.
//!
//! A language model emits tokens, a parser reads bytes. This crate connects them. A [`Vocabulary`] knows the
//! bytes of every token, and a mask says for each token whether a parser state, reached through any
//! [`Backend`](grammask_parser_backend::Backend), can read all of them.
//!
//! Use it directly to put masks under a parser of your own. To follow a grammar from its text to masks, use the
//! crate `grammask`. It has nothing to do with encoding: which tokens a text becomes is the tokenizer's matter.
//!
//! # Example
//!
//! ```
//! use grammask_mask_cache::{TokenMask, Vocabulary, VocabularyOptions};
//!
//! let file = r#"{
//!     "added_tokens": [{"id": 3, "content": "<|im_end|>", "special": true}],
//!     "decoder": {"type": "ByteLevel"},
//!     "model": {"type": "BPE", "vocab": {"{": 0, "\u0120\"": 1, "\u010a": 2}, "merges": []}
//! }"#;
//! let vocabulary = Vocabulary::from_tokenizer_json(file.as_bytes(), &VocabularyOptions::default().size(32))?;
//! let quote = vocabulary.text_token(b" \"").ok_or("the file has it")?;
//!
//! let mut mask = TokenMask::new(vocabulary.len());
//! mask.set(quote);
//! assert_eq!(mask.as_words(), [0b10]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Vocabulary
//!
//! Ids are `0..len`, and each is one of four [kinds](TokenKind): text, special, stop, or empty. Only text tokens
//! have bytes. Special tokens have a name, which never matches text; empty ids (holes, padding, empty strings) are
//! never allowed. A vocabulary is immutable, made once per process (30 to 50 ms for a `tokenizer.json` of 128,000
//! tokens) and shared in an `Arc`. It owns the prefix [`Trie`] of its text tokens.
//!
//! [`TokenSets`] are computed from a vocabulary and shared by all its grammars. They hold its [slices](Slice): for some
//! classes of characters the tokens made of that class, and the trie of all others.
//!
//! # Masks
//!
//! A [`MaskMemo`] computes the mask of a state once and keeps it. The ways, the cheapest first: the mask is
//! known; it is made of the masks of several states. Then: it differs from a known one in a few tokens; its local
//! part is known to some grammar ([`LocalPool`]). Then: a slice applies and the other tokens are walked; all tokens
//! but those of whitespace and digits are walked.
//!
//! A [`TokenMask`] has one bit for each id, in words of 32 bits, least significant bit first, tail bits 0. The
//! functions in [`bits`] do the same on memory of the caller's.
//!
//! # Errors
//!
//! An impossible vocabulary is refused with a [`VocabularyError`], which says where in the file the reason is
//! and what to change. Computing a mask fails only with a [`StepError`](grammask_parser_backend::StepError),
//! which means *indeterminate*.
//!
//! # Limits
//!
//! Ids have 24 bits: at most 2^24 - 2 tokens, 2^22 unless [`VocabularyOptions::max_tokens`] says otherwise. All
//! tokens together have at most [`VocabularyOptions::max_bytes`] bytes, and their trie at most 2^24 - 1 nodes.
//! Tokens of more than 255 bytes are right but slow: they are tried one by one.
//!
//! # Features
//!
//! * `embedded-vocab`: the vocabulary o200k_harmony inside the program (`Vocabulary::o200k_harmony`).
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// The modules in the order in which data flows: each imports only those above it.
mod ids;

mod mask;

mod vocabulary;

mod walk;

mod token_sets;

mod compute;

mod cache;

pub use cache::counters::{Clock, MaskCounters, MaskCounts, WayCount};
pub use cache::local_pool::LocalPool;
pub use cache::memo::MaskMemo;
pub use cache::options::MaskOptions;
pub use cache::saved_pool::{SavedPool, SavedPoolError};
pub use compute::cost::mask_cost;
pub use compute::whole_tokens::{names_token, read_token};
pub use grammask_grammar_ir as ir;
pub use grammask_grammar_ir::Toggle;
pub use grammask_parser_backend as parser_backend;
pub use ids::{TokenId, TokenKind};
pub use mask::bits::{self, words_for};
pub use mask::stored_mask::StoredMask;
pub use mask::token_mask::TokenMask;
pub use token_sets::json_tokens::multi_value::ValuePosition;
pub use token_sets::sets::TokenSets;
pub use token_sets::slices::Slice;
pub use vocabulary::{
    STOP_TOKEN_NAMES, TokenCoding, TokenDecoder, TokenTexts, Trie, TrieNode, Vocabulary, VocabularyBuilder,
    VocabularyError, VocabularyOptions,
};
pub use walk::scratch::Scratch;
