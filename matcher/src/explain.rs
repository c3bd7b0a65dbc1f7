//! Why a token is refused.

use grammask_parser_backend::{Backend, Fuel, StepError};

/// What became of a token that was tried.
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
    Dies {
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

/// The token in question.
pub(crate) struct Tried<'t> {
    pub(crate) bytes: &'t [u8],
    pub(crate) is_stop: bool,
}

pub(crate) fn explain<B: Backend>(
    engine: &B,
    mut state: B::State,
    token: Tried<'_>,
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
                return Ok(Explanation::Dies {
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
