//! Facts about every expression before parsing: does it derive anything, does it derive the empty string.
//!
//! Both are least fixed points, found in the plainest way: assume *no* for all, apply the definition to
//! every expression, and go round until nothing changes. No assumption of *no* is ever relied on for a *yes*.

use ahash::AHashMap;
use grammask_grammar_ir::{DispatchEnd, Expr, ExprId, Grammar, RuleId};

use crate::dispatch::FreeText;
use crate::permutation;
use crate::text::{Remainder, Texts};

/// Facts about the expressions that the root reaches outside regular operators.
#[derive(Debug)]
pub(crate) struct Facts {
    /// By expression: whether it derives something.
    productive: Vec<bool>,
    /// By expression: whether it derives the empty string.
    nullable: Vec<bool>,
    /// The remainder of each regular operator that is reached and matches something, before its first byte.
    operators: AHashMap<ExprId, Remainder>,
    /// The tag dispatches that are reached.
    dispatches: AHashMap<ExprId, FreeText>,
}

impl Facts {
    pub(crate) fn new(grammar: &Grammar) -> (Self, Texts) {
        let reached = reached(grammar, &[grammar.rule(grammar.root()).body()], Below::Stop);
        let is_operator = |expr: &ExprId| {
            matches!(grammar.expr(*expr), Expr::Intersection(_) | Expr::Complement(_) | Expr::JsonEscaped(..))
        };
        let operators: Vec<ExprId> = reached.iter().copied().filter(is_operator).collect();
        let mut texts = Texts::new(grammar, &self::reached(grammar, &operators, Below::Enter));
        let mut known = AHashMap::new();
        let starts = operators
            .into_iter()
            .filter_map(|operator| Some((operator, texts.start(grammar, operator, &mut known)?)))
            .collect();

        let dispatches = reached
            .iter()
            .filter_map(|&expr| match grammar.expr(expr) {
                Expr::TagDispatch(dispatch) => Some((expr, FreeText::new(&dispatch))),
                _ => None,
            })
            .collect();

        let mut facts = Self {
            productive: vec![false; grammar.expr_count()],
            nullable: vec![false; grammar.expr_count()],
            operators: starts,
            dispatches,
        };
        facts.close(grammar, &reached, &texts);
        (facts, texts)
    }

    pub(crate) fn is_productive(&self, expr: ExprId) -> bool {
        self.productive[expr.index()]
    }

    pub(crate) fn is_nullable(&self, expr: ExprId) -> bool {
        self.nullable[expr.index()]
    }

    /// The remainder of a regular operator before its first byte, if it matches anything.
    pub(crate) fn operator(&self, expr: ExprId) -> Option<Remainder> {
        self.operators.get(&expr).copied()
    }

    /// A tag dispatch that is reached.
    pub(crate) fn dispatch(&self, expr: ExprId) -> Option<&FreeText> {
        self.dispatches.get(&expr)
    }

    fn close(&mut self, grammar: &Grammar, reached: &[ExprId], texts: &Texts) {
        loop {
            // Builders make operands before the expressions that contain them, and rules in either order of
            // reference; one of the two directions settles most in one round.
            let upwards = self.sweep(grammar, reached.iter(), texts);
            let downwards = self.sweep(grammar, reached.iter().rev(), texts);
            if !upwards && !downwards {
                return;
            }
        }
    }

    /// Applies the definition to every expression, and says whether anything changed.
    fn sweep<'e>(
        &mut self,
        grammar: &Grammar,
        exprs: impl Iterator<Item = &'e ExprId>,
        texts: &Texts,
    ) -> bool {
        let mut changed = false;
        for &expr in exprs {
            let (productive, nullable) = self.judge(grammar, expr, texts);
            changed |= productive != self.is_productive(expr) || nullable != self.is_nullable(expr);
            self.productive[expr.index()] = productive;
            self.nullable[expr.index()] = nullable;
        }
        changed
    }

    /// The definition: (derives something, derives the empty string), given the same of the operands.
    fn judge(&self, grammar: &Grammar, expr: ExprId, texts: &Texts) -> (bool, bool) {
        let productive = |expr: &ExprId| self.is_productive(*expr);
        let nullable = |expr: &ExprId| self.is_nullable(*expr);
        match grammar.expr(expr) {
            Expr::Empty => (true, true),
            Expr::Bytes(bytes) => (true, bytes.is_empty()),
            Expr::Class(ranges) => (!ranges.is_empty(), false),
            Expr::Token(_) | Expr::ExcludeToken(_) | Expr::TagText(_) => (true, false),
            Expr::TagDispatch(dispatch) => {
                let something = |text: &FreeText| text.derives_something(&|body| self.is_productive(body));
                (self.dispatch(expr).is_some_and(something), dispatch.end == DispatchEnd::Anywhere)
            }
            Expr::Sequence(parts) => (parts.iter().all(productive), parts.iter().all(nullable)),
            Expr::Choice(parts) => (parts.iter().any(productive), parts.iter().any(nullable)),
            Expr::Repeat { body, min, .. } => (min == 0 || productive(&body), min == 0 || nullable(&body)),
            Expr::Permutation(permutation) => {
                // Parts are not empty; how many can be read is a matter of counting those that derive something.
                let finishable = permutation::can_finish(permutation, 0, 0, &|part| self.is_productive(part));
                (finishable, false)
            }
            Expr::Rule(rule) => {
                let body = grammar.rule(rule).body();
                (productive(&body), nullable(&body))
            }
            _ => match self.operator(expr) {
                Some(remainder) => (true, texts.is_complete(remainder)),
                None => (false, false),
            },
        }
    }
}

/// Whether to look below regular operators.
#[derive(Clone, Copy, PartialEq)]
enum Below {
    Enter,
    Stop,
}

/// All expressions that `starts` reach, themselves included, ascending.
fn reached(grammar: &Grammar, starts: &[ExprId], below: Below) -> Vec<ExprId> {
    let mut is_reached = vec![false; grammar.expr_count()];
    let mut rules_met = vec![false; grammar.rule_count()];
    let mut met_rule = |rule: RuleId| std::mem::replace(&mut rules_met[rule.index()], true);
    let mut stack = starts.to_vec();
    while let Some(expr) = stack.pop() {
        if std::mem::replace(&mut is_reached[expr.index()], true) {
            continue;
        }
        match grammar.expr(expr) {
            Expr::Rule(rule) if !met_rule(rule) => stack.push(grammar.rule(rule).body()),
            Expr::Intersection(_) | Expr::Complement(_) | Expr::JsonEscaped(..) if below == Below::Stop => {}
            _ => stack.extend_from_slice(grammar.operands(expr)),
        }
    }
    let ids = (0..grammar.expr_count()).filter(|&index| is_reached[index]);
    ids.map(|index| ExprId::new(index).expect("it indexes the grammar")).collect()
}
