//! Context expansion: the texts that may follow the rule of a local part.
//!
//! A local set has forgotten the callers of its rule ([`LOCAL`]). The rule itself is still known: it is the
//! fragment of the call, of any of its items, that is nearest to the forgotten context. The texts after all
//! calls of that rule in the grammar depend on its automata alone ([`grammask_fsm::ExpandedSuffixes`]).

use std::sync::OnceLock;

use grammask_fsm::{ExpandedSuffixes, FragmentId};
use grammask_parser_backend::Fuel;

use crate::automaton::lazy::Automaton;
use crate::tables::contexts::{Context, Contexts};
use crate::tables::ids::{ContextId, LOCAL};
use crate::tables::state::State;

/// The most states that are visited for one local part; a part of the fuel if that is less.
const MAX_WORK: u64 = 1 << 20;

/// The texts after the calls of rules; made when they are first asked for.
#[derive(Default)]
pub(crate) struct ContextExpansion {
    suffixes: OnceLock<ExpandedSuffixes>,
}

impl ContextExpansion {
    fn suffixes(&self, automaton: &Automaton) -> &ExpandedSuffixes {
        self.suffixes.get_or_init(|| ExpandedSuffixes::new(&automaton.program))
    }

    /// Which of some sorted texts can be read after the rule of a local part in any place.
    pub(crate) fn may_follow(
        &self,
        automaton: &Automaton,
        local: State,
        texts: &[&[u8]],
        fuel: &mut Fuel,
    ) -> Vec<bool> {
        let suffixes = self.suffixes(automaton);
        let Some(fragment) = fragment_of(automaton, suffixes, local) else { return vec![true; texts.len()] };
        let max_work = MAX_WORK.min(fuel.left() / 2);
        let found = suffixes.may_follow(&automaton.program, fragment, texts, max_work);
        match fuel.burn(found.work) {
            Ok(()) => found.may_follow,
            Err(_) => vec![true; texts.len()],
        }
    }
}

/// The rule at the end of which a local set is complete.
fn fragment_of(automaton: &Automaton, suffixes: &ExpandedSuffixes, local: State) -> Option<FragmentId> {
    let item = *automaton.set(local).items.first()?;
    let builder = automaton.lock();
    let mut found = suffixes.fragment_of(item.state)?;
    let mut context = item.context;
    while context != LOCAL {
        (found, context) = enclosing_rule(suffixes, &builder.contexts, found, context)?;
    }
    Some(found)
}

/// The rule around a rule, and its context, where the context is one of a single caller.
fn enclosing_rule(
    suffixes: &ExpandedSuffixes,
    contexts: &Contexts,
    inside: FragmentId,
    context: ContextId,
) -> Option<(FragmentId, ContextId)> {
    match contexts.get(context) {
        Context::Counter(counter) => Some((counter.fragment, counter.parent)),
        Context::List(range) => {
            let [entry] = contexts.entries(range) else { return None };
            // A caller that is also at its end has nothing of its own between the rule and the texts after
            // it.
            let enclosing = match entry.state.state() {
                None => inside,
                Some(state) => suffixes.fragment_of(state)?,
            };
            Some((enclosing, entry.context))
        }
        Context::Root | Context::Local | Context::Block { .. } | Context::Permutation(_) => None,
    }
}
