//! Context expansion: the texts that may follow the rule of a local part.
//!
//! The rule is that of the node right above the bottom of a local stack ([`LOCAL`]), or of its top if there
//! is no node between. All stacks of a local list were cut at the same node, so one of them suffices. The
//! texts after all calls of that rule in the grammar are a matter of its automata
//! ([`grammask_fsm::ExpandedSuffixes`]).

use std::sync::OnceLock;

use grammask_fsm::{ExpandedSuffixes, FragmentId};
use grammask_parser_backend::Fuel;

use crate::automaton::Automaton;
use crate::stacks::State;
use crate::tree::{LOCAL, Node};

/// The most states that are visited for one local part; a part of the fuel if that is less.
const MAX_WORK: u64 = 1 << 20;

/// The texts after the calls of rules; made when they are first asked for.
#[derive(Default)]
pub(crate) struct ContextExpansion {
    suffixes: OnceLock<ExpandedSuffixes>,
}

impl ContextExpansion {
    /// Which of some sorted texts can be read after the rule of a local part in any place.
    pub(crate) fn may_follow(
        &self,
        automaton: &Automaton,
        local: State,
        texts: &[&[u8]],
        fuel: &mut Fuel,
    ) -> Vec<bool> {
        let suffixes = self.suffixes.get_or_init(|| ExpandedSuffixes::new(&automaton.program));
        let Some(fragment) = fragment_of(automaton, suffixes, local) else { return vec![true; texts.len()] };
        let max_work = MAX_WORK.min(fuel.left() / 2);
        let found = suffixes.may_follow(&automaton.program, fragment, texts, max_work);
        match fuel.burn(found.work) {
            Ok(()) => found.may_follow,
            // Without an answer every text may follow. The texts are then tried one by one, so this costs
            // time and no exactness.
            Err(_) => vec![true; texts.len()],
        }
    }
}

/// The rule at the end of which a local list is complete.
fn fragment_of(automaton: &Automaton, suffixes: &ExpandedSuffixes, local: State) -> Option<FragmentId> {
    let stack = *automaton.list(local).stacks.first()?;
    let builder = automaton.lock();
    let mut found = suffixes.fragment_of(stack.state)?;
    for id in builder.tree.chain(stack.below) {
        match builder.tree.get(id) {
            Node::Return { state, .. } => found = suffixes.fragment_of(state)?,
            Node::Repeat { fragment, .. } => found = fragment,
            Node::Local => return (id == LOCAL).then_some(found),
            Node::Bottom => return None,
        }
    }
    None
}
