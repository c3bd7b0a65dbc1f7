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
//! Contexts nest as deep as a text or the rules of a grammar, so the search has a stack of its own.
//!
//! The search is bounded; giving up means "not subsumed", which costs speed and never exactness.

use std::ops::Range;

use grammask_fsm::{Count, Program};
use grammask_grammar_ir::hash::HashMap;
use smallvec::SmallVec;

use crate::tables::contexts::{Context, Contexts, CountKind, Counter, Entry, OpenPermutation};
use crate::tables::ids::{ContextId, ReturnState, TAIL, units};
use crate::tables::items::Item;

/// Pairs that one question may look at. Two positions of a left-recursive text are compared rule by rule.
const MAX_PAIRS: usize = 1 << 16;
/// Continuations that count as another pair. They are held until a pair is decided.
const ENTRIES_PER_PAIR: usize = 64;
/// Contexts of one state that are compared with one another; of more, the rest is kept as it is.
const MAX_GROUP: usize = 64;

/// Two contexts: whether the second one subsumes the first one.
type Pair = (ContextId, ContextId);

/// The answer about a pair, as far as there is one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Holds,
    /// It does not, or that could not be told within [`MAX_PAIRS`].
    Fails,
    /// It is taken to hold while the outermost pair is decided.
    Assumed,
}

/// Answers to questions of subsumption, kept for the life of the contexts.
#[derive(Default)]
pub(crate) struct Subsumption {
    known: HashMap<Pair, Known>,
    /// Those that are assumed.
    assumed: Vec<Pair>,
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
        self.known.capacity() * (size_of::<(Pair, Known)>() + 1)
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
        self.work += 1;
        if self.work > self.max_work {
            return false;
        }
        self.budget = MAX_PAIRS;
        let holds = self.decide(program, contexts, (small, big));
        // The outermost question holds, so all assumptions hold together: they are a simulation. Only now may
        // they be remembered as facts. Where it fails none is left.
        self.known.extend(self.assumed.drain(..).map(|pair| (pair, Known::Holds)));
        holds
    }

    /// Decides a pair, depth first.
    fn decide(&mut self, program: &Program, contexts: &Contexts, pair: Pair) -> bool {
        let mut stack: Vec<OpenPair> = Vec::new();
        let mut asked = pair;
        loop {
            let mut holds = match self.answer(asked) {
                Some(answer) => answer,
                None => {
                    let mut open = self.open(program, contexts, asked);
                    // Before the first continuation, all that were looked at have a cover.
                    let begins = !open.left.is_empty();
                    match open.next(contexts, begins) {
                        Next::Ask(question) => {
                            self.assumed.push(asked);
                            self.known.insert(asked, Known::Assumed);
                            stack.push(open);
                            asked = question;
                            continue;
                        }
                        Next::Decided(decided) => {
                            self.learn(asked, decided);
                            decided
                        }
                    }
                }
            };
            asked = loop {
                let Some(open) = stack.last_mut() else { return holds };
                match open.next(contexts, holds) {
                    Next::Ask(question) => break question,
                    Next::Decided(decided) => holds = decided,
                }
                if !holds {
                    // Assumptions that were made below this pair are void, and so is its own.
                    for void in self.assumed.drain(open.assumed..).skip(1) {
                        self.known.remove(&void);
                    }
                    self.learn(open.pair, false);
                }
                stack.pop();
            };
        }
    }

    /// The answer to a question that needs no search. "Not subsumed" is always a safe one: the item stays.
    fn answer(&mut self, (small, big): Pair) -> Option<bool> {
        if small == big {
            return Some(true);
        }
        self.work += 3;
        if self.work > self.max_work {
            return Some(false);
        }
        match self.known.get(&(small, big)) {
            // Coinduction: a pair that is met again inside its own decision may be assumed, because a
            // counterexample would have to be finite.
            Some(Known::Holds | Known::Assumed) => Some(true),
            Some(Known::Fails) => Some(false),
            None => (self.budget == 0).then_some(false),
        }
    }

    fn open(&mut self, program: &Program, contexts: &Contexts, pair: Pair) -> OpenPair {
        let (small, big) = pair;
        let mut completion = Completion::default();
        // Tail calls of `big` are followed first, because its continuations may be spread over several lists.
        // Each continuation of `small` then needs one that covers it.
        completion.collect(contexts, big);
        self.work += 12 + units(2 * completion.seen.len() + completion.entries.len() + completion.tails / 2);
        self.budget = self.budget.saturating_sub(1 + completion.entries.len() / ENTRIES_PER_PAIR);
        let mut open = OpenPair {
            pair,
            assumed: self.assumed.len(),
            completion,
            left: 0..0,
            wanted: small,
            candidates: SmallVec::new(),
        };
        let OpenPair { completion, candidates, .. } = &mut open;
        match contexts.get(small) {
            Context::Root => candidates.extend(completion.root.then_some(small)),
            Context::Local => candidates.extend(completion.local.then_some(small)),
            Context::Counter(counter) => {
                let covers = completion.counters.iter().filter(|&&other| covers(program, other, counter));
                candidates.extend(covers.map(|other| other.parent));
                open.wanted = counter.parent;
            }
            Context::Permutation(begun) => {
                let read = |open: &OpenPermutation| (open.fragment, open.subset);
                let is_equal = |other: &&OpenPermutation| read(other) == read(&begun);
                candidates.extend(completion.permutations.iter().filter(is_equal).map(|other| other.parent));
                open.wanted = begun.parent;
            }
            Context::List(range) | Context::Block { entries: range, .. } => {
                self.work += units(range.range().len() / 2);
                open.left = range.range();
            }
        }
        open
    }

    /// Remembers an answer that no assumption was needed for.
    fn learn(&mut self, pair: Pair, holds: bool) {
        // With the fuel gone a failure proves nothing, and the question may be asked again. With the budget gone it would
        // be searched in vain again.
        if !holds && self.work > self.max_work {
            self.known.remove(&pair);
        } else {
            self.known.insert(pair, if holds { Known::Holds } else { Known::Fails });
        }
    }
}

/// A pair that is being decided.
struct OpenPair {
    pair: Pair,
    /// How many pairs were assumed before it.
    assumed: usize,
    /// Everything that completing the second context leads to.
    completion: Completion,
    /// Continuations of the first context that were not looked at.
    left: Range<usize>,
    /// Where the first context goes on: one of the candidates must subsume this context, too.
    wanted: ContextId,
    /// Those that were not tried, the next one last.
    candidates: SmallVec<[ContextId; 4]>,
}

enum Next {
    Ask(Pair),
    Decided(bool),
}

impl OpenPair {
    /// Goes on after the answer to the last question.
    fn next(&mut self, contexts: &Contexts, holds: bool) -> Next {
        if holds {
            let Some(index) = self.left.next() else { return Next::Decided(true) };
            let Entry { state, context } = contexts.entry(index);
            self.wanted = context;
            self.candidates.clear();
            if state == TAIL {
                self.candidates.push(self.pair.1);
            } else {
                // Only a caller that returns to the same state can have the same continuations. Other
                // states might, but to compare automata here would cost more than it saves.
                self.candidates.extend(self.completion.at(state).iter().rev().map(|entry| entry.context));
            }
        }
        self.candidates.pop().map_or(Next::Decided(false), |candidate| Next::Ask((self.wanted, candidate)))
    }
}

/// Whether a count of a repeat covers another one of the same repeat, wherever they are.
fn covers(program: &Program, big: Counter, small: Counter) -> bool {
    if small.fragment != big.fragment {
        return false;
    }
    let count = program.fragment(small.fragment).counting();
    // Counts in slots are known only at run time, so they are compared by their kind: equal kinds in the
    // same slot are equal counts.
    match (small.count, big.count) {
        (small, big) if small == big => true,
        (CountKind::Exact(small), CountKind::Exact(big)) => {
            count.is_some_and(|count| count_covered(count, small, big))
        }
        _ => false,
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
