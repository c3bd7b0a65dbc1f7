//! The behaviour of a set on long texts over a class of characters, by exploration.
//!
//! Inside a JSON string almost every token is allowed, and walking the whole vocabulary to find that out
//! costs half a millisecond. A tokenizer's tokens over a class are known beforehand; it remains to show that
//! the parser lets *every* text over the class pass. That is a small exploration: from the set, read each
//! character of the class, see which state it leads to, and repeat this from there until nothing new turns
//! up. Bytes that the grammar does not distinguish are tried once.
//!
//! Counted repeats make the sets change with the count, but only where a guard's answer does. The counts are
//! therefore explored by *interval* (the stretch between two thresholds), with one count to represent each.
//! Suppose that every character adds one, up to an interval in which every character leaves the repeat for a
//! set that reads none of the class. Then texts of up to that many characters pass, and no others.

use grammask_parser_backend::{CharClass, Fuel};

use super::run_shape::RunShape;
use crate::automaton::lazy::Automaton;
use crate::tables::ids::{SLOTS, SlotIndex, low_byte, number};
use crate::tables::state::State;

/// Boundary sets and intervals that an exploration visits before it gives up.
const MAX_NODES: usize = 24;

/// The interval of each slot's count: how many thresholds the next iteration has passed.
pub(crate) fn count_intervals(automaton: &Automaton, state: State) -> [u32; SLOTS] {
    let set = automaton.set(state);
    std::array::from_fn(|slot| {
        let done = state.counts[slot].saturating_add(1);
        number(set.thresholds[slot].partition_point(|&threshold| threshold <= done))
    })
}

/// Explores from a state at a boundary of characters.
pub(crate) fn explore(automaton: &Automaton, state: State, class: &CharClass, fuel: &mut Fuel) -> RunShape {
    // A cheap test first: every byte that begins a character of the class must be readable here.
    let starts = class.start_bytes();
    let next = automaton.set(state).next_bytes;
    if (0..4).any(|word| starts[word] & !next[word] != 0) {
        return RunShape::Unknown;
    }
    if automaton.set(state).slots.is_empty() && is_refused(automaton, state, starts, fuel) {
        return RunShape::Unknown;
    }
    Explorer {
        automaton,
        class,
        starts,
        fuel,
        nodes: vec![Node::at(state)],
        counting_slot: None,
        has_uncounted_step: false,
        until: None,
    }
    .run()
    .unwrap_or(RunShape::Unknown)
}

/// Whether the search finds a refused text that consists of characters of one byte, with no counts to begin
/// with. Free text in which a tag begins after some letters is refused at the end of a path. To read every
/// other character on the way there costs ten times as much as to follow each new state at once.
fn is_refused(automaton: &Automaton, state: State, starts: [u64; 4], fuel: &mut Fuel) -> bool {
    // The search stays within ASCII, where each byte is a character, and takes one byte of each class.
    // Refusing one text suffices, so a search that is cut short answers "not refused".
    let ascii = u128::from(starts[0]) | u128::from(starts[1]) << 64;
    let classes = automaton.program.byte_classes();
    let mut visited = vec![state];
    // The states on the path, each with the characters that were not read yet.
    let mut path = vec![(state, ascii)];
    while let Some((state, left)) = path.last_mut() {
        if *left == 0 {
            path.pop();
            continue;
        }
        let byte = low_byte(left.trailing_zeros());
        let equivalent = (byte..128).take_while(|&other| classes.class(other) == classes.class(byte)).count();
        *left &= u128::MAX.checked_shl(u32::from(byte) + number(equivalent)).unwrap_or(0);
        // A limit proves nothing.
        let Ok(target) = automaton.step(*state, byte, fuel) else { return false };
        let Some(target) = target else { return true };
        if visited.contains(&target) {
            continue;
        }
        let next = automaton.set(target).next_bytes;
        if (0..4).any(|word| starts[word] & !next[word] != 0) {
            return true;
        }
        if visited.len() == MAX_NODES {
            return false;
        }
        visited.push(target);
        path.push((target, ascii));
    }
    false
}

/// A boundary of characters: a state, in which the counting slot's count represents its interval.
#[derive(Clone, Copy, PartialEq)]
struct Node {
    state: State,
    /// Reached by leaving the counted repeat.
    after_repeat: bool,
}

impl Node {
    fn at(state: State) -> Self {
        Self { state, after_repeat: false }
    }
}

struct Explorer<'e> {
    automaton: &'e Automaton,
    class: &'e CharClass,
    starts: [u64; 4],
    fuel: &'e mut Fuel,
    nodes: Vec<Node>,
    /// The slot to which every character adds one.
    counting_slot: Option<SlotIndex>,
    /// Whether some character has led on inside of a repeat and was not counted.
    has_uncounted_step: bool,
    /// The count at which the repeat is left.
    until: Option<u32>,
}

/// How a character changed the counts.
#[derive(PartialEq)]
enum CountChange {
    None,
    Increment(SlotIndex),
    Leave(SlotIndex),
}

impl Explorer<'_> {
    /// `None`: nothing can be said.
    fn run(mut self) -> Option<RunShape> {
        let mut next = 0;
        let mut closed_after = false;
        let mut open_after = false;
        // Invariant: every text over the class from the first node leads to some node of the list, or one of
        // its nodes is still to be visited. With counts, it leads to a count of the interval that the node
        // represents.
        while let Some(&node) = self.nodes.get(next) {
            next += 1;
            let bytes = self.automaton.set(node.state).next_bytes;
            if (0..4).all(|word| self.starts[word] & bytes[word] == 0) {
                // Only states after the repeat may stop, or the bound would not be its maximum.
                if !node.after_repeat {
                    return None;
                }
                closed_after = true;
                continue;
            }
            // Some character can begin here and some cannot: the length of a text does not decide then.
            if (0..4).any(|word| self.starts[word] & !bytes[word] != 0) {
                return None;
            }
            // If texts can continue after the repeat, its maximum is not the bound of the run.
            open_after |= node.after_repeat;
            for target in self.read_each(node.state)? {
                self.follow(node, target)?;
            }
        }
        // No node refuses the class: the run is unbounded, whatever is counted. Otherwise all nodes that
        // refuse it are after the repeat, and the count at which the repeat is left is the bound, if no text
        // continues there.
        match (self.counting_slot, self.until) {
            _ if !closed_after => Some(RunShape::Unbounded),
            (Some(slot), Some(until)) if !open_after => Some(RunShape::UpTo { slot, until }),
            _ => None,
        }
    }

    /// Where one character leads from a node.
    fn follow(&mut self, node: Node, target: State) -> Option<()> {
        let slot = match self.change(node.state, target)? {
            CountChange::None => {
                // Inside the repeat every character counts, or the bound would not be exact.
                if !node.after_repeat && self.counting_slot.is_some() {
                    return None;
                }
                self.has_uncounted_step |= !node.after_repeat;
                return self.push(Node { state: target, ..node });
            }
            // Only one repeat may count, and only before it is left. A second one would make the bound depend
            // on two counts.
            CountChange::Increment(slot) | CountChange::Leave(slot)
                if node.after_repeat || self.counting_slot.is_some_and(|own| own != slot) =>
            {
                return None;
            }
            CountChange::Increment(slot) => {
                self.set_counting_slot(slot)?;
                slot
            }
            CountChange::Leave(slot) => {
                self.set_counting_slot(slot)?;
                let done = node.state.counts[slot.index()] + 1;
                // The repeat must be left at one count.
                if !self.leaves_at_one_count(node.state, slot) || *self.until.get_or_insert(done) != done {
                    return None;
                }
                return self.push(Node { state: target, after_repeat: true });
            }
        };
        // The next node lies in the same interval, if that holds another count, or in the next one.
        let thresholds = &self.automaton.set(node.state).thresholds[slot.index()];
        if *thresholds != self.automaton.set(target).thresholds[slot.index()] {
            return None;
        }
        let done = node.state.counts[slot.index()] + 1;
        let interval = thresholds.partition_point(|&threshold| threshold <= done);
        let last_interval = thresholds.get(interval);
        let with = |count: u32| {
            let mut state = target;
            state.counts[slot.index()] = count;
            Node::at(state)
        };
        match last_interval {
            Some(&threshold) => {
                if threshold > done + 1 {
                    self.push(with(node.state.counts[slot.index()]))?;
                }
                // From inside an interval the count reaches both more of the same interval and the last count
                // before the next threshold. `threshold - 1` is the count whose next iteration meets the
                // threshold.
                self.push(with(threshold - 1))
            }
            // Past the last threshold a count cannot grow: the repeat would have been left.
            None => None,
        }
    }

    /// Whether a character that leaves a repeat does so at the state's count, and at no other count that the answer is for.
    /// Where a threshold lets it, that is the first count of an interval; in the interval of the first node it is left at each.
    fn leaves_at_one_count(&self, state: State, slot: SlotIndex) -> bool {
        let thresholds = &self.automaton.set(state).thresholds[slot.index()];
        let interval = |done: u32| thresholds.partition_point(|&threshold| threshold <= done);
        let done = state.counts[slot.index()].saturating_add(1);
        let first = self.nodes.first().map_or(0, |first| first.state.counts[slot.index()].saturating_add(1));
        let begins = interval(done).checked_sub(1).is_some_and(|passed| thresholds[passed] == done);
        // Past the last threshold no count grows.
        let is_only = thresholds.get(interval(done)).is_none_or(|&next| next == done.saturating_add(1));
        begins && (interval(first) != interval(done) || is_only)
    }

    /// Every node from here on is inside the repeat that counts in `slot`; those before must have been too. A character
    /// that led back to the only node so far did not count.
    fn set_counting_slot(&mut self, slot: SlotIndex) -> Option<()> {
        if self.counting_slot.is_none() && (self.nodes.len() > 1 || self.has_uncounted_step) {
            return None;
        }
        self.counting_slot = Some(slot);
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

    fn change(&self, from: State, to: State) -> Option<CountChange> {
        let (before, after) = (self.automaton.set(from).slots, self.automaton.set(to).slots);
        let mut change = CountChange::None;
        for slot in SlotIndex::all() {
            let (old, new) = (from.counts[slot.index()], to.counts[slot.index()]);
            // A slot that begins to be used, or a count that changes in another way, is left to the walk.
            let here = match (before.contains(slot), after.contains(slot)) {
                (true, true) if new == old => continue,
                (true, true) if new == old.saturating_add(1) => CountChange::Increment(slot),
                (true, false) => CountChange::Leave(slot),
                (false, false) => continue,
                _ => return None,
            };
            if change != CountChange::None {
                return None;
            }
            change = here;
        }
        Some(change)
    }

    /// The states after each character of the class. `None` where one of them is refused.
    fn read_each(&mut self, state: State) -> Option<Vec<State>> {
        let Self { automaton, class, fuel, .. } = self;
        let ascii = (0..128).filter(|&byte| class.contains_ascii(byte));
        let step = |state, byte| automaton.step(state, byte, fuel).ok()?;
        // The targets between the bytes of a character are not nodes: a run is a statement about boundaries of
        // characters.
        let (classes, mut targets) = (automaton.program.byte_classes(), Vec::new());
        classes.after_each_character(state, ascii, class.non_ascii, MAX_NODES, &mut targets, step)?;
        Some(targets)
    }
}
