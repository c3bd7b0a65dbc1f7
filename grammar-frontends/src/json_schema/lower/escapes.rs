//! The spellings of characters in strings and names: all that JSON allows, or those that [`Escapes`] leaves.
//!
//! [`JsonEscaped`](grammask_grammar_ir::Expr::JsonEscaped) has every spelling, or those that serialisers
//! print. An intersection with the texts of the wanted spelling could select one, but an intersection is an
//! automaton of its own, and a repeat inside it is written out. Where a character has one spelling, spelling
//! is a function that is never the same for two texts, and distributes over all operators: it is pushed down
//! to characters. A complement is taken within the texts that are spelled as wanted.

use std::borrow::Cow;
use std::fmt::Write as _;

use grammask_grammar_ir::hash::HashSet;
use grammask_grammar_ir::{CharRange, Expr, ExprId, GrammarBuilder, JsonEscapes};

use super::lowering::SchemaLowering;
use crate::json_schema::options::Escapes;

/// Expressions inside one another into which spelling is pushed; deeper ones are intersected.
const MAX_DEPTH: u32 = 64;

/// Characters that need no escape, by whether all of Unicode may be written so.
const PLAIN: [&[CharRange]; 2] = [
    &[(' ', '!'), ('#', '['), (']', '~')],
    &[(' ', '!'), ('#', '['), (']', '\u{d7ff}'), ('\u{e000}', char::MAX)],
];

impl SchemaLowering<'_> {
    /// The texts of an expression as they are written inside a JSON string.
    pub(super) fn escaped(&mut self, text: ExprId) -> ExprId {
        match self.normalizer.options.escapes {
            Escapes::Any => self.builder.json_escaped(text),
            Escapes::Printed => printed(&mut self.builder, text),
            Escapes::Needed | Escapes::Ascii => self.spelled_below(text, MAX_DEPTH),
        }
    }

    fn spelled_below(&mut self, text: ExprId, depth: u32) -> ExprId {
        if let Some(&known) = self.spelled.get(&text) {
            return known;
        }
        let below = depth.saturating_sub(1);
        let spelled = match self.builder.expr(text) {
            Expr::Empty => text,
            Expr::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(literal) => {
                    let literal = escaped_literal(literal, self.normalizer.options.escapes);
                    self.builder.literal(&literal)
                }
                Err(_) => self.spelled_whole(text),
            },
            Expr::Class(class) => {
                let class = class.to_vec();
                self.spelled_class(&class)
            }
            Expr::Sequence(parts) if depth > 0 => {
                let parts = parts.to_vec();
                let parts: Vec<ExprId> =
                    parts.into_iter().map(|part| self.spelled_below(part, below)).collect();
                self.builder.sequence(parts)
            }
            Expr::Choice(parts) if depth > 0 => {
                let parts = parts.to_vec();
                let parts: Vec<ExprId> =
                    parts.into_iter().map(|part| self.spelled_below(part, below)).collect();
                self.builder.choice(parts)
            }
            Expr::Repeat { body, min, max } if depth > 0 => {
                let body = self.spelled_below(body, below);
                self.builder.repeat(body, min, max)
            }
            // Beside an operand of such characters all operands are spelled as they are, and a length may be counted.
            Expr::Intersection(_) if has_no_escapes(&self.builder, text) => text,
            Expr::Intersection(parts) if depth > 0 => {
                let parts = parts.to_vec();
                let parts: Vec<ExprId> =
                    parts.into_iter().map(|part| self.spelled_below(part, below)).collect();
                self.builder.intersection(parts)
            }
            Expr::Complement(without) if depth > 0 => {
                let without = self.spelled_below(without, below);
                let (wanted, rest) = (self.wanted(), self.builder.complement(without));
                self.builder.intersection([wanted, rest])
            }
            _ => self.spelled_whole(text),
        };
        self.spelled.insert(text, spelled);
        spelled
    }

    /// The spellings of any texts, by intersection.
    fn spelled_whole(&mut self, text: ExprId) -> ExprId {
        let (all, wanted) = (self.builder.json_escaped(text), self.wanted());
        self.builder.intersection([all, wanted])
    }

    /// All texts, spelled as wanted.
    fn wanted(&mut self) -> ExprId {
        let character = self.spelled_class(&[('\0', char::MAX)]);
        self.builder.repeat(character, 0, None)
    }

    fn spelled_class(&mut self, class: &[CharRange]) -> ExprId {
        let escapes = self.normalizer.options.escapes;
        let plain = common(class, PLAIN[usize::from(escapes != Escapes::Ascii)]);
        let mut ways = Vec::new();
        if !plain.is_empty() {
            ways.push(self.builder.class(plain));
        }
        let holds = |character: char| class.iter().any(|&(lo, hi)| (lo..=hi).contains(&character));
        for character in ('\0'..' ').chain(['"', '\\']).filter(|&character| holds(character)) {
            let literal = escaped_literal(character.encode_utf8(&mut [0; 4]), escapes);
            ways.push(self.builder.literal(&literal));
        }
        let beyond = common(class, &[('\u{7f}', '\u{d7ff}'), ('\u{e000}', char::MAX)]);
        if escapes == Escapes::Ascii && !beyond.is_empty() {
            let beyond = self.builder.class(beyond);
            let all = self.builder.json_escaped(beyond);
            let mark = self.builder.literal("\\u");
            let digit = self.builder.class([('0', '9'), ('a', 'f')]);
            let number = self.builder.sequence([mark, digit, digit, digit, digit]);
            let numbers = self.builder.repeat(number, 1, Some(2));
            ways.push(self.builder.intersection([all, numbers]));
        }
        self.builder.choice(ways)
    }
}

/// Whether no character has an escape in the texts of an expression: one of its operands shows that, if it is an
/// intersection.
fn has_no_escapes(builder: &GrammarBuilder, text: ExprId) -> bool {
    let mut open = vec![text];
    while let Some(operand) = open.pop() {
        match builder.expr(operand) {
            Expr::Intersection(parts) => open.extend(parts),
            _ if is_plain(builder, operand) => return true,
            _ => {}
        }
    }
    false
}

/// Whether an expression without operators has only characters of ASCII that need no escape.
fn is_plain(builder: &GrammarBuilder, text: ExprId) -> bool {
    let is_within = |lo: char, hi: char| PLAIN[0].iter().any(|&(first, last)| first <= lo && hi <= last);
    let mut met = HashSet::default();
    let mut open = vec![text];
    while let Some(part) = open.pop() {
        if !met.insert(part) {
            continue;
        }
        let is_plain = match builder.expr(part) {
            Expr::Empty => true,
            Expr::Bytes(bytes) => bytes.iter().all(|&byte| is_within(char::from(byte), char::from(byte))),
            Expr::Class(class) => class.iter().all(|&(lo, hi)| is_within(lo, hi)),
            Expr::Sequence(parts) | Expr::Choice(parts) => {
                open.extend(parts);
                true
            }
            Expr::Repeat { body, .. } => {
                open.push(body);
                true
            }
            _ => false,
        };
        if !is_plain {
            return false;
        }
    }
    true
}

/// The texts of an expression as serialisers print them inside a JSON string: as literals where each has one spelling.
pub(crate) fn printed(builder: &mut GrammarBuilder, text: ExprId) -> ExprId {
    let literals: Option<Vec<Cow<'_, str>>> = match builder.expr(text) {
        Expr::Choice(parts) => parts.iter().map(|&part| printed_literal(builder.expr(part))).collect(),
        expr => printed_literal(expr).map(|literal| vec![literal]),
    };
    let Some(literals) = literals else { return builder.json_escaped_as(text, JsonEscapes::Printed) };
    if literals.iter().all(|literal| matches!(literal, Cow::Borrowed(_))) {
        return text;
    }
    let literals: Vec<String> = literals.into_iter().map(Cow::into_owned).collect();
    let literals: Vec<ExprId> = literals.iter().map(|literal| builder.literal(literal)).collect();
    builder.choice(literals)
}

/// A literal with the escapes that it needs, if it has no other spellings; borrowed if it needs none.
fn printed_literal(expr: Expr<'_>) -> Option<Cow<'_, str>> {
    let text = match expr {
        Expr::Empty => "",
        Expr::Bytes(bytes) => std::str::from_utf8(bytes).ok()?,
        _ => return None,
    };
    let has_escape = |character: char| JsonEscapes::Printed.has_escape(character);
    let is_short = |character: char| matches!(character, '"' | '\\' | '\n' | '\r' | '\t');
    if !text.chars().any(has_escape) {
        return Some(Cow::Borrowed(text));
    }
    let has_one_spelling = |character: char| is_short(character) || !has_escape(character);
    text.chars().all(has_one_spelling).then(|| Cow::Owned(escaped_literal(text, Escapes::Needed)))
}

/// The characters of both.
fn common(left: &[CharRange], right: &[CharRange]) -> Vec<CharRange> {
    let pairs =
        left.iter().flat_map(|&(lo, hi)| right.iter().map(move |&other| (lo.max(other.0), hi.min(other.1))));
    pairs.filter(|(lo, hi)| lo <= hi).collect()
}

/// A text with the escapes that it needs.
fn escaped_literal(text: &str, escapes: Escapes) -> String {
    let mut spelled = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => spelled.push_str("\\\""),
            '\\' => spelled.push_str("\\\\"),
            '\n' => spelled.push_str("\\n"),
            '\r' => spelled.push_str("\\r"),
            '\t' => spelled.push_str("\\t"),
            '\u{8}' => spelled.push_str("\\b"),
            '\u{c}' => spelled.push_str("\\f"),
            _ if character < ' ' || escapes == Escapes::Ascii && character > '~' => {
                for code in character.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(spelled, "\\u{code:04x}");
                }
            }
            _ => spelled.push(character),
        }
    }
    spelled
}
