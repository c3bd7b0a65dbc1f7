//! Contexts: the callers that wait for a rule to end, interned.
//!
//! Earley's algorithm keeps, with every item, the position where its rule began, and looks back there when
//! the rule ends. A [`Context`] is the result of that look: the list of states that continue after the rule,
//! each with its own context. Two positions at which the same callers wait share one context, so that sets of
//! items can be compared and interned (the graph-structured stack of generalised LR parsing, hash-consed).
//!
//! Contexts of a left-recursive component name one another: `E ::= E "+" T | T` waits for itself. Such a
//! *block* is interned as a whole, with the references inside it written as places in the block.

use std::hash::{Hash, Hasher};

use grammask_fsm::{Call, Fragment, FragmentId, Program, Role};
use grammask_grammar_ir::hash::{HashMap, Hashing, hash_of};
use hashbrown::HashTable;

use super::ids::{
    ContextId, CounterListId, PartSubsetId, ReturnState, SLOTS, SlotIndex, TAIL, index, number, units,
};
use super::items::Item;
use super::part_subset::PartSubset;
use super::slots::SlotSet;

/// A caller that waits: a return state (or [`TAIL`]) and the context to go on in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entry {
    pub(crate) state: ReturnState,
    pub(crate) context: ContextId,
}

impl Hash for Entry {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.state.raw()) << 32 | u64::from(self.context.raw()));
    }
}

/// The effect of completing a context.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Context {
    /// The end of the text.
    Root,
    /// The end of a local part.
    Local,
    /// The callers that wait.
    List(EntryRange),
    /// A member of a left-recursive block: the callers that wait, and the block.
    Block { entries: EntryRange, first: ContextId },
    /// An iteration of a counted repeat; the parent waits for the repeat as a whole.
    Counter(Counter),
    /// Parts in any order, some of which were read; the parent continues after the whole.
    Permutation(OpenPermutation),
}

/// A range of the entry pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct EntryRange {
    start: u32,
    end: u32,
}

impl EntryRange {
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        index(self.start)..index(self.end)
    }
}

/// An open counted repeat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Counter {
    pub(crate) fragment: FragmentId,
    pub(crate) count: CountKind,
    pub(crate) parent: ContextId,
}

/// Where the number of finished iterations is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum CountKind {
    /// In this slot of the configuration.
    Slot(SlotIndex),
    /// Here.
    Exact(u32),
    /// Nowhere: the minimum is met and there is no maximum.
    Met,
}

impl CountKind {
    /// The number after one more iteration. `counts` are those before the byte, so the iteration that has just ended is
    /// not counted in them.
    pub(crate) fn after_one_more(self, counts: &[u32; SLOTS]) -> u32 {
        match self {
            Self::Slot(slot) => counts[slot.index()].saturating_add(1),
            Self::Exact(done) => done.saturating_add(1),
            // The minimum is met and there is no maximum, so every bound from below holds.
            Self::Met => u32::MAX,
        }
    }
}

/// An open call of parts in any order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct OpenPermutation {
    pub(crate) fragment: FragmentId,
    /// The parts that were read.
    pub(crate) subset: PartSubsetId,
    pub(crate) parent: ContextId,
}

/// The slots and repeats that a context and its ancestors count with.
#[derive(Clone, Copy)]
struct SlotUse {
    /// Slots that the context and its ancestors count in.
    slots: SlotSet,
    /// Which repeats count in which slot; index into `counter_lists`.
    counters: CounterListId,
}

/// Which repeats count in which slot, sorted.
type CounterList = Box<[(SlotIndex, FragmentId)]>;

/// The list of no repeats.
pub(super) const NO_COUNTERS: CounterListId = CounterListId::from_raw(0);

/// Entries that tables have room for which every structure fills: the code that grows a table is fetched for each.
const INITIAL_CAPACITY: usize = 7;

/// All contexts of an automaton.
pub(crate) struct Contexts {
    contexts: Vec<Context>,
    slot_use: Vec<SlotUse>,
    entries: Vec<Entry>,
    /// Lists with the hashes of their entries.
    lists: HashTable<(u64, ContextId)>,
    counters: HashMap<Counter, ContextId>,
    permutations: HashMap<OpenPermutation, ContextId>,
    subsets: Vec<PartSubset>,
    subset_ids: HashMap<PartSubset, PartSubsetId>,
    blocks: HashMap<Box<[u32]>, ContextId>,
    /// The empty list is the first, and not in `counter_list_ids`.
    counter_lists: Vec<CounterList>,
    counter_list_ids: HashMap<CounterList, CounterListId>,
    bytes: usize,
}

impl Contexts {
    pub(crate) fn new() -> Self {
        Self {
            contexts: vec![Context::Root, Context::Local],
            slot_use: vec![SlotUse { slots: SlotSet::EMPTY, counters: NO_COUNTERS }; 2],
            entries: Vec::new(),
            lists: HashTable::with_capacity(INITIAL_CAPACITY),
            counters: HashMap::with_capacity_and_hasher(INITIAL_CAPACITY, Hashing),
            permutations: HashMap::default(),
            subsets: Vec::new(),
            subset_ids: HashMap::default(),
            blocks: HashMap::default(),
            counter_list_ids: HashMap::with_capacity_and_hasher(INITIAL_CAPACITY, Hashing),
            counter_lists: vec![CounterList::default()],
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.contexts.len()
    }

    /// Bytes held, roughly: arenas and hash tables.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn get(&self, id: ContextId) -> Context {
        self.contexts[id.index()]
    }

    pub(crate) fn entry(&self, index: usize) -> Entry {
        self.entries[index]
    }

    pub(crate) fn entries(&self, range: EntryRange) -> &[Entry] {
        &self.entries[range.range()]
    }

    /// The slots that a context and its ancestors count in.
    pub(crate) fn slots(&self, id: ContextId) -> SlotSet {
        self.slot_use[id.index()].slots
    }

    /// The list of the repeats that count in each slot, for a context and its ancestors.
    pub(crate) fn counters_id(&self, id: ContextId) -> CounterListId {
        self.slot_use[id.index()].counters
    }

    /// Which repeats count in which slot.
    pub(crate) fn counters(&self, list: CounterListId) -> &[(SlotIndex, FragmentId)] {
        &self.counter_lists[list.index()]
    }

    /// The context of those in `entries`, which must be sorted and without duplicates.
    pub(crate) fn list(&mut self, entries: &[Entry]) -> ContextId {
        if let [Entry { state: TAIL, context }] = *entries {
            return context;
        }
        let hash = hash_of(entries);
        let found = self.lists.find(hash, |&(other, id)| match self.contexts[id.index()] {
            Context::List(range) if other == hash => self.entries[range.range()] == *entries,
            _ => false,
        });
        if let Some(&(_, id)) = found {
            return id;
        }
        let slot_use = self.join_slot_use(entries.iter().map(|entry| entry.context));
        let range = self.push_entries(entries.iter().copied());
        let id = self.push(Context::List(range), slot_use);
        self.lists.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        self.bytes += 2 * size_of::<(u64, ContextId)>();
        id
    }

    /// The context of an iteration of a repeat.
    pub(crate) fn counter(&mut self, counter: Counter) -> ContextId {
        if let Some(&id) = self.counters.get(&counter) {
            return id;
        }
        let mut slot_use = self.slot_use[counter.parent.index()];
        if let CountKind::Slot(slot) = counter.count {
            slot_use.slots.insert(slot);
            let mut list = self.counter_lists[slot_use.counters.index()].to_vec();
            if let Err(place) = list.binary_search(&(slot, counter.fragment)) {
                list.insert(place, (slot, counter.fragment));
            }
            slot_use.counters = self.counter_list(list.into());
        }
        let id = self.push(Context::Counter(counter), slot_use);
        self.counters.insert(counter, id);
        self.bytes += 2 * size_of::<(Counter, ContextId)>();
        id
    }

    /// The context of an open call of parts in any order.
    pub(crate) fn permutation(&mut self, open: OpenPermutation) -> ContextId {
        if let Some(&id) = self.permutations.get(&open) {
            return id;
        }
        let slot_use = self.slot_use[open.parent.index()];
        let id = self.push(Context::Permutation(open), slot_use);
        self.permutations.insert(open, id);
        self.bytes += 2 * size_of::<(OpenPermutation, ContextId)>();
        id
    }

    /// The number of a subset of parts.
    pub(crate) fn subset_id(&mut self, subset: PartSubset) -> PartSubsetId {
        if let Some(&id) = self.subset_ids.get(&subset) {
            return id;
        }
        let id = PartSubsetId::new(self.subsets.len());
        self.bytes += 2 * subset.bytes() + 16;
        self.subsets.push(subset.clone());
        self.subset_ids.insert(subset, id);
        id
    }

    pub(crate) fn subset(&self, id: PartSubsetId) -> &PartSubset {
        &self.subsets[id.index()]
    }

    /// Where a caller goes on after a call, if the call may be made. A part in any order is read where it may be,
    /// and a separator where another part may follow. Other calls are always made.
    pub(crate) fn return_state(
        &self,
        program: &Program,
        (call, callee): (&Call, &Fragment),
        caller: ContextId,
    ) -> Option<ReturnState> {
        let role = &callee.role;
        // Only the whole calls its parts and its separator, and its items have such contexts.
        if matches!(role, Role::Part(_) | Role::Separator)
            && let Context::Permutation(open) = self.get(caller)
            && let Role::Permutation(permutation) = &program.fragment(open.fragment).role
        {
            let subset = self.subset(open.subset);
            if let Role::Part(part) = *role {
                return subset.may_read(permutation, part).then(|| ReturnState::after_part(part));
            }
            if !subset.may_continue(permutation) {
                return None;
            }
        }
        // A tail call returns to nothing of its own, so the callee gets the caller's context in place of a
        // new entry.
        let tail = program.state(call.target).is_pure_final();
        Some(if tail { TAIL } else { ReturnState::new(call.target) })
    }

    /// The item of a caller that goes on. After a part in any order, its context has read that part, and the
    /// subset that was made for it counts as `work`.
    pub(crate) fn after_return(&mut self, program: &Program, caller: Entry, work: &mut u64) -> Option<Item> {
        let Entry { state, context } = caller;
        let Some(part) = state.part() else {
            return state.state().map(|state| Item { state, context });
        };
        let Context::Permutation(open) = self.get(context) else { return None };
        let whole = program.fragment(open.fragment);
        let Role::Permutation(permutation) = &whole.role else { return None };
        // The part could be read when its call was made.
        let subset = self.subset(open.subset).with(permutation, part)?;
        *work += 12 + 2 * units(subset.read().len());
        let subset = self.subset_id(subset);
        let context = self.permutation(OpenPermutation { subset, ..open });
        // All parts lead to one state.
        let state = program.state(whole.start).calls.first()?.target;
        Some(Item { state, context })
    }

    /// A left-recursive block: for each member its entries, sorted, in which a context made by
    /// [`in_block`](ContextId::in_block) names a member. Returns the first member's context; the others follow it.
    pub(crate) fn block(&mut self, members: &[Vec<Entry>]) -> ContextId {
        // Inside references are places in the block, not numbers, so equal blocks have equal keys wherever
        // they lie.
        let mut key = Vec::with_capacity(members.iter().map(|entries| 1 + 2 * entries.len()).sum());
        for entries in members {
            key.push(number(entries.len()));
            key.extend(entries.iter().flat_map(|entry| [entry.state.raw(), entry.context.raw()]));
        }
        if let Some(&first) = self.blocks.get(key.as_slice()) {
            return first;
        }
        let outside: Vec<ContextId> = members
            .iter()
            .flatten()
            .map(|entry| entry.context)
            .filter(|context| context.place_in_block().is_none())
            .collect();
        // One union for all members, since each of them leads to all.
        let slot_use = self.join_slot_use(outside.into_iter());
        let first = ContextId::new(self.contexts.len());
        for entries in members {
            let resolved = entries.iter().map(|&Entry { state, context }| match context.place_in_block() {
                None => Entry { state, context },
                Some(place) => Entry { state, context: first.member(place) },
            });
            let range = self.push_entries(resolved);
            self.push(Context::Block { entries: range, first }, slot_use);
        }
        self.bytes += key.len() * size_of::<u32>() + 64;
        self.blocks.insert(key.into(), first);
        first
    }

    /// The members of the block that begins at `first`.
    pub(crate) fn block_len(&self, first: ContextId) -> usize {
        self.contexts[first.index()..]
            .iter()
            .take_while(|context| matches!(context, Context::Block { first: own, .. } if *own == first))
            .count()
    }

    fn push(&mut self, context: Context, slot_use: SlotUse) -> ContextId {
        let id = ContextId::new(self.contexts.len());
        self.contexts.push(context);
        self.slot_use.push(slot_use);
        self.bytes += size_of::<Context>() + size_of::<SlotUse>();
        id
    }

    fn push_entries(&mut self, entries: impl Iterator<Item = Entry>) -> EntryRange {
        let start = number(self.entries.len());
        self.entries.extend(entries);
        let end = number(self.entries.len());
        self.bytes += index(end - start) * size_of::<Entry>();
        EntryRange { start, end }
    }

    fn join_slot_use(&mut self, contexts: impl Iterator<Item = ContextId>) -> SlotUse {
        let mut joined = SlotUse { slots: SlotSet::EMPTY, counters: NO_COUNTERS };
        let mut list: Vec<(SlotIndex, FragmentId)> = Vec::new();
        for context in contexts {
            let slot_use = self.slot_use[context.index()];
            joined.slots = joined.slots.union(slot_use.slots);
            // Mostly all contexts have one list or none, and no list has to be made.
            if slot_use.counters == joined.counters || slot_use.counters == NO_COUNTERS {
                continue;
            }
            if joined.counters == NO_COUNTERS && list.is_empty() {
                joined.counters = slot_use.counters;
                continue;
            }
            if list.is_empty() {
                list.extend_from_slice(&self.counter_lists[joined.counters.index()]);
            }
            list.extend_from_slice(&self.counter_lists[slot_use.counters.index()]);
        }
        if !list.is_empty() {
            list.sort_unstable();
            list.dedup();
            joined.counters = self.counter_list(list.into());
        }
        joined
    }

    fn counter_list(&mut self, list: CounterList) -> CounterListId {
        if list.is_empty() {
            return NO_COUNTERS;
        }
        if let Some(&id) = self.counter_list_ids.get(&list) {
            return id;
        }
        let id = CounterListId::new(self.counter_lists.len());
        self.bytes += 2 * list.len() * size_of::<(SlotIndex, FragmentId)>() + 64;
        self.counter_lists.push(list.clone());
        self.counter_list_ids.insert(list, id);
        id
    }
}

const _: () = assert!(SLOTS <= 4, "slot sets and tags are packed for at most four slots");
