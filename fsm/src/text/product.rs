//! Products of an operand that stays nondeterministic with small deterministic ones.
//!
//! The format `regex`, with its nested groups, holds its parts again and again. A deterministic automaton repeats them with
//! all their arcs, some twenty a state; without determinization a state has one or two. So the product of such an operand
//! is taken with what the others accept. It is written as the operand alone would be, and is not more ambiguous than that.

use std::collections::VecDeque;

use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_grammar_ir::{Expr, ExprId, Grammar};

use super::dfa::{RangeArc, RangeDfa};
use super::ids::{NfaStateId, TextStateId};
use super::meter::Meter;
use super::nfa::Nfa;
use crate::error::Failure;
use crate::ids::Id;

/// The least number of parts of an expression, each as often as it is written.
const MANY_PARTS: usize = 1 << 14;

/// How often a part is written at least, on the average.
const OFTEN: usize = 2;

/// Repeats by greater numbers are counted, where the expression stands alone.
const FEW_ROUNDS: u32 = 16;

/// The most states of what the other operands accept.
pub(super) const SMALL_OPERAND: usize = 16;

/// How many times as many states as the operand the product may have.
const MAX_GROWTH: usize = 2;

/// Whether an expression has many parts because the same ones are written again and again. Repeats and rules would be calls
/// if the expression stood alone, which keep apart what an automaton without them mixes. Operators are automata already.
pub(super) fn repeats_its_parts(grammar: &Grammar, expr: ExprId) -> bool {
    let (mut met, mut stack, mut written) = (HashSet::default(), vec![expr], 0);
    while let Some(id) = stack.pop() {
        written += 1;
        if written == MANY_PARTS {
            return met.len() * OFTEN <= written;
        }
        met.insert(id);
        match grammar.expr(id) {
            Expr::Rule(_) => return false,
            Expr::Repeat { min, max, .. } if max.unwrap_or(min) > FEW_ROUNDS => return false,
            Expr::Intersection(_) | Expr::Complement(_) | Expr::JsonEscaped(..) => {}
            _ => stack.extend_from_slice(grammar.operands(id)),
        }
    }
    false
}

/// The texts that both accept. `None` where the product has many more states than the first of them. The states are
/// numbered breadth-first, the arcs of each are side by side, and every state leads to the end.
pub(super) fn product(nfa: Nfa, dfa: &RangeDfa, meter: &mut Meter) -> Result<Option<Nfa>, Failure> {
    let most = MAX_GROWTH * nfa.state_count();
    let rows = nfa.into_rows();
    let mut product = Nfa::new();
    let mut numbers: HashMap<(NfaStateId, TextStateId), NfaStateId> = HashMap::default();
    let mut open = VecDeque::new();
    let start = (Nfa::START, TextStateId::FIRST);
    numbers.insert(start, Nfa::START);
    open.push_back((start, Nfa::START));
    while let Some(((left, right), from)) = open.pop_front() {
        if left == Nfa::END && dfa.is_final(right) {
            product.epsilon(from, Nfa::END);
        }
        let mut number = |pair| {
            *numbers.entry(pair).or_insert_with(|| {
                let state = product.state();
                open.push_back((pair, state));
                state
            })
        };
        let silent: Vec<_> = rows.epsilons(left).map(|to| number((to, right))).collect();
        let mut arcs: Vec<RangeArc<NfaStateId>> = Vec::new();
        for arc in rows.arcs(left) {
            let rights = dfa.arcs(right);
            let first = rights.partition_point(|right| right.hi < arc.lo);
            for other in rights[first..].iter().take_while(|other| other.lo <= arc.hi) {
                meter.spend(1)?;
                let (lo, hi) = (arc.lo.max(other.lo), arc.hi.min(other.hi));
                arcs.push(RangeArc { lo, hi, to: number((arc.to, other.to)) });
            }
        }
        meter.spend(silent.len() + arcs.len() + 1)?;
        silent.into_iter().for_each(|to| product.epsilon(from, to));
        arcs.into_iter().for_each(|arc| product.arc(from, arc.lo, arc.hi, arc.to));
        if product.state_count() > most {
            return Ok(None);
        }
    }
    Ok(Some(product.trimmed()))
}
