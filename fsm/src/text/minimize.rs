//! Minimal automata.
//!
//! Two states are equivalent if no text tells them apart. Moore's method refines a partition of the states
//! in rounds, each over all arcs; a chain of n states takes n rounds. Hopcroft (1971) splits by one block at
//! a time and keeps the larger half of what was split out of the work list, so that every arc is looked at
//! O(log n) times. He splits for each letter apart; with a million letters that are given as ranges, we
//! split by the *set* of letters with which a state leads into the block: states stay together if and only
//! if these sets are equal. Leaving out the larger half stays right, since a deterministic automaton's
//! letters into a block are those into its halves, each letter in one of them.
//!
//! The result is numbered breadth-first along its sorted arcs, so that equal languages give equal tables.

use grammask_grammar_ir::hash::HashMap;

use super::acyclic;
use super::dfa::{DfaBuilder, RangeArc, RangeDfa};
use super::meter::Meter;
use crate::error::Failure;
use crate::ids::NONE;

/// The minimal automaton of the same language, in canonical form.
pub(crate) fn minimize(dfa: &RangeDfa, meter: &mut Meter) -> Result<RangeDfa, Failure> {
    let block_of = match acyclic::classes(dfa, meter)? {
        Some(classes) => classes,
        None => {
            let live = live_states(dfa);
            if live[0] { Refinement::new(dfa, &live).run(meter)? } else { vec![NONE; live.len()] }
        }
    };
    if block_of[0] == NONE {
        return Ok(RangeDfa::nothing());
    }
    Ok(quotient(dfa, &block_of))
}

/// Arcs by target: the states that lead into each state.
struct Reverse {
    rows: Vec<u32>,
    /// Source, least and greatest letter.
    arcs: Vec<(u32, u32, u32)>,
}

impl Reverse {
    fn new(dfa: &RangeDfa, keep: impl Fn(u32) -> bool) -> Self {
        let count = dfa.state_count();
        let mut rows = vec![0u32; count + 1];
        let all = || {
            (0..count as u32)
                .filter(|&state| keep(state))
                .flat_map(|state| dfa.arcs(state).iter().map(move |&arc| (state, arc)))
        };
        for (_, arc) in all() {
            rows[arc.to as usize + 1] += 1;
        }
        for state in 0..count {
            rows[state + 1] += rows[state];
        }
        let mut arcs = vec![(0, 0, 0); rows[count] as usize];
        let mut next = rows.clone();
        for (state, arc) in all() {
            let place = &mut next[arc.to as usize];
            arcs[*place as usize] = (state, arc.lo, arc.hi);
            *place += 1;
        }
        Self { rows, arcs }
    }

    fn entering(&self, state: u32) -> &[(u32, u32, u32)] {
        &self.arcs[self.rows[state as usize] as usize..self.rows[state as usize + 1] as usize]
    }
}

/// The states from which a final state can be reached.
fn live_states(dfa: &RangeDfa) -> Vec<bool> {
    let reverse = Reverse::new(dfa, |_| true);
    let mut live: Vec<bool> = (0..dfa.state_count() as u32).map(|state| dfa.is_final(state)).collect();
    let mut stack: Vec<u32> = (0..dfa.state_count() as u32).filter(|&state| dfa.is_final(state)).collect();
    while let Some(state) = stack.pop() {
        for &(from, ..) in reverse.entering(state) {
            if !std::mem::replace(&mut live[from as usize], true) {
                stack.push(from);
            }
        }
    }
    live
}

struct Refinement {
    reverse: Reverse,
    /// States, block by block.
    members: Vec<u32>,
    /// Where each state stands in `members`.
    place: Vec<u32>,
    block_of: Vec<u32>,
    /// Start and end of each block in `members`.
    blocks: Vec<(u32, u32)>,
    work: Vec<u32>,
    is_in_work: Vec<bool>,
}

impl Refinement {
    /// Begins with the final and the other live states. Dead states keep `NONE` and are left out.
    fn new(dfa: &RangeDfa, live: &[bool]) -> Self {
        let count = dfa.state_count();
        let is_live = |state: &u32| live[*state as usize];
        let mut members: Vec<u32> = (0..count as u32).filter(is_live).collect();
        members.sort_by_key(|&state| dfa.is_final(state));
        let others = members.partition_point(|&state| !dfa.is_final(state)) as u32;
        let mut this = Self {
            reverse: Reverse::new(dfa, |state| live[state as usize]),
            place: vec![NONE; count],
            block_of: vec![NONE; count],
            blocks: Vec::new(),
            work: Vec::new(),
            is_in_work: Vec::new(),
            members,
        };
        for (start, end) in [(0, others), (others, this.members.len() as u32)] {
            if start < end {
                this.add_block(start, end);
                this.push_work(this.blocks.len() as u32 - 1);
            }
        }
        for (place, &state) in this.members.iter().enumerate() {
            this.place[state as usize] = place as u32;
        }
        this
    }

    fn run(mut self, meter: &mut Meter) -> Result<Vec<u32>, Failure> {
        let mut sources: Vec<(u32, u32, u32)> = Vec::new();
        let mut letters = LetterSets::default();
        // (block, letters, state) of every state that leads into the block at hand.
        let mut marked: Vec<(u32, u32, u32)> = Vec::new();
        while let Some(block) = self.work.pop() {
            self.is_in_work[block as usize] = false;
            sources.clear();
            let (start, end) = self.blocks[block as usize];
            for &state in &self.members[start as usize..end as usize] {
                sources.extend_from_slice(self.reverse.entering(state));
            }
            meter.spend(sources.len() + 1)?;
            sources.sort_unstable();
            letters.clear();
            marked.clear();
            for arcs in sources.chunk_by(|left, right| left.0 == right.0) {
                let number = letters.number(arcs);
                let state = arcs[0].0;
                marked.push((self.block_of[state as usize], number, state));
            }
            marked.sort_unstable();
            for states in marked.chunk_by(|left, right| left.0 == right.0) {
                self.split(states);
            }
        }
        Ok(self.block_of)
    }

    /// Splits a block by the letters of its marked states, unmarked ones being a part of their own.
    fn split(&mut self, marked: &[(u32, u32, u32)]) {
        let block = marked[0].0;
        let (start, end) = self.blocks[block as usize];
        let unmarked = (end - start) as usize - marked.len();
        let parts = marked.chunk_by(|left, right| left.1 == right.1);
        if unmarked == 0 && marked[0].1 == marked[marked.len() - 1].1 {
            return;
        }
        // The unmarked states stay in front; if there are none, the first part keeps the block's number.
        let mut position = end - marked.len() as u32;
        let mut largest = (unmarked as u32, block);
        let was_in_work = self.is_in_work[block as usize];
        let first_new = self.blocks.len() as u32;
        self.move_to_back(marked, end);
        for (index, part) in parts.enumerate() {
            let (from, to) = (position, position + part.len() as u32);
            position = to;
            let number = if unmarked == 0 && index == 0 {
                self.blocks[block as usize] = (from, to);
                block
            } else {
                self.add_block(from, to)
            };
            largest = largest.max((to - from, number));
        }
        if unmarked > 0 {
            self.blocks[block as usize] = (start, start + unmarked as u32);
        }
        for number in std::iter::once(block).chain(first_new..self.blocks.len() as u32) {
            if number != largest.1 || was_in_work {
                self.push_work(number);
            }
        }
    }

    /// Moves the marked states of a block to its end, in their order.
    fn move_to_back(&mut self, marked: &[(u32, u32, u32)], end: u32) {
        for (offset, &(_, _, state)) in marked.iter().rev().enumerate() {
            let target = end - 1 - offset as u32;
            let place = self.place[state as usize];
            let other = self.members[target as usize];
            self.members.swap(place as usize, target as usize);
            (self.place[state as usize], self.place[other as usize]) = (target, place);
        }
    }

    fn add_block(&mut self, start: u32, end: u32) -> u32 {
        let number = self.blocks.len() as u32;
        self.blocks.push((start, end));
        self.is_in_work.push(false);
        for &state in &self.members[start as usize..end as usize] {
            self.block_of[state as usize] = number;
        }
        number
    }

    fn push_work(&mut self, block: u32) {
        if !std::mem::replace(&mut self.is_in_work[block as usize], true) {
            self.work.push(block);
        }
    }
}

/// Sets of letters, numbered.
#[derive(Default)]
struct LetterSets {
    /// Those that are one range, which most are.
    ranges: HashMap<(u32, u32), u32>,
    others: HashMap<Box<[(u32, u32)]>, u32>,
    count: u32,
    /// The last one and its number: states that lead into one block mostly do it alike.
    last: Vec<(u32, u32)>,
    last_number: u32,
    set: Vec<(u32, u32)>,
}

impl LetterSets {
    fn clear(&mut self) {
        self.ranges.clear();
        self.others.clear();
        self.last.clear();
        self.count = 0;
    }

    /// The number of the letters of a state's arcs into one block; there is at least one.
    fn number(&mut self, arcs: &[(u32, u32, u32)]) -> u32 {
        join(arcs, &mut self.set);
        if self.set == self.last {
            return self.last_number;
        }
        let number = match *self.set {
            [range] => *self.ranges.entry(range).or_insert(self.count),
            _ => match self.others.get(&*self.set) {
                Some(&number) => number,
                None => {
                    self.others.insert(self.set.as_slice().into(), self.count);
                    self.count
                }
            },
        };
        self.count += u32::from(number == self.count);
        std::mem::swap(&mut self.set, &mut self.last);
        self.last_number = number;
        number
    }
}

/// The letters of a state's arcs into one block, as disjoint ranges that do not touch.
fn join(arcs: &[(u32, u32, u32)], set: &mut Vec<(u32, u32)>) {
    set.clear();
    for &(_, lo, hi) in arcs {
        match set.last_mut() {
            Some(last) if last.1 + 1 == lo => last.1 = hi,
            _ => set.push((lo, hi)),
        }
    }
}

/// One state a block, numbered breadth-first.
fn quotient(dfa: &RangeDfa, block_of: &[u32]) -> RangeDfa {
    let mut number = vec![NONE; block_of.len()];
    let mut order = vec![0u32];
    number[block_of[0] as usize] = 0;
    let mut builder = DfaBuilder::with_capacity(dfa.state_count(), dfa.arc_count());
    let mut next = 0;
    while let Some(&state) = order.get(next) {
        next += 1;
        for &RangeArc { lo, hi, to } in dfa.arcs(state) {
            let block = block_of[to as usize];
            if block == NONE {
                continue;
            }
            if number[block as usize] == NONE {
                number[block as usize] = order.len() as u32;
                order.push(to);
            }
            builder.arc(RangeArc { lo, hi, to: number[block as usize] });
        }
        builder.end_state(dfa.is_final(state));
    }
    builder.finish()
}
