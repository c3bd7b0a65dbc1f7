//! Accepting tokens and bytes.
//!
//! The bytes of nearly every token are steps that some text took before. Those tokens are read without fuel,
//! without shared counts and without a look at the budget; all others take a slower way beside it.

use std::sync::Arc;

use grammask_mask_cache::{TokenId, names_token, read_token};
use grammask_parser_backend::{Backend, StepError, TokenEdges};

use super::attribute_tracker::TrackedStep;
use super::matcher::Matcher;
use crate::base::error::MatchError;

impl<B: Backend> Matcher<B> {
    /// Accepts a token.
    ///
    /// # Errors
    ///
    /// Where the token is not allowed, has no bytes, or the text has ended; or where a limit is reached.
    pub fn accept_token(&mut self, id: TokenId) -> Result<(), MatchError> {
        if self.terminated {
            return Err(MatchError::Terminated);
        }
        if let Some(next) = self.read_known(id) {
            self.history.push_token(self.state, id);
            self.state = next;
            self.counts.unpublished.steps += 1;
            return Ok(());
        }
        self.accept_slowly(id)
    }

    /// The state after a token that is neither a stop token nor named by the grammar, and whose bytes are all
    /// steps that were taken before. Nearly every call finds one. Shared counts, fuel and the tables' budget
    /// can be ignored then, and so can options of rules if no rule has any. `None`: not that simple, or
    /// refused.
    #[inline]
    fn read_known(&self, id: TokenId) -> Option<B::State> {
        let (generation, state) = (self.generation(), self.state());
        let bytes = self.texts.get(id);
        // The vocabulary's own stop tokens have no bytes.
        if bytes.is_empty()
            || generation.is_retired()
            || self.tracker.is_some()
            || self.scopes.is_some()
            || self.stop.own().contains(&id)
            || !generation.engine.token_edges().token_labels(state).is_empty()
        {
            return None;
        }
        generation.engine.read_known(state, bytes)
    }

    #[inline(never)]
    fn accept_slowly(&mut self, id: TokenId) -> Result<(), MatchError> {
        let vocabulary = Arc::clone(self.grammar.vocabulary());
        // A stop token ends the text, unless the grammar names it: then it is read like any other token.
        let is_stop = self.stop.contains(id, &vocabulary);
        let is_named = names_token(&self.generation().engine, self.state(), id);
        if is_stop && !is_named {
            if self.stop.never_end() || !self.is_completed() {
                return Err(MatchError::TokenRefused(id));
            }
            if let Some(scopes) = self.scopes.as_deref_mut() {
                let here = scopes.mark();
                scopes.push_step(here);
            }
            let next = self.track(TrackedStep::Stop, &[], self.state())?;
            self.history.push_token(self.state, id);
            self.state = next;
            self.terminated = true;
            self.counts.unpublished.steps += 1;
            return Ok(());
        }
        let next = match self.scopes.is_some() {
            true => self.read_unique(vocabulary.token_bytes(id))?,
            false => self.with_tables(|generation, state, _, fuel| {
                read_token(&generation.engine, state, &vocabulary, id, fuel)
            })?,
        };
        let next = next.map_err(|_| MatchError::TokenRefused(id))?;
        let next = self.track(TrackedStep::Token(id), vocabulary.token_bytes(id), next)?;
        self.history.push_token(self.state, id);
        self.state = next;
        self.counts.unpublished.steps += 1;
        // A stop token that the grammar names is read like any other, and ends the text if it is whole then.
        self.terminated = is_stop && !self.stop.never_end() && self.is_completed();
        Ok(())
    }

    /// Accepts bytes that need not be tokens, as one step.
    ///
    /// # Errors
    ///
    /// Where a byte is not allowed, with its offset; or where a limit is reached.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), MatchError> {
        if self.terminated {
            return Err(MatchError::Terminated);
        }
        let next = match self.scopes.is_some() {
            true => self.read_each_unique(bytes)?,
            false => self.with_tables(|generation, mut state, _, fuel| {
                for (offset, &byte) in bytes.iter().enumerate() {
                    match generation.engine.step(state, byte, fuel)? {
                        Some(next) => state = next,
                        None => return Ok(Err(offset)),
                    }
                }
                Ok(Ok(state))
            })?,
        };
        let next = next.map_err(|offset| MatchError::ByteRefused { offset, byte: bytes[offset] })?;
        let next = self.track(TrackedStep::Bytes, bytes, next)?;
        self.history.push_bytes(self.state, bytes);
        self.state = next;
        self.counts.unpublished.steps += 1;
        Ok(())
    }

    /// How many of the tokens could be accepted one after the other. Nothing is accepted. Together they may take as much
    /// work as one call.
    ///
    /// # Errors
    ///
    /// Where a limit is reached before a token is refused.
    pub fn validate_tokens(&mut self, tokens: &[TokenId]) -> Result<usize, MatchError> {
        let here = self.place();
        let limit = self.grammar.limits().max_work_per_call;
        self.work_left = Some(limit);
        let mut accepted = 0;
        let mut outcome = Ok(());
        for &id in tokens {
            match self.accept_token(id) {
                Ok(()) => accepted += 1,
                Err(MatchError::Limit(StepError::OutOfWork { .. })) => {
                    outcome = Err(StepError::OutOfWork { limit }.into());
                    break;
                }
                Err(error) if error.is_indeterminate() => {
                    outcome = Err(error);
                    break;
                }
                Err(_) => break,
            }
        }
        self.work_left = None;
        self.return_to(here);
        outcome.map(|()| accepted)
    }
}
