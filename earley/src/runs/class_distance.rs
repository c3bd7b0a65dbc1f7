//! How long a text over a class an automaton reads for certain.
//!
//! `^(?:\S+\s+){0,29}\S+$` of at most 300 characters is one automaton, with a state for each pair of a place in the
//! pattern and a count. None of its states reads texts over a class for ever, so none is [universal](super::universal_states); but
//! far from its bound it reads whatever a token can hold. How far that is tells a search: from a state, all characters
//! of the class at once, to the states from which some character is refused. The least number of characters to one of
//! them is the answer.
//!
//! A search looks at a bounded number of states; the others count as refusing. Its findings about the states in
//! between are kept, so that the next search happens some tens of characters later.
//!
//! In a repeat of words, `(?:\S+\s+){0,99}`, the end of a word leads to the beginning of the next. There the
//! search treats the repeat as one without bounds. Each character ends one iteration at most, between
//! characters, so the answer is right for as many characters as there are iterations left.
//!
//! After a space another space may follow, or the next word. These are two states, and both read the first
//! byte of characters beyond ASCII, some of which are spaces. So a search goes from *sets* of states to sets,
//! those that the same byte leads to. Between characters nearly all of them are single states.
//!
//! Large automata over text [spell](grammask_fsm) the characters beyond ASCII of a class as a fragment that they call.
//! Several of these together read all such characters or not; that is found out by itself, once for each set of them.

use std::collections::VecDeque;

use grammask_fsm::{FragmentId, Program, Role, StateId};
use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_parser_backend::CharClass;
use smallvec::SmallVec;

use grammask_fsm::utf8::{Position, SEQUENCES, Segment};

use super::boundary::boundary;
use super::run_shape::RunShape;
use crate::tables::contexts::{Context, Contexts, CountKind};
use crate::tables::ids::{ContextId, id};
use crate::tables::items::Item;

/// A text of at most this many characters is too short to be worth knowing about: most tokens are longer than that, or
/// as good as.
const MIN_USEFUL: u32 = 16;

/// From this many characters on nothing new is looked for.
const MAX_SEARCHED: u32 = 24;

/// Pairs of a state and a place that a search looks at.
const MAX_PAIRS: usize = 2_048;

/// Pairs looked at for one class, all searches together: some 50 ms.
const MAX_WORK: usize = 500_000;

/// As [`MAX_WORK`], for all classes together.
const MAX_WORK_OF_ALL: usize = 1_000_000;

/// Edges that are compared, with one another and with ranges of bytes, in the time of a pair.
const COMPARED_OF_A_PAIR: usize = 32;

/// How often an edge is compared with others while they are sorted, about.
const SORTED: usize = 8;

/// Sets of states of fragments that are looked at to find whether they read all characters beyond ASCII.
const MAX_SETS: usize = 128;

/// The work of finding that out.
const NON_ASCII_WORK: usize = 10_000;

/// States that empty edges lead to from one place; where there are more, nothing is said.
const MAX_CLOSURE: usize = 64;

/// Items of a set that are looked at; the states of many more have no long text in common.
const MAX_ITEMS: usize = 64;

/// Numbers of characters are kept up to this one.
const MAX_DISTANCE: u8 = 126;

/// The facts about each class.
#[derive(Default)]
pub(crate) struct ClassDistances {
    classes: Vec<ClassDistance>,
    /// That of all classes.
    work: usize,
    non_ascii: NonAsciiReaders,
}

struct ClassDistance {
    class: CharClass,
    /// The repeat whose end leads to its beginning.
    repeat: Option<FragmentId>,
    boundary: Vec<Segment>,
    /// The distances of states between characters. Few states are ever looked at, and a program that refers to hundreds
    /// of others has millions.
    known: HashMap<States, u8>,
    /// The states from which a search began.
    searched: HashSet<States>,
    work: usize,
}

impl ClassDistances {
    /// A number of characters such that the states read every text of at most that length over the class, by
    /// their automaton alone. A character that is cut at the end counts. The end of `repeat` leads to its
    /// beginning. 0 is always right.
    fn at_least(
        &mut self,
        program: &Program,
        states: &States,
        repeat: Option<FragmentId>,
        class: &CharClass,
    ) -> u32 {
        let is_known = |known: &ClassDistance| known.class == *class && known.repeat == repeat;
        let place = self.classes.iter().position(is_known);
        let place = place.unwrap_or_else(|| {
            self.classes.push(ClassDistance {
                class: *class,
                repeat,
                boundary: boundary(class),
                known: HashMap::default(),
                searched: HashSet::default(),
                work: 0,
            });
            self.classes.len() - 1
        });
        let class = &mut self.classes[place];
        let known = |class: &ClassDistance| class.known.get(states).map_or(0, |&chars| u32::from(chars));
        // A search that was cut short once would be cut short again, so each set of states is searched from
        // once.
        let may_search = class.work < MAX_WORK && self.work < MAX_WORK_OF_ALL;
        if known(class) < MAX_SEARCHED && may_search && class.searched.insert(states.clone()) {
            let before = class.work;
            DistanceSearch::new(program, class, &mut self.non_ascii).run(states);
            self.work += class.work - before;
        }
        known(class)
    }
}

/// How many characters of a class the items of a set read for certain, if they are not too few to be worth knowing.
pub(crate) fn min_chars(
    distances: &mut ClassDistances,
    program: &Program,
    items: &[Item],
    class: &CharClass,
) -> Option<RunShape> {
    // The items of one context suffice: if one reading takes a text, the set does.
    let certain = states_by_context(items)
        .into_iter()
        .map(|(_, states)| distances.at_least(program, &states, None, class));
    certain.max().filter(|&chars| chars >= MIN_USEFUL).map(RunShape::AtLeast)
}

/// As [`min_chars`], for items in counted repeats.
pub(crate) fn min_chars_in_repeats(
    distances: &mut ClassDistances,
    program: &Program,
    contexts: &Contexts,
    items: &[Item],
    class: &CharClass,
) -> Option<RunShape> {
    states_by_context(items).into_iter().find_map(|(context, states)| {
        let Context::Counter(counter) = contexts.get(context) else { return None };
        let max = program.fragment(counter.fragment).counting()?.max;
        // The last iteration has no other after it.
        let until = max.map_or(u32::MAX, |max| max.saturating_sub(1));
        let left = match counter.count {
            CountKind::Slot(_) | CountKind::Met => until,
            CountKind::Exact(count) => until.saturating_sub(count),
        };
        if left < MIN_USEFUL {
            return None;
        }
        let chars = distances.at_least(program, &states, Some(counter.fragment), class);
        let shape = match counter.count {
            CountKind::Slot(slot) => RunShape::AtLeastUpTo { chars, slot, until },
            CountKind::Exact(_) | CountKind::Met => RunShape::AtLeast(chars.min(left)),
        };
        (chars >= MIN_USEFUL).then_some(shape)
    })
}

/// States that one byte leads to, sorted, each once.
type States = SmallVec<[StateId; 4]>;

id! {
    /// A set of states that a search came to.
    StateSetId
}

id! {
    /// A pair of a set of states and a place.
    PairId
}

/// A set of states, by its number, and a place.
type SetPosition = (StateSetId, Position);

/// The states of items by the context that waits for their rule to end: those of one context are places of
/// one text in one automaton.
fn states_by_context(items: &[Item]) -> SmallVec<[(ContextId, States); 4]> {
    let mut groups: SmallVec<[(ContextId, States); 4]> = SmallVec::new();
    // Items are sorted by their states.
    for item in items.iter().take(MAX_ITEMS) {
        match groups.iter_mut().find(|(context, _)| *context == item.context) {
            Some((_, states)) => states.push(item.state),
            None => groups.push((item.context, [item.state].into_iter().collect())),
        }
    }
    groups
}

/// A search from some states.
struct DistanceSearch<'s> {
    program: &'s Program,
    class: &'s mut ClassDistance,
    non_ascii: &'s mut NonAsciiReaders,
    sets: Vec<States>,
    set_numbers: HashMap<States, StateSetId>,
    pairs: Vec<SetPosition>,
    numbers: HashMap<SetPosition, PairId>,
    /// Characters on the way to each pair.
    depths: Vec<u32>,
    /// Pairs, and those that lead to them.
    before: Vec<(PairId, PairId)>,
    /// Pairs that refuse a character.
    refusing: Vec<PairId>,
}

impl<'s> DistanceSearch<'s> {
    fn new(program: &'s Program, class: &'s mut ClassDistance, non_ascii: &'s mut NonAsciiReaders) -> Self {
        Self {
            program,
            class,
            non_ascii,
            sets: Vec::new(),
            set_numbers: HashMap::default(),
            pairs: Vec::new(),
            numbers: HashMap::default(),
            depths: Vec::new(),
            before: Vec::new(),
            refusing: Vec::new(),
        }
    }

    fn run(mut self, from: &States) {
        let from = self.set(from.clone());
        self.number((from, Position::Boundary), 0);
        let mut targets = Vec::new();
        let mut next = 0;
        while next < self.pairs.len().min(MAX_PAIRS) && self.class.work < MAX_WORK {
            targets.clear();
            if self.cover(self.pairs[next], &mut targets) {
                targets.sort_unstable();
                targets.dedup();
                for &target in &targets {
                    // The search is breadth-first by bytes and not by characters, so a depth may be too
                    // large, which only makes the early exit below rarer.
                    let depth = self.depths[next] + u32::from(target.1 == Position::Boundary);
                    let target = self.number(target, depth);
                    self.before.push((target, PairId::new(next)));
                }
            } else {
                // A refusal this near makes the answer useless, whatever else is found.
                if self.depths[next] < MIN_USEFUL {
                    self.class.work += next + 1;
                    return;
                }
                self.refusing.push(PairId::new(next));
            }
            next += 1;
        }
        self.class.work += next;
        // Pairs that were not looked at may refuse anything.
        // Invariant of the answer: a distance is a lower bound.
        self.refusing.extend((next..self.pairs.len()).map(PairId::new));
        self.learn(next);
    }

    /// Some states, and those that their empty edges lead to, as items represent them: by the states that read bytes. `None`
    /// where another one of them is final or calls, which items do not tell.
    fn as_items(&self, states: &States) -> Option<States> {
        let mut readers = States::new();
        for id in self.closure(states.iter().copied())? {
            let state = self.program.state(id);
            if !state.bytes.is_empty() {
                readers.push(id);
            } else if state.is_final || !state.calls.is_empty() {
                return None;
            }
        }
        readers.sort_unstable();
        Some(readers)
    }

    /// The number of a set of states.
    fn set(&mut self, states: States) -> StateSetId {
        if let Some(&number) = self.set_numbers.get(&states) {
            return number;
        }
        let number = StateSetId::new(self.sets.len());
        self.sets.push(states.clone());
        self.set_numbers.insert(states, number);
        number
    }

    fn number(&mut self, pair: SetPosition, depth: u32) -> PairId {
        *self.numbers.entry(pair).or_insert_with(|| {
            self.pairs.push(pair);
            self.depths.push(depth);
            PairId::new(self.pairs.len() - 1)
        })
    }

    /// Goes backwards from the pairs that refuse, and keeps the consequences for the pairs before `looked`.
    fn learn(mut self, looked: usize) {
        self.before.sort_unstable();
        let mut distance = vec![MAX_DISTANCE; self.pairs.len()];
        // Distances from the refusing pairs against the edges: a breadth-first search with steps of 0 (inside
        // a character) and 1 (to a boundary). Steps of 0 go to the front of the queue, which keeps it sorted.
        let mut queue: VecDeque<PairId> = VecDeque::new();
        for &refusing in &self.refusing {
            distance[refusing.index()] = 0;
            queue.push_back(refusing);
        }
        while let Some(pair) = queue.pop_front() {
            // To come to a place between characters is to have read one more.
            let step = u8::from(self.pairs[pair.index()].1 == Position::Boundary);
            let far = distance[pair.index()].saturating_add(step).min(MAX_DISTANCE);
            let first = self.before.partition_point(|&(to, _)| to < pair);
            for &(_, from) in self.before[first..].iter().take_while(|&&(to, _)| to == pair) {
                let known = &mut distance[from.index()];
                if far < *known {
                    *known = far;
                    match step {
                        0 => queue.push_front(from),
                        _ => queue.push_back(from),
                    }
                }
            }
        }
        for (&(set, place), &distance) in self.pairs[..looked].iter().zip(&distance) {
            if place == Position::Boundary
                && let Some(states) = self.as_items(&self.sets[set.index()])
            {
                let known = self.class.known.entry(states).or_default();
                *known = (*known).max(distance);
            }
        }
    }

    /// As [`closure`], with the way on for further characters where these count.
    fn closure(&self, states: impl Iterator<Item = StateId>) -> Option<Vec<StateId>> {
        let state = |id: StateId| match (self.class.repeat, self.program.state(id)) {
            (_, state) if !state.counts => Some(id),
            (Some(_), state) => state.epsilons.first().copied(),
            (None, _) => None,
        };
        closure(self.program, states.map(state).collect::<Option<States>>()?)
    }

    /// The states of a set and those that go on in their place.
    fn readers(&self, (set, place): SetPosition) -> Option<Vec<StateId>> {
        let states = self.closure(self.sets[set.index()].iter().copied())?;
        match self.class.repeat {
            Some(repeat)
                if place == Position::Boundary
                    && self.program.fragment(repeat).count.is_some()
                    && states.iter().any(|&state| self.program.state(state).is_final) =>
            {
                let start = self.program.fragment(repeat).start;
                self.closure(states.into_iter().chain([start]))
            }
            _ => Some(states),
        }
    }

    /// The pairs that the bytes which may come at a pair lead to, if all of these are read. More pairs than need be are
    /// harmless.
    fn cover(&mut self, pair: SetPosition, targets: &mut Vec<SetPosition>) -> bool {
        let Some(closure) = self.readers(pair) else { return false };
        let edges = edges_of(self.program, &closure);
        let count = if pair.1 == Position::Boundary {
            self.class.boundary.len()
        } else {
            pair.1.continuations().len()
        };
        self.class.work += edges.len() * (count + SORTED) / COMPARED_OF_A_PAIR;
        // Segments are read by index, because the search needs `self` for the numbers of the target sets.
        for index in 0..count {
            let segment = if pair.1 == Position::Boundary {
                self.class.boundary[index]
            } else {
                pair.1.continuations()[index]
            };
            let (start, end, place) = segment;
            let is_read = each_stretch(&edges, start, end, |states| {
                targets.push((self.set(states), place));
                true
            });
            if is_read {
                continue;
            }
            // The first byte of a character beyond ASCII: the called fragment may read it.
            if segment.0 < 0x80 || pair.1 != Position::Boundary {
                return false;
            }
            let calls = closure.iter().flat_map(|&state| self.program.state(state).calls);
            let mut fragments: SmallVec<[FragmentId; 4]> = calls.clone().map(|call| call.fragment).collect();
            fragments.sort_unstable();
            fragments.dedup();
            if !self.non_ascii.reads_all(self.program, &fragments, &mut self.class.work) {
                return false;
            }
            let returns: SmallVec<[StateId; 4]> = calls.map(|call| call.target).collect();
            targets.extend(
                returns
                    .into_iter()
                    .map(|state| (self.set([state].into_iter().collect()), Position::Boundary)),
            );
            return true;
        }
        true
    }
}

/// A range of bytes, and the state that they lead to.
type Edge = (u8, u8, StateId);

/// The edges of some states, in the order of their starts.
fn edges_of(program: &Program, states: &[StateId]) -> SmallVec<[Edge; 16]> {
    let edges = states.iter().flat_map(|&state| program.state(state).bytes);
    let mut edges: SmallVec<_> = edges.map(|edge| (edge.start, edge.end, edge.target)).collect();
    edges.sort_unstable();
    edges
}

/// Calls a function for each stretch of the bytes from `start` to `end` that have the same edges, with the states that these
/// lead to. The edges are in the order of their starts. `false` as soon as it says so, and at a byte without an edge.
fn each_stretch(edges: &[Edge], start: u8, end: u8, mut found: impl FnMut(States) -> bool) -> bool {
    let mut first = start;
    let mut begin = 0;
    loop {
        // All edges over the first byte that is left give the set of targets. The stretch ends where one of them ends or
        // another one begins.
        let mut last = end;
        let mut states = States::new();
        while edges.get(begin).is_some_and(|edge| edge.1 < first) {
            begin += 1;
        }
        for &(from, to, target) in &edges[begin..] {
            if from > first {
                last = last.min(from - 1);
                break;
            }
            if to >= first {
                last = last.min(to);
                states.push(target);
            }
        }
        if states.is_empty() {
            return false;
        }
        states.sort_unstable();
        states.dedup();
        if !found(states) {
            return false;
        }
        if last == end {
            return true;
        }
        first = last + 1;
    }
}

/// Which sets of fragments read every character beyond ASCII, each by one of them as a whole.
#[derive(Default)]
struct NonAsciiReaders {
    known: HashMap<SmallVec<[FragmentId; 4]>, bool>,
}

impl NonAsciiReaders {
    fn reads_all(&mut self, program: &Program, fragments: &[FragmentId], work: &mut usize) -> bool {
        if let Some(&known) = self.known.get(fragments) {
            return known;
        }
        let is_plain = |&id: &FragmentId| {
            let fragment = program.fragment(id);
            fragment.role == Role::None && fragment.count.is_none()
        };
        let starts = fragments.iter().filter(|id| is_plain(id)).map(|&id| program.fragment(id).start);
        *work += NON_ASCII_WORK;
        let reads = closure(program, starts).is_some_and(|starts| read_all_non_ascii(program, starts));
        self.known.insert(fragments.into(), reads);
        reads
    }
}

/// Whether some of the states read each character beyond ASCII, to the end of their fragment.
fn read_all_non_ascii(program: &Program, starts: Vec<StateId>) -> bool {
    let mut seen: HashSet<(Vec<StateId>, usize, usize)> = HashSet::default();
    let mut stack: Vec<(Vec<StateId>, usize, usize)> =
        (0..SEQUENCES.len()).map(|kind| (starts.clone(), kind, 0)).collect();
    while let Some((states, kind, place)) = stack.pop() {
        let (first, last) = SEQUENCES[kind][place];
        let is_last = place + 1 == SEQUENCES[kind].len();
        let are_read = each_stretch(&edges_of(program, &states), first, last, |next| {
            let Some(mut next) = closure(program, next) else { return false };
            if is_last {
                return next.iter().any(|&state| program.state(state).is_final);
            }
            next.sort_unstable();
            let next = (next, kind, place + 1);
            if !seen.contains(&next) {
                if seen.len() == MAX_SETS {
                    return false;
                }
                seen.insert(next.clone());
                stack.push(next);
            }
            true
        });
        if !are_read {
            return false;
        }
    }
    true
}

/// Some states and those that their empty edges lead to, each once. `None` where they are many.
fn closure(program: &Program, states: impl IntoIterator<Item = StateId>) -> Option<Vec<StateId>> {
    let mut closure: Vec<StateId> = states.into_iter().collect();
    closure.sort_unstable();
    closure.dedup();
    let mut next = 0;
    while let Some(&state) = closure.get(next) {
        next += 1;
        for &target in program.state(state).epsilons {
            if !closure.contains(&target) {
                closure.push(target);
            }
        }
        if closure.len() > MAX_CLOSURE {
            return None;
        }
    }
    Some(closure)
}
