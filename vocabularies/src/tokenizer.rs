//! Tokenizers of Hugging Face's library `tokenizers`.

use grammask_mask_cache::{Vocabulary, VocabularyOptions};
use tokenizers::Tokenizer;

use crate::error::LoadError;
use crate::format::Format;

/// The vocabulary of a tokenizer of the library `tokenizers`. Needs the feature `tokenizers`.
///
/// The tokenizer is written as a `tokenizer.json` and read as one, so that what was changed after it was loaded, such as
/// added tokens, counts.
///
/// # Errors
///
/// If the tokenizer cannot be written, and as for
/// [`Vocabulary::from_tokenizer_json`](grammask_mask_cache::Vocabulary::from_tokenizer_json).
pub fn from_tokenizer(tokenizer: &Tokenizer, options: &VocabularyOptions) -> Result<Vocabulary, LoadError> {
    let json = tokenizer.to_string(false).map_err(|error| {
        LoadError::of_object(format!(
            "the tokenizer cannot be written as JSON: {error}; load its file instead"
        ))
    })?;
    Vocabulary::from_tokenizer_json(json.as_bytes(), options)
        .map_err(|error| LoadError::vocabulary(Format::TokenizerJson, error))
}
