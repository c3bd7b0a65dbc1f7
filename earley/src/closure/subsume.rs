//! Subsumption: contexts that add nothing beside another one.
//!
//! In an ambiguous grammar (`S ::= S S | "a"`) the number of ways in which a position was reached grows with
//! the text. Every way is a context of its own, though they all allow the same continuations. A context `a`
//! is *subsumed* by `b` if whatever can follow when `a` completes can follow when `b` completes. Of two items
//! with the same state the one with the subsumed context can go.
//!
//! Subsumption is decided by simulation: every entry of `a` must be matched by an entry of `b` with the same
//! return state and a context that subsumes it. Contexts refer to one another in cycles (left recursion), so a
//! pair that is being decided is taken to hold where it is met again: the greatest simulation. A pair that
//! fails under such optimism fails for good; pairs that hold are only known to once the outermost one does.
//!
//! The search is bounded; giving up means "not subsumed", which costs speed and never exactness.

use grammask_fsm::{Count, Program};
use grammask_grammar_ir::hash::HashMap;

use crate::tables::contexts::{Context, Contexts, CountKind, Counter, Entry, OpenPermutation};
use crate::tables::ids::{ContextId, ReturnState, TAIL, units};
use crate::tables::items::Item;

/// Pairs that one question may look at.
const MAX_PAIRS: usize = 512;
/// Depth of nesting that one question may look into.
const MAX_DEPTH: usize = 64;
/// Contexts of one state that are compared with one another; of more, the rest is kept as it is.
const MAX_GROUP: usize = 64;

/// Answers to questions of subsumption, kept for the life of the contexts.
#[derive(Default)]
pub(crate) struct Subsumption {
    known: HashMap<(ContextId, ContextId), bool>,
    /// Pairs taken to hold while the outermost one is decided.
    assumed: Vec<(ContextId, ContextId)>,
    budget: usize,
    /// Work done since [`begin`](Self::begin), in units of [`Fuel`](grammask_parser_backend::Fuel), and its
    /// limit; past the limit every answer is "not subsumed".
    work: u64,
    max_work: u64,
}

impl Subsumption {
    /// Begins to count work.
    pub(crate) fn begin(&mut self, max_work: u64) {
        self.work = 0;
        self.max_work = max_work;
    }

    /// Work done.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.known.capacity() * (size_of::<((ContextId, ContextId), bool)>() + 1)
    }

    /// Drops items whose context is subsumed by that of another item with the same state. The items are sorted
    /// and stay so.
    pub(crate) fn prune_items(&mut self, program: &Program, contexts: &Contexts, items: &mut Vec<Item>) {
        if items.windows(2).all(|pair| pair[0].state != pair[1].state) {
            return;
        }
        let groups = std::mem::take(items);
        for group in groups.chunk_by(|one, other| one.state == other.state) {
            let ids = group.iter().map(|item| item.context);
            let state = group[0].state;
            let kept = self.prune(program, contexts, ids);
            items.extend(kept.into_iter().map(|context| Item { state, context }));
        }
    }

    /// Drops entries whose context is subsumed by that of another entry with the same return state. The entries
    /// are sorted and stay so.
    pub(crate) fn prune_entries(&mut self, program: &Program, contexts: &Contexts, entries: &mut Vec<Entry>) {
        if entries.windows(2).all(|pair| pair[0].state != pair[1].state) {
            return;
        }
        let groups = std::mem::take(entries);
        for group in groups.chunk_by(|one, other| one.state == other.state) {
            let ids = group.iter().map(|entry| entry.context);
            let state = group[0].state;
            let kept = self.prune(program, contexts, ids);
            entries.extend(kept.into_iter().map(|context| Entry { state, context }));
        }
    }

    /// Those of sorted contexts that no other one subsumes, sorted.
    fn prune(
        &mut self,
        program: &Program,
        contexts: &Contexts,
        ids: impl ExactSizeIterator<Item = ContextId>,
    ) -> Vec<ContextId> {
        if ids.len() == 1 {
            return ids.collect();
        }
        let ids: Vec<ContextId> = ids.collect();
        if let Some(kept) = prune_counts(program, contexts, &ids) {
            self.work += units(ids.len()) / 4;
            return kept;
        }
        let mut kept: Vec<ContextId> = Vec::with_capacity(ids.len());
        for id in ids {
            // Comparing all pairs is quadratic. Past the limit the rest is kept, which is larger and still
            // exact.
            if kept.len() >= MAX_GROUP {
                kept.push(id);
                continue;
            }
            if kept.iter().any(|&other| self.subsumes(program, contexts, other, id)) {
                continue;
            }
            // The order matters for equal contexts only: of two that subsume each other, the first one stays.
            kept.retain(|&other| !self.subsumes(program, contexts, id, other));
            kept.push(id);
        }
        kept
    }

    /// Whether whatever can follow `small` can follow `big`.
    fn subsumes(&mut self, program: &Program, contexts: &Contexts, big: ContextId, small: ContextId) -> bool {
        self.assumed.clear();
        self.work += 1;
        if self.work > self.max_work {
            return false;
        }
        self.budget = MAX_PAIRS;
        let holds = self.decide(program, contexts, small, big, 0);
        // The outermost question holds, so all assumptions hold together: they are a simulation. Only now may
        // they be remembered as facts.
        if holds {
            let assumed = std::mem::take(&mut self.assumed);
            self.known.extend(assumed.into_iter().map(|pair| (pair, true)));
        }
        holds
    }

    fn decide(
        &mut self,
        program: &Program,
        contexts: &Contexts,
        small: ContextId,
        big: ContextId,
        depth: usize,
    ) -> bool {
        if small == big {
            return true;
        }
        // The search over all assumptions counts as work, and so does a miss of the cache.
        self.work += 3 + units(self.assumed.len()) / 32;
        if let Some(&known) = self.known.get(&(small, big)) {
            return known;
        }
        // Coinduction: a pair that is met again inside its own decision may be assumed, because a
        // counterexample would have to be finite.
        if self.assumed.contains(&(small, big)) {
            return true;
        }
        if self.work > self.max_work {
            self.budget = 0;
        }
        // "Not subsumed" is always a safe answer: the item stays.
        if self.budget == 0 || depth == MAX_DEPTH {
            return false;
        }
        self.budget -= 1;
        let assumed = self.assumed.len();
        self.assumed.push((small, big));
        let holds = self.simulates(program, contexts, small, big, depth + 1);
        if !holds {
            // Assumptions that were made below this pair are void.
            self.assumed.truncate(assumed);
            // With the budget gone, or too deep, a failure proves nothing.
            if self.budget > 0 && depth + 1 < MAX_DEPTH {
                self.known.insert((small, big), false);
            }
        }
        holds
    }

    fn simulates(
        &mut self,
        program: &Program,
        contexts: &Contexts,
        small: ContextId,
        big: ContextId,
        depth: usize,
    ) -> bool {
        let mut completion = Completion::default();
        // Tail calls of `big` are followed first, because its continuations may be spread over several lists.
        // Each continuation of `small` then needs one that covers it.
        completion.collect(contexts, big);
        self.work += 4 + units(2 * completion.seen.len() + (completion.entries.len() + completion.tails) / 2);
        match contexts.get(small) {
            Context::Root => completion.root,
            Context::Local => completion.local,
            Context::Counter(counter) => completion
                .counters
                .iter()
                .any(|other| self.counter_covered(program, contexts, counter, *other, depth)),
            Context::Permutation(open) => completion.permutations.iter().any(|other| {
                (open.fragment, open.subset) == (other.fragment, other.subset)
                    && self.decide(program, contexts, open.parent, other.parent, depth)
            }),
            Context::List(range) | Context::Block { entries: range, .. } => {
                self.work += units(range.range().len() / 2);
                range.range().all(|index| {
                    let Entry { state, context } = contexts.entry(index);
                    if state == TAIL {
                        return self.decide(program, contexts, context, big, depth);
                    }
                    // Only a caller that returns to the same state can have the same continuations. Other
                    // states might, but to compare automata here would cost more than it saves.
                    let others = completion.at(state);
                    others.iter().any(|other| self.decide(program, contexts, context, other.context, depth))
                })
            }
        }
    }

    fn counter_covered(
        &mut self,
        program: &Program,
        contexts: &Contexts,
        small: Counter,
        big: Counter,
        depth: usize,
    ) -> bool {
        if small.fragment != big.fragment {
            return false;
        }
        let count = program.fragment(small.fragment).counting();
        // Counts in slots are known only at run time, so they are compared by their kind: equal kinds in the
        // same slot are equal counts.
        let counts_covered = match (small.count, big.count) {
            (small, big) if small == big => true,
            (CountKind::Exact(small), CountKind::Exact(big)) => {
                count.is_some_and(|count| count_covered(count, small, big))
            }
            _ => false,
        };
        counts_covered && self.decide(program, contexts, small.parent, big.parent, depth)
    }
}

/// Whether every text that can follow `small` iterations of a repeat can follow `big` iterations, too.
fn count_covered(count: Count, small: u32, big: u32) -> bool {
    match count.max {
        // Fewer done: more can follow, and the repeat may end as soon.
        Some(_) => big <= small && big.saturating_add(1) >= count.min,
        None => big >= small,
    }
}

/// The result of [`Subsumption::prune`] for different counts of one repeat in one place, in one pass. A
/// search for a word of 162 letters anywhere in a text holds 162 of them in every set.
fn prune_counts(program: &Program, contexts: &Contexts, ids: &[ContextId]) -> Option<Vec<ContextId>> {
    let Context::Counter(first) = contexts.get(*ids.first()?) else { return None };
    let count = program.fragment(first.fragment).counting()?;
    // `None` for a count that is kept elsewhere: only itself subsumes it, and it subsumes nothing else.
    let mut done = Vec::with_capacity(ids.len());
    for &id in ids {
        match contexts.get(id) {
            Context::Counter(Counter { fragment, count, parent })
                if (fragment, parent) == (first.fragment, first.parent) =>
            {
                done.push(match count {
                    CountKind::Exact(done) => Some(done),
                    CountKind::Slot(_) | CountKind::Met => None,
                });
            }
            _ => return None,
        }
    }
    // One count, the best, subsumes every count that any other one subsumes.
    let known = done.iter().flatten().copied();
    let best = match count.max {
        Some(_) => known.filter(|done| done.saturating_add(1) >= count.min).min(),
        None => known.max(),
    };
    let goes = |done: u32| best.is_some_and(|best| done != best && count_covered(count, done, best));
    let kept = ids.iter().zip(done).filter(|&(_, done)| !done.is_some_and(goes));
    Some(kept.map(|(&id, _)| id).collect())
}

/// Everything that completing a context leads to, tail calls followed.
#[derive(Default)]
struct Completion {
    root: bool,
    local: bool,
    counters: Vec<Counter>,
    permutations: Vec<OpenPermutation>,
    entries: Vec<Entry>,
    seen: Vec<ContextId>,
    /// Tail calls met, to whatever was seen before, too.
    tails: usize,
}

impl Completion {
    fn collect(&mut self, contexts: &Contexts, from: ContextId) {
        let mut stack = vec![from];
        while let Some(id) = stack.pop() {
            self.tails += 1;
            // All of them are compared, which is faster than to stop at the one: where contexts form a block, most were
            // seen before.
            if self.seen.len() > MAX_GROUP
                || self.seen.iter().fold(false, |found, &seen| found | (seen == id))
            {
                continue;
            }
            self.seen.push(id);
            match contexts.get(id) {
                Context::Root => self.root = true,
                Context::Local => self.local = true,
                Context::Counter(counter) => self.counters.push(counter),
                Context::Permutation(open) => self.permutations.push(open),
                Context::List(range) | Context::Block { entries: range, .. } => {
                    for &entry in contexts.entries(range) {
                        match entry.state {
                            TAIL => stack.push(entry.context),
                            _ => self.entries.push(entry),
                        }
                    }
                }
            }
        }
        // Each list is sorted, but they follow one another.
        self.entries.sort_unstable();
    }

    /// The entries that go on at a state.
    fn at(&self, state: ReturnState) -> &[Entry] {
        let begin = self.entries.partition_point(|entry| entry.state < state);
        let len = self.entries[begin..].partition_point(|entry| entry.state == state);
        &self.entries[begin..][..len]
    }
}
