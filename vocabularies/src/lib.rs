//! Vocabularies from the files of tokenizers, whatever wrote them.
//!
//! A [`Vocabulary`](grammask_mask_cache::Vocabulary) knows the bytes of every token of a model, which ids are special
//! and which end a text. Hugging Face's `tokenizer.json` says all that, and `grammask-mask-cache` reads it. This crate
//! reads the other files that models come with. It does not encode: which tokens a text becomes is the tokenizer's
//! matter.
//!
//! [`load`] reads a file of any format, which [`detect`] tells from its bytes:
//!
//! | format | function | typical name |
//! |---|---|---|
//! | Hugging Face | [`Vocabulary::from_tokenizer_json`](grammask_mask_cache::Vocabulary::from_tokenizer_json) | `tokenizer.json` |
//! | GGUF (llama.cpp) | [`from_gguf`] | `model.gguf` |
//! | SentencePiece | [`from_sentencepiece`] | `tokenizer.model` |
//! | Mistral | [`from_tekken`] | `tekken.json` |
//! | tiktoken | [`from_rank_file`] | `o200k_base.tiktoken` |
//!
//! A rank file has no special tokens; [`Encoding`] knows those of OpenAI's encodings. Where a tokenizer was loaded by
//! another library, its vocabulary comes from there: `from_tokenizer`, `from_core_bpe`, `from_tok_trie`.
//!
//! # Example
//!
//! ```
//! use grammask_mask_cache::{TokenKind, VocabularyOptions};
//!
//! // Two pieces of a SentencePiece model: a space and `a`, and the control piece `</s>`.
//! let model = b"\x0a\x06\x0a\x04\xe2\x96\x81a\x0a\x08\x0a\x04</s>\x18\x03\x12\x00";
//! let vocabulary = grammask_vocabularies::load(&model[..], &VocabularyOptions::default())?;
//! assert!(vocabulary.text_token(b" a").is_some());
//! assert_eq!(vocabulary.stop_tokens().len(), 1);
//! # Ok::<(), grammask_vocabularies::LoadError>(())
//! ```
//!
//! # Errors
//!
//! A file that is damaged, too large or not known is refused with a [`LoadError`], which says where in the file the
//! reason lies and what to do.
//!
//! # Limits
//!
//! Those of [`VocabularyOptions`](grammask_mask_cache::VocabularyOptions). A length that a file states is never
//! believed: memory grows with what was read, not with what is claimed.
//!
//! # Features
//!
//! * `tokenizers`: `from_tokenizer`, for `tokenizers::Tokenizer` 0.23.
//! * `tiktoken-rs`: `from_core_bpe`, for `tiktoken_rs::CoreBPE` 0.12.
//! * `toktrie`: `from_tok_trie`, for `toktrie::TokTrie` and `TokEnv` 1.9.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// The modules in the order in which data flows: each imports only those above it.
mod format;

mod error;

mod spelling;

mod gguf;

mod protobuf;

mod sentencepiece;

mod rank_file;

mod tekken;

#[cfg(feature = "tokenizers")]
mod tokenizer;

#[cfg(feature = "tiktoken-rs")]
mod core_bpe;

#[cfg(feature = "toktrie")]
mod tok_trie;

mod detect;

mod load;

#[cfg(feature = "tiktoken-rs")]
pub use core_bpe::from_core_bpe;
pub use detect::detect;
pub use error::LoadError;
pub use format::Format;
pub use gguf::from_gguf;
pub use grammask_mask_cache as mask_cache;
pub use load::load;
pub use rank_file::{Encoding, from_rank_file};
pub use sentencepiece::from_sentencepiece;
pub use tekken::from_tekken;
#[cfg(feature = "toktrie")]
pub use tok_trie::from_tok_trie;
#[cfg(feature = "tokenizers")]
pub use tokenizer::from_tokenizer;
