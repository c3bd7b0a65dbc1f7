//! The least number of bytes from every state to the end of its fragment.
//!
//! Within a fragment that is a shortest-path problem in which the length of a call edge is itself a shortest
//! path. Knuth generalised Dijkstra's algorithm to it (1977, "A generalization of Dijkstra's algorithm").
//! States are finalised in the order of their distance, and a call edge is relaxed when both its target and
//! the start of its callee are final. The order is kept: a way that leads only to states that were final before leads
//! to the end, also where it reads nothing.

use std::collections::BTreeMap;

use grammask_grammar_ir::byte_set::{self, ByteSet};
use grammask_grammar_ir::hash::HashMap;

use crate::ids::{Grouped, Id, IdVec, Offset, ids};
use crate::program::missing_parts::MissingParts;
use crate::program::tables::{FragmentId, Permutation, Program, Role, StateId};

/// Distances from the states of a program to the end of their fragment, in bytes.
#[derive(Debug)]
pub struct Distances {
    states: IdVec<StateId, Distance>,
    /// For each fragment whose parts come in any order the lengths of these, beside each other: they are added up for each
    /// set of parts that were read.
    parts: HashMap<FragmentId, PartLengths>,
    /// The lengths of these fragments.
    wholes: HashMap<FragmentId, Distance>,
}

/// A distance, and when it was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Distance {
    /// Bytes; `u64::MAX` where there is no end.
    bytes: u64,
    /// How many states were final before.
    rank: u32,
}

impl Distance {
    const NONE: Self = Self { bytes: u64::MAX, rank: u32::MAX };

    /// That of a call that reads nothing.
    const NOTHING: Self = Self { bytes: 0, rank: 0 };
}

/// A part of a shortest ending.
#[derive(Clone, Copy, Debug)]
pub enum Ending<'r> {
    /// From a state to the end of its fragment's body.
    From(StateId),
    /// So many bodies of a fragment, each behind a separator if there is one.
    Bodies {
        /// The fragment.
        fragment: FragmentId,
        /// How many.
        times: u64,
        /// The fragment before each.
        separator: Option<FragmentId>,
    },
    /// Parts and separators, as in [`Distances::parts`]. A part comes last.
    Parts {
        /// The whole.
        fragment: FragmentId,
        /// How many parts and separators.
        numbers: (u32, u32),
        /// The parts that were read.
        read: &'r [u64],
    },
}

impl Ending<'_> {
    /// So many bodies of a fragment, one after the other.
    pub fn bodies(fragment: FragmentId, times: u64) -> Self {
        Self::Bodies { fragment, times, separator: None }
    }
}

impl Distances {
    /// Finds all distances of a program, in time about linear in its size. Deferred programs are compiled
    /// now.
    pub fn new(program: &Program) -> Self {
        Self::with_ranks(program).0
    }

    /// As [`new`](Self::new), and a rank above all.
    fn with_ranks(program: &Program) -> (Self, u32) {
        // Where that fails, nothing is known to end.
        let Ok(sub_programs) = program.sub_programs.as_read() else {
            return (Self::none(0), 0);
        };
        // Sub-programs call nothing but themselves, so each is searched alone, before the callers. They stay in the
        // cache of the processor.
        let mut states = vec![Distance::NONE; program.own_state_count()];
        let mut found = Self::none(0);
        let mut roots = vec![Distance::NONE; sub_programs.len()];
        let mut ranks = 0;
        for linked in &sub_programs {
            let (inside, most) = Self::with_ranks(linked.program);
            if let Some(root) = program.sub_programs.root(linked.root) {
                roots[root] = inside.call(linked.program, linked.program.root());
            }
            states.extend(inside.states.iter());
            found.parts.extend(inside.parts.into_iter().map(|(id, parts)| (linked.fragment(id), parts)));
            found.wholes.extend(inside.wholes.into_iter().map(|(id, whole)| (linked.fragment(id), whole)));
            ranks = ranks.max(most);
        }
        found.states = states.into();
        let mut search = ShortestLengths::new(program, found, roots, ranks);
        search.run();
        let ShortestLengths { mut found, ranks, .. } = search;
        for (id, fragment) in program.own_fragments() {
            if let Role::Permutation(permutation) = &fragment.role {
                let length = |part: FragmentId| Some(found.states[program.fragment(part).start]);
                let lengths = PartLengths::new(permutation, length);
                found.parts.insert(id, lengths);
            }
        }
        (found, ranks)
    }

    /// Those of a program none of whose states can end.
    fn none(states: usize) -> Self {
        Self {
            states: IdVec::of(Distance::NONE, states),
            parts: HashMap::default(),
            wholes: HashMap::default(),
        }
    }

    /// The least number of bytes that lead from a state to the end of its fragment's body; `u64::MAX` for an id of
    /// another program.
    pub fn to_end(&self, state: StateId) -> u64 {
        self.at(state).bytes
    }

    fn at(&self, state: StateId) -> Distance {
        self.states.get(state).copied().unwrap_or(Distance::NONE)
    }

    /// The least number of bytes that a call reads, if that is known.
    fn call(&self, program: &Program, id: FragmentId) -> Distance {
        let fragment = program.fragment(id);
        if fragment.call_is_nullable() {
            return Distance::NOTHING;
        }
        if let Role::Permutation(_) = &fragment.role {
            return self.wholes.get(&id).copied().unwrap_or(Distance::NONE);
        }
        let body = self.at(fragment.start);
        let iterations = fragment.count.map_or(1, |count| u64::from(count.min));
        Distance { bytes: body.bytes.saturating_mul(iterations), ..body }
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

    /// Writes a part of an ending, which must have a length. `burn` is called for each step.
    ///
    /// # Errors
    ///
    /// Those of `burn`.
    pub fn write<E>(
        &self,
        program: &Program,
        ending: Ending<'_>,
        text: &mut Vec<u8>,
        burn: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left = vec![ending];
        while let Some(ending) = left.pop() {
            burn(1)?;
            match ending {
                Ending::From(state) => {
                    let row = program.state(state);
                    burn(row.bytes.len() + row.calls.len())?;
                    match self.way(program, state) {
                        Some(Way::Byte(byte, target)) => {
                            text.push(byte);
                            left.push(Ending::From(target));
                        }
                        Some(Way::Epsilon(target)) => left.push(Ending::From(target)),
                        Some(Way::Call(fragment, target)) => {
                            left.push(Ending::From(target));
                            left.extend(self.callee(program, fragment));
                        }
                        None => {}
                    }
                }
                Ending::Bodies { fragment, times, separator } => {
                    let is_longer = |fragment| self.body(program, fragment) > 0;
                    if times > 0 && (is_longer(fragment) || separator.is_some_and(is_longer)) {
                        left.push(Ending::Bodies { fragment, times: times - 1, separator });
                        left.push(Ending::From(program.fragment(fragment).start));
                        left.extend(separator.map(|it| Ending::From(program.fragment(it).start)));
                    }
                }
                Ending::Parts { fragment, numbers: (parts, separators), read } => {
                    let (Some(lengths), Role::Permutation(permutation)) =
                        (self.parts.get(&fragment), &program.fragment(fragment).role)
                    else {
                        continue;
                    };
                    let chosen = lengths.chosen(permutation, parts, read);
                    burn(chosen.len())?;
                    let is_first_alone = separators < parts;
                    // The last one is written first.
                    for (place, &(part, times)) in chosen.iter().enumerate().rev() {
                        let Some(fragment) = permutation.parts[part] else { continue };
                        let bodies = |times, separator| Ending::Bodies { fragment, times, separator };
                        let alone = u64::from(place == 0 && is_first_alone);
                        left.push(bodies(times.saturating_sub(alone), permutation.separator));
                        left.push(bodies(alone, None));
                    }
                }
            }
        }
        Ok(())
    }

    /// The first step of a shortest way to the end: one that leads to what was final before. `None` at the end.
    fn way(&self, program: &Program, state: StateId) -> Option<Way> {
        let here = self.at(state);
        let row = program.state(state);
        let is_way = |length: Distance, target: StateId| {
            let rest = self.at(target);
            length.rank < here.rank
                && rest.rank < here.rank
                && length.bytes.saturating_add(rest.bytes) == here.bytes
        };
        if row.is_final || here == Distance::NONE {
            return None;
        }
        let byte = Distance { bytes: 1, ..Distance::NOTHING };
        let bytes = row.bytes.iter().filter(|edge| is_way(byte, edge.target));
        let epsilons = row.epsilons.iter().filter(|&&target| is_way(Distance::NOTHING, target));
        let calls = row.calls.iter().filter(|call| is_way(self.call(program, call.fragment), call.target));
        bytes
            .map(|edge| Way::Byte(edge.start, edge.target))
            .chain(epsilons.map(|&target| Way::Epsilon(target)))
            .chain(calls.map(|call| Way::Call(call.fragment, call.target)))
            .next()
    }

    /// A shortest text of a call; `None` where it reads nothing.
    fn callee(&self, program: &Program, id: FragmentId) -> Option<Ending<'static>> {
        let fragment = program.fragment(id);
        match &fragment.role {
            _ if self.call(program, id).bytes == 0 => None,
            Role::Permutation(permutation) => {
                let numbers = permutation.numbers();
                Some(Ending::Parts { fragment: id, numbers, read: &[] })
            }
            _ => Some(Ending::bodies(id, fragment.count.map_or(1, |count| u64::from(count.min)))),
        }
    }
}

/// A step towards the end.
enum Way {
    Byte(u8, StateId),
    Epsilon(StateId),
    Call(FragmentId, StateId),
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
    /// [`Distance::NONE`] for one that derives nothing.
    each: Box<[Distance]>,
    /// The sums of the required parts, 64 by 64: few of these hold both parts that were read and others.
    required: Box<[u64]>,
    /// The parts that occur at most once and are shorter than the shortest repeatable one, the shortest first. Of equally
    /// long ones the first to be known: it is no longer because of the others.
    optional: Box<[usize]>,
    /// The shortest part that is repeatable.
    repeatable: Option<usize>,
    separator: Distance,
}

impl PartLengths {
    /// `None` in `length` for a fragment whose length is not known.
    fn new(permutation: &Permutation, length: impl Fn(FragmentId) -> Option<Distance>) -> Self {
        let length = |part: Option<FragmentId>| part.and_then(&length).unwrap_or(Distance::NONE);
        let each: Box<[Distance]> = permutation.parts.iter().map(|&part| length(part)).collect();
        let [required, once] =
            [permutation.required, permutation.once].map(|part| Offset::from_raw(part).index());
        let key = |&part: &usize| each[part];
        let repeatable = (once..each.len()).min_by_key(key);
        let mut optional: Box<[usize]> =
            (required..once).filter(|part| repeatable.is_none_or(|other| key(part) < key(&other))).collect();
        optional.sort_unstable_by_key(key);
        let sum = |parts: &[Distance]| parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.bytes));
        let required = each[..required].chunks(64).map(sum).collect();
        Self { required, optional, repeatable, separator: length(permutation.separator), each }
    }

    /// See [`Distances::parts`].
    fn of(&self, permutation: &Permutation, (parts, separators): (u32, u32), read: &[u64]) -> u64 {
        let (mut total, mut count) = (0_u64, 0_u32);
        for (place, unread, is_whole) in unread_required(permutation, read) {
            count += unread.count_ones();
            total = total.saturating_add(match is_whole {
                true => self.required[place],
                false => {
                    bits(place, unread).fold(0, |sum: u64, part| sum.saturating_add(self.each[part].bytes))
                }
            });
        }
        self.others(parts.saturating_sub(count), read, |part, times| {
            let length = part.map_or(u64::MAX, |part| self.each[part].bytes);
            total = total.saturating_add(length.saturating_mul(times));
        });
        let separator = if separators > 0 { self.separator.bytes } else { 0 };
        total.saturating_add(separator.saturating_mul(u64::from(separators)))
    }

    /// So many parts that were not read, all required ones among them, whose lengths are the least; with how often each is
    /// written.
    fn chosen(&self, permutation: &Permutation, parts: u32, read: &[u64]) -> Vec<(usize, u64)> {
        let required = unread_required(permutation, read);
        let mut chosen: Vec<(usize, u64)> =
            required.flat_map(|(place, unread, _)| bits(place, unread)).map(|part| (part, 1)).collect();
        let count = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
        self.others(parts.saturating_sub(count), read, |part, times| {
            chosen.extend(part.map(|part| (part, times)));
        });
        chosen
    }

    /// Takes so many shortest parts besides the required ones, and says how often each is written. The shortest repeatable one
    /// serves any number of times. `None` for parts that are missing.
    fn others(&self, parts: u32, read: &[u64], mut take: impl FnMut(Option<usize>, u64)) {
        let is_read = |part: usize| read.get(part / 64).is_some_and(|word| word >> (part % 64) & 1 == 1);
        let mut left = parts;
        for &part in self.optional.iter().filter(|&&part| !is_read(part)) {
            if left == 0 {
                return;
            }
            take(Some(part), 1);
            left -= 1;
        }
        if left > 0 {
            take(self.repeatable, u64::from(left));
        }
    }
}

/// The required parts that were not read: 64 by 64 a place, their bits, and whether these are all.
fn unread_required(permutation: &Permutation, read: &[u64]) -> impl Iterator<Item = (usize, u64, bool)> {
    let required = Offset::from_raw(permutation.required).index();
    (0..required.div_ceil(64)).map(move |place| {
        let all = u64::MAX >> (64 - (required - 64 * place).min(64));
        let unread = all & !read.get(place).copied().unwrap_or(0);
        (place, unread, unread == all)
    })
}

/// The parts whose bits are set in the word at a place.
fn bits(place: usize, word: u64) -> impl Iterator<Item = usize> {
    let words = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
    words
        .take_while(|&word| word != 0)
        .map(move |word| 64 * place + Offset::from_raw(word.trailing_zeros()).index())
}

/// Knuth's algorithm over all states of a program's own at once.
struct ShortestLengths<'p> {
    program: &'p Program,
    /// The lengths of its sub-programs.
    roots: Vec<Distance>,
    /// The distances. A state that was reached and is not final has a distance and no rank.
    found: Distances,
    /// How many states are final.
    ranks: u32,
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
    /// For each of these wholes the parts that have not settled. Lengths settle from the least on, so once enough of them
    /// are known, those are the least ones.
    missing: HashMap<FragmentId, MissingParts>,
    /// States that were reached, by their distance: there are few distances, and many states at each.
    queue: BTreeMap<u64, Vec<StateId>>,
}

impl<'p> ShortestLengths<'p> {
    /// Distances in sub-programs are `found`, with ranks below a number.
    fn new(program: &'p Program, found: Distances, roots: Vec<Distance>, ranks: u32) -> Self {
        let states = program.own_state_count();
        let ids = || ids::<StateId>(states);
        let before = ids().flat_map(|id| {
            let state = program.state(id);
            let bytes = state.bytes.iter().map(move |edge| (edge.target, (id, 1)));
            bytes.chain(state.epsilons.iter().map(move |&target| (target, (id, 0))))
        });
        let calls = ids().flat_map(|id| program.state(id).calls.iter().map(move |call| (id, call)));
        let returns = calls.clone().map(|(id, call)| (call.target, (id, call.fragment)));
        let callers = calls.map(|(id, call)| (call.fragment, (id, call.target)));
        let starting = program.own_fragments().map(|(id, fragment)| (fragment.start, id));
        let fragments = program.fragments.len() + roots.len();
        let mut search = Self {
            program,
            found,
            roots,
            ranks,
            before: Grouped::new(states, before),
            returns: Grouped::new(states, returns),
            callers: Grouped::new(fragments, callers),
            starting: Grouped::new(states, starting),
            wholes: HashMap::default(),
            missing: HashMap::default(),
            queue: BTreeMap::new(),
        };
        for (whole, fragment) in program.own_fragments() {
            if let Role::Permutation(permutation) = &fragment.role {
                let inside = permutation.parts.iter().flatten().chain(&permutation.separator);
                search.wholes.extend(inside.map(|&inside| (inside, whole)));
                let Permutation { required, once, min, .. } = **permutation;
                search.missing.insert(whole, MissingParts::of(required, once, min));
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
            if self.is_settled(state) {
                continue;
            }
            self.found.states[state].rank = self.ranks;
            self.ranks += 1;
            for place in self.before.range(state) {
                let (from, length) = self.before.items[place];
                self.reach(from, distance.saturating_add(u64::from(length)));
            }
            for place in self.returns.range(state) {
                let (from, fragment) = self.returns.items[place];
                let call = self.call(fragment);
                if call.rank < u32::MAX {
                    self.reach(from, distance.saturating_add(call.bytes));
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

    /// The least number of bytes that a call reads, if that is known. Of a sub-program it is, and its tables are not
    /// looked at.
    fn call(&self, id: FragmentId) -> Distance {
        match self.program.sub_programs.root(id) {
            Some(root) => self.roots[root],
            None => self.found.call(self.program, id),
        }
    }

    fn is_settled(&self, state: StateId) -> bool {
        self.found.states[state].rank < u32::MAX
    }

    /// A part or separator of a whole has settled.
    fn settle_inside(&mut self, whole: FragmentId, inside: FragmentId) {
        let program = self.program;
        let Role::Permutation(permutation) = &program.fragment(whole).role else { return };
        let Some(missing) = self.missing.get_mut(&whole) else { return };
        let found = &mut self.found;
        if !missing.take(program.fragment(inside).role.as_part()) || found.wholes.contains_key(&whole) {
            return;
        }
        let length = |part: FragmentId| {
            Some(found.states[program.fragment(part).start]).filter(|length| length.rank < u32::MAX)
        };
        let bytes = PartLengths::new(permutation, length).of(permutation, permutation.numbers(), &[]);
        found.wholes.insert(whole, Distance { bytes, rank: self.ranks - 1 });
        self.relax_callers(whole);
    }

    /// Goes on at the callers of a fragment, if its length is settled.
    fn relax_callers(&mut self, fragment: FragmentId) {
        let call = self.call(fragment);
        if call.rank == u32::MAX {
            return;
        }
        for place in self.callers.range(fragment) {
            let (from, target) = self.callers.items[place];
            if self.is_settled(target) {
                self.reach(from, self.found.to_end(target).saturating_add(call.bytes));
            }
        }
    }

    fn reach(&mut self, state: StateId, distance: u64) {
        let known = &mut self.found.states[state];
        if distance < known.bytes {
            known.bytes = distance;
            self.queue.entry(distance).or_default().push(state);
        }
    }
}
