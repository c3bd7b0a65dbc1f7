//! What a set does with a long text over a class of characters.
//!
//! Inside a JSON string almost every token is allowed, and walking the whole vocabulary to find that out costs
//! half a millisecond. A tokenizer's tokens over a class are known beforehand; what remains to be shown is
//! that the parser lets *every* text over the class pass. That is a small exploration: from the set, read
//! each character of the class, see where it leads, and go on from there until nothing new turns up. Bytes
//! that the grammar does not tell apart are tried once.
//!
//! Counted repeats make the sets change with the count, but only where a guard's answer does. The counts are
//! therefore explored by *zone* (the stretch between two thresholds), with one count to represent each: if
//! every character adds one, up to a zone in which every character leaves the repeat for a set that reads
//! none of the class, then texts of up to so many characters pass and no others.

use grammask_fsm::utf8::SEQUENCES;
use grammask_grammar_ir::hash::HashMap;
use grammask_parser_backend::{Backend, CharClass, Fuel, Run};

use crate::engine::{Engine, State};
use crate::slots::SLOTS;

/// Boundary sets and zones that an exploration visits before it gives up.
const MAX_NODES: usize = 24;

/// The answer for a set, for all counts in the same zones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RunShape {
    Unknown,
    Unbounded,
    /// As long as the count in the slot stays at most this.
    UpTo {
        slot: u8,
        until: u32,
    },
    /// Up to so many characters; of longer texts nothing is known.
    AtLeast(u32),
    /// The same, as long as the count in the slot cannot come to more than `until`.
    AtLeastUpTo {
        chars: u32,
        slot: u8,
        until: u32,
    },
}

impl RunShape {
    pub(crate) fn at(self, counts: &[u32; SLOTS]) -> Run {
        match self {
            Self::Unknown => Run::Unknown,
            Self::Unbounded => Run::Unbounded,
            Self::UpTo { slot, until } => Run::AtMost(until.saturating_sub(counts[usize::from(slot)])),
            Self::AtLeast(chars) => Run::AtLeast(chars),
            Self::AtLeastUpTo { chars, slot, until } => {
                Run::AtLeast(chars.min(until.saturating_sub(counts[usize::from(slot)])))
            }
        }
    }
}

/// Answers by set, zones and class.
#[derive(Default)]
pub(crate) struct Runs {
    known: HashMap<(u32, [u32; SLOTS], CharClass), RunShape>,
}

impl Runs {
    pub(crate) fn known(&self, set: u32, zones: [u32; SLOTS], class: &CharClass) -> Option<RunShape> {
        self.known.get(&(set, zones, *class)).copied()
    }

    pub(crate) fn record(&mut self, set: u32, zones: [u32; SLOTS], class: &CharClass, shape: RunShape) {
        self.known.insert((set, zones, *class), shape);
    }
}

/// The zone of each slot's count: how many thresholds the next iteration has passed.
pub(crate) fn zones(engine: &Engine, state: State) -> [u32; SLOTS] {
    let set = engine.set(state);
    std::array::from_fn(|slot| {
        let done = state.counts[slot].saturating_add(1);
        set.thresholds[slot].partition_point(|&threshold| threshold <= done) as u32
    })
}

/// Explores from a state at a boundary of characters.
pub(crate) fn explore(engine: &Engine, state: State, class: &CharClass, fuel: &mut Fuel) -> RunShape {
    let starts = start_bytes(class);
    let next = engine.next_bytes(state);
    if (0..4).any(|word| starts[word] & !next[word] != 0) {
        return RunShape::Unknown;
    }
    if engine.set(state).slots.is_empty() && is_refused(engine, state, starts, fuel) {
        return RunShape::Unknown;
    }
    Explorer {
        engine,
        class,
        starts,
        fuel,
        nodes: vec![Node::at(state)],
        ticking: None,
        idles: false,
        until: None,
    }
    .run()
    .unwrap_or(RunShape::Unknown)
}

/// Whether some text of characters of one byte is found to be refused, with no counts to begin with. Free text in which
/// a tag begins after some letters is refused at the end of a path, and to read every other character on the way there
/// costs ten times as much as to follow whatever leads somewhere new at once.
fn is_refused(engine: &Engine, state: State, starts: [u64; 4], fuel: &mut Fuel) -> bool {
    let ascii = u128::from(starts[0]) | u128::from(starts[1]) << 64;
    let classes = engine.program.byte_classes();
    let mut met = vec![state];
    // The states on the path, each with the characters that were not read yet.
    let mut path = vec![(state, ascii)];
    while let Some((state, left)) = path.last_mut() {
        if *left == 0 {
            path.pop();
            continue;
        }
        let byte = left.trailing_zeros() as u8;
        let alike = (byte..128).take_while(|&other| classes.class(other) == classes.class(byte)).count();
        *left &= u128::MAX.checked_shl(u32::from(byte) + alike as u32).unwrap_or(0);
        let Ok(target) = engine.step(*state, byte, fuel) else { return false };
        let Some(target) = target else { return true };
        if met.contains(&target) {
            continue;
        }
        let next = engine.next_bytes(target);
        if (0..4).any(|word| starts[word] & !next[word] != 0) {
            return true;
        }
        if met.len() == MAX_NODES {
            return false;
        }
        met.push(target);
        path.push((target, ascii));
    }
    false
}

/// The bytes that begin a character of the class.
fn start_bytes(class: &CharClass) -> [u64; 4] {
    let ascii = class.ascii;
    // Lead bytes of UTF-8 are C2 to F4.
    let leads = if class.non_ascii { u64::MAX >> (63 - (0xF4 - 0xC0)) & !0b11 } else { 0 };
    [ascii as u64, (ascii >> 64) as u64, 0, leads]
}

/// A boundary of characters: a state, in which the ticking slot's count represents its zone.
#[derive(Clone, Copy, PartialEq)]
struct Node {
    state: State,
    /// Reached by leaving the counted repeat.
    left: bool,
}

impl Node {
    fn at(state: State) -> Self {
        Self { state, left: false }
    }
}

struct Explorer<'e> {
    engine: &'e Engine,
    class: &'e CharClass,
    starts: [u64; 4],
    fuel: &'e mut Fuel,
    nodes: Vec<Node>,
    /// The slot to which every character adds one.
    ticking: Option<u8>,
    /// Whether some character has led on inside of a repeat and was not counted.
    idles: bool,
    /// The count at which the repeat is left.
    until: Option<u32>,
}

/// How a character changed the counts.
#[derive(PartialEq)]
enum Change {
    None,
    Tick(u8),
    Leave(u8),
}

impl Explorer<'_> {
    /// `None`: nothing can be said.
    fn run(mut self) -> Option<RunShape> {
        let mut next = 0;
        let mut closed_after = false;
        let mut open_after = false;
        while let Some(&node) = self.nodes.get(next) {
            next += 1;
            let bytes = self.engine.next_bytes(node.state);
            if (0..4).all(|word| self.starts[word] & bytes[word] == 0) {
                // Only what lies behind the repeat may stop, or the bound would not be its maximum.
                if !node.left {
                    return None;
                }
                closed_after = true;
                continue;
            }
            if (0..4).any(|word| self.starts[word] & !bytes[word] != 0) {
                return None;
            }
            open_after |= node.left;
            for target in self.read_each(node.state)? {
                self.follow(node, target)?;
            }
        }
        match (self.ticking, self.until) {
            _ if !closed_after => Some(RunShape::Unbounded),
            (Some(slot), Some(until)) if !open_after => Some(RunShape::UpTo { slot, until }),
            _ => None,
        }
    }

    /// Where one character leads from a node.
    fn follow(&mut self, node: Node, target: State) -> Option<()> {
        let slot = match self.change(node.state, target)? {
            Change::None => {
                // Inside the repeat every character counts, or the bound would not be exact.
                if !node.left && self.ticking.is_some() {
                    return None;
                }
                self.idles |= !node.left;
                return self.push(Node { state: target, ..node });
            }
            Change::Tick(slot) | Change::Leave(slot)
                if node.left || self.ticking.is_some_and(|own| own != slot) =>
            {
                return None;
            }
            Change::Tick(slot) => {
                self.begin_ticking(slot)?;
                slot
            }
            Change::Leave(slot) => {
                self.begin_ticking(slot)?;
                let done = node.state.counts[usize::from(slot)] + 1;
                // The repeat must be left at one count.
                if !self.is_left_there(node.state, slot) || *self.until.get_or_insert(done) != done {
                    return None;
                }
                return self.push(Node { state: target, left: true });
            }
        };
        // The next node lies in the same zone, if that holds another count, or in the next one.
        let thresholds = &self.engine.set(node.state).thresholds[usize::from(slot)];
        if *thresholds != self.engine.set(target).thresholds[usize::from(slot)] {
            return None;
        }
        let done = node.state.counts[usize::from(slot)] + 1;
        let zone = thresholds.partition_point(|&threshold| threshold <= done);
        let last_zone = thresholds.get(zone);
        let with = |count: u32| {
            let mut state = target;
            state.counts[usize::from(slot)] = count;
            Node::at(state)
        };
        match last_zone {
            Some(&threshold) => {
                if threshold > done + 1 {
                    self.push(with(node.state.counts[usize::from(slot)]))?;
                }
                self.push(with(threshold - 1))
            }
            // Past the last threshold a count cannot grow: the repeat would have been left.
            None => None,
        }
    }

    /// Whether a character that leaves a repeat does so at the state's count, and at no other count that the answer is for.
    /// Where a threshold lets it, that is the first count of a zone; in the zone of the first node it is left at each.
    fn is_left_there(&self, state: State, slot: u8) -> bool {
        let thresholds = &self.engine.set(state).thresholds[usize::from(slot)];
        let zone = |done: u32| thresholds.partition_point(|&threshold| threshold <= done);
        let done = state.counts[usize::from(slot)].saturating_add(1);
        let first =
            self.nodes.first().map_or(0, |first| first.state.counts[usize::from(slot)].saturating_add(1));
        let begins = zone(done).checked_sub(1).is_some_and(|passed| thresholds[passed] == done);
        // Past the last threshold no count grows.
        let is_only = thresholds.get(zone(done)).is_none_or(|&next| next == done.saturating_add(1));
        begins && (zone(first) != zone(done) || is_only)
    }

    /// Every node from here on is inside the repeat that counts in `slot`; those before must have been too. A character
    /// that led back to the only node so far did not count.
    fn begin_ticking(&mut self, slot: u8) -> Option<()> {
        if self.ticking.is_none() && (self.nodes.len() > 1 || self.idles) {
            return None;
        }
        self.ticking = Some(slot);
        Some(())
    }

    fn push(&mut self, node: Node) -> Option<()> {
        if !self.nodes.contains(&node) {
            if self.nodes.len() == MAX_NODES {
                return None;
            }
            self.nodes.push(node);
        }
        Some(())
    }

    fn change(&self, from: State, to: State) -> Option<Change> {
        let (before, after) = (self.engine.set(from).slots, self.engine.set(to).slots);
        let mut change = Change::None;
        for slot in 0..SLOTS as u8 {
            let (old, new) = (from.counts[usize::from(slot)], to.counts[usize::from(slot)]);
            let here = match (before.contains(slot), after.contains(slot)) {
                (true, true) if new == old => continue,
                (true, true) if new == old.saturating_add(1) => Change::Tick(slot),
                (true, false) => Change::Leave(slot),
                (false, false) => continue,
                _ => return None,
            };
            if change != Change::None {
                return None;
            }
            change = here;
        }
        Some(change)
    }

    /// The states after each character of the class. `None` where one of them is refused.
    fn read_each(&mut self, state: State) -> Option<Vec<State>> {
        let mut targets = Vec::new();
        let ascii: Vec<u8> = (0..128).filter(|&byte| self.class.contains_ascii(byte)).collect();
        self.step_all(&[state], ascii.into_iter(), &mut targets)?;
        if self.class.non_ascii {
            for pattern in SEQUENCES {
                let mut states = vec![state];
                for &(start, end) in *pattern {
                    let mut after = Vec::new();
                    self.step_all(&states, start..=end, &mut after)?;
                    states = after;
                }
                for target in states {
                    push_new(&mut targets, target)?;
                }
            }
        }
        Some(targets)
    }

    /// Steps each state by each byte; every step must lead on.
    fn step_all(
        &mut self,
        states: &[State],
        bytes: impl Iterator<Item = u8>,
        targets: &mut Vec<State>,
    ) -> Option<()> {
        let classes = self.engine.program.byte_classes();
        let mut tried = [false; 256];
        for byte in bytes {
            if std::mem::replace(&mut tried[usize::from(classes.class(byte))], true) {
                continue;
            }
            for &state in states {
                let target = self.engine.step(state, byte, self.fuel).ok()??;
                push_new(targets, target)?;
            }
        }
        Some(())
    }
}

fn push_new(states: &mut Vec<State>, state: State) -> Option<()> {
    if !states.contains(&state) {
        if states.len() == MAX_NODES {
            return None;
        }
        states.push(state);
    }
    Some(())
}
