//! Minimal automata.
//!
//! Two states are equivalent if no text distinguishes them. Moore's method refines a partition of the states
//! in rounds, each over all arcs; a chain of n states takes n rounds. Hopcroft (1971) splits by one block at
//! a time and leaves the larger half of a split block out of the work list. So every arc is looked at O(log
//! n) times. He splits for each letter separately. With a million letters that are given as ranges, we split
//! by the *set* of letters with which a state leads into the block. States stay together if and only if these
//! sets are equal. Leaving out the larger half stays right, since a deterministic automaton's letters into a
//! block are those into its halves, each letter in one of them.
//!
//! The result is numbered breadth-first along its sorted arcs, so that equal languages give equal tables.

use grammask_grammar_ir::hash::HashMap;

use super::acyclic;
use super::dfa::{DfaBuilder, RangeArc, RangeDfa};
use super::ids::{BlockId, LetterSetId, MemberId, TextStateId};
use super::meter::Meter;
use crate::error::Failure;
use crate::ids::{Id, IdVec, Rows, ids_between};

/// The minimal automaton of the same language, in canonical form.
pub(crate) fn minimize(dfa: &RangeDfa, meter: &mut Meter) -> Result<RangeDfa, Failure> {
    let block_of = match acyclic::classes(dfa, meter)? {
        Some(classes) => classes,
        None => {
            let live = live_states(dfa);
            if !live[TextStateId::FIRST] {
                return Ok(RangeDfa::nothing());
            }
            Refinement::new(dfa, &live).run(meter)?
        }
    };
    if block_of[TextStateId::FIRST] == BlockId::NONE {
        return Ok(RangeDfa::nothing());
    }
    Ok(quotient(dfa, &block_of))
}

/// Source, least and greatest letter.
type Entering = (TextStateId, u32, u32);

/// A state that leads into the block at hand, after its own block and the letters that lead from it.
type Marked = (BlockId, LetterSetId, TextStateId);

/// Arcs by target: the states that lead into each state.
struct Reverse {
    rows: Rows<TextStateId>,
    arcs: Vec<Entering>,
}

impl Reverse {
    fn new(dfa: &RangeDfa, keep: impl Fn(TextStateId) -> bool) -> Self {
        let all = || {
            dfa.states()
                .filter(|&state| keep(state))
                .flat_map(|state| dfa.arcs(state).iter().map(move |&arc| (state, arc)))
        };
        let rows = Rows::count(dfa.state_count(), all().map(|(_, arc)| arc.to));
        let mut arcs = vec![(TextStateId::FIRST, 0, 0); rows.end()];
        let mut next = rows.clone();
        for (state, arc) in all() {
            arcs[next.take_place(arc.to)] = (state, arc.lo, arc.hi);
        }
        Self { rows, arcs }
    }

    fn entering(&self, state: TextStateId) -> &[Entering] {
        &self.arcs[self.rows.of(state)]
    }
}

/// The states from which a final state can be reached.
fn live_states(dfa: &RangeDfa) -> IdVec<TextStateId, bool> {
    let reverse = Reverse::new(dfa, |_| true);
    let mut live: IdVec<TextStateId, bool> = dfa.states().map(|state| dfa.is_final(state)).collect();
    let mut stack: Vec<TextStateId> = dfa.states().filter(|&state| dfa.is_final(state)).collect();
    while let Some(state) = stack.pop() {
        for &(from, ..) in reverse.entering(state) {
            if !std::mem::replace(&mut live[from], true) {
                stack.push(from);
            }
        }
    }
    live
}

struct Refinement {
    reverse: Reverse,
    /// States, block by block.
    members: IdVec<MemberId, TextStateId>,
    /// The place of each state in `members`.
    place: IdVec<TextStateId, MemberId>,
    block_of: IdVec<TextStateId, BlockId>,
    /// Start and end of each block in `members`.
    blocks: IdVec<BlockId, (MemberId, MemberId)>,
    work: Vec<BlockId>,
    is_in_work: IdVec<BlockId, bool>,
}

impl Refinement {
    /// Begins with the final and the other live states. Dead states keep `NONE` and are left out.
    fn new(dfa: &RangeDfa, live: &IdVec<TextStateId, bool>) -> Self {
        let count = dfa.state_count();
        let mut members: Vec<TextStateId> = dfa.states().filter(|&state| live[state]).collect();
        // The first partition: the empty text tells final states from all others.
        members.sort_by_key(|&state| dfa.is_final(state));
        let others = MemberId::from_index(members.partition_point(|&state| !dfa.is_final(state)));
        let mut this = Self {
            reverse: Reverse::new(dfa, |state| live[state]),
            place: IdVec::of(MemberId::NONE, count),
            block_of: IdVec::of(BlockId::NONE, count),
            blocks: IdVec::default(),
            work: Vec::new(),
            is_in_work: IdVec::default(),
            members: members.into(),
        };
        for (start, end) in [(MemberId::FIRST, others), (others, this.members.next_id())] {
            if start < end {
                let block = this.add_block(start, end);
                // Both blocks are in the work list, which is right for any automaton. Only one of them would
                // be necessary if it were complete.
                this.push_work(block);
            }
        }
        for (place, &state) in this.members.entries() {
            this.place[state] = place;
        }
        this
    }

    fn run(mut self, meter: &mut Meter) -> Result<IdVec<TextStateId, BlockId>, Failure> {
        let mut sources: Vec<Entering> = Vec::new();
        let mut letters = LetterSets::default();
        // Every state that leads into the block at hand.
        let mut marked: Vec<Marked> = Vec::new();
        while let Some(block) = self.work.pop() {
            self.is_in_work[block] = false;
            sources.clear();
            let (start, end) = self.blocks[block];
            for &state in self.members.slice(start..end) {
                sources.extend_from_slice(self.reverse.entering(state));
            }
            // They are sorted twice.
            meter.spend(2 * sources.len() + 1)?;
            // By state: the arcs of one state into the block are neighbours, and so are their ranges.
            sources.sort();
            letters.clear();
            marked.clear();
            for arcs in sources.chunk_by(|left, right| left.0 == right.0) {
                let number = letters.number(arcs);
                let state = arcs[0].0;
                marked.push((self.block_of[state], number, state));
            }
            // By block, then by letters: the marked states of a block that stay together are neighbours.
            marked.sort_unstable();
            for states in marked.chunk_by(|left, right| left.0 == right.0) {
                self.split(states);
            }
        }
        Ok(self.block_of)
    }

    /// Splits a block by the letters of its marked states, unmarked ones being a part of their own.
    fn split(&mut self, marked: &[Marked]) {
        let block = marked[0].0;
        let (start, end) = self.blocks[block];
        let unmarked = end.index() - start.index() - marked.len();
        let parts = marked.chunk_by(|left, right| left.1 == right.1);
        // All states of the block lead into it with the same letters: nothing to split.
        if unmarked == 0 && marked[0].1 == marked[marked.len() - 1].1 {
            return;
        }
        // The unmarked states stay in front; if there are none, the first part keeps the block's number.
        let mut position = end.minus(marked.len());
        let mut largest = (unmarked, block);
        let was_in_work = self.is_in_work[block];
        let first_new = self.blocks.next_id();
        self.move_to_back(marked, end);
        for (index, part) in parts.enumerate() {
            let (from, to) = (position, position.plus(part.len()));
            position = to;
            let number = if unmarked == 0 && index == 0 {
                self.blocks[block] = (from, to);
                block
            } else {
                self.add_block(from, to)
            };
            largest = largest.max((part.len(), number));
        }
        if unmarked > 0 {
            self.blocks[block] = (start, start.plus(unmarked));
        }
        for number in std::iter::once(block).chain(ids_between(first_new..self.blocks.next_id())) {
            // If the block waited in the list, all of its parts must. Otherwise the largest part can be left
            // out, because splitting by the whole and by the other parts is enough.
            if number != largest.1 || was_in_work {
                self.push_work(number);
            }
        }
    }

    /// Moves the marked states of a block to its end, in their order.
    fn move_to_back(&mut self, marked: &[Marked], end: MemberId) {
        for (offset, &(_, _, state)) in marked.iter().rev().enumerate() {
            let target = end.minus(1 + offset);
            let place = self.place[state];
            let other = self.members[target];
            (self.members[place], self.members[target]) = (other, state);
            (self.place[state], self.place[other]) = (target, place);
        }
    }

    fn add_block(&mut self, start: MemberId, end: MemberId) -> BlockId {
        let number = self.blocks.push((start, end));
        self.is_in_work.push(false);
        for &state in self.members.slice(start..end) {
            self.block_of[state] = number;
        }
        number
    }

    fn push_work(&mut self, block: BlockId) {
        if !std::mem::replace(&mut self.is_in_work[block], true) {
            self.work.push(block);
        }
    }
}

/// Sets of letters, numbered.
#[derive(Default)]
struct LetterSets {
    /// Those that are one range, which most are.
    ranges: HashMap<(u32, u32), LetterSetId>,
    others: HashMap<Box<[(u32, u32)]>, LetterSetId>,
    next: LetterSetId,
    /// The last one and its number: states that lead into one block mostly do it alike.
    last: Vec<(u32, u32)>,
    last_number: LetterSetId,
    set: Vec<(u32, u32)>,
}

impl LetterSets {
    fn clear(&mut self) {
        self.ranges.clear();
        self.others.clear();
        self.last.clear();
        self.next = LetterSetId::FIRST;
    }

    /// The number of the letters of a state's arcs into one block; there is at least one.
    fn number(&mut self, arcs: &[Entering]) -> LetterSetId {
        join(arcs, &mut self.set);
        if self.set == self.last {
            return self.last_number;
        }
        let number = match *self.set {
            [range] => *self.ranges.entry(range).or_insert(self.next),
            _ => match self.others.get(&*self.set) {
                Some(&number) => number,
                None => {
                    self.others.insert(self.set.as_slice().into(), self.next);
                    self.next
                }
            },
        };
        self.next = self.next.plus(usize::from(number == self.next));
        std::mem::swap(&mut self.set, &mut self.last);
        self.last_number = number;
        number
    }
}

/// The letters of a state's arcs into one block, as disjoint ranges that do not touch.
fn join(arcs: &[Entering], set: &mut Vec<(u32, u32)>) {
    set.clear();
    for &(_, lo, hi) in arcs {
        match set.last_mut() {
            Some(last) if last.1 + 1 == lo => last.1 = hi,
            _ => set.push((lo, hi)),
        }
    }
}

/// One state a block, numbered breadth-first.
fn quotient(dfa: &RangeDfa, block_of: &IdVec<TextStateId, BlockId>) -> RangeDfa {
    let mut number: IdVec<BlockId, TextStateId> = IdVec::of(TextStateId::NONE, block_of.len());
    let mut order = vec![TextStateId::FIRST];
    number[block_of[TextStateId::FIRST]] = TextStateId::FIRST;
    let mut builder = DfaBuilder::with_capacity(dfa.state_count(), dfa.arc_count());
    let mut next = 0;
    while let Some(&state) = order.get(next) {
        next += 1;
        for &RangeArc { lo, hi, to } in dfa.arcs(state) {
            let block = block_of[to];
            if block == BlockId::NONE {
                continue;
            }
            if number[block] == TextStateId::NONE {
                number[block] = TextStateId::from_index(order.len());
                order.push(to);
            }
            builder.arc(RangeArc { lo, hi, to: number[block] });
        }
        builder.end_state(dfa.is_final(state));
    }
    builder.finish()
}
