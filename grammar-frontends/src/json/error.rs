//! Texts that are no JSON.

use std::fmt;

use thiserror::Error;

/// The reason why a text is no JSON, and the place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct JsonError {
    reason: String,
    offset: usize,
    line: usize,
    column: usize,
    at_end: bool,
}

/// The reasons that `serde_json` gives for an escape such as `\ud83d` alone.
const HALF_PAIRS: [&str; 2] = ["unexpected end of hex escape", "lone leading surrogate in hex escape"];
const HALF_PAIR: &str = "an escape is half of a pair of surrogates, which is no character";

impl JsonError {
    /// The error in a text that the parser of this crate refused at an offset, because of half of a pair of surrogates or
    /// otherwise.
    pub(super) fn of(text: &str, offset: usize, is_half: bool) -> Self {
        // Other halves stand in descriptions, where this crate reads them.
        let is_here =
            |error: &Self| error.reason != HALF_PAIR || is_half && error.offset + r"\ud83d".len() >= offset;
        let told = fault(text).map(|error| Self::told(text, &error)).filter(is_here);
        told.unwrap_or_else(|| Self::at(text, offset, "invalid JSON"))
    }

    fn told(text: &str, error: &serde_json::Error) -> Self {
        let full = error.to_string();
        // The place is appended there.
        let reason = full.rsplit_once(" at line ").map_or(&*full, |(reason, _)| reason);
        let reason = if HALF_PAIRS.contains(&reason) { HALF_PAIR } else { reason };
        let line_start = match error.line().saturating_sub(2) {
            _ if error.line() <= 1 => 0,
            newlines => text.match_indices('\n').nth(newlines).map_or(0, |(newline, _)| newline + 1),
        };
        // Columns count bytes from 1; column 0 is the line break before the line.
        let offset = (line_start + error.column()).saturating_sub(1).min(text.len());
        let (line, column) = (error.line(), error.column());
        Self { reason: reason.to_owned(), offset, line, column, at_end: error.is_eof() }
    }

    fn at(text: &str, offset: usize, reason: &str) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let (reason, at_end) = (reason.to_owned(), offset >= text.len());
        Self { reason, offset, line, column: offset - line_start + 1, at_end }
    }

    /// The reason, without the place.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The offset in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Whether the text ends too early.
    pub fn is_at_end(&self) -> bool {
        self.at_end
    }
}

/// The fault that `serde_json` finds.
fn fault(text: &str) -> Option<serde_json::Error> {
    let error = serde_json::from_str::<serde_json::Value>(text).err()?;
    // Numbers may be as large as they like; there may be another fault after them.
    match error.to_string().starts_with("number out of range") {
        true => serde_json::from_str::<serde::de::IgnoredAny>(text).err(),
        false => Some(error),
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {} column {}", self.reason, self.line, self.column)
    }
}
