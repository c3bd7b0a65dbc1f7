//! Rules that are written into the automaton of another rule, although they are recursive.
//!
//! Right-linear rules are an automaton: of `s0 ::= "0" s0 | "1" s1` and `s1 ::= "0" s1 | "1" s0` each is a state. With a
//! fragment of its own each would have a state before every call, too, and a text would be as many calls deep as it is
//! long. So a rule that is mentioned only where others end goes on inside of their automaton, if it is the same automaton
//! for all of them: that of one *home*.
//!
//! The homes are found from callers to callees. A rule has the home of the rules that end with it, if these have the same
//! one; otherwise it is a home itself. Rules of a cycle have the home of those that lead into it. Each rule is written once,
//! so nothing grows.

use grammask_grammar_ir::{Expr, Grammar, RuleId};

use crate::build::ids::{RuleNumber, RuleNumbers};
use crate::build::rule_graph::{Graph, Met};
use crate::graph::components_of;
use crate::ids::{Id, IdVec, Rows};
use crate::options::CompileOptions;

/// The home of each rule.
#[derive(Default)]
pub(super) struct JoinedRules {
    /// Empty where no rule is joined.
    homes: IdVec<RuleNumber, RuleNumber>,
    /// Whether a cycle of enough rules is written into each. Fewer stay calls.
    has_cycle: IdVec<RuleNumber, bool>,
}

impl JoinedRules {
    /// `is_apart` says that a rule has a fragment of its own in any case.
    pub(super) fn find(
        grammar: &Grammar,
        options: &CompileOptions,
        graph: &Graph,
        numbers: &RuleNumbers,
        is_apart: impl Fn(RuleId) -> bool,
    ) -> Self {
        let count = graph.references.len();
        let mut pairs = ends(grammar, graph, numbers);
        let mut mentions = IdVec::of(0, count);
        pairs.iter().for_each(|pair| mentions[pair.1] += 1);
        // Mentioned anywhere else, too, or from outside.
        let is_called: IdVec<RuleNumber, bool> = graph
            .references
            .entries()
            .map(|(rule, &all)| mentions[rule] < all || numbers.rule(rule).is_none_or(&is_apart))
            .collect();
        let all: Vec<RuleNumber> = pairs.iter().map(|pair| pair.1).collect();
        let rows_of_all = Rows::count(count, pairs.iter().map(|pair| pair.0));
        pairs.retain(|&(_, callee)| !is_called[callee]);
        let rows = Rows::count(count, pairs.iter().map(|pair| pair.0));
        let callees: Vec<RuleNumber> = pairs.into_iter().map(|pair| pair.1).collect();
        let successors = |rule: RuleNumber| &callees[rows.of(rule)];
        let (mut order, mut ends) = (Vec::with_capacity(count), Vec::with_capacity(count));
        components_of(count, is_called.ids(), successors, |members| {
            order.extend_from_slice(members);
            ends.push(order.len());
        });
        let mut homes = IdVec::of(RuleNumber::NONE, count);
        let mut arriving = IdVec::of(Arriving::Nothing, count);
        // Callers first.
        while let Some(end) = ends.pop() {
            let members = &order[ends.last().copied().unwrap_or(0)..end];
            // No rule leads to one that is called, so that one is alone.
            let home = home_of_all(members, &arriving).filter(|_| !is_called[members[0]]);
            for &member in members {
                homes[member] = home.unwrap_or(member);
            }
            for &member in members {
                for &callee in successors(member).iter().filter(|&&callee| homes[callee] == RuleNumber::NONE)
                {
                    arriving[callee] = arriving[callee].and(homes[member]);
                }
            }
        }
        // A cycle may lead through its home.
        let mut has_cycle = IdVec::of(false, count);
        let mut sizes = IdVec::of(0, count);
        components_of(
            count,
            homes.ids(),
            |rule| &all[rows_of_all.of(rule)],
            |members| {
                for &member in members {
                    let home = homes[member];
                    sizes[home] += 1;
                    has_cycle[home] |= sizes[home] >= options.min_joined_rules;
                }
                members.iter().for_each(|&member| sizes[homes[member]] = 0);
            },
        );
        if !has_cycle.iter().any(|&has| has) {
            return Self::default();
        }
        Self { homes, has_cycle }
    }

    /// Whether no rule is joined.
    pub(super) fn is_empty(&self) -> bool {
        self.homes.is_empty()
    }

    /// The rules into whose automata others are written.
    pub(super) fn homes(&self) -> impl Iterator<Item = RuleNumber> {
        self.has_cycle.entries().filter(|&(_, &has)| has).map(|(home, _)| home)
    }

    /// Whether others are written into the automaton of a rule.
    pub(super) fn is_home(&self, rule: RuleNumber) -> bool {
        self.has_cycle.get(rule).copied().unwrap_or(false)
    }

    /// The rule into whose automaton a rule is written, if there is one; a home is its own.
    pub(super) fn home(&self, rule: RuleNumber) -> Option<RuleNumber> {
        self.homes.get(rule).copied().filter(|&home| self.is_home(home))
    }
}

/// The home of rules that lead to one another, if they have the same.
fn home_of_all(members: &[RuleNumber], arriving: &IdVec<RuleNumber, Arriving>) -> Option<RuleNumber> {
    let all = members.iter().fold(Arriving::Nothing, |all, &member| match arriving[member] {
        Arriving::Nothing => all,
        Arriving::From(home) => all.and(home),
        Arriving::FromSeveral => Arriving::FromSeveral,
    });
    let mut entered = members.iter().copied().filter(|&member| arriving[member] != Arriving::Nothing);
    match (all, entered.next(), entered.next()) {
        (Arriving::From(home), ..) => Some(home),
        // All of them are written into the only one that others mention.
        (Arriving::FromSeveral, Some(entry), None) => Some(entry),
        _ => None,
    }
}

/// The homes of the rules that end with a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arriving {
    Nothing,
    From(RuleNumber),
    FromSeveral,
}

impl Arriving {
    fn and(self, home: RuleNumber) -> Self {
        match self {
            Self::Nothing => Self::From(home),
            Self::From(known) if known == home => self,
            _ => Self::FromSeveral,
        }
    }
}

/// Rules with those that they end with, in the order of the former. The same one is met once where a part is shared.
fn ends(grammar: &Grammar, graph: &Graph, numbers: &RuleNumbers) -> Vec<(RuleNumber, RuleNumber)> {
    let mut pairs = Vec::with_capacity(graph.target_count());
    let mut met = Met::new(grammar, numbers);
    let mut stack = Vec::with_capacity(64);
    for (number, &references) in graph.references.entries() {
        // Rules that are not reached, and those that others have compiled, mention none that are to be written.
        if references == 0 || graph.targets(number).is_empty() {
            continue;
        }
        let Some(rule) = numbers.rule(number) else { continue };
        stack.push(grammar.rule(rule).body());
        while let Some(id) = stack.pop() {
            let last = match grammar.expr(id) {
                Expr::Rule(target) => {
                    pairs.push((number, numbers.of(target)));
                    continue;
                }
                Expr::Choice(alternatives) => alternatives,
                Expr::Sequence([.., last]) => std::slice::from_ref(last),
                _ => continue,
            };
            if met.replace(id, number) != number {
                stack.extend_from_slice(last);
            }
        }
    }
    pairs
}
