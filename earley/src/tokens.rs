//! Steps by whole tokens, and unions of states.
//!
//! A token that the grammar names is a symbol beside the bytes. There are too many tokens for columns of the table
//! of transitions, and such steps are rare, so each is computed. A text token may be read as itself and as its
//! bytes; where both succeed the parser is in both states at once, and that is the set of all their items.

use grammask_parser_backend::{Fuel, StepError};

use crate::closure::{Item, SlotConflict};
use crate::engine::{Builder, Engine, State};
use crate::sets::{Ends, apply};
use crate::slots::SLOTS;

/// The state after a token that is read as a whole.
pub(crate) fn step(
    engine: &Engine,
    state: State,
    id: u32,
    fuel: &mut Fuel,
) -> Result<Option<State>, StepError> {
    let labels = engine.program.labels();
    if !engine.set(state).labels.iter().any(|&label| labels[label as usize].contains(id)) {
        return Ok(None);
    }
    let mut builder = engine.lock();
    let builder = &mut *builder;
    if let Ok(next) = try_step(engine, builder, state, id, fuel)? {
        return Ok(Some(next));
    }
    let exact = engine.make_exact(builder, state, fuel)?;
    match try_step(engine, builder, exact, id, fuel)? {
        Ok(next) => Ok(Some(next)),
        // Nothing in an exact set counts in a slot, so whatever begins can only agree.
        Err(SlotConflict) => Err(StepError::OutOfWork { limit: 0 }),
    }
}

fn try_step(
    engine: &Engine,
    builder: &mut Builder,
    state: State,
    id: u32,
    fuel: &mut Fuel,
) -> Result<Result<State, SlotConflict>, StepError> {
    let set = engine.set(state);
    builder.closure.begin();
    let labels = engine.program.labels();
    for &item in &set.items {
        for edge in engine.program.state(item.state).tokens {
            if labels[edge.label.index()].contains(id) {
                builder.closure.push_kernel(Item { state: edge.target, ..item });
            }
        }
    }
    fuel.burn(set.items.len() as u64)?;
    let closed = engine.close(builder, &state.counts, fuel)?;
    Ok(closed.map(|(set, changes)| State { set, counts: apply(&changes, &state.counts) }))
}

/// The state that is both at once.
pub(crate) fn join(engine: &Engine, one: State, other: State, fuel: &mut Fuel) -> Result<State, StepError> {
    if one == other {
        return Ok(one);
    }
    let mut builder = engine.lock();
    let builder = &mut *builder;
    // A slot that both count in can hold one count; where they differ, counts move into the contexts.
    let differ = (0..SLOTS as u8).any(|slot| {
        let is_used = |state: State| engine.set(state).slots.contains(slot);
        is_used(one) && is_used(other) && one.counts[usize::from(slot)] != other.counts[usize::from(slot)]
    });
    let (one, other) = match differ {
        true => (engine.make_exact(builder, one, fuel)?, engine.make_exact(builder, other, fuel)?),
        false => (one, other),
    };
    let (first, second) = (engine.set(one), engine.set(other));
    let mut items: Vec<Item> = first.items.iter().chain(&*second.items).copied().collect();
    fuel.burn(items.len() as u64)?;
    items.sort_unstable();
    items.dedup();
    engine.check_items(items.len())?;
    let ends = Ends { complete: first.complete || second.complete, leaves: first.leaves || second.leaves };
    let set = engine.intern(builder, &items, ends)?;
    // Slots that a state does not use are 0.
    let counts = std::array::from_fn(|slot| one.counts[slot].max(other.counts[slot]));
    Ok(State { set, counts })
}
