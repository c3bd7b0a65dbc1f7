//! Interned sets and the transitions between them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use grammask_fsm::Program;
use grammask_grammar_ir::hash::hash_of;
use hashbrown::HashTable;

use crate::alike::{add_range, ranges};
use crate::closure::{Guard, Item};
use crate::context::Contexts;
use crate::slots::{SLOTS, SlotChange, SlotSet};
use crate::table::{Rows, Table};

/// No sentence goes on with the byte. A fresh row is full of it: outside of strings few bytes can be read.
pub(crate) const DEAD: u32 = 0;
/// A transition that was not computed yet.
pub(crate) const UNKNOWN: u32 = 1;
/// The counts must move into the contexts before the byte can be read.
pub(crate) const EXACT: u32 = 2;
/// From here on: a set, with counts unchanged.
pub(crate) const FIRST_SET: u32 = 3;
/// Up to here. From here on, a bit for each slot that is cleared, and the set.
pub(crate) const CLEARS: u32 = 1 << CLEARED_SHIFT;
/// With this bit: the first of a list of guarded transitions.
pub(crate) const GUARDED: u32 = 1 << 31;
/// Most sets of one engine.
const MAX_SETS: usize = (CLEARS - FIRST_SET) as usize;
/// Where the bits of cleared slots stand, below [`GUARDED`].
const CLEARED_SHIFT: u32 = GUARDED.trailing_zeros() - SLOTS as u32;

/// The entry of a transition that asks nothing of the counts, from a set with some slots. `None` where it counts.
pub(crate) fn unguarded(from: SlotSet, changes: &SlotChanges, target: u32) -> Option<u32> {
    let mut entry = target + FIRST_SET;
    for (slot, change) in (0..).zip(changes) {
        match change {
            Some(SlotChange::Keep) => {}
            Some(SlotChange::Increment) => return None,
            // What a set does not use is 0 already.
            None | Some(SlotChange::Zero) if !from.contains(slot) => {}
            None | Some(SlotChange::Zero) => entry |= CLEARS << slot,
        }
    }
    Some(entry)
}

/// The set and the counts after an entry of a transition that asks nothing of the counts.
#[inline]
pub(crate) fn follow(entry: u32, counts: [u32; SLOTS]) -> (u32, [u32; SLOTS]) {
    let set = (entry & (CLEARS - 1)) - FIRST_SET;
    if entry < CLEARS {
        return (set, counts);
    }
    (set, std::array::from_fn(|slot| if entry & CLEARS << slot == 0 { counts[slot] } else { 0 }))
}

/// A set of items, as readers see it.
pub(crate) struct Set {
    /// Sorted, each once.
    pub(crate) items: Box<[Item]>,
    /// Whether what was read is a sentence.
    pub(crate) complete: bool,
    /// Whether the rule of a local part may have ended.
    pub(crate) leaves: bool,
    /// The slots that its contexts count in.
    pub(crate) slots: SlotSet,
    /// The bytes that may be read next.
    pub(crate) next_bytes: [u64; 4],
    /// The labels of the tokens that may be read next, sorted, each once.
    pub(crate) labels: Box<[u32]>,
    /// For each slot the numbers of iterations at which the answer to a guard changes, sorted.
    pub(crate) thresholds: [Box<[u32]>; SLOTS],
}

/// What may be over where a set stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The text.
    pub(crate) complete: bool,
    /// The rule of a local part.
    pub(crate) leaves: bool,
}

impl Set {
    pub(crate) fn ends(&self) -> Ends {
        Ends { complete: self.complete, leaves: self.leaves }
    }
}

/// A transition that depends on counts or changes them.
pub(crate) struct GuardedTransition {
    /// For each slot the least count for which the transition is this one.
    low: [u32; SLOTS],
    /// For each slot the greatest such count.
    high: [u32; SLOTS],
    /// For each slot all bits, if the count is kept or goes up by one.
    keep: [u32; SLOTS],
    /// For each slot what is added.
    add: [u32; SLOTS],
    pub(crate) target: u32,
    /// The next alternative of the same transition, for other counts.
    pub(crate) next: OnceLock<u32>,
}

impl GuardedTransition {
    pub(crate) fn new(guards: &[Guard], changes: &SlotChanges, target: u32) -> Self {
        let (mut low, mut high) = ([0; SLOTS], [u32::MAX; SLOTS]);
        for guard in guards {
            let slot = usize::from(guard.slot);
            let (least, greatest) = guard.counts();
            low[slot] = low[slot].max(least);
            high[slot] = high[slot].min(greatest);
        }
        let kept = |change: &Option<SlotChange>| match change {
            Some(SlotChange::Keep | SlotChange::Increment) => u32::MAX,
            None | Some(SlotChange::Zero) => 0,
        };
        let keep = changes.each_ref().map(kept);
        let add = changes.map(|change| u32::from(change == Some(SlotChange::Increment)));
        Self { low, high, keep, add, target, next: OnceLock::new() }
    }

    /// For each slot the greatest count for which the transition is this one.
    pub(crate) fn greatest(&self) -> &[u32; SLOTS] {
        &self.high
    }

    /// The counts after the transition, if it is the one for these counts.
    #[inline]
    pub(crate) fn apply(&self, counts: &[u32; SLOTS]) -> Option<[u32; SLOTS]> {
        let mut after = [0; SLOTS];
        let mut holds = true;
        for slot in 0..SLOTS {
            holds &= self.low[slot] <= counts[slot] && counts[slot] <= self.high[slot];
            // Counts stay below the repeat's maximum, so nothing overflows.
            after[slot] = (counts[slot] & self.keep[slot]).wrapping_add(self.add[slot]);
        }
        holds.then_some(after)
    }
}

/// What a transition does to the counts. `None` clears the slot: the target does not use it.
pub(crate) type SlotChanges = [Option<SlotChange>; SLOTS];

/// The counts after a transition.
pub(crate) fn apply(changes: &SlotChanges, counts: &[u32; SLOTS]) -> [u32; SLOTS] {
    let mut after = [0; SLOTS];
    for slot in 0..SLOTS {
        after[slot] = match changes[slot] {
            None | Some(SlotChange::Zero) => 0,
            Some(SlotChange::Keep) => counts[slot],
            Some(SlotChange::Increment) => counts[slot].saturating_add(1),
        };
    }
    after
}

/// What readers need, without locks.
pub(crate) struct Sets {
    pub(crate) rows: Rows,
    pub(crate) sets: Table<Set>,
    pub(crate) guarded: Table<GuardedTransition>,
    /// Bytes held by rows, sets, guarded transitions and contexts.
    pub(crate) bytes: AtomicUsize,
}

impl Sets {
    pub(crate) fn new(program: &Program) -> Self {
        Self {
            rows: Rows::new(program.byte_classes().count()),
            sets: Table::new(),
            guarded: Table::new(),
            bytes: AtomicUsize::new(0),
        }
    }
}

/// Sets that there is room for at first.
const FEW: usize = 14;

/// What writers need, behind the engine's lock.
pub(crate) struct SetIndex {
    /// Sets with the hashes of what they hold: a table that grows would read all of them again.
    by_content: HashTable<(u64, u32)>,
    len: usize,
    guarded_len: usize,
    bytes: usize,
}

impl SetIndex {
    pub(crate) fn new() -> Self {
        Self { by_content: HashTable::with_capacity(FEW), len: 0, guarded_len: 0, bytes: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes held by sets, rows and transitions.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The set of these items, which must be sorted. `None` where no id is left.
    pub(crate) fn intern(
        &mut self,
        sets: &Sets,
        program: &Program,
        contexts: &Contexts,
        items: &[Item],
        ends: Ends,
    ) -> Option<u32> {
        let hash = hash_of((items, ends.complete, ends.leaves));
        let found = self.by_content.find(hash, |&(other, id)| {
            let equals = |set: &Set| set.ends() == ends && *set.items == *items;
            other == hash && equals(sets.sets.get(id as usize))
        });
        if let Some(&(_, id)) = found {
            return Some(id);
        }
        if self.len >= MAX_SETS {
            return None;
        }
        let id = self.len as u32;
        self.len += 1;
        let (next_bytes, read_classes) = read_bytes(program, items);
        let set = describe(program, contexts, items, ends, next_bytes);
        let classes = program.byte_classes();
        sets.rows.allocate(id as usize);
        let row = sets.rows.row(id as usize);
        for read in ranges(read_classes) {
            for word in row.get(read).unwrap_or_default() {
                word.store(UNKNOWN, Ordering::Relaxed);
            }
        }
        self.bytes += size_of::<Set>()
            + size_of_val(items)
            + size_of_val(&*set.labels)
            + classes.count() * size_of::<u32>()
            + set.thresholds.iter().map(|list| size_of_val(&**list)).sum::<usize>()
            + 2 * size_of::<(u64, u32)>();
        sets.sets.set(id as usize, set);
        self.by_content.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        Some(id)
    }

    /// Appends a guarded transition to the list at `head`, or begins a list. Returns the head.
    pub(crate) fn add_guarded(
        &mut self,
        sets: &Sets,
        head: Option<u32>,
        transition: GuardedTransition,
    ) -> u32 {
        let index = self.guarded_len as u32;
        self.guarded_len += 1;
        self.bytes += size_of::<GuardedTransition>();
        sets.guarded.set(index as usize, transition);
        let Some(head) = head else { return index };
        let mut last = sets.guarded.get(head as usize);
        while let Some(&next) = last.next.get() {
            last = sets.guarded.get(next as usize);
        }
        // Writers hold the engine's lock, so the place is still free.
        let _ = last.next.set(index);
        head
    }
}

/// A bit for each byte that some item reads, and one for each class of such bytes.
fn read_bytes(program: &Program, items: &[Item]) -> ([u64; 4], [u64; 4]) {
    let classes = program.byte_classes();
    let (mut bytes, mut read) = ([0; 4], [0; 4]);
    let mut add = |start, end| {
        add_range(&mut bytes, start, end);
        add_range(&mut read, classes.class(start), classes.class(end));
    };
    for item in items {
        // Edges are sorted, and those of a string stand side by side: one range in place of a dozen.
        let mut edges = program.byte_edges(item.state).iter();
        let Some(first) = edges.next() else { continue };
        let (mut start, mut end) = (first.start, first.end);
        for edge in edges {
            if u16::from(edge.start) > u16::from(end) + 1 {
                add(start, end);
                (start, end) = (edge.start, edge.end);
            }
            end = end.max(edge.end);
        }
        add(start, end);
    }
    (bytes, read)
}

/// What readers want to know of a set.
fn describe(program: &Program, contexts: &Contexts, items: &[Item], ends: Ends, next_bytes: [u64; 4]) -> Set {
    let mut slots = SlotSet::EMPTY;
    let mut thresholds: [Vec<u32>; SLOTS] = Default::default();
    let mut labels = Vec::new();
    let mut last_counters: &[(u8, grammask_fsm::FragmentId)] = &[];
    let names_tokens = !program.labels().is_empty();
    for item in items {
        if names_tokens {
            labels.extend(program.state(item.state).tokens.iter().map(|edge| edge.label.raw()));
        }
        slots = slots.union(contexts.slots(item.context));
        let counters = contexts.counters(item.context);
        if std::ptr::eq(counters, last_counters) {
            continue;
        }
        last_counters = counters;
        for &(slot, fragment) in counters {
            if let Some(count) = program.fragment(fragment).count {
                let list = &mut thresholds[usize::from(slot)];
                list.push(count.min);
                list.extend(count.max);
            }
        }
    }
    let thresholds = thresholds.map(|mut list| {
        list.sort_unstable();
        list.dedup();
        list.into()
    });
    labels.sort_unstable();
    labels.dedup();
    let Ends { complete, leaves } = ends;
    Set { items: items.into(), complete, leaves, slots, next_bytes, labels: labels.into(), thresholds }
}
