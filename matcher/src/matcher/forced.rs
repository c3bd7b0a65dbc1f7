//! Forced text as tokens that are safe to append.
//!
//! Where the structure leaves no choice, the model need not be asked. But text that is appended must be cut
//! into tokens. The naive way, to encode the forced text and append the result, is wrong at both ends. The
//! last token before it might have been merged with its beginning, and its last token with the model's next
//! text. A model that sees a text cut as its tokenizer never cuts it answers worse.
//!
//! So which tokens are certain, whatever follows? Let `S` be the text from some token on, with the forced
//! text at its end, and `X` any continuation that the structure allows. The encoding of `S X` has one token
//! that holds the last byte of `S` and reaches beyond, beginning at some place `q`. Or a token ends right at
//! the end of `S`, and `q` is that end. The tokens before `q` spell `S[..q]`. Encoders are *closed under
//! prefixes*: the first tokens of an encoding are the encoding of the bytes that they spell. So these tokens
//! are `encode(S[..q])`. We do not know `X`, but `q` is one of few places: there must be a token of the
//! vocabulary that begins with `S[q..]` and continues as the structure allows. A walk through the trie of the
//! vocabulary, with the parser stepping along, finds all such places. The common beginning of the encodings
//! of all `S[..q]` is certain:
//!
//! > certain tokens = longest common beginning of `encode(S[..q])` over every possible `q`.
//!
//! Encodings by merges (BPE, with merges in order of rank), by longest match and by best score (unigram) are
//! closed under prefixes. All common tokenizers split into words first; that keeps the property if the
//! splitting of a text does not depend on the bytes after a boundary of tokens. Other encoders are no danger
//! to the structure: whatever they answer, the tokens are checked to spell the text and nothing else, and
//! masks are never narrowed.

use std::collections::BTreeSet;

use grammask_mask_cache::{TokenId, Vocabulary};
use grammask_parser_backend::{Backend, Fuel, StepError};

use super::matcher::Matcher;
use crate::base::error::MatchError;

/// Tokens that the model would write in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForcedTokens {
    /// How many of the last tokens to take back first, with [`Matcher::rollback`]: the tokenizer would have cut
    /// the text another way.
    pub rollback: usize,
    /// The tokens to accept then, one after the other. Empty where nothing is certain; nothing is to be taken back
    /// then either.
    pub tokens: Vec<TokenId>,
}

impl<B: Backend> Matcher<B> {
    /// The forced text as tokens: a beginning of the tokenizer's own encoding that holds for every way on that the
    /// structure allows. Nothing is accepted.
    ///
    /// `context` is the last tokens of the text, as many as the caller wants taken into account; a few suffice.
    /// Encoding begins at the first of them, which is never taken back, or after the last one without bytes: tokenizers
    /// encode the text after a special token on its own. With an empty context, encoding begins with the forced text, as
    /// is right at the beginning of a text.
    ///
    /// `encode` turns bytes into ids as the model's tokenizer does inside a text, without special tokens. It
    /// answers `None` if it cannot: most encode text only, and bytes may end inside a character. It should be
    /// closed under prefixes: the first tokens of an encoding are the encoding of the bytes that they spell.
    /// Encodings by merges, longest match and best score are.
    ///
    /// # Errors
    ///
    /// Where a limit is reached.
    pub fn forced_tokens(
        &mut self,
        context: &[TokenId],
        mut encode: impl FnMut(&[u8]) -> Option<Vec<TokenId>>,
    ) -> Result<ForcedTokens, MatchError> {
        let forced = self.jump_forward()?;
        if forced.is_empty() {
            return Ok(ForcedTokens::default());
        }
        let vocabulary = std::sync::Arc::clone(self.grammar.vocabulary());
        let is_apart = |id: &TokenId| vocabulary.token_bytes(*id).is_empty();
        let apart = context.iter().rposition(is_apart).map_or(0, |place| place + 1);
        let context = &context[apart..];
        let mut text: Vec<u8> = Vec::new();
        context.iter().for_each(|&id| text.extend_from_slice(vocabulary.token_bytes(id)));
        let before = text.len();
        text.extend_from_slice(&forced);
        let mut end = text.len();
        let mut certain = None;
        // The text may end inside a character, which most encoders cannot encode. Then a shorter text is
        // tried.
        for _ in 0..MAX_TRIES {
            let places = self.token_boundaries(&vocabulary, &text, before, end)?;
            match common_encoding(&places, &text, &vocabulary, &mut encode) {
                Ok(tokens) => {
                    certain = Some(tokens);
                    break;
                }
                // Bytes that cannot be encoded end inside a character: a token that is certain before it is
                // certain.
                Err(place) if place > before => end = place - 1,
                Err(_) => break,
            }
        }
        let tokens = certain.unwrap_or_default();
        // A stop token would end the text; its bytes are never forced as a token.
        let stops = tokens.iter().position(|&id| self.stop.contains(id, &vocabulary));
        let certain = &tokens[..stops.unwrap_or(tokens.len())];
        let found = relative_to_context(context, certain, before, &vocabulary, self.steps());
        // Text that is cut another way has another number of tokens, which a rule may bound.
        match self.tracker.is_none() || self.fork().consume(&found)? {
            true => Ok(found),
            false => Ok(ForcedTokens::default()),
        }
    }

    /// Reads the forced text, cut as [`forced_tokens`](Self::forced_tokens) cuts it: takes back what would have been cut
    /// another way, and accepts the tokens. Returns what was done, for the caller's own list of tokens.
    ///
    /// # Errors
    ///
    /// Where a limit is reached.
    pub fn consume_forced_tokens(
        &mut self,
        context: &[TokenId],
        encode: impl FnMut(&[u8]) -> Option<Vec<TokenId>>,
    ) -> Result<ForcedTokens, MatchError> {
        let forced = self.forced_tokens(context, encode)?;
        if forced.tokens.is_empty() {
            return Ok(forced);
        }
        let before = self.fork();
        match self.consume(&forced) {
            Ok(true) => Ok(forced),
            other => {
                *self = before;
                other.map(|_| ForcedTokens::default())
            }
        }
    }

    /// Reads tokens instead of those that are taken back. `false` where one is refused, with some of them read.
    fn consume(&mut self, forced: &ForcedTokens) -> Result<bool, MatchError> {
        self.rollback(forced.rollback)?;
        for &id in &forced.tokens {
            match self.accept_token(id) {
                Ok(()) => {}
                Err(MatchError::TokenRefused(_)) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Where the token can begin that holds the byte before `end` and reaches beyond, or `end` itself.
    fn token_boundaries(
        &mut self,
        vocabulary: &Vocabulary,
        text: &[u8],
        before: usize,
        end: usize,
    ) -> Result<BTreeSet<usize>, MatchError> {
        let longest = vocabulary.max_token_len();
        let forced = &text[before..];
        self.with_tables(|generation, mut state, _, fuel| {
            let engine = &generation.engine;
            for &byte in forced {
                match engine.step(state, byte, fuel)? {
                    Some(next) => state = next,
                    None => return Ok(BTreeSet::from([end])),
                }
            }
            let mut places = BTreeSet::from([end]);
            // A token that reaches beyond `end` begins less than the longest token before it.
            for place in (end + 1).saturating_sub(longest)..end {
                if reaches_beyond(engine, state, vocabulary, &text[place..], end - place, fuel)? {
                    places.insert(place);
                }
            }
            Ok(places)
        })
    }
}

/// The number of places at which cuts inside characters are tried. Characters have at most four bytes.
const MAX_TRIES: usize = 8;

/// Whether a token of more than `inside` bytes is a beginning of `text`, or begins with all of it and goes on as is
/// allowed from `state` on.
fn reaches_beyond<B: Backend>(
    engine: &B,
    state: B::State,
    vocabulary: &Vocabulary,
    text: &[u8],
    inside: usize,
    fuel: &mut Fuel,
) -> Result<bool, StepError> {
    let trie = vocabulary.trie();
    // Long tokens are beside the trie; they are few, and judged by their bytes alone.
    let long = trie.long_tokens().iter().map(|&id| vocabulary.token_bytes(id));
    if long.clone().any(|token| token.len() > inside && (token.starts_with(text) || text.starts_with(token)))
    {
        return Ok(true);
    }
    let Some(&first) = text.first() else { return Ok(false) };
    let mut level = trie.first_byte(first);
    // Two cases: a token ends within the known text, or it contains all of it and continues in a way that the
    // structure allows.
    for (read, &byte) in text.iter().enumerate() {
        let Some(index) = trie.child(level.clone(), byte) else { return Ok(false) };
        let node = trie.nodes()[index as usize];
        if node.token() != trie.no_token() && read + 1 > inside {
            return Ok(true);
        }
        level = index + 1..node.skip();
    }
    // Depth first through the rest of the trie, with the state before each node.
    let mut states = vec![state];
    let base = text.len();
    let mut index = level.start;
    while index < level.end {
        let node = trie.nodes()[index as usize];
        let depth = usize::from(node.depth()) - base;
        states.truncate(depth);
        match engine.step(states[depth - 1], node.byte(), fuel)? {
            Some(_) if node.token() != trie.no_token() => return Ok(true),
            Some(next) => {
                states.push(next);
                index += 1;
            }
            None => index = node.skip(),
        }
    }
    Ok(false)
}

/// The common beginning of the encodings of the text up to all places; or a place up to which it cannot be
/// encoded.
fn common_encoding(
    places: &BTreeSet<usize>,
    text: &[u8],
    vocabulary: &Vocabulary,
    encode: &mut impl FnMut(&[u8]) -> Option<Vec<TokenId>>,
) -> Result<Vec<TokenId>, usize> {
    let mut common: Option<Vec<TokenId>> = None;
    // The longest text first: if it cannot be encoded, the caller tries a shorter one, and nothing else was
    // done.
    for &place in places.iter().rev() {
        let tokens = if place == 0 { Some(Vec::new()) } else { encode(&text[..place]) };
        // The encoder is the caller's. Its answer counts only if it spells exactly these bytes.
        let tokens = tokens.filter(|tokens| spells(tokens, &text[..place], vocabulary)).ok_or(place)?;
        let shared = match &common {
            None => tokens,
            Some(common) => {
                let length = common.iter().zip(&tokens).take_while(|(one, other)| one == other).count();
                tokens[..length].to_vec()
            }
        };
        if shared.is_empty() {
            return Ok(shared);
        }
        common = Some(shared);
    }
    Ok(common.unwrap_or_default())
}

/// Whether the tokens spell the text and nothing else.
fn spells(tokens: &[TokenId], text: &[u8], vocabulary: &Vocabulary) -> bool {
    let mut left = text;
    for &id in tokens {
        let bytes = match vocabulary.id(id.get()) {
            Some(id) => vocabulary.token_bytes(id),
            None => return false,
        };
        match left.strip_prefix(bytes).filter(|_| !bytes.is_empty()) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    left.is_empty()
}

/// The tokens to take back and to append so that the text ends with the certain tokens.
fn relative_to_context(
    context: &[TokenId],
    certain: &[TokenId],
    before: usize,
    vocabulary: &Vocabulary,
    steps: usize,
) -> ForcedTokens {
    let kept = context.iter().zip(certain).take_while(|(one, other)| one == other).count();
    let rollback = context.len() - kept;
    let certain_bytes: usize = certain.iter().map(|&id| vocabulary.token_bytes(id).len()).sum();
    // The encoding must agree with some token of the context. Otherwise the tokenizer would have cut the
    // context itself in another way, from a place that is not known.
    let anchored = kept > 0 || context.is_empty();
    if certain_bytes <= before || !anchored || rollback > steps {
        return ForcedTokens::default();
    }
    ForcedTokens { rollback, tokens: certain[kept..].to_vec() }
}
