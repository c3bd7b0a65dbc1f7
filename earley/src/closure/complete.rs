//! Completion: contexts whose rule has ended, and the items that return to their callers.

use grammask_fsm::{Role, StateId};

use super::set_closure::{Closure, Grammar};
use crate::tables::contexts::{Context, Contexts, CountKind, Counter};
use crate::tables::guards::Guard;
use crate::tables::ids::{ContextId, SLOTS, TAIL, units};
use crate::tables::items::Item;
use crate::tables::slots::{SlotChange, Tag};

impl Closure {
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

    /// Completes the contexts on the stack, and those that they lead to.
    pub(super) fn complete_contexts(
        &mut self,
        grammar: &Grammar<'_>,
        contexts: &mut Contexts,
        counts: &[u32; SLOTS],
    ) {
        while let Some((id, tag)) = self.completing.pop() {
            // A context is completed once for each set. A second completion with another history of counts
            // would need two changes of one slot.
            let tag = tag.restrict(contexts.slots(id));
            if let Some(known) = self.completed.insert(u64::from(id.raw()), tag) {
                self.conflict |= known != tag;
                continue;
            }
            match contexts.get(id) {
                Context::Root => self.complete = true,
                Context::Local => self.local_complete = true,
                Context::List(entries) | Context::Block { entries, .. } => {
                    self.visited += units(entries.range().len());
                    for index in entries.range() {
                        let caller = contexts.entry(index);
                        // A caller that has nothing left to read ends together with its callee.
                        if caller.state == TAIL {
                            self.completing.push((caller.context, tag));
                        } else if let Some(item) =
                            contexts.after_return(grammar.program, caller, &mut self.visited)
                        {
                            self.push_kernel_tagged(contexts, item, tag);
                        }
                    }
                }
                // The whole may end only if its required parts were read.
                Context::Permutation(open) => {
                    if let Role::Permutation(permutation) = &grammar.program.fragment(open.fragment).role
                        && contexts.subset(open.subset).may_end(permutation)
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
        let Some(count) = fragment.count else {
            // Measured text may end wherever its automaton does.
            return self.completing.push((counter.parent, tag));
        };
        let max = count.max.unwrap_or(u32::MAX);
        let done = counter.count.after_one_more(counts);
        let may_end = done >= count.min;
        let may_continue = count.max.is_none() || done < max;
        if let CountKind::Slot(slot) = counter.count {
            // The closure used the actual count. The guard records which answers it relied on, so that the
            // transition serves all counts with the same answers.
            let guard = Guard { slot, min: count.min, max, may_end, may_continue: done < max };
            self.asked.add(&guard);
        }
        if may_end {
            self.completing.push((counter.parent, tag));
        }
        if may_continue {
            // Past the minimum the count does not matter any more. Forgetting it makes the sets of all later
            // iterations equal.
            let (context, tag) = if may_end && count.max.is_none() {
                (contexts.counter(Counter { count: CountKind::Met, ..counter }), tag)
            } else {
                count_up(contexts, (id, counter), done, tag)
            };
            // The next iteration has read nothing, so it is predicted after all completions.
            self.restarts.push((Item { state: fragment.start, context }, tag));
        }
    }

    /// A character of measured text has ended: one of the edges is followed, by the count.
    pub(super) fn count_character(
        &mut self,
        grammar: &Grammar<'_>,
        contexts: &mut Contexts,
        counts: &[u32; SLOTS],
        (item, tag): (Item, Tag),
        edges: &[StateId],
    ) {
        let (Some(&next), Context::Counter(counter)) = (edges.first(), contexts.get(item.context)) else {
            return;
        };
        let Role::Measured(limit) = grammar.program.fragment(counter.fragment).role else { return };
        let done = counter.count.after_one_more(counts);
        let rest = edges.get(1);
        let may_continue = done < limit || rest.is_none();
        if let (CountKind::Slot(slot), Some(_)) = (counter.count, rest) {
            self.asked.add(&Guard { slot, min: 0, max: limit, may_end: true, may_continue });
        }
        let (state, (context, tag)) = match rest {
            // The rest is part of the same text, and counts no more.
            Some(&rest) if !may_continue => (rest, (counter.parent, tag)),
            _ => (next, count_up(contexts, (item.context, counter), done, tag)),
        };
        self.push_kernel_tagged(contexts, Item { state, context }, tag);
    }
}

/// The context and the history of counts after one more iteration or character.
fn count_up(
    contexts: &mut Contexts,
    (id, counter): (ContextId, Counter),
    done: u32,
    tag: Tag,
) -> (ContextId, Tag) {
    match counter.count {
        CountKind::Slot(slot) => (id, tag.with(slot, SlotChange::Increment)),
        CountKind::Exact(_) => (contexts.counter(Counter { count: CountKind::Exact(done), ..counter }), tag),
        CountKind::Met => (id, tag),
    }
}
