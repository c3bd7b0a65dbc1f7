//! The arena: rules, expressions and what they are made of.

use crate::char_class::CharRange;
use crate::dispatch::Dispatch;
use crate::dispatch::DispatchData;
use crate::ids::{ExprId, RuleId};
use crate::json_escapes::JsonEscapes;
use crate::permutation::Counts;
use crate::permutation::Permutation;
use crate::rule_options::RuleOptions;
use crate::span::Span;
use crate::token::TokenRef;

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
    pub(crate) nodes: Vec<Node>,
    pub(crate) children: Vec<ExprId>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) ranges: Vec<CharRange>,
    pub(crate) tokens: Vec<TokenRef>,
    pub(crate) dispatches: Vec<DispatchData>,
    pub(crate) counts: Vec<Counts>,
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

/// A range in one of the grammar's pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Slice {
    #[inline]
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

/// An expression as stored. The public view is [`Expr`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Empty,
    Bytes(Slice),
    Class(Slice),
    Sequence(Slice),
    Choice(Slice),
    Repeat {
        body: ExprId,
        min: u32,
        max: Option<u32>,
    },
    Rule(RuleId),
    Intersection(Slice),
    Complement(ExprId),
    JsonEscaped(ExprId, JsonEscapes),
    Token(Slice),
    ExcludeToken(Slice),
    TagText(Slice),
    /// The bodies, and the place of the rest in its pool.
    TagDispatch(Slice, u32),
    /// The operands, and a place in the pool of counts.
    Permutation(Slice, u32),
}

/// An expression, as a view into its grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expr<'g> {
    /// The empty string.
    Empty,
    /// One byte string, which need not be UTF-8. Never empty.
    Bytes(&'g [u8]),
    /// One character out of sorted, disjoint, inclusive ranges. No ranges: matches nothing.
    Class(&'g [CharRange]),
    /// All parts, one after the other. At least two.
    Sequence(&'g [ExprId]),
    /// Any of the alternatives. At least two.
    Choice(&'g [ExprId]),
    /// The body `min` to `max` times; `None` is without end.
    Repeat {
        /// The repeated expression.
        body: ExprId,
        /// Least number of times.
        min: u32,
        /// Greatest number of times, `None` for any number.
        max: Option<u32>,
    },
    /// A rule.
    Rule(RuleId),
    /// The texts that every operand matches. At least two operands; regular operands only, which may hold tokens.
    Intersection(&'g [ExprId]),
    /// The texts (whole UTF-8) that the operand does not match; a regular operand only.
    Complement(ExprId),
    /// The operand read as *decoded* text, spelled as the inside of a JSON string (RFC 8259 section 7). A
    /// character is spelled as itself where JSON allows that, or as one of its [escapes](JsonEscapes). An
    /// escape is a short one, or `\uXXXX` (a surrogate pair above U+FFFF) in digits of either case. The
    /// quotes are not included; a regular operand only.
    JsonEscaped(ExprId, JsonEscapes),
    /// One token out of a set, taken as a whole. Sorted, each once, at least one.
    Token(&'g [TokenRef]),
    /// One token outside a set: a text token or a special one, but no stop token of the vocabulary. Sorted, each
    /// once.
    ExcludeToken(&'g [TokenRef]),
    /// A literal text in which the names of special tokens stand for those tokens, once a vocabulary is known
    /// ([`resolve_tokens`](crate::passes::resolve_tokens)). Without one it is a plain literal. Never empty.
    TagText(&'g str),
    /// Free text in which tags start structures; see [`TagDispatch`](crate::TagDispatch).
    TagDispatch(Dispatch<'g>),
    /// Parts in any order, none of them more often than it may occur.
    Permutation(Permutation<'g>),
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
        self.nodes.len()
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
        self.pools().view(id)
    }

    /// The rule that an expression refers to, if it is a reference: less work than to look at the whole expression.
    #[inline]
    pub fn as_rule(&self, id: ExprId) -> Option<RuleId> {
        match self.nodes[id.index()] {
            Node::Rule(rule) => Some(rule),
            _ => None,
        }
    }

    /// The direct operands of an expression, left to right: of a tag dispatch the bodies. Rule references have none.
    #[inline]
    pub fn operands(&self, id: ExprId) -> &[ExprId] {
        match &self.nodes[id.index()] {
            Node::Empty | Node::Bytes(_) | Node::Class(_) | Node::Rule(_) => &[],
            Node::Token(_) | Node::ExcludeToken(_) | Node::TagText(_) => &[],
            Node::Sequence(slice)
            | Node::Choice(slice)
            | Node::Intersection(slice)
            | Node::Permutation(slice, _)
            | Node::TagDispatch(slice, _) => &self.children[slice.range()],
            Node::Repeat { body, .. } => std::slice::from_ref(body),
            Node::Complement(operand) | Node::JsonEscaped(operand, _) => std::slice::from_ref(operand),
        }
    }

    #[inline]
    pub(crate) fn pools(&self) -> Pools<'_> {
        Pools {
            nodes: &self.nodes,
            children: &self.children,
            bytes: &self.bytes,
            ranges: &self.ranges,
            tokens: &self.tokens,
            dispatches: &self.dispatches,
            counts: &self.counts,
        }
    }

    /// Bytes of memory that the arena holds.
    pub fn memory_usage(&self) -> usize {
        self.rules.capacity() * size_of::<Rule>()
            + self.rules.iter().map(|rule| rule.name.len()).sum::<usize>()
            + self.nodes.capacity() * size_of::<Node>()
            + self.children.capacity() * size_of::<ExprId>()
            + self.bytes.capacity()
            + self.ranges.capacity() * size_of::<CharRange>()
            + self.counts.capacity() * size_of::<Counts>()
            + self.tokens.capacity() * size_of::<TokenRef>()
            + self.dispatches.iter().map(DispatchData::memory_usage).sum::<usize>()
    }
}

/// Where expressions are stored.
pub(crate) struct Pools<'g> {
    pub(crate) nodes: &'g [Node],
    pub(crate) children: &'g [ExprId],
    pub(crate) bytes: &'g [u8],
    pub(crate) ranges: &'g [CharRange],
    pub(crate) tokens: &'g [TokenRef],
    pub(crate) dispatches: &'g [DispatchData],
    pub(crate) counts: &'g [Counts],
}

impl<'g> Pools<'g> {
    /// The public view of a stored expression. Callers look at one kind after the other, so the inlined view
    /// is never written to memory.
    #[inline(always)]
    pub(crate) fn view(&self, id: ExprId) -> Expr<'g> {
        let (children, bytes, tokens) = (self.children, self.bytes, self.tokens);
        match self.nodes[id.index()] {
            Node::Empty => Expr::Empty,
            Node::Bytes(slice) => Expr::Bytes(&bytes[slice.range()]),
            Node::Class(slice) => Expr::Class(&self.ranges[slice.range()]),
            Node::Sequence(slice) => Expr::Sequence(&children[slice.range()]),
            Node::Choice(slice) => Expr::Choice(&children[slice.range()]),
            Node::Repeat { body, min, max } => Expr::Repeat { body, min, max },
            Node::Rule(rule) => Expr::Rule(rule),
            Node::Intersection(slice) => Expr::Intersection(&children[slice.range()]),
            Node::Complement(operand) => Expr::Complement(operand),
            Node::JsonEscaped(operand, escapes) => Expr::JsonEscaped(operand, escapes),
            Node::Token(slice) => Expr::Token(&tokens[slice.range()]),
            Node::ExcludeToken(slice) => Expr::ExcludeToken(&tokens[slice.range()]),
            Node::TagText(slice) => {
                let text = std::str::from_utf8(&bytes[slice.range()]);
                Expr::TagText(text.expect("the builder stores whole texts"))
            }
            Node::TagDispatch(slice, index) => {
                Expr::TagDispatch(self.dispatches[index as usize].view(&children[slice.range()]))
            }
            Node::Permutation(slice, place) => Expr::Permutation(Permutation {
                operands: &children[slice.range()],
                counts: self.counts[place as usize],
            }),
        }
    }
}
