//! Taking a set apart at a rule that is open in it.
//!
//! The masks of a JSON string are the same for every property of that type, up to the tokens that close the
//! string and go on. What differs between the sets is the context that the string's rule returns to. A *local*
//! set is the set with that context replaced by [`LOCAL`]: it is interned like any other, and equal for all
//! properties (XGrammar's context-independent tokens, section 3.1 of the first paper, and appendix B of the second
//! one, are those that a local set decides).
//!
//! The context to replace must stand behind *all* items. Items of a counted repeat have a context of their own,
//! whose parent waits for the repeat; such chains of single callers are followed upwards.

use grammask_parser_backend::{Fuel, Split, StepError};

use crate::closure::Item;
use crate::context::{Context, ContextId, Contexts, Counter, Entry, LOCAL, TAIL};
use crate::engine::{Engine, State};
use crate::sets::{Ends, apply};
use crate::slots::SLOTS;

/// How far chains are followed: a repeat, the rule around it, and one more of each.
const MAX_CHAIN: usize = 4;

/// Takes a state apart, if one context stands behind all its items.
pub(crate) fn split(
    engine: &Engine,
    state: State,
    fuel: &mut Fuel,
) -> Result<Option<Split<State>>, StepError> {
    let set = engine.set(state);
    let mut builder = engine.lock();
    let builder = &mut *builder;
    let Some(cut) = common_context(&builder.contexts, &set.items) else { return Ok(None) };
    let items: Vec<Item> = set
        .items
        .iter()
        .map(|item| Item { context: localise(&mut builder.contexts, item.context, cut), ..*item })
        .collect();
    let mut items = items;
    items.sort_unstable();
    let local = engine.intern(builder, &items, Ends { complete: false, leaves: false })?;
    let slots = engine.set(State { set: local, counts: [0; SLOTS] }).slots;
    let mut counts = [0; SLOTS];
    for slot in slots.iter() {
        counts[usize::from(slot)] = state.counts[usize::from(slot)];
    }
    let local = State { set: local, counts };

    builder.closure.begin();
    let contexts = &mut builder.contexts;
    builder.closure.push_completion(&engine.grammar(), contexts, &state.counts, cut);
    let Ok((set, changes)) = engine.close(builder, &state.counts, fuel)? else { return Ok(None) };
    let rest = State { set, counts: apply(&changes, &state.counts) };
    Ok(Some(Split { local, rest }))
}

/// The nearest context that stands behind all items.
fn common_context(contexts: &Contexts, items: &[Item]) -> Option<ContextId> {
    let first = items.first()?.context;
    chain(contexts, first).find(|&cut| {
        !matches!(contexts.get(cut), Context::Root | Context::Local | Context::Counter(_) | Context::Open(_))
            && items.iter().all(|item| chain(contexts, item.context).any(|context| context == cut))
    })
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
