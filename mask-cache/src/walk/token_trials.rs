//! Tokens that are tried one by one, and tokens with the bytes of an accepted one.

use grammask_parser_backend::{Backend, Fuel, StepError};

use crate::ids::TokenId;
use crate::mask::bits::{self, words_for};
use crate::mask::sparse_words::SparseWords;
use crate::vocabulary::tokens::Vocabulary;
use crate::vocabulary::trie::Trie;

/// Adds those of the tokens that no trie holds that a state reads.
pub(crate) fn try_long_tokens<B: Backend>(
    backend: &B,
    state: B::State,
    vocabulary: &Vocabulary,
    ids: &mut Vec<u32>,
    fuel: &mut Fuel,
) -> Result<(), StepError> {
    try_tokens(backend, state, vocabulary, vocabulary.trie().long_tokens(), ids, fuel)
}

/// Adds those of some tokens that a state reads.
pub(crate) fn try_tokens<B: Backend>(
    backend: &B,
    state: B::State,
    vocabulary: &Vocabulary,
    tokens: &[TokenId],
    ids: &mut Vec<u32>,
    fuel: &mut Fuel,
) -> Result<(), StepError> {
    for &id in tokens {
        if reads_all_bytes(backend, state, vocabulary.token_bytes(id), fuel)? {
            ids.push(id.get());
        }
    }
    Ok(())
}

/// Whether the parser reads all of a token's bytes.
pub(crate) fn reads_all_bytes<B: Backend>(
    backend: &B,
    mut state: B::State,
    bytes: &[u8],
    fuel: &mut Fuel,
) -> Result<bool, StepError> {
    for &byte in bytes {
        match backend.step(state, byte, fuel)? {
            Some(next) => state = next,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Adds the ids whose bytes equal those of an accepted one.
pub(crate) fn add_duplicates(
    trie: &Trie,
    vocabulary_len: usize,
    lists: &[&SparseWords],
    words: &mut Vec<u32>,
    ids: &mut Vec<u32>,
) {
    if trie.duplicates().is_empty() {
        return;
    }
    // A trie has one node for equal bytes and keeps one id there. The bits answer whether that id was
    // accepted, however it was found.
    words.clear();
    words.resize(words_for(vocabulary_len), 0);
    lists.iter().for_each(|list| list.set(words));
    for &id in &*ids {
        bits::set(words, id as usize);
    }
    for (primary, other) in trie.duplicates() {
        if bits::contains(words, primary.index()) {
            ids.push(other.get());
        }
    }
}
