//! Splitting a set at a rule that is open in it.
//!
//! The masks of a JSON string are the same for every property of that type, up to the tokens that close the
//! string and continue after it. The sets differ only in the context that the string's rule returns to. A
//! *local* set is the set with that context replaced by [`LOCAL`]. It is interned like any other, and equal
//! for all properties. The tokens that a local set decides are XGrammar's context-independent tokens (section
//! 3.1 of the first paper, and appendix B of the second one).
//!
//! The context to replace should be an ancestor of *all* items. Items of a counted repeat have a context of their own,
//! whose parent waits for the repeat; such chains of single callers are followed upwards.
//!
//! Where the rule may just have ended, the set also holds the items that continue after it. An example is a
//! name that no other name begins with: another letter may follow there, or the quote. Such items need not be
//! cut if they are exactly the items that the end of the rule leads to. They are the state after the rule
//! then, which is known anyway.

use grammask_fsm::{Program, StateId};
use grammask_parser_backend::{Ended, Fuel, Split, StepError};

use crate::automaton::lazy::{Automaton, Builder};
use crate::tables::contexts::{Context, Contexts, Counter, Entry};
use crate::tables::ids::{ContextId, LOCAL, SLOTS, TAIL, units};
use crate::tables::items::{Acceptance, Item};
use crate::tables::slots::{SlotChange, SlotChanges, apply};
use crate::tables::state::State;

/// How far chains are followed: a repeat, the rule around it, and one more of each.
const MAX_CHAIN: usize = 4;

/// Sets of more items are cut where one context is an ancestor of all of them, or not at all.
const MAX_ITEMS: usize = 12;

/// Splits a state, if one context is an ancestor of all its items but those after the rule.
pub(crate) fn split(
    automaton: &Automaton,
    state: State,
    fuel: &mut Fuel,
) -> Result<Option<Split<State>>, StepError> {
    let set = automaton.set(state);
    fuel.burn(units(set.items.len()))?;
    let mut builder = automaton.lock();
    let builder = &mut *builder;
    if let Some(cut) = ended_context(&automaton.program, &builder.contexts, &set.items) {
        let (inside_rule, after_rule): (Vec<Item>, Vec<Item>) =
            set.items.iter().partition(|item| has_ancestor(&builder.contexts, cut, item));
        if !after_rule.is_empty()
            && let Some((continuation, changes)) = continuation(automaton, builder, state, cut, fuel)?
            && changes.iter().flatten().all(|&change| change == SlotChange::Keep)
        {
            // Both are sorted, and all items that continue after the rule are there.
            let continuation_items = &automaton.set(continuation).items;
            if continuation_items.iter().all(|item| set.items.binary_search(item).is_ok())
                && after_rule.iter().all(|item| continuation_items.binary_search(item).is_ok())
            {
                let local = local_state(automaton, builder, state, &inside_rule, cut)?;
                return Ok(Some(Split { local, continuation, ended: Ended::Maybe }));
            }
        }
    }
    let Some(cut) = common_context(&builder.contexts, &set.items) else { return Ok(None) };
    let local = local_state(automaton, builder, state, &set.items, cut)?;
    let Some((continuation, _)) = continuation(automaton, builder, state, cut, fuel)? else {
        return Ok(None);
    };
    Ok(Some(Split { local, continuation, ended: Ended::No }))
}

/// The state of some of a state's items, which all have the ancestor `cut`, with that forgotten.
fn local_state(
    automaton: &Automaton,
    builder: &mut Builder,
    state: State,
    items: &[Item],
    cut: ContextId,
) -> Result<State, StepError> {
    let localised =
        |item: &Item| Item { context: localise(&mut builder.contexts, item.context, cut), ..*item };
    let mut items: Vec<Item> = items.iter().map(localised).collect();
    items.sort_unstable();
    let set = automaton.intern(builder, &items, Acceptance { complete: false, local_complete: false })?;
    // The contexts above the cut are gone, and with them their slots. Clearing those makes the local parts of
    // different places equal.
    let slots = automaton.set(State { set, counts: [0; SLOTS] }).slots;
    let mut counts = [0; SLOTS];
    for slot in slots.iter() {
        counts[slot.index()] = state.counts[slot.index()];
    }
    Ok(State { set, counts })
}

/// The state after the rule that `cut` waits for. `None` where counts would have to move.
fn continuation(
    automaton: &Automaton,
    builder: &mut Builder,
    state: State,
    cut: ContextId,
    fuel: &mut Fuel,
) -> Result<Option<(State, SlotChanges)>, StepError> {
    builder.closure.begin();
    let contexts = &mut builder.contexts;
    // Completing the context alone gives exactly the items that the end of the rule leads to.
    builder.closure.push_completion(&automaton.grammar(), contexts, &state.counts, cut);
    let Ok((set, changes)) = automaton.close(builder, &state.counts, fuel)? else { return Ok(None) };
    Ok(Some((State { set, counts: apply(&changes, &state.counts) }, changes)))
}

/// The nearest context of an item whose rule may have ended: by its automaton, or because all others continue
/// in the items that the context leads to.
fn ended_context(program: &Program, contexts: &Contexts, items: &[Item]) -> Option<ContextId> {
    let small = Some(items).filter(|items| (2..=MAX_ITEMS).contains(&items.len()))?;
    small.iter().find_map(|item| {
        let mut ended = may_end(program, item.state);
        let cut = callers(contexts, item.context).find(|&context| {
            ended |= matches!(contexts.get(context), Context::Counter(_));
            may_be_cut(contexts, context)
        })?;
        // An item outside of the rule that has the context of a caller is one that the end of the rule has
        // led to, or looks like it. The comparison with the continuation decides.
        let waits = |other: &Item| callers(contexts, cut).skip(1).any(|context| context == other.context);
        let is_inside = |other: &Item| has_ancestor(contexts, cut, other);
        ended |= small.iter().all(|other| is_inside(other) || waits(other));
        (ended && !small.iter().all(is_inside)).then_some(cut)
    })
}

/// Whether an automaton may end at a state, as far as one empty edge tells.
fn may_end(program: &Program, state: StateId) -> bool {
    let state = program.state(state);
    state.is_final || state.epsilons.iter().any(|&target| program.state(target).is_final)
}

/// The nearest context that is an ancestor of all items.
fn common_context(contexts: &Contexts, items: &[Item]) -> Option<ContextId> {
    let first = items.first()?.context;
    callers(contexts, first)
        .find(|&cut| may_be_cut(contexts, cut) && items.iter().all(|item| has_ancestor(contexts, cut, item)))
}

fn has_ancestor(contexts: &Contexts, cut: ContextId, item: &Item) -> bool {
    callers(contexts, item.context).any(|context| context == cut)
}

fn may_be_cut(contexts: &Contexts, context: ContextId) -> bool {
    // A cut below a counter would separate a repeat from its count.
    matches!(contexts.get(context), Context::List(_) | Context::Block { .. })
}

/// A context and those that it leads to by way of single callers.
fn callers(contexts: &Contexts, from: ContextId) -> impl Iterator<Item = ContextId> + '_ {
    std::iter::successors(Some(from), |&id| match contexts.get(id) {
        Context::Counter(counter) => Some(counter.parent),
        Context::List(range) => match contexts.entries(range) {
            [entry] => Some(entry.context),
            _ => None,
        },
        Context::Root | Context::Local | Context::Block { .. } | Context::Permutation(_) => None,
    })
    .take(MAX_CHAIN)
}

/// The context with `cut`, which is in its chain, replaced by [`LOCAL`].
fn localise(contexts: &mut Contexts, id: ContextId, cut: ContextId) -> ContextId {
    let upwards: Vec<ContextId> = callers(contexts, id).take_while(|&context| context != cut).collect();
    // From the cut down to the item, so that each new context exists before the next one names it.
    upwards.into_iter().rev().fold(LOCAL, |parent, context| match contexts.get(context) {
        Context::Counter(counter) => contexts.counter(Counter { parent, ..counter }),
        Context::List(range) => {
            let state = contexts.entries(range).first().map_or(TAIL, |entry| entry.state);
            contexts.list(&[Entry { state, context: parent }])
        }
        Context::Root | Context::Local | Context::Block { .. } | Context::Permutation(_) => parent,
    })
}
