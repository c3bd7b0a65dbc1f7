//! Why a token is refused.

use std::sync::Arc;

use grammask_mask_cache::{TokenId, names_token, read_token};
use grammask_parser_backend::{Backend, Fuel, StepError};

use super::matcher::Matcher;
use crate::base::error::MatchError;

/// The outcome of a token that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Explanation {
    /// The token is allowed.
    Allowed,
    /// The text has ended; nothing can follow.
    Terminated,
    /// The token has no bytes: it is special, padding, or not in the vocabulary.
    NoBytes,
    /// A stop token, and the text is not whole.
    TooEarlyToStop {
        /// The bytes that could come next: bit `b % 64` of word `b / 64`.
        possible: [u64; 4],
    },
    /// One of the token's bytes is not allowed.
    Refused {
        /// Place of the byte in the token.
        offset: usize,
        /// The byte.
        byte: u8,
        /// The bytes that could come in its place: bit `b % 64` of word `b / 64`.
        possible: [u64; 4],
        /// Whether the text could end before the byte.
        may_end: bool,
    },
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
        let is_stop = self.stop.contains(id, &vocabulary);
        if self.scopes.is_some() && !is_stop && !terminated {
            return self.explain_unique(vocabulary.token_bytes(id));
        }
        self.with_tables(|generation, state, _, fuel| {
            let engine = &generation.engine;
            let is_read = !terminated && (!is_stop || names_token(engine, state, id));
            if is_read && read_token(engine, state, &vocabulary, id, fuel)?.is_ok() {
                return Ok(Explanation::Allowed);
            }
            let token = TriedToken { bytes: vocabulary.token_bytes(id), is_stop };
            explain(engine, state, token, terminated, fuel)
        })
    }
}

/// The token in question.
struct TriedToken<'t> {
    bytes: &'t [u8],
    is_stop: bool,
}

fn explain<B: Backend>(
    engine: &B,
    mut state: B::State,
    token: TriedToken<'_>,
    terminated: bool,
    fuel: &mut Fuel,
) -> Result<Explanation, StepError> {
    if terminated {
        return Ok(Explanation::Terminated);
    }
    if token.is_stop {
        return Ok(match engine.is_complete(state) {
            true => Explanation::Allowed,
            false => Explanation::TooEarlyToStop { possible: engine.next_bytes(state) },
        });
    }
    if token.bytes.is_empty() {
        return Ok(Explanation::NoBytes);
    }
    for (offset, &byte) in token.bytes.iter().enumerate() {
        match engine.step(state, byte, fuel)? {
            Some(next) => state = next,
            None => {
                return Ok(Explanation::Refused {
                    offset,
                    byte,
                    possible: engine.next_bytes(state),
                    may_end: engine.is_complete(state),
                });
            }
        }
    }
    Ok(Explanation::Allowed)
}
