//! Whether an expression matches any text at all.
//!
//! The naive way builds the minimal automaton and looks for a final state in it. But for this question
//! nothing has to be minimal, and only complemented operands have to be deterministic. Operands have a text
//! in common if and only if some path leads from all their starts to all their ends, reading the same. A
//! search over tuples of states, one of each operand, ends with the first text that is found, or with the
//! last tuple. Each operand tells how many characters it is from an end, and tuples with the least sum of these
//! come first. So the search goes to a text that all accept, where there is one, and turns round where it fails.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use grammask_grammar_ir::hash::HashSet;
use smallvec::SmallVec;

use super::counted::shortest_ends;
use super::dfa::{RangeArc, RangeDfa};
use super::ids::{NfaStateId, OperandStateId, TextStateId};
use super::nfa::Nfa;
use super::nfa::NfaRows;
use crate::ids::{Id, IdVec};

/// A state of each operand.
type Tuple = SmallVec<[OperandStateId; 4]>;

/// States, arcs and ranges that are looked at before the search gives up: deterministic automata have fewer tuples, and
/// where there are many they are the better way.
const MAX_LOOKS: usize = 1 << 12;

/// The most automata that are looked at side by side.
pub(super) const MAX_OPERANDS: usize = 16;

/// So many of them need not be deterministic: where each of them has two edges, three have eight combinations.
pub(super) const MAX_NONDETERMINISTIC: usize = 3;

/// One of the automata that are to have a text in common.
pub(super) struct Operand {
    automaton: Automaton,
    /// By state, its moves if they are known.
    moves: IdVec<OperandStateId, Option<Moves>>,
    /// By state, how many characters an end is away; `u32::MAX` where there is none.
    ends: IdVec<OperandStateId, u32>,
}

enum Automaton {
    Deterministic(RangeDfa),
    /// With room for its closures.
    Nondeterministic(NfaRows, IdVec<NfaStateId, u32>),
}

/// How a state goes on.
struct Moves {
    is_final: bool,
    /// By their first character, with no two that have one in common.
    ranges: Vec<Move>,
}

/// The characters from one to another one, and the states that they lead to.
struct Move {
    first: u32,
    last: u32,
    targets: SmallVec<[OperandStateId; 2]>,
}

impl From<RangeDfa> for Operand {
    fn from(dfa: RangeDfa) -> Self {
        let moves = std::iter::repeat_with(|| None).take(dfa.state_count()).collect();
        let arcs = dfa
            .states()
            .flat_map(|from| dfa.arcs(from).iter().map(move |arc| (of_operand(from), of_operand(arc.to), 1)));
        let finals = dfa.states().filter(|&state| dfa.is_final(state)).map(of_operand);
        let ends = shortest_ends(dfa.state_count(), arcs, finals);
        Self { automaton: Automaton::Deterministic(dfa), moves, ends }
    }
}

impl From<Nfa> for Operand {
    fn from(nfa: Nfa) -> Self {
        let states = nfa.state_count();
        let (moves, rows) = (std::iter::repeat_with(|| None).take(states).collect(), nfa.into_rows());
        let edges = rows.edges().map(|(from, to, length)| (of_operand(from), of_operand(to), length));
        let ends = shortest_ends(states, edges, std::iter::once(of_operand(Nfa::END)));
        Self { automaton: Automaton::Nondeterministic(rows, IdVec::of(0, states)), moves, ends }
    }
}

impl Operand {
    /// Computes the moves of a state, unless they are known. Returns the number of states and arcs that had
    /// to be looked at.
    fn look_at(&mut self, state: OperandStateId) -> usize {
        if self.moves[state].is_some() {
            return 0;
        }
        let (is_final, ranges, looked) = match &mut self.automaton {
            Automaton::Deterministic(dfa) => {
                let state: TextStateId = from_operand(state);
                let arcs = dfa.arcs(state);
                let single = |arc: &RangeArc| {
                    let targets = SmallVec::from_elem(of_operand(arc.to), 1);
                    Move { first: arc.lo, last: arc.hi, targets }
                };
                (dfa.is_final(state), arcs.iter().map(single).collect(), arcs.len() + 1)
            }
            Automaton::Nondeterministic(rows, met) => {
                let (is_final, arcs, met) = rows.closure(from_operand(state), met);
                let (moves, looked) = apart(arcs);
                (is_final, moves, looked + met)
            }
        };
        self.moves[state] = Some(Moves { is_final, ranges });
        looked
    }

    fn moves(&self, state: OperandStateId) -> &Moves {
        self.moves[state].as_ref().expect("every state is looked at before")
    }
}

/// A state of either kind of automaton.
fn of_operand<S: Id>(state: S) -> OperandStateId {
    OperandStateId::from_raw(state.raw())
}

fn from_operand<S: Id>(state: OperandStateId) -> S {
    S::from_raw(state.raw())
}

/// Arcs that may overlap, as ranges that do not, with the number of arcs that were looked at: no more where these are too
/// many.
fn apart(mut arcs: Vec<RangeArc<NfaStateId>>) -> (Vec<Move>, usize) {
    let mut firsts: Vec<u32> = arcs.iter().flat_map(|arc| [arc.lo, arc.hi.saturating_add(1)]).collect();
    firsts.sort_unstable();
    firsts.dedup();
    arcs.sort_unstable();
    let (mut later, mut active) = (arcs.into_iter().peekable(), Vec::new());
    let (mut moves, mut looked) = (Vec::new(), 0);
    for pair in firsts.windows(2) {
        let (first, last) = (pair[0], pair[1] - 1);
        active.retain(|arc: &RangeArc<NfaStateId>| arc.hi >= first);
        active.extend(std::iter::from_fn(|| later.next_if(|arc| arc.lo <= first)));
        looked += active.len();
        if looked > MAX_LOOKS {
            break;
        }
        let mut targets: SmallVec<[OperandStateId; 2]> =
            active.iter().map(|arc| of_operand(arc.to)).collect();
        targets.sort_unstable();
        targets.dedup();
        if !targets.is_empty() {
            moves.push(Move { first, last, targets });
        }
    }
    (moves, looked)
}

/// The tuples that are known, and those of them that were not looked at.
#[derive(Default)]
struct Frontier {
    tuples: Vec<Tuple>,
    met: HashSet<Tuple>,
    /// The sum of the operands' ways to their ends, and the tuple's place: the last one comes first.
    open: BinaryHeap<(Reverse<u32>, usize)>,
}

impl Frontier {
    /// Adds a tuple, unless it is known, or an operand has no end from there.
    fn add(&mut self, tuple: Tuple, operands: &[Operand]) {
        let ends = operands.iter().zip(&tuple).map(|(operand, &state)| operand.ends[state]);
        let left = ends.fold(0, u32::saturating_add);
        if left < u32::MAX && self.met.insert(tuple.clone()) {
            self.open.push((Reverse(left), self.tuples.len()));
            self.tuples.push(tuple);
        }
    }

    fn next(&mut self) -> Option<Tuple> {
        self.open.pop().map(|(_, at)| self.tuples[at].clone())
    }
}

/// Whether all operands accept some text; `None` where that takes a longer search.
pub(super) fn intersection_is_nonempty(operands: &mut [Operand]) -> Option<bool> {
    let mut frontier = Frontier::default();
    frontier.add(SmallVec::from_elem(OperandStateId::FIRST, operands.len()), operands);
    let mut looked = 0;
    while let Some(tuple) = frontier.next() {
        for (operand, &state) in operands.iter_mut().zip(&tuple) {
            looked += operand.look_at(state);
        }
        // Past the bound the answer is left to the automata, which minimisation keeps small.
        if looked > MAX_LOOKS {
            return None;
        }
        let moves: SmallVec<[&Moves; MAX_OPERANDS]> =
            operands.iter().zip(&tuple).map(|(operand, &state)| operand.moves(state)).collect();
        if moves.iter().all(|moves| moves.is_final) {
            return Some(true);
        }
        let mut rest: SmallVec<[&[Move]; MAX_OPERANDS]> = moves.iter().map(|moves| &*moves.ranges).collect();
        while let Some(both) = next_common(&mut rest) {
            let combinations = both.iter().map(|one| one.targets.len()).fold(1, usize::saturating_mul);
            looked = looked.saturating_add(both.len()).saturating_add(combinations);
            if looked > MAX_LOOKS {
                return None;
            }
            // Between deterministic operands there is one tuple.
            if combinations == 1 {
                frontier.add(both.iter().flat_map(|one| one.targets.iter().copied()).collect(), operands);
                continue;
            }
            // A state of each operand: all combinations of the targets.
            let mut partial = vec![Tuple::new()];
            for one in &both {
                partial = one.targets.iter().flat_map(|&target| with(&partial, target)).collect();
            }
            for tuple in partial {
                frontier.add(tuple, operands);
            }
        }
    }
    Some(false)
}

/// The tuples with one state more.
fn with(tuples: &[Tuple], state: OperandStateId) -> impl Iterator<Item = Tuple> {
    tuples.iter().map(move |tuple| tuple.iter().copied().chain([state]).collect())
}

/// The next move of each operand that read a character in common. Moves that end there or before are taken off the lists.
fn next_common<'m>(rest: &mut [&'m [Move]]) -> Option<SmallVec<[&'m Move; MAX_OPERANDS]>> {
    loop {
        let moves: SmallVec<[&Move; MAX_OPERANDS]> =
            rest.iter().map(|moves| moves.first()).collect::<Option<_>>()?;
        let first = moves.iter().map(|one| one.first).max()?;
        let last = moves.iter().map(|one| one.last).min()?;
        for (moves, one) in rest.iter_mut().zip(&moves) {
            if one.last == last {
                *moves = &moves[1..];
            }
        }
        if first <= last {
            return Some(moves);
        }
    }
}
