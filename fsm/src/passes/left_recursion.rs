//! Replaces counters that would have to count themselves.
//!
//! A counter belongs to one open repeat. If the body of a repeat can call the repeat again before it has read
//! a byte, one position opens repeats without end. Each has a count of its own, and no finite set of counters
//! holds them. Such repeats are rare (`r ::= "a" | r{5,700}`); they are written out with rules that double:
//! `P(k+1) = P(k) P(k)` reads 2^k times the body, and `U(k) = U(k-1) P(k-1)?` reads it 0 to 2^k - 1 times. A
//! bound of n takes O(log n) fragments and exactly the same language.

use grammask_grammar_ir::RuleId;

use crate::draft::automata::{Draft, DraftFragment, DraftRole, Label};
use crate::draft::ids::{DraftFragmentId, DraftStateId};
use crate::graph::components_of;
use crate::ids::{Grouped, Id, IdVec, ids};
use crate::passes::ids::PowerId;
use crate::passes::nullable::LeftCalls;
use crate::program::tables::Count;

/// Parts in any order can begin with themselves: the rule that they are called after.
#[derive(Debug)]
pub(crate) struct LeftRecursiveParts(pub(crate) Option<RuleId>);

/// Rewrites the repeats that lie on a cycle of left calls. Parts in any order that lie on one are not rewritten:
/// they are the error.
pub(crate) fn lower_left_recursive_counts(
    draft: &mut Draft,
    left_calls: LeftCalls,
) -> Result<(), LeftRecursiveParts> {
    let is_plain = |fragment: &DraftFragment| fragment.count.is_none() && fragment.role == DraftRole::None;
    if draft.fragments.iter().all(is_plain) {
        return Ok(());
    }
    // Mostly a repeat reads a byte before it calls anything, and parts in any order call fragments that do.
    let mut calls_first: IdVec<DraftFragmentId, bool> = IdVec::of(false, draft.fragments.len());
    left_calls.0.iter().for_each(|&(caller, _)| calls_first[caller] = true);
    let leads_nowhere = |&(caller, callee): &(DraftFragmentId, DraftFragmentId)| {
        !calls_first[callee] || is_plain(&draft.fragments[caller])
    };
    if left_calls.0.iter().all(leads_nowhere) {
        return Ok(());
    }
    let on_cycle = on_cycles(draft.fragments.len(), left_calls.0);
    for (fragment, _) in draft.fragments.iter().zip(on_cycle.iter()).filter(|(_, is_on_cycle)| **is_on_cycle)
    {
        if fragment.role != DraftRole::None {
            return Err(LeftRecursiveParts(fragment.rule));
        }
    }
    // Edges up to here are those of the grammar; the doubling below adds others.
    let old_edges = draft.edges.next_id();
    let mut replacement: IdVec<DraftFragmentId, Option<DraftFragmentId>> = IdVec::of(None, on_cycle.len());
    for (fragment, _) in on_cycle.entries().filter(|(_, is_on_cycle)| **is_on_cycle) {
        if let Some(count) = draft.fragments[fragment].count.take() {
            replacement[fragment] = Some(Doubling::new(draft, fragment).repeat(count));
        }
    }
    // The fragments added above call the bare body; the edges from before call the repeat.
    for edge in draft.edges.slice_mut(Id::FIRST..old_edges) {
        if let Some(callee) = edge.label.as_call()
            && let Some(repeat) = replacement[callee]
        {
            edge.label = Label::call(repeat);
        }
    }
    Ok(())
}

/// Which fragments can call themselves before they have read a byte.
pub(crate) fn on_cycles<I: Id>(count: usize, calls: Vec<(I, I)>) -> IdVec<I, bool> {
    let callees = Grouped::new(count, calls.into_iter());
    let successors = |caller: I| callees.of(caller);
    let mut on_cycle = IdVec::of(false, count);
    components_of(count, ids(count), successors, |members| {
        if members.len() > 1 || successors(members[0]).contains(&members[0]) {
            members.iter().for_each(|&member| on_cycle[member] = true);
        }
    });
    on_cycle
}

/// Fragments for powers of one body.
struct Doubling<'d> {
    draft: &'d mut Draft,
    /// The bare body.
    body: DraftFragmentId,
    /// `powers[k]` reads 2^k times the body.
    powers: IdVec<PowerId, DraftFragmentId>,
    /// `ranges[k]` reads 0 to 2^k - 1 times the body; the first is not used.
    ranges: IdVec<PowerId, DraftFragmentId>,
}

impl<'d> Doubling<'d> {
    fn new(draft: &'d mut Draft, body: DraftFragmentId) -> Self {
        Self { draft, body, powers: vec![body].into(), ranges: vec![body].into() }
    }

    /// A fragment that reads the body as often as `count` says.
    fn repeat(mut self, count: Count) -> DraftFragmentId {
        let mut calls: Vec<DraftFragmentId> = Vec::new();
        // The minimum in binary: one power for each bit that is set.
        for bit in (0..u32::BITS).filter(|bit| count.min >> bit & 1 == 1) {
            calls.push(self.power(PowerId::from_raw(bit)));
        }
        let mut rest = u64::from(count.max.unwrap_or(count.min).saturating_sub(count.min));
        while rest > 0 {
            // The largest range that fits, 2^bits - 1, and then the rest of the optional iterations. The sum
            // of the ranges is exactly their number, and each of them may be anything from 0.
            let bits = (rest + 1).ilog2();
            calls.push(self.range(PowerId::from_raw(bits)));
            rest -= (1 << bits) - 1;
        }
        let body_is_nullable = self.draft.fragments[self.body].nullable;
        let (fragment, start) = self.fragment(count.min == 0 || body_is_nullable);
        let end = calls.into_iter().fold(start, |from, callee| self.call(from, callee));
        self.draft.states[end].make_final();
        // Any number of further iterations, as a loop.
        if count.max.is_none() {
            let more = self.call(end, self.body);
            self.draft.epsilon(more, end);
        }
        fragment
    }

    fn power(&mut self, bit: PowerId) -> DraftFragmentId {
        while self.powers.next_id() <= bit {
            let half = self.powers[self.powers.next_id().minus(1)];
            let body_is_nullable = self.draft.fragments[self.body].nullable;
            let (fragment, start) = self.fragment(body_is_nullable);
            let middle = self.call(start, half);
            let end = self.call(middle, half);
            self.draft.states[end].make_final();
            self.powers.push(fragment);
        }
        self.powers[bit]
    }

    fn range(&mut self, bits: PowerId) -> DraftFragmentId {
        while self.ranges.next_id() <= bits {
            let bit = self.ranges.next_id().minus(1);
            let power = self.power(bit);
            let smaller = self.ranges[bit];
            let (fragment, start) = self.fragment(true);
            let middle = if bit == PowerId::FIRST { start } else { self.call(start, smaller) };
            let end = self.call(middle, power);
            // The power is optional: 0 to 2^k - 1 iterations, and then 2^k or none, are 0 to 2^(k+1) - 1.
            self.draft.epsilon(middle, end);
            self.draft.states[end].make_final();
            self.ranges.push(fragment);
        }
        self.ranges[bits]
    }

    fn fragment(&mut self, nullable: bool) -> (DraftFragmentId, DraftStateId) {
        let rule = self.draft.fragments[self.body].rule;
        let fragment = self.draft.fragment(rule, None);
        let entry = &mut self.draft.fragments[fragment];
        entry.nullable = nullable;
        (fragment, entry.start)
    }

    fn call(&mut self, from: DraftStateId, callee: DraftFragmentId) -> DraftStateId {
        let to = self.draft.state();
        self.draft.edge(from, Label::call(callee), to);
        to
    }
}
