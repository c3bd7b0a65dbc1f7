//! A tokenizer's file of any format.

use std::io::{self, Read};

use grammask_mask_cache::{Vocabulary, VocabularyBuilder, VocabularyOptions};

use crate::detect::detect;
use crate::error::LoadError;
use crate::format::Format;
use crate::gguf::from_gguf;
use crate::rank_file::from_rank_file;
use crate::sentencepiece::from_sentencepiece;
use crate::tekken::from_tekken;

/// The vocabulary of a tokenizer's file, whose format is told from its bytes.
///
/// Of a GGUF file the metadata is read. Every other file is read as a whole; it may have 16 times as many bytes as
/// [`VocabularyOptions::max_bytes`], 1 GiB unless that is changed.
///
/// ```no_run
/// use std::fs::File;
///
/// use grammask_mask_cache::VocabularyOptions;
///
/// let vocabulary = grammask_vocabularies::load(File::open("model.gguf")?, &VocabularyOptions::default())?;
/// println!("{} tokens", vocabulary.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the format is not known or the file too long; if reading fails; and as for the function of the format.
pub fn load(mut file: impl Read, options: &VocabularyOptions) -> Result<Vocabulary, LoadError> {
    let read = |error: io::Error| LoadError::read(None, None, error);
    let mut bytes = Vec::new();
    (&mut file).take(4).read_to_end(&mut bytes).map_err(read)?;
    if detect(&bytes) == Some(Format::Gguf) {
        return from_gguf(bytes.chain(file), options);
    }
    let max_tokens_bytes = VocabularyBuilder::new(options).max_bytes();
    let limit = u64::try_from(max_tokens_bytes).unwrap_or(u64::MAX).saturating_mul(16).max(4);
    // One byte more than the limit tells a file that is too long.
    file.take(limit - 4 + 1).read_to_end(&mut bytes).map_err(read)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(LoadError::too_large(limit));
    }
    match detect(&bytes) {
        Some(Format::TokenizerJson) => Vocabulary::from_tokenizer_json(&bytes, options)
            .map_err(|error| LoadError::vocabulary(Format::TokenizerJson, error)),
        Some(Format::Gguf) => from_gguf(&*bytes, options),
        Some(Format::SentencePiece) => from_sentencepiece(&bytes, options),
        Some(Format::Tekken) => from_tekken(&bytes, options),
        Some(Format::RankFile) => from_rank_file(&bytes, options),
        None => Err(LoadError::unknown_format(&bytes)),
    }
}
