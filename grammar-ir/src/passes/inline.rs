//! Putting small rules in the place of references to them.
//!
//! A reference costs a push and a pop at run time (rule inlining in section 3.4 of the XGrammar paper). Only rules that are not
//! recursive are inlined, and only small ones, since the automata of those that refer to them grow. Rules keep
//! standing; those that nothing mentions any more are for [`drop_unreachable`](super::drop_unreachable).

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::rewrite::{Rewrite, rewrite};
use crate::analysis::operands_first;
use crate::error::GrammarError;
use crate::grammar::{Expr, Grammar};
use crate::ids::{ExprId, RuleId};

/// Knobs of [`inline`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InlineOptions {
    /// The greatest number of expressions of a rule that is inlined. Rules inlined in it and every use of a
    /// shared expression count; every eight bytes of a literal and every range of a class count as one more.
    /// Default 16.
    pub max_size: u32,
}

impl Default for InlineOptions {
    fn default() -> Self {
        Self { max_size: 16 }
    }
}

/// The grammar after inlining passes a limit of the builder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("inlining rules: {0}; lower `max_size`")]
pub struct InlineError(GrammarError);

/// Replaces references to rules that are small, not recursive and without options or a written lookahead by their
/// bodies.
pub fn inline(grammar: &Grammar, options: &InlineOptions) -> Result<Grammar, InlineError> {
    let mut inliner = Inliner { is_inlined: inlined(grammar, options.max_size) };
    rewrite(grammar, |_| true, &mut inliner).map_err(InlineError)
}

struct Inliner {
    is_inlined: Vec<bool>,
}

impl Rewrite for Inliner {
    fn operands(&mut self, grammar: &Grammar, id: ExprId, operands: &mut Vec<ExprId>) {
        match grammar.expr(id) {
            Expr::Rule(rule) if self.is_inlined[rule.index()] => operands.push(grammar.rule(rule).body()),
            _ => operands.extend_from_slice(grammar.operands(id)),
        }
    }
}

/// By rule: whether it is to be inlined.
fn inlined(grammar: &Grammar, max_size: u32) -> Vec<bool> {
    let is_recursive = recursive(grammar);
    let mut sizes = vec![0_u32; grammar.expr_count()];
    let is_small = |rule: RuleId, sizes: &[u32]| {
        let rule_data = grammar.rule(rule);
        !is_recursive[rule.index()]
            && rule_data.lookahead().is_none()
            && rule_data.options().is_empty()
            && sizes[rule_data.body().index()] <= max_size
    };
    // Bodies of rules that are not recursive come before references to them.
    for id in operands_first(grammar) {
        let own = match grammar.expr(id) {
            Expr::Rule(rule) if is_small(rule, &sizes) => sizes[grammar.rule(rule).body().index()],
            Expr::Bytes(bytes) => 1 + (bytes.len() / 8) as u32,
            Expr::Class(ranges) => 1 + ranges.len() as u32,
            Expr::Token(tokens) | Expr::ExcludeToken(tokens) => 1 + tokens.len() as u32,
            Expr::TagText(text) => 1 + (text.len() / 8) as u32,
            // Copies of free text with all its tags are never small.
            Expr::TagDispatch(_) => u32::MAX,
            _ => 1,
        };
        let below = grammar.operands(id).iter().map(|operand| sizes[operand.index()]);
        sizes[id.index()] = below.fold(own, u32::saturating_add);
    }
    grammar.rule_ids().map(|rule| is_small(rule, &sizes)).collect()
}

/// By rule: whether its body mentions the rule itself, directly or through other rules.
fn recursive(grammar: &Grammar) -> Vec<bool> {
    // Nodes are rules, then expressions, so that an expression shared by many rules is followed once.
    let mut graph: DiGraph<(), (), u32> = DiGraph::new();
    let rules: Vec<_> = grammar.rule_ids().map(|_| graph.add_node(())).collect();
    let exprs: Vec<_> = (0..grammar.expr_count()).map(|_| graph.add_node(())).collect();
    for rule in grammar.rule_ids() {
        graph.add_edge(rules[rule.index()], exprs[grammar.rule(rule).body().index()], ());
    }
    for id in operands_first(grammar) {
        match grammar.expr(id) {
            Expr::Rule(rule) => _ = graph.add_edge(exprs[id.index()], rules[rule.index()], ()),
            _ => grammar.operands(id).iter().for_each(|operand| {
                graph.add_edge(exprs[id.index()], exprs[operand.index()], ());
            }),
        }
    }
    let mut is_recursive = vec![false; grammar.rule_count()];
    // Between a rule and itself there is always an expression, so a cycle has at least two nodes.
    for component in kosaraju_scc(&graph).into_iter().filter(|component| component.len() > 1) {
        for rule in component.iter().filter(|node| node.index() < grammar.rule_count()) {
            is_recursive[rule.index()] = true;
        }
    }
    is_recursive
}
