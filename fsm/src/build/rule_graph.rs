//! The references between the rules of a grammar.

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{ExprId, Grammar, RuleId};

use crate::build::ids::{RuleNumber, RuleNumbers};
use crate::graph::components_of;
use crate::ids::{Id, IdVec, Offset};

/// References between reachable rules.
pub(crate) struct Graph {
    pub(super) numbers: RuleNumbers,
    /// Where the rule's references begin in `targets`, for reachable rules.
    rows: IdVec<RuleNumber, (Offset, Offset)>,
    targets: Vec<RuleNumber>,
    /// How many references to each rule there are in reachable rules.
    pub(super) references: IdVec<RuleNumber, u32>,
    root: RuleNumber,
}

impl Graph {
    /// All references.
    pub(crate) fn of(grammar: &Grammar) -> Self {
        Self::new(grammar, grammar.root(), |_| false)
    }

    /// The rules that a rule refers to, some of them several times.
    pub(crate) fn targets(&self, rule: RuleNumber) -> &[RuleNumber] {
        let (start, end) = self.rows[rule];
        &self.targets[start.index()..end.index()]
    }

    /// How often rules are mentioned.
    pub(super) fn target_count(&self) -> usize {
        self.targets.len()
    }

    pub(super) fn new(grammar: &Grammar, root: RuleId, mut is_known: impl FnMut(RuleId) -> bool) -> Self {
        // Of a part of a grammar, work and room do not depend on the whole.
        let (mut numbers, count) = match root == grammar.root() {
            true => (RuleNumbers::All, grammar.rule_count()),
            false => (RuleNumbers::none(), 0),
        };
        let mut met = Met::new(grammar, &numbers);
        let mut graph = Self {
            root: numbers.meet(root),
            numbers,
            rows: IdVec::of((Offset::FIRST, Offset::FIRST), count),
            targets: Vec::with_capacity(4 * count),
            references: IdVec::of(0, count),
        };
        let mut pending = vec![root];
        graph.make_room();
        graph.references[graph.root] = 1;
        let mut stack = Vec::with_capacity(64);
        while let Some(rule) = pending.pop() {
            let start = graph.targets.len();
            let number = graph.numbers.of(rule);
            let mut sharing = 0;
            stack.push(grammar.rule(rule).body());
            while let Some(id) = stack.pop() {
                if let Some(target) = grammar.as_rule(id) {
                    let callee = graph.numbers.meet(target);
                    graph.make_room();
                    let references = &mut graph.references[callee];
                    // A rule is walked once, when it is first mentioned.
                    if *references == 0 && !is_known(target) {
                        pending.push(target);
                    }
                    *references = references.saturating_add(1);
                    // A mention is listed each time that it is met, because each is a reference to count.
                    graph.targets.push(callee);
                    continue;
                }
                let operands = grammar.operands(id);
                if operands.is_empty() {
                    continue;
                }
                match met.replace(id, number) == number {
                    false => stack.extend_from_slice(operands),
                    true => sharing = 1,
                }
            }
            // The content of a shared part is written more than once.
            for &target in &graph.targets[start..] {
                let references = &mut graph.references[target];
                *references = references.saturating_add(sharing);
            }
            let row = (Offset::from_index(start), Offset::from_index(graph.targets.len()));
            graph.rows[number] = row;
        }
        // The root is called from outside as well.
        graph.references[graph.root] = graph.references[graph.root].saturating_add(1);
        graph
    }

    /// Gives room to the rule that was met last.
    #[inline]
    fn make_room(&mut self) {
        if let RuleNumbers::Met(_, rules) = &self.numbers
            && self.rows.len() < rules.len()
        {
            self.rows.push((Offset::FIRST, Offset::FIRST));
            self.references.push(0);
        }
    }

    /// Visits every reachable rule that is not recursive, callees before callers. Returns how many of the others lead to one
    /// another, at most.
    pub(super) fn acyclic_bottom_up(&self, mut visit: impl FnMut(RuleNumber)) -> usize {
        let successors = |rule: RuleNumber| self.targets(rule);
        let mut largest_cycle = 0;
        components_of(self.rows.len(), [self.root], successors, |members| match *members {
            [rule] if !successors(rule).contains(&rule) => visit(rule),
            _ => largest_cycle = largest_cycle.max(members.len()),
        });
        largest_cycle
    }
}

/// The rule in whose walk each expression was met last: parts may be shared within a rule.
pub(super) enum Met {
    All(Vec<RuleNumber>),
    Some(HashMap<ExprId, RuleNumber>),
}

impl Met {
    /// Of a whole grammar in a table, of a part of one in a map.
    pub(super) fn new(grammar: &Grammar, numbers: &RuleNumbers) -> Self {
        match numbers {
            RuleNumbers::All => Self::All(vec![RuleNumber::NONE; grammar.expr_count()]),
            RuleNumbers::Met(..) => Self::Some(HashMap::default()),
        }
    }

    #[inline]
    pub(super) fn replace(&mut self, expr: ExprId, rule: RuleNumber) -> RuleNumber {
        match self {
            Self::All(rules) => std::mem::replace(&mut rules[expr.index()], rule),
            Self::Some(rules) => rules.insert(expr, rule).unwrap_or(RuleNumber::NONE),
        }
    }
}
