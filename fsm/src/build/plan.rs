//! Facts about the rules that the build needs beforehand: which are reachable, which are recursive, which are
//! written into their callers, and whether the copies of a repeat stay small.

use grammask_grammar_ir::{Expr, ExprId, Grammar, RuleId};
use smallvec::SmallVec;

use crate::build::ids::{RuleNumber, RuleNumbers};
use crate::build::joined_rules::JoinedRules;
use crate::build::rule_graph::Graph;
use crate::ids::IdVec;
use crate::link::scope::Parts;
use crate::options::CompileOptions;
use grammask_grammar_ir::Toggle;

/// Facts on the rules of one grammar.
pub(crate) struct Plan {
    /// Those of the rules that the build may write as they are.
    pub(crate) numbers: RuleNumbers,
    rules: IdVec<RuleNumber, RulePlan>,
    /// The rules that are written into the automata of others.
    pub(super) joined: JoinedRules,
    expand_states: u32,
}

#[derive(Clone, Copy)]
struct RulePlan {
    /// How many references to the rule there are in reachable rules.
    references: u32,
    /// The number of its automaton's states, `BIG` and more being the same.
    cost: u32,
    how: Reference,
}

impl RulePlan {
    const NOT_MET: Self = Self { references: 0, cost: 1, how: Reference::Call };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reference {
    Call,
    /// The only reference: inlining makes nothing bigger unless the place itself is copied.
    InlineOnce,
    InlineSmall,
}

const BIG: u32 = 1 << 20;

impl Plan {
    /// `is_known` says that a rule has its automaton already: the rules to which it refers are not looked at.
    /// It is asked at most once for each rule.
    pub(crate) fn new(
        grammar: &Grammar,
        options: &CompileOptions,
        parts: &Parts<'_>,
        root: RuleId,
        mut is_known: impl FnMut(RuleId) -> bool,
    ) -> Self {
        let mut graph = Graph::new(grammar, root, |rule| parts.hides(rule) || is_known(rule));
        let mut plan = Self {
            joined: JoinedRules::default(),
            numbers: std::mem::replace(&mut graph.numbers, RuleNumbers::All),
            rules: graph
                .references
                .iter()
                .map(|&references| RulePlan { references, ..RulePlan::NOT_MET })
                .collect(),
            expand_states: options.expand_states,
        };
        if options.inlining == Toggle::On {
            // Callees come first, so that the cost of a rule is known when it is needed. No caller
            // distinguishes greater costs.
            let budget = options.inline_states.max(options.expand_states).min(64);
            let largest_cycle = graph.acyclic_bottom_up(|rule| {
                let Some(id) = plan.numbers.rule(rule) else { return };
                if parts.of(id).is_some() {
                    // A linked part is always a call, and a caller with such a call is no small rule.
                    plan.rules[rule].cost = BIG;
                    return;
                }
                if !grammar.rule(id).options().is_empty() {
                    return;
                }
                let cost = plan.cost(grammar, grammar.rule(id).body(), budget).unwrap_or(BIG);
                let entry = &mut plan.rules[rule];
                if cost <= options.inline_states {
                    (entry.how, entry.cost) = (Reference::InlineSmall, cost);
                // A rule with one reference is moved into its caller, however large it is.
                } else if entry.references == 1 {
                    (entry.how, entry.cost) = (Reference::InlineOnce, cost);
                }
            });
            if largest_cycle >= options.min_joined_rules {
                let is_apart = |id: RuleId| parts.of(id).is_some() || !grammar.rule(id).options().is_empty();
                plan.joined = JoinedRules::find(grammar, options, &graph, &plan.numbers, is_apart);
                for home in plan.joined.homes() {
                    plan.rules[home].how = Reference::Call;
                }
            }
        }
        plan
    }

    /// Rules to which known ones alone refer were not met.
    fn of(&self, rule: RuleId) -> RulePlan {
        self.rules.get(self.numbers.of(rule)).copied().unwrap_or(RulePlan::NOT_MET)
    }

    /// How many rules have numbers.
    pub(crate) fn rule_count(&self) -> usize {
        self.rules.len()
    }

    /// Whether a reference to the rule is to be replaced by its body. `copies` says that the place of the
    /// reference may be written more than once.
    pub(crate) fn inlines(&self, rule: RuleId, copies: Copies) -> bool {
        match (self.of(rule).how, copies) {
            (Reference::Call, _) | (Reference::InlineOnce, Copies::Many) => false,
            (Reference::InlineOnce, Copies::One) => true,
            // Spelled as JSON, a small rule is not small.
            (Reference::InlineSmall, _) => true,
        }
    }

    /// About how many states an expression's automaton has, or `None` if that is more than `budget`. Work is
    /// bounded by the budget.
    pub(crate) fn cost(&self, grammar: &Grammar, expr: ExprId, budget: u32) -> Option<u32> {
        let mut total = 0u32;
        // Pending expressions, each with the number of copies that the repeats around it make.
        let mut stack: SmallVec<[(ExprId, u32); 32]> = SmallVec::new();
        stack.push((expr, 1u32));
        let mut visits = 0;
        while let Some((id, copies)) = stack.pop() {
            visits += 1;
            // Expressions without states cost visits, too, so that the work is bounded by the budget.
            if visits > 4 * budget + 16 {
                return None;
            }
            let own = match grammar.expr(id) {
                Expr::Empty => 0,
                Expr::Bytes(bytes) => u32::try_from(bytes.len()).unwrap_or(BIG),
                Expr::Class(ranges) if ranges.last().is_none_or(|range| range.1.is_ascii()) => 1,
                Expr::Class(ranges) => 6u32.saturating_mul(u32::try_from(ranges.len()).unwrap_or(BIG)),
                Expr::Sequence(parts) | Expr::Choice(parts) => {
                    if u32::try_from(parts.len()).unwrap_or(u32::MAX) > 4 * budget {
                        return None;
                    }
                    stack.extend(parts.iter().map(|&part| (part, copies)));
                    0
                }
                Expr::Repeat { body, min, max } => {
                    let times = max.unwrap_or(min).max(1);
                    // A long repeat is a call of a fragment of its own.
                    if times <= self.expand_states {
                        stack.push((body, copies.saturating_mul(times)));
                    }
                    1
                }
                Expr::Rule(rule) => self.of(rule).cost,
                Expr::JsonEscaped(operand, _) => {
                    stack.push((operand, copies.saturating_mul(16)));
                    0
                }
                // Intersections, complements, and kinds of expressions that may be added.
                _ => BIG,
            };
            total = total.saturating_add(own.saturating_mul(copies));
            if total > budget {
                return None;
            }
        }
        Some(total)
    }
}

/// Whether a place of the grammar is written into the automata once or several times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Copies {
    One,
    Many,
}
