//! Which expressions derive the empty string.

use super::facts::Facts;
use super::horn::{Need, least_facts, need_of_parts, operands_first};
use crate::dispatch::{Dispatch, DispatchEnd};
use crate::expr::Expr;
use crate::grammar::Grammar;
use crate::ids::ExprId;

/// Which expressions derive the empty string. Exact, below regular operators too.
///
/// A complement is nullable where its operand is *not*, so it has no place in a least fixed point. But
/// operands of regular operators are not recursive: they are decided first, operands before operators, and
/// are constants for the rest.
pub fn nullable(grammar: &Grammar) -> Facts {
    let below = below_operators(grammar);
    let holds = least_facts(grammar, |id, expr| match expr {
        _ if below[id.index()] == Some(true) => Need::Nothing,
        _ if below[id.index()] == Some(false) => Need::Impossible,
        Expr::Empty | Expr::Repeat { min: 0, .. } => Need::Nothing,
        Expr::TagDispatch(Dispatch { end: DispatchEnd::Anywhere, .. }) => Need::Nothing,
        Expr::Bytes(_) | Expr::Class(_) | Expr::TagDispatch(_) => Need::Impossible,
        Expr::Token(_) | Expr::ExcludeToken(_) | Expr::TagText(_) => Need::Impossible,
        Expr::Choice(_) => Need::Any,
        Expr::Permutation(permutation) => need_of_parts(permutation),
        _ => Need::All,
    });
    Facts::new(grammar, holds)
}

/// The answer for regular operators and everything below them.
fn below_operators(grammar: &Grammar) -> Vec<Option<bool>> {
    let mut is_below = vec![false; grammar.expr_count()];
    let order = operands_first(grammar);
    let is_operator =
        |id| matches!(grammar.expr(id), Expr::Intersection(_) | Expr::Complement(_) | Expr::JsonEscaped(..));
    let operators = order.iter().copied().filter(|&id| is_operator(id));
    grammar.expressions_below(operators).for_each(|id| is_below[id.index()] = true);
    let mut answers = vec![None; grammar.expr_count()];
    for id in order.into_iter().filter(|id| is_below[id.index()]) {
        let holds = |operand: &ExprId| answers[operand.index()] == Some(true);
        let answer = match grammar.expr(id) {
            Expr::Empty | Expr::Repeat { min: 0, .. } => true,
            Expr::Bytes(_) | Expr::Class(_) => false,
            // The builder allows no token and no tag below an operator.
            Expr::Token(_) | Expr::ExcludeToken(_) | Expr::TagText(_) | Expr::TagDispatch(_) => false,
            Expr::Choice(parts) => parts.iter().any(holds),
            Expr::Sequence(parts) | Expr::Intersection(parts) => parts.iter().all(holds),
            Expr::Repeat { body: operand, .. } | Expr::JsonEscaped(operand, _) => holds(&operand),
            Expr::Complement(operand) => !holds(&operand),
            Expr::Rule(rule) => holds(&grammar.rule(rule).body()),
            // No part is empty; a grammar in which one is, or that has such a thing below an operator, is refused.
            Expr::Permutation(_) => false,
        };
        answers[id.index()] = Some(answer);
    }
    answers
}
