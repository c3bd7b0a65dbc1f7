//! Tokens of whitespace and of digits, tokens that open a JSON string, and those that begin a number.
//!
//! A [slice](crate::Slice) covers most of a vocabulary. These have some hundred tokens each, but nearly every place of a
//! JSON text outside of strings allows them. To walk them took half of the time of such a mask. Whitespace is a repeat
//! with an upper bound, so every step counts. Where names are declared, a walk makes a set for each of their letters.
//! But which tokens stay inside of a class depends on the vocabulary alone. So they are kept as *lists*, shortest
//! first, from which a mask takes a prefix where the state lets any text over the class pass, perhaps up to a length.
//! Each list has a trie of the other tokens that begin like its own (a space and a word), which the walk goes through
//! instead of the whole one.
//!
//! The tokens of a list may share a beginning before the class: a quote, by itself or after a space, and the first digit
//! of a number. That one is not 0, unless it is the only one, so where a number may begin not every text of digits
//! may follow. But after the first one it may.

use std::ops::Range;

use grammask_grammar_ir::byte_set::ByteSet;
use grammask_parser_backend::{Backend, CharClass, ClassRuns, Fuel, StepError};

use crate::mask::sparse_words::SparseWords;
use crate::token_sets::char_classes::{DIGITS, STRING, chars_inside, may_begin, one};
use crate::token_sets::length_prefixes::LengthPrefixes;
use crate::vocabulary::tokens::Vocabulary;
use crate::vocabulary::trie::Trie;

static WHITESPACE: CharClass =
    CharClass { ascii: one(b' ') | one(b'\t') | one(b'\n') | one(b'\r'), non_ascii: false };

static DIGIT: CharClass = CharClass { ascii: DIGITS, non_ascii: false };

/// The lists of a vocabulary.
pub(crate) struct JsonTokens {
    /// Whitespace, and digits. A state can use both at once, because no token begins like both.
    pub(crate) classes: [TokenList; 2],
    /// Those that begin with a quote.
    pub(crate) quote: TokenList,
    /// Those that begin with a space and a quote.
    pub(crate) spaced_quote: TokenList,
    /// The nodes after a space and a quote, the quote's included, among the [other](TokenList::others) tokens that
    /// begin with whitespace.
    pub(crate) spaced_quote_nodes: Range<u32>,
    /// Those that begin with a digit but 0.
    pub(crate) number: TokenList,
}

impl JsonTokens {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let list = |prefix, class| TokenList::new(vocabulary, prefix, class);
        let classes = [list(&[], &WHITESPACE), list(&[], &DIGIT)];
        Self {
            spaced_quote_nodes: classes[0].others.subtree(b" \""),
            classes,
            quote: list(&[b"\""], &STRING),
            spaced_quote: list(&[b" ", b"\""], &STRING),
            number: list(&[b"123456789"], &DIGIT),
        }
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let Self { classes: [whitespace, digits], quote, spaced_quote, number, .. } = self;
        [whitespace, digits, quote, spaced_quote, number].map(TokenList::memory_usage).into_iter().sum()
    }
}

/// The tokens that begin with a prefix, by the characters that follow it; without a prefix, those that begin with a
/// character of the class.
pub(crate) struct TokenList {
    /// At each place one of these bytes, in order; only the last place has more than one.
    prefix: &'static [&'static [u8]],
    class: &'static CharClass,
    /// The tokens that stay inside of the class, by their characters after the prefix, a cut one counted. As
    /// in a trie, there is one of those with equal bytes, and none that is too long.
    tokens: LengthPrefixes,
    /// The other tokens that begin with the prefix.
    others: Trie,
}

impl TokenList {
    fn new(vocabulary: &Vocabulary, prefix: &'static [&'static [u8]], class: &'static CharClass) -> Self {
        let sorted = vocabulary.sorted_text_tokens();
        let least: Vec<u8> = prefix.iter().map(|bytes| bytes[0]).collect();
        let first = sorted.partition_point(|&id| vocabulary.token_bytes(id) < &*least);
        let mut inside: Vec<(usize, u32)> = Vec::new();
        let mut others = Vec::new();
        let mut last: &[u8] = &[];
        for &id in &sorted[first..] {
            let bytes = vocabulary.token_bytes(id);
            let Some((start, text)) = bytes.split_at_checked(prefix.len()) else { break };
            if !prefix.iter().zip(start).all(|(bytes, byte)| bytes.contains(byte)) {
                break;
            }
            if prefix.is_empty() && !text.first().is_some_and(|&byte| class.contains_ascii(byte)) {
                continue;
            }
            match chars_inside(class, text) {
                None => others.push((id, bytes)),
                // As for a trie, equal bytes are listed once and long tokens not at all: both are added to
                // every mask in the same way, whatever found it.
                Some(chars) if bytes.len() <= Trie::MAX_DEPTH && bytes != last => {
                    inside.push((chars, id.get()));
                    last = bytes;
                }
                Some(_) => {}
            }
        }
        let others = Trie::from_sorted(vocabulary.len(), others)
            .expect("a part of the tokens, in the same order, from which the whole trie was built");
        Self { prefix, class, tokens: LengthPrefixes::new(inside, vocabulary.len()), others }
    }

    /// The tokens that stay inside of the class, as far as a state allows them, if it lets all of at most some length pass.
    pub(crate) fn allowed<B: Backend>(
        &self,
        backend: &B,
        state: B::State,
        fuel: &mut Fuel,
    ) -> Result<Option<&SparseWords>, StepError> {
        // The tokens of the list begin with the prefix, and each byte of it may have several spellings, as
        // the first digit of a number has. They must all lead to one state, from which one question answers
        // for all.
        let mut at = state;
        for &bytes in self.prefix {
            let Some(next) = only_target(backend, at, bytes, fuel)? else { return Ok(None) };
            at = next;
        }
        // A quick test: if some character of the class is refused at once, no length of text over the class
        // is certain.
        if self.tokens.is_empty() || !may_begin(self.class, &backend.next_bytes(at)) {
            return Ok(None);
        }
        Ok(self.tokens.allowed(backend.class_runs().run_over(at, self.class, fuel)))
    }

    /// The bytes that begin characters of the class.
    pub(crate) fn bytes(&self) -> ByteSet {
        self.class.start_bytes()
    }

    /// The other tokens that begin with the prefix.
    pub(crate) fn others(&self) -> &Trie {
        &self.others
    }

    fn memory_usage(&self) -> usize {
        self.tokens.memory_usage() + self.others.memory_usage()
    }
}

/// The state that all of some bytes lead to, if there is one.
fn only_target<B: Backend>(
    backend: &B,
    state: B::State,
    bytes: &[u8],
    fuel: &mut Fuel,
) -> Result<Option<B::State>, StepError> {
    let mut found = None;
    for &byte in bytes {
        // Tokens with each of the bytes are in the list, so a byte that is refused rules the list out.
        let Some(target) = backend.step(state, byte, fuel)? else { return Ok(None) };
        if *found.get_or_insert(target) != target {
            return Ok(None);
        }
    }
    Ok(found)
}
