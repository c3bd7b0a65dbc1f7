//! What may follow the rule of a local part: context expansion.
//!
//! A local set has forgotten who waits for its rule ([`LOCAL`]). Which rule that is can still be told: of any of its
//! items the call that is nearest to what was forgotten. What stands behind all calls of that rule in the grammar is a
//! matter of its automata ([`grammask_fsm::ExpandedSuffixes`]).

use grammask_fsm::{FragmentId, StateId};
use grammask_parser_backend::Fuel;

use crate::context::{Context, ContextId, Contexts, LOCAL, TAIL};
use crate::engine::{Engine, State};

/// The most states that are visited for one local part; a part of the fuel if that is less.
const MAX_WORK: u64 = 1 << 20;

/// Which of some sorted texts can be read behind the rule of a local part in any place.
pub(crate) fn may_follow(engine: &Engine, local: State, texts: &[&[u8]], fuel: &mut Fuel) -> Vec<bool> {
    let Some(fragment) = fragment_of(engine, local) else { return vec![true; texts.len()] };
    let max_work = MAX_WORK.min(fuel.left() / 2);
    let found = engine.suffixes().may_follow(&engine.program, fragment, texts, max_work);
    match fuel.burn(found.work) {
        Ok(()) => found.may_follow,
        Err(_) => vec![true; texts.len()],
    }
}

/// The rule at the end of which a local set leaves.
fn fragment_of(engine: &Engine, local: State) -> Option<FragmentId> {
    let item = *engine.set(local).items.first()?;
    let builder = engine.lock();
    let mut found = engine.suffixes().fragment_of(item.state)?;
    let mut context = item.context;
    while context != LOCAL {
        (found, context) = outwards(engine, &builder.contexts, found, context)?;
    }
    Some(found)
}

/// The rule around a rule, and its context, where the context is one of a single caller.
fn outwards(
    engine: &Engine,
    contexts: &Contexts,
    inside: FragmentId,
    context: ContextId,
) -> Option<(FragmentId, ContextId)> {
    match contexts.get(context) {
        Context::Counter(counter) => Some((counter.fragment, counter.parent)),
        Context::List(range) => {
            let [entry] = contexts.entries(range) else { return None };
            // A caller that is at its end too has nothing of its own between the rule and what follows.
            let around = match entry.state {
                TAIL => inside,
                state => engine.suffixes().fragment_of(StateId::new(state as usize)?)?,
            };
            Some((around, entry.context))
        }
        Context::Root | Context::Local | Context::Block { .. } | Context::Open(_) => None,
    }
}
