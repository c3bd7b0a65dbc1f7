//! The state that every character of a class leads to.
//!
//! Inside most strings all characters lead to one state. Reading each of them shows it, at some 300 steps.
//! But classes of bytes that match the same edges share an entry in the table of transitions. So one look at
//! the table for each class of bytes is enough, and one step for each different entry.
//!
//! In a string with a greatest length each character leads to the same set with a count that is greater by
//! one. It does so for all counts that the entries on the way do not distinguish. A run of characters is read
//! once for each stretch of such counts.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use grammask_fsm::ByteClasses;
use grammask_parser_backend::{CharClass, Fuel, StepError};

use grammask_fsm::utf8::SEQUENCES;

use crate::automaton::lazy::Automaton;
use crate::tables::ids::{SLOTS, number};
use crate::tables::state::State;
use crate::tables::transitions::{NEEDS_EXACT_COUNTS, UNKNOWN};

/// Bytes, one of each equivalence class.
type Bytes = Box<[u8]>;

/// The characters of a class, as sequences of bytes.
pub(crate) struct ClassBytes {
    ascii: Bytes,
    /// For each kind of sequence the bytes at each place.
    others: Box<[Box<[Bytes]>]>,
}

impl ClassBytes {
    fn new(classes: &ByteClasses, class: &CharClass) -> Self {
        let one_of_each = |bytes: &mut dyn Iterator<Item = u8>| -> Bytes {
            let mut last = None;
            bytes.filter(|&byte| last.replace(classes.class(byte)) != Some(classes.class(byte))).collect()
        };
        let ascii = one_of_each(&mut (0..128).filter(|&byte| class.contains_ascii(byte)));
        let patterns = if class.non_ascii { SEQUENCES } else { &[] };
        let others = patterns
            .iter()
            .map(|places| places.iter().map(|&(start, end)| one_of_each(&mut (start..=end))).collect());
        Self { ascii, others: others.collect() }
    }
}

/// The bytes of the classes that were asked for.
#[derive(Default)]
pub(crate) struct ClassBytesCache {
    known: Vec<(CharClass, Arc<ClassBytes>)>,
}

impl ClassBytesCache {
    pub(super) fn get(&mut self, classes: &ByteClasses, class: &CharClass) -> Arc<ClassBytes> {
        if let Some((_, bytes)) = self.known.iter().find(|(known, _)| known == class) {
            return Arc::clone(bytes);
        }
        let bytes = Arc::new(ClassBytes::new(classes, class));
        self.known.push((*class, Arc::clone(&bytes)));
        bytes
    }
}

/// The states that 1, 2, ... characters of a class lead to, `max` of them at most; fewer where the last one leads to itself.
/// `None` where some number of characters leads to more than one.
pub(crate) fn step_class_n(
    automaton: &Automaton,
    state: State,
    bytes: &ClassBytes,
    max: u32,
    fuel: &mut Fuel,
) -> Result<Option<Vec<State>>, StepError> {
    let mut states = Vec::new();
    let mut at = state;
    while number(states.len()) < max {
        // The first step of a stretch is taken, and tells up to which counts all its table entries give the
        // same answer. The states up to there differ in the count alone.
        let mut max_counts = [u32::MAX; SLOTS];
        let Some(mut next) = step_char(automaton, at, bytes, &mut max_counts, fuel)? else { return Ok(None) };
        if next == at {
            break;
        }
        states.push(next);
        if let Some(slot) = counted_slot(at, next) {
            // Inside a character the count may have grown already, so one less than the greatest may be stepped from.
            while next.counts[slot] < max_counts[slot] && number(states.len()) < max {
                next.counts[slot] += 1;
                states.push(next);
            }
        }
        at = next;
    }
    Ok(Some(states))
}

/// More counts than one character can add.
const MAX_INCREMENT: u32 = 4;

/// The slot to whose count a character added one, if that is its only change.
fn counted_slot(before: State, after: State) -> Option<usize> {
    // A repeat that ended and began anew inside the character would have a smaller count.
    let slot = (0..SLOTS).find(|&slot| before.counts[slot] != after.counts[slot])?;
    if before.counts[slot] < MAX_INCREMENT {
        return None;
    }
    let mut counts = before.counts;
    counts[slot] = counts[slot].checked_add(1)?;
    (before.set == after.set && counts == after.counts).then_some(slot)
}

/// The state that every character leads to, if all lead to one; `max_counts` is lowered to counts up to which the steps are
/// the same ones.
fn step_char(
    automaton: &Automaton,
    state: State,
    bytes: &ClassBytes,
    max_counts: &mut [u32; SLOTS],
    fuel: &mut Fuel,
) -> Result<Option<State>, StepError> {
    let mut found = None;
    if !bytes.ascii.is_empty() {
        let target = common_target(automaton, state, &bytes.ascii, max_counts, fuel)?;
        let Some(target) = target else { return Ok(None) };
        found = Some(target);
    }
    for places in &bytes.others {
        let mut at = state;
        for bytes in places {
            let Some(target) = common_target(automaton, at, bytes, max_counts, fuel)? else {
                return Ok(None);
            };
            at = target;
        }
        if *found.get_or_insert(at) != at {
            return Ok(None);
        }
    }
    Ok(found)
}

/// The state that all of some bytes lead to, if there is one.
fn common_target(
    automaton: &Automaton,
    state: State,
    bytes: &[u8],
    max_counts: &mut [u32; SLOTS],
    fuel: &mut Fuel,
) -> Result<Option<State>, StepError> {
    let classes = automaton.program.byte_classes();
    let row = automaton.row(state);
    let mut found = None;
    let mut last = UNKNOWN;
    for &byte in bytes {
        let entry = &row[usize::from(classes.class(byte))];
        // Entries that are equal say the same of equal counts, but for those that say nothing yet.
        let now = entry.load(Ordering::Acquire);
        if now == last && now != UNKNOWN && now != NEEDS_EXACT_COUNTS {
            continue;
        }
        let Some(target) = automaton.step_in(row, state, byte, fuel)? else { return Ok(None) };
        if *found.get_or_insert(target) != target {
            return Ok(None);
        }
        // Read again, because the step may have computed the entry just now.
        last = entry.load(Ordering::Acquire);
        automaton.cap_counts(max_counts, state, last, fuel)?;
    }
    Ok(found)
}
