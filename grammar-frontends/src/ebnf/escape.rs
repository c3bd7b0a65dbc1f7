//! Strings, byte strings and character classes: their escapes and ranges.
//!
//! Each function reads the raw text of a token and reports every fault in it; the value it returns is only
//! good if there was none.

use grammask_grammar_ir::CharRange;

use super::fault::{Fault, Mistake};
use super::options::Dialect;

/// A class as written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClassLiteral {
    pub(super) negated: bool,
    pub(super) ranges: Vec<CharRange>,
}

/// Reads the text of one token, whose first byte is at `base` in the source.
pub(super) struct LiteralReader<'a> {
    text: &'a str,
    base: usize,
    position: usize,
    dialect: Dialect,
    report: &'a mut dyn FnMut(Fault),
}

/// The kind of literal that an escape is in.
#[derive(Clone, Copy, PartialEq)]
enum LiteralKind {
    String,
    Class,
}

impl<'a> LiteralReader<'a> {
    /// `text` is a whole token with its delimiters.
    pub(super) fn new(
        text: &'a str,
        base: usize,
        dialect: Dialect,
        report: &'a mut dyn FnMut(Fault),
    ) -> Self {
        let inner = text.get(1..text.len() - 1).unwrap_or_default();
        Self { text: inner, base: base + 1, position: 0, dialect, report }
    }

    /// The characters of a string.
    pub(super) fn string(mut self) -> String {
        let mut decoded = String::with_capacity(self.text.len());
        while let Some(character) = self.next() {
            let character =
                if character == '\\' { self.escape(LiteralKind::String) } else { Some(character) };
            decoded.extend(character);
        }
        decoded
    }

    /// The bytes of a byte string: ASCII, simple escapes, and `\xHH` for any byte.
    pub(super) fn bytes(mut self) -> Vec<u8> {
        let mut decoded = Vec::with_capacity(self.text.len());
        while let Some(character) = self.next() {
            let start = self.position - character.len_utf8();
            if character == '\\' && self.text[self.position..].starts_with('x') {
                self.position += 1;
                match self.hex(2) {
                    Some(byte) => decoded.push(byte as u8),
                    None => {
                        let rest = self.text[self.position..].bytes();
                        self.position += rest.take(2).take_while(u8::is_ascii_hexdigit).count();
                        self.fault(start, Mistake::NotAsciiInBytes);
                    }
                }
                continue;
            }
            let character =
                if character == '\\' { self.escape(LiteralKind::String) } else { Some(character) };
            match character {
                Some(character) if character.is_ascii() => decoded.push(character as u8),
                Some(_) => self.fault(start, Mistake::NotAsciiInBytes),
                None => {}
            }
        }
        decoded
    }

    /// The ranges of a character class.
    pub(super) fn class(mut self) -> ClassLiteral {
        let negated = self.text.starts_with('^');
        self.position = usize::from(negated);
        let mut ranges = Vec::new();
        while self.position < self.text.len() {
            let start = self.position;
            let Some(low) = self.class_character() else { continue };
            let rest = &self.text[self.position..];
            if !rest.starts_with('-') || rest.len() == 1 {
                ranges.push((low, low));
                continue;
            }
            self.position += 1;
            let Some(high) = self.class_character() else { continue };
            if low > high {
                self.fault(start, Mistake::ClassRangeSwapped);
            }
            ranges.push((low, high));
        }
        ClassLiteral { negated, ranges }
    }

    fn class_character(&mut self) -> Option<char> {
        match self.next()? {
            '\\' => self.escape(LiteralKind::Class),
            character => Some(character),
        }
    }

    fn next(&mut self) -> Option<char> {
        let character = self.text[self.position..].chars().next()?;
        self.position += character.len_utf8();
        Some(character)
    }

    fn fault(&mut self, start: usize, mistake: Mistake) {
        (self.report)(Fault::at(self.base + start, self.base + self.position, mistake));
    }

    /// The character after a backslash. Reports and returns `None` if it stands for no character.
    fn escape(&mut self, kind: LiteralKind) -> Option<char> {
        let start = self.position - 1;
        let Some(character) = self.next() else {
            self.fault(start, Mistake::BadEscape);
            return None;
        };
        let digits = match (character, self.dialect) {
            // EBNF's `\x` takes any number of digits: one code point, however it is written.
            ('x', Dialect::Ebnf) => {
                let rest = self.text[self.position..].bytes();
                rest.take_while(u8::is_ascii_hexdigit).count().max(1)
            }
            ('x', Dialect::Gbnf) => 2,
            ('u', _) => 4,
            ('U', _) => 8,
            _ => {
                let simple = self.simple(character, kind);
                if simple.is_none() {
                    let class = kind == LiteralKind::Class && "dDsSwW".contains(character);
                    self.fault(start, if class { Mistake::ClassEscape } else { Mistake::BadEscape });
                }
                return simple;
            }
        };
        let Some(point) = self.hex(digits) else {
            let rest = self.text[self.position..].bytes();
            self.position += rest.take(digits).take_while(u8::is_ascii_hexdigit).count();
            self.fault(start, Mistake::BadHexEscape);
            return None;
        };
        let character = char::from_u32(point);
        if character.is_none() {
            self.fault(start, Mistake::NoSuchCharacter);
        }
        character
    }

    fn simple(&self, character: char, kind: LiteralKind) -> Option<char> {
        let common = match character {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '"' | '\\' => character,
            '[' | ']' | '-' if self.dialect == Dialect::Gbnf => character,
            _ if self.dialect == Dialect::Gbnf => {
                // Not in llama.cpp's list, but the only way to have it in a class in some writers.
                return (kind == LiteralKind::Class && character == '^').then_some(character);
            }
            '\'' | '?' | '/' => character,
            'a' => '\u{07}',
            'b' => '\u{08}',
            'f' => '\u{0C}',
            'v' => '\u{0B}',
            '0' => '\0',
            'e' => '\u{1B}',
            _ if kind == LiteralKind::Class && "^$.*+()[]{}|-".contains(character) => character,
            _ => return None,
        };
        Some(common)
    }

    /// Exactly `length` hexadecimal digits. Values past `u32` come out as one past the last code point.
    fn hex(&mut self, length: usize) -> Option<u32> {
        let digits = self.text.get(self.position..self.position + length)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        self.position += length;
        let significant = digits.trim_start_matches('0');
        match significant.len() {
            0 => Some(0),
            1..=8 => u32::from_str_radix(significant, 16).ok(),
            _ => Some(u32::MAX),
        }
    }
}
