//! Taking a list of stacks apart at a rule that is open in all of them.
//!
//! All that can happen inside a rule before it ends depends on the part of the stacks above the node that waits
//! for it. If one node stands below all tops, the stacks are cut there: the upper parts on the bottom
//! [`LOCAL`] are the *local* list, equal for all places that call the rule, and what goes on in the node is the
//! rest (XGrammar's first paper, section 3.1: the local list decides the context-independent tokens).

use grammask_parser_backend::{Ended, Fuel, Split, StepError};

use crate::closure::Stack;
use crate::engine::{Engine, State};
use crate::stacks::Ends;
use crate::tree::{LOCAL, Node, NodeId, Tree};

/// How far below its top a stack is cut: a rule, repeats around it, and the rules around those.
const MAX_DEPTH: usize = 8;

/// Takes a state apart, if one node stands below all its stacks.
pub(crate) fn split(
    engine: &Engine,
    state: State,
    fuel: &mut Fuel,
) -> Result<Option<Split<State>>, StepError> {
    let list = engine.list(state);
    let mut builder = engine.lock();
    let builder = &mut *builder;
    fuel.burn(list.stacks.len() as u64)?;
    let Some(cut) = common_node(&builder.tree, &list.stacks) else { return Ok(None) };
    let tree = &mut builder.tree;
    let upper = |stack: &Stack| Stack { below: localise(engine, tree, stack.below, cut), ..*stack };
    let mut stacks: Vec<Stack> = list.stacks.iter().map(upper).collect();
    stacks.sort_unstable();
    stacks.dedup();
    let local = engine.intern(builder, &stacks, Ends::default())?;
    builder.closure.begin();
    builder.closure.pop(engine.program(), &mut builder.tree, cut);
    let rest = engine.close(builder, fuel)?;
    Ok(Some(Split { local: State(local), continuation: State(rest), ended: Ended::No }))
}

/// The nearest node of a caller that stands below all tops.
fn common_node(tree: &Tree, stacks: &[Stack]) -> Option<NodeId> {
    let near = |stack: &Stack| tree.chain(stack.below).take(MAX_DEPTH);
    near(stacks.first()?).find(|&cut| {
        matches!(tree.get(cut), Node::Return { .. })
            && stacks.iter().all(|stack| near(stack).any(|node| node == cut))
    })
}

/// The stack below a top with `cut`, which stands in it, replaced by [`LOCAL`].
fn localise(engine: &Engine, tree: &mut Tree, below: NodeId, cut: NodeId) -> NodeId {
    let upper: Vec<NodeId> = tree.chain(below).take_while(|&node| node != cut).collect();
    upper.into_iter().rev().fold(LOCAL, |made, node| {
        let node = tree.get(node).with_below(made);
        tree.push(engine.program(), node)
    })
}
