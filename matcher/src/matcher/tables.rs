//! Moving from one generation of tables to the next.
//!
//! A state means something only in the tables that it belongs to. So a matcher holds the tables of its whole history,
//! and moves its current state over when they are full or were given up to keep the budget.

use std::sync::Arc;

use grammask_mask_cache::Scratch;
use grammask_parser_backend::{Backend, Fuel, StepError};

use super::matcher::Matcher;
use crate::base::error::MatchError;
use crate::grammar::generation::{Generation, is_full};

impl<B: Backend> Matcher<B> {
    /// Runs a call on the current tables; if they are full, on new ones. Others may fill the new ones before it is
    /// done: then on tables of its own, so that a call that would succeed alone succeeds in company.
    pub(super) fn with_tables<T>(
        &mut self,
        mut call: impl FnMut(&Generation<B>, B::State, &mut Scratch, &mut Fuel) -> Result<T, StepError>,
    ) -> Result<T, MatchError> {
        let mut fuel = Fuel::new(self.grammar.limits().max_work_per_call);
        if self.generation().is_retired() {
            self.leave_retired_tables();
        }
        let mut generation = Arc::clone(self.generation());
        let mut result = call(&generation, self.state(), &mut self.scratch, &mut fuel);
        for tables in [FallbackTables::Shared, FallbackTables::Own] {
            let Err(error) = &result else { break };
            if !is_full(error) {
                break;
            }
            let next = match tables {
                FallbackTables::Shared => self.grammar.next_generation(&generation),
                FallbackTables::Own => self.grammar.new_generation(&generation),
            };
            let next = next.map_err(|_| error.clone())?;
            match self.migrate_to(&generation, &next) {
                Ok(()) => {
                    generation = next;
                    result = call(&generation, self.state(), &mut self.scratch, &mut fuel);
                }
                Err(error) => result = Err(error),
            }
        }
        if fuel.burnt() > 0 {
            self.grammar.account_growth(&generation);
        }
        Ok(result?)
    }

    /// Moves over to the tables that took the place of those of the current state. Where that is not possible the
    /// old ones still serve.
    #[cold]
    fn leave_retired_tables(&mut self) {
        let (old, current) = (Arc::clone(self.generation()), self.grammar.generation());
        if !Arc::ptr_eq(&old, &current) {
            let _ = self.migrate_to(&old, &current);
        }
    }

    /// Makes the current state one of another generation of tables.
    fn migrate_to(&mut self, full: &Generation<B>, next: &Arc<Generation<B>>) -> Result<(), StepError> {
        let state = next.engine.import(&full.engine, self.state())?;
        // The tables that the last mask was read off may go now, and others take their address.
        self.last_mask = None;
        let current = self.states.len() - 1;
        let before = std::mem::replace(&mut self.current, (current, Arc::clone(next)));
        if before.0 != current {
            self.former_tables.push(before);
        }
        self.states[current] = state;
        self.counts.unpublished.moves += 1;
        Ok(())
    }
}

/// Which tables a call goes on with.
#[derive(Clone, Copy)]
enum FallbackTables {
    /// Those that all matchers of the grammar share.
    Shared,
    /// New ones that no other matcher uses.
    Own,
}
