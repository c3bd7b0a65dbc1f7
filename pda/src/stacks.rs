//! Interned lists of stacks, and the transitions between them.
//!
//! A configuration of the parser is a set of parallel stacks. It is interned as a sorted list, so that a
//! state is one number, and remembers which list each class of bytes led to. A text that takes a known way
//! reads tables, in any matcher and on any thread.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use grammask_fsm::{Program, StateId};
use grammask_grammar_ir::byte_set::{add_range, contains};
use grammask_grammar_ir::hash::hash_of;
use hashbrown::HashTable;

use crate::tree::NodeId;

/// A list of parallel stacks, by its number. It belongs to the engine that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State(pub(crate) ListId);

/// A stack: the state at its top, and what is below.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Stack {
    pub(crate) state: StateId,
    pub(crate) below: NodeId,
}

/// A transition that was not computed yet.
pub(crate) const UNKNOWN: u32 = 0;
/// No sentence goes on with the byte.
pub(crate) const DEAD: u32 = 1;
/// From here on: a list.
const FIRST_LIST: u32 = 2;
/// Most lists of one engine.
const MAX_LISTS: usize = ListId(u32::MAX - FIRST_LIST).index();

/// The number of a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ListId(u32);

impl ListId {
    pub(crate) const fn new(index: usize) -> Self {
        Self(index as u32)
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) const fn raw(self) -> u32 {
        self.0
    }
}

/// The entry of a transition to a list.
pub(crate) fn entry_of(list: ListId) -> u32 {
    list.0 + FIRST_LIST
}

/// The list of an entry that is neither [`UNKNOWN`] nor [`DEAD`].
pub(crate) fn list_of(entry: u32) -> ListId {
    ListId(entry - FIRST_LIST)
}

/// Whether the text or the rule of a local part may end at a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Acceptance {
    /// The text.
    pub(crate) complete: bool,
    /// The rule of a local part.
    pub(crate) local_complete: bool,
}

/// An interned list of stacks, as readers see it.
pub(crate) struct StackList {
    /// Sorted, each once.
    pub(crate) stacks: Box<[Stack]>,
    pub(crate) acceptance: Acceptance,
    /// The bytes that may be read next.
    pub(crate) next_bytes: [u64; 4],
    /// Where each class of bytes leads.
    pub(crate) row: Box<[AtomicU32]>,
    /// The list that represents this one in the names of masks, once it was asked for.
    pub(crate) representative: OnceLock<ListId>,
}

/// All lists. Read without a lock; written under the automaton's.
pub(crate) struct StackLists {
    lists: boxcar::Vec<StackList>,
}

impl StackLists {
    pub(crate) fn new() -> Self {
        Self { lists: boxcar::Vec::new() }
    }

    pub(crate) fn get(&self, id: ListId) -> &StackList {
        self.lists.get(id.index()).expect("ids are handed out after their list is written")
    }

    pub(crate) fn len(&self) -> usize {
        self.lists.count()
    }
}

/// Bytes that a list takes in the index, with room to spare.
const INDEX_BYTES: usize = 2 * size_of::<(u64, ListId)>();

/// The index that writers use, under the automaton's lock.
pub(crate) struct ListIndex {
    /// With its hash: to ask the list for it takes a look at memory far away.
    by_content: HashTable<(u64, ListId)>,
    bytes: usize,
}

impl ListIndex {
    pub(crate) fn new() -> Self {
        Self { by_content: HashTable::new(), bytes: 0 }
    }

    /// Bytes held by lists and rows.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The list of these stacks, which must be sorted. `None` where no id is left.
    pub(crate) fn intern(
        &mut self,
        lists: &StackLists,
        (program, representatives): (&Program, &[u8]),
        stacks: &[Stack],
        acceptance: Acceptance,
    ) -> Option<ListId> {
        // The list is the key and is stored once: the index has only its number.
        let hash = hash_of((stacks, acceptance));
        let found = self.by_content.find(hash, |&(known, id)| {
            let list = || lists.get(id);
            known == hash && list().acceptance == acceptance && *list().stacks == *stacks
        });
        if let Some(&(_, id)) = found {
            return Some(id);
        }
        let next = Some(lists.len()).filter(|&next| next < MAX_LISTS)?;
        let list = describe(program, representatives, stacks, acceptance);
        self.bytes += size_of::<StackList>() + size_of_val(stacks) + size_of_val(&*list.row) + INDEX_BYTES;
        // Only the holder of the engine's lock writes, so the list gets the number that was looked at.
        let index = lists.lists.push(list);
        debug_assert_eq!(index, next);
        let id = ListId::new(index);
        self.by_content.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        Some(id)
    }
}

fn describe(
    program: &Program,
    representatives: &[u8],
    stacks: &[Stack],
    acceptance: Acceptance,
) -> StackList {
    let mut next_bytes = [0u64; 4];
    for stack in stacks {
        for edge in program.state(stack.state).bytes {
            add_range(&mut next_bytes, edge.start, edge.end);
        }
    }
    let entry = |byte: u8| AtomicU32::new(if contains(&next_bytes, byte) { UNKNOWN } else { DEAD });
    let row = representatives.iter().copied().map(entry).collect();
    StackList { stacks: stacks.into(), acceptance, next_bytes, row, representative: OnceLock::new() }
}

impl StackList {
    /// Gives a transition that was just computed to the neighbouring classes of bytes that match the same edges.
    /// "Any other character" covers half of all classes.
    pub(crate) fn record(&self, program: &Program, representatives: &[u8], byte: u8, entry: u32) {
        let classes = program.byte_classes();
        // Release: a reader that sees the entry, by an Acquire load, sees the list that it names, too. Stores
        // are made under the writer's lock, so the Relaxed load below sees all of them.
        self.row[usize::from(classes.class(byte))].store(entry, Ordering::Release);
        let (mut low, mut high) = (0, u8::MAX);
        // Bytes that an edge reads which does not read this one.
        let mut others = [0u64; 4];
        for stack in &self.stacks {
            for edge in program.state(stack.state).bytes {
                if edge.start <= byte && byte <= edge.end {
                    // Between `low` and `high` every edge that reads this byte reads all of them. Those that
                    // another edge reads, too, lead elsewhere.
                    (low, high) = (low.max(edge.start), high.min(edge.end));
                } else {
                    add_range(&mut others, edge.start, edge.end);
                }
            }
        }
        for class in classes.class(low)..=classes.class(high) {
            let word = &self.row[usize::from(class)];
            let other = representatives[usize::from(class)];
            if word.load(Ordering::Relaxed) == UNKNOWN && !contains(&others, other) {
                word.store(entry, Ordering::Release);
            }
        }
    }
}
