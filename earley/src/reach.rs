//! How long a text over a class an automaton reads for certain.
//!
//! `^(?:\S+\s+){0,29}\S+$` of at most 300 characters is one automaton, with a state for each pair of a place in the
//! pattern and a count. None of its states reads texts over a class for ever, so none has a [loop](crate::loops); but
//! far from its bound it reads whatever a token can hold. How far that is tells a search: from a state, all characters
//! of the class at once, to the states from which some character is refused. The least number of characters to one of
//! them is the answer.
//!
//! A search looks at so many states and no further; those that it did not look at count as refusing. What it found of
//! the states in between is kept, so that the next search happens some tens of characters later.
//!
//! In a repeat of words, `(?:\S+\s+){0,99}`, the end of a word leads to the beginning of the next. There the search takes
//! the repeat for one without bounds: each character ends one iteration at most, so it is right for as many
//! characters as there are iterations left.
//!
//! Large automata over text [spell](grammask_fsm) the characters beyond ASCII of a class as a fragment that they call.
//! Several of these together read all such characters or not; that is found out by itself, once for each set of them.

use std::collections::VecDeque;

use grammask_fsm::{FragmentId, Program, Role, StateId};
use grammask_parser_backend::CharClass;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::closure::Item;
use crate::context::{Context, Contexts, CountKind};
use crate::loops::{Pair, Place, boundary, inside};
use crate::runs::{RunShape, UTF8};

/// A text of at most so many characters is too short to be worth knowing about: most tokens are longer than that, or
/// as good as.
const USEFUL: u32 = 16;

/// With so many characters nothing new is looked for.
const ENOUGH: u32 = 24;

/// Pairs of a state and a place that a search looks at.
const MAX_PAIRS: usize = 2_048;

/// Pairs looked at for one class, all searches together: some 50 ms.
const MAX_LOOKS: usize = 500_000;

/// Sets of states of fragments that are looked at to find whether they read all characters beyond ASCII.
const MAX_SETS: usize = 128;

/// What that counts for in [`MAX_LOOKS`].
const WIDE_LOOKS: usize = 10_000;

/// States that empty edges lead to from one place; where there are more, nothing is said.
const MAX_CLOSURE: usize = 64;

/// Numbers of characters are kept up to this one.
const MOST: u8 = 126;

/// What is known of each class.
#[derive(Default)]
pub(crate) struct Reaches {
    classes: Vec<ClassReach>,
    wide: Wide,
}

struct ClassReach {
    class: CharClass,
    /// The repeat whose end leads to its beginning.
    repeat: Option<FragmentId>,
    boundary: Vec<(u8, u8, Place)>,
    /// What is known of states between characters. Few states are ever looked at, and a program that refers to hundreds
    /// of others has millions.
    known: HashMap<StateId, u8, ahash::RandomState>,
    /// The states from which a search began.
    searched: HashSet<StateId, ahash::RandomState>,
    looks: usize,
}

impl Reaches {
    /// A number of characters such that the state reads every text of at most so many over the class, by its automaton
    /// alone; a character that is cut at the end counts. The end of `repeat` leads to its beginning. 0 is always right.
    fn at_least(
        &mut self,
        program: &Program,
        state: StateId,
        repeat: Option<FragmentId>,
        class: &CharClass,
    ) -> u32 {
        let is_known = |known: &ClassReach| known.class == *class && known.repeat == repeat;
        let place = self.classes.iter().position(is_known);
        let place = place.unwrap_or_else(|| {
            self.classes.push(ClassReach {
                class: *class,
                repeat,
                boundary: boundary(class),
                known: HashMap::default(),
                searched: HashSet::default(),
                looks: 0,
            });
            self.classes.len() - 1
        });
        let class = &mut self.classes[place];
        let known = |class: &ClassReach| class.known.get(&state).map_or(0, |&chars| u32::from(chars));
        if known(class) < ENOUGH && class.looks < MAX_LOOKS && class.searched.insert(state) {
            Search::new(program, class, &mut self.wide).run(state);
        }
        known(class)
    }
}

/// How many characters of a class the items of a set read for certain, if they are not too few to be worth knowing.
pub(crate) fn of_items(
    reaches: &mut Reaches,
    program: &Program,
    items: &[Item],
    class: &CharClass,
) -> Option<RunShape> {
    let certain = items.iter().map(|item| reaches.at_least(program, item.state, None, class)).max();
    certain.filter(|&chars| chars >= USEFUL).map(RunShape::AtLeast)
}

/// As [`of_items`], for items in counted repeats.
pub(crate) fn of_repeats(
    reaches: &mut Reaches,
    program: &Program,
    contexts: &Contexts,
    items: &[Item],
    class: &CharClass,
) -> Option<RunShape> {
    items.iter().find_map(|item| {
        let Context::Counter(counter) = contexts.get(item.context) else { return None };
        let max = program.fragment(counter.fragment).count?.max;
        // The last iteration has no other behind it.
        let until = max.map_or(u32::MAX, |max| max.saturating_sub(1));
        let left = match counter.count {
            CountKind::Slot(_) | CountKind::Met => until,
            CountKind::Exact(count) => until.saturating_sub(count),
        };
        if left < USEFUL {
            return None;
        }
        let chars = reaches.at_least(program, item.state, Some(counter.fragment), class);
        let shape = match counter.count {
            CountKind::Slot(slot) => RunShape::AtLeastUpTo { chars, slot, until },
            CountKind::Exact(_) | CountKind::Met => RunShape::AtLeast(chars.min(left)),
        };
        (chars >= USEFUL).then_some(shape)
    })
}

/// A search from one state.
struct Search<'s> {
    program: &'s Program,
    class: &'s mut ClassReach,
    wide: &'s mut Wide,
    pairs: Vec<Pair>,
    numbers: HashMap<Pair, u32, ahash::RandomState>,
    /// Characters on the way to each pair.
    depths: Vec<u32>,
    /// Pairs, and those that lead to them.
    before: Vec<(u32, u32)>,
    /// Pairs that refuse a character.
    refusing: Vec<u32>,
}

impl<'s> Search<'s> {
    fn new(program: &'s Program, class: &'s mut ClassReach, wide: &'s mut Wide) -> Self {
        Self {
            program,
            class,
            wide,
            pairs: Vec::new(),
            numbers: HashMap::default(),
            depths: Vec::new(),
            before: Vec::new(),
            refusing: Vec::new(),
        }
    }

    fn run(mut self, from: StateId) {
        self.number((from, Place::Boundary), 0);
        let mut targets = Vec::new();
        let mut next = 0;
        while next < self.pairs.len().min(MAX_PAIRS) {
            targets.clear();
            if self.cover(self.pairs[next], &mut targets) {
                targets.sort_unstable();
                targets.dedup();
                for &target in &targets {
                    let depth = self.depths[next] + u32::from(target.1 == Place::Boundary);
                    let target = self.number(target, depth);
                    self.before.push((target, next as u32));
                }
            } else {
                if self.depths[next] < USEFUL {
                    self.class.looks += next + 1;
                    return;
                }
                self.refusing.push(next as u32);
            }
            next += 1;
        }
        self.class.looks += next;
        // What was not looked at may refuse anything.
        self.refusing.extend(next as u32..self.pairs.len() as u32);
        self.learn(next);
    }

    fn number(&mut self, pair: Pair, depth: u32) -> u32 {
        *self.numbers.entry(pair).or_insert_with(|| {
            self.pairs.push(pair);
            self.depths.push(depth);
            self.pairs.len() as u32 - 1
        })
    }

    /// Goes backwards from the pairs that refuse, and keeps what that says of the pairs before `looked`.
    fn learn(mut self, looked: usize) {
        self.before.sort_unstable();
        let mut distance = vec![MOST; self.pairs.len()];
        let mut queue: VecDeque<u32> = VecDeque::new();
        for &refusing in &self.refusing {
            distance[refusing as usize] = 0;
            queue.push_back(refusing);
        }
        while let Some(pair) = queue.pop_front() {
            // To come to a place between characters is to have read one more.
            let step = u8::from(self.pairs[pair as usize].1 == Place::Boundary);
            let far = distance[pair as usize].saturating_add(step).min(MOST);
            let first = self.before.partition_point(|&(to, _)| to < pair);
            for &(_, from) in self.before[first..].iter().take_while(|&&(to, _)| to == pair) {
                let known = &mut distance[from as usize];
                if far < *known {
                    *known = far;
                    match step {
                        0 => queue.push_front(from),
                        _ => queue.push_back(from),
                    }
                }
            }
        }
        for (&(state, place), &distance) in self.pairs[..looked].iter().zip(&distance) {
            if place == Place::Boundary {
                let known = self.class.known.entry(state).or_default();
                *known = (*known).max(distance);
            }
        }
    }

    /// A state and those that go on in its place.
    fn readers(&self, state: StateId) -> Option<Vec<StateId>> {
        let states = closure(self.program, [state])?;
        match self.class.repeat {
            Some(repeat) if states.iter().any(|&state| self.program.state(state).is_final) => {
                let start = self.program.fragment(repeat).start;
                closure(self.program, states.into_iter().chain([start]))
            }
            _ => Some(states),
        }
    }

    /// The pairs that the bytes which may come at a pair lead to, if all of these are read. More pairs than need be are
    /// harmless.
    fn cover(&mut self, (state, place): Pair, targets: &mut Vec<Pair>) -> bool {
        let segments = match place {
            Place::Boundary => &*self.class.boundary,
            _ => inside(place),
        };
        let Some(closure) = self.readers(state) else { return false };
        let mut edges: SmallVec<[(u8, u8, StateId); 16]> = SmallVec::new();
        for &state in &closure {
            edges.extend(
                self.program.state(state).bytes.iter().map(|edge| (edge.start, edge.end, edge.target)),
            );
        }
        edges.sort_unstable();
        for &(start, end, place) in segments {
            let mut uncovered = u16::from(start);
            for &(from, to, target) in &edges {
                if from <= end && start <= to && u16::from(from) <= uncovered {
                    uncovered = uncovered.max(u16::from(to) + 1);
                    targets.push((target, place));
                }
            }
            if uncovered > u16::from(end) {
                continue;
            }
            // The first byte of a character beyond ASCII: what is called may read it.
            if start < 0x80 {
                return false;
            }
            let calls = closure.iter().flat_map(|&state| self.program.state(state).calls);
            let mut fragments: SmallVec<[FragmentId; 4]> = calls.clone().map(|call| call.fragment).collect();
            fragments.sort_unstable();
            fragments.dedup();
            if !self.wide.reads_all(self.program, &fragments, &mut self.class.looks) {
                return false;
            }
            targets.extend(calls.map(|call| (call.target, Place::Boundary)));
            return true;
        }
        true
    }
}

/// Which sets of fragments read every character beyond ASCII, each by one of them as a whole.
#[derive(Default)]
struct Wide {
    known: HashMap<SmallVec<[FragmentId; 4]>, bool, ahash::RandomState>,
}

impl Wide {
    fn reads_all(&mut self, program: &Program, fragments: &[FragmentId], looks: &mut usize) -> bool {
        if let Some(&known) = self.known.get(fragments) {
            return known;
        }
        let is_plain = |&id: &FragmentId| {
            let fragment = program.fragment(id);
            fragment.role == Role::None && fragment.count.is_none()
        };
        let starts = fragments.iter().filter(|id| is_plain(id)).map(|&id| program.fragment(id).start);
        *looks += WIDE_LOOKS;
        let reads = closure(program, starts).is_some_and(|starts| reads_wide(program, starts));
        self.known.insert(fragments.into(), reads);
        reads
    }
}

/// Whether some of the states read each character beyond ASCII, to the end of their fragment.
fn reads_wide(program: &Program, starts: Vec<StateId>) -> bool {
    let mut seen: HashSet<(Vec<StateId>, usize, usize), ahash::RandomState> = HashSet::default();
    let mut stack: Vec<(Vec<StateId>, usize, usize)> =
        (0..UTF8.len()).map(|kind| (starts.clone(), kind, 0)).collect();
    while let Some((states, kind, place)) = stack.pop() {
        let (first, last) = UTF8[kind][place];
        let is_last = place + 1 == UTF8[kind].len();
        for byte in first..=last {
            let edges = states.iter().flat_map(|&state| program.state(state).bytes);
            let next = edges.filter(|edge| edge.start <= byte && byte <= edge.end).map(|edge| edge.target);
            let Some(mut next) = closure(program, next) else { return false };
            if next.is_empty() || is_last && !next.iter().any(|&state| program.state(state).is_final) {
                return false;
            }
            next.sort_unstable();
            let next = (next, kind, place + 1);
            if !is_last && !seen.contains(&next) {
                if seen.len() == MAX_SETS {
                    return false;
                }
                seen.insert(next.clone());
                stack.push(next);
            }
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
