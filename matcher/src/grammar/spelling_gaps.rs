//! Whether the tokens of a vocabulary can spell the texts of a grammar.
//!
//! The exact question is whether every text of the grammar is a sequence of tokens. It takes a product of the grammar with
//! all ways to cut a text into tokens, which is large. Where each byte of the grammar's texts is a token by itself, which
//! holds for nearly all vocabularies in use, the answer is yes. So we ask that first, byte by byte. Of a byte that is no
//! token by itself, some longer token may have it or none does: then no text with it can be written.

use grammask_grammar_ir::byte_set;
use grammask_parser_backend::Backend;

use super::compiled::CompiledGrammar;
use crate::base::byte_set::ByteSet;
use crate::base::error::CompileError;

/// The bytes that texts of a grammar may have, and that are no token by themselves. Without any, tokens spell every text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpellingGaps {
    /// Bytes that are in no token. No tokens spell a text that has one of them.
    pub in_no_token: ByteSet,
    /// Bytes that longer tokens have. Tokens may spell the texts with these, or may not.
    pub in_longer_tokens: ByteSet,
}

impl SpellingGaps {
    /// Whether tokens spell every text of the grammar.
    pub fn is_empty(&self) -> bool {
        self.in_no_token.is_empty() && self.in_longer_tokens.is_empty()
    }
}

impl<B: Backend> CompiledGrammar<B> {
    /// The bytes that stand in the way of texts of the grammar over its vocabulary, for a check before the first request. It
    /// compiles deferred parts, unless every byte is a token by itself. Of a grammar that was made
    /// [from a backend](Self::from_backend) nothing is known, and its texts may have any byte.
    ///
    /// # Errors
    ///
    /// Where a deferred part cannot be compiled.
    pub fn spelling_gaps(&self) -> Result<SpellingGaps, CompileError> {
        let vocabulary = self.vocabulary();
        if vocabulary.missing_bytes().is_empty() {
            return Ok(SpellingGaps::default());
        }
        let used = self.program().map_or(Ok([u64::MAX; 4]), |program| program.used_bytes())?;
        let mut in_tokens = byte_set::ByteSet::default();
        for &token in vocabulary.sorted_text_tokens() {
            for &byte in vocabulary.token_bytes(token) {
                byte_set::add_range(&mut in_tokens, byte, byte);
            }
        }
        let (mut in_no_token, mut in_longer_tokens) = ([0; 4], [0; 4]);
        for &byte in vocabulary.missing_bytes().iter().filter(|&&byte| byte_set::contains(&used, byte)) {
            let set =
                if byte_set::contains(&in_tokens, byte) { &mut in_longer_tokens } else { &mut in_no_token };
            byte_set::add_range(set, byte, byte);
        }
        Ok(SpellingGaps { in_no_token: in_no_token.into(), in_longer_tokens: in_longer_tokens.into() })
    }
}
