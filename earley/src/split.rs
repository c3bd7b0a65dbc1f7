//! Taking a set apart at a rule that is open in it.
//!
//! The masks of a JSON string are the same for every property of that type, up to the tokens that close the
//! string and go on. What differs between the sets is the context that the string's rule returns to. A *local*
//! set is the set with that context replaced by [`LOCAL`]: it is interned like any other, and equal for all
//! properties (XGrammar's context-independent tokens, section 3.1 of the first paper, and appendix B of the second
//! one, are those that a local set decides).
//!
//! The context to replace should stand behind *all* items. Items of a counted repeat have a context of their own,
//! whose parent waits for the repeat; such chains of single callers are followed upwards.
//!
//! Where the rule may just have ended, the set also holds what goes on after it: behind a name that no other name
//! begins with there may come another letter, or the quote. Such items need not be cut, if they are what the end of the
//! rule leads to and nothing else: they are the state behind the rule, which is known anyway.

use grammask_fsm::{Program, StateId};
use grammask_parser_backend::{Ended, Fuel, Split, StepError};

use crate::closure::Item;
use crate::context::{Context, ContextId, Contexts, Counter, Entry, LOCAL, TAIL};
use crate::engine::{Builder, Engine, State};
use crate::sets::{Ends, SlotChanges, apply};
use crate::slots::{SLOTS, SlotChange};

/// How far chains are followed: a repeat, the rule around it, and one more of each.
const MAX_CHAIN: usize = 4;

/// Sets of more items are cut where one context stands behind all of them, or not at all.
const MAX_ITEMS: usize = 12;

/// Takes a state apart, if one context stands behind all its items but those behind the rule.
pub(crate) fn split(
    engine: &Engine,
    state: State,
    fuel: &mut Fuel,
) -> Result<Option<Split<State>>, StepError> {
    let set = engine.set(state);
    let mut builder = engine.lock();
    let builder = &mut *builder;
    if let Some(cut) = ended_context(&engine.program, &builder.contexts, &set.items) {
        let (inside, behind): (Vec<Item>, Vec<Item>) =
            set.items.iter().partition(|item| stands_behind(&builder.contexts, cut, item));
        if !behind.is_empty()
            && let Some((rest, changes)) = rest(engine, builder, state, cut, fuel)?
            && changes.iter().flatten().all(|&change| change == SlotChange::Keep)
        {
            // Both are sorted, and what goes on after the rule is all there.
            let rest_items = &engine.set(rest).items;
            if rest_items.iter().all(|item| set.items.binary_search(item).is_ok())
                && behind.iter().all(|item| rest_items.binary_search(item).is_ok())
            {
                let local = local(engine, builder, state, &inside, cut)?;
                return Ok(Some(Split { local, continuation: rest, ended: Ended::Maybe }));
            }
        }
    }
    let Some(cut) = common_context(&builder.contexts, &set.items) else { return Ok(None) };
    let local = local(engine, builder, state, &set.items, cut)?;
    let Some((rest, _)) = rest(engine, builder, state, cut, fuel)? else { return Ok(None) };
    Ok(Some(Split { local, continuation: rest, ended: Ended::No }))
}

/// The state of some of a state's items, behind all of which stands `cut`, with that forgotten.
fn local(
    engine: &Engine,
    builder: &mut Builder,
    state: State,
    items: &[Item],
    cut: ContextId,
) -> Result<State, StepError> {
    let localised =
        |item: &Item| Item { context: localise(&mut builder.contexts, item.context, cut), ..*item };
    let mut items: Vec<Item> = items.iter().map(localised).collect();
    items.sort_unstable();
    let set = engine.intern(builder, &items, Ends { complete: false, leaves: false })?;
    let slots = engine.set(State { set, counts: [0; SLOTS] }).slots;
    let mut counts = [0; SLOTS];
    for slot in slots.iter() {
        counts[usize::from(slot)] = state.counts[usize::from(slot)];
    }
    Ok(State { set, counts })
}

/// The state behind the rule that `cut` waits for. `None` where counts would have to move.
fn rest(
    engine: &Engine,
    builder: &mut Builder,
    state: State,
    cut: ContextId,
    fuel: &mut Fuel,
) -> Result<Option<(State, SlotChanges)>, StepError> {
    builder.closure.begin();
    let contexts = &mut builder.contexts;
    builder.closure.push_completion(&engine.grammar(), contexts, &state.counts, cut);
    let Ok((set, changes)) = engine.close(builder, &state.counts, fuel)? else { return Ok(None) };
    Ok(Some((State { set, counts: apply(&changes, &state.counts) }, changes)))
}

/// The nearest context of an item whose rule may have ended: by its automaton, or because all others go on in what that
/// context leads to.
fn ended_context(program: &Program, contexts: &Contexts, items: &[Item]) -> Option<ContextId> {
    let few = Some(items).filter(|items| (2..=MAX_ITEMS).contains(&items.len()))?;
    few.iter().find_map(|item| {
        let mut ended = may_be_over(program, item.state);
        let cut = chain(contexts, item.context).find(|&context| {
            ended |= matches!(contexts.get(context), Context::Counter(_));
            is_cuttable(contexts, context)
        })?;
        let waits = |other: &Item| chain(contexts, cut).skip(1).any(|context| context == other.context);
        let is_inside = |other: &Item| stands_behind(contexts, cut, other);
        ended |= few.iter().all(|other| is_inside(other) || waits(other));
        (ended && !few.iter().all(is_inside)).then_some(cut)
    })
}

/// Whether an automaton may end at a state, as far as one empty edge tells.
fn may_be_over(program: &Program, state: StateId) -> bool {
    let state = program.state(state);
    state.is_final || state.epsilons.iter().any(|&target| program.state(target).is_final)
}

/// The nearest context that stands behind all items.
fn common_context(contexts: &Contexts, items: &[Item]) -> Option<ContextId> {
    let first = items.first()?.context;
    chain(contexts, first).find(|&cut| {
        is_cuttable(contexts, cut) && items.iter().all(|item| stands_behind(contexts, cut, item))
    })
}

fn stands_behind(contexts: &Contexts, cut: ContextId, item: &Item) -> bool {
    chain(contexts, item.context).any(|context| context == cut)
}

fn is_cuttable(contexts: &Contexts, context: ContextId) -> bool {
    matches!(contexts.get(context), Context::List(_) | Context::Block { .. })
}

/// A context and those that it leads to by way of single callers.
fn chain(contexts: &Contexts, from: ContextId) -> impl Iterator<Item = ContextId> + '_ {
    std::iter::successors(Some(from), |&id| match contexts.get(id) {
        Context::Counter(counter) => Some(counter.parent),
        Context::List(range) => match contexts.entries(range) {
            [entry] => Some(entry.context),
            _ => None,
        },
        Context::Root | Context::Local | Context::Block { .. } | Context::Open(_) => None,
    })
    .take(MAX_CHAIN)
}

/// The context with `cut`, which stands in its chain, replaced by [`LOCAL`].
fn localise(contexts: &mut Contexts, id: ContextId, cut: ContextId) -> ContextId {
    let upwards: Vec<ContextId> = chain(contexts, id).take_while(|&context| context != cut).collect();
    upwards.into_iter().rev().fold(LOCAL, |made, context| match contexts.get(context) {
        Context::Counter(counter) => contexts.counter(Counter { parent: made, ..counter }),
        Context::List(range) => {
            let state = contexts.entries(range).first().map_or(TAIL, |entry| entry.state);
            contexts.list(&[Entry { state, context: made }])
        }
        Context::Root | Context::Local | Context::Block { .. } | Context::Open(_) => made,
    })
}
