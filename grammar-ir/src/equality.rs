//! Comparing grammars: equality of structure, and which parts of two grammars correspond.

use crate::hash::HashSet;

use crate::expr::{Node, Pools, Slice};
use crate::grammar::Grammar;
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
        let pools = (&self.pools, &other.pools);
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
                let Some((ours, theirs)) = operands((pools.0, pair.0), (pools.1, pair.1)) else {
                    return false;
                };
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
        counterparts((self, rule), (other, other.root()), max_expressions)
    }
}

/// A holder of rules and expressions.
pub(crate) trait Rules {
    fn pools(&self) -> &Pools;

    /// The body of a rule without options and lookahead.
    fn plain_body(&self, rule: RuleId) -> Option<ExprId>;
}

impl Rules for Grammar {
    fn pools(&self) -> &Pools {
        &self.pools
    }

    fn plain_body(&self, rule: RuleId) -> Option<ExprId> {
        let rule = self.rule(rule);
        (rule.lookahead().is_none() && rule.options().is_empty()).then(|| rule.body())
    }
}

/// See [`Grammar::counterparts`].
pub(crate) fn counterparts(
    (ours, rule): (&impl Rules, RuleId),
    (theirs, other): (&Grammar, RuleId),
    max_expressions: usize,
) -> Option<Counterparts> {
    let mut found = Counterparts { rules: vec![None; theirs.rule_count()], repeated: Vec::new() };
    let mut met: Vec<Option<ExprId>> = vec![None; theirs.expr_count()];
    let mut stack: Vec<(ExprId, ExprId)> = Vec::with_capacity(64);
    let enter = |(our, their): (RuleId, RuleId), rules: &mut Vec<Option<RuleId>>| match rules[their.index()] {
        Some(known) => (known == our).then_some(None),
        None => {
            rules[their.index()] = Some(our);
            Some(Some((ours.plain_body(our)?, theirs.plain_body(their)?)))
        }
    };
    let pools = (ours.pools(), theirs.pools());
    stack.extend(enter((rule, other), &mut found.rules)?);
    let mut compared = 0;
    while let Some((our, their)) = stack.pop() {
        // A shared expression is looked at once, as long as its counterpart is shared as well.
        if met[their.index()].replace(our) == Some(our) {
            continue;
        }
        compared += 1;
        if compared > max_expressions {
            return None;
        }
        let nodes = (&pools.0.nodes[our.index()], &pools.1.nodes[their.index()]);
        if let (&Node::Rule(our), &Node::Rule(their)) = nodes {
            stack.extend(enter((our, their), &mut found.rules)?);
            continue;
        }
        let is_repeat = matches!(nodes.0, Node::Repeat { .. });
        let (ours, theirs) = operands((pools.0, our), (pools.1, their))?;
        let pairs = ours.iter().copied().zip(theirs.iter().copied());
        if is_repeat {
            found.repeated.extend(pairs.clone());
        }
        stack.extend(pairs);
    }
    Some(found)
}

/// The operands of two expressions of two grammars that are equal but for these. Looks at what is stored, which is less
/// work than two views.
fn operands<'g>(
    (ours, id): (&'g Pools, ExprId),
    (theirs, other): (&'g Pools, ExprId),
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
