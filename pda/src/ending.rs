//! The least number of bytes with which a text can be finished.
//!
//! A stack ends when its top's rule ends and then all that waits below it, one after the other: the distance of
//! the top's state ([`grammask_fsm::Distances`]) and the costs of the nodes below add up. What a node costs never
//! changes, so it is remembered, and a deep nesting is not walked again for every byte.

use grammask_fsm::{Distances, Program};
use grammask_parser_backend::{Fuel, StepError};
use hashbrown::HashMap;

use crate::stacks::Stacks;
use crate::tree::{Node, NodeId, Tree};

/// For nodes the least number of bytes from the end of what is above to the end of the text.
pub(crate) type Costs = HashMap<NodeId, u64, ahash::RandomState>;

/// The least number of bytes after which one of the stacks is over.
pub(crate) fn shortest_completion_len(
    program: &Program,
    distances: &Distances,
    tree: &Tree,
    costs: &mut Costs,
    list: &Stacks,
    fuel: &mut Fuel,
) -> Result<u64, StepError> {
    if list.ends.complete || list.ends.leaves {
        return Ok(0);
    }
    let mut least = u64::MAX;
    for stack in &list.stacks {
        let below = cost(program, distances, tree, costs, stack.below, fuel)?;
        least = least.min(distances.to_end(stack.state).saturating_add(below));
    }
    Ok(least)
}

fn cost(
    program: &Program,
    distances: &Distances,
    tree: &Tree,
    costs: &mut Costs,
    node: NodeId,
    fuel: &mut Fuel,
) -> Result<u64, StepError> {
    let unknown: Vec<NodeId> = tree.chain(node).take_while(|id| !costs.contains_key(id)).collect();
    fuel.burn(1 + unknown.len() as u64)?;
    for &id in unknown.iter().rev() {
        let node = tree.get(id);
        let own = match node {
            Node::Bottom | Node::Local => 0,
            Node::Return { state, .. } => distances.to_end(state),
            Node::Repeat { fragment, done, .. } => {
                let min = program.fragment(fragment).count.map_or(0, |count| count.min);
                let owed = min.saturating_sub(done.saturating_add(1));
                distances.body(program, fragment).saturating_mul(u64::from(owed))
            }
        };
        let below = node.below().and_then(|below| costs.get(&below)).copied().unwrap_or(0);
        costs.insert(id, own.saturating_add(below));
    }
    Ok(costs.get(&node).copied().unwrap_or(u64::MAX))
}
