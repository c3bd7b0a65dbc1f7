//! Nondeterministic automata over characters, and how they become deterministic.

use super::dfa::{DfaBuilder, RangeArc, RangeDfa};
use super::lists::Lists;
use super::meter::Meter;
use super::scalars::scalar;
use crate::error::Failure;
use crate::ids::NONE;
use crate::text::chars::{CharArc, CharOutput, Sharing};

/// An automaton with arcs that read nothing. State 0 is the start, state 1 the only final one.
pub(crate) struct Nfa {
    count: u32,
    arcs: Vec<(u32, RangeArc)>,
    epsilons: Vec<(u32, u32)>,
}

impl Nfa {
    pub(crate) const START: u32 = 0;
    pub(crate) const END: u32 = 1;

    pub(crate) fn new() -> Self {
        Self { count: 2, arcs: Vec::new(), epsilons: Vec::new() }
    }

    pub(crate) fn state(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    pub(crate) fn state_count(&self) -> usize {
        self.count as usize
    }

    pub(crate) fn arc(&mut self, from: u32, lo: u32, hi: u32, to: u32) {
        self.arcs.push((from, RangeArc { lo, hi, to }));
    }

    pub(crate) fn epsilon(&mut self, from: u32, to: u32) {
        if from != to {
            self.epsilons.push((from, to));
        }
    }

    /// The same, with what each state has found at once.
    pub(super) fn into_rows(mut self) -> NfaRows {
        self.arcs.sort_unstable_by_key(|&(from, arc)| (from, arc.lo));
        self.epsilons.sort_unstable();
        let arc_rows = rows(self.count, self.arcs.iter().map(|arc| arc.0));
        let epsilon_rows = rows_of(self.count, &self.epsilons);
        NfaRows { nfa: self, arc_rows, epsilon_rows }
    }

    /// Subset construction (Rabin and Scott 1959), of the reachable sets only. The letters of a set are
    /// swept from range end to range end, so that no table over an alphabet is needed.
    pub(crate) fn determinize(mut self, meter: &mut Meter) -> Result<RangeDfa, Failure> {
        self.arcs.sort_unstable_by_key(|&(from, arc)| (from, arc.lo));
        self.epsilons.sort_unstable();
        let rows = rows(self.count, self.arcs.iter().map(|arc| arc.0));
        let epsilon_rows = rows_of(self.count, &self.epsilons);
        let mut subsets = Subsets {
            nfa: &self,
            epsilon_rows,
            arc_rows: &rows,
            alone: vec![NONE; self.count as usize],
            kernels: Lists::default(),
            set_of_kernel: Vec::new(),
            sets: Lists::default(),
            met: vec![0; self.count as usize],
            stamp: 0,
            stack: Vec::new(),
            set: Vec::new(),
        };
        subsets.number(&[Self::START], meter)?;
        let mut builder = DfaBuilder::with_capacity(self.count as usize, self.arcs.len());
        let mut arcs: Vec<RangeArc> = Vec::new();
        let mut ends: Vec<u32> = Vec::new();
        let mut active: Vec<RangeArc> = Vec::new();
        let mut targets: Vec<u32> = Vec::new();
        let mut next = 0;
        while next < subsets.sets.len() {
            arcs.clear();
            let set = subsets.sets.list(next as u32);
            next += 1;
            for &state in set.iter() {
                let (start, end) = (rows[state as usize] as usize, rows[state as usize + 1] as usize);
                arcs.extend(self.arcs[start..end].iter().map(|&(_, arc)| arc));
            }
            let is_final = set.contains(&Self::END);
            arcs.sort_unstable();
            arcs.dedup();
            // Mostly no two arcs read the same.
            if arcs.windows(2).all(|pair| pair[0].hi < pair[1].lo) {
                let mut before = None;
                for &arc in &arcs {
                    let is_gap = before.replace(arc.hi + 1).is_some_and(|before| before < arc.lo);
                    meter.spend(2 + usize::from(is_gap))?;
                    let to = subsets.number(&[arc.to], meter)?;
                    builder.arc(RangeArc { to, ..arc });
                }
                builder.end_state(is_final);
                continue;
            }
            ends.clear();
            ends.extend(arcs.iter().flat_map(|arc| [arc.lo, arc.hi + 1]));
            ends.sort_unstable();
            ends.dedup();
            active.clear();
            let mut pending = arcs.iter();
            let mut upcoming = pending.next();
            for range in ends.windows(2) {
                active.retain(|arc| arc.hi >= range[0]);
                while let Some(arc) = upcoming.filter(|arc| arc.lo == range[0]) {
                    active.push(*arc);
                    upcoming = pending.next();
                }
                meter.spend(active.len() + 1)?;
                if active.is_empty() {
                    continue;
                }
                targets.clear();
                targets.extend(active.iter().map(|arc| arc.to));
                targets.sort_unstable();
                targets.dedup();
                let to = subsets.number(&targets, meter)?;
                builder.arc(RangeArc { lo: range[0], hi: range[1] - 1, to });
            }
            builder.end_state(is_final);
        }
        Ok(builder.finish())
    }
}

impl CharOutput for Nfa {
    fn state(&mut self) -> u32 {
        self.state()
    }

    fn arcs(&mut self, from: u32, arcs: &[CharArc]) {
        for arc in arcs {
            // A range may run over the surrogates but does not end inside them.
            let number = |code: u32| char::from_u32(code).map(scalar);
            if let (Some(lo), Some(hi)) = (number(arc.lo), number(arc.hi)) {
                self.arc(from, lo, hi, arc.to);
            }
        }
    }

    fn epsilon(&mut self, from: u32, to: u32) {
        self.epsilon(from, to);
    }

    fn shared_escape(
        &mut self,
        _: u32,
        _: &[(u32, u32)],
        _: u32,
        _: &mut dyn FnMut(&mut Self, u32) -> u32,
    ) -> Sharing {
        Sharing::NotSupported
    }
}

/// An automaton whose arcs lie side by side, state by state.
pub(super) struct NfaRows {
    nfa: Nfa,
    arc_rows: Vec<u32>,
    epsilon_rows: Vec<u32>,
}

impl NfaRows {
    /// Whether a text may end in a state, and the arcs that are followed from it, once what reads nothing was; with the
    /// number of states that were met. `met` holds for each state for which it was met last, plus one.
    pub(super) fn closure(&self, state: u32, met: &mut [u32]) -> (bool, Vec<RangeArc>, usize) {
        let (mut closure, mut arcs) = (vec![state], Vec::new());
        let mut is_final = false;
        let stamp = state + 1;
        met[state as usize] = stamp;
        let mut next = 0;
        while let Some(&state) = closure.get(next) {
            next += 1;
            is_final |= state == Nfa::END;
            let at = state as usize;
            let (start, end) = (self.arc_rows[at] as usize, self.arc_rows[at + 1] as usize);
            arcs.extend(self.nfa.arcs[start..end].iter().map(|&(_, arc)| arc));
            let (start, end) = (self.epsilon_rows[at] as usize, self.epsilon_rows[at + 1] as usize);
            for &(_, to) in &self.nfa.epsilons[start..end] {
                if std::mem::replace(&mut met[to as usize], stamp) != stamp {
                    closure.push(to);
                }
            }
        }
        (is_final, arcs, closure.len())
    }
}

/// The sets of states met so far.
struct Subsets<'n> {
    nfa: &'n Nfa,
    epsilon_rows: Vec<u32>,
    arc_rows: &'n [u32],
    /// The set of the kernel that is one state, or [`NONE`]: most are.
    alone: Vec<u32>,
    /// Sets before arcs that read nothing are followed: a shortcut past `sets`.
    kernels: Lists,
    set_of_kernel: Vec<u32>,
    /// Sets after.
    sets: Lists,
    met: Vec<u32>,
    stamp: u32,
    stack: Vec<u32>,
    set: Vec<u32>,
}

impl Subsets<'_> {
    fn number(&mut self, kernel: &[u32], meter: &mut Meter) -> Result<u32, Failure> {
        match *kernel {
            [state] if self.alone[state as usize] != NONE => Ok(self.alone[state as usize]),
            [state] => {
                let number = self.close(kernel, meter)?;
                self.alone[state as usize] = number;
                Ok(number)
            }
            _ => match self.kernels.find(kernel) {
                Ok(known) => Ok(self.set_of_kernel[known as usize]),
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
    fn close(&mut self, kernel: &[u32], meter: &mut Meter) -> Result<u32, Failure> {
        self.stamp += 1;
        let (stack, set) = (&mut self.stack, &mut self.set);
        stack.clear();
        stack.extend_from_slice(kernel);
        for &state in kernel {
            self.met[state as usize] = self.stamp;
        }
        // States without arcs that read something tell no sets apart, except the final one.
        set.clear();
        while let Some(state) = stack.pop() {
            let index = state as usize;
            if state == Nfa::END || self.arc_rows[index] < self.arc_rows[index + 1] {
                set.push(state);
            }
            let targets = self.epsilon_rows[index] as usize..self.epsilon_rows[index + 1] as usize;
            meter.spend(targets.len() + 1)?;
            for &(_, to) in &self.nfa.epsilons[targets] {
                if std::mem::replace(&mut self.met[to as usize], self.stamp) != self.stamp {
                    stack.push(to);
                }
            }
        }
        set.sort_unstable();
        match self.sets.find(set) {
            Ok(known) => Ok(known),
            Err(hash) => {
                let number = self.sets.add(hash, set);
                meter.states(self.sets.len())?;
                Ok(number)
            }
        }
    }
}

/// Where the entries of each state begin in a table sorted by state.
fn rows(count: u32, sources: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut rows = vec![0u32; count as usize + 1];
    for from in sources {
        rows[from as usize + 1] += 1;
    }
    for state in 0..count as usize {
        rows[state + 1] += rows[state];
    }
    rows
}

fn rows_of(count: u32, pairs: &[(u32, u32)]) -> Vec<u32> {
    rows(count, pairs.iter().map(|pair| pair.0))
}
