//! Prediction: the rules that are called from a set, and the contexts of their callers.

use std::cmp::Reverse;

use grammask_fsm::{CornerCall, FragmentId, Role};
use grammask_grammar_ir::hash::HashSet;

use super::set_closure::{Closure, Grammar, Phase};
use crate::tables::contexts::{Context, Contexts, CountKind, Counter, Entry, OpenPermutation};
use crate::tables::ids::{ContextId, ReturnState, SlotIndex, TAIL, units};
use crate::tables::items::Item;
use crate::tables::part_subset::PartSubset;
use crate::tables::slots::{SlotChange, SlotSet, Tag};

/// Context lists of at most this many entries are copied into the list of a tail call; longer ones are
/// referred to. 2 gives the same number of contexts as "always" with a third of the entries.
const MAX_FLATTENED: usize = 2;

impl Closure {
    /// Spreads items that have read nothing: they predict, and do not complete.
    pub(super) fn predict_items(&mut self, grammar: &Grammar<'_>, contexts: &mut Contexts) {
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
    pub(super) fn take_component(&mut self, component: u32) {
        self.component.clear();
        while let Some(&Reverse((order, fragment, target, context))) = self.callers.peek() {
            if order != component {
                break;
            }
            self.callers.pop();
            self.component.push((fragment, target, context));
        }
        // The heap yields callers sorted, so equal ones are neighbours.
        self.component.dedup();
    }

    /// Predicts the one fragment of a component without a cycle, for all its callers.
    pub(super) fn predict_fragment(&mut self, grammar: &Grammar<'_>, contexts: &mut Contexts) {
        let fragment_id = self.component[0].0;
        self.entries.clear();
        for &(_, target, context) in &self.component {
            push_flat(&mut self.entries, contexts, target, context);
        }
        self.visited += units(self.entries.len());
        // Sorted, without duplicates and without entries that others cover: equal lists of callers get the
        // same context, which is what makes sets at different positions equal.
        self.entries.sort_unstable();
        self.entries.dedup();
        self.subsumption.prune_entries(grammar.program, contexts, &mut self.entries);
        let parent = contexts.list(&self.entries);
        let fragment = grammar.program.fragment(fragment_id);
        let tag = self.inherited_tag(contexts.slots(parent));
        if let Role::Permutation(permutation) = &fragment.role {
            let subset = contexts.subset_id(PartSubset::empty(permutation));
            let open = OpenPermutation { fragment: fragment_id, subset, parent };
            let context = contexts.permutation(open);
            self.predicted.push((Item { state: fragment.start, context }, tag));
            return;
        }
        let Some(count) = fragment.counting() else {
            self.predicted.push((Item { state: fragment.start, context: parent }, tag));
            return;
        };
        // Only the empty text, which the caller has skipped.
        if count.max == Some(0) {
            return;
        }
        // A repeat without bounds needs no count. Another one counts in a free slot, or in its contexts if no
        // slot is free.
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
    pub(super) fn predict_cycle(
        &mut self,
        grammar: &Grammar<'_>,
        contexts: &mut Contexts,
        calls: &[CornerCall],
    ) {
        let mut members: Vec<FragmentId> = self.component.iter().map(|caller| caller.0).collect();
        members.dedup();
        // Fragments called from inside join. Calls are sorted by their caller.
        let mut is_member: HashSet<FragmentId> = members.iter().copied().collect();
        let mut next = 0;
        while let Some(&member) = members.get(next) {
            next += 1;
            let begin = calls.partition_point(|call| call.caller < member);
            let own = calls[begin..].iter().take_while(|call| call.caller == member);
            members.extend(own.map(|call| call.callee).filter(|&callee| is_member.insert(callee)));
        }
        members.sort_unstable();
        let mut lists: Vec<Vec<Entry>> = vec![Vec::new(); members.len()];
        // Callers from outside first. They are pruned before the inner calls join, because inner contexts
        // have no ids yet and cannot be compared.
        let mut slots = SlotSet::EMPTY;
        for &(fragment, target, context) in &self.component {
            if let Ok(place) = members.binary_search(&fragment) {
                slots = slots.union(contexts.slots(context));
                push_flat(&mut lists[place], contexts, target, context);
            }
        }
        self.visited += units(4 * calls.len() + lists.iter().map(Vec::len).sum::<usize>());
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
            self.subsumption.prune_entries(grammar.program, contexts, list);
        }
        for call in calls {
            let (Ok(caller), Ok(callee)) =
                (members.binary_search(&call.caller), members.binary_search(&call.callee))
            else {
                continue;
            };
            let tail = grammar.program.state(call.target).is_pure_final();
            let state = if tail { TAIL } else { ReturnState::new(call.target) };
            lists[callee].push(Entry { state, context: ContextId::in_block(caller) });
        }
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
        }
        // All contexts of the component are interned at once: entries refer to members by their place in the
        // block until it has an id.
        let first = contexts.block(&lists);
        let tag = self.inherited_tag(slots);
        for (place, &fragment) in members.iter().enumerate() {
            let state = grammar.program.fragment(fragment).start;
            let context = first.member(place);
            self.predicted.push((Item { state, context }, tag));
        }
    }

    /// The tag of items that begin now, in a context that uses these slots.
    fn inherited_tag(&self, slots: SlotSet) -> Tag {
        slots.iter().fold(Tag::KEEP, |tag, slot| tag.with(slot, self.slot_change(slot)))
    }

    /// A slot for a repeat that begins now: one in which nothing else counts, or only such that begin now too.
    fn free_slot(&self, used: SlotSet) -> Option<SlotIndex> {
        SlotIndex::all().find(|&slot| {
            let claimed = self.slot_changes[slot.index()];
            !used.contains(slot) && claimed.is_none_or(|change| change == SlotChange::Zero)
        })
    }
}

/// Adds a caller to a list; the callers of a tail call's own context take its place where they are few.
fn push_flat(entries: &mut Vec<Entry>, contexts: &Contexts, target: ReturnState, context: ContextId) {
    if target == TAIL
        && let Context::List(range) = contexts.get(context)
        && range.range().len() <= MAX_FLATTENED
    {
        entries.extend_from_slice(contexts.entries(range));
        return;
    }
    entries.push(Entry { state: target, context });
}
