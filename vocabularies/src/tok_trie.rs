//! Tries of the library `toktrie`, which llguidance and the engines that embed it use.

use grammask_mask_cache::{Vocabulary, VocabularyBuilder, VocabularyOptions};
use toktrie::TokTrie;

use crate::error::LoadError;

/// The vocabulary of a trie of the library `toktrie`; of a `TokEnv`, that is `environment.tok_trie()`. Needs the feature
/// `toktrie`.
///
/// Tokens that begin with the byte 0xFF are special there, and what follows is their name; a token of this byte alone
/// is text. The trie's end-of-text tokens, and its end of a turn, are stop tokens.
///
/// # Errors
///
/// If a limit of the options is passed.
pub fn from_tok_trie(trie: &TokTrie, options: &VocabularyOptions) -> Result<Vocabulary, LoadError> {
    let mut builder = VocabularyBuilder::new(options);
    let size = trie.info().vocab_size;
    for id in 0..size {
        match trie.token(id) {
            [TokTrie::SPECIAL_TOKEN_MARKER, name @ ..] if !name.is_empty() => {
                builder.push(name).map_err(LoadError::of_tokens)?;
                builder.mark_special(id);
            }
            text => builder.push(text).map_err(LoadError::of_tokens)?,
        }
    }
    // A trie without an end names an id that it does not have.
    let ends = trie.eos_tokens().iter().chain(&trie.info().tok_end_of_turn);
    ends.filter(|&&id| id < size).for_each(|&id| builder.mark_stop(id));
    builder.finish().map_err(LoadError::of_tokens)
}
