//! The least number of bytes with which a text can be finished.
//!
//! How far a state is from the end of its rule is known of the automata alone
//! ([`grammask_fsm::Distances`]). For an item that distance and the cost of its context add up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};

use grammask_fsm::{Distances, Program, Role, ShortestEnding};
use grammask_grammar_ir::hash::HashMap;
use grammask_parser_backend::{Fuel, StepError};

use crate::automaton::lazy::Automaton;
use crate::tables::context_order::post_order;
use crate::tables::contexts::{Context, Contexts, Entry, OpenPermutation};
use crate::tables::ids::{ContextId, SLOTS, units};
use crate::tables::sets::Set;
use crate::tables::state::State;

/// Costs of contexts: the least number of bytes from the end of the rule to the end of the text.
type Costs = HashMap<ContextId, u64>;

/// Costs that are kept between queries.
#[derive(Default)]
pub(crate) struct ShortestCompletion {
    /// Made when a length is first asked for.
    distances: OnceLock<Distances>,
    /// Costs that do not depend on counts, so that a deep nesting is not walked again for every byte. Their lock is
    /// taken before the automaton's.
    costs: Mutex<Costs>,
}

impl ShortestCompletion {
    /// The least number of bytes after which a state is complete, and the bytes with which so short a text begins.
    pub(crate) fn find(
        &self,
        automaton: &Automaton,
        state: State,
        fuel: &mut Fuel,
    ) -> Result<(u64, [u64; 4]), StepError> {
        if self.distances.get().is_none() {
            fuel.burn(2 * units(automaton.program.state_count()))?;
        }
        let distances = self.distances.get_or_init(|| Distances::new(&automaton.program));
        let mut costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        let builder = automaton.lock();
        let search = CostSearch { distances, program: &automaton.program, contexts: &builder.contexts };
        let shortest = search.of_set(automaton.set(state), &state.counts, &mut costs, fuel);
        let bytes = costs.capacity() * size_of::<(ContextId, u64)>();
        automaton.query_bytes.store(bytes, Ordering::Relaxed);
        shortest
    }
}

/// The tables that a search for the shortest completion reads.
struct CostSearch<'s> {
    distances: &'s Distances,
    program: &'s Program,
    contexts: &'s Contexts,
}

impl CostSearch<'_> {
    fn of_set(
        &self,
        set: &Set,
        counts: &[u32; SLOTS],
        costs: &mut Costs,
        fuel: &mut Fuel,
    ) -> Result<(u64, [u64; 4]), StepError> {
        if set.complete || set.local_complete {
            return Ok((0, [0; 4]));
        }
        let mut known = Costs::default();
        let mut shortest = ShortestEnding::default();
        for item in &set.items {
            let known = if self.contexts.slots(item.context).is_empty() { &mut *costs } else { &mut known };
            fuel.burn(2)?;
            self.compute(item.context, counts, known, fuel)?;
            let cost = known.get(&item.context).copied().unwrap_or(u64::MAX);
            fuel.burn(units(shortest.see(self.program, self.distances, item.state, cost)))?;
        }
        Ok((shortest.len, shortest.first_bytes))
    }

    /// Computes the cost of a context and of all that it leads to.
    fn compute(
        &self,
        context: ContextId,
        counts: &[u32; SLOTS],
        known: &mut Costs,
        fuel: &mut Fuel,
    ) -> Result<(), StepError> {
        if known.contains_key(&context) {
            return Ok(());
        }
        for id in post_order(self.contexts, context, |id| known.contains_key(&id)) {
            let cost_of = |entry: &Entry| {
                let context = known.get(&entry.context).copied().unwrap_or(u64::MAX);
                let to_end = match (entry.state.state(), self.contexts.get(entry.context)) {
                    // After a separator a part must follow, and then the parts that are still required.
                    (Some(state), Context::Permutation(open))
                        if state == self.program.fragment(open.fragment).start =>
                    {
                        let rest = self.permutation_cost(open, NextElement::Part);
                        let parent = known.get(&open.parent).copied().unwrap_or(u64::MAX);
                        return rest.saturating_add(parent);
                    }
                    (Some(state), _) => self.distances.to_end(state),
                    _ => 0,
                };
                to_end.saturating_add(context)
            };
            match self.contexts.get(id) {
                Context::Root | Context::Local => {
                    known.insert(id, 0);
                }
                Context::List(range) => {
                    fuel.burn(units(range.range().len()))?;
                    let cost = self.contexts.entries(range).iter().map(cost_of).min().unwrap_or(u64::MAX);
                    known.insert(id, cost);
                }
                Context::Counter(counter) => {
                    let done = counter.count.after_one_more(counts);
                    let min = self.program.fragment(counter.fragment).count.map_or(0, |count| count.min);
                    let owed = u64::from(min.saturating_sub(done));
                    let iterations = owed.saturating_mul(self.distances.body(self.program, counter.fragment));
                    let parent = known.get(&counter.parent).copied().unwrap_or(u64::MAX);
                    known.insert(id, iterations.saturating_add(parent));
                }
                Context::Permutation(open) => {
                    fuel.burn(8 + units(self.contexts.subset(open.subset).read().len()))?;
                    let rest = self.permutation_cost(open, NextElement::Separator);
                    let parent = known.get(&open.parent).copied().unwrap_or(u64::MAX);
                    known.insert(id, rest.saturating_add(parent));
                }
                Context::Block { first, .. } => self.compute_block(first, known, fuel)?,
            }
            fuel.burn(4)?;
        }
        Ok(())
    }

    /// The least number of bytes that complete parts in any order of which some were read.
    fn permutation_cost(&self, open: OpenPermutation, place: NextElement) -> u64 {
        let Role::Permutation(permutation) = &self.program.fragment(open.fragment).role else { return 0 };
        let subset = self.contexts.subset_at_end(permutation, open);
        let remaining = subset.min_remaining(permutation);
        let numbers = match place {
            NextElement::Part => (remaining.max(1), remaining.max(1) - 1),
            NextElement::Separator => (remaining, remaining),
        };
        self.distances.parts(self.program, open.fragment, numbers, subset.read())
    }

    /// Costs of contexts that name one another: of those that are not final the least one is, as Dijkstra found.
    fn compute_block(&self, first: ContextId, known: &mut Costs, fuel: &mut Fuel) -> Result<(), StepError> {
        let len = self.contexts.block_len(first);
        // A member that another one waits for, that one, and how far it is from there to its end.
        let mut callers: Vec<(ContextId, ContextId, u64)> = Vec::new();
        let mut open = BinaryHeap::new();
        for id in (0..len).map(|place| first.member(place)) {
            let Context::Block { entries, .. } = self.contexts.get(id) else { continue };
            fuel.burn(2 + 2 * units(entries.range().len()))?;
            let mut least = u64::MAX;
            for entry in self.contexts.entries(entries) {
                let to_end = entry.state.state().map_or(0, |state| self.distances.to_end(state));
                if (first..first.member(len)).contains(&entry.context) {
                    callers.push((entry.context, id, to_end));
                } else {
                    let cost = known.get(&entry.context).copied().unwrap_or(u64::MAX);
                    least = least.min(to_end.saturating_add(cost));
                }
            }
            known.insert(id, least);
            open.push(Reverse((least, id)));
        }
        callers.sort_unstable();
        while let Some(Reverse((cost, caller))) = open.pop() {
            if known.get(&caller) != Some(&cost) {
                continue;
            }
            let begin = callers.partition_point(|&(other, ..)| other < caller);
            for &(_, id, to_end) in callers[begin..].iter().take_while(|&&(other, ..)| other == caller) {
                let cost = cost.saturating_add(to_end);
                if known.get(&id).is_none_or(|&known| cost < known) {
                    known.insert(id, cost);
                    open.push(Reverse((cost, id)));
                }
            }
        }
        Ok(())
    }
}

/// Whether the next thing is a part or a separator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextElement {
    Part,
    Separator,
}
