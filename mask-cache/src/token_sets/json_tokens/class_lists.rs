//! Tokens of whitespace, and tokens of digits.
//!
//! A [slice](crate::Slice) covers most of a vocabulary. These two classes have some hundred tokens each, but
//! nearly every place of a JSON text outside of strings allows them. To walk them took half of the time of
//! such a mask: whitespace is a repeat with an upper bound, and every step counts. So their tokens are kept
//! as *lists*, shortest first, from which a mask takes a prefix. Each list has a trie of the other tokens
//! that begin like its own (a space and a word), which the walk goes through instead of the whole one.
//!
//! A state can use both lists at once, because no token begins like both.

use grammask_parser_backend::{Backend, CharClass, Fuel};

use crate::mask::sparse_words::SparseWords;
use crate::token_sets::char_classes::{DIGITS, one};
use crate::token_sets::length_prefixes::LengthPrefixes;
use crate::vocabulary::tokens::Vocabulary;
use crate::vocabulary::trie::Trie;

static CLASSES: [CharClass; 2] = [
    CharClass { ascii: one(b' ') | one(b'\t') | one(b'\n') | one(b'\r'), non_ascii: false },
    CharClass { ascii: DIGITS, non_ascii: false },
];

/// A class of ASCII characters and the tokens that begin with one of them.
pub(crate) struct ClassList {
    class: &'static CharClass,
    /// The tokens made of the class alone, by their characters: as a trie has them, one of those with equal bytes, and none
    /// that is too long for one.
    tokens: LengthPrefixes,
    /// The other tokens that begin with a character of the class.
    residual: Trie,
}

impl ClassList {
    pub(crate) fn all(vocabulary: &Vocabulary) -> [Self; CLASSES.len()] {
        CLASSES.each_ref().map(|class| Self::new(vocabulary, class))
    }

    fn new(vocabulary: &Vocabulary, class: &'static CharClass) -> Self {
        let mut inside: Vec<(usize, u32)> = Vec::new();
        let mut others = Vec::new();
        let mut last: &[u8] = &[];
        for &id in vocabulary.sorted_text_tokens() {
            let bytes = vocabulary.token_bytes(id);
            if !bytes.first().is_some_and(|&byte| class.contains_ascii(byte)) {
                continue;
            }
            if !bytes.iter().all(|&byte| class.contains_ascii(byte)) {
                others.push((id, bytes));
            // Tokens too long for a trie, and those with the bytes of another one, are added to every mask at
            // the end.
            } else if bytes.len() <= Trie::MAX_DEPTH && bytes != last {
                inside.push((bytes.len(), id.get()));
                last = bytes;
            }
        }
        let residual = Trie::from_sorted_at_most(vocabulary.len(), vocabulary.trie().nodes().len(), others)
            .expect("a part of the tokens, in the same order, from which the whole trie was built");
        Self { class, tokens: LengthPrefixes::new(inside, vocabulary.len()), residual }
    }

    /// The tokens of the class that the state allows, if it lets all of at most some length pass.
    pub(crate) fn allowed<B: Backend>(
        &self,
        backend: &B,
        state: B::State,
        next_bytes: &[u64; 4],
        fuel: &mut Fuel,
    ) -> Option<&SparseWords> {
        let class = self.bytes();
        // A quick test: if some character of the class is refused at once, no length of text over the class
        // is certain.
        if (0..2).any(|word| class[word] & !next_bytes[word] != 0) {
            return None;
        }
        self.tokens.allowed(backend.run_over(state, self.class, fuel))
    }

    /// The characters of the class, as a set of bytes.
    pub(crate) fn bytes(&self) -> [u64; 4] {
        [self.class.ascii as u64, (self.class.ascii >> 64) as u64, 0, 0]
    }

    pub(crate) fn residual(&self) -> &Trie {
        &self.residual
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.tokens.memory_usage() + self.residual.memory_usage()
    }
}
