//! Replaces counters that would have to count themselves.
//!
//! A counter belongs to one open repeat. If the body of a repeat can call the repeat again before it has read
//! a byte, one position opens repeats without end, each with a count of its own, and no finite set of
//! counters holds them. Such repeats are rare (`r ::= "a" | r{5,700}`); they are written out with rules that
//! double: `P(k+1) = P(k) P(k)` reads 2^k times the body, and `U(k) = U(k-1) P(k-1)?` reads it 0 to
//! 2^k - 1 times. A bound of n takes O(log n) fragments and exactly the same language.

use crate::draft::automata::{Draft, DraftFragment, DraftRole, Label};
use crate::graph::components;
use crate::passes::nullable::LeftCalls;
use crate::program::tables::Count;

/// Rewrites the repeats that lie on a cycle of left calls. Parts in any order that lie on one are not rewritten:
/// their rule is returned.
pub(crate) fn lower_left_recursive_counts(draft: &mut Draft, left_calls: LeftCalls) -> Option<u32> {
    let is_plain = |fragment: &DraftFragment| fragment.count.is_none() && fragment.role == DraftRole::None;
    if draft.fragments.iter().all(is_plain) {
        return None;
    }
    // Mostly a repeat reads a byte before it calls anything, and parts in any order call what does.
    let mut calls_first = vec![false; draft.fragments.len()];
    left_calls.0.iter().for_each(|&(caller, _)| calls_first[caller as usize] = true);
    let leads_nowhere = |&(caller, callee): &(u32, u32)| {
        !calls_first[callee as usize] || is_plain(&draft.fragments[caller as usize])
    };
    if left_calls.0.iter().all(leads_nowhere) {
        return None;
    }
    let on_cycle = on_cycles(draft.fragments.len(), left_calls);
    for (fragment, _) in draft.fragments.iter().zip(&on_cycle).filter(|(_, is_on_cycle)| **is_on_cycle) {
        if fragment.role != DraftRole::None {
            return Some(fragment.rule);
        }
    }
    let old_edges = draft.edges.len();
    let mut replacement: Vec<Option<u32>> = vec![None; on_cycle.len()];
    for (fragment, _) in on_cycle.iter().enumerate().filter(|(_, is_on_cycle)| **is_on_cycle) {
        if let Some(count) = draft.fragments[fragment].count.take() {
            replacement[fragment] = Some(Doubling::new(draft, fragment as u32).repeat(count));
        }
    }
    // The fragments added above call the bare body; what was there before calls the repeat.
    for edge in &mut draft.edges[..old_edges] {
        if let Some(callee) = edge.label.as_call()
            && let Some(repeat) = replacement[callee as usize]
        {
            edge.label = Label::call(repeat);
        }
    }
    None
}

/// Which fragments can call themselves before they have read a byte.
pub(crate) fn on_cycles(count: usize, LeftCalls(calls): LeftCalls) -> Vec<bool> {
    // The callees of each caller side by side, and where each caller's begin: calls are counted, not sorted.
    let mut rows = vec![0u32; count + 2];
    calls.iter().for_each(|&(caller, _)| rows[caller as usize + 2] += 1);
    for caller in 2..rows.len() {
        rows[caller] += rows[caller - 1];
    }
    let mut targets = vec![0; calls.len()];
    for (caller, callee) in calls {
        let place = &mut rows[caller as usize + 1];
        targets[*place as usize] = callee;
        *place += 1;
    }
    let successors =
        |caller: u32| &targets[rows[caller as usize] as usize..rows[caller as usize + 1] as usize];
    let mut on_cycle = vec![false; count];
    components(count, 0..count as u32, successors, |members| {
        if members.len() > 1 || successors(members[0]).contains(&members[0]) {
            members.iter().for_each(|&member| on_cycle[member as usize] = true);
        }
    });
    on_cycle
}

/// Fragments for powers of one body.
struct Doubling<'d> {
    draft: &'d mut Draft,
    /// The bare body.
    body: u32,
    /// `powers[k]` reads 2^k times the body.
    powers: Vec<u32>,
    /// `ranges[k]` reads 0 to 2^k - 1 times the body; the first is not used.
    ranges: Vec<u32>,
}

impl<'d> Doubling<'d> {
    fn new(draft: &'d mut Draft, body: u32) -> Self {
        Self { draft, body, powers: vec![body], ranges: vec![body] }
    }

    /// A fragment that reads the body as often as `count` says.
    fn repeat(mut self, count: Count) -> u32 {
        let mut calls: Vec<u32> = Vec::new();
        for bit in (0..u32::BITS).filter(|bit| count.min >> bit & 1 == 1) {
            calls.push(self.power(bit as usize));
        }
        let mut rest = u64::from(count.max.unwrap_or(count.min).saturating_sub(count.min));
        while rest > 0 {
            let bits = (rest + 1).ilog2() as usize;
            calls.push(self.range(bits));
            rest -= (1 << bits) - 1;
        }
        let body_is_nullable = self.draft.fragments[self.body as usize].nullable;
        let (fragment, start) = self.fragment(count.min == 0 || body_is_nullable);
        let end = calls.into_iter().fold(start, |from, callee| self.call(from, callee));
        self.draft.states[end as usize].is_final = true;
        if count.max.is_none() {
            let more = self.call(end, self.body);
            self.draft.epsilon(more, end);
        }
        fragment
    }

    fn power(&mut self, bit: usize) -> u32 {
        while self.powers.len() <= bit {
            let half = self.powers[self.powers.len() - 1];
            let body_is_nullable = self.draft.fragments[self.body as usize].nullable;
            let (fragment, start) = self.fragment(body_is_nullable);
            let middle = self.call(start, half);
            let end = self.call(middle, half);
            self.draft.states[end as usize].is_final = true;
            self.powers.push(fragment);
        }
        self.powers[bit]
    }

    fn range(&mut self, bits: usize) -> u32 {
        while self.ranges.len() <= bits {
            let bit = self.ranges.len() - 1;
            let power = self.power(bit);
            let smaller = self.ranges[bit];
            let (fragment, start) = self.fragment(true);
            let middle = if bit == 0 { start } else { self.call(start, smaller) };
            let end = self.call(middle, power);
            self.draft.epsilon(middle, end);
            self.draft.states[end as usize].is_final = true;
            self.ranges.push(fragment);
        }
        self.ranges[bits]
    }

    fn fragment(&mut self, nullable: bool) -> (u32, u32) {
        let rule = self.draft.fragments[self.body as usize].rule;
        let fragment = self.draft.fragment(rule, None);
        let entry = &mut self.draft.fragments[fragment as usize];
        entry.nullable = nullable;
        (fragment, entry.start)
    }

    fn call(&mut self, from: u32, callee: u32) -> u32 {
        let to = self.draft.state();
        self.draft.edge(from, Label::call(callee), to);
        to
    }
}
