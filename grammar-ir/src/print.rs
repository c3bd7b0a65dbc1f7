//! The printer: a grammar as text that the EBNF frontend reads back as the same grammar.
//!
//! One rule a line, in order, `name ::= body`. Names stay as they are, unless the syntax has no way to write
//! them. Characters other than `A-Z a-z 0-9 _ . -` become `_`, a leading digit gets a `_` before it, and
//! words of the syntax get one after them. If the outcome is taken, a number is added. The first line does
//! not name the root; the caller that reads the text back says which rule it is (`root` by default).
//!
//! | expression | printed |
//! |---|---|
//! | empty string | `""` |
//! | literal | `"..."` with `\"`, `\\`, `\n`, `\r`, `\t`, and `\uXXXX` or `\UXXXXXXXX` for what cannot be seen |
//! | literal that is not UTF-8 | `Bytes("...")`, printable ASCII and `\xHH` |
//! | class | `[a-z]` or `[^a-z]`, whichever is shorter; `[]` is nothing, `[^]` any character |
//! | sequence, choice | `a b`, `a \| b`, in parentheses where needed |
//! | repeat | `a?`, `a*`, `a+`, `a{n}`, `a{n,}`, `a{n,m}` |
//! | regular operators | `Intersection(a, b)`, `Complement(a)`, `JsonEscaped(a)`, `JsonPrinted(a)`, `JsonNeeded(a)`, `JsonAscii(a)` |
//! | tokens | `Token(5, "<|call|>")`, `ExcludeToken(5)` |
//! | text of a tag | `TagText("<|call|>")` |
//! | tag dispatch | `TagDispatch(("tag", a), ..., stop_str=("s",), excludes=("x",), loop_after_dispatch=false, stop_eos=false, at_least_one=true)`; a tag of several parts is `"a" Token(5) "b"` |
//! | parts in any order | `Permutation(separator, Required(a), Optional(b), Repeatable(c), ""{n,m})`, the bounds where they say more than the parts |
//! | lookahead | ` (=(a))` at the end of the rule |
//! | options of a rule | `name[max_tokens=9, capture="x", temperature=0.5, distinct=items] ::= ...` |
//!
//! A shared expression is written out wherever it occurs, which can take exponential room; the length is
//! limited.

use std::collections::HashSet;
use std::fmt::{self, Write as _};

use crate::char_class::CharRange;
use crate::char_class::complement_ranges;
use crate::dispatch::{AfterDispatch, Dispatch, DispatchEnd, Pattern, PatternPart};
use crate::expr::Expr;
use crate::grammar::Grammar;
use crate::ids::ExprId;
use crate::json_escapes::JsonEscapes;
use crate::permutation::{Occurrence, Permutation};
use crate::rule_options::{EndCapture, RuleOptions};
use crate::token::TokenRef;

/// Knobs of [`print()`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PrintOptions {
    /// Most bytes of text. Default 64 MiB.
    pub max_bytes: usize,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self { max_bytes: 64 << 20 }
    }
}

/// A grammar whose text is too long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the grammar takes more than {max_bytes} bytes to print; raise `max_bytes`, or give expressions that it \
     shares a rule of their own"
)]
pub struct PrintError {
    max_bytes: usize,
}

/// The grammar as text.
pub fn print(grammar: &Grammar, options: &PrintOptions) -> Result<String, PrintError> {
    let mut printer = Printer { grammar, names: printed_names(grammar), out: String::new() };
    for rule in grammar.rule_ids() {
        let rule_name = &printer.names[rule.index()];
        printer.out.push_str(rule_name);
        printer.options(grammar.rule(rule).options());
        printer.out.push_str(" ::= ");
        printer.expr(grammar.rule(rule).body(), options.max_bytes)?;
        if let Some(lookahead) = grammar.rule(rule).lookahead() {
            printer.out.push_str(" (=(");
            printer.expr(lookahead, options.max_bytes)?;
            printer.out.push_str("))");
        }
        printer.out.push('\n');
    }
    match printer.out.len() <= options.max_bytes {
        true => Ok(printer.out),
        false => Err(PrintError { max_bytes: options.max_bytes }),
    }
}

/// [`print()`] with the default options. A grammar that is too long is written as a comment that says so.
impl fmt::Display for Grammar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match print(self, &PrintOptions::default()) {
            Ok(text) => formatter.write_str(&text),
            Err(error) => write!(formatter, "# {error}"),
        }
    }
}

/// Words that cannot be names of rules in the printed text: the two truth values, and words that the frontend
/// reads as operators before a parenthesis.
const RESERVED: [&str; 20] = [
    "true",
    "false",
    "Bytes",
    "Intersection",
    "Complement",
    "JsonEscaped",
    "JsonPrinted",
    "JsonNeeded",
    "JsonAscii",
    "Permutation",
    "Required",
    "Optional",
    "Repeatable",
    "TagDispatch",
    "TagText",
    "Token",
    "ExcludeToken",
    "TokenTagDispatch",
    "Regex",
    "Substring",
];

/// The rules' names as they are printed, by rule.
fn printed_names(grammar: &Grammar) -> Vec<String> {
    let names = || grammar.rule_ids().map(|rule| grammar.rule(rule).name());
    let mut taken: HashSet<String> =
        names().filter(|name| is_printable_name(name)).map(str::to_owned).collect();
    let mut rename = |name: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let mut clean: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
        if RESERVED.contains(&clean.as_str()) {
            clean.push('_');
        }
        if clean.is_empty() || clean.starts_with(|c: char| c.is_ascii_digit()) {
            clean.insert(0, '_');
        }
        let mut unique = clean.clone();
        // The number of names taken is a good first guess: it grows with every name given.
        let mut number = taken.len();
        while !taken.insert(unique.clone()) {
            unique = format!("{clean}_{number}");
            number += 1;
        }
        unique
    };
    names().map(|name| if is_printable_name(name) { name.to_owned() } else { rename(name) }).collect()
}

fn is_printable_name(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '-');
    name.starts_with(is_word)
        && name.chars().all(|c| is_word(c) || c.is_ascii_digit())
        && !RESERVED.contains(&name)
}

/// The expressions that may be written somewhere without parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Place {
    /// Before a repeat's sign.
    Atom,
    /// In a sequence.
    Part,
    /// In a choice.
    Alternative,
    /// A rule's body, an operator's operand, inside parentheses.
    Whole,
}

/// The work that is left to print.
enum Piece<'g> {
    Expr(ExprId, Place),
    Text(&'static str),
    Pattern(&'g Pattern),
    Bounds(u32, Option<u32>),
}

struct Printer<'g> {
    grammar: &'g Grammar,
    names: Vec<String>,
    out: String,
}

impl<'g> Printer<'g> {
    /// Prints an expression with an explicit stack of pieces.
    fn expr(&mut self, id: ExprId, max_bytes: usize) -> Result<(), PrintError> {
        let mut stack = vec![Piece::Expr(id, Place::Whole)];
        while let Some(piece) = stack.pop() {
            if self.out.len() > max_bytes {
                return Err(PrintError { max_bytes });
            }
            match piece {
                Piece::Text(text) => self.out.push_str(text),
                Piece::Pattern(pattern) => self.pattern(pattern),
                Piece::Bounds(min, max) => self.bounds(min, max),
                Piece::Expr(id, place) => self.push_expr(id, place, &mut stack),
            }
        }
        Ok(())
    }

    /// Prints a leaf, or pushes the pieces of any other expression, last one first.
    fn push_expr(&mut self, id: ExprId, place: Place, stack: &mut Vec<Piece<'g>>) {
        let grammar = self.grammar;
        let expr = grammar.expr(id);
        let least_place = match expr {
            Expr::Choice(_) => Place::Whole,
            Expr::Sequence(_) => Place::Alternative,
            Expr::Repeat { .. } => Place::Part,
            _ => Place::Atom,
        };
        // Places are ordered by the operators that they allow without brackets.
        if place < least_place {
            stack.push(Piece::Text(")"));
            stack.push(Piece::Expr(id, Place::Whole));
            self.out.push('(');
            return;
        }
        match expr {
            Expr::Empty => self.out.push_str("\"\""),
            Expr::Bytes(bytes) => self.literal(bytes),
            Expr::Class(ranges) => self.out.push_str(&class(ranges)),
            Expr::Rule(rule) => self.out.push_str(&self.names[rule.index()]),
            Expr::Sequence(parts) => push_list(parts, " ", Place::Part, stack),
            Expr::Choice(parts) => push_list(parts, " | ", Place::Alternative, stack),
            Expr::Repeat { body, min, max } => {
                stack.push(Piece::Bounds(min, max));
                stack.push(Piece::Expr(body, Place::Atom));
            }
            Expr::Intersection(_) => self.push_operator("Intersection(", id, stack),
            Expr::Complement(_) => self.push_operator("Complement(", id, stack),
            Expr::JsonEscaped(_, JsonEscapes::Any) => self.push_operator("JsonEscaped(", id, stack),
            Expr::JsonEscaped(_, JsonEscapes::Printed) => self.push_operator("JsonPrinted(", id, stack),
            Expr::JsonEscaped(_, JsonEscapes::Needed) => self.push_operator("JsonNeeded(", id, stack),
            Expr::JsonEscaped(_, JsonEscapes::Ascii) => self.push_operator("JsonAscii(", id, stack),
            Expr::Token(tokens) => self.tokens("Token(", tokens),
            Expr::ExcludeToken(tokens) => self.tokens("ExcludeToken(", tokens),
            Expr::TagText(text) => {
                self.out.push_str("TagText(");
                self.literal(text.as_bytes());
                self.out.push(')');
            }
            Expr::TagDispatch(dispatch) => self.push_dispatch(&dispatch, stack),
            Expr::Permutation(permutation) => self.push_permutation(permutation, stack),
        }
    }

    fn options(&mut self, options: &RuleOptions) {
        let RuleOptions { max_tokens, capture, end_capture, temperature, distinct } = options;
        let mut before = "[";
        let mut begin = |out: &mut String| out.push_str(std::mem::replace(&mut before, ", "));
        // Writing to a string cannot fail.
        if let Some(most) = max_tokens {
            begin(&mut self.out);
            _ = write!(self.out, "max_tokens={most}");
        }
        if let Some(capture) = capture {
            begin(&mut self.out);
            self.named("capture=", &capture.name);
            if capture.hidden_suffix > 0 {
                _ = write!(self.out, ", capture_hidden_suffix_bytes={}", capture.hidden_suffix);
            }
        }
        if let Some(EndCapture { name, bytes }) = end_capture {
            begin(&mut self.out);
            self.named("stop_capture=", name);
            _ = write!(self.out, ", stop_capture_bytes={bytes}");
        }
        if let Some(temperature) = temperature {
            begin(&mut self.out);
            _ = write!(self.out, "temperature={}", temperature.value());
        }
        if let Some(distinct) = distinct {
            begin(&mut self.out);
            _ = write!(self.out, "distinct={}", distinct.word());
        }
        if !options.is_empty() {
            self.out.push(']');
        }
    }

    fn named(&mut self, option: &str, name: &str) {
        self.out.push_str(option);
        let start = self.out.len();
        self.literal(name.as_bytes());
        // Brackets hold no closing one.
        let name = self.out.split_off(start).replace(']', "\\u005D");
        self.out.push_str(&name);
    }

    fn tokens(&mut self, word: &str, tokens: &[TokenRef]) {
        self.out.push_str(word);
        for (index, token) in tokens.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            match token {
                // Writing to a string cannot fail.
                TokenRef::Id(id) => _ = write!(self.out, "{id}"),
                TokenRef::Name(name) => self.literal(name.as_bytes()),
                TokenRef::Special(name) => {
                    self.out.push_str("SpecialToken(");
                    self.literal(name.as_bytes());
                    self.out.push(')');
                }
            }
        }
        self.out.push(')');
    }

    fn pattern(&mut self, pattern: &Pattern) {
        for (index, part) in pattern.parts().iter().enumerate() {
            if index > 0 {
                self.out.push(' ');
            }
            match part {
                PatternPart::Text(text) => self.literal(text.as_bytes()),
                PatternPart::Token(token) => self.tokens("Token(", std::slice::from_ref(token)),
            }
        }
    }

    fn push_dispatch(&mut self, dispatch: &Dispatch<'g>, stack: &mut Vec<Piece<'g>>) {
        self.out.push_str("TagDispatch(");
        let mut arguments: Vec<Vec<Piece<'g>>> = Vec::new();
        for (trigger, &body) in dispatch.triggers.iter().zip(dispatch.bodies) {
            arguments.push(vec![
                Piece::Text("("),
                Piece::Pattern(trigger),
                Piece::Text(", "),
                Piece::Expr(body, Place::Whole),
                Piece::Text(")"),
            ]);
        }
        for (word, patterns) in [("stop_str=(", dispatch.stops), ("excludes=(", dispatch.excludes)] {
            if !patterns.is_empty() {
                let listed = patterns.iter().flat_map(|pattern| [Piece::Pattern(pattern), Piece::Text(",")]);
                let open = std::iter::once(Piece::Text(word));
                arguments.push(open.chain(listed).chain([Piece::Text(")")]).collect());
            }
        }
        if dispatch.after == AfterDispatch::End {
            arguments.push(vec![Piece::Text("loop_after_dispatch=false")]);
        }
        match dispatch.end {
            DispatchEnd::Anywhere => {}
            DispatchEnd::AtStop => arguments.push(vec![Piece::Text("stop_eos=false")]),
            DispatchEnd::AfterDispatch => arguments.push(vec![Piece::Text("at_least_one=true")]),
        }
        stack.push(Piece::Text(")"));
        for (index, argument) in arguments.into_iter().enumerate().rev() {
            stack.extend(argument.into_iter().rev());
            if index > 0 {
                stack.push(Piece::Text(", "));
            }
        }
    }

    fn push_operator(&mut self, word: &str, id: ExprId, stack: &mut Vec<Piece<'g>>) {
        self.out.push_str(word);
        stack.push(Piece::Text(")"));
        push_list(self.grammar.operands(id), ", ", Place::Whole, stack);
    }

    fn push_permutation(&mut self, permutation: Permutation<'_>, stack: &mut Vec<Piece>) {
        let (min, max) = (permutation.min(), permutation.max());
        self.out.push_str("Permutation(");
        stack.push(Piece::Text(")"));
        if max.is_some() || min as usize > permutation.required().max(1) {
            stack.push(Piece::Bounds(min, max));
            stack.push(Piece::Text(", \"\""));
        }
        for (index, &part) in permutation.parts().iter().enumerate().rev() {
            stack.push(Piece::Text(")"));
            stack.push(Piece::Expr(part, Place::Whole));
            stack.push(Piece::Text(match permutation.occurrence(index) {
                Occurrence::Required => ", Required(",
                Occurrence::Optional => ", Optional(",
                Occurrence::Repeatable => ", Repeatable(",
            }));
        }
        stack.push(Piece::Expr(permutation.separator(), Place::Whole));
    }

    fn bounds(&mut self, min: u32, max: Option<u32>) {
        // Writing to a string cannot fail.
        _ = match (min, max) {
            (0, Some(1)) => self.out.write_str("?"),
            (0, None) => self.out.write_str("*"),
            (1, None) => self.out.write_str("+"),
            (_, None) => write!(self.out, "{{{min},}}"),
            (_, Some(max)) if min == max => write!(self.out, "{{{min}}}"),
            (_, Some(max)) => write!(self.out, "{{{min},{max}}}"),
        };
    }

    fn literal(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                self.out.push('"');
                for character in text.chars() {
                    match character {
                        '"' | '\\' => self.out.extend(['\\', character]),
                        _ => push_character(character, &mut self.out),
                    }
                }
                self.out.push('"');
            }
            Err(_) => {
                self.out.push_str("Bytes(\"");
                for &byte in bytes {
                    match byte {
                        b' '..=b'~' if byte != b'"' && byte != b'\\' => self.out.push(byte as char),
                        // Writing to a string cannot fail.
                        _ => _ = write!(self.out, "\\x{byte:02X}"),
                    }
                }
                self.out.push_str("\")");
            }
        }
    }
}

fn push_list(parts: &[ExprId], separator: &'static str, place: Place, stack: &mut Vec<Piece<'_>>) {
    for (index, &part) in parts.iter().enumerate().rev() {
        stack.push(Piece::Expr(part, place));
        if index > 0 {
            stack.push(Piece::Text(separator));
        }
    }
}

/// The class or its negation, whichever is shorter.
fn class(ranges: &[CharRange]) -> String {
    let (plain, negated) = (bracketed("[", ranges), bracketed("[^", &complement_ranges(ranges)));
    if negated.len() < plain.len() { negated } else { plain }
}

fn bracketed(open: &str, ranges: &[CharRange]) -> String {
    let mut out = open.to_owned();
    let push = |character, out: &mut String| match character {
        '[' | ']' | '\\' | '-' | '^' => out.extend(['\\', character]),
        _ => push_character(character, out),
    };
    for &(low, high) in ranges {
        push(low, &mut out);
        if low < high {
            // Two neighbours need no dash.
            if high as u32 - low as u32 > 1 {
                out.push('-');
            }
            push(high, &mut out);
        }
    }
    out.push(']');
    out
}

/// A character that has no meaning of its own in quotes and brackets: itself if it can be seen, escaped if not.
fn push_character(character: char, out: &mut String) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        ' '..='~' => out.push(character),
        _ if !character.is_ascii() && character.escape_debug().len() == 1 => out.push(character),
        // Writing to a string cannot fail.
        '\0'..='\u{FFFF}' => _ = write!(out, "\\u{:04X}", character as u32),
        _ => _ = write!(out, "\\U{:08X}", character as u32),
    }
}
