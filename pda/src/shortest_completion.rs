//! The least number of bytes with which a text can be finished.
//!
//! A stack ends when its top's rule ends and then every rule below it, one after the other. So the distance
//! of the top's state ([`grammask_fsm::Distances`]) and the costs of the nodes below add up. The cost of a
//! node never changes, so it is remembered, and a deep nesting is not walked again for every byte.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};

use grammask_fsm::{Distances, ShortestEnding};
use grammask_parser_backend::{Fuel, StepError};
use hashbrown::HashMap;

use crate::automaton::Automaton;
use crate::callers::Rules;
use crate::stacks::State;
use crate::tree::{Node, NodeId, Tree, units};

/// For nodes the least number of bytes from the end of what is above to the end of the text.
type Costs = HashMap<NodeId, u64, ahash::RandomState>;

/// Costs that are kept between queries.
#[derive(Default)]
pub(crate) struct ShortestCompletion {
    /// Made when a length is first asked for.
    distances: OnceLock<Distances>,
    /// Their lock is taken before the automaton's.
    costs: Mutex<Costs>,
}

impl ShortestCompletion {
    /// The least number of bytes after which one of the stacks is over, and the bytes with which so short a text begins.
    pub(crate) fn find(
        &self,
        automaton: &Automaton,
        state: State,
        fuel: &mut Fuel,
    ) -> Result<(u64, [u64; 4]), StepError> {
        let list = automaton.list(state);
        if list.acceptance.complete || list.acceptance.local_complete {
            return Ok((0, [0; 4]));
        }
        if self.distances.get().is_none() {
            fuel.burn(2 * units(automaton.program.state_count()))?;
        }
        let distances = self.distances.get_or_init(|| Distances::new(&automaton.program));
        let mut costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        let tree = &automaton.lock().tree;
        let mut shortest = ShortestEnding::default();
        for stack in &list.stacks {
            let below = cost(automaton.rules(), distances, tree, &mut costs, stack.below, fuel);
            let bytes = costs.capacity() * size_of::<(NodeId, u64)>();
            automaton.query_bytes.store(bytes, Ordering::Relaxed);
            let edges = shortest.see(&automaton.program, distances, stack.state, below?);
            fuel.burn(units(edges))?;
        }
        Ok((shortest.len, shortest.first_bytes))
    }
}

/// The cost of a node, and of those below it.
fn cost(
    rules: Rules<'_>,
    distances: &Distances,
    tree: &Tree,
    costs: &mut Costs,
    node: NodeId,
    fuel: &mut Fuel,
) -> Result<u64, StepError> {
    let unknown: Vec<NodeId> = tree.chain(node).take_while(|id| !costs.contains_key(id)).collect();
    fuel.burn(1 + units(unknown.len()))?;
    // From below upwards, since a node adds to the cost of the one below it.
    for &id in unknown.iter().rev() {
        let node = tree.get(id);
        let own = match node {
            Node::Bottom | Node::Local => 0,
            Node::Return { caller, .. } => {
                let ends = rules.callers.states(caller).map(|state| distances.to_end(state));
                ends.min().unwrap_or(u64::MAX)
            }
            Node::Repeat { fragment, done, .. } => {
                let min = rules.program.fragment(fragment).count.map_or(0, |count| count.min);
                // The iteration above counts as done: the cost begins at its end.
                let owed = min.saturating_sub(done.saturating_add(1));
                distances.body(rules.program, fragment).saturating_mul(u64::from(owed))
            }
        };
        let below = node.below().and_then(|below| costs.get(&below)).copied().unwrap_or(0);
        costs.insert(id, own.saturating_add(below));
    }
    Ok(costs.get(&node).copied().unwrap_or(u64::MAX))
}
