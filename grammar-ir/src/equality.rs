//! Comparing grammars: equality of structure, and which parts of two grammars correspond.

use crate::hash::HashSet;

use crate::dispatch::Dispatch;
use crate::grammar::{Expr, Grammar};
use crate::ids::{ExprId, RuleId};

/// Whether rules must have equal names.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    Compared,
    Ignored,
}

impl Grammar {
    /// Whether both have the same root and the same rules in the same order, with the same names,
    /// expressions, options and lookaheads. The places of rules in their sources do not count, nor does the
    /// sharing of expressions.
    pub fn is_same(&self, other: &Self) -> bool {
        self.compare(other, Names::Compared)
    }

    /// [`is_same`](Self::is_same), whatever the names.
    pub fn is_same_up_to_names(&self, other: &Self) -> bool {
        self.compare(other, Names::Ignored)
    }

    fn compare(&self, other: &Self, names: Names) -> bool {
        if self.root() != other.root() || self.rule_count() != other.rule_count() {
            return false;
        }
        // Pairs that were compared, or are about to be; a shared expression is looked at once.
        let mut met: HashSet<(ExprId, ExprId)> = HashSet::default();
        let mut stack: Vec<(ExprId, ExprId)> = Vec::new();
        for id in self.rule_ids() {
            let (ours, theirs) = (self.rule(id), other.rule(id));
            if names == Names::Compared && ours.name() != theirs.name() {
                return false;
            }
            if ours.options() != theirs.options() {
                return false;
            }
            match (ours.lookahead(), theirs.lookahead()) {
                (None, None) => {}
                (Some(ours), Some(theirs)) => stack.push((ours, theirs)),
                _ => return false,
            }
            stack.push((ours.body(), theirs.body()));
            while let Some(pair) = stack.pop() {
                if !met.insert(pair) {
                    continue;
                }
                if !is_same_kind(self.expr(pair.0), other.expr(pair.1)) {
                    return false;
                }
                let (ours, theirs) = (self.operands(pair.0), other.operands(pair.1));
                if ours.len() != theirs.len() {
                    return false;
                }
                stack.extend(ours.iter().copied().zip(theirs.iter().copied()));
            }
        }
        true
    }
}

/// The parts of two grammars that correspond to one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counterparts {
    /// For each rule of the second grammar the one of the first, where there is one.
    pub rules: Vec<Option<RuleId>>,
    /// The bodies of repeats: of the first grammar, and of the second. A body may occur more than once.
    pub repeated: Vec<(ExprId, ExprId)>,
}

impl Grammar {
    /// Whether a rule derives the same expression trees as another grammar, whatever the names, and which parts correspond.
    /// Rules with options have no counterpart, and each rule of the other grammar has at most one. `None` also where more
    /// than `max_expressions` would have to be compared.
    pub fn counterparts(&self, rule: RuleId, other: &Self, max_expressions: usize) -> Option<Counterparts> {
        let mut found = Counterparts { rules: vec![None; other.rule_count()], repeated: Vec::new() };
        let mut met: Vec<Option<ExprId>> = vec![None; other.expr_count()];
        let mut stack: Vec<(ExprId, ExprId)> = Vec::with_capacity(64);
        let enter =
            |(ours, theirs): (RuleId, RuleId), rules: &mut Vec<Option<RuleId>>| match rules[theirs.index()] {
                Some(known) => (known == ours).then_some(None),
                None => {
                    rules[theirs.index()] = Some(ours);
                    let (ours, theirs) = (self.rule(ours), other.rule(theirs));
                    let plain = ours.lookahead().is_none() && theirs.lookahead().is_none();
                    let plain = plain && ours.options().is_empty() && theirs.options().is_empty();
                    plain.then(|| Some((ours.body(), theirs.body())))
                }
            };
        stack.extend(enter((rule, other.root()), &mut found.rules)?);
        let mut compared = 0;
        while let Some((ours, theirs)) = stack.pop() {
            // A shared expression is looked at once, as long as its counterpart is shared as well.
            if met[theirs.index()].replace(ours) == Some(ours) {
                continue;
            }
            compared += 1;
            if compared > max_expressions {
                return None;
            }
            match (self.expr(ours), other.expr(theirs)) {
                (Expr::Rule(ours), Expr::Rule(theirs)) => {
                    stack.extend(enter((ours, theirs), &mut found.rules)?);
                    continue;
                }
                (one, other) if !is_same_kind(one, other) => return None,
                (Expr::Repeat { body, .. }, Expr::Repeat { body: other, .. }) => {
                    found.repeated.push((body, other));
                }
                _ => {}
            }
            let (ours, theirs) = (self.operands(ours), other.operands(theirs));
            if ours.len() != theirs.len() {
                return None;
            }
            stack.extend(ours.iter().copied().zip(theirs.iter().copied()));
        }
        Some(found)
    }
}

/// Whether two expressions are equal, whatever their operands.
fn is_same_kind(ours: Expr<'_>, theirs: Expr<'_>) -> bool {
    match (ours, theirs) {
        (Expr::Empty, Expr::Empty)
        | (Expr::Sequence(_), Expr::Sequence(_))
        | (Expr::Choice(_), Expr::Choice(_))
        | (Expr::Intersection(_), Expr::Intersection(_))
        | (Expr::Complement(_), Expr::Complement(_)) => true,
        (Expr::JsonEscaped(_, ours), Expr::JsonEscaped(_, theirs)) => ours == theirs,
        (Expr::Token(ours), Expr::Token(theirs)) | (Expr::ExcludeToken(ours), Expr::ExcludeToken(theirs)) => {
            ours == theirs
        }
        (Expr::TagText(ours), Expr::TagText(theirs)) => ours == theirs,
        (Expr::TagDispatch(ours), Expr::TagDispatch(theirs)) => {
            Dispatch { bodies: &[], ..ours } == Dispatch { bodies: &[], ..theirs }
        }
        (Expr::Bytes(ours), Expr::Bytes(theirs)) => ours == theirs,
        (Expr::Class(ours), Expr::Class(theirs)) => ours == theirs,
        (Expr::Rule(ours), Expr::Rule(theirs)) => ours == theirs,
        (Expr::Repeat { min, max, .. }, Expr::Repeat { min: other_min, max: other_max, .. }) => {
            (min, max) == (other_min, other_max)
        }
        (Expr::Permutation(ours), Expr::Permutation(theirs)) => ours.counts == theirs.counts,
        _ => false,
    }
}
