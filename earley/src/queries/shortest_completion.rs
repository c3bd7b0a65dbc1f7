//! The least number of bytes with which a text can be finished, and such an ending.
//!
//! How far a state is from the end of its rule is known of the automata alone
//! ([`grammask_fsm::Distances`]). For an item that distance and the cost of its context add up. An ending is written
//! from the item that is nearest to the end, context by context. The parser takes no step for it: after each separator
//! of 1,000 parts in any order, a step would predict all that are left.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};

use grammask_fsm::{Distances, Ending, Program, Role, ShortestEnding};
use grammask_grammar_ir::hash::HashMap;
use grammask_parser_backend::{Fuel, StepError};

use crate::automaton::lazy::Automaton;
use crate::tables::context_order::post_order;
use crate::tables::contexts::{Context, Contexts, Counter, Entry, OpenPermutation};
use crate::tables::ids::{ContextId, SLOTS, index, units};
use crate::tables::items::Item;
use crate::tables::part_subset::PartSubset;
use crate::tables::sets::Set;
use crate::tables::state::State;

/// Costs of contexts: the least number of bytes from the end of the rule to the end of the text.
type Costs = HashMap<ContextId, u64>;

/// Costs of contexts with the entry by which an ending goes on.
type Ways = HashMap<ContextId, (u64, Option<Entry>)>;

/// The parts in any order that were read, and how many parts and separators a shortest ending has.
type MissingParts<'s> = (Cow<'s, PartSubset>, (u32, u32));

/// Parts that are added up in the time of a unit of work.
const PARTS_PER_UNIT: usize = 8;

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
    /// The least number of bytes after which a state is complete, and the bytes with which so short a text begins. The
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
        let builder = automaton.lock();
        let search = CostSearch { distances, program: &automaton.program, contexts: &builder.contexts };
        let found = search.of_set(automaton.set(state), &state.counts, max_bytes, &mut costs, fuel);
        let bytes = costs.capacity() * size_of::<(ContextId, u64)>();
        automaton.query_bytes.store(bytes, Ordering::Relaxed);
        found
    }
}

/// The tables that a search for the shortest completion reads.
struct CostSearch<'s> {
    distances: &'s Distances,
    program: &'s Program,
    contexts: &'s Contexts,
}

impl CostSearch<'_> {
    /// The shortest ending of a set, and its text if that has at most `max_bytes`. Without an item to start from, a token
    /// has to come.
    fn of_set(
        &self,
        set: &Set,
        counts: &[u32; SLOTS],
        max_bytes: Option<u64>,
        costs: &mut Costs,
        fuel: &mut Fuel,
    ) -> Result<(ShortestEnding, Option<Vec<u8>>), StepError> {
        if set.complete || set.local_complete {
            return Ok((ShortestEnding { len: 0, first_bytes: [0; 4] }, max_bytes.map(|_| Vec::new())));
        }
        let mut known = Costs::default();
        let (mut shortest, mut nearest) = (ShortestEnding::default(), None);
        for &item in &set.items {
            let known = if self.contexts.slots(item.context).is_empty() { &mut *costs } else { &mut known };
            fuel.burn(2)?;
            self.compute(item.context, counts, known, fuel)?;
            let before = shortest.len;
            let cost = cost_of(known, item.context);
            fuel.burn(units(shortest.see(self.program, self.distances, item.state, cost)))?;
            if shortest.len < before {
                nearest = Some(item);
            }
        }
        let nearest = nearest.filter(|_| max_bytes.is_some_and(|max| shortest.len <= max));
        let text = nearest.map(|item| self.ending(item, counts, costs, fuel)).transpose()?;
        Ok((shortest, text))
    }

    /// The shortest ending that starts from an item.
    fn ending(
        &self,
        item: Item,
        counts: &[u32; SLOTS],
        costs: &mut Costs,
        fuel: &mut Fuel,
    ) -> Result<Vec<u8>, StepError> {
        let mut known = Costs::default();
        let known = if self.contexts.slots(item.context).is_empty() { costs } else { &mut known };
        self.compute(item.context, counts, known, fuel)?;
        let mut ending = Vec::new();
        self.write(Ending::From(item.state), &mut ending, fuel)?;
        let mut context = item.context;
        let mut ways = HashMap::default();
        loop {
            fuel.burn(1)?;
            let entry = match self.contexts.get(context) {
                Context::Root | Context::Local => return Ok(ending),
                Context::Counter(counter) => {
                    let bodies = Ending::bodies(counter.fragment, self.owed(counter, counts));
                    self.write(bodies, &mut ending, fuel)?;
                    context = counter.parent;
                    continue;
                }
                Context::Permutation(open) => {
                    self.write_parts(open, NextElement::Separator { after: None }, &mut ending, fuel)?;
                    context = open.parent;
                    continue;
                }
                Context::List(range) => self.least_entry(self.contexts.entries(range), known, fuel)?.1,
                Context::Block { first, .. } => {
                    if !ways.contains_key(&context) {
                        ways.extend(self.ways_from_block(first, known, fuel)?);
                    }
                    ways.get(&context).and_then(|&(_, entry)| entry)
                }
            };
            let Some(entry) = entry else { return Ok(ending) };
            context = entry.context;
            match self.next_element(entry) {
                Some((open, next)) => {
                    self.write_parts(open, next, &mut ending, fuel)?;
                    context = open.parent;
                }
                None => {
                    if let Some(state) = entry.state.state() {
                        self.write(Ending::From(state), &mut ending, fuel)?;
                    }
                }
            }
        }
    }

    fn write(&self, part: Ending<'_>, ending: &mut Vec<u8>, fuel: &mut Fuel) -> Result<(), StepError> {
        self.distances.write(self.program, part, ending, &mut |steps| fuel.burn(units(steps)))
    }

    fn write_parts(
        &self,
        open: OpenPermutation,
        next: NextElement,
        ending: &mut Vec<u8>,
        fuel: &mut Fuel,
    ) -> Result<(), StepError> {
        let Some((subset, numbers)) = self.missing_parts(open, next, fuel)? else { return Ok(()) };
        let parts = Ending::Parts { fragment: open.fragment, numbers, read: subset.read() };
        self.write(parts, ending, fuel)
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
            match self.contexts.get(id) {
                Context::Root | Context::Local => {
                    known.insert(id, 0);
                }
                Context::List(range) => {
                    let (cost, _) = self.least_entry(self.contexts.entries(range), known, fuel)?;
                    known.insert(id, cost);
                }
                Context::Counter(counter) => {
                    let body = self.distances.body(self.program, counter.fragment);
                    let iterations = self.owed(counter, counts).saturating_mul(body);
                    known.insert(id, iterations.saturating_add(cost_of(known, counter.parent)));
                }
                Context::Permutation(open) => {
                    let rest = self.permutation_cost(open, NextElement::Separator { after: None }, fuel)?;
                    known.insert(id, rest.saturating_add(cost_of(known, open.parent)));
                }
                Context::Block { first, .. } => {
                    let ways = self.ways_from_block(first, known, fuel)?;
                    known.extend(ways.into_iter().map(|(id, (cost, _))| (id, cost)));
                }
            }
            fuel.burn(4)?;
        }
        Ok(())
    }

    /// The entry from which the end of the text is nearest, and its cost.
    fn least_entry(
        &self,
        entries: &[Entry],
        known: &Costs,
        fuel: &mut Fuel,
    ) -> Result<(u64, Option<Entry>), StepError> {
        let mut least = (u64::MAX, None);
        for &entry in entries {
            let cost = self.cost_of_entry(entry, known, fuel)?;
            if cost < least.0 {
                least = (cost, Some(entry));
            }
        }
        Ok(least)
    }

    /// The least number of bytes from a caller to the end of the text.
    fn cost_of_entry(&self, entry: Entry, known: &Costs, fuel: &mut Fuel) -> Result<u64, StepError> {
        fuel.burn(1)?;
        if let Some((open, next)) = self.next_element(entry) {
            let rest = self.permutation_cost(open, next, fuel)?;
            return Ok(rest.saturating_add(cost_of(known, open.parent)));
        }
        Ok(self.to_end(&entry).saturating_add(cost_of(known, entry.context)))
    }

    /// The least number of bytes from a caller to the end of its rule.
    fn to_end(&self, entry: &Entry) -> u64 {
        entry.state.state().map_or(0, |state| self.distances.to_end(state))
    }

    /// The parts in any order that a caller goes on in, after a part or a separator.
    fn next_element(&self, entry: Entry) -> Option<(OpenPermutation, NextElement)> {
        let Context::Permutation(open) = self.contexts.get(entry.context) else { return None };
        let next = match entry.state.part() {
            Some(part) => NextElement::Separator { after: Some(part) },
            None if entry.state.state()? == self.program.fragment(open.fragment).start => NextElement::Part,
            None => return None,
        };
        Some((open, next))
    }

    /// How many iterations must follow the one that is open.
    fn owed(&self, counter: Counter, counts: &[u32; SLOTS]) -> u64 {
        let min = self.program.fragment(counter.fragment).count.map_or(0, |count| count.min);
        u64::from(min.saturating_sub(counter.count.after_one_more(counts)))
    }

    /// The least number of bytes that complete parts in any order of which some were read.
    fn permutation_cost(
        &self,
        open: OpenPermutation,
        next: NextElement,
        fuel: &mut Fuel,
    ) -> Result<u64, StepError> {
        let Some((subset, numbers)) = self.missing_parts(open, next, fuel)? else { return Ok(0) };
        Ok(self.distances.parts(self.program, open.fragment, numbers, subset.read()))
    }

    /// The missing parts of a context; `None` where its fragment is not made of parts in any order.
    fn missing_parts(
        &self,
        open: OpenPermutation,
        next: NextElement,
        fuel: &mut Fuel,
    ) -> Result<Option<MissingParts<'_>>, StepError> {
        let Role::Permutation(permutation) = &self.program.fragment(open.fragment).role else {
            return Ok(None);
        };
        let mut subset = Cow::Borrowed(self.contexts.subset(open.subset));
        if let NextElement::Separator { after: Some(part) } = next
            && let Some(with_part) = subset.with(permutation, part)
        {
            subset = Cow::Owned(with_part);
        }
        let remaining = subset.min_remaining(permutation);
        let numbers = match next {
            NextElement::Part => (remaining.max(1), remaining.max(1) - 1),
            NextElement::Separator { .. } => (remaining, remaining),
        };
        // Required parts are added up 64 by 64, and others one by one; those that repeat are one.
        let looked_at = permutation.parts.len().min(index(remaining));
        fuel.burn(8 + units(subset.read().len() + looked_at / PARTS_PER_UNIT))?;
        Ok(Some((subset, numbers)))
    }

    /// The costs of contexts that name one another, and the entries that lead on: of those that are not final the least one
    /// is, as Dijkstra found. So an entry leads out of the block, or to a context that was final before.
    fn ways_from_block(&self, first: ContextId, known: &Costs, fuel: &mut Fuel) -> Result<Ways, StepError> {
        let len = self.contexts.block_len(first);
        // A member that another one waits for, that one, and the entry.
        let mut callers: Vec<(ContextId, ContextId, Entry)> = Vec::new();
        let mut open = BinaryHeap::new();
        let mut ways = Ways::default();
        for id in (0..len).map(|place| first.member(place)) {
            let Context::Block { entries, .. } = self.contexts.get(id) else { continue };
            fuel.burn(2 + 2 * units(entries.range().len()))?;
            let mut outside = Vec::new();
            for &entry in self.contexts.entries(entries) {
                match (first..first.member(len)).contains(&entry.context) {
                    true => callers.push((entry.context, id, entry)),
                    false => outside.push(entry),
                }
            }
            let least = self.least_entry(&outside, known, fuel)?;
            ways.insert(id, least);
            open.push(Reverse((least.0, id)));
        }
        callers.sort_unstable();
        while let Some(Reverse((cost, caller))) = open.pop() {
            if ways.get(&caller).is_none_or(|&(known, _)| known != cost) {
                continue;
            }
            let begin = callers.partition_point(|&(other, ..)| other < caller);
            for &(_, id, entry) in callers[begin..].iter().take_while(|&&(other, ..)| other == caller) {
                let cost = cost.saturating_add(self.to_end(&entry));
                if ways.get(&id).is_none_or(|&(known, _)| cost < known) {
                    ways.insert(id, (cost, Some(entry)));
                    open.push(Reverse((cost, id)));
                }
            }
        }
        Ok(ways)
    }
}

/// The cost of a context that was computed.
fn cost_of(known: &Costs, context: ContextId) -> u64 {
    known.get(&context).copied().unwrap_or(u64::MAX)
}

/// The next of parts in any order: a part, and then those that are still required, or a separator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextElement {
    Part,
    /// After a part that is not among those that were read.
    Separator {
        after: Option<u32>,
    },
}
