//! The bytes that may follow: all of them, those that are forced, and a shortest way to the end.

use grammask_parser_backend::{Backend, Fuel, TokenEdges};

use super::matcher::Matcher;
use crate::base::byte_set::{ByteSet, only_byte};
use crate::base::error::MatchError;

impl<B: Backend> Matcher<B> {
    /// The longest text that every way on begins with: the bytes that are forced here. Empty where the text
    /// may end here or go on in more than one way; at most 64 KiB.
    ///
    /// # Errors
    ///
    /// Where a limit is reached.
    pub fn jump_forward(&mut self) -> Result<Vec<u8>, MatchError> {
        if self.terminated {
            return Ok(Vec::new());
        }
        if self.scopes.is_some() {
            return self.jump_forward_unique();
        }
        self.with_tables(|generation, mut state, _, fuel| {
            let mut forced = Vec::new();
            let engine = &generation.engine;
            // Where a token may be read as a whole, no byte is forced.
            let may_be_forced =
                |state| !engine.is_complete(state) && engine.token_edges().token_labels(state).is_empty();
            while forced.len() < MAX_FORCED && may_be_forced(state) {
                let Some(byte) = only_byte(&generation.engine.next_bytes(state)) else { break };
                let Some(next) = generation.engine.step(state, byte, fuel)? else { break };
                forced.push(byte);
                state = next;
            }
            Ok(forced)
        })
    }

    /// A shortest text that finishes the sentence from here; empty where it is whole. `None` where it takes more than
    /// `max_bytes`, or a token that is no text has to come. Where items or names must differ, a short one: the shortest
    /// may write one of them twice.
    ///
    /// # Errors
    ///
    /// Where a limit is reached.
    pub fn shortest_ending(&mut self, max_bytes: usize) -> Result<Option<Vec<u8>>, MatchError> {
        if self.terminated {
            return Ok(Some(Vec::new()));
        }
        if self.scopes.is_some() {
            return self.short_ending_unique(max_bytes);
        }
        self.with_tables(|generation, state, _, fuel| {
            generation.engine.shortest_ending(state, max_bytes, fuel)
        })
    }

    /// The bytes that may come next. None where the text has ended, or can only end.
    pub fn next_bytes(&self) -> ByteSet {
        if self.terminated {
            return ByteSet::default();
        }
        let (engine, state) = (&self.generation().engine, self.state());
        let possible = match self.scopes.as_deref().filter(|scopes| scopes.is_open()) {
            // Past a limit nothing is decided, and the backend's answer holds the bytes so far.
            Some(scopes) => {
                let mut fuel = Fuel::new(self.grammar.limits().max_work_per_call);
                scopes
                    .without_history()
                    .next_bytes(engine, state, &mut fuel)
                    .unwrap_or_else(|_| engine.next_bytes(state))
            }
            None => engine.next_bytes(state),
        };
        possible.into()
    }
}

/// Forced text is cut here: a grammar can force a text without end.
pub(super) const MAX_FORCED: usize = 64 << 10;
