//! Going on with a text under another grammar.
//!
//! While a model writes, the tools that it may call can change. The matcher knows the text as a state of the
//! old grammar's automata, which means nothing to the new one. So the new one reads the text, or the part of
//! it that still matters, again. Most of that is looked up: steps of a lazy automaton that other texts took
//! before.

use std::ops::Range;
use std::sync::Arc;

use grammask_parser_backend::{Backend, StepError};

use super::history::HistoryStep;
use super::matcher::Matcher;
use crate::base::error::MatchError;
use crate::grammar::compiled::CompiledGrammar;

/// The part of the text so far that another grammar reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replay {
    /// All of it.
    All,
    /// The text since the matcher was last in its first state: since the last finished call, if calls are in
    /// free text. To the old grammar this part is equal to all of the text, so that the text may hold calls
    /// of tools that are offered no more. All of the text, if the matcher never returned, or if rules of the
    /// old grammar have options (a bound on tokens, say).
    SinceReturn,
    /// The last steps of it.
    Last(usize),
}

impl<B: Backend> Matcher<B> {
    /// Continues the text under another grammar over the same vocabulary, which reads it, or a part of it,
    /// from the grammar's beginning. Text that was not read again is no longer part of the text: it cannot be
    /// rolled back. [`stats`](Self::stats) count anew.
    ///
    /// To add tools to a conversation, or to take some away, compile the new set (only its new parts are
    /// compiled, see [`Compiler::tag`](crate::Compiler::tag)) and switch to it.
    ///
    /// # Errors
    ///
    /// Fails if the new grammar does not allow the text ([`MatchError::TextRefused`]), as in the middle of a
    /// call of a tool that was taken away. It also fails if the grammar has another vocabulary, if there are
    /// fewer steps than were asked for, or if a limit is reached. The matcher is then left as it was.
    pub fn switch_to(&mut self, grammar: &CompiledGrammar<B>, replay: Replay) -> Result<(), MatchError> {
        let (old, new) = (self.grammar.vocabulary(), grammar.vocabulary());
        if !Arc::ptr_eq(old, new) && old.fingerprint() != new.fingerprint() {
            return Err(MatchError::OtherVocabulary);
        }
        let taken = self.steps();
        let first = match replay {
            Replay::All => 0,
            Replay::SinceReturn => self.last_return(),
            Replay::Last(asked) => {
                taken.checked_sub(asked).ok_or(MatchError::RollbackTooFar { asked, taken })?
            }
        };
        // The text is read by a second matcher, so a failure in the middle leaves this one as it was.
        *self = self.read_again(grammar, first..taken)?;
        Ok(())
    }

    /// A matcher that has read some of the steps again. Together they may take as much work as one call.
    pub(super) fn read_again(
        &self,
        grammar: &CompiledGrammar<B>,
        steps: Range<usize>,
    ) -> Result<Self, MatchError> {
        let limit = grammar.limits().max_work_per_call;
        let mut next = grammar.matcher().with_stop_tokens(self.stop.clone());
        next.interrupt = self.interrupt.clone();
        // The steps share the work of one call. Otherwise a long text could take this limit once for each of
        // its tokens.
        next.work_left = Some(limit);
        for (step, read) in steps.clone().zip(self.history.from(steps.start, grammar.vocabulary())) {
            let read = match read {
                HistoryStep::Token(id) => next.accept_token(id),
                // Steps stay steps of the same kind, so rolling back counts them as before.
                HistoryStep::Bytes(bytes) => next.accept_bytes(bytes),
            };
            read.map_err(|error| match error {
                MatchError::Limit(StepError::OutOfWork { .. }) => StepError::OutOfWork { limit }.into(),
                error if error.is_indeterminate() => error,
                _ => MatchError::TextRefused { step },
            })?;
        }
        next.work_left = None;
        Ok(next)
    }

    /// The last step at which the state was the first one of the text, as far as states are known: else its
    /// beginning. The beginning is also the answer if rules have options. The number of tokens that a rule
    /// has read, and the items that have occurred, are no part of a state.
    fn last_return(&self) -> usize {
        if self.terminated || self.tracker.is_some() || self.scopes.is_some() {
            return 0;
        }
        let start = self.generation().engine.start();
        let mut states = std::iter::once(self.state()).chain(self.history.states_back());
        states.position(|state| state == start).map_or(0, |steps| self.steps() - steps)
    }
}
