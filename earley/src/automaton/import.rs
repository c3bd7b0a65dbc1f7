//! States of one automaton as states of another one of the same program.
//!
//! A text that moves over to new tables takes thousands of states along, so that it can be taken back. The
//! naive way makes each of them anew with all that it leads to, and contexts nest as deep as the text. But
//! the states of one text share nearly all of their contexts. So the whole call remembers which contexts and
//! sets of the other correspond to which here. It takes time in proportion to the size of the states
//! together, each part counted once.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

use grammask_grammar_ir::hash::HashMap;
use grammask_parser_backend::{Fuel, StepError};

use super::lazy::{Automaton, Builder};
use crate::closure::rebuild::{ImportedContexts, import_items};
use crate::tables::ids::{SetId, units};
use crate::tables::state::State;

/// States that are moved before others get at the tables: the locks are held for some ten microseconds.
const STATES_AT_ONCE: usize = 32;

/// The other automaton's sets and contexts in this one.
#[derive(Default)]
struct Imported {
    sets: HashMap<SetId, SetId>,
    contexts: ImportedContexts,
}

impl Automaton {
    /// States of another automaton of the same program; see
    /// [`Tables::import`](grammask_parser_backend::Tables::import).
    pub(crate) fn import(
        &self,
        other: &Self,
        states: &[State],
        max_growth: usize,
        fuel: &mut Fuel,
    ) -> Result<Vec<State>, StepError> {
        let max_bytes = self.sets.bytes.load(Ordering::Relaxed).saturating_add(max_growth);
        let mut imported = Imported::default();
        let mut moved = Vec::with_capacity(states.len());
        for some in states.chunks(STATES_AT_ONCE) {
            let (mut builder, theirs) = self.lock_both(other);
            for &State { set, counts } in some {
                if !moved.is_empty() && self.sets.bytes.load(Ordering::Relaxed) >= max_bytes {
                    return Ok(moved);
                }
                match self.import_set(&mut builder, (other, &theirs), set, &mut imported, fuel) {
                    Ok(set) => moved.push(State { set, counts }),
                    Err(error) if moved.is_empty() => return Err(error),
                    Err(_) => return Ok(moved),
                }
            }
        }
        Ok(moved)
    }

    fn import_set(
        &self,
        builder: &mut Builder,
        (other, theirs): (&Self, &Builder),
        set: SetId,
        imported: &mut Imported,
        fuel: &mut Fuel,
    ) -> Result<SetId, StepError> {
        if let Some(&known) = imported.sets.get(&set) {
            return Ok(known);
        }
        let original = other.sets.sets.get(set.index());
        fuel.burn(units(original.items.len()))?;
        let before = imported.contexts.len();
        let items =
            import_items(&theirs.contexts, &mut builder.contexts, &original.items, &mut imported.contexts);
        // Only the contexts that are new here cost something.
        fuel.burn(units(imported.contexts.len() - before))?;
        let new = self.intern(builder, &items, original.acceptance())?;
        imported.sets.insert(set, new);
        Ok(new)
    }

    /// The writer's parts of both. Two automata may import from one another at a time, so all calls take the two locks in
    /// one order.
    fn lock_both<'a>(
        &'a self,
        other: &'a Self,
    ) -> (MutexGuard<'a, Box<Builder>>, MutexGuard<'a, Box<Builder>>) {
        if std::ptr::from_ref(self) < std::ptr::from_ref(other) {
            let builder = self.lock();
            (builder, other.lock())
        } else {
            let theirs = other.lock();
            (self.lock(), theirs)
        }
    }
}
