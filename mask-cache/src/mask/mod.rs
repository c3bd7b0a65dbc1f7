//! Sets of token ids: a mask in a caller's buffer, and a mask as it is kept.
//!
//! Token ids come in; bits that inference engines read go out. The forms of a
//! [`StoredMask`](crate::StoredMask) and the buffers that a [`TokenMask`](crate::TokenMask) keeps may be
//! changed here without changes elsewhere, because callers only load and write. The layout of the bits is
//! public and stays. This folder may import the ids and nothing else: a kept mask holds shared references to
//! everything that it needs, so it is written without a vocabulary.

pub mod bits;
pub(crate) mod class_tokens;
pub(crate) mod sparse_words;
pub(crate) mod stored_mask;
pub(crate) mod token_mask;
