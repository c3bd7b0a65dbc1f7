//! The options in brackets between a rule's name and `::=`.

use std::num::NonZeroU32;

use grammask_grammar_ir::{
    CaptureOption, Distinct, EndCapture, ExprId, GrammarBuilder, RuleOptions, Span, Temperature,
};

use super::escape::LiteralReader;
use super::fault::{Fault, Mistake};
use super::options::Dialect;
use crate::language::shortest;

/// The names of options.
const NAMES: [&str; 9] = [
    "max_tokens",
    "max_chars",
    "temperature",
    "lazy",
    "capture",
    "capture_hidden_suffix_bytes",
    "stop_capture",
    "stop_capture_bytes",
    "distinct",
];

/// Whether brackets begin as options do. Somebody who means characters does not write them in such an order.
pub(super) fn is_written_as_options(brackets: &str) -> bool {
    let Some(inner) = brackets.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return false;
    };
    let inner = inner.trim();
    let end = inner.find(|c: char| c.is_whitespace() || c == ',' || c == '=').unwrap_or(inner.len());
    let rest = inner[end..].trim_start();
    NAMES.contains(&&inner[..end]) && (rest.is_empty() || rest.starts_with([',', '=']))
}

/// The options of one rule.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// Those that the grammar keeps.
    kept: RuleOptions,
    /// The shortest match only.
    lazy: bool,
    max_chars: Option<u32>,
}

impl Options {
    /// Reads brackets, which are those of a class to the lexer. `name` is the rule's.
    pub(super) fn read(source: &str, name: Span, brackets: Span) -> Result<Self, Fault> {
        let mut scanner =
            OptionScanner { source, position: brackets.range().start + 1, end: brackets.range().end - 1 };
        let mut options = Self::default();
        let mut met: Vec<&str> = Vec::new();
        loop {
            let option = scanner.word();
            let written = &source[option.range()];
            if met.contains(&written) {
                return Err(Fault::new(option, Mistake::OptionTwice));
            }
            met.push(written);
            let value = scanner.value()?;
            options.set(source, name, option, value)?;
            match scanner.peek() {
                None => break,
                Some(b',') => scanner.position += 1,
                Some(_) => return Err(Fault::new(scanner.word(), Mistake::OptionUnknown)),
            }
        }
        // Counts of bytes belong to names, and what ends a text is no text without a count.
        let goes_with = |option: &str, other: &str| !met.contains(&option) || met.contains(&other);
        if !goes_with("capture_hidden_suffix_bytes", "capture")
            || !goes_with("stop_capture_bytes", "stop_capture")
            || !goes_with("stop_capture", "stop_capture_bytes")
        {
            return Err(Fault::new(brackets, Mistake::OptionValue));
        }
        Ok(options)
    }

    fn set(&mut self, source: &str, rule: Span, option: Span, value: Option<Span>) -> Result<(), Fault> {
        let written = value.map(|value| (value, &source[value.range()]));
        let wrong = || Fault::new(value.unwrap_or(option), Mistake::OptionValue);
        match (&source[option.range()], written) {
            ("max_tokens", Some((_, value))) => {
                let most: NonZeroU32 = value.parse().map_err(|_| wrong())?;
                self.kept.max_tokens = Some(most);
            }
            ("max_chars", Some((_, value))) => self.max_chars = Some(value.parse().map_err(|_| wrong())?),
            ("temperature", Some((_, value))) => {
                let value = value.parse().ok().and_then(Temperature::new).ok_or_else(wrong)?;
                self.kept.temperature = Some(value);
            }
            ("lazy", None) => self.lazy = true,
            ("capture", None) => self.capture().name = source[rule.range()].into(),
            ("capture", Some((span, value))) if is_string(value) => {
                self.capture().name = decoded(value, span)?;
            }
            ("stop_capture", Some((span, value))) if is_string(value) => {
                self.end_capture().name = decoded(value, span)?;
            }
            ("stop_capture_bytes", Some((_, value))) => {
                self.end_capture().bytes = value.parse().map_err(|_| wrong())?;
            }
            ("capture_hidden_suffix_bytes", Some((_, value))) => {
                self.capture().hidden_suffix = value.parse().map_err(|_| wrong())?;
            }
            ("distinct", Some((_, "items"))) => self.kept.distinct = Some(Distinct::Items),
            ("distinct", Some((_, "names"))) => self.kept.distinct = Some(Distinct::Names),
            (
                "max_tokens" | "max_chars" | "temperature" | "lazy" | "capture" | "stop_capture" | "distinct",
                _,
            ) => {
                return Err(wrong());
            }
            _ => return Err(Fault::new(option, Mistake::OptionUnknown)),
        }
        Ok(())
    }

    fn capture(&mut self) -> &mut CaptureOption {
        self.kept.capture.get_or_insert_with(|| CaptureOption::new(""))
    }

    fn end_capture(&mut self) -> &mut EndCapture {
        self.kept.end_capture.get_or_insert_with(|| EndCapture { name: "".into(), bytes: 0 })
    }

    /// The rule's texts, made of its body, before its bound.
    pub(super) fn apply(&self, builder: &mut GrammarBuilder, body: ExprId) -> ExprId {
        if self.lazy { shortest(builder, body) } else { body }
    }

    /// The most characters of the rule's texts.
    pub(super) fn bound(&self) -> Option<u32> {
        self.max_chars
    }

    /// Whether the texts are others than the body's, which needs a regular body.
    pub(super) fn change_texts(&self) -> bool {
        self.lazy || self.max_chars.is_some()
    }

    /// The options that the grammar keeps.
    pub(super) fn into_kept(self) -> RuleOptions {
        self.kept
    }
}

/// Walks over the text between the brackets.
struct OptionScanner<'s> {
    source: &'s str,
    position: usize,
    end: usize,
}

impl OptionScanner<'_> {
    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.source[self.position..self.end];
        self.position = self.end - rest.trim_start().len();
        rest.trim_start().bytes().next()
    }

    /// Everything up to a blank, a comma or an equals sign; a string as a whole.
    fn word(&mut self) -> Span {
        let is_string = self.peek() == Some(b'"');
        let start = self.position;
        let rest = &self.source[start..self.end];
        let length = match is_string {
            true => string_length(rest),
            false => rest.find(|c: char| c.is_whitespace() || c == ',' || c == '=').unwrap_or(rest.len()),
        };
        self.position += length;
        Span::new(start, self.position)
    }

    /// The value after an equals sign, if one is next.
    fn value(&mut self) -> Result<Option<Span>, Fault> {
        if self.peek() != Some(b'=') {
            return Ok(None);
        }
        let sign = Span::new(self.position, self.position + 1);
        self.position += 1;
        let value = self.word();
        if value.start == value.end {
            return Err(Fault::new(sign, Mistake::OptionValue));
        }
        Ok(Some(value))
    }
}

fn is_string(value: &str) -> bool {
    value.len() >= 2 && value.starts_with('"')
}

fn decoded(value: &str, span: Span) -> Result<Box<str>, Fault> {
    let mut fault = None;
    let mut report = |found| _ = fault.get_or_insert(found);
    let name = LiteralReader::new(value, span.range().start, Dialect::Ebnf, &mut report).string();
    fault.map_or(Ok(name.into()), Err)
}

/// How long the string is that a text begins with, its quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (place, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return place + 1,
            _ => {}
        }
    }
    text.len()
}
