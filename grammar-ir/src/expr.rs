//! Expressions: how they are seen, and where those of a grammar are stored, finished or not.

use crate::char_class::CharRange;
use crate::dispatch::{Dispatch, DispatchData};
use crate::ids::{ExprId, RuleId};
use crate::json_escapes::JsonEscapes;
use crate::permutation::{Counts, Permutation};
use crate::token::TokenRef;

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

/// A range in one of the pools.
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

/// Where expressions are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pools {
    pub(crate) nodes: Vec<Node>,
    pub(crate) children: Vec<ExprId>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) ranges: Vec<CharRange>,
    pub(crate) tokens: Vec<TokenRef>,
    pub(crate) dispatches: Vec<DispatchData>,
    pub(crate) counts: Vec<Counts>,
}

impl Pools {
    /// Pools with room for about this number of expressions.
    pub(crate) fn with_capacity(expressions: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(expressions),
            children: Vec::with_capacity(2 * expressions),
            bytes: Vec::with_capacity(2 * expressions),
            ranges: Vec::with_capacity(expressions / 4),
            ..Self::default()
        }
    }

    /// The public view of a stored expression. Callers look at one kind after the other, so the inlined view
    /// is never written to memory.
    #[inline(always)]
    pub(crate) fn view(&self, id: ExprId) -> Expr<'_> {
        let (children, bytes, tokens) = (&self.children, &self.bytes, &self.tokens);
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

    /// The direct operands of an expression; of a tag dispatch the bodies.
    #[inline]
    pub(crate) fn operands(&self, id: ExprId) -> &[ExprId] {
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

    /// Bytes of memory that are held.
    pub(crate) fn memory_usage(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.children.capacity() * size_of::<ExprId>()
            + self.bytes.capacity()
            + self.ranges.capacity() * size_of::<CharRange>()
            + self.counts.capacity() * size_of::<Counts>()
            + self.tokens.capacity() * size_of::<TokenRef>()
            + self.dispatches.iter().map(DispatchData::memory_usage).sum::<usize>()
    }
}
