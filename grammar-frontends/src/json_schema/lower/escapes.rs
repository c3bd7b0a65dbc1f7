//! The spellings of characters in strings and names: all that JSON allows, or those that [`Escapes`] leaves.

use std::borrow::Cow;

use grammask_grammar_ir::{Expr, ExprId};

use super::lowering::SchemaLowering;
use crate::json_schema::options::Escapes;

impl SchemaLowering<'_> {
    /// The texts of an expression as they are written inside a JSON string: as literals where each has one spelling.
    pub(super) fn escaped(&mut self, text: ExprId) -> ExprId {
        let (builder, escapes) = (&mut self.builder, self.normalizer.options.escapes);
        let literals: Option<Vec<Cow<'_, str>>> = match builder.expr(text) {
            Expr::Choice(parts) => {
                parts.iter().map(|&part| escaped_literal(builder.expr(part), escapes)).collect()
            }
            expr => escaped_literal(expr, escapes).map(|literal| vec![literal]),
        };
        let Some(literals) = literals else { return builder.json_escaped_as(text, escapes) };
        if literals.iter().all(|literal| matches!(literal, Cow::Borrowed(_))) {
            return text;
        }
        let literals: Vec<String> = literals.into_iter().map(Cow::into_owned).collect();
        let literals: Vec<ExprId> = literals.iter().map(|literal| builder.literal(literal)).collect();
        builder.choice(literals)
    }
}

/// A literal with the escapes that it needs, if it has no other spellings; borrowed if it needs none.
fn escaped_literal(expr: Expr<'_>, escapes: Escapes) -> Option<Cow<'_, str>> {
    let text = match expr {
        Expr::Empty => "",
        Expr::Bytes(bytes) => std::str::from_utf8(bytes).ok()?,
        _ => return None,
    };
    if !text.chars().any(|character| escapes.has_escape(character)) {
        return Some(Cow::Borrowed(text));
    }
    if !text.chars().all(|character| escapes.spells_one_way(character)) {
        return None;
    }
    let mut spelled = String::with_capacity(text.len());
    text.chars().try_for_each(|character| escapes.write(character, &mut spelled)).ok()?;
    Some(Cow::Owned(spelled))
}
