//! The least number of bytes with which a text can be finished.
//!
//! A stack ends when its top's rule ends and then every rule below it, one after the other. So the distance
//! of the top's state ([`grammask_fsm::Distances`]) and the costs of the nodes below add up. The cost of a
//! node never changes, so it is remembered, and a deep nesting is not walked again for every byte.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};

use grammask_fsm::{Distances, Ending, ShortestEnding};
use grammask_grammar_ir::hash::HashMap;
use grammask_parser_backend::{Fuel, StepError};

use crate::automaton::Automaton;
use crate::callers::Rules;
use crate::stacks::{Stack, StackList, State};
use crate::tree::{Node, NodeId, Tree, units};

/// For nodes the least number of bytes from the end of what is above to the end of the text.
type Costs = HashMap<NodeId, u64>;

/// Costs that are kept between queries.
#[derive(Default)]
pub(crate) struct ShortestCompletion {
    /// Made when a length is first asked for.
    distances: OnceLock<Distances>,
    /// Their lock is taken before the automaton's.
    costs: Mutex<Costs>,
}

impl ShortestCompletion {
    /// The least number of bytes after which one of the stacks is over, and the bytes with which so short a text begins. The
    /// whole text too, if one of at most `max_bytes` is asked for and there is one.
    pub(crate) fn find(
        &self,
        automaton: &Automaton,
        state: State,
        max_bytes: Option<u64>,
        fuel: &mut Fuel,
    ) -> Result<(ShortestEnding, Option<Vec<u8>>), StepError> {
        if self.distances.get().is_none() {
            fuel.burn(2 * units(automaton.program.state_count()))?;
        }
        let distances = self.distances.get_or_init(|| Distances::new(&automaton.program));
        let mut costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        let search = CostSearch { rules: automaton.rules(), distances, tree: &automaton.lock().tree };
        let found = search.of_list(automaton.list(state), max_bytes, &mut costs, fuel);
        let bytes = costs.capacity() * size_of::<(NodeId, u64)>();
        automaton.query_bytes.store(bytes, Ordering::Relaxed);
        found
    }
}

/// The tables that a search for the shortest completion reads.
struct CostSearch<'s> {
    rules: Rules<'s>,
    distances: &'s Distances,
    tree: &'s Tree,
}

impl CostSearch<'_> {
    /// The shortest ending of some stacks, and its text if that has at most `max_bytes`. Without a stack to empty, a token
    /// has to come.
    fn of_list(
        &self,
        list: &StackList,
        max_bytes: Option<u64>,
        costs: &mut Costs,
        fuel: &mut Fuel,
    ) -> Result<(ShortestEnding, Option<Vec<u8>>), StepError> {
        if list.acceptance.complete || list.acceptance.local_complete {
            return Ok((ShortestEnding { len: 0, first_bytes: [0; 4] }, max_bytes.map(|_| Vec::new())));
        }
        let (mut shortest, mut nearest) = (ShortestEnding::default(), None);
        for &stack in &list.stacks {
            let below = self.cost(costs, stack.below, fuel)?;
            let before = shortest.len;
            fuel.burn(units(shortest.see(self.rules.program, self.distances, stack.state, below)))?;
            if shortest.len < before {
                nearest = Some(stack);
            }
        }
        let nearest = nearest.filter(|_| max_bytes.is_some_and(|max| shortest.len <= max));
        let text = nearest.map(|stack| self.ending(stack, fuel)).transpose()?;
        Ok((shortest, text))
    }

    /// The cost of a node, and of those below it.
    fn cost(&self, costs: &mut Costs, node: NodeId, fuel: &mut Fuel) -> Result<u64, StepError> {
        let unknown: Vec<NodeId> = self.tree.chain(node).take_while(|id| !costs.contains_key(id)).collect();
        fuel.burn(1 + units(unknown.len()))?;
        // From below upwards, since a node adds to the cost of the one below it.
        for &id in unknown.iter().rev() {
            let node = self.tree.get(id);
            let own = match self.part(node) {
                None => 0,
                Some(Ending::Bodies { fragment, times, .. }) => {
                    self.distances.body(self.rules.program, fragment).saturating_mul(times)
                }
                Some(Ending::From(state)) => self.distances.to_end(state),
                Some(Ending::Parts { .. }) => u64::MAX,
            };
            let below = node.below().and_then(|below| costs.get(&below)).copied().unwrap_or(0);
            costs.insert(id, own.saturating_add(below));
        }
        Ok(costs.get(&node).copied().unwrap_or(u64::MAX))
    }

    /// The shortest ending of a stack.
    fn ending(&self, stack: Stack, fuel: &mut Fuel) -> Result<Vec<u8>, StepError> {
        let nodes = self.tree.chain(stack.below).filter_map(|id| self.part(self.tree.get(id)));
        let mut ending = Vec::new();
        for part in std::iter::once(Ending::From(stack.state)).chain(nodes) {
            self.distances
                .write(self.rules.program, part, &mut ending, &mut |steps| fuel.burn(units(steps)))?;
        }
        Ok(ending)
    }

    /// The part of a shortest ending that empties a node; `None` for a node where nothing is left to read.
    fn part(&self, node: Node) -> Option<Ending<'static>> {
        match node {
            Node::Bottom | Node::Local => None,
            Node::Return { caller, .. } => {
                let states = self.rules.callers.states(caller);
                states.min_by_key(|&state| self.distances.to_end(state)).map(Ending::From)
            }
            Node::Repeat { fragment, done, .. } => {
                let min = self.rules.program.fragment(fragment).count.map_or(0, |count| count.min);
                // The iteration above counts as done: the cost begins at its end.
                let owed = min.saturating_sub(done.saturating_add(1));
                Some(Ending::bodies(fragment, u64::from(owed)))
            }
        }
    }
}
