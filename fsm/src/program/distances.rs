//! The least number of bytes from every state to the end of its fragment.
//!
//! Within a fragment that is a shortest-path problem in which the length of a call edge is itself a shortest
//! path. Knuth generalised Dijkstra's algorithm to it (1977, "A generalization of Dijkstra's algorithm").
//! States are finalised in the order of their distance, and a call edge is relaxed when both its target and
//! the start of its callee are final.

use std::collections::BTreeMap;

use grammask_grammar_ir::byte_set::{self, ByteSet};
use grammask_grammar_ir::hash::HashMap;

use crate::ids::{Grouped, Id, IdVec, Offset, ids};
use crate::program::missing_parts::MissingParts;
use crate::program::tables::{FragmentId, Permutation, Program, Role, StateId};

/// Distances from the states of a program to the end of their fragment, in bytes.
#[derive(Debug)]
pub struct Distances {
    states: IdVec<StateId, u64>,
    /// For each fragment whose parts come in any order the lengths of these, beside each other: they are added up for each
    /// set of parts that were read.
    parts: HashMap<FragmentId, PartLengths>,
}

impl Distances {
    /// Finds all distances of a program, in time about linear in its size. Deferred programs are compiled
    /// now.
    pub fn new(program: &Program) -> Self {
        // Where that fails, nothing is known to end.
        let Ok(whole) = program.whole_as_read() else {
            return Self { states: IdVec::default(), parts: HashMap::default() };
        };
        let mut search = ShortestLengths::new(&whole);
        search.run();
        let states = search.distance;
        let length = |part: FragmentId| Some(states[whole.fragment(part).start]);
        let parts = whole.fragments_with_ids().filter_map(|(id, fragment)| match &fragment.role {
            Role::Permutation(permutation) => Some((id, PartLengths::new(permutation, length))),
            _ => None,
        });
        let parts = parts.collect();
        Self { states, parts }
    }

    /// The least number of bytes that lead from a state to the end of its fragment's body; `u64::MAX` for an id of
    /// another program.
    pub fn to_end(&self, state: StateId) -> u64 {
        self.states.get(state).copied().unwrap_or(u64::MAX)
    }

    /// The least number of bytes of `parts` of the parts of a fragment that were not `read`, all required ones among them,
    /// and of `separators` separators. `u64::MAX` if there are too few parts. `read` has a bit for each part that occurs at
    /// most once.
    pub fn parts(
        &self,
        program: &Program,
        fragment: FragmentId,
        (parts, separators): (u32, u32),
        read: &[u64],
    ) -> u64 {
        match (self.parts.get(&fragment), &program.fragment(fragment).role) {
            (Some(lengths), Role::Permutation(permutation)) => {
                lengths.of(permutation, (parts, separators), read)
            }
            _ => u64::MAX,
        }
    }

    /// The least number of bytes that the body of a fragment reads, once. Panics for an id of another program.
    pub fn body(&self, program: &Program, fragment: FragmentId) -> u64 {
        self.to_end(program.fragment(fragment).start)
    }
}

/// The length of a shortest ending, and the bytes with which endings so short begin; found by looking at each way to end.
#[derive(Clone, Copy, Debug)]
pub struct ShortestEnding {
    /// Bytes; `u64::MAX` where no ending was seen.
    pub len: u64,
    /// A set as in [`byte_set`].
    pub first_bytes: ByteSet,
}

impl Default for ShortestEnding {
    fn default() -> Self {
        Self { len: u64::MAX, first_bytes: [0; 4] }
    }
}

impl ShortestEnding {
    /// Looks at the endings that go from a state to the end of its fragment and `rest` bytes further. Returns how many
    /// edges of the state it read.
    pub fn see(&mut self, program: &Program, distances: &Distances, state: StateId, rest: u64) -> usize {
        let to_end = distances.to_end(state);
        let len = to_end.saturating_add(rest);
        if len > self.len || len == u64::MAX {
            return 0;
        }
        if len < self.len {
            *self = Self { len, first_bytes: [0; 4] };
        }
        let edges = program.byte_edges(state);
        for edge in edges.iter().filter(|edge| distances.to_end(edge.target) < to_end) {
            byte_set::add_range(&mut self.first_bytes, edge.start, edge.end);
        }
        edges.len()
    }
}

/// The lengths of parts in any order.
#[derive(Debug)]
struct PartLengths {
    /// `u64::MAX` for one that derives nothing.
    each: Box<[u64]>,
    /// The sums of the required parts, 64 by 64: few of these hold both parts that were read and others.
    required: Box<[u64]>,
    separator: Option<u64>,
}

impl PartLengths {
    /// `None` in `length` for a fragment whose length is not known.
    fn new(permutation: &Permutation, length: impl Fn(FragmentId) -> Option<u64>) -> Self {
        let each = permutation.parts.iter().map(|part| part.and_then(&length).unwrap_or(u64::MAX));
        let each: Box<[u64]> = each.collect();
        let required = &each[..Offset::from_raw(permutation.required).index()];
        let sum = |lengths: &[u64]| lengths.iter().fold(0, |sum: u64, &length| sum.saturating_add(length));
        let required = required.chunks(64).map(sum).collect();
        Self { required, separator: permutation.separator.and_then(length), each }
    }

    /// See [`Distances::parts`].
    fn of(&self, permutation: &Permutation, (parts, separators): (u32, u32), read: &[u64]) -> u64 {
        let is_read = |part: usize| read.get(part / 64).is_some_and(|word| word >> (part % 64) & 1 == 1);
        let [required, once] =
            [permutation.required, permutation.once].map(|part| Offset::from_raw(part).index());
        let (mut total, mut count) = (0_u64, 0_u32);
        for (place, &whole) in self.required.iter().enumerate() {
            let all = u64::MAX >> (64 - (required - 64 * place).min(64));
            let unread = all & !read.get(place).copied().unwrap_or(0);
            count += unread.count_ones();
            if unread == all {
                total = total.saturating_add(whole);
                continue;
            }
            let mut rest = unread;
            while rest != 0 {
                let part = 64 * place + Offset::from_raw(rest.trailing_zeros()).index();
                total = total.saturating_add(self.each[part]);
                rest &= rest - 1;
            }
        }
        // All required parts, and then the shortest others: a part that occurs once is taken if it is shorter
        // than the shortest repeatable one, which serves any number of times.
        if count < parts {
            let repeatable = self.each[once..].iter().copied().min();
            let optional = (required..once).filter(|&part| !is_read(part)).map(|part| self.each[part]);
            let mut optional: Vec<u64> =
                optional.filter(|&length| repeatable.is_none_or(|other| length < other)).collect();
            optional.sort_unstable();
            let mut optional = optional.into_iter();
            for _ in count..parts {
                total = total.saturating_add(optional.next().or(repeatable).unwrap_or(u64::MAX));
            }
        }
        let separator = if separators > 0 { self.separator.unwrap_or(u64::MAX) } else { 0 };
        total.saturating_add(separator.saturating_mul(u64::from(separators)))
    }
}

/// Knuth's algorithm over all states of a program at once.
struct ShortestLengths<'p> {
    program: &'p Program,
    distance: IdVec<StateId, u64>,
    settled: IdVec<StateId, bool>,
    /// States with a byte or epsilon edge to each state, and the edge's length.
    before: Grouped<StateId, (StateId, u32)>,
    /// Calls that return to each state: the caller's state and the callee.
    returns: Grouped<StateId, (StateId, FragmentId)>,
    /// Calls of each fragment: the caller's state and where it goes on.
    callers: Grouped<FragmentId, (StateId, StateId)>,
    /// Fragments that start at each state.
    starting: Grouped<StateId, FragmentId>,
    /// The whole of each part in any order and of each separator.
    wholes: HashMap<FragmentId, FragmentId>,
    /// For each of these wholes the parts that have not settled, and its length. Lengths settle from the least on, so once
    /// enough of them are known, those are the least ones.
    lengths: HashMap<FragmentId, (MissingParts, Option<u64>)>,
    /// States that were reached, by their distance: there are few distances, and many states at each.
    queue: BTreeMap<u64, Vec<StateId>>,
}

impl<'p> ShortestLengths<'p> {
    fn new(program: &'p Program) -> Self {
        let states = program.state_count();
        let ids = || ids::<StateId>(states);
        let before = ids().flat_map(|id| {
            let state = program.state(id);
            let bytes = state.bytes.iter().map(move |edge| (edge.target, (id, 1)));
            bytes.chain(state.epsilons.iter().map(move |&target| (target, (id, 0))))
        });
        let calls = ids().flat_map(|id| program.state(id).calls.iter().map(move |call| (id, call)));
        let returns = calls.clone().map(|(id, call)| (call.target, (id, call.fragment)));
        let callers = calls.map(|(id, call)| (call.fragment, (id, call.target)));
        let starting = program.fragments_with_ids().map(|(id, fragment)| (fragment.start, id));
        let mut search = Self {
            program,
            distance: IdVec::of(u64::MAX, states),
            settled: IdVec::of(false, states),
            before: Grouped::new(states, before),
            returns: Grouped::new(states, returns),
            callers: Grouped::new(program.fragment_count(), callers),
            starting: Grouped::new(states, starting),
            wholes: HashMap::default(),
            lengths: HashMap::default(),
            queue: BTreeMap::new(),
        };
        for (whole, fragment) in program.fragments_with_ids() {
            if let Role::Permutation(permutation) = &fragment.role {
                let inside = permutation.parts.iter().flatten().chain(&permutation.separator);
                search.wholes.extend(inside.map(|&inside| (inside, whole)));
                let Permutation { required, once, min, .. } = **permutation;
                search.lengths.insert(whole, (MissingParts::of(required, once, min), None));
            }
        }
        for id in ids() {
            if program.state(id).is_final {
                // The search runs backwards from the ends of all fragments.
                search.reach(id, 0);
            }
        }
        search
    }

    fn run(&mut self) {
        while let Some(mut nearest) = self.queue.first_entry() {
            let distance = *nearest.key();
            let Some(state) = nearest.get_mut().pop() else {
                nearest.remove();
                continue;
            };
            // A state may be in the queue several times; its first entry has the least distance.
            if std::mem::replace(&mut self.settled[state], true) {
                continue;
            }
            for place in self.before.range(state) {
                let (from, length) = self.before.items[place];
                self.reach(from, distance.saturating_add(u64::from(length)));
            }
            for place in self.returns.range(state) {
                let (from, fragment) = self.returns.items[place];
                if let Some(length) = self.call_length(fragment) {
                    self.reach(from, distance.saturating_add(length));
                }
            }
            // The distance of a start is the length of its fragment. Only now can the callers whose targets
            // are settled go on; others do when their target is.
            for place in self.starting.range(state) {
                let fragment = self.starting.items[place];
                match self.wholes.get(&fragment) {
                    Some(&whole) => self.settle_inside(whole, fragment),
                    None => self.relax_callers(fragment),
                }
            }
        }
    }

    /// A part or separator of a whole has settled.
    fn settle_inside(&mut self, whole: FragmentId, inside: FragmentId) {
        let program = self.program;
        let Role::Permutation(permutation) = &program.fragment(whole).role else { return };
        let Some((missing, known)) = self.lengths.get_mut(&whole) else { return };
        if !missing.take(program.fragment(inside).role.as_part()) || known.is_some() {
            return;
        }
        let (settled, distance) = (&self.settled, &self.distance);
        let length = |part: FragmentId| {
            let start = program.fragment(part).start;
            settled[start].then(|| distance[start])
        };
        let (parts, separators) = (permutation.min, permutation.min - 1);
        *known = Some(PartLengths::new(permutation, length).of(permutation, (parts, separators), &[]));
        self.relax_callers(whole);
    }

    /// Goes on at the callers of a fragment, if its length is settled.
    fn relax_callers(&mut self, fragment: FragmentId) {
        let Some(length) = self.call_length(fragment) else { return };
        for place in self.callers.range(fragment) {
            let (from, target) = self.callers.items[place];
            if self.settled[target] {
                self.reach(from, self.distance[target].saturating_add(length));
            }
        }
    }

    /// The least number of bytes that a call reads, once that is settled.
    fn call_length(&self, id: FragmentId) -> Option<u64> {
        let fragment = self.program.fragment(id);
        if fragment.call_is_nullable() {
            return Some(0);
        }
        if let Role::Permutation(_) = &fragment.role {
            return self.lengths.get(&id)?.1;
        }
        let start = fragment.start;
        let iterations = fragment.count.map_or(1, |count| u64::from(count.min));
        self.settled[start].then(|| self.distance[start].saturating_mul(iterations))
    }

    fn reach(&mut self, state: StateId, distance: u64) {
        let known = &mut self.distance[state];
        if distance < *known {
            *known = distance;
            self.queue.entry(distance).or_default().push(state);
        }
    }
}
