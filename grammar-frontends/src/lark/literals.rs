//! Strings, ranges, regular expressions and special tokens, as expressions.

use std::borrow::Cow;

use grammask_grammar_ir::{CharRange, ExprId, Span, TokenRef};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::fault::Fault;
use super::lower::{Scope, Shared};
use crate::regex::{self, LetterCase, RegexOptions};

/// Most ids that one special token expression may list, ranges written out.
const MAX_IDS: usize = 1 << 20;

/// A character and those that differ from it in case alone. Letters of ASCII have no others than theirs: no long `s`.
pub(super) fn cases_of(character: char) -> Vec<CharRange> {
    if character.is_ascii() {
        let mut cases =
            [character.to_ascii_uppercase(), character.to_ascii_lowercase()].map(|it| (it, it)).to_vec();
        cases.dedup();
        return cases;
    }
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
    // The tables of case come with the crate.
    let _ = class.try_case_fold_simple();
    class.iter().map(|range| (range.start(), range.end())).collect()
}

impl Scope<'_, '_> {
    /// The text of a string, and whether it is read without regard to case.
    pub(super) fn decoded(&self, span: Span) -> Result<(String, LetterCase), Fault> {
        let written = self.text(span);
        let (quoted, case) = match written.strip_suffix('i') {
            Some(quoted) => (quoted, LetterCase::Ignored),
            None => (written, LetterCase::Exact),
        };
        match serde_json::from_str(&without_short_escapes(quoted)) {
            Ok(text) => Ok((text, case)),
            Err(_) => Err(Fault::new(
                "lark/escape",
                "the string is not written as JSON writes strings",
                r#"the escapes are \" \\ \/ \b \f \n \r \t \xHH \uHHHH"#,
                broken_escape(quoted, span).unwrap_or(span),
            )),
        }
    }

    pub(super) fn string(&mut self, span: Span) -> Result<ExprId, Fault> {
        let (text, case) = self.decoded(span)?;
        let builder = &mut self.shared.builder;
        if case == LetterCase::Exact {
            return Ok(builder.literal(&text));
        }
        let parts: Vec<ExprId> = text.chars().map(|character| builder.class(cases_of(character))).collect();
        Ok(builder.sequence(parts))
    }

    pub(super) fn range(&mut self, first: Span, last: Span) -> Result<ExprId, Fault> {
        let mut ends = ['\0'; 2];
        for (end, span) in ends.iter_mut().zip([first, last]) {
            let (text, case) = self.decoded(span)?;
            let mut characters = text.chars();
            *end = match (characters.next(), characters.next(), case) {
                (Some(character), None, LetterCase::Exact) => character,
                _ => {
                    return Err(Fault::new(
                        "lark/range",
                        "an end of a range is one character",
                        "write `\"a\"..\"z\"`",
                        span,
                    ));
                }
            };
        }
        if ends[0] > ends[1] {
            return Err(Fault::new("lark/range", "the range ends before it begins", "swap the ends", first));
        }
        Ok(self.shared.builder.class([(ends[0], ends[1])]))
    }

    pub(super) fn regex(&mut self, span: Span) -> Result<ExprId, Fault> {
        let (pattern, case) = self.flagged(span)?;
        let options = self.regex_options(case);
        let Shared { builder, pattern_budget, .. } = &mut *self.shared;
        regex::compile_next(builder, &pattern, &options, pattern_budget).map_err(|diagnostics| {
            let first = diagnostics.into_first();
            let hint = first.hint().unwrap_or("correct the pattern");
            // After the slash; a flag before the pattern is not written there.
            let written = span.end as usize - span.start as usize;
            let added = pattern.len() - self.text(span).rfind('/').map_or(0, |close| close.saturating_sub(1));
            let inside = |place: u32| (place as usize).checked_sub(added).map(|place| place + 1);
            let place = first.span().and_then(|place| {
                let (start, end) = (inside(place.start)?, inside(place.end)?);
                let start_at = span.start as usize;
                (start < end && end <= written).then(|| Span::new(start_at + start, start_at + end))
            });
            let message = format!("the regular expression is refused: {}", first.message());
            let code = if first.code() == "regex/limit" { "lark/limit" } else { "lark/regex" };
            Fault::new(code, message, hint, place.unwrap_or(span))
        })
    }

    /// A pattern with its flags.
    pub(super) fn flagged(&self, span: Span) -> Result<(String, LetterCase), Fault> {
        let written = self.text(span);
        let close = written.rfind('/').unwrap_or(0);
        let mut case = LetterCase::Exact;
        let mut dot_is_any = false;
        for (place, flag) in written.char_indices().skip_while(|(place, _)| *place <= close) {
            match flag {
                'i' => case = LetterCase::Ignored,
                's' => dot_is_any = true,
                // Patterns are over characters already.
                'u' => {}
                other => {
                    let start = span.start as usize + place;
                    return Err(Fault::unsupported(
                        format!("the flag `{other}` is not supported"),
                        "the flags are i (case), s (`.` is any character) and u",
                        Span::new(start, start + other.len_utf8()),
                    ));
                }
            }
        }
        let flags = if dot_is_any { "(?s)" } else { "" };
        Ok((format!("{flags}{}", &written[1..close]), case))
    }

    pub(super) fn regex_options(&self, letter_case: LetterCase) -> RegexOptions {
        RegexOptions { letter_case, limits: self.shared.options.regex, ..RegexOptions::default() }
    }

    /// `<name>`, `<[1,5-9]>`, `<[^1]>` or `<[*]>`.
    pub(super) fn special(&mut self, span: Span) -> Result<ExprId, Fault> {
        let written = self.text(span);
        let Some(list) = written.strip_prefix("<[").and_then(|rest| rest.strip_suffix("]>")) else {
            let name = match self.shared.are_names_special {
                true => TokenRef::Special(written.into()),
                false => TokenRef::from(written),
            };
            return Ok(self.shared.builder.token([name]));
        };
        if list.trim() == "*" {
            return Ok(self.shared.builder.exclude_token(Vec::<u32>::new()));
        }
        let (others, list) = match list.strip_prefix('^') {
            Some(list) => (true, list),
            None => (false, list),
        };
        let mut ids = Vec::new();
        for part in list.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let bounds = first.trim().parse::<u32>().ok().zip(last.trim().parse::<u32>().ok());
            let Some((first, last)) = bounds.filter(|(first, last)| first <= last) else {
                let hint = "write `<[5]>`, `<[5,7-9]>`, `<[^5]>` or `<[*]>`";
                return Err(Fault::new("lark/token", "this is no list of token ids", hint, span));
            };
            if ids.len() + (last - first) as usize >= MAX_IDS {
                let message = format!("more than {MAX_IDS} token ids");
                return Err(Fault::new("lark/limit", message, "name fewer, or all others: `<[^...]>`", span));
            }
            ids.extend(first..=last);
        }
        Ok(match others {
            true => self.shared.builder.exclude_token(ids),
            false => self.shared.builder.token(ids),
        })
    }
}

/// A string with `\u00HH` for each `\xHH`, which JSON does not have.
fn without_short_escapes(quoted: &str) -> Cow<'_, str> {
    if !quoted.contains("\\x") {
        return Cow::Borrowed(quoted);
    }
    let mut text = String::with_capacity(quoted.len() + 16);
    let mut rest = quoted;
    while let Some(place) = rest.find('\\') {
        text.push_str(&rest[..place]);
        rest = &rest[place..];
        let (length, escape) = match rest.as_bytes() {
            [_, b'x', one, other, ..] if one.is_ascii_hexdigit() && other.is_ascii_hexdigit() => (2, "\\u00"),
            // Both backslashes, so that the second one begins no escape.
            [_, b'\\', ..] => (2, "\\\\"),
            _ => (1, "\\"),
        };
        text.push_str(escape);
        rest = &rest[length..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The first escape of a string that is none.
fn broken_escape(quoted: &str, span: Span) -> Option<Span> {
    let mut rest = quoted.char_indices();
    while let Some((place, character)) = rest.next() {
        if character != '\\' {
            continue;
        }
        let (_, kind) = rest.next()?;
        let digits = quoted.as_bytes().get(place + 2..place + 6);
        let is_known = match kind {
            'u' => digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
            'x' => {
                let digits = quoted.as_bytes().get(place + 2..place + 4);
                digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            kind => "\"\\/bfnrt".contains(kind),
        };
        if !is_known {
            let start = span.start as usize + place;
            return Some(Span::new(start, start + 1 + kind.len_utf8()));
        }
    }
    None
}
