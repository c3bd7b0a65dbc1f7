//! Whether an expression matches any text at all.
//!
//! The naive way builds the minimal automaton and looks for a final state in it. But for this question
//! nothing has to be minimal, and only complemented operands have to be deterministic. Operands have a text
//! in common if and only if some path leads from all their starts to all their ends, reading the same. A
//! search over tuples of states, one of each operand, ends with the first text that is found, or with the
//! last tuple. Shortest texts come first, since a bound on the length makes long ways dead ends.

use grammask_grammar_ir::hash::HashSet;
use smallvec::SmallVec;

use super::dfa::{RangeArc, RangeDfa};
use super::ids::{NfaStateId, OperandStateId, TextStateId};
use super::nfa::Nfa;
use super::nfa::NfaRows;
use crate::ids::{Id, IdVec};

/// A state of each operand.
type Tuple = SmallVec<[OperandStateId; 4]>;

/// Sorted ranges of characters.
type Ranges = Vec<(u32, u32)>;

/// States, arcs and ranges that are looked at before the search gives up: deterministic automata have fewer tuples, and
/// where there are many they are the better way.
const MAX_LOOKS: usize = 1 << 13;

/// The most automata that are looked at side by side: where each of them has two edges, three have eight
/// combinations.
pub(super) const MAX_OPERANDS: usize = 3;

/// One of the automata that are to have a text in common.
pub(super) struct Operand {
    automaton: Automaton,
    /// By state, its moves if they are known.
    moves: IdVec<OperandStateId, Option<Moves>>,
}

enum Automaton {
    Deterministic(RangeDfa),
    /// With room for its closures.
    Nondeterministic(NfaRows, IdVec<NfaStateId, u32>),
}

/// How a state goes on.
struct Moves {
    is_final: bool,
    /// For each state that is reached by a character, by which ones.
    targets: Vec<(OperandStateId, Ranges)>,
}

impl From<RangeDfa> for Operand {
    fn from(dfa: RangeDfa) -> Self {
        let moves = std::iter::repeat_with(|| None).take(dfa.state_count()).collect();
        Self { automaton: Automaton::Deterministic(dfa), moves }
    }
}

impl From<Nfa> for Operand {
    fn from(nfa: Nfa) -> Self {
        let moves = std::iter::repeat_with(|| None).take(nfa.state_count()).collect();
        let met = IdVec::of(0, nfa.state_count());
        Self { automaton: Automaton::Nondeterministic(nfa.into_rows(), met), moves }
    }
}

impl Operand {
    /// Computes the moves of a state, unless they are known. Returns the number of states and arcs that had
    /// to be looked at.
    fn look_at(&mut self, state: OperandStateId) -> usize {
        if self.moves[state].is_some() {
            return 0;
        }
        let (is_final, mut arcs, met) = match &mut self.automaton {
            Automaton::Deterministic(dfa) => {
                let state = TextStateId::from_raw(state.raw());
                (dfa.is_final(state), dfa.arcs(state).iter().map(of_operand).collect(), 1)
            }
            Automaton::Nondeterministic(rows, met) => {
                let (is_final, arcs, met) = rows.closure(NfaStateId::from_raw(state.raw()), met);
                (is_final, arcs.iter().map(of_operand).collect::<Vec<_>>(), met)
            }
        };
        let looked = arcs.len() + met;
        arcs.sort_unstable_by_key(|arc| (arc.to, arc.lo));
        let groups = arcs.chunk_by(|left, right| left.to == right.to);
        let ranges = |group: &[RangeArc<OperandStateId>]| group.iter().map(|arc| (arc.lo, arc.hi)).collect();
        let targets = groups.map(|group| (group[0].to, ranges(group))).collect();
        self.moves[state] = Some(Moves { is_final, targets });
        looked
    }

    fn moves(&self, state: OperandStateId) -> &Moves {
        self.moves[state].as_ref().expect("every state is looked at before")
    }
}

/// An arc of either kind of automaton.
fn of_operand<S: Id>(arc: &RangeArc<S>) -> RangeArc<OperandStateId> {
    RangeArc { lo: arc.lo, hi: arc.hi, to: OperandStateId::from_raw(arc.to.raw()) }
}

/// Whether all operands accept some text; `None` where that takes a longer search.
pub(super) fn intersection_is_nonempty(operands: &mut [Operand]) -> Option<bool> {
    let start: Tuple = SmallVec::from_elem(OperandStateId::FIRST, operands.len());
    let mut met: HashSet<Tuple> = HashSet::default();
    met.insert(start.clone());
    let mut tuples = vec![start];
    let (mut next, mut looked) = (0, 0);
    while let Some(tuple) = tuples.get(next).cloned() {
        next += 1;
        for (operand, &state) in operands.iter_mut().zip(&tuple) {
            looked += operand.look_at(state);
        }
        let moves: SmallVec<[&Moves; 4]> =
            operands.iter().zip(&tuple).map(|(operand, &state)| operand.moves(state)).collect();
        // Past the bound the answer is left to the automata, which minimisation keeps small.
        if looked > MAX_LOOKS {
            return None;
        }
        if moves.iter().all(|moves| moves.is_final) {
            return Some(true);
        }
        // The tuples of targets that one character leads to, operand by operand.
        let mut partial: Vec<(Tuple, Ranges)> = vec![(Tuple::new(), vec![(0, u32::MAX)])];
        for moves in &moves {
            let mut longer = Vec::with_capacity(partial.len());
            for (tuple, ranges) in &partial {
                for (target, others) in &moves.targets {
                    looked += ranges.len() + others.len();
                    if looked > MAX_LOOKS {
                        return None;
                    }
                    // All operands must read the same character, so a target tuple needs a character that is
                    // in every range.
                    let both = in_both(ranges, others);
                    if !both.is_empty() {
                        let mut tuple = tuple.clone();
                        tuple.push(*target);
                        longer.push((tuple, both));
                    }
                }
            }
            partial = longer;
        }
        for (tuple, _) in partial {
            if met.insert(tuple.clone()) {
                tuples.push(tuple);
            }
        }
    }
    Some(false)
}

/// The characters that are in both. Of one list ranges may overlap.
fn in_both(left: &[(u32, u32)], right: &[(u32, u32)]) -> Ranges {
    let mut both = Ranges::new();
    let (mut lefts, mut rights) = (left, right);
    while let (Some(&first), Some(&second)) = (lefts.first(), rights.first()) {
        let (lo, hi) = (first.0.max(second.0), first.1.min(second.1));
        if lo <= hi {
            both.push((lo, hi));
        }
        match first.1 <= second.1 {
            true => lefts = &lefts[1..],
            false => rights = &rights[1..],
        }
    }
    both
}
