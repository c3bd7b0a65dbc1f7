//! Splitting a list of stacks at a rule that is open in all of them.
//!
//! Everything that can happen inside a rule before it ends depends on the part of the stacks above the node
//! that waits for it. If one node is below all tops, the stacks are cut there. The upper parts on the bottom
//! [`LOCAL`] are the *local* list, equal for all places that call the rule; the node with its rest is the
//! continuation. The local list decides the context-independent tokens of XGrammar's first paper (section
//! 3.1).

use grammask_parser_backend::{Ended, Fuel, Split, StepError};

use crate::automaton::Automaton;
use crate::stacks::{Acceptance, Stack, State};
use crate::tree::{LOCAL, Node, NodeId, Tree, units};

/// How far below its top a stack is cut: a rule, repeats around it, and the rules around those.
const MAX_DEPTH: usize = 8;

/// Splits a state, if one node is below all its stacks.
pub(crate) fn split(
    automaton: &Automaton,
    state: State,
    fuel: &mut Fuel,
) -> Result<Option<Split<State>>, StepError> {
    let list = automaton.list(state);
    let mut builder = automaton.lock();
    let builder = &mut *builder;
    fuel.burn(units(list.stacks.len()))?;
    let Some(cut) = common_node(&builder.tree, &list.stacks) else { return Ok(None) };
    let tree = &mut builder.tree;
    let upper = |stack: &Stack| Stack { below: localise(automaton, tree, stack.below, cut), ..*stack };
    let mut stacks: Vec<Stack> = list.stacks.iter().map(upper).collect();
    stacks.sort_unstable();
    stacks.dedup();
    let local = automaton.intern(builder, &stacks, Acceptance::default())?;
    builder.closure.begin();
    // The continuation is the state after the rule has ended: the caller at `cut` goes on.
    builder.closure.pop(automaton.rules(), &mut builder.tree, cut);
    let continuation = automaton.close(builder, fuel)?;
    Ok(Some(Split { local: State(local), continuation: State(continuation), ended: Ended::No }))
}

/// The nearest node of a caller that is below all tops.
fn common_node(tree: &Tree, stacks: &[Stack]) -> Option<NodeId> {
    let near = |stack: &Stack| tree.chain(stack.below).take(MAX_DEPTH);
    // The nearest one, because a smaller local part is equal in more places.
    near(stacks.first()?).find(|&cut| {
        matches!(tree.get(cut), Node::Return { .. })
            && stacks.iter().all(|stack| near(stack).any(|node| node == cut))
    })
}

/// The stack below a top with `cut`, which is in it, replaced by [`LOCAL`].
fn localise(automaton: &Automaton, tree: &mut Tree, below: NodeId, cut: NodeId) -> NodeId {
    let upper: Vec<NodeId> = tree.chain(below).take_while(|&node| node != cut).collect();
    upper.into_iter().rev().fold(LOCAL, |below, node| {
        let node = tree.get(node).with_below(below);
        tree.push(&automaton.program, node)
    })
}
