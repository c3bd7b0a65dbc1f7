//! The format of a file, told from its bytes.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::format::Format;
use crate::rank_file::begins_like_ranks;
use crate::sentencepiece::begins_like_a_model;

/// The format of a tokenizer's file, or `None` where the bytes are of none that is known.
///
/// The beginning of a file is enough if it holds the magic number, the first piece, the first line or the
/// first telling key. That is four bytes of a GGUF file, and some kilobytes of most others.
///
/// ```
/// use grammask_vocabularies::{Format, detect};
///
/// assert_eq!(detect(b"GGUF\x03\0\0\0"), Some(Format::Gguf));
/// assert_eq!(detect(br#"{"version": "1.0", "truncation": null, "#), Some(Format::TokenizerJson));
/// assert_eq!(detect(b"IQ== 0\nIg== 1\n"), Some(Format::RankFile));
/// assert_eq!(detect(b"PK\x03\x04"), None);
/// ```
pub fn detect(bytes: &[u8]) -> Option<Format> {
    if bytes.starts_with(b"GGUF") {
        Some(Format::Gguf)
    } else if begins_like_a_model(bytes) {
        Some(Format::SentencePiece)
    } else if bytes.trim_ascii_start().starts_with(b"{") {
        kind_of_json(bytes)
    } else if begins_like_ranks(bytes) {
        Some(Format::RankFile)
    } else {
        None
    }
}

/// The format of a JSON object, by the first key that only one of them has.
fn kind_of_json(json: &[u8]) -> Option<Format> {
    let found = Cell::new(None);
    // The rest of the file does not matter; it may be missing.
    let _ = serde_json::Deserializer::from_slice(json).deserialize_map(FirstKey { found: &found });
    found.get()
}

struct FirstKey<'f> {
    found: &'f Cell<Option<Format>>,
}

impl<'de> Visitor<'de> for FirstKey<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.found.set(match &*key {
                "config" | "vocab" | "special_tokens" => Some(Format::Tekken),
                "added_tokens" | "decoder" | "model" | "normalizer" | "padding" | "post_processor"
                | "pre_tokenizer" | "truncation" => Some(Format::TokenizerJson),
                _ => None,
            });
            if self.found.get().is_some() {
                return Err(A::Error::custom("the rest need not be read"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
