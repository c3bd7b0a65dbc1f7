//! Interned sets, and the storage of the transitions between them.

use std::sync::atomic::{AtomicUsize, Ordering};

use grammask_fsm::Program;
use grammask_grammar_ir::byte_set::{add_range, ranges};
use grammask_grammar_ir::hash::hash_of;
use hashbrown::HashTable;

use super::append_only::{Rows, Table};
use super::contexts::{Contexts, NO_COUNTERS};
use super::ids::{SLOTS, SetId, TransitionId};
use super::items::{Acceptance, Item};
use super::slots::SlotSet;
use super::transitions::{GuardedTransition, MAX_SETS, UNKNOWN};

/// A set of items, as readers see it.
pub(crate) struct Set {
    /// Sorted, each once.
    pub(crate) items: Box<[Item]>,
    /// Whether the text so far is a sentence.
    pub(crate) complete: bool,
    /// Whether the rule of a local part may have ended.
    pub(crate) local_complete: bool,
    /// The slots that its contexts count in.
    pub(crate) slots: SlotSet,
    /// The bytes that may be read next.
    pub(crate) next_bytes: [u64; 4],
    /// The labels of the tokens that may be read next, sorted, each once.
    pub(crate) labels: Box<[u32]>,
    /// For each slot the numbers of iterations at which the answer to a guard changes, sorted.
    pub(crate) thresholds: [Box<[u32]>; SLOTS],
}

impl Set {
    pub(crate) fn acceptance(&self) -> Acceptance {
        Acceptance { complete: self.complete, local_complete: self.local_complete }
    }
}

/// The tables that readers use without a lock.
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

/// The number of sets for which there is room at first.
const INITIAL_CAPACITY: usize = 14;

/// The index that writers use, under the automaton's lock.
pub(crate) struct SetIndex {
    /// Sets with the hashes of their content: a growing table would read all sets again otherwise.
    by_content: HashTable<(u64, SetId)>,
    len: usize,
    guarded_len: usize,
    bytes: usize,
}

impl SetIndex {
    pub(crate) fn new() -> Self {
        Self { by_content: HashTable::with_capacity(INITIAL_CAPACITY), len: 0, guarded_len: 0, bytes: 0 }
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
        acceptance: Acceptance,
    ) -> Option<SetId> {
        let hash = hash_of((items, acceptance.complete, acceptance.local_complete));
        let found = self.by_content.find(hash, |&(other, id)| {
            let equals = |set: &Set| set.acceptance() == acceptance && *set.items == *items;
            other == hash && equals(sets.sets.get(id.index()))
        });
        if let Some(&(_, id)) = found {
            return Some(id);
        }
        if self.len >= MAX_SETS {
            return None;
        }
        let id = SetId::new(self.len);
        self.len += 1;
        let (next_bytes, read_classes) = read_bytes(program, items);
        let set = describe(program, contexts, items, acceptance, next_bytes);
        let classes = program.byte_classes();
        // The order of writes: first the row, then the set, and after the return some entry that names the
        // id. The Release store of that entry publishes all of it, so the stores into the row may be relaxed.
        sets.rows.allocate(id.index());
        let row = sets.rows.row(id.index());
        // Only bytes that some item reads can lead anywhere; all others stay dead and are never computed.
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
            + 2 * size_of::<(u64, SetId)>();
        sets.sets.set(id.index(), set);
        self.by_content.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        Some(id)
    }

    /// Appends a guarded transition to the list at `head`, or begins a list. Returns the head, and how many were read.
    pub(crate) fn add_guarded(
        &mut self,
        sets: &Sets,
        head: Option<TransitionId>,
        transition: GuardedTransition,
    ) -> (TransitionId, usize) {
        let id = TransitionId::new(self.guarded_len);
        self.guarded_len += 1;
        self.bytes += size_of::<GuardedTransition>();
        sets.guarded.set(id.index(), transition);
        // The transition is written above, so a reader that finds its id below also finds it.
        let Some(head) = head else { return (id, 0) };
        let mut read = 1;
        let mut last = sets.guarded.get(head.index());
        while let Some(&next) = last.next.get() {
            last = sets.guarded.get(next.index());
            read += 1;
        }
        // Writers hold the engine's lock, so the place is still free.
        let _ = last.next.set(id);
        (head, read)
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
        // Edges are sorted, and those of a string touch one another: one range instead of a dozen.
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

/// A set with all that readers ask of it.
fn describe(
    program: &Program,
    contexts: &Contexts,
    items: &[Item],
    acceptance: Acceptance,
    next_bytes: [u64; 4],
) -> Set {
    let mut slots = SlotSet::EMPTY;
    let mut thresholds: [Vec<u32>; SLOTS] = Default::default();
    let mut labels = Vec::new();
    let mut counters = Vec::new();
    let names_tokens = !program.labels().is_empty();
    for item in items {
        if names_tokens {
            labels.extend(program.state(item.state).tokens.iter().map(|edge| edge.label.raw()));
        }
        slots = slots.union(contexts.slots(item.context));
        let own = contexts.counters_id(item.context);
        if own != NO_COUNTERS && counters.last() != Some(&own) {
            counters.push(own);
        }
    }
    counters.sort_unstable();
    counters.dedup();
    for list in counters {
        // A guard changes its answer at the minimum and at the maximum of its repeat, and nowhere else.
        for &(slot, fragment) in contexts.counters(list) {
            if let Some(count) = program.fragment(fragment).counting() {
                let list = &mut thresholds[slot.index()];
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
    let Acceptance { complete, local_complete } = acceptance;
    Set {
        items: items.into(),
        complete,
        local_complete,
        slots,
        next_bytes,
        labels: labels.into(),
        thresholds,
    }
}
