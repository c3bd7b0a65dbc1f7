//! Which rules can begin with themselves.

use std::collections::BTreeSet;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::facts::Facts;
use super::nullable;
use crate::grammar::{Expr, Grammar};
use crate::ids::{ExprId, RuleId};

/// The left-recursive rules of a grammar, in groups that refer to one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftRecursion {
    groups: Vec<Vec<RuleId>>,
    group_of: Vec<Option<u32>>,
}

impl LeftRecursion {
    /// The groups, each in the order of declaration. A sentence of any rule of a group can begin with a
    /// sentence of any rule of it.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &[RuleId]> {
        self.groups.iter().map(Vec::as_slice)
    }

    /// Whether no rule is left-recursive.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether a rule can begin with itself. Panics for an id of another, larger grammar.
    pub fn contains(&self, rule: RuleId) -> bool {
        self.group_of[rule.index()].is_some()
    }

    /// The group of a rule, if it is left-recursive. Panics for an id of another, larger grammar.
    pub fn group(&self, rule: RuleId) -> Option<&[RuleId]> {
        self.group_of[rule.index()].map(|group| self.groups[group as usize].as_slice())
    }
}

/// The left-recursive rules: the strongly connected components of the graph that has an edge from a rule to
/// each rule that it can begin with. An expression that follows something nullable can be at the beginning.
///
/// Whether a rule derives anything is not asked, so rules without sentences can be among them.
pub fn left_recursion(grammar: &Grammar) -> LeftRecursion {
    let nullable = nullable(grammar);
    // Nodes are rules, then expressions. An expression that many rules share is followed once, and a rule
    // that contains it does not become recursive by that.
    let mut graph: DiGraph<(), (), u32> = DiGraph::new();
    let rules: Vec<_> = grammar.rule_ids().map(|_| graph.add_node(())).collect();
    let exprs: Vec<_> = (0..grammar.expr_count()).map(|_| graph.add_node(())).collect();
    for rule in grammar.rule_ids() {
        graph.add_edge(rules[rule.index()], exprs[grammar.rule(rule).body().index()], ());
    }
    for id in super::operands_first(grammar) {
        match grammar.expr(id) {
            Expr::Rule(rule) => _ = graph.add_edge(exprs[id.index()], rules[rule.index()], ()),
            _ => each_beginning(grammar, &nullable, id, |begins| {
                graph.add_edge(exprs[id.index()], exprs[begins.index()], ());
            }),
        }
    }
    let mut groups: Vec<Vec<RuleId>> = Vec::new();
    // Between a rule and itself there is always an expression, so a cycle has at least two nodes.
    for component in kosaraju_scc(&graph).into_iter().filter(|component| component.len() > 1) {
        let group: BTreeSet<RuleId> = component
            .iter()
            .filter(|node| node.index() < grammar.rule_count())
            .filter_map(|node| RuleId::new(node.index()))
            .collect();
        groups.push(group.into_iter().collect());
    }
    groups.sort_unstable();
    let mut group_of = vec![None; grammar.rule_count()];
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|rule| group_of[rule.index()] = Some(number as u32));
    }
    LeftRecursion { groups, group_of }
}

/// The expressions that an expression can begin with, directly.
pub(super) fn each_beginning(grammar: &Grammar, nullable: &Facts, id: ExprId, mut visit: impl FnMut(ExprId)) {
    match grammar.expr(id) {
        Expr::Sequence(parts) => {
            for &part in parts {
                visit(part);
                if !nullable.expr(part) {
                    break;
                }
            }
        }
        Expr::Rule(rule) => visit(grammar.rule(rule).body()),
        // A body comes after its trigger, which is not empty.
        Expr::TagDispatch(_) => {}
        Expr::Permutation(permutation) => permutation.parts().iter().for_each(|&part| visit(part)),
        _ => grammar.operands(id).iter().for_each(|&operand| visit(operand)),
    }
}
