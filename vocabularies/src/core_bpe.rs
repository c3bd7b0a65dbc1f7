//! Encodings of the library `tiktoken-rs`.

use grammask_mask_cache::{Vocabulary, VocabularyBuilder, VocabularyOptions};
use tiktoken_rs::CoreBPE;

use crate::error::LoadError;

/// This many ids in a row without a token end the search.
const MAX_HOLE: u32 = 1 << 12;

/// The vocabulary of an encoding of the library `tiktoken-rs`, its special tokens included. Needs the feature
/// `tiktoken-rs`.
///
/// The library does not tell which ids it has, so they are tried one after the other. The search ends after the greatest
/// special id, at 4,096 ids in a row that have no token.
///
/// # Errors
///
/// If the encoding does not find one of its special tokens, or a limit of the options is passed.
pub fn from_core_bpe(encoding: &CoreBPE, options: &VocabularyOptions) -> Result<Vocabulary, LoadError> {
    let mut builder = VocabularyBuilder::new(options);
    let mut end = 0;
    for name in encoding.special_tokens() {
        let ids = encoding.encode_with_special_tokens(name);
        let &[id] = &*ids else {
            let message =
                format!("the special token {name:?} is encoded as {} tokens; use its rank file", ids.len());
            return Err(LoadError::of_object(message));
        };
        builder.put(id, name.as_bytes()).map_err(LoadError::of_tokens)?;
        builder.mark_special(id);
        end = end.max(id.saturating_add(1));
    }
    let mut missing = 0;
    for id in 0.. {
        if id >= end && missing == MAX_HOLE {
            break;
        }
        match encoding.decode_bytes(&[id]) {
            Ok(_) if builder.has(id) => missing = 0,
            Ok(bytes) => {
                builder.put(id, &bytes).map_err(LoadError::of_tokens)?;
                missing = 0;
            }
            Err(_) => missing += 1,
        }
    }
    builder.finish().map_err(LoadError::of_tokens)
}
