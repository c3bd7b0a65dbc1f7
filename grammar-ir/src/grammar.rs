//! The arena: rules and their expressions.

use crate::expr::{Expr, Node, Pools};
use crate::ids::{ExprId, RuleId};
use crate::rule_options::RuleOptions;
use crate::span::Span;

/// A grammar: a set of rules, one of which is the root.
///
/// Immutable; made by a [`GrammarBuilder`](crate::GrammarBuilder). Every reference in it is valid, every
/// rule is defined, and operands of regular operators are text and not recursive.
///
/// `==` compares arenas, which may hold equal expressions in another order; [`is_same`](Self::is_same)
/// compares languages rule by rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    pub(crate) rules: Vec<Rule>,
    pub(crate) pools: Pools,
    pub(crate) root: RuleId,
    pub(crate) common: Vec<RuleId>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub(crate) name: Box<str>,
    pub(crate) body: ExprId,
    pub(crate) lookahead: Option<ExprId>,
    pub(crate) options: RuleOptions,
    pub(crate) span: Option<Span>,
}

impl Rule {
    /// The rule's name, unique in its grammar.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The expression that the rule derives.
    #[inline]
    pub fn body(&self) -> ExprId {
        self.body
    }

    /// A written lookahead `(=...)`. It is kept for printing and has no effect on the language.
    pub fn lookahead(&self) -> Option<ExprId> {
        self.lookahead
    }

    /// The attributes of the rule beside its texts.
    pub fn options(&self) -> &RuleOptions {
        &self.options
    }

    /// The place of the rule in the source that it came from.
    pub fn span(&self) -> Option<Span> {
        self.span
    }
}

impl Grammar {
    /// The start rule.
    pub fn root(&self) -> RuleId {
        self.root
    }

    /// Rules that other grammars are likely to have too, each with all that it refers to
    /// ([`GrammarBuilder::add_common`](crate::GrammarBuilder::add_common)). A hint, which passes that copy a grammar keep.
    pub fn common(&self) -> &[RuleId] {
        &self.common
    }

    /// How many rules there are.
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }

    /// How many expressions there are, all rules taken together.
    pub fn expr_count(&self) -> usize {
        self.pools.nodes.len()
    }

    /// All rule ids, in the order of declaration.
    pub fn rule_ids(&self) -> impl ExactSizeIterator<Item = RuleId> + use<> {
        (0..self.rules.len() as u32).map(|raw| RuleId::new(raw as usize).expect("the builder bounds ids"))
    }

    /// A rule of this grammar. Panics for an id of another, larger grammar.
    #[inline]
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.index()]
    }

    /// The rule of that name.
    pub fn rule_by_name(&self, name: &str) -> Option<RuleId> {
        self.rules.iter().position(|rule| &*rule.name == name).and_then(RuleId::new)
    }

    /// An expression of this grammar. Panics for an id of another, larger grammar.
    #[inline]
    pub fn expr(&self, id: ExprId) -> Expr<'_> {
        self.pools.view(id)
    }

    /// The rule that an expression refers to, if it is a reference: less work than to look at the whole expression.
    #[inline]
    pub fn as_rule(&self, id: ExprId) -> Option<RuleId> {
        match self.pools.nodes[id.index()] {
            Node::Rule(rule) => Some(rule),
            _ => None,
        }
    }

    /// The direct operands of an expression, left to right: of a tag dispatch the bodies. Rule references have none.
    #[inline]
    pub fn operands(&self, id: ExprId) -> &[ExprId] {
        self.pools.operands(id)
    }

    /// The expressions that some lead to, themselves included, each once: operands, and the bodies of rules.
    pub fn expressions_below(&self, roots: impl IntoIterator<Item = ExprId>) -> impl Iterator<Item = ExprId> {
        let mut stack: Vec<ExprId> = roots.into_iter().collect();
        let mut is_met = vec![false; if stack.is_empty() { 0 } else { self.expr_count() }];
        std::iter::from_fn(move || {
            while let Some(id) = stack.pop() {
                if !std::mem::replace(&mut is_met[id.index()], true) {
                    match self.as_rule(id) {
                        Some(rule) => stack.push(self.rule(rule).body()),
                        None => stack.extend_from_slice(self.operands(id)),
                    }
                    return Some(id);
                }
            }
            None
        })
    }

    /// Bytes of memory that the arena holds.
    pub fn memory_usage(&self) -> usize {
        self.rules.capacity() * size_of::<Rule>()
            + self.rules.iter().map(|rule| rule.name.len()).sum::<usize>()
            + self.pools.memory_usage()
    }
}
