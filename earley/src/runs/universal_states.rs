//! States of an automaton that read a class of characters for ever.
//!
//! Examples are the inside of a JSON string, free text, and the names that an object may add beside its
//! declared ones. In all of them *any* text over a class can follow, whatever the contexts are. That is a
//! property of the automaton alone. A state has it if the first byte of each character of the class leads to
//! a state that can read the rest of the character. The state after the character must have the property
//! again. So this is a greatest fixpoint. It is found by assuming it of every state within reach and taking
//! it back until nothing changes.
//!
//! A pair of a state and a place inside a UTF-8 sequence means "this state, with a part of a character read".
//! The facts about pairs take two bytes a state, a bit for each place.
//!
//! Most automata are deterministic. There, a pair from which some byte leads nowhere takes the property from
//! the pair that led to it, and so on up to the first pair. So a pattern is refuted by the first way out of
//! it, and nothing is taken back where there is none.

use std::cell::Cell;

use grammask_fsm::utf8::{Position, Segment};
use grammask_fsm::{ByteEdge, Program, StateId};
use grammask_grammar_ir::hash::HashSet;
use grammask_parser_backend::CharClass;
use smallvec::SmallVec;

use super::boundary::boundary;
use crate::tables::ids::units;

/// Pairs that one search may collect. Larger automata are not worth it: the walk is cheaper.
const MAX_PAIRS: usize = 4_000;

/// The most states and edges to look at for one class, all searches together: some 50 ms. Past it nothing new
/// is learnt, and the walk does the work.
const MAX_WORK: u64 = 10_000_000;

/// Edges that are looked at in the time in which a state is put into a table.
const HASHED: usize = 16;

/// States whose edges are taken together.
const MAX_JOINED: usize = 4;

pub(crate) type StatePosition = (StateId, Position);

/// The facts about each class.
#[derive(Default)]
pub(crate) struct UniversalStates {
    classes: Vec<ClassStates>,
}

struct ClassStates {
    class: CharClass,
    boundary: Vec<Segment>,
    known: PagedFlags,
    /// States and edges looked at so far.
    work: Cell<u64>,
}

impl UniversalStates {
    /// Whether a state reads any text over a class. `false` where it does not, and where the automaton is too
    /// large to say.
    pub(crate) fn contains(&mut self, program: &Program, state: StateId, class: &CharClass) -> bool {
        let place = self.classes.iter().position(|known| known.class == *class);
        let place = place.unwrap_or_else(|| {
            self.classes.push(ClassStates {
                class: *class,
                boundary: boundary(class),
                known: PagedFlags::default(),
                work: Cell::new(0),
            });
            self.classes.len() - 1
        });
        self.classes[place].contains(program, (state, Position::Boundary))
    }
}

/// The facts about the places of a state: a bit for each.
#[derive(Clone, Copy, Default)]
struct PositionFlags {
    /// Of which something is known.
    known: u8,
    /// Of these, those that read any text over the class, or are assumed to.
    hold: u8,
}

/// Flags of all states, in pages that are made when they are first written. States that are read lie close
/// together, and the numbers of all others may be many.
#[derive(Default)]
struct PagedFlags {
    pages: Vec<Option<Box<[PositionFlags; PAGE]>>>,
}

const PAGE: usize = 256;

impl PagedFlags {
    fn get(&self, state: StateId) -> PositionFlags {
        let page = self.pages.get(state.index() / PAGE).and_then(Option::as_deref);
        page.map_or(PositionFlags::default(), |page| page[state.index() % PAGE])
    }

    fn get_mut(&mut self, state: StateId) -> &mut PositionFlags {
        let number = state.index() / PAGE;
        if self.pages.len() <= number {
            self.pages.resize_with(number + 1, || None);
        }
        let page = self.pages[number].get_or_insert_with(|| Box::new([PositionFlags::default(); PAGE]));
        &mut page[state.index() % PAGE]
    }
}

/// A pair that a search found.
struct VisitedPair {
    pair: StatePosition,
    /// The place of the pair that led to it, or its own.
    from: usize,
    /// Whether it has the property only if all that it leads to have it.
    needs_all: bool,
}

impl VisitedPair {
    fn new(pair: StatePosition, from: usize) -> Self {
        Self { pair, from, needs_all: false }
    }
}

/// How all bytes that may come at a pair are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coverage {
    /// Not all of them are.
    Partial,
    /// Each by one edge.
    Once,
    /// Each by one edge or more.
    Several,
}

impl ClassStates {
    fn contains(&mut self, program: &Program, pair: StatePosition) -> bool {
        if let Some(known) = self.known(pair) {
            return known;
        }
        // "Not universal" is always safe: the tokens are walked then.
        if self.work.get() > MAX_WORK {
            return false;
        }
        self.search(program, pair);
        self.known(pair) == Some(true)
    }

    fn known(&self, (state, place): StatePosition) -> Option<bool> {
        let (bit, places) = (place.bit(), self.known.get(state));
        (places.known & bit != 0).then_some(places.hold & bit != 0)
    }

    fn learn(&mut self, (state, place): StatePosition, holds: bool) {
        let places = self.known.get_mut(state);
        places.known |= place.bit();
        match holds {
            true => places.hold |= place.bit(),
            false => places.hold &= !place.bit(),
        }
    }

    /// Decides about a pair, and about as many of those within reach as that takes.
    fn search(&mut self, program: &Program, from: StatePosition) {
        let mut found = vec![VisitedPair::new(from, 0)];
        // Every pair is assumed to hold when it is found, and keeps that unless it is refuted: what is left
        // at the end is the greatest fixpoint. A search that stops early must therefore take all its
        // assumptions back.
        self.learn(from, true);
        let mut targets = Vec::new();
        // Whether any pair was refuted, so that others may have to be.
        let mut is_refuted = false;
        let mut next = 0;
        while let Some(&VisitedPair { pair, .. }) = found.get(next) {
            targets.clear();
            let cover = self.cover(program, pair, &mut targets);
            found[next].needs_all = cover == Coverage::Once;
            let is_over = match cover {
                Coverage::Partial => true,
                // Each byte has one edge, so one bad target refutes the pair. If a byte has several edges,
                // another one may still hold; that is decided at the end.
                Coverage::Once => targets.iter().any(|&target| self.known(target) == Some(false)),
                Coverage::Several => false,
            };
            is_refuted |= is_over || cover == Coverage::Several;
            if is_over {
                self.refute(&found, next);
                if self.known(from) == Some(false) {
                    // The answer is known. Pairs that are not refuted become unknown again, because their own
                    // targets were not all visited.
                    return self.retract_assumptions(&found);
                }
            } else {
                for &target in &targets {
                    if self.known(target).is_none() {
                        self.learn(target, true);
                        found.push(VisitedPair::new(target, next));
                    }
                }
            }
            next += 1;
            if found.len() > MAX_PAIRS || self.work.get() > MAX_WORK {
                // The pairs that are left were not proved. Neighbours will be asked of next, and would look at it again.
                return found.iter().for_each(|found| self.learn(found.pair, false));
            }
        }
        if is_refuted {
            self.refute_until_stable(program, &found);
        }
    }

    /// Takes the property from a pair, and from those that led to it and cannot do without it.
    fn refute(&mut self, found: &[VisitedPair], mut place: usize) {
        loop {
            self.learn(found[place].pair, false);
            let from = found[place].from;
            // Only the path by which the pair was found is followed here. Other predecessors lose the
            // property in the last pass.
            if from == place || !found[from].needs_all || self.known(found[from].pair) == Some(false) {
                return;
            }
            place = from;
        }
    }

    /// Makes the pairs unknown for which the property was assumed.
    fn retract_assumptions(&mut self, found: &[VisitedPair]) {
        for &VisitedPair { pair: (state, place), .. } in found {
            let places = self.known.get_mut(state);
            if places.hold & place.bit() != 0 {
                places.known &= !place.bit();
            }
        }
    }

    /// Takes the property back from pairs that have it no more, until nothing changes.
    fn refute_until_stable(&mut self, program: &Program, found: &[VisitedPair]) {
        // Later pairs come first, so that a failure is seen before the pairs that lead to it.
        let mut pairs: Vec<StatePosition> = found.iter().rev().map(|found| found.pair).collect();
        loop {
            let mut changed = false;
            pairs.retain(|&pair| {
                let holds = self.known(pair) == Some(true)
                    && self.holds(program, &self.epsilon_closure(program, pair.0), pair.1, |target| {
                        self.known(target) == Some(true)
                    });
                changed |= !holds;
                if !holds {
                    self.learn(pair, false);
                }
                holds
            });
            if !changed {
                return;
            }
            if self.work.get() > MAX_WORK {
                // The pairs that are left were not proved.
                return pairs.iter().for_each(|&pair| self.learn(pair, false));
            }
        }
    }

    fn segments(&self, place: Position) -> &[Segment] {
        if place == Position::Boundary { &self.boundary } else { place.continuations() }
    }

    /// How the bytes that may come at a pair are read, and the pairs that they lead to, if all are.
    fn cover(&self, program: &Program, pair: StatePosition, targets: &mut Vec<StatePosition>) -> Coverage {
        let state = program.state(pair.0);
        // Where characters count, no text goes on for ever.
        if state.counts {
            return Coverage::Partial;
        }
        let is_disjoint = state.epsilons.is_empty()
            && state.bytes.iter().zip(state.bytes.iter().skip(1)).all(|(edge, next)| edge.end < next.start);
        if is_disjoint {
            return self.cover_disjoint(state.bytes, pair.1, targets);
        }
        if let Some(edges) = joined_edges(program, pair.0) {
            return self.cover_disjoint(&edges, pair.1, targets);
        }
        // Edges overlap, so a byte may have several targets. First the question whether every byte has one at
        // all.
        let closure = self.epsilon_closure(program, pair.0);
        if !self.holds(program, &closure, pair.1, |_| true) {
            return Coverage::Partial;
        }
        for state in closure {
            self.add_work(1 + program.state(state).bytes.len() * self.segments(pair.1).len());
            for edge in program.state(state).bytes {
                let meets = |(start, end, _): &&Segment| edge.start <= *end && *start <= edge.end;
                let places = self.segments(pair.1).iter().filter(meets).map(|segment| segment.2);
                targets.extend(places.map(|place| (edge.target, place)));
            }
        }
        Coverage::Several
    }

    /// [`cover`](Self::cover) by edges that are sorted and do not overlap, as segments are and do.
    fn cover_disjoint(
        &self,
        edges: &[ByteEdge],
        place: Position,
        targets: &mut Vec<StatePosition>,
    ) -> Coverage {
        let segments = self.segments(place);
        self.add_work(1 + edges.len() + segments.len());
        let mut edges = edges.iter().peekable();
        for &(start, end, place) in segments {
            // Segments and edges are sorted, so both are read once, side by side.
            while edges.next_if(|edge| edge.end < start).is_some() {}
            let mut uncovered = u16::from(start);
            while uncovered <= u16::from(end) {
                let Some(edge) = edges.peek() else { return Coverage::Partial };
                if u16::from(edge.start) > uncovered {
                    return Coverage::Partial;
                }
                let target = (edge.target, place);
                if targets.last() != Some(&target) {
                    targets.push(target);
                }
                uncovered = u16::from(edge.end) + 1;
                // An edge that reaches the end of the segment may go on in the next one.
                if uncovered <= u16::from(end) {
                    edges.next();
                }
            }
        }
        Coverage::Once
    }

    /// Whether every byte that may come at a place of one of some states has an edge to a pair that passes `good`.
    fn holds(
        &self,
        program: &Program,
        closure: &[StateId],
        place: Position,
        good: impl Fn(StatePosition) -> bool,
    ) -> bool {
        self.segments(place).iter().all(|&(start, end, next)| {
            // Bytes from `uncovered` on have no edge yet. Edges of one state are sorted by their start.
            let mut uncovered = u16::from(start);
            let end = u16::from(end);
            loop {
                let before = uncovered;
                for &state in closure {
                    self.add_work(1 + program.state(state).bytes.len());
                    for edge in program.state(state).bytes {
                        let (from, to) = (u16::from(edge.start), u16::from(edge.end));
                        if from <= uncovered && uncovered <= to && good((edge.target, next)) {
                            uncovered = to + 1;
                        }
                    }
                }
                if uncovered > end {
                    return true;
                }
                if uncovered == before {
                    return false;
                }
            }
        })
    }

    /// A state and those that its epsilon edges lead to.
    fn epsilon_closure(&self, program: &Program, state: StateId) -> Vec<StateId> {
        let mut closure = vec![state];
        // A state may have an edge to each of thousands of others.
        let mut met: HashSet<StateId> = HashSet::default();
        met.insert(state);
        let mut next = 0;
        while let Some(&state) = closure.get(next) {
            next += 1;
            let targets = program.state(state).epsilons;
            self.add_work(HASHED * targets.len());
            closure.extend(targets.iter().filter(|&&target| met.insert(target)));
        }
        closure
    }

    fn add_work(&self, count: usize) {
        self.work.set(self.work.get() + units(count));
    }
}

/// The edges of a state and of those that its empty edges lead to, if these are few and no two of their byte
/// edges overlap. Then the state behaves as if all of them were its own. All states of a trie of names share
/// the edges that read characters beyond ASCII in this way.
fn joined_edges(program: &Program, state: StateId) -> Option<SmallVec<[ByteEdge; 32]>> {
    let mut states: SmallVec<[StateId; MAX_JOINED]> = SmallVec::new();
    let mut edges: SmallVec<[ByteEdge; 32]> = SmallVec::new();
    states.push(state);
    let mut next = 0;
    while let Some(&state) = states.get(next) {
        next += 1;
        let state = program.state(state);
        edges.extend_from_slice(state.bytes);
        for &target in state.epsilons {
            if !states.contains(&target) {
                if states.len() == MAX_JOINED {
                    return None;
                }
                states.push(target);
            }
        }
    }
    let follows = |pair: &[ByteEdge]| pair[0].end < pair[1].start;
    if !edges.windows(2).all(follows) {
        edges.sort_unstable_by_key(|edge| edge.start);
    }
    edges.windows(2).all(follows).then_some(edges)
}
