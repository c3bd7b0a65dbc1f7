//! Values in the notations of [`Notation`].
//!
//! Arrays, objects and numbers are lowered as JSON is; strings, names and words are not. A string of Python
//! is written between either kind of quotes. Between double quotes its spellings are those of JSON, except
//! for two that Python reads otherwise: `\/`, which keeps its backslash, and a pair of escaped surrogates,
//! which stays a pair. A string without conditions also has Python's own escapes `\xXX` and `\UXXXXXXXX`, as `repr`
//! writes characters that cannot be printed. Between single quotes a string with conditions has no escapes, unless its
//! value is given. A text that needs an escape uses the other quotes.

use grammask_grammar_ir::{DispatchEnd, ExprId, TagDispatch};

use super::lowering::SchemaLowering;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::value_syntax::{NameSyntax, Notation, StringSyntax};

/// The words of JSON, in the order of [`Notation::words`].
const WORDS: [&str; 3] = ["null", "false", "true"];

impl<'s> SchemaLowering<'s> {
    /// One of JSON's words.
    pub(super) fn word(&mut self, word: &'static str) -> ExprId {
        let place = WORDS.iter().position(|known| *known == word);
        match (self.notation, place) {
            (Some(notation), Some(place)) => {
                let words = notation.words[place].iter().map(|word| self.builder.literal(word));
                let words: Vec<ExprId> = words.collect();
                self.builder.choice(words)
            }
            _ => self.builder.literal(word),
        }
    }

    /// A declared name, after the opening quote and before the closing one; with its quotes where it is
    /// not JSON's.
    pub(super) fn declared_name(&mut self, name: &str, node: NodeId) -> Result<ExprId> {
        match (self.punctuation.names, self.notation) {
            (NameSyntax::Json, _) | (_, None) => {
                let name = self.builder.literal(name);
                let name = self.escaped(name);
                Ok(self.without_excluded(name))
            }
            (NameSyntax::Strings, Some(_)) => Ok(self.python_literals(name)),
            (NameSyntax::Bare, Some(notation)) => {
                let fits = |character: char| {
                    character.is_ascii_alphanumeric() || character == '_' || notation.bare.contains(character)
                };
                if !name.chars().all(fits) || !name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
                {
                    let reason = format!("the name `{name}` cannot stand without quotes");
                    self.normalizer.unsupported(node, "properties", reason, "rename the property")?;
                }
                Ok(self.builder.literal(name))
            }
        }
    }

    /// A name of which the text is given, as [`declared_name`](Self::declared_name).
    pub(super) fn spelled_name(&mut self, text: ExprId) -> ExprId {
        match self.punctuation.names {
            NameSyntax::Json => {
                let name = self.escaped(text);
                self.without_excluded(name)
            }
            NameSyntax::Strings => self.python_text(text),
            NameSyntax::Bare => {
                let name = self.identifier();
                self.builder.intersection([text, name])
            }
        }
    }

    /// A name without quotes that no schema declares.
    pub(super) fn identifier(&mut self) -> ExprId {
        let first = self.builder.class([('a', 'z'), ('A', 'Z'), ('_', '_')]);
        let other = self.builder.class([('a', 'z'), ('A', 'Z'), ('_', '_'), ('0', '9')]);
        let others = self.builder.repeat(other, 0, None);
        self.builder.sequence([first, others])
    }

    /// A string with its quotes, out of one of the shapes.
    pub(super) fn notation_string(
        &mut self,
        shapes: &[StringShape<'s>],
        node: NodeId,
        notation: &'static Notation,
    ) -> Result<Option<ExprId>> {
        match notation.strings {
            StringSyntax::Between(mark) if *shapes == [StringShape::any()] => {
                let string = self.shared("marked_string", |builder| {
                    let open = builder.tag_text(mark);
                    let text = TagDispatch::new().stop(mark).end(DispatchEnd::AtStop);
                    let text = builder.tag_dispatch(text);
                    builder.sequence([open, text])
                })?;
                Ok(Some(string))
            }
            StringSyntax::Between(mark) => {
                let Some(text) = self.raw_string(shapes, mark, "", node)? else { return Ok(None) };
                let open = self.builder.tag_text(mark);
                Ok(Some(self.builder.sequence([open, text])))
            }
            StringSyntax::Python => self.python_string(shapes, node),
        }
    }

    fn python_string(&mut self, shapes: &[StringShape<'s>], node: NodeId) -> Result<Option<ExprId>> {
        let mut ways = Vec::new();
        for shape in shapes {
            if let Some(values) = &shape.values {
                ways.extend(values.iter().map(|value| self.python_literals(value)));
            }
            let is_counted = shape.values.is_none() && shape.excluded.is_empty() && shape.tests.is_empty();
            if is_counted {
                let fits = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
                let (min, max) = (fits(shape.min), shape.max.map(fits));
                for quote in ['"', '\''] {
                    let character = self.python_character(quote);
                    let text = self.builder.repeat(character, min, max);
                    ways.push(self.python_quoted(text, quote));
                }
                continue;
            }
            let Some(text) = self.text(shape, node)? else { continue };
            ways.push(self.python_text(text));
        }
        Ok(if ways.is_empty() { None } else { Some(self.builder.choice(ways)) })
    }

    /// A string whose text is given.
    fn python_text(&mut self, text: ExprId) -> ExprId {
        let escaped = self.builder.json_escaped(text);
        let character = self.python_character('"');
        let characters = self.builder.repeat(character, 0, None);
        let double = self.builder.intersection([escaped, characters]);
        let double = self.python_quoted(double, '"');
        let plain = self.builder.class(plain('\''));
        let plain = self.builder.repeat(plain, 0, None);
        let single = self.builder.intersection([text, plain]);
        let single = self.python_quoted(single, '\'');
        self.builder.choice([double, single])
    }

    /// A string of which the value is given, with no more escapes than it needs.
    fn python_literals(&mut self, value: &str) -> ExprId {
        let ways = ['"', '\''].map(|quote| self.builder.literal(&python_literal(value, quote)));
        self.builder.choice(ways)
    }

    fn python_quoted(&mut self, text: ExprId, quote: char) -> ExprId {
        let quote = self.builder.literal(quote.encode_utf8(&mut [0; 4]));
        self.builder.sequence([quote, text, quote])
    }

    /// A character of a string between the quotes: itself, or an escape that stands for one character.
    fn python_character(&mut self, quote: char) -> ExprId {
        let plain = self.builder.class(plain(quote));
        let backslash = self.builder.literal("\\");
        let named = "\\bfnrt".chars().chain([quote]).map(|c| (c, c)).collect::<Vec<_>>();
        let named = self.builder.class(named);
        let hex = self.builder.class([('0', '9'), ('a', 'f'), ('A', 'F')]);
        let no_d = self.builder.class([('0', '9'), ('a', 'c'), ('e', 'f'), ('A', 'C'), ('E', 'F')]);
        let d = self.builder.class([('d', 'd'), ('D', 'D')]);
        let low = self.builder.class([('0', '7')]);
        let other = self.builder.sequence([no_d, hex]);
        let below_surrogates = self.builder.sequence([d, low]);
        let first = self.builder.choice([other, below_surrogates]);
        let [x, u, zeros, plane, last_plane] =
            ["x", "u", "U0000", "U000", "U0010"].map(|text| self.builder.literal(text));
        let byte = self.builder.sequence([x, hex, hex]);
        let four = self.builder.choice([u, zeros]);
        let four = self.builder.sequence([four, first, hex, hex]);
        let no_zero = self.builder.class([('1', '9'), ('a', 'f'), ('A', 'F')]);
        let plane = self.builder.sequence([plane, no_zero]);
        let plane = self.builder.choice([plane, last_plane]);
        let eight = self.builder.sequence([plane, hex, hex, hex, hex]);
        let escape = self.builder.choice([named, byte, four, eight]);
        let escape = self.builder.sequence([backslash, escape]);
        self.builder.choice([plain, escape])
    }
}

/// The characters that need no escape between the quotes.
fn plain(quote: char) -> Vec<(char, char)> {
    let mut ranges = Vec::with_capacity(4);
    let mut from = ' ';
    for special in [quote, '\\'] {
        // Both are letters of ASCII, above the blank and below the last one.
        let (before, after) = (char::from(special as u8 - 1), char::from(special as u8 + 1));
        ranges.push((from, before));
        from = after;
    }
    ranges.push((from, char::MAX));
    ranges
}

fn python_literal(value: &str, quote: char) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    text.push(quote);
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            _ if character == quote => text.extend(['\\', quote]),
            _ if character < ' ' => text.push_str(&format!("\\x{:02x}", u32::from(character))),
            _ => text.push(character),
        }
    }
    text.push(quote);
    text
}
