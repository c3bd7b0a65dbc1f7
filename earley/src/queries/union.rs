//! Unions of states.
//!
//! A text token may be read as itself and as its bytes. If both succeed, the parser is in both states at
//! once, and that is the set of all their items.

use grammask_parser_backend::{Fuel, StepError};

use crate::automaton::lazy::Automaton;
use crate::tables::ids::{SlotIndex, units};
use crate::tables::items::{Acceptance, Item};
use crate::tables::state::State;

/// The state that is both at once.
pub(crate) fn join(
    automaton: &Automaton,
    one: State,
    other: State,
    fuel: &mut Fuel,
) -> Result<State, StepError> {
    if one == other {
        return Ok(one);
    }
    let mut builder = automaton.lock();
    let builder = &mut *builder;
    // A slot that both count in can hold one count; where they differ, counts move into the contexts.
    let differ = SlotIndex::all().any(|slot| {
        let is_used = |state: State| automaton.set(state).slots.contains(slot);
        is_used(one) && is_used(other) && one.counts[slot.index()] != other.counts[slot.index()]
    });
    let (one, other) = match differ {
        true => (
            automaton.with_exact_counts(builder, one, fuel)?,
            automaton.with_exact_counts(builder, other, fuel)?,
        ),
        false => (one, other),
    };
    let (first, second) = (automaton.set(one), automaton.set(other));
    let mut items: Vec<Item> = first.items.iter().chain(&*second.items).copied().collect();
    fuel.burn(units(items.len()))?;
    items.sort_unstable();
    items.dedup();
    automaton.check_items(items.len())?;
    let acceptance = Acceptance {
        complete: first.complete || second.complete,
        local_complete: first.local_complete || second.local_complete,
    };
    let set = automaton.intern(builder, &items, acceptance)?;
    // Slots that a state does not use are 0.
    let counts = std::array::from_fn(|slot| one.counts[slot].max(other.counts[slot]));
    Ok(State { set, counts })
}
