//! What can be said of a grammar without parsing.
//!
//! Every analysis takes time in proportion to the grammar and looks at shared expressions once.
//!
//! | analysis | says | below regular operators |
//! |---|---|---|
//! | [`nullable`] | which expressions derive the empty string | exact |
//! | [`productive`] | which expressions derive anything | *may*: an intersection or complement whose operands derive something may still be empty |
//! | [`reachable`] | which rules the root mentions, directly or not | exact |
//! | [`left_recursion`] | which rules can begin with themselves | they are never recursive |
//! | [`first_bytes`] | with which bytes a sentence can begin | *may*, as above |

mod first_bytes;
mod horn;
mod left_recursion;
mod nullable;
mod productive;
mod reachable;

pub use first_bytes::{FirstBytes, first_bytes};
pub use left_recursion::{LeftRecursion, left_recursion};
pub use nullable::nullable;
pub use productive::productive;
pub use reachable::reachable;

pub(crate) use horn::operands_first;

use crate::{ExprId, Grammar, RuleId};

/// A yes or no for every expression that some rule mentions; *no* for any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    by_expr: Vec<bool>,
    bodies: Vec<ExprId>,
}

impl Facts {
    fn new(grammar: &Grammar, by_expr: Vec<bool>) -> Self {
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
