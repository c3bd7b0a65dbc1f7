//! The texts of an expression but the empty one.
//!
//! A `minLength` of 1 beside a pattern or a format is the most common bound. An intersection with "one character or more"
//! makes the automaton of the pattern deterministic, which for the format `regex` takes 200 ms. Nothing is gained by it:
//! the same expression can be written without its empty text.

use grammask_grammar_ir::{Expr, ExprId, GrammarBuilder};

/// Expressions inside one another that are looked at. Deeper ones are left to the intersection.
const MAX_DEPTH: u32 = 50;

/// Expressions that are looked at in all, as operands of different ones also more than once.
const MAX_LOOKS: u32 = 2_000;

/// Parts in a row that may all be empty: each but the first is written once more with those after it.
const MAX_PARTS: usize = 4;

/// The texts of an expression but the empty one; `None` where an intersection has to say it.
pub(super) fn nonempty(builder: &mut GrammarBuilder, expr: ExprId) -> Option<ExprId> {
    let found = Splitter { builder, looks: MAX_LOOKS }.split(expr, MAX_DEPTH)?;
    Some(found.rest.unwrap_or_else(|| builder.never()))
}

/// An expression in two.
struct Split {
    has_empty: bool,
    /// All texts but the empty one, if there are any.
    rest: Option<ExprId>,
}

struct Splitter<'b> {
    builder: &'b mut GrammarBuilder,
    looks: u32,
}

impl Splitter<'_> {
    fn split(&mut self, expr: ExprId, depth: u32) -> Option<Split> {
        let below = depth.checked_sub(1)?;
        self.looks = self.looks.checked_sub(1)?;
        let unchanged = Split { has_empty: false, rest: Some(expr) };
        match self.builder.expr(expr) {
            Expr::Empty => Some(Split { has_empty: true, rest: None }),
            Expr::Bytes(_) | Expr::Class(_) => Some(unchanged),
            Expr::Choice(alternatives) => {
                let alternatives = alternatives.to_vec();
                let parts: Option<Vec<Split>> =
                    alternatives.iter().map(|&part| self.split(part, below)).collect();
                let parts = parts?;
                if parts.iter().all(|part| !part.has_empty) {
                    return Some(unchanged);
                }
                let rest = self.join(parts.into_iter().filter_map(|part| part.rest).collect());
                Some(Split { has_empty: true, rest })
            }
            Expr::Sequence(parts) => {
                let parts = parts.to_vec();
                let mut all = Vec::new();
                for &part in &parts {
                    let found = self.split(part, below);
                    // One part with a text makes a text of all, whatever the others are.
                    if found.as_ref().is_some_and(|part| !part.has_empty) {
                        return Some(unchanged);
                    }
                    all.push(found);
                }
                if all.len() > MAX_PARTS {
                    return None;
                }
                // The first part that is not empty, and all after it.
                let mut rests = Vec::new();
                for (place, part) in all.into_iter().enumerate() {
                    if let Some(rest) = part?.rest {
                        let after = parts[place + 1..].iter().copied();
                        rests.push(self.builder.sequence(std::iter::once(rest).chain(after)));
                    }
                }
                Some(Split { has_empty: true, rest: self.join(rests) })
            }
            Expr::Repeat { body, min, max } => {
                let part = self.split(body, below)?;
                if min > 0 && !part.has_empty {
                    return Some(unchanged);
                }
                let rest = part.rest.filter(|_| max != Some(0));
                let rest = rest.map(|rest| self.builder.repeat(rest, 1, max));
                Some(Split { has_empty: true, rest })
            }
            _ => None,
        }
    }

    fn join(&mut self, alternatives: Vec<ExprId>) -> Option<ExprId> {
        (!alternatives.is_empty()).then(|| self.builder.choice(alternatives))
    }
}
