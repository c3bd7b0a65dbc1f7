//! The format of a file, told from its bytes.

use crate::format::Format;
use crate::sentencepiece::begins_like_a_model;

/// The format of a tokenizer's file, or `None` where the bytes are of none that is known.
///
/// The beginning of a file is enough if it holds the magic number, the first piece or the first telling key: four bytes
/// of a GGUF file, some kilobytes of most others.
///
/// ```
/// use grammask_vocabularies::{Format, detect};
///
/// assert_eq!(detect(b"GGUF\x03\0\0\0"), Some(Format::Gguf));
/// assert_eq!(detect(br#"{"version": "1.0", "truncation": null, "#), Some(Format::TokenizerJson));
/// assert_eq!(detect(b"PK\x03\x04"), None);
/// ```
pub fn detect(bytes: &[u8]) -> Option<Format> {
    if bytes.starts_with(b"GGUF") {
        Some(Format::Gguf)
    } else if begins_like_a_model(bytes) {
        Some(Format::SentencePiece)
    } else if bytes.trim_ascii_start().starts_with(b"{") {
        Some(Format::TokenizerJson)
    } else {
        None
    }
}
