//! The strings of JSON that may be long.
//!
//! A string of a pattern or a format can be written into the fragment that contains it, like any other
//! expression. But masks of a long one are expensive, since tokens are read for as long as the string
//! continues. The texts inside of it do not depend on its place. As a fragment of its own its masks are found
//! once, for all places and all grammars.

use grammask_grammar_ir::{Expr, ExprId, Grammar};
use smallvec::SmallVec;

/// The least bound of a repeat that counts as long.
const LONG_REPEAT: u32 = 8;

/// The most expressions to look at to find out whether a string may be long.
const MAX_LOOKS: u32 = 128;

/// Whether some parts are nothing but text inside a JSON string, and hold a repeat of many times, as far as a
/// short search tells. Between the end of a string and the beginning of the next one there is something else.
pub(crate) fn is_long_text(grammar: &Grammar, parts: &[ExprId]) -> bool {
    let mut is_long = false;
    let mut outside: SmallVec<[ExprId; 16]> = parts.iter().copied().collect();
    let mut inside: SmallVec<[ExprId; 16]> = SmallVec::new();
    // First whether everything outside of strings is repeats, sequences and choices. Then whether a repeat is
    // long.
    for _ in 0..MAX_LOOKS {
        let Some(id) = outside.pop() else { break };
        match grammar.expr(id) {
            Expr::JsonEscaped(text, _) => inside.push(text),
            Expr::Repeat { body, max, .. } => {
                is_long |= max.is_none_or(|max| max >= LONG_REPEAT);
                outside.push(body);
            }
            Expr::Sequence(parts) | Expr::Choice(parts) => outside.extend_from_slice(parts),
            Expr::Empty => {}
            _ => return false,
        }
    }
    for _ in 0..MAX_LOOKS {
        // A search that ends early answers "no". That costs only time: the text is written in place.
        let Some(id) = inside.pop().filter(|_| !is_long) else { break };
        match grammar.expr(id) {
            Expr::Repeat { max, .. } if max.is_none_or(|max| max >= LONG_REPEAT) => is_long = true,
            Expr::Intersection(_) | Expr::Complement(_) => is_long = true,
            Expr::Rule(rule) => inside.push(grammar.rule(rule).body()),
            _ => inside.extend_from_slice(grammar.operands(id)),
        }
    }
    is_long && outside.is_empty()
}
