//! Contexts: who waits for a rule to end, interned.
//!
//! Earley's algorithm keeps, with every item, the position where its rule began, and looks back there when
//! the rule ends. A [`Context`] is what that look would find: the list of states that go on after the rule,
//! each with its own context. Two positions at which the same callers wait share one context, so that sets
//! of items can be compared and interned (the graph-structured stack of generalised LR parsing, hash-consed).
//!
//! Contexts of a left-recursive component name one another: `E ::= E "+" T | T` waits for itself. Such a
//! *block* is interned as a whole, with the references inside it written as places in the block.

use std::hash::{Hash, Hasher};

use grammask_fsm::{FragmentId, Program, Role};
use grammask_grammar_ir::hash::{HashMap, Hashing, hash_of};
use hashbrown::HashTable;

use crate::permutation::Read;
use crate::slots::{SLOTS, SlotSet};

/// An interned context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ContextId(pub(crate) u32);

/// The context of the root: when it completes, what was read is a sentence.
pub(crate) const ROOT: ContextId = ContextId(0);

/// The context of a local part: when it completes, the rule that was cut out may have ended.
pub(crate) const LOCAL: ContextId = ContextId(1);

/// In place of a return state: the caller is at its end too, so its own context completes.
pub(crate) const TAIL: u32 = u32::MAX;

/// In an entry of a block that is being interned: the rest of the word is a place in the block.
pub(crate) const INSIDE: u32 = 1 << 31;

/// One who waits: a return state (or [`TAIL`]) and the context to go on in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entry {
    pub(crate) state: u32,
    pub(crate) context: ContextId,
}

impl Hash for Entry {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.state) << 32 | u64::from(self.context.0));
    }
}

/// What completing a context leads to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Context {
    /// The end of the text.
    Root,
    /// The end of a local part.
    Local,
    /// Those who wait.
    List(EntryRange),
    /// A member of a left-recursive block: those who wait, and the block.
    Block { entries: EntryRange, first: ContextId },
    /// An iteration of a counted repeat; the parent waits for the repeat as a whole.
    Counter(Counter),
    /// Parts in any order, some of which were read; the parent waits for the whole.
    Open(Open),
}

/// A range of the entry pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct EntryRange {
    start: u32,
    end: u32,
}

impl EntryRange {
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// An open counted repeat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Counter {
    pub(crate) fragment: FragmentId,
    pub(crate) count: CountKind,
    pub(crate) parent: ContextId,
}

/// Where the number of finished iterations stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum CountKind {
    /// In this slot of the configuration.
    Slot(u8),
    /// Here.
    Exact(u32),
    /// Nowhere: the minimum is met and there is no maximum.
    Met,
}

/// An open call of parts in any order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Open {
    pub(crate) fragment: FragmentId,
    pub(crate) read: ReadId,
    pub(crate) parent: ContextId,
}

/// An interned [`Read`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ReadId(u32);

/// What is known of a context beside its content.
#[derive(Clone, Copy)]
struct Facts {
    /// Slots that the context and its ancestors count in.
    slots: SlotSet,
    /// Which repeats count in which slot; index into `counter_lists`.
    counters: u32,
}

/// Which repeats count in which slot, sorted.
type CounterList = Box<[(u8, FragmentId)]>;

/// Entries that tables have room for which every structure fills: the code that grows a table is fetched for each.
const FEW: usize = 7;

/// All contexts of an engine.
pub(crate) struct Contexts {
    contexts: Vec<Context>,
    facts: Vec<Facts>,
    entries: Vec<Entry>,
    /// Lists with the hashes of their entries.
    lists: HashTable<(u64, ContextId)>,
    counters: HashMap<Counter, ContextId>,
    opens: HashMap<Open, ContextId>,
    reads: Vec<Read>,
    read_ids: HashMap<Read, ReadId>,
    blocks: HashMap<Box<[u32]>, ContextId>,
    /// The empty list is the first, and not in `counter_list_ids`.
    counter_lists: Vec<CounterList>,
    counter_list_ids: HashMap<CounterList, u32>,
    bytes: usize,
}

impl Contexts {
    pub(crate) fn new() -> Self {
        Self {
            contexts: vec![Context::Root, Context::Local],
            facts: vec![Facts { slots: SlotSet::EMPTY, counters: 0 }; 2],
            entries: Vec::new(),
            lists: HashTable::with_capacity(FEW),
            counters: HashMap::with_capacity_and_hasher(FEW, Hashing),
            opens: HashMap::default(),
            reads: Vec::new(),
            read_ids: HashMap::default(),
            blocks: HashMap::default(),
            counter_list_ids: HashMap::with_capacity_and_hasher(FEW, Hashing),
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
        self.contexts[id.0 as usize]
    }

    pub(crate) fn entry(&self, index: usize) -> Entry {
        self.entries[index]
    }

    pub(crate) fn entries(&self, range: EntryRange) -> &[Entry] {
        &self.entries[range.range()]
    }

    /// The slots that a context and its ancestors count in.
    pub(crate) fn slots(&self, id: ContextId) -> SlotSet {
        self.facts[id.0 as usize].slots
    }

    /// Which repeats count in which slot, for a context and its ancestors.
    pub(crate) fn counters(&self, id: ContextId) -> &[(u8, FragmentId)] {
        &self.counter_lists[self.facts[id.0 as usize].counters as usize]
    }

    /// The context of those in `entries`, which must be sorted and without duplicates.
    pub(crate) fn list(&mut self, entries: &[Entry]) -> ContextId {
        if let [Entry { state: TAIL, context }] = *entries {
            return context;
        }
        let hash = hash_of(entries);
        let found = self.lists.find(hash, |&(other, id)| match self.contexts[id.0 as usize] {
            Context::List(range) if other == hash => self.entries[range.range()] == *entries,
            _ => false,
        });
        if let Some(&(_, id)) = found {
            return id;
        }
        let facts = self.join_facts(entries.iter().map(|entry| entry.context));
        let range = self.push_entries(entries.iter().copied());
        let id = self.push(Context::List(range), facts);
        self.lists.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        self.bytes += 2 * size_of::<(u64, ContextId)>();
        id
    }

    /// The context of an iteration of a repeat.
    pub(crate) fn counter(&mut self, counter: Counter) -> ContextId {
        if let Some(&id) = self.counters.get(&counter) {
            return id;
        }
        let mut facts = self.facts[counter.parent.0 as usize];
        if let CountKind::Slot(slot) = counter.count {
            facts.slots.insert(slot);
            let mut list = self.counter_lists[facts.counters as usize].to_vec();
            if let Err(place) = list.binary_search(&(slot, counter.fragment)) {
                list.insert(place, (slot, counter.fragment));
            }
            facts.counters = self.counter_list(list.into());
        }
        let id = self.push(Context::Counter(counter), facts);
        self.counters.insert(counter, id);
        self.bytes += 2 * size_of::<(Counter, ContextId)>();
        id
    }

    /// The context of an open call of parts in any order.
    pub(crate) fn open(&mut self, open: Open) -> ContextId {
        if let Some(&id) = self.opens.get(&open) {
            return id;
        }
        let facts = self.facts[open.parent.0 as usize];
        let id = self.push(Context::Open(open), facts);
        self.opens.insert(open, id);
        self.bytes += 2 * size_of::<(Open, ContextId)>();
        id
    }

    /// The number of what was read of parts in any order.
    pub(crate) fn read_id(&mut self, read: Read) -> ReadId {
        if let Some(&id) = self.read_ids.get(&read) {
            return id;
        }
        let id = ReadId(self.reads.len() as u32);
        self.bytes += 2 * read.bytes() + 16;
        self.reads.push(read.clone());
        self.read_ids.insert(read, id);
        id
    }

    pub(crate) fn read(&self, id: ReadId) -> &Read {
        &self.reads[id.0 as usize]
    }

    /// The context in which a call goes on, if the call may be made: a part in any order is read where it may be,
    /// and a separator where another part may follow. Other calls go on in the caller's context.
    pub(crate) fn after_call(
        &mut self,
        program: &Program,
        callee: FragmentId,
        caller: ContextId,
    ) -> Option<ContextId> {
        let role = &program.fragment(callee).role;
        if matches!(role, Role::None | Role::Permutation(_)) {
            return Some(caller);
        }
        // Only the whole calls its parts and its separator, and its items stand in such contexts.
        let Context::Open(open) = self.get(caller) else { return Some(caller) };
        let Role::Permutation(permutation) = &program.fragment(open.fragment).role else {
            return Some(caller);
        };
        let read = self.read(open.read);
        match *role {
            Role::Part(part) => {
                let read = read.with(permutation, part)?;
                let read = self.read_id(read);
                Some(self.open(Open { read, ..open }))
            }
            _ => read.may_go_on(permutation).then_some(caller),
        }
    }

    /// A left-recursive block: for each member its entries, sorted, in which a context with [`INSIDE`] set
    /// names a member. Returns the first member's context; the others follow it.
    pub(crate) fn block(&mut self, members: &[Vec<Entry>]) -> ContextId {
        let mut key = Vec::with_capacity(members.iter().map(|entries| 1 + 2 * entries.len()).sum());
        for entries in members {
            key.push(entries.len() as u32);
            key.extend(entries.iter().flat_map(|entry| [entry.state, entry.context.0]));
        }
        if let Some(&first) = self.blocks.get(key.as_slice()) {
            return first;
        }
        let outside: Vec<ContextId> = members
            .iter()
            .flatten()
            .map(|entry| entry.context)
            .filter(|context| context.0 & INSIDE == 0)
            .collect();
        let facts = self.join_facts(outside.into_iter());
        let first = ContextId(self.contexts.len() as u32);
        for entries in members {
            let resolved = entries.iter().map(|&Entry { state, context }| match context.0 & INSIDE {
                0 => Entry { state, context },
                _ => Entry { state, context: ContextId(first.0 + (context.0 & !INSIDE)) },
            });
            let range = self.push_entries(resolved);
            self.push(Context::Block { entries: range, first }, facts);
        }
        self.bytes += key.len() * size_of::<u32>() + 64;
        self.blocks.insert(key.into(), first);
        first
    }

    /// The members of the block that begins at `first`.
    pub(crate) fn block_len(&self, first: ContextId) -> usize {
        self.contexts[first.0 as usize..]
            .iter()
            .take_while(|context| matches!(context, Context::Block { first: own, .. } if *own == first))
            .count()
    }

    fn push(&mut self, context: Context, facts: Facts) -> ContextId {
        let id = ContextId(self.contexts.len() as u32);
        self.contexts.push(context);
        self.facts.push(facts);
        self.bytes += size_of::<Context>() + size_of::<Facts>();
        id
    }

    fn push_entries(&mut self, entries: impl Iterator<Item = Entry>) -> EntryRange {
        let start = self.entries.len() as u32;
        self.entries.extend(entries);
        let end = self.entries.len() as u32;
        self.bytes += (end - start) as usize * size_of::<Entry>();
        EntryRange { start, end }
    }

    fn join_facts(&mut self, contexts: impl Iterator<Item = ContextId>) -> Facts {
        let mut joined = Facts { slots: SlotSet::EMPTY, counters: 0 };
        let mut list: Vec<(u8, FragmentId)> = Vec::new();
        for context in contexts {
            let facts = self.facts[context.0 as usize];
            joined.slots = joined.slots.union(facts.slots);
            if facts.counters == joined.counters || facts.counters == 0 {
                continue;
            }
            if joined.counters == 0 && list.is_empty() {
                joined.counters = facts.counters;
                continue;
            }
            if list.is_empty() {
                list.extend_from_slice(&self.counter_lists[joined.counters as usize]);
            }
            list.extend_from_slice(&self.counter_lists[facts.counters as usize]);
        }
        if !list.is_empty() {
            list.sort_unstable();
            list.dedup();
            joined.counters = self.counter_list(list.into());
        }
        joined
    }

    fn counter_list(&mut self, list: CounterList) -> u32 {
        if list.is_empty() {
            return 0;
        }
        if let Some(&id) = self.counter_list_ids.get(&list) {
            return id;
        }
        let id = self.counter_lists.len() as u32;
        self.bytes += 2 * list.len() * size_of::<(u8, FragmentId)>() + 64;
        self.counter_lists.push(list.clone());
        self.counter_list_ids.insert(list, id);
        id
    }
}

const _: () = assert!(SLOTS <= 4, "slot sets and tags are packed for at most four slots");
