//! The least number of bytes with which a text can be finished.
//!
//! Within a fragment that is a shortest-path problem in which the length of a call edge is itself a shortest
//! path: Knuth's generalisation of Dijkstra's algorithm (1977, "A generalization of Dijkstra's algorithm")
//! finalises states in the order of their distance, and a call edge is relaxed when both its target and the
//! start of what it calls are final. For an item the distance of its state and the cost of its context add up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use grammask_fsm::{FragmentId, Program, StateId};
use grammask_parser_backend::{Fuel, StepError};
use hashbrown::HashMap;

use crate::context::{Context, ContextId, Contexts, CountKind, Entry, TAIL};
use crate::rebuild::post_order;
use crate::sets::Set;
use crate::slots::SLOTS;

/// Costs of contexts: the least number of bytes from the end of the rule to the end of the text.
pub(crate) type Costs = HashMap<ContextId, u64, ahash::RandomState>;

/// Distances from the states of a program to the end of their fragment, in bytes.
pub(crate) struct Distances {
    states: Vec<u64>,
}

impl Distances {
    pub(crate) fn new(program: &Program) -> Self {
        let mut search = Search::new(program);
        search.run();
        Self { states: search.distance }
    }

    fn state(&self, state: StateId) -> u64 {
        self.states[state.index()]
    }

    fn iteration(&self, program: &Program, fragment: FragmentId) -> u64 {
        self.state(program.fragment(fragment).start)
    }

    /// The least number of bytes after which a set is complete. `costs` keeps what does not depend on counts,
    /// so that a deep nesting is not walked again for every byte.
    pub(crate) fn of_set(
        &self,
        program: &Program,
        contexts: &Contexts,
        set: &Set,
        counts: &[u32; SLOTS],
        costs: &mut Costs,
        fuel: &mut Fuel,
    ) -> Result<u64, StepError> {
        if set.complete || set.leaves {
            return Ok(0);
        }
        let mut known = Costs::default();
        let mut least = u64::MAX;
        for item in &set.items {
            let known = if contexts.slots(item.context).is_empty() { &mut *costs } else { &mut known };
            let before = known.len();
            self.learn(program, contexts, item.context, counts, known);
            fuel.burn(1 + 4 * (known.len() - before) as u64)?;
            let cost = known.get(&item.context).copied().unwrap_or(u64::MAX);
            least = least.min(self.state(item.state).saturating_add(cost));
        }
        Ok(least)
    }

    /// Computes the cost of a context and of all that it leads to.
    fn learn(
        &self,
        program: &Program,
        contexts: &Contexts,
        context: ContextId,
        counts: &[u32; SLOTS],
        known: &mut Costs,
    ) {
        for id in post_order(contexts, context, |id| known.contains_key(&id)) {
            let cost_of = |entry: &Entry| {
                let way = match StateId::new(entry.state as usize) {
                    Some(state) if entry.state != TAIL => self.state(state),
                    _ => 0,
                };
                way.saturating_add(known.get(&entry.context).copied().unwrap_or(u64::MAX))
            };
            match contexts.get(id) {
                Context::Root | Context::Local => {
                    known.insert(id, 0);
                }
                Context::List(range) => {
                    let cost = contexts.entries(range).iter().map(cost_of).min().unwrap_or(u64::MAX);
                    known.insert(id, cost);
                }
                Context::Counter(counter) => {
                    let done = match counter.count {
                        CountKind::Slot(slot) => counts[usize::from(slot)].saturating_add(1),
                        CountKind::Exact(done) => done.saturating_add(1),
                        CountKind::Met => u32::MAX,
                    };
                    let min = program.fragment(counter.fragment).count.map_or(0, |count| count.min);
                    let owed = u64::from(min.saturating_sub(done));
                    let iterations = owed.saturating_mul(self.iteration(program, counter.fragment));
                    let parent = known.get(&counter.parent).copied().unwrap_or(u64::MAX);
                    known.insert(id, iterations.saturating_add(parent));
                }
                Context::Block { first, .. } => self.learn_block(contexts, first, known),
            }
        }
    }

    /// Costs of contexts that name one another, by relaxation: a block has few members.
    fn learn_block(&self, contexts: &Contexts, first: ContextId, known: &mut Costs) {
        loop {
            let mut changed = false;
            for place in 0..contexts.block_len(first) as u32 {
                let id = ContextId(first.0 + place);
                let Context::Block { entries, .. } = contexts.get(id) else { continue };
                let cost = contexts.entries(entries).iter().map(|entry| {
                    let way = match StateId::new(entry.state as usize) {
                        Some(state) if entry.state != TAIL => self.state(state),
                        _ => 0,
                    };
                    way.saturating_add(known.get(&entry.context).copied().unwrap_or(u64::MAX))
                });
                let cost = cost.min().unwrap_or(u64::MAX);
                if known.insert(id, cost) != Some(cost) {
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}

/// Lists one behind the other: a vector for each would take several times the memory of the program.
struct Lists<T> {
    /// Where each list begins; one entry more than there are lists.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Lists<T> {
    fn new(count: usize, items: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        let mut starts = vec![0_u32; count + 1];
        for (list, _) in items.clone() {
            starts[list] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let Some((_, first)) = items.clone().next() else { return Self { starts, items: Vec::new() } };
        let mut sorted = vec![first; end as usize];
        // Each list is filled from its end, which leaves its start behind.
        for (list, item) in items {
            starts[list] -= 1;
            sorted[starts[list] as usize] = item;
        }
        Self { starts, items: sorted }
    }

    fn range(&self, list: usize) -> std::ops::Range<usize> {
        self.starts[list] as usize..self.starts[list + 1] as usize
    }
}

/// Knuth's algorithm over all states of a program at once.
struct Search<'p> {
    program: &'p Program,
    distance: Vec<u64>,
    settled: Vec<bool>,
    /// States with a byte or epsilon edge to each state, and the edge's length.
    before: Lists<(StateId, u32)>,
    /// Calls that return to each state: the caller's state and what it calls.
    returns: Lists<(StateId, FragmentId)>,
    /// Calls of each fragment: the caller's state and where it goes on.
    callers: Lists<(StateId, StateId)>,
    /// Fragments that start at each state.
    starting: HashMap<StateId, Vec<FragmentId>, ahash::RandomState>,
    queue: BinaryHeap<Reverse<(u64, StateId)>>,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program) -> Self {
        let states = program.state_count();
        let ids = || (0..states).filter_map(StateId::new);
        let before = ids().flat_map(|id| {
            let state = program.state(id);
            let bytes = state.bytes.iter().map(move |edge| (edge.target.index(), (id, 1)));
            bytes.chain(state.epsilons.iter().map(move |target| (target.index(), (id, 0))))
        });
        let calls = ids().flat_map(|id| program.state(id).calls.iter().map(move |call| (id, call)));
        let returns = calls.clone().map(|(id, call)| (call.target.index(), (id, call.fragment)));
        let callers = calls.map(|(id, call)| (call.fragment.index(), (id, call.target)));
        let mut search = Self {
            program,
            distance: vec![u64::MAX; states],
            settled: vec![false; states],
            before: Lists::new(states, before),
            returns: Lists::new(states, returns),
            callers: Lists::new(program.fragments().len(), callers),
            starting: HashMap::default(),
            queue: BinaryHeap::new(),
        };
        for (index, fragment) in program.fragments().iter().enumerate() {
            if let Some(id) = FragmentId::new(index) {
                search.starting.entry(fragment.start).or_default().push(id);
            }
        }
        for id in ids() {
            if program.state(id).is_final {
                search.reach(id, 0);
            }
        }
        search
    }

    fn run(&mut self) {
        while let Some(Reverse((distance, state))) = self.queue.pop() {
            if std::mem::replace(&mut self.settled[state.index()], true) {
                continue;
            }
            for place in self.before.range(state.index()) {
                let (from, length) = self.before.items[place];
                self.reach(from, distance.saturating_add(u64::from(length)));
            }
            for place in self.returns.range(state.index()) {
                let (from, fragment) = self.returns.items[place];
                if let Some(length) = self.call_length(fragment) {
                    self.reach(from, distance.saturating_add(length));
                }
            }
            for fragment in self.starting.remove(&state).unwrap_or_default() {
                let Some(length) = self.call_length(fragment) else { continue };
                for place in self.callers.range(fragment.index()) {
                    let (from, target) = self.callers.items[place];
                    if self.settled[target.index()] {
                        self.reach(from, self.distance[target.index()].saturating_add(length));
                    }
                }
            }
        }
    }

    /// The least number of bytes that a call reads, once that is settled.
    fn call_length(&self, id: FragmentId) -> Option<u64> {
        let fragment = self.program.fragment(id);
        if fragment.call_is_nullable() {
            return Some(0);
        }
        let start = fragment.start.index();
        let iterations = fragment.count.map_or(1, |count| u64::from(count.min));
        self.settled[start].then(|| self.distance[start].saturating_mul(iterations))
    }

    fn reach(&mut self, state: StateId, distance: u64) {
        let known = &mut self.distance[state.index()];
        if distance < *known {
            *known = distance;
            self.queue.push(Reverse((distance, state)));
        }
    }
}
