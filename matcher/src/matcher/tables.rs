//! Moving from one generation of tables to the next.
//!
//! A state means something only in the tables that it belongs to. The naive way, to hold the tables of all
//! states of the history, lets one text hold gigabytes: there are grammars whose tables are full after five
//! tokens. So a matcher holds one generation. When it is full, or was given up to keep the budget, the
//! current state moves over to the next one, and with it the states of the last steps. So a rollback costs no
//! more than before, and one step back and forth over the edge of a generation finds both states in the new
//! one. States share nearly all of their parts, so thousands of them mostly take little more room than one.
//! Where they take more than a share of the new tables the earlier ones are left behind, and a rollback to
//! them reads the text again.

use std::sync::Arc;

use grammask_mask_cache::Scratch;
use grammask_parser_backend::{Backend, Fuel, StepError, Tables};

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
        let mut fuel = self.fuel();
        // Before the call, because a matcher that needs work is about to fill tables, and those that others took
        // the place of are to go.
        if self.generation().is_retired() || self.generation().is_full() {
            self.move_to_current_tables();
        }
        let mut generation = Arc::clone(self.generation());
        // The call must be one that can be repeated: it changes the matcher only by its result.
        let mut result = call(&generation, self.state(), &mut self.scratch, &mut fuel);
        let mut had_all_room = false;
        for tables in [FallbackTables::Shared, FallbackTables::Own] {
            let Err(error) = &result else { break };
            if !is_full(error) || had_all_room {
                break;
            }
            // First the tables that all matchers of the grammar move to. Others may fill them before this
            // call is done, which tables of its own rule out.
            generation.mark_full();
            let next = match tables {
                FallbackTables::Shared => self.grammar.next_generation(),
                FallbackTables::Own => self.grammar.new_generation(&generation),
            };
            let next = next.map_err(|_| error.clone())?;
            match self.migrate_to(&generation, &next) {
                Ok(()) => {
                    generation = next;
                    result = call(&generation, self.state(), &mut self.scratch, &mut fuel);
                    // Tables that nobody else has filled hold as much as any others.
                    had_all_room = !generation.is_shared();
                }
                Err(error) => result = Err(error),
            }
        }
        // The fuel is that of the whole call, over all tries.
        if let Some(left) = &mut self.work_left {
            *left = fuel.left();
        }
        if fuel.burnt() > 0 {
            self.grammar.account_growth(&generation);
        }
        Ok(result?)
    }

    /// Moves over to the tables that took the place of those of the current state. Where that is not possible the
    /// old ones still serve.
    #[cold]
    fn move_to_current_tables(&mut self) {
        let (old, current) = (Arc::clone(self.generation()), self.grammar.generation());
        if !Arc::ptr_eq(&old, &current) {
            // A failure changes nothing, and the old tables stay valid as long as this matcher holds them.
            let _ = self.migrate_to(&old, &current);
        }
    }

    /// Makes the current state one of another generation of tables, and those of the last steps as far as there is room.
    fn migrate_to(&mut self, full: &Generation<B>, next: &Arc<Generation<B>>) -> Result<(), StepError> {
        let states: Vec<B::State> =
            std::iter::once(self.state()).chain(self.history.states_back().take(KEPT_STEPS)).collect();
        let mut fuel = Fuel::new(self.grammar.limits().max_work_per_call);
        // The current state comes first: it has to be moved. The others follow from the newest to the oldest,
        // so that a short answer lacks the oldest.
        let grown_before = next.grown_by();
        let moved = next.engine.tables().import(&full.engine, &states, self.max_growth(next), &mut fuel);
        let moved = moved.inspect_err(|error| {
            if is_full(error) {
                next.mark_full();
            }
        })?;
        // A state that nearly fills the tables would soon move again, each time at the price of all of it.
        let limit = self.grammar.limits().max_table_bytes;
        if next.grown_by().saturating_sub(grown_before) > limit - limit / 8 {
            next.mark_full();
            return Err(StepError::OutOfMemory { bytes: full.grown_by(), limit });
        }
        let Some((&state, before)) = moved.split_first() else {
            return Err(StepError::OutOfWork { limit: 0 });
        };
        // The tables that the last mask was read off may go now, and others take their address.
        self.last_mask = None;
        self.state = state;
        self.history.replace_states(before);
        self.generation = Arc::clone(next);
        self.counts.unpublished.moves += 1;
        Ok(())
    }

    /// The number of bytes of tables that the states of the history may take. Half of the room is left for
    /// the text that follows, so that tables are not full of the past. Tables that many texts move over to
    /// are never full of that alone.
    fn max_growth(&self, tables: &Generation<B>) -> usize {
        self.grammar.max_bytes_before_release().saturating_sub(tables.grown_by()) / 2
    }
}

/// The number of steps whose states move over with the current one.
const KEPT_STEPS: usize = 4096;

/// Which tables a call goes on with.
#[derive(Clone, Copy)]
enum FallbackTables {
    /// Those that all matchers of the grammar share.
    Shared,
    /// New ones that no other matcher uses.
    Own,
}
