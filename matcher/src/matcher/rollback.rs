//! Taking steps back.

use std::sync::Arc;

use grammask_parser_backend::Backend;

use super::matcher::Matcher;
use crate::base::error::MatchError;
use crate::grammar::generation::Generation;

/// A place that a matcher comes back to within one call. It keeps the tables of the place, since the call may fill some.
pub(super) struct Place<B: Backend> {
    steps: usize,
    state: B::State,
    generation: Arc<Generation<B>>,
}

impl<B: Backend> Matcher<B> {
    /// Takes back the last `steps` steps, a stop token counted.
    ///
    /// The states of at least the last 4,096 steps are kept, as far as the tables have room for them. If a
    /// rollback reaches further, and tables were begun anew since, the text up to there is read again.
    ///
    /// # Errors
    ///
    /// Where fewer were taken; or where a limit is reached while the text is read again. The matcher is then left as it
    /// was.
    pub fn rollback(&mut self, steps: usize) -> Result<(), MatchError> {
        let taken = self.steps();
        let Some(left) = taken.checked_sub(steps) else {
            return Err(MatchError::RollbackTooFar { asked: steps, taken });
        };
        if steps > 0 && !self.history.is_known(left) {
            // Into a second matcher: an error leaves this one as it was.
            let mut before = self.read_again(&self.grammar, 0..left)?;
            before.counts.take_over(&mut self.counts);
            before.counts.unpublished.read_again += left as u64;
            *self = Self { scratch: std::mem::take(&mut self.scratch), ..before };
        } else {
            self.take_back_to(left);
        }
        Ok(())
    }

    /// Where the matcher is.
    pub(super) fn place(&self) -> Place<B> {
        Place { steps: self.steps(), state: self.state(), generation: Arc::clone(self.generation()) }
    }

    /// Takes back the steps that were taken since. The tables stay the new ones if they have the state.
    pub(super) fn return_to(&mut self, place: Place<B>) {
        // Asked before the steps are taken back, because that drops what is known of them. If the state was
        // lost in a move to new tables, the place still has it, with the tables that it belongs to.
        let is_known = self.history.is_known(place.steps);
        self.take_back_to(place.steps);
        if !is_known {
            (self.state, self.generation) = (place.state, place.generation);
            self.last_mask = None;
        }
    }

    /// Takes back all steps but the first.
    fn take_back_to(&mut self, steps: usize) {
        let Some(state) = self.history.truncate(steps) else { return };
        self.state = state;
        self.terminated = false;
        if let Some(scopes) = self.scopes.as_deref_mut() {
            scopes.truncate(steps);
        }
        if let Some(tracker) = self.tracker.as_deref_mut() {
            tracker.truncate(steps);
        }
    }
}
