//! New sets: closures that are run, and sets that are made from the items of others.

use std::sync::atomic::Ordering;

use grammask_fsm::Program;
use grammask_parser_backend::{Fuel, StepError};

use super::lazy::{Automaton, Builder};
use crate::closure::rebuild;
use crate::closure::set_closure::SlotConflict;
use crate::tables::ids::{SLOTS, SetId, units};
use crate::tables::items::{Acceptance, Item};
use crate::tables::slots::SlotChange;
use crate::tables::state::State;

impl Automaton {
    /// Runs the closure that was begun, and interns its result.
    #[allow(clippy::type_complexity, reason = "two kinds of failure: a limit, and a conflict to resolve")]
    pub(crate) fn close(
        &self,
        builder: &mut Builder,
        counts: &[u32; SLOTS],
        fuel: &mut Fuel,
    ) -> Result<Result<(SetId, [Option<SlotChange>; SLOTS]), SlotConflict>, StepError> {
        let limit = self.config.max_items_per_set;
        let Builder { contexts, closure, .. } = builder;
        let closed = closure.run(&self.grammar(), contexts, counts, limit, fuel.left());
        fuel.burn(closure.work() + self.far_units(&closure.items))?;
        // As the closure asks: where that stopped it, it is not whole.
        self.check_items(closure.size())?;
        if let Err(conflict) = closed {
            return Ok(Err(conflict));
        }
        // The items leave the closure for the call, because interning borrows the whole builder. Their memory
        // is given back even if interning fails.
        let items = std::mem::take(&mut builder.closure.items);
        let acceptance =
            Acceptance { complete: builder.closure.complete, local_complete: builder.closure.local_complete };
        let set = self.intern(builder, &items, acceptance);
        builder.closure.items = items;
        let set = set?;
        let mut changes = [None; SLOTS];
        // Slots that the new set does not use are cleared by the step, so that equal configurations have
        // equal counts.
        for slot in self.sets.sets.get(set.index()).slots.iter() {
            changes[slot.index()] = Some(builder.closure.slot_change(slot));
        }
        Ok(Ok((set, changes)))
    }

    /// The work of items in programs that this one refers to, beyond that of other items.
    pub(crate) fn far_units(&self, items: &[Item]) -> u64 {
        units(8 * items.iter().filter(|item| self.program.is_far(item.state)).count())
    }

    pub(crate) fn intern(
        &self,
        builder: &mut Builder,
        items: &[Item],
        acceptance: Acceptance,
    ) -> Result<SetId, StepError> {
        let bytes = builder.index.bytes() + builder.contexts.bytes() + builder.closure.bytes();
        let bytes = bytes + self.query_bytes.load(Ordering::Relaxed) + builder.closures.bytes();
        // Relaxed: the number is a statistic for other threads, and the limit below uses the local value.
        self.sets.bytes.store(bytes, Ordering::Relaxed);
        check_deferred(&self.program)?;
        let limit = self.config.max_bytes;
        if bytes > limit {
            return Err(StepError::OutOfMemory { bytes, limit });
        }
        builder
            .index
            .intern(&self.sets, &self.program, &builder.contexts, items, acceptance)
            .ok_or(StepError::OutOfMemory { bytes, limit })
    }

    pub(crate) fn check_items(&self, items: usize) -> Result<(), StepError> {
        let limit = self.config.max_items_per_set;
        if items > limit { Err(StepError::TooManyItems { items, limit }) } else { Ok(()) }
    }

    /// The same configuration with its counts in the contexts.
    pub(crate) fn with_exact_counts(
        &self,
        builder: &mut Builder,
        state: State,
        fuel: &mut Fuel,
    ) -> Result<State, StepError> {
        let set = self.set(state);
        let (items, contexts) = rebuild::with_exact_counts(&mut builder.contexts, &set.items, &state.counts);
        fuel.burn(units(items.len() + 2 * contexts))?;
        let set = self.intern(builder, &items, set.acceptance())?;
        Ok(State { set, counts: [0; SLOTS] })
    }
}

/// Fails where a deferred compilation has failed: sets that were made since then are not to be trusted.
pub(crate) fn check_deferred(program: &Program) -> Result<(), StepError> {
    match program.failure() {
        None => Ok(()),
        Some(error) => Err(StepError::DeferredCompileFailed { reason: error.to_string().into() }),
    }
}
