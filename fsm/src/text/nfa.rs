//! Nondeterministic automata over characters, and how they become deterministic.

use std::ops::Range;

use super::dense::DenseSort;
use super::dfa::{DfaBuilder, RangeArc, RangeDfa};
use super::ids::{ArcRank, KernelId, NfaStateId, TextStateId};
use super::lists::Lists;
use super::meter::Meter;
use super::scalars::{MAX_SCALAR, letter};
use grammask_grammar_ir::JsonEscapes;

use crate::error::Failure;

use crate::ids::{Id, IdVec, Rows};

use crate::text::chars::{CharArc, CharOutput, Sharing};

/// An automaton with arcs that read nothing. State 0 is the start, state 1 the only final one.
pub(crate) struct Nfa {
    count: usize,
    arcs: Vec<(NfaStateId, RangeArc<NfaStateId>)>,
    epsilons: Vec<(NfaStateId, NfaStateId)>,
}

impl Nfa {
    pub(crate) const START: NfaStateId = NfaStateId::FIRST;
    pub(crate) const END: NfaStateId = NfaStateId::SECOND;

    pub(crate) fn new() -> Self {
        Self { count: 2, arcs: Vec::new(), epsilons: Vec::new() }
    }

    pub(crate) fn state(&mut self) -> NfaStateId {
        self.count += 1;
        NfaStateId::from_index(self.count - 1)
    }

    pub(crate) fn state_count(&self) -> usize {
        self.count
    }

    pub(crate) fn arc(&mut self, from: NfaStateId, lo: u32, hi: u32, to: NfaStateId) {
        self.arcs.push((from, RangeArc { lo, hi, to }));
    }

    pub(crate) fn epsilon(&mut self, from: NfaStateId, to: NfaStateId) {
        if from != to {
            self.epsilons.push((from, to));
        }
    }

    /// The arcs that read something, each with the state that it leaves.
    pub(crate) fn arcs(&self) -> &[(NfaStateId, RangeArc<NfaStateId>)] {
        &self.arcs
    }

    pub(crate) fn epsilons(&self) -> &[(NfaStateId, NfaStateId)] {
        &self.epsilons
    }

    /// Whether no edge leaves the start: if [`trimmed`](Self::trimmed), it accepts nothing then.
    pub(crate) fn is_empty(&self) -> bool {
        let leaves = self.arcs.iter().map(|arc| arc.0).chain(self.epsilons.iter().map(|edge| edge.0));
        !leaves.into_iter().any(|from| from == Self::START)
    }

    /// The same without the arcs that lead to no end.
    pub(super) fn trimmed(mut self) -> Self {
        let arcs = self.arcs.iter().map(|&(from, arc)| (arc.to, from));
        let mut back: Vec<_> = arcs.chain(self.epsilons.iter().map(|&(from, to)| (to, from))).collect();
        let is_live = self.before_end(&mut back);
        self.arcs.retain(|(_, arc)| is_live[arc.to]);
        self.epsilons.retain(|&(_, to)| is_live[to]);
        self
    }

    /// The states from which some edges lead to the end. They are given backwards.
    fn before_end(&self, back: &mut Vec<(NfaStateId, NfaStateId)>) -> IdVec<NfaStateId, bool> {
        let rows = sorted_rows(self.count, back);
        let mut leads: IdVec<NfaStateId, bool> = IdVec::of(false, self.count);
        leads[Self::END] = true;
        let mut stack = vec![Self::END];
        while let Some(state) = stack.pop() {
            for &(_, from) in &back[rows.of(state)] {
                if !std::mem::replace(&mut leads[from], true) {
                    stack.push(from);
                }
            }
        }
        leads
    }

    /// The same, with the arcs of each state side by side.
    pub(super) fn into_rows(mut self) -> NfaRows {
        let arc_rows = sorted_rows(self.count, &mut self.arcs);
        let epsilon_rows = sorted_rows(self.count, &mut self.epsilons);
        NfaRows { nfa: self, arc_rows, epsilon_rows }
    }

    /// Subset construction (Rabin and Scott 1959), of the reachable sets only. The letters of a set are
    /// swept from range end to range end, so that no table over an alphabet is needed.
    pub(crate) fn determinize(mut self, meter: &mut Meter) -> Result<RangeDfa, Failure> {
        meter.spend(self.count + self.arcs.len() + self.epsilons.len())?;
        let rows = sorted_rows(self.count, &mut self.arcs);
        let epsilon_rows = sorted_rows(self.count, &mut self.epsilons);
        let mut subsets = Subsets {
            nfa: &self,
            epsilon_rows,
            arc_rows: &rows,
            alone: IdVec::of(TextStateId::NONE, self.count),
            kernels: Lists::default(),
            set_of_kernel: IdVec::default(),
            sets: Lists::default(),
            met: IdVec::of(0, self.count),
            stamp: 0,
            stack: Vec::new(),
            set: Vec::new(),
            sorter: DenseSort::default(),
            loops: self.loops_of_all(&rows),
        };
        subsets.number(&[Self::START], meter)?;
        let mut builder = DfaBuilder::with_capacity(self.count, self.arcs.len());
        let mut arcs: Vec<RangeArc<NfaStateId>> = Vec::new();
        let mut ends: Vec<u32> = Vec::new();
        // Arcs that read the same: their last letter, and where they are among all.
        let mut groups: Vec<(u32, Range<usize>)> = Vec::new();
        let mut active: Vec<(u32, Range<usize>)> = Vec::new();
        let mut targets: Vec<NfaStateId> = Vec::new();
        let mut ranked: Option<RankedArcs> = None;
        let mut next = 0;
        while next < subsets.sets.len() {
            arcs.clear();
            let set = subsets.sets.list(TextStateId::from_index(next));
            next += 1;
            let is_final = set.contains(&Self::END);
            // Sorting the arcs of a large set again for each set is the larger part of the work; ranks turn
            // it into a counting sort.
            if set.iter().map(|&state| rows.of(state).len()).sum::<usize>() < MANY {
                arcs.extend(set.iter().flat_map(|&state| &self.arcs[rows.of(state)]).map(|&(_, arc)| arc));
                arcs.sort_unstable();
                arcs.dedup();
            } else {
                let ranked = ranked.get_or_insert_with(|| RankedArcs::new(&self.arcs));
                ranked.of(set.iter().map(|&state| rows.of(state)), &mut subsets.sorter, &mut arcs);
            }
            meter.spend(arcs.len())?;
            // Mostly no two arcs read the same.
            if arcs.windows(2).all(|pair| pair[0].hi < pair[1].lo) {
                let mut before = None;
                for &arc in &arcs {
                    let is_gap = before.replace(arc.hi + 1).is_some_and(|before| before < arc.lo);
                    meter.spend(2 + usize::from(is_gap))?;
                    let to = subsets.number(&[arc.to], meter)?;
                    builder.arc(RangeArc { lo: arc.lo, hi: arc.hi, to });
                }
                builder.end_state(is_final);
                continue;
            }
            ends.clear();
            groups.clear();
            // Arcs that read the same are neighbours, in the order of their targets.
            let mut end = 0;
            for alike in arcs.chunk_by(|one, other| (one.lo, one.hi) == (other.lo, other.hi)) {
                let first = end;
                end += alike.len();
                groups.push((alike[0].hi, first..end));
                ends.extend([alike[0].lo, alike[0].hi + 1]);
            }
            ends.sort_unstable();
            ends.dedup();
            active.clear();
            let mut pending = groups.drain(..).peekable();
            // A sweep over all ends of ranges: between two neighbouring ends the same arcs are active, so
            // their targets are one set.
            for range in ends.windows(2) {
                active.retain(|group| group.0 >= range[0]);
                while let Some(group) = pending.next_if(|group| arcs[group.1.start].lo == range[0]) {
                    active.push(group);
                }
                targets.clear();
                // The largest group first: mostly it has nearly all of them.
                let largest = (0..active.len()).max_by_key(|&at| active[at].1.len());
                let others = (0..active.len()).filter(|&at| Some(at) != largest);
                let mut sorted = 0;
                for at in largest.into_iter().chain(others) {
                    targets.extend(arcs[active[at].1.clone()].iter().map(|arc| arc.to));
                    sorted = if sorted == 0 { targets.len() } else { sorted };
                }
                meter.spend(targets.len() + 1)?;
                if targets.is_empty() {
                    continue;
                }
                subsets.sorter.sort_after(sorted, &mut targets);
                let to = subsets.number(&targets, meter)?;
                builder.arc(RangeArc { lo: range[0], hi: range[1] - 1, to });
            }
            builder.end_state(is_final);
        }
        Ok(builder.finish())
    }

    /// The states that read any text and stay where the text may end. `None` where there are none. The arcs are in order.
    fn loops_of_all(&self, rows: &Rows<NfaStateId>) -> Option<Loops> {
        // Tokens are no characters.
        if self.arcs.iter().any(|(_, arc)| arc.hi > MAX_SCALAR) {
            return None;
        }
        let reads_all = |state: NfaStateId| {
            let arcs = self.arcs[rows.of(state)].iter().map(|&(_, arc)| arc).filter(|arc| arc.to == state);
            let next = arcs.fold(0, |next, arc| if arc.lo <= next { next.max(arc.hi + 1) } else { next });
            next > MAX_SCALAR
        };
        let mut is_one: IdVec<NfaStateId, bool> =
            (0..self.count).map(|state| reads_all(NfaStateId::from_index(state))).collect();
        if !is_one.iter().any(|&is| is) {
            return None;
        }
        let mut back: Vec<(NfaStateId, NfaStateId)> =
            self.epsilons.iter().map(|&(from, to)| (to, from)).collect();
        let may_end = self.before_end(&mut back);
        is_one.iter_mut().zip(may_end.iter()).for_each(|(is, &may_end)| *is &= may_end);
        let first = is_one.entries().find(|&(_, &is)| is)?.0;
        Some(Loops { is_one, first })
    }
}

/// The states from which any text leads to the end, over arcs back to the state itself. To be in one of them is as good as
/// to be in all others as well. A pattern that is searched for has one at its end, and after a match it is in more and more
/// states without need.
struct Loops {
    is_one: IdVec<NfaStateId, bool>,
    first: NfaStateId,
}

impl CharOutput for Nfa {
    type State = NfaStateId;

    fn state(&mut self) -> NfaStateId {
        self.state()
    }

    fn arcs(&mut self, from: NfaStateId, arcs: &[CharArc<NfaStateId>]) {
        for arc in arcs {
            // A range may run over the surrogates but does not end inside them.
            if let (Some(lo), Some(hi)) = (letter(arc.lo), letter(arc.hi)) {
                self.arc(from, lo, hi, arc.to);
            }
        }
    }

    fn epsilon(&mut self, from: NfaStateId, to: NfaStateId) {
        self.epsilon(from, to);
    }

    fn shared_escape(
        &mut self,
        _: NfaStateId,
        _: (JsonEscapes, &[(u32, u32)]),
        _: NfaStateId,
        _: &mut dyn FnMut(&mut Self, NfaStateId) -> NfaStateId,
    ) -> Sharing {
        Sharing::NotSupported
    }
}

/// An automaton whose arcs are side by side, state by state.
pub(super) struct NfaRows {
    nfa: Nfa,
    arc_rows: Rows<NfaStateId>,
    epsilon_rows: Rows<NfaStateId>,
}

impl NfaRows {
    pub(super) fn arcs(&self, state: NfaStateId) -> impl Iterator<Item = RangeArc<NfaStateId>> {
        self.nfa.arcs[self.arc_rows.of(state)].iter().map(|&(_, arc)| arc)
    }

    pub(super) fn epsilons(&self, state: NfaStateId) -> impl Iterator<Item = NfaStateId> {
        self.nfa.epsilons[self.epsilon_rows.of(state)].iter().map(|&(_, to)| to)
    }

    /// All edges, with the number of letters that each reads.
    pub(super) fn edges(&self) -> impl Iterator<Item = (NfaStateId, NfaStateId, u32)> + Clone {
        let arcs = self.nfa.arcs.iter().map(|&(from, arc)| (from, arc.to, 1));
        arcs.chain(self.nfa.epsilons.iter().map(|&(from, to)| (from, to, 0)))
    }

    /// Whether a text may end in a state, and the arcs that leave it after edges that read nothing; with the
    /// number of states that were met. `met` holds for each state the last one for which it was met, plus
    /// one.
    pub(super) fn closure(
        &self,
        state: NfaStateId,
        met: &mut IdVec<NfaStateId, u32>,
    ) -> (bool, Vec<RangeArc<NfaStateId>>, usize) {
        let (mut closure, mut arcs) = (vec![state], Vec::new());
        let mut is_final = false;
        let stamp = state.raw() + 1;
        met[state] = stamp;
        let mut next = 0;
        while let Some(&state) = closure.get(next) {
            next += 1;
            is_final |= state == Nfa::END;
            arcs.extend(self.arcs(state));
            for to in self.epsilons(state) {
                if std::mem::replace(&mut met[to], stamp) != stamp {
                    closure.push(to);
                }
            }
        }
        (is_final, arcs, closure.len())
    }
}

/// Sorts what leaves each state, keeps each once, and returns the rows. Most rows are short, so this takes linear time.
fn sorted_rows<T: Copy + Ord>(states: usize, pairs: &mut Vec<(NfaStateId, T)>) -> Rows<NfaStateId> {
    let mut places = Rows::count(states, pairs.iter().map(|pair| pair.0));
    let mut sorted = pairs.clone();
    for &pair in &*pairs {
        sorted[places.take_place(pair.0)] = pair;
    }
    for row in sorted.chunk_by_mut(|one, other| one.0 == other.0) {
        row.sort_unstable();
    }
    sorted.dedup();
    *pairs = sorted;
    Rows::count(states, pairs.iter().map(|pair| pair.0))
}

/// Fewest arcs of a set that are sorted by rank.
const MANY: usize = 64;

/// The arcs of an automaton in order, each once.
struct RankedArcs {
    arcs: IdVec<ArcRank, RangeArc<NfaStateId>>,
    /// By the places of arcs in the automaton.
    rank: Vec<ArcRank>,
    ranks: Vec<ArcRank>,
}

impl RankedArcs {
    fn new(all: &[(NfaStateId, RangeArc<NfaStateId>)]) -> Self {
        let mut arcs: Vec<RangeArc<NfaStateId>> = all.iter().map(|&(_, arc)| arc).collect();
        arcs.sort_unstable();
        arcs.dedup();
        let rank_of = |arc| ArcRank::from_index(arcs.partition_point(|other| other < arc));
        let rank = all.iter().map(|(_, arc)| rank_of(arc)).collect();
        Self { arcs: arcs.into(), rank, ranks: Vec::new() }
    }

    /// The arcs in some rows, in order and each once.
    fn of(
        &mut self,
        rows: impl Iterator<Item = Range<usize>>,
        sorter: &mut DenseSort,
        arcs: &mut Vec<RangeArc<NfaStateId>>,
    ) {
        self.ranks.clear();
        rows.for_each(|row| self.ranks.extend_from_slice(&self.rank[row]));
        sorter.sort(&mut self.ranks);
        arcs.extend(self.ranks.iter().map(|&rank| self.arcs[rank]));
    }
}

/// The sets of states met so far.
struct Subsets<'n> {
    nfa: &'n Nfa,
    epsilon_rows: Rows<NfaStateId>,
    arc_rows: &'n Rows<NfaStateId>,
    /// The set of the kernel that is one state, or [`Id::NONE`]: most are.
    alone: IdVec<NfaStateId, TextStateId>,
    /// Sets before arcs that read nothing are followed: a shortcut past `sets`.
    kernels: Lists<KernelId, NfaStateId>,
    set_of_kernel: IdVec<KernelId, TextStateId>,
    /// Sets after.
    sets: Lists<TextStateId, NfaStateId>,
    met: IdVec<NfaStateId, u32>,
    stamp: u32,
    stack: Vec<NfaStateId>,
    set: Vec<NfaStateId>,
    sorter: DenseSort,
    loops: Option<Loops>,
}

impl Subsets<'_> {
    fn number(&mut self, kernel: &[NfaStateId], meter: &mut Meter) -> Result<TextStateId, Failure> {
        match *kernel {
            [state] if self.alone[state] != TextStateId::NONE => Ok(self.alone[state]),
            [state] => {
                let number = self.close(kernel, meter)?;
                self.alone[state] = number;
                Ok(number)
            }
            _ => match self.kernels.find(kernel) {
                Ok(known) => Ok(self.set_of_kernel[known]),
                Err(hash) => {
                    let number = self.close(kernel, meter)?;
                    self.kernels.add(hash, kernel);
                    self.set_of_kernel.push(number);
                    Ok(number)
                }
            },
        }
    }

    /// The set that a kernel becomes once arcs that read nothing are followed.
    fn close(&mut self, kernel: &[NfaStateId], meter: &mut Meter) -> Result<TextStateId, Failure> {
        self.stamp += 1;
        let (stack, set) = (&mut self.stack, &mut self.set);
        stack.clear();
        set.clear();
        // States without arcs that read something tell no sets apart, except the final one.
        let tells_apart = |state| state == Nfa::END || !self.arc_rows.of(state).is_empty();
        // Most states lead nowhere without reading. Those are in order, as the kernel is.
        for &state in kernel {
            self.met[state] = self.stamp;
            if !self.epsilon_rows.of(state).is_empty() {
                stack.push(state);
            } else if tells_apart(state) {
                set.push(state);
            }
        }
        meter.spend(kernel.len() - stack.len())?;
        let sorted = set.len();
        while let Some(state) = stack.pop() {
            if tells_apart(state) {
                set.push(state);
            }
            let targets = self.epsilon_rows.of(state);
            meter.spend(targets.len() + 1)?;
            for &(_, to) in &self.nfa.epsilons[targets] {
                if std::mem::replace(&mut self.met[to], self.stamp) != self.stamp {
                    stack.push(to);
                }
            }
        }
        if let Some(Loops { is_one, first }) = &self.loops
            && *kernel != [*first]
            && set.iter().any(|&state| is_one[state])
        {
            let first = *first;
            return self.number(&[first], meter);
        }
        self.sorter.sort_after(sorted, set);
        match self.sets.find(set) {
            Ok(known) => Ok(known),
            Err(hash) => {
                meter.spend(set.len())?;
                let number = self.sets.add(hash, set);
                meter.states(self.sets.len())?;
                Ok(number)
            }
        }
    }
}
