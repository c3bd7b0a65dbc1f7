//! The vocabulary that comes with the program.

use std::sync::Arc;

use once_cell::race::OnceBox;

use super::error::VocabularyError;
use super::options::VocabularyOptions;
use super::tokens::Vocabulary;

/// Number of ids of o200k_harmony.
const SIZE: u32 = 201_088;

impl Vocabulary {
    /// The vocabulary o200k_harmony of the gpt-oss models: 201,088 ids, the last 1,090 of them special. Built at
    /// the first call (some 0.2 s), shared afterwards. Needs the feature `embedded-vocab`.
    ///
    /// # Errors
    ///
    /// If the library that holds the tokens cannot read its own data.
    pub fn o200k_harmony() -> Result<Arc<Self>, VocabularyError> {
        static BUILT: OnceBox<Result<Arc<Vocabulary>, VocabularyError>> = OnceBox::new();
        BUILT.get_or_init(|| Box::new(load().map(Arc::new))).clone()
    }
}

fn load() -> Result<Vocabulary, VocabularyError> {
    let encoding = tiktoken_rs::o200k_harmony().map_err(VocabularyError::embedded)?;
    let mut tokens = Vec::new();
    for id in 0..SIZE {
        tokens.push(Some(encoding.decode_bytes(&[id]).map_err(VocabularyError::embedded)?));
    }
    let special: Vec<u32> =
        encoding.special_tokens().iter().flat_map(|name| encoding.encode_with_special_tokens(name)).collect();
    Vocabulary::from_tokens(tokens, &VocabularyOptions::default().special_ids(special))
}
