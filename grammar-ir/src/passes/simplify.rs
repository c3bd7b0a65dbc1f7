//! Writing expressions more plainly.
//!
//! Bottom up, with equal expressions made one:
//!
//! * adjacent literals become one; a class of one character is a literal;
//! * a choice in a choice is spliced in, alternatives that occurred before are dropped, those that are one
//!   character become one class;
//! * expressions that match nothing are dropped from choices, and make sequences and intersections match
//!   nothing;
//! * a repeat of a repeat becomes one where the numbers of times leave no gap: `(a?)*` is `a*`, but `(a{2})*` is
//!   not;
//! * double complements cancel out, operands that occur twice in an intersection are dropped.

use std::collections::{HashMap, HashSet};

use super::rewrite::{Rewrite, copy, rewrite};
use crate::builder::GrammarBuilder;
use crate::char_class::{CharRange, normalize_ranges};
use crate::error::GrammarError;
use crate::grammar::{Expr, Grammar};
use crate::ids::{ExprId, RuleId};
use crate::json_escapes::JsonEscapes;
use crate::permutation::Counts;
use crate::permutation::Permutation;
use crate::token::TokenRef;

/// The simplified grammar passes a limit of the builder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("simplifying: {0}")]
pub struct SimplifyError(GrammarError);

/// Writes the expressions of all rules more plainly.
pub fn simplify(grammar: &Grammar) -> Result<Grammar, SimplifyError> {
    rewrite(grammar, |_| true, &mut Simplifier::default()).map_err(SimplifyError)
}

/// The identity of an expression of the new grammar.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Empty,
    Bytes(Box<[u8]>),
    Class(Box<[CharRange]>),
    Sequence(Box<[ExprId]>),
    Choice(Box<[ExprId]>),
    Repeat(ExprId, u32, Option<u32>),
    Rule(RuleId),
    Intersection(Box<[ExprId]>),
    Complement(ExprId),
    JsonEscaped(ExprId, JsonEscapes),
    Token(Box<[TokenRef]>),
    ExcludeToken(Box<[TokenRef]>),
    Permutation(Box<[ExprId]>, Counts),
}

#[derive(Default)]
struct Simplifier {
    interned: HashMap<Key, ExprId>,
}

impl Rewrite for Simplifier {
    /// Looks through choices in choices: going level by level would copy a deep nest of choices once for every
    /// level.
    fn operands(&mut self, grammar: &Grammar, id: ExprId, operands: &mut Vec<ExprId>) {
        let Expr::Choice(alternatives) = grammar.expr(id) else {
            operands.extend_from_slice(grammar.operands(id));
            return;
        };
        let mut met: HashSet<ExprId> = HashSet::new();
        let mut stack: Vec<ExprId> = alternatives.iter().rev().copied().collect();
        while let Some(alternative) = stack.pop() {
            if !met.insert(alternative) {
                continue;
            }
            match grammar.expr(alternative) {
                Expr::Choice(inner) => stack.extend(inner.iter().rev()),
                _ => operands.push(alternative),
            }
        }
    }

    fn make(&mut self, builder: &mut GrammarBuilder, expr: Expr<'_>, operands: &[ExprId]) -> ExprId {
        match expr {
            Expr::Empty => self.intern(builder, Key::Empty),
            Expr::Bytes(bytes) => self.intern(builder, Key::Bytes(bytes.into())),
            Expr::Class(ranges) => self.class(builder, ranges),
            Expr::Rule(rule) => self.intern(builder, Key::Rule(rule)),
            Expr::Token(tokens) => self.intern(builder, Key::Token(tokens.into())),
            Expr::ExcludeToken(tokens) => self.intern(builder, Key::ExcludeToken(tokens.into())),
            Expr::TagText(_) | Expr::TagDispatch(_) => copy(builder, expr, operands),
            Expr::Sequence(_) => self.sequence(builder, operands),
            Expr::Choice(_) => self.choice(builder, operands),
            Expr::Repeat { min, max, .. } => self.repeat(builder, operands[0], min, max),
            Expr::Intersection(_) => self.intersection(builder, operands),
            Expr::Complement(_) => match builder.expr(operands[0]) {
                Expr::Complement(inner) => inner,
                _ => self.intern(builder, Key::Complement(operands[0])),
            },
            Expr::JsonEscaped(_, escapes) => match builder.expr(operands[0]) {
                Expr::Empty | Expr::Class([]) => operands[0],
                _ => self.intern(builder, Key::JsonEscaped(operands[0], escapes)),
            },
            Expr::Permutation(permutation) => {
                self.intern(builder, Key::Permutation(operands.into(), permutation.counts))
            }
        }
    }
}

impl Simplifier {
    fn never(&mut self, builder: &mut GrammarBuilder) -> ExprId {
        self.intern(builder, Key::Class(Box::new([])))
    }

    fn class(&mut self, builder: &mut GrammarBuilder, ranges: &[CharRange]) -> ExprId {
        match *ranges {
            [(low, high)] if low == high => {
                let mut buffer = [0; 4];
                let bytes = low.encode_utf8(&mut buffer).as_bytes();
                self.intern(builder, Key::Bytes(bytes.into()))
            }
            _ => self.intern(builder, Key::Class(ranges.into())),
        }
    }

    fn sequence(&mut self, builder: &mut GrammarBuilder, parts: &[ExprId]) -> ExprId {
        let mut flat: Vec<ExprId> = Vec::with_capacity(parts.len());
        for &part in parts {
            match builder.expr(part) {
                Expr::Empty => {}
                Expr::Class([]) => return self.never(builder),
                // Operands are simplified first, so an inner sequence has no sequence inside.
                Expr::Sequence(inner) => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        let mut merged: Vec<ExprId> = Vec::with_capacity(flat.len());
        let mut index = 0;
        while index < flat.len() {
            let literal = |index: &usize| match flat.get(*index).map(|&part| builder.expr(part)) {
                Some(Expr::Bytes(bytes)) => Some(bytes),
                _ => None,
            };
            // After flattening, since literals may have become neighbours.
            let run: Vec<&[u8]> = (index..).map_while(|index| literal(&index)).collect();
            let length = run.len();
            if length > 1 {
                let bytes = run.concat();
                merged.push(self.intern(builder, Key::Bytes(bytes.into())));
            } else {
                merged.push(flat[index]);
            }
            index += length.max(1);
        }
        match merged.as_slice() {
            [] => self.intern(builder, Key::Empty),
            [only] => *only,
            _ => self.intern(builder, Key::Sequence(merged.into())),
        }
    }

    fn choice(&mut self, builder: &mut GrammarBuilder, alternatives: &[ExprId]) -> ExprId {
        let mut met: HashSet<ExprId> = HashSet::new();
        let mut kept: Vec<ExprId> = Vec::with_capacity(alternatives.len());
        let mut ranges: Vec<CharRange> = Vec::new();
        // The place of the first alternative of one character; the class of all of them goes there.
        let mut class_at = None;
        for &alternative in alternatives {
            let expr = builder.expr(alternative);
            if expr == Expr::Class(&[]) || !met.insert(alternative) {
                continue;
            }
            if let Some(characters) = one_character(expr) {
                ranges.extend(characters);
                if class_at.replace(class_at.unwrap_or(kept.len())).is_some() {
                    continue;
                }
            }
            kept.push(alternative);
        }
        if let Some(at) = class_at {
            kept[at] = self.class(builder, &normalize_ranges(ranges));
        }
        match kept.as_slice() {
            [] => self.never(builder),
            [only] => *only,
            _ => self.intern(builder, Key::Choice(kept.into())),
        }
    }

    fn repeat(&mut self, builder: &mut GrammarBuilder, body: ExprId, min: u32, max: Option<u32>) -> ExprId {
        match builder.expr(body) {
            // No text any number of times is no text.
            Expr::Empty => body,
            Expr::Class([]) if min > 0 => body,
            Expr::Class([]) => self.intern(builder, Key::Empty),
            Expr::Repeat { body: inner, min: inner_min, max: inner_max } => {
                match repeat_of_repeat((inner_min, inner_max), (min, max)) {
                    Some((min, max)) => self.intern(builder, Key::Repeat(inner, min, max)),
                    None => self.intern(builder, Key::Repeat(body, min, max)),
                }
            }
            _ => self.intern(builder, Key::Repeat(body, min, max)),
        }
    }

    fn intersection(&mut self, builder: &mut GrammarBuilder, operands: &[ExprId]) -> ExprId {
        let mut met: HashSet<ExprId> = HashSet::new();
        let kept: Vec<ExprId> = operands.iter().copied().filter(|&operand| met.insert(operand)).collect();
        if let Some(&never) = kept.iter().find(|&&operand| builder.expr(operand) == Expr::Class(&[])) {
            return never;
        }
        match kept.as_slice() {
            [only] => *only,
            _ => self.intern(builder, Key::Intersection(kept.into())),
        }
    }

    /// The expression of that key; made if there is none yet.
    fn intern(&mut self, builder: &mut GrammarBuilder, key: Key) -> ExprId {
        if let Some(&id) = self.interned.get(&key) {
            return id;
        }
        let id = match &key {
            Key::Empty => copy(builder, Expr::Empty, &[]),
            Key::Bytes(bytes) => copy(builder, Expr::Bytes(bytes), &[]),
            Key::Class(ranges) => copy(builder, Expr::Class(ranges), &[]),
            Key::Rule(rule) => copy(builder, Expr::Rule(*rule), &[]),
            Key::Sequence(parts) => copy(builder, Expr::Sequence(parts), parts),
            Key::Choice(parts) => copy(builder, Expr::Choice(parts), parts),
            Key::Repeat(body, min, max) => builder.repeat(*body, *min, *max),
            Key::Intersection(parts) => copy(builder, Expr::Intersection(parts), parts),
            Key::Complement(operand) => builder.complement(*operand),
            Key::JsonEscaped(operand, escapes) => builder.json_escaped_as(*operand, *escapes),
            Key::Token(tokens) => copy(builder, Expr::Token(tokens), &[]),
            Key::ExcludeToken(tokens) => copy(builder, Expr::ExcludeToken(tokens), &[]),
            Key::Permutation(operands, counts) => {
                let counts = *counts;
                copy(builder, Expr::Permutation(Permutation { operands, counts }), operands)
            }
        };
        self.interned.insert(key, id);
        id
    }
}

/// The characters of an expression that is exactly one character.
fn one_character(expr: Expr<'_>) -> Option<Vec<CharRange>> {
    match expr {
        Expr::Class(ranges) => Some(ranges.to_vec()),
        Expr::Bytes(bytes) => {
            let mut characters = std::str::from_utf8(bytes).ok()?.chars();
            match (characters.next(), characters.next()) {
                (Some(only), None) => Some(vec![(only, only)]),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The bounds of `(a{inner}){outer}` as one repeat of `a`, if no number of times between them is left out.
///
/// The outer repeat run `k` times gives `k * inner.min` to `k * inner.max`. The intervals of `k` and `k + 1`
/// leave no gap if `k * inner.max + 1 >= (k + 1) * inner.min`, and if that holds for one `k` it holds for all
/// greater ones. So it is enough to look at the least `k` that has a successor.
fn repeat_of_repeat(inner: (u32, Option<u32>), outer: (u32, Option<u32>)) -> Option<(u32, Option<u32>)> {
    let (inner_min, outer_min) = (u64::from(inner.0), u64::from(outer.0));
    if outer.1 != Some(outer.0) {
        // Nothing times an unbounded number is nothing.
        let reach = match inner.1 {
            None if outer_min > 0 => u64::MAX - 1,
            _ => outer_min * u64::from(inner.1.unwrap_or(0)),
        };
        if reach + 1 < (outer_min + 1) * inner_min {
            return None;
        }
    }
    let min = u32::try_from(inner_min * outer_min).ok()?;
    let max = match (inner.1, outer.1) {
        (Some(inner), Some(outer)) => Some(inner.checked_mul(outer)?),
        _ => None,
    };
    Some((min, max))
}
