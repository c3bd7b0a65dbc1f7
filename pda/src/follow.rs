//! What may follow the rule of a local part: context expansion.
//!
//! The rule is that of the node right above the bottom of a local stack ([`LOCAL`]), or of its top where there is no
//! node between; all stacks of a local list were cut at the same node, so one of them tells. What stands behind all
//! calls of that rule in the grammar is a matter of its automata ([`grammask_fsm::ExpandedSuffixes`]).

use grammask_fsm::FragmentId;
use grammask_parser_backend::Fuel;

use crate::engine::{Engine, State};
use crate::tree::{LOCAL, Node};

/// The most states that are visited for one local part; a part of the fuel if that is less.
const MAX_WORK: u64 = 1 << 20;

/// Which of some sorted texts can be read behind the rule of a local part in any place.
pub(crate) fn may_follow(engine: &Engine, local: State, texts: &[&[u8]], fuel: &mut Fuel) -> Vec<bool> {
    let Some(fragment) = fragment_of(engine, local) else { return vec![true; texts.len()] };
    let max_work = MAX_WORK.min(fuel.left() / 2);
    let found = engine.suffixes().may_follow(engine.program(), fragment, texts, max_work);
    match fuel.burn(found.work) {
        Ok(()) => found.may_follow,
        Err(_) => vec![true; texts.len()],
    }
}

/// The rule at the end of which a local list leaves.
fn fragment_of(engine: &Engine, local: State) -> Option<FragmentId> {
    let stack = *engine.list(local).stacks.first()?;
    let builder = engine.lock();
    let mut found = engine.suffixes().fragment_of(stack.state)?;
    for id in builder.tree.chain(stack.below) {
        match builder.tree.get(id) {
            Node::Return { state, .. } => found = engine.suffixes().fragment_of(state)?,
            Node::Repeat { fragment, .. } => found = fragment,
            Node::Local => return (id == LOCAL).then_some(found),
            Node::Bottom => return None,
        }
    }
    None
}
