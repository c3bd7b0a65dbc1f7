//! A fact about every expression.

use crate::grammar::Grammar;
use crate::ids::{ExprId, RuleId};

/// A yes or no for every expression that some rule mentions; *no* for any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    by_expr: Vec<bool>,
    bodies: Vec<ExprId>,
}

impl Facts {
    pub(super) fn new(grammar: &Grammar, by_expr: Vec<bool>) -> Self {
        let bodies = grammar.rule_ids().map(|rule| grammar.rule(rule).body()).collect();
        Self { by_expr, bodies }
    }

    /// Whether it is so for an expression. Panics for an id of another, larger grammar.
    pub fn expr(&self, id: ExprId) -> bool {
        self.by_expr[id.index()]
    }

    /// Whether it is so for a rule. Panics for an id of another, larger grammar.
    pub fn rule(&self, id: RuleId) -> bool {
        self.expr(self.bodies[id.index()])
    }
}
