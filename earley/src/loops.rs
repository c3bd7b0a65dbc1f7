//! States of an automaton that read a class of characters for ever.
//!
//! The inside of a JSON string, free text, the names that an object may add beside its declared ones: in all of
//! them *any* text over a class can follow, whatever the contexts are. That is a property of the automaton
//! alone. A state has it if each byte that begins a character of the class leads to a state from which the
//! rest of the character can be read, to a state that has the property again: a greatest fixpoint. It is found
//! by assuming it of every state within reach and taking it back until nothing changes.
//!
//! A pair of a state and a place inside a UTF-8 sequence stands for "this state, so much of a character read".

use std::cell::Cell;

use grammask_fsm::{Program, StateId};
use grammask_parser_backend::CharClass;
use hashbrown::HashMap;

/// Pairs that one search may collect. Larger automata are not worth it: the walk is cheaper.
const MAX_PAIRS: usize = 4_000;

/// States and edges that may be looked at for one class, all searches together: some 50 ms. Past it nothing new
/// is learnt, and the walk does the work.
const MAX_LOOKS: u64 = 10_000_000;

/// A place inside a UTF-8 sequence (The Unicode Standard, table 3-7).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    /// Between characters.
    Boundary,
    /// Before so many continuation bytes.
    Before1,
    Before2,
    Before3,
    /// After the lead bytes that narrow their first continuation byte.
    AfterE0,
    AfterEd,
    AfterF0,
    AfterF4,
}

/// Bytes `start..=end` lead to the place.
type Segment = (u8, u8, Place);

/// The bytes that follow at each place but [`Place::Boundary`].
fn inside(place: Place) -> &'static [Segment] {
    match place {
        Place::Boundary => &[],
        Place::Before1 => &[(0x80, 0xBF, Place::Boundary)],
        Place::Before2 => &[(0x80, 0xBF, Place::Before1)],
        Place::Before3 => &[(0x80, 0xBF, Place::Before2)],
        Place::AfterE0 => &[(0xA0, 0xBF, Place::Before1)],
        Place::AfterEd => &[(0x80, 0x9F, Place::Before1)],
        Place::AfterF0 => &[(0x90, 0xBF, Place::Before2)],
        Place::AfterF4 => &[(0x80, 0x8F, Place::Before2)],
    }
}

/// Lead bytes of characters above U+007F.
const LEADS: &[Segment] = &[
    (0xC2, 0xDF, Place::Before1),
    (0xE0, 0xE0, Place::AfterE0),
    (0xE1, 0xEC, Place::Before2),
    (0xED, 0xED, Place::AfterEd),
    (0xEE, 0xEF, Place::Before2),
    (0xF0, 0xF0, Place::AfterF0),
    (0xF1, 0xF3, Place::Before3),
    (0xF4, 0xF4, Place::AfterF4),
];

/// The bytes that begin a character of the class, as segments.
fn boundary(class: &CharClass) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for byte in (0..128).filter(|&byte| class.contains_ascii(byte)) {
        match segments.last_mut() {
            Some((_, end, _)) if *end + 1 == byte => *end = byte,
            _ => segments.push((byte, byte, Place::Boundary)),
        }
    }
    if class.non_ascii {
        segments.extend_from_slice(LEADS);
    }
    segments
}

type Pair = (StateId, Place);

/// What is known of each class.
#[derive(Default)]
pub(crate) struct Loops {
    classes: Vec<ClassLoops>,
}

struct ClassLoops {
    class: CharClass,
    boundary: Vec<Segment>,
    known: HashMap<Pair, bool, ahash::RandomState>,
    /// States and edges looked at so far.
    looks: Cell<u64>,
}

impl Loops {
    /// Whether a state reads any text over a class. `false` where it does not, and where the automaton is too
    /// large to say.
    pub(crate) fn contains(&mut self, program: &Program, state: StateId, class: &CharClass) -> bool {
        let place = self.classes.iter().position(|known| known.class == *class);
        let place = place.unwrap_or_else(|| {
            self.classes.push(ClassLoops {
                class: *class,
                boundary: boundary(class),
                known: HashMap::default(),
                looks: Cell::new(0),
            });
            self.classes.len() - 1
        });
        self.classes[place].contains(program, (state, Place::Boundary))
    }
}

impl ClassLoops {
    fn contains(&mut self, program: &Program, pair: Pair) -> bool {
        if let Some(&known) = self.known.get(&pair) {
            return known;
        }
        if self.looks.get() > MAX_LOOKS {
            return false;
        }
        // Most states that are asked of fail at once.
        if !self.holds(program, pair, |_| true) {
            self.known.insert(pair, false);
            return false;
        }
        let mut pairs = match self.reachable(program, pair) {
            Ok(pairs) => pairs,
            Err(some) => {
                // Their neighbours will be asked of next, and would look at the same ones again.
                self.known.extend(some.into_iter().map(|pair| (pair, false)));
                return false;
            }
        };
        // States behind come first, so that what fails is seen before what leads to it.
        pairs.reverse();
        for &pair in &pairs {
            self.known.insert(pair, true);
        }
        loop {
            let mut changed = false;
            pairs.retain(|&pair| {
                let holds = self.holds(program, pair, |target| self.known.get(&target) == Some(&true));
                if !holds {
                    self.known.insert(pair, false);
                    changed = true;
                }
                holds
            });
            if !changed {
                break;
            }
            if self.looks.get() > MAX_LOOKS {
                // What still stands was not proved.
                self.known.extend(pairs.iter().map(|&pair| (pair, false)));
                break;
            }
        }
        self.known[&pair]
    }

    fn segments(&self, place: Place) -> &[Segment] {
        if place == Place::Boundary { &self.boundary } else { inside(place) }
    }

    /// Whether every byte that may come at a pair has an edge to a pair that passes `good`.
    fn holds(&self, program: &Program, (state, place): Pair, good: impl Fn(Pair) -> bool) -> bool {
        let closure = self.epsilon_closure(program, state);
        self.segments(place).iter().all(|&(start, end, next)| {
            // Bytes from `uncovered` on have no edge yet. Edges of one state are sorted by their start.
            let mut uncovered = u16::from(start);
            let end = u16::from(end);
            loop {
                let before = uncovered;
                for &state in &closure {
                    self.look(1 + program.state(state).bytes.len());
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

    /// The pairs that texts over the class lead to and of which nothing is known yet. An error where there are too
    /// many: some of them.
    fn reachable(&self, program: &Program, from: Pair) -> Result<Vec<Pair>, Vec<Pair>> {
        let mut found = hashbrown::HashSet::<Pair, ahash::RandomState>::from_iter([from]);
        let mut order = vec![from];
        let mut next = 0;
        while let Some(&(state, place)) = order.get(next) {
            next += 1;
            for state in self.epsilon_closure(program, state) {
                self.look(1 + program.state(state).bytes.len() * self.segments(place).len());
                for edge in program.state(state).bytes {
                    for &(start, end, place) in self.segments(place) {
                        let pair = (edge.target, place);
                        let meets = edge.start <= end && start <= edge.end;
                        if meets && !self.known.contains_key(&pair) && found.insert(pair) {
                            order.push(pair);
                        }
                    }
                }
            }
            if order.len() > MAX_PAIRS || self.looks.get() > MAX_LOOKS {
                return Err(order);
            }
        }
        Ok(order)
    }

    /// A state and those that its epsilon edges lead to.
    fn epsilon_closure(&self, program: &Program, state: StateId) -> Vec<StateId> {
        let mut closure = vec![state];
        let mut next = 0;
        while let Some(&state) = closure.get(next) {
            next += 1;
            for &target in program.state(state).epsilons {
                self.look(closure.len() / 8);
                if !closure.contains(&target) {
                    closure.push(target);
                }
            }
        }
        closure
    }

    fn look(&self, count: usize) {
        self.looks.set(self.looks.get() + count as u64);
    }
}
