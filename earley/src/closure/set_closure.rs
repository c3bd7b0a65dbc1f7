//! Complete and predict: from the items after a byte to the set of items that can read the next byte.
//!
//! The naive way is Earley's: put items on a list, and for each completed one look back to where its rule
//! began. Four things differ here.
//!
//! * Contexts take the place of origins (see [`contexts`](crate::tables::contexts)), so completing is following a list.
//! * Completion comes first and prediction after it. Items that existed before the byte (the *kernel*)
//!   complete. Items that are predicted now have read nothing. So their completion is the skipping of a
//!   nullable call, which is known at compile time (Aycock and Horspool 2002, "Practical Earley Parsing").
//! * A fragment gets *one* context for all its callers in the set. Callers are therefore collected first and
//!   fragments taken in left-corner order ([`LeftCorners`]).
//! * A call that returns to a state with nothing left to read is a *tail call*: the callee gets the caller's
//!   context (Leo 1991's observation on right recursion). So right recursion does not deepen contexts.
//!
//! Counts of open repeats live in slots of the configuration. A closure runs with the actual counts in hand.
//! It records which questions it asked of them ([`CountRanges`]) and how it changed the slots, so that its
//! result serves every configuration with the same answers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use grammask_fsm::{FragmentId, LeftCorners, Program, State as FsmState};

use super::subsume::Subsumption;
use super::tag_map::TagMap;
use crate::tables::contexts::{Contexts, Entry};
use crate::tables::guards::CountRanges;
use crate::tables::ids::{ContextId, ROOT, ReturnState, SLOTS, SlotIndex, TAIL, units};
use crate::tables::items::Item;
use crate::tables::slots::{SlotChange, SlotSet, Tag};

/// A set's slots would have to hold two counts at once; the counts must move into the contexts first.
#[derive(Debug)]
pub(crate) struct SlotConflict;

/// One caller of a fragment, waiting for prediction. Ordered by the fragment's component.
type Caller = Reverse<(u32, FragmentId, ReturnState, ContextId)>;

/// A caller of one fragment: return state and context.
type FragmentCaller = (FragmentId, ReturnState, ContextId);

/// Byte edges that are read in the time of one other edge: they lie side by side.
const BYTE_EDGES_READ: usize = 8;

/// Work of a caller, which goes into a heap and out of it. In a heap of more than 2^12 callers each step between them
/// is a miss of the cache.
const CALLER_WORK: u64 = 3;

/// Scratch space and results of one closure. Kept and reused.
#[derive(Default)]
pub(crate) struct Closure {
    pub(super) kernel: Vec<(Item, Tag)>,
    pub(super) restarts: Vec<(Item, Tag)>,
    pub(super) predicted: Vec<(Item, Tag)>,
    pub(super) kernel_seen: TagMap,
    pub(super) predicted_seen: TagMap,
    pub(super) completing: Vec<(ContextId, Tag)>,
    pub(super) completed: TagMap,
    pub(super) callers: BinaryHeap<Caller>,
    pub(super) component: Vec<FragmentCaller>,
    pub(super) entries: Vec<Entry>,
    pub(super) subsumption: Subsumption,
    /// Entries and edges met, which do not all become items.
    pub(super) visited: u64,
    /// Work of the callers that were met.
    pub(super) called: u64,
    pub(super) slot_changes: [Option<SlotChange>; SLOTS],
    pub(super) conflict: bool,
    /// Whether the kernel is the result already.
    pub(super) is_plain: bool,
    /// Result: items that can read a byte or a token, sorted, each once.
    pub(crate) items: Vec<Item>,
    /// Result: whether the text so far is a sentence.
    pub(crate) complete: bool,
    /// Result: whether the rule of a local part may have ended.
    pub(crate) local_complete: bool,
    /// Result: the counts for which it is the same.
    pub(crate) asked: CountRanges,
}

/// The fixed parts that a closure works with.
pub(crate) struct Grammar<'e> {
    pub(crate) program: &'e Program,
    pub(crate) corners: &'e LeftCorners,
}

impl Closure {
    /// Begins a closure. Kernel items follow by [`push_kernel`](Self::push_kernel).
    pub(crate) fn begin(&mut self) {
        self.kernel.clear();
        self.restarts.clear();
        self.predicted.clear();
        self.kernel_seen.clear();
        self.predicted_seen.clear();
        self.completing.clear();
        self.completed.clear();
        self.callers.clear();
        self.visited = 0;
        self.called = 0;
        self.slot_changes = [None; SLOTS];
        self.conflict = false;
        self.is_plain = false;
        self.items.clear();
        self.complete = false;
        self.local_complete = false;
        self.asked = CountRanges::ALL;
    }

    /// Predicts the root.
    pub(crate) fn push_root(&mut self, grammar: &Grammar<'_>) {
        let root = grammar.program.root();
        self.complete |= grammar.program.fragment(root).call_is_nullable();
        self.callers.push(Reverse((grammar.program.left_corner_component(root), root, TAIL, ROOT)));
    }

    /// An item that was reached by reading a byte.
    pub(crate) fn push_kernel(&mut self, item: Item) {
        if self.kernel_seen.insert(item.key(), Tag::KEEP).is_none() {
            self.kernel.push((item, Tag::KEEP));
        }
    }

    /// The items that were pushed so far, as long as the closure has not run.
    pub(crate) fn kernel(&self) -> impl Iterator<Item = Item> + '_ {
        self.kernel.iter().map(|&(item, _)| item)
    }

    /// Whether no item that was pushed can do anything but read: the letters of names and constants, a third
    /// of all closures. The kernel is the result then, and the caller need not look for it anywhere else.
    pub(crate) fn is_plain(&mut self, program: &Program) -> bool {
        self.is_plain = self.callers.is_empty()
            && self.kernel.iter().all(|(item, tag)| *tag == Tag::KEEP && program.only_reads(item.state));
        self.is_plain
    }

    /// Work done: items, contexts and callers met, and comparisons of contexts. In a large closure an item or
    /// a context is a miss of the cache in the table of those that were met.
    pub(crate) fn work(&self) -> u64 {
        let met = self.kernel_seen.len() + self.predicted_seen.len() + self.completed.len();
        units(2 * met + self.items.len()) + self.called + self.visited / 2 + self.subsumption.work()
    }

    /// Bytes held from one closure to the next.
    pub(crate) fn bytes(&self) -> usize {
        self.subsumption.bytes()
    }

    /// The change of a slot that the resulting set uses.
    pub(crate) fn slot_change(&self, slot: SlotIndex) -> SlotChange {
        self.slot_changes[slot.index()].unwrap_or(SlotChange::Keep)
    }

    /// Runs the closure, with `counts` as the counts before the byte. Stops early where the set grows larger
    /// than `max_items` items, and where the [`work`](Self::work) is more than `max_work`.
    pub(crate) fn run(
        &mut self,
        grammar: &Grammar<'_>,
        contexts: &mut Contexts,
        counts: &[u32; SLOTS],
        max_items: usize,
        max_work: u64,
    ) -> Result<(), SlotConflict> {
        // The work of comparisons is bounded by itself, because it does not show in the number of items.
        self.subsumption.begin(max_work);
        if self.is_plain {
            self.items.extend(self.kernel.iter().map(|(item, _)| *item));
            self.items.sort_unstable();
            self.subsumption.prune_items(grammar.program, contexts, &mut self.items);
            return Ok(());
        }
        // Phase 1, completion. Items of the kernel spread over epsilon edges and nullable calls, and each
        // final state completes its context. Completed callers join the kernel, so this is a fixpoint. Calls
        // that are met are collected, and not predicted yet.
        while let Some((item, tag)) = self.kernel.pop() {
            let state = self.visit(grammar, contexts, item, tag, Phase::Kernel);
            if state.counts {
                self.count_character(grammar, contexts, counts, (item, tag), state.epsilons);
            }
            if state.is_final {
                self.completing.push((item.context, tag));
                self.complete_contexts(grammar, contexts, counts);
            }
            if self.too_large(max_items, max_work) {
                return Ok(());
            }
        }
        // Phase 2, prediction. A context is the list of all callers of its fragment in this set, so a
        // fragment is predicted when all its callers are known. That is component by component in the order
        // of the left-corner graph. Repeats that start another iteration have read nothing yet, so they
        // spread as predicted items.
        std::mem::swap(&mut self.restarts, &mut self.predicted);
        self.predict_items(grammar, contexts);
        while let Some(Reverse((component, ..))) = self.callers.peek() {
            let component = *component;
            self.take_component(component);
            match grammar.corners.cycle(component) {
                // A component without a cycle has one fragment, whose context is interned as a list. The
                // fragments of a cycle call one another, so their contexts are interned together.
                None => self.predict_fragment(grammar, contexts),
                Some(cycle) => self.predict_cycle(grammar, contexts, &cycle.calls),
            }
            self.predict_items(grammar, contexts);
            if self.too_large(max_items, max_work) {
                return Ok(());
            }
        }
        // The caller repeats the step with exact counts then.
        if self.conflict {
            return Err(SlotConflict);
        }
        self.items.sort_unstable();
        self.items.dedup();
        self.subsumption.prune_items(grammar.program, contexts, &mut self.items);
        Ok(())
    }

    fn too_large(&self, max_items: usize, max_work: u64) -> bool {
        self.size() > max_items || self.work() > max_work
    }

    /// The number of items that the bound on them counts. Those that cannot read are not in the set, but they are work: a
    /// bound on the set alone would let a chain of completions run for long. Four of them count as one.
    pub(crate) fn size(&self) -> usize {
        self.items.len().max(self.kernel_seen.len().div_ceil(4))
    }

    pub(super) fn push_kernel_tagged(&mut self, contexts: &Contexts, item: Item, tag: Tag) {
        // Slots that the context does not use are forgotten, so that histories that differ in them alone are
        // equal.
        let tag = tag.restrict(contexts.slots(item.context));
        match self.kernel_seen.insert(item.key(), tag) {
            None => self.kernel.push((item, tag)),
            Some(known) => self.conflict |= known != tag,
        }
    }

    /// Records an item, and follows the epsilon edges and calls of its state. Items of the kernel spread to kernel
    /// items, predicted ones to predicted ones.
    pub(super) fn visit<'p>(
        &mut self,
        grammar: &Grammar<'p>,
        contexts: &mut Contexts,
        item: Item,
        tag: Tag,
        phase: Phase,
    ) -> FsmState<'p> {
        let state = grammar.program.state(item.state);
        self.visited += units(state.epsilons.len() + state.calls.len() + state.bytes.len() / BYTE_EDGES_READ);
        let reads = !(state.bytes.is_empty() && state.tokens.is_empty());
        if reads {
            self.items.push(item);
        }
        // Only items that read, or whose context becomes a caller's, leave a trace in the set, so only they
        // must agree on the counts.
        if reads || !state.calls.is_empty() {
            self.claim_slots(contexts.slots(item.context), tag);
        }
        // The edges of a state that counts are followed by count.
        for &target in state.epsilons.iter().filter(|_| !state.counts) {
            self.spread(contexts, Item { state: target, ..item }, tag, phase);
        }
        for call in state.calls {
            let callee = grammar.program.fragment(call.fragment);
            let Some(target) = contexts.return_state(grammar.program, (call, callee), item.context) else {
                continue;
            };
            // Calls inside a left-recursive component are edges of its block of contexts, which knows them
            // already. Only calls from outside the component are its callers.
            let corner = phase == Phase::Predicted && grammar.corners.same_cycle(item.state, call.fragment);
            if !corner {
                let order = grammar.program.left_corner_component(call.fragment);
                self.callers.push(Reverse((order, call.fragment, target, item.context)));
                self.called += CALLER_WORK + u64::from(self.callers.len().ilog2().saturating_sub(12)) / 2;
            }
            // The call may read nothing, as no part in any order may. It is skipped here, and a fragment that was
            // just predicted is never completed in the same set.
            if callee.call_is_nullable() {
                self.spread(contexts, Item { state: call.target, ..item }, tag, phase);
            }
        }
        state
    }

    fn spread(&mut self, contexts: &Contexts, item: Item, tag: Tag, phase: Phase) {
        match phase {
            Phase::Kernel => self.push_kernel_tagged(contexts, item, tag),
            Phase::Predicted => self.predicted.push((item, tag)),
        }
    }

    /// All items that survive into the set must agree on the change of each slot.
    fn claim_slots(&mut self, slots: SlotSet, tag: Tag) {
        for slot in slots.iter() {
            let change = tag.get(slot);
            let claimed = self.slot_changes[slot.index()].get_or_insert(change);
            self.conflict |= *claimed != change;
        }
    }
}

/// Whether an item has read something (or is reached by completion), or begins now.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Kernel,
    Predicted,
}
