//! Complete and predict: from what a byte led to, to the set of items that can read the next byte.
//!
//! The naive way is Earley's: put items on a list, and for each completed one look back to where its rule
//! began. Four things differ here.
//!
//! * Contexts take the place of origins (see [`context`](crate::context)), so completing is following a list.
//! * Completion comes first and prediction after it. Items that existed before the byte (the *kernel*)
//!   complete; items that are predicted now have read nothing, so their completion is the skipping of a
//!   nullable call, which is known at compile time (Aycock and Horspool 2002, "Practical Earley Parsing").
//! * A fragment gets *one* context for all its callers in the set. Callers are therefore collected first and
//!   fragments taken in left-corner order ([`LeftCorners`]).
//! * A call that returns to a state without a way on is a *tail call*: the callee gets the caller's context
//!   (Leo 1991's observation on right recursion), so right recursion does not deepen contexts.
//!
//! Counts of open repeats live in slots of the configuration. A closure runs with the actual counts in hand;
//! it records which questions it asked of them ([`Guard`]s) and what it did to the slots, so that its result
//! serves every configuration that answers the questions alike.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

use grammask_fsm::{CornerCall, FragmentId, LeftCorners, Program, Role, State as FsmState, StateId};

use crate::context::{Context, ContextId, Contexts, CountKind, Counter, Entry, INSIDE, Open, ROOT, TAIL};
use crate::permutation::Read;
use crate::seen::Seen;
use crate::slots::{SLOTS, SlotChange, SlotSet, Tag};
use crate::subsume::Coverings;

/// A state of an automaton and the context that it ends in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Item {
    pub(crate) state: StateId,
    pub(crate) context: ContextId,
}

/// Sets are looked up by their items: one number each is mixed in half the time of two.
impl Hash for Item {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.key());
    }
}

impl Item {
    fn key(self) -> u64 {
        u64::from(self.state.raw()) << 32 | u64::from(self.context.0)
    }
}

/// A question that was asked of a count, and its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Guard {
    pub(crate) slot: u8,
    /// Least number of iterations.
    pub(crate) min: u32,
    /// Greatest number of iterations, `u32::MAX` for any.
    pub(crate) max: u32,
    /// With one more iteration: is the minimum met?
    pub(crate) may_end: bool,
    /// With one more iteration: is another one possible?
    pub(crate) may_go_on: bool,
}

impl Guard {
    /// The least and the greatest count for which the answers are these.
    pub(crate) fn counts(&self) -> (u32, u32) {
        // The guard compares the count after one more iteration.
        let enough = self.min.saturating_sub(1);
        let full = self.max.saturating_sub(1);
        let (mut low, mut high) = (0, u32::MAX);
        if self.may_end {
            low = enough;
        } else {
            high = enough.saturating_sub(1);
        }
        if self.may_go_on {
            high = high.min(full.saturating_sub(1));
        } else {
            low = low.max(full);
        }
        (low, high)
    }
}

/// A set's slots would have to hold two counts at once; the counts must move into the contexts first.
#[derive(Debug)]
pub(crate) struct SlotConflict;

/// One caller of a fragment, waiting for prediction. Ordered by the fragment's component.
type Caller = Reverse<(u32, FragmentId, u32, ContextId)>;

/// A caller of one fragment: return state (or [`TAIL`], or a place with [`INSIDE`]) and context.
type FragmentCaller = (FragmentId, u32, ContextId);

/// Context lists of at most this many entries are copied into the list of a tail call; longer ones are
/// referred to. 2 gives the same number of contexts as "always" with a third of the entries.
const FLATTEN: usize = 2;

/// Scratch space and results of one closure. Kept and reused.
#[derive(Default)]
pub(crate) struct Closure {
    kernel: Vec<(Item, Tag)>,
    fresh: Vec<(Item, Tag)>,
    predicted: Vec<(Item, Tag)>,
    kernel_seen: Seen,
    predicted_seen: Seen,
    completing: Vec<(ContextId, Tag)>,
    completed: Seen,
    callers: BinaryHeap<Caller>,
    component: Vec<FragmentCaller>,
    entries: Vec<Entry>,
    coverings: Coverings,
    /// Entries, edges and callers met, which do not all become items.
    met: u64,
    slot_changes: [Option<SlotChange>; SLOTS],
    conflict: bool,
    /// Whether the kernel is the result already.
    is_plain: bool,
    /// Result: items that can read a byte or a token, sorted, each once.
    pub(crate) items: Vec<Item>,
    /// Result: whether what was read is a sentence.
    pub(crate) complete: bool,
    /// Result: whether the rule of a local part may have ended.
    pub(crate) leaves: bool,
    /// Result: what the result depends on.
    pub(crate) guards: Vec<Guard>,
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
        self.fresh.clear();
        self.predicted.clear();
        self.kernel_seen.clear();
        self.predicted_seen.clear();
        self.completing.clear();
        self.completed.clear();
        self.callers.clear();
        self.met = 0;
        self.slot_changes = [None; SLOTS];
        self.conflict = false;
        self.is_plain = false;
        self.items.clear();
        self.complete = false;
        self.leaves = false;
        self.guards.clear();
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

    /// Whether nothing but reading goes on from any item that was pushed: the letters of names and constants, a third of
    /// all closures. The kernel is the result then, and who asks need not look for it anywhere else.
    pub(crate) fn is_plain(&mut self, program: &Program) -> bool {
        self.is_plain = self.callers.is_empty()
            && self.kernel.iter().all(|(item, tag)| *tag == Tag::KEEP && program.only_reads(item.state));
        self.is_plain
    }

    /// A context that completes now, before anything else happens.
    pub(crate) fn push_completion(
        &mut self,
        grammar: &Grammar<'_>,
        contexts: &mut Contexts,
        counts: &[u32; SLOTS],
        context: ContextId,
    ) {
        self.completing.push((context, Tag::KEEP));
        self.complete_contexts(grammar, contexts, counts);
    }

    /// Work done: items, contexts and callers met, and comparisons of contexts.
    pub(crate) fn work(&self) -> u64 {
        let items = self.kernel_seen.len() + self.predicted_seen.len() + self.items.len();
        items as u64 + self.met / 2 + self.coverings.work()
    }

    /// Bytes held by what is kept from one closure to the next.
    pub(crate) fn bytes(&self) -> usize {
        self.coverings.bytes()
    }

    /// What happened to a slot that the resulting set uses.
    pub(crate) fn slot_change(&self, slot: u8) -> SlotChange {
        self.slot_changes[usize::from(slot)].unwrap_or(SlotChange::Keep)
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
        self.coverings.begin(max_work);
        if self.is_plain {
            self.items.extend(self.kernel.iter().map(|(item, _)| *item));
            self.items.sort_unstable();
            self.coverings.prune_items(grammar.program, contexts, &mut self.items);
            return Ok(());
        }
        while let Some((item, tag)) = self.kernel.pop() {
            let state = self.visit(grammar, contexts, item, tag, Phase::Kernel);
            if state.is_final {
                self.completing.push((item.context, tag));
                self.complete_contexts(grammar, contexts, counts);
            }
            if self.too_large(max_items, max_work) {
                return Ok(());
            }
        }
        std::mem::swap(&mut self.fresh, &mut self.predicted);
        self.predict_items(grammar, contexts);
        while let Some(Reverse((component, ..))) = self.callers.peek() {
            let component = *component;
            self.take_component(component);
            match grammar.corners.cycle(component) {
                None => self.predict_fragment(grammar, contexts),
                Some(cycle) => self.predict_cycle(grammar, contexts, &cycle.calls),
            }
            self.predict_items(grammar, contexts);
            if self.too_large(max_items, max_work) {
                return Ok(());
            }
        }
        if self.conflict {
            return Err(SlotConflict);
        }
        self.items.sort_unstable();
        self.items.dedup();
        self.coverings.prune_items(grammar.program, contexts, &mut self.items);
        Ok(())
    }

    fn too_large(&self, max_items: usize, max_work: u64) -> bool {
        self.items.len() > max_items || self.kernel_seen.len() > 4 * max_items || self.work() > max_work
    }

    fn push_kernel_tagged(&mut self, contexts: &Contexts, item: Item, tag: Tag) {
        let tag = tag.restrict(contexts.slots(item.context));
        match self.kernel_seen.insert(item.key(), tag) {
            None => self.kernel.push((item, tag)),
            Some(known) => self.conflict |= known != tag,
        }
    }

    /// Records what an item's state offers. Items of the kernel spread to kernel items, predicted ones to
    /// predicted ones.
    fn visit<'p>(
        &mut self,
        grammar: &Grammar<'p>,
        contexts: &mut Contexts,
        item: Item,
        tag: Tag,
        phase: Phase,
    ) -> FsmState<'p> {
        let state = grammar.program.state(item.state);
        self.met += (state.epsilons.len() + state.calls.len()) as u64;
        let reads = !(state.bytes.is_empty() && state.tokens.is_empty());
        if reads {
            self.items.push(item);
        }
        if reads || !state.calls.is_empty() {
            self.claim_slots(contexts.slots(item.context), tag);
        }
        for &target in state.epsilons {
            self.spread(contexts, Item { state: target, ..item }, tag, phase);
        }
        for call in state.calls {
            let Some(context) = contexts.after_call(grammar.program, call.fragment, item.context) else {
                continue;
            };
            let corner = phase == Phase::Predicted && grammar.corners.same_cycle(item.state, call.fragment);
            if !corner {
                let tail = grammar.program.state(call.target).is_pure_final();
                let target = if tail { TAIL } else { call.target.raw() };
                let order = grammar.program.left_corner_component(call.fragment);
                self.callers.push(Reverse((order, call.fragment, target, context)));
            }
            if grammar.program.fragment(call.fragment).call_is_nullable() {
                self.spread(contexts, Item { state: call.target, context }, tag, phase);
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

    /// All that survives into the set must agree on what happened to each slot.
    fn claim_slots(&mut self, slots: SlotSet, tag: Tag) {
        for slot in slots.iter() {
            let change = tag.get(slot);
            let claimed = self.slot_changes[usize::from(slot)].get_or_insert(change);
            self.conflict |= *claimed != change;
        }
    }

    /// Completes the contexts on the stack, and those that they lead to.
    fn complete_contexts(&mut self, grammar: &Grammar<'_>, contexts: &mut Contexts, counts: &[u32; SLOTS]) {
        while let Some((id, tag)) = self.completing.pop() {
            let tag = tag.restrict(contexts.slots(id));
            if let Some(known) = self.completed.insert(u64::from(id.0), tag) {
                self.conflict |= known != tag;
                continue;
            }
            match contexts.get(id) {
                Context::Root => self.complete = true,
                Context::Local => self.leaves = true,
                Context::List(entries) | Context::Block { entries, .. } => {
                    self.met += entries.range().len() as u64;
                    for index in entries.range() {
                        let Entry { state, context } = contexts.entry(index);
                        match state {
                            TAIL => self.completing.push((context, tag)),
                            _ => self.push_kernel_tagged(contexts, item(state, context), tag),
                        }
                    }
                }
                Context::Open(open) => {
                    if let Role::Permutation(permutation) = &grammar.program.fragment(open.fragment).role
                        && contexts.read(open.read).may_end(permutation)
                    {
                        self.completing.push((open.parent, tag));
                    }
                }
                Context::Counter(counter) => {
                    self.complete_iteration(grammar, contexts, counts, (id, counter), tag);
                }
            }
        }
    }

    /// One iteration of a repeat is over: the repeat ends, goes on, or both.
    fn complete_iteration(
        &mut self,
        grammar: &Grammar<'_>,
        contexts: &mut Contexts,
        counts: &[u32; SLOTS],
        (id, counter): (ContextId, Counter),
        tag: Tag,
    ) {
        let fragment = grammar.program.fragment(counter.fragment);
        let Some(count) = fragment.count else { return };
        let max = count.max.unwrap_or(u32::MAX);
        let done = match counter.count {
            CountKind::Slot(slot) => counts[usize::from(slot)].saturating_add(1),
            CountKind::Exact(done) => done.saturating_add(1),
            CountKind::Met => u32::MAX,
        };
        let may_end = done >= count.min;
        let may_go_on = count.max.is_none() || done < max;
        if let CountKind::Slot(slot) = counter.count {
            let guard = Guard { slot, min: count.min, max, may_end, may_go_on: done < max };
            if !self.guards.contains(&guard) {
                self.guards.push(guard);
            }
        }
        if may_end {
            self.completing.push((counter.parent, tag));
        }
        if may_go_on {
            let (context, tag) = match counter.count {
                _ if may_end && count.max.is_none() => {
                    (contexts.counter(Counter { count: CountKind::Met, ..counter }), tag)
                }
                CountKind::Slot(slot) => (id, tag.with(slot, SlotChange::Increment)),
                CountKind::Exact(_) => {
                    (contexts.counter(Counter { count: CountKind::Exact(done), ..counter }), tag)
                }
                CountKind::Met => (id, tag),
            };
            self.fresh.push((Item { state: fragment.start, context }, tag));
        }
    }

    /// Spreads items that have read nothing: they predict, and do not complete.
    fn predict_items(&mut self, grammar: &Grammar<'_>, contexts: &mut Contexts) {
        while let Some((item, tag)) = self.predicted.pop() {
            match self.predicted_seen.insert(item.key(), tag) {
                None => {
                    self.visit(grammar, contexts, item, tag, Phase::Predicted);
                }
                Some(known) => self.conflict |= known != tag,
            }
        }
    }

    /// Takes the callers of one component off the heap.
    fn take_component(&mut self, component: u32) {
        self.component.clear();
        while let Some(&Reverse((order, fragment, target, context))) = self.callers.peek() {
            if order != component {
                break;
            }
            self.callers.pop();
            self.component.push((fragment, target, context));
        }
        self.component.dedup();
    }

    /// Predicts the one fragment of a component without a cycle, for all its callers.
    fn predict_fragment(&mut self, grammar: &Grammar<'_>, contexts: &mut Contexts) {
        let fragment_id = self.component[0].0;
        self.entries.clear();
        for &(_, target, context) in &self.component {
            push_flat(&mut self.entries, contexts, target, context);
        }
        self.met += self.entries.len() as u64;
        self.entries.sort_unstable();
        self.entries.dedup();
        self.coverings.prune_entries(grammar.program, contexts, &mut self.entries);
        let parent = contexts.list(&self.entries);
        let fragment = grammar.program.fragment(fragment_id);
        let tag = self.inherited_tag(contexts.slots(parent));
        if let Role::Permutation(permutation) = &fragment.role {
            let read = contexts.read_id(Read::nothing(permutation));
            let context = contexts.open(Open { fragment: fragment_id, read, parent });
            self.predicted.push((Item { state: fragment.start, context }, tag));
            return;
        }
        let Some(count) = fragment.count else {
            self.predicted.push((Item { state: fragment.start, context: parent }, tag));
            return;
        };
        if count.max == Some(0) {
            return;
        }
        let (kind, tag) = if count.min == 0 && count.max.is_none() {
            (CountKind::Met, tag)
        } else {
            match self.free_slot(contexts.slots(parent)) {
                Some(slot) => (CountKind::Slot(slot), tag.with(slot, SlotChange::Zero)),
                None => (CountKind::Exact(0), tag),
            }
        };
        let context = contexts.counter(Counter { fragment: fragment_id, count: kind, parent });
        self.predicted.push((Item { state: fragment.start, context }, tag));
    }

    /// Predicts a left-recursive component: those of its fragments that are called, from outside or by one
    /// another, with contexts that name one another.
    fn predict_cycle(&mut self, grammar: &Grammar<'_>, contexts: &mut Contexts, calls: &[CornerCall]) {
        let mut members: Vec<FragmentId> = self.component.iter().map(|caller| caller.0).collect();
        members.dedup();
        // Fragments called from inside join until no more do. Components are small.
        loop {
            let before = members.len();
            for call in calls {
                if members.contains(&call.caller) && !members.contains(&call.callee) {
                    members.push(call.callee);
                }
            }
            if members.len() == before {
                break;
            }
        }
        members.sort_unstable();
        members.dedup();
        let mut lists: Vec<Vec<Entry>> = vec![Vec::new(); members.len()];
        let mut slots = SlotSet::EMPTY;
        for &(fragment, target, context) in &self.component {
            if let Ok(place) = members.binary_search(&fragment) {
                slots = slots.union(contexts.slots(context));
                push_flat(&mut lists[place], contexts, target, context);
            }
        }
        self.met += (calls.len() + lists.iter().map(Vec::len).sum::<usize>()) as u64;
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
            self.coverings.prune_entries(grammar.program, contexts, list);
        }
        for call in calls {
            let (Ok(caller), Ok(callee)) =
                (members.binary_search(&call.caller), members.binary_search(&call.callee))
            else {
                continue;
            };
            let tail = grammar.program.state(call.target).is_pure_final();
            let state = if tail { TAIL } else { call.target.raw() };
            lists[callee].push(Entry { state, context: ContextId(INSIDE | caller as u32) });
        }
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
        }
        let first = contexts.block(&lists);
        let tag = self.inherited_tag(slots);
        for (place, &fragment) in members.iter().enumerate() {
            let state = grammar.program.fragment(fragment).start;
            let context = ContextId(first.0 + place as u32);
            self.predicted.push((Item { state, context }, tag));
        }
    }

    /// The tag of items that begin now, in a context that uses these slots.
    fn inherited_tag(&self, slots: SlotSet) -> Tag {
        slots.iter().fold(Tag::KEEP, |tag, slot| tag.with(slot, self.slot_change(slot)))
    }

    /// A slot for a repeat that begins now: one in which nothing else counts, or only such that begin now too.
    fn free_slot(&self, used: SlotSet) -> Option<u8> {
        (0..SLOTS as u8).find(|&slot| {
            let claimed = self.slot_changes[usize::from(slot)];
            !used.contains(slot) && claimed.is_none_or(|change| change == SlotChange::Zero)
        })
    }
}

/// Whether an item has read something (or is reached by completion), or begins now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Kernel,
    Predicted,
}

fn item(state: u32, context: ContextId) -> Item {
    let state = StateId::new(state as usize).expect("entries hold states of the program");
    Item { state, context }
}

/// Adds a caller to a list; the callers of a tail call's own context take its place where they are few.
fn push_flat(entries: &mut Vec<Entry>, contexts: &Contexts, target: u32, context: ContextId) {
    if target == TAIL
        && let Context::List(range) = contexts.get(context)
        && range.range().len() <= FLATTEN
    {
        entries.extend_from_slice(contexts.entries(range));
        return;
    }
    entries.push(Entry { state: target, context });
}
