//! Least fixed points of yes-or-no facts in linear time.
//!
//! The naive way is to go round all expressions until nothing changes, which a chain of rules makes
//! quadratic. Here every expression counts the operands that it still waits for. An expression whose count
//! reaches zero holds, and lowers the counts of the expressions of which it is an operand. The algorithm is
//! Dowling and Gallier's ("Linear-time algorithms for testing the satisfiability of propositional Horn
//! formulae", 1984).

use crate::expr::Expr;
use crate::grammar::Grammar;
use crate::ids::ExprId;
use crate::permutation::Permutation;

/// When a fact holds for an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    /// It does.
    Nothing,
    /// It does not.
    Impossible,
    /// If it holds for all operands (for a reference: for the rule's body).
    All,
    /// If it holds for any operand.
    Any,
}

/// For every expression that a rule mentions, whether the fact follows from the needs.
pub(crate) fn least_facts(grammar: &Grammar, need: impl Fn(ExprId, Expr<'_>) -> Need) -> Vec<bool> {
    let count = grammar.expr_count();
    let mut holds = vec![false; count];
    let mut missing = vec![0_u32; count];
    let mut ready = Vec::new();
    // The expressions that wait for an expression, as one table: `waiters[starts[e]..starts[e + 1]]`.
    let mut starts = vec![0_usize; count + 1];
    let mentioned = operands_first(grammar);
    let waits = |id: ExprId| matches!(need(id, grammar.expr(id)), Need::All | Need::Any);
    for &id in &mentioned {
        match need(id, grammar.expr(id)) {
            Need::Nothing => ready.push(id),
            Need::Impossible => {}
            // Lists of operands are shorter than 2^32: the builder bounds them.
            Need::All => missing[id.index()] = needed(grammar, id).len() as u32,
            Need::Any => missing[id.index()] = 1,
        }
        if waits(id) {
            needed(grammar, id).iter().for_each(|operand| starts[operand.index() + 1] += 1);
        }
    }
    for index in 0..count {
        starts[index + 1] += starts[index];
    }
    let mut next = starts.clone();
    let mut waiters = vec![0_u32; starts[count]];
    for &id in mentioned.iter().filter(|&&id| waits(id)) {
        for operand in needed(grammar, id) {
            waiters[next[operand.index()]] = id.index() as u32;
            next[operand.index()] += 1;
        }
    }
    ready.iter().for_each(|id| holds[id.index()] = true);
    while let Some(id) = ready.pop() {
        for &waiter in &waiters[starts[id.index()]..starts[id.index() + 1]] {
            let waiter = waiter as usize;
            if holds[waiter] {
                continue;
            }
            missing[waiter] -= 1;
            if missing[waiter] == 0 {
                holds[waiter] = true;
                ready.extend(ExprId::new(waiter));
            }
        }
    }
    holds
}

/// The operands; of a reference the rule's body.
fn operands(grammar: &Grammar, id: ExprId) -> &[ExprId] {
    match grammar.expr(id) {
        Expr::Rule(rule) => std::slice::from_ref(&grammar.rules[rule.index()].body),
        _ => grammar.operands(id),
    }
}

/// The operands that a fact follows from: of parts in any order those that cannot be left out, or, where all can,
/// any of them.
fn needed(grammar: &Grammar, id: ExprId) -> &[ExprId] {
    match grammar.expr(id) {
        Expr::Permutation(permutation) if permutation.required() > 0 => permutation.needed(),
        Expr::Permutation(permutation) => permutation.parts(),
        _ => operands(grammar, id),
    }
}

/// The need of parts in any order, if a fact holds for a sentence exactly if it holds for all its parts.
pub(crate) fn need_of_parts(permutation: Permutation<'_>) -> Need {
    if permutation.required() > 0 { Need::All } else { Need::Any }
}

/// Every expression that a rule's body or lookahead mentions, once. Operands come before the expressions that
/// contain them, except for references to rules that are being visited already.
pub(super) fn operands_first(grammar: &Grammar) -> Vec<ExprId> {
    enum PostOrder {
        Enter(ExprId),
        Leave(ExprId),
    }
    let mut is_met = vec![false; grammar.expr_count()];
    let mut order = Vec::new();
    let mut stack = Vec::new();
    for rule in grammar.rules.iter() {
        stack.extend(rule.lookahead.map(PostOrder::Enter));
        stack.push(PostOrder::Enter(rule.body));
        while let Some(step) = stack.pop() {
            match step {
                PostOrder::Leave(id) => order.push(id),
                // Entered before: it is in the list, or on the way to it in a circle of rules.
                PostOrder::Enter(id) if std::mem::replace(&mut is_met[id.index()], true) => {}
                PostOrder::Enter(id) => {
                    stack.push(PostOrder::Leave(id));
                    stack.extend(operands(grammar, id).iter().map(|&operand| PostOrder::Enter(operand)));
                }
            }
        }
    }
    order
}
