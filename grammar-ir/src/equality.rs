//! Comparing grammars: equality of structure, and which parts of two grammars correspond.

use crate::hash::HashSet;

use crate::grammar::{Grammar, Node, Slice};
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
                let Some((ours, theirs)) = operands((self, pair.0), (other, pair.1)) else { return false };
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
            if let (Some(ours), Some(theirs)) = (self.as_rule(ours), other.as_rule(theirs)) {
                stack.extend(enter((ours, theirs), &mut found.rules)?);
                continue;
            }
            let is_repeat = matches!(self.nodes[ours.index()], Node::Repeat { .. });
            let (ours, theirs) = operands((self, ours), (other, theirs))?;
            let pairs = ours.iter().copied().zip(theirs.iter().copied());
            if is_repeat {
                found.repeated.extend(pairs.clone());
            }
            stack.extend(pairs);
        }
        Some(found)
    }
}

/// The operands of two expressions of two grammars that are equal but for these. Looks at what is stored, which is less
/// work than two views.
fn operands<'g>(
    (ours, id): (&'g Grammar, ExprId),
    (theirs, other): (&'g Grammar, ExprId),
) -> Option<(&'g [ExprId], &'g [ExprId])> {
    let none = |are_same: bool| are_same.then_some((&[][..], &[][..]));
    let all = |one: &Slice, other: &Slice| {
        let operands = (&ours.children[one.range()], &theirs.children[other.range()]);
        (one.len == other.len).then_some(operands)
    };
    match (&ours.nodes[id.index()], &theirs.nodes[other.index()]) {
        (Node::Empty, Node::Empty) => none(true),
        (Node::Bytes(one), Node::Bytes(other)) | (Node::TagText(one), Node::TagText(other)) => {
            none(ours.bytes[one.range()] == theirs.bytes[other.range()])
        }
        (Node::Class(one), Node::Class(other)) => {
            none(ours.ranges[one.range()] == theirs.ranges[other.range()])
        }
        (Node::Token(one), Node::Token(other)) | (Node::ExcludeToken(one), Node::ExcludeToken(other)) => {
            none(ours.tokens[one.range()] == theirs.tokens[other.range()])
        }
        (Node::Rule(one), Node::Rule(other)) => none(one == other),
        (Node::Sequence(one), Node::Sequence(other))
        | (Node::Choice(one), Node::Choice(other))
        | (Node::Intersection(one), Node::Intersection(other)) => all(one, other),
        (Node::Repeat { body, min, max }, Node::Repeat { body: other, min: other_min, max: other_max }) => {
            let are_same = (min, max) == (other_min, other_max);
            are_same.then_some((std::slice::from_ref(body), std::slice::from_ref(other)))
        }
        (Node::Complement(one), Node::Complement(other)) => {
            Some((std::slice::from_ref(one), std::slice::from_ref(other)))
        }
        (Node::JsonEscaped(one, escapes), Node::JsonEscaped(other, others)) if escapes == others => {
            Some((std::slice::from_ref(one), std::slice::from_ref(other)))
        }
        (Node::TagDispatch(one, data), Node::TagDispatch(other, others))
            if ours.dispatches[*data as usize] == theirs.dispatches[*others as usize] =>
        {
            all(one, other)
        }
        (Node::Permutation(one, counts), Node::Permutation(other, others))
            if ours.counts[*counts as usize] == theirs.counts[*others as usize] =>
        {
            all(one, other)
        }
        _ => None,
    }
}
