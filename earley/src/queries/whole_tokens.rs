//! Steps by whole tokens.
//!
//! A token that the grammar names is a symbol beside the bytes. There are too many tokens for columns of the
//! table of transitions, and such steps are rare, so each one is computed when it is taken.

use grammask_parser_backend::{Fuel, StepError};

use crate::automaton::lazy::{Automaton, Builder};
use crate::closure::set_closure::SlotConflict;
use crate::tables::ids::{index, units};
use crate::tables::items::Item;
use crate::tables::slots::apply;
use crate::tables::state::State;

/// The state after a token that is read as a whole.
pub(crate) fn step(
    automaton: &Automaton,
    state: State,
    id: u32,
    fuel: &mut Fuel,
) -> Result<Option<State>, StepError> {
    let labels = automaton.program.labels();
    if !automaton.set(state).labels.iter().any(|&label| labels[index(label)].contains(id)) {
        return Ok(None);
    }
    let mut builder = automaton.lock();
    let builder = &mut *builder;
    if let Ok(next) = try_step(automaton, builder, state, id, fuel)? {
        return Ok(Some(next));
    }
    let exact = automaton.with_exact_counts(builder, state, fuel)?;
    match try_step(automaton, builder, exact, id, fuel)? {
        Ok(next) => Ok(Some(next)),
        // Nothing in an exact set counts in a slot, so whatever begins can only agree.
        Err(SlotConflict) => Err(StepError::OutOfWork { limit: 0 }),
    }
}

fn try_step(
    automaton: &Automaton,
    builder: &mut Builder,
    state: State,
    id: u32,
    fuel: &mut Fuel,
) -> Result<Result<State, SlotConflict>, StepError> {
    let set = automaton.set(state);
    builder.closure.begin();
    let labels = automaton.program.labels();
    for &item in &set.items {
        for edge in automaton.program.state(item.state).tokens {
            if labels[edge.label.index()].contains(id) {
                builder.closure.push_kernel(Item { state: edge.target, ..item });
            }
        }
    }
    fuel.burn(units(set.items.len()))?;
    let closed = automaton.close(builder, &state.counts, fuel)?;
    Ok(closed.map(|(set, changes)| State { set, counts: apply(&changes, &state.counts) }))
}
