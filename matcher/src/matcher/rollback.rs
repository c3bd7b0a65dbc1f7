//! Taking steps back.

use grammask_parser_backend::Backend;

use super::matcher::Matcher;
use crate::base::error::MatchError;

impl<B: Backend> Matcher<B> {
    /// Takes back the last `steps` steps, a stop token counted.
    ///
    /// # Errors
    ///
    /// Where fewer were taken.
    pub fn rollback(&mut self, steps: usize) -> Result<(), MatchError> {
        if steps > self.steps() {
            return Err(MatchError::RollbackTooFar { asked: steps, taken: self.steps() });
        }
        self.take_back(steps);
        Ok(())
    }

    /// Takes back steps of which there are enough.
    pub(super) fn take_back(&mut self, steps: usize) {
        if steps > 0 {
            self.terminated = false;
        }
        self.states.truncate(self.states.len().saturating_sub(steps).max(1));
        if let Some(scopes) = self.scopes.as_deref_mut() {
            scopes.truncate(self.states.len() - 1);
        }
        if let Some(tracker) = self.tracker.as_deref_mut() {
            tracker.truncate(self.states.len() - 1);
        }
        self.history.truncate(self.states.len() - 1);
        self.drop_unused_tables();
    }

    /// Goes back to the tables that the last state belongs to.
    pub(super) fn drop_unused_tables(&mut self) {
        while self.current.0 >= self.states.len()
            && let Some(former) = self.former_tables.pop()
        {
            self.current = former;
            self.last_mask = None;
        }
    }
}
