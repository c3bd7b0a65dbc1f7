//! Which rules the root mentions.

use crate::expr::Expr;
use crate::grammar::Grammar;
use crate::ids::RuleId;

/// By rule: whether the root is or mentions it, directly or through other rules. A mention in a written
/// lookahead counts, so that dropping the other rules leaves no reference to a dropped rule.
pub fn reachable(grammar: &Grammar) -> Vec<bool> {
    let mut is_reachable = vec![false; grammar.rule_count()];
    let mut is_met = vec![false; grammar.expr_count()];
    let mut exprs = Vec::new();
    let enter = |rule: RuleId, is_reachable: &mut [bool], exprs: &mut Vec<_>| {
        if !std::mem::replace(&mut is_reachable[rule.index()], true) {
            exprs.push(grammar.rule(rule).body());
            exprs.extend(grammar.rule(rule).lookahead());
        }
    };
    enter(grammar.root(), &mut is_reachable, &mut exprs);
    while let Some(id) = exprs.pop() {
        if std::mem::replace(&mut is_met[id.index()], true) {
            continue;
        }
        match grammar.expr(id) {
            Expr::Rule(rule) => enter(rule, &mut is_reachable, &mut exprs),
            _ => exprs.extend_from_slice(grammar.operands(id)),
        }
    }
    is_reachable
}
