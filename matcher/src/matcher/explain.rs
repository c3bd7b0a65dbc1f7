//! Why a token is refused.

use std::fmt;
use std::sync::Arc;

use grammask_mask_cache::{TokenId, TokenKind, Vocabulary, names_token, read_token};
use grammask_parser_backend::{Backend, Fuel, StepError};

use super::matcher::Matcher;
use crate::base::byte_set::{ByteSet, Shown};
use crate::base::error::MatchError;

/// The outcome of a token that was tried. `Display` says it in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Explanation {
    /// The token is allowed.
    Allowed,
    /// The text has ended; nothing can follow.
    Terminated,
    /// The vocabulary has no token with the id.
    OutOfRange,
    /// A special token that the grammar does not name here. Its name is no text.
    Special,
    /// An id without bytes: padding, or a hole in the vocabulary.
    Empty,
    /// A stop token, and the text is not whole.
    TooEarlyToStop {
        /// The bytes that could come next.
        possible: ByteSet,
    },
    /// One of the token's bytes is not allowed.
    Refused {
        /// Place of the byte in the token.
        offset: usize,
        /// The byte.
        byte: u8,
        /// The bytes that could come in its place.
        possible: ByteSet,
        /// Whether the text could end before the byte.
        may_end: bool,
    },
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allowed => formatter.write_str("the token is allowed"),
            Self::Terminated => formatter.write_str("the text has ended, and nothing can follow"),
            Self::OutOfRange => formatter.write_str("the vocabulary has no token with this id"),
            Self::Special => formatter.write_str("a special token, which the structure does not name here"),
            Self::Empty => formatter.write_str("an id without bytes, which no text needs"),
            Self::TooEarlyToStop { possible } => {
                write!(formatter, "the text cannot end here; it goes on with {possible}")
            }
            Self::Refused { offset, byte, possible, may_end } => {
                let byte = Shown(*byte);
                write!(formatter, "byte {offset} of the token, {byte}, is not allowed; ")?;
                match (possible.is_empty(), may_end) {
                    (true, _) => formatter.write_str("the text can only end there"),
                    (false, false) => write!(formatter, "possible are {possible}"),
                    (false, true) => write!(formatter, "possible are {possible}, and the end of the text"),
                }
            }
        }
    }
}

impl<B: Backend> Matcher<B> {
    /// Whether a token is allowed here, and if not, which of its bytes is refused and which bytes were
    /// possible there.
    ///
    /// # Errors
    ///
    /// Where a limit is reached.
    pub fn explain(&mut self, id: TokenId) -> Result<Explanation, MatchError> {
        let vocabulary = Arc::clone(self.grammar.vocabulary());
        let terminated = self.terminated;
        let (is_stop, never_ends) = (self.stop.contains(id, &vocabulary), self.stop.never_end());
        let bytes = vocabulary.token_bytes(id);
        if self.scopes.is_some() && !is_stop && !terminated && !bytes.is_empty() {
            return self.explain_unique(bytes);
        }
        self.with_tables(|generation, state, _, fuel| {
            let engine = &generation.engine;
            let is_read = !terminated && (!is_stop || names_token(engine, state, id));
            if is_read && read_token(engine, state, &vocabulary, id, fuel)?.is_ok() {
                return Ok(Explanation::Allowed);
            }
            match (terminated, is_stop) {
                (true, _) => Ok(Explanation::Terminated),
                (_, true) if never_ends => Ok(Explanation::Special),
                (_, true) if engine.is_complete(state) => Ok(Explanation::Allowed),
                (_, true) => Ok(Explanation::TooEarlyToStop { possible: engine.next_bytes(state).into() }),
                _ if bytes.is_empty() => Ok(without_bytes(&vocabulary, id)),
                _ => explain(engine, state, bytes, fuel),
            }
        })
    }
}

/// Why a token that spells nothing is refused.
fn without_bytes(vocabulary: &Vocabulary, id: TokenId) -> Explanation {
    match vocabulary.kind(id) {
        _ if id.index() >= vocabulary.len() => Explanation::OutOfRange,
        TokenKind::Special | TokenKind::Stop => Explanation::Special,
        TokenKind::Text | TokenKind::Empty => Explanation::Empty,
    }
}

fn explain<B: Backend>(
    engine: &B,
    mut state: B::State,
    bytes: &[u8],
    fuel: &mut Fuel,
) -> Result<Explanation, StepError> {
    for (offset, &byte) in bytes.iter().enumerate() {
        match engine.step(state, byte, fuel)? {
            Some(next) => state = next,
            None => {
                return Ok(Explanation::Refused {
                    offset,
                    byte,
                    possible: engine.next_bytes(state).into(),
                    may_end: engine.is_complete(state),
                });
            }
        }
    }
    Ok(Explanation::Allowed)
}
