//! Whether a text obeys a structure: the report of `grammask check`, and of `grammask tools` for an answer.

use std::io::{self, Write};
use std::ops::Range;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use crate::arguments::Global;
use crate::engine::{Capture, Structure};
use crate::escape::{byte_set, quoted, shortened};
use crate::output;
use crate::place::Place;
use crate::style;

/// The place where a text is refused.
struct Refusal {
    place: Place,
    /// The first character that is not allowed; `None` where the text is cut short.
    found: Option<String>,
    /// The continuations that are possible there.
    expected: Vec<String>,
    /// The text that must follow there, if there is only one.
    forced: Vec<u8>,
}

/// The line breaks at the end of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineBreaks {
    Kept,
    /// Editors and shells end texts with one that the structure knows nothing of: left out, unless the structure takes them.
    Optional,
}

/// Says whether a text obeys a structure.
pub(crate) fn report(
    global: &Global,
    structure: &Structure,
    text: &[u8],
    line_breaks: LineBreaks,
) -> Result<ExitCode> {
    let end = text.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |at| at + 1);
    let mut text = text;
    let mut outcome = examine(structure, text)?;
    if let Err(refusal) = &outcome
        && end < text.len()
        && line_breaks == LineBreaks::Optional
    {
        let without = examine(structure, &text[..end])?;
        // A text that is cut short after line breaks may need them.
        if without.is_ok() || refusal.found.is_some() {
            (text, outcome) = (&text[..end], without);
        }
    }
    if global.json {
        output::line(as_json(&outcome))?;
    } else {
        print(&outcome, text.len())?;
    }
    Ok(ExitCode::from(u8::from(outcome.is_err())))
}

/// The captures of an accepted text, or its refusal.
type Outcome = Result<Vec<Capture>, Refusal>;

fn examine(structure: &Structure, text: &[u8]) -> Result<Outcome> {
    let mut cursor = structure.cursor();
    let read = cursor.read(text)?;
    if read == text.len() && cursor.is_complete() {
        return Ok(Ok(cursor.captures()?));
    }
    let found = if read < text.len() { character_at(text, read) } else { read..read };
    if found.start < read {
        // The character is told from those that were possible in its place.
        cursor = structure.cursor();
        cursor.read(&text[..found.start])?;
    }
    let mut expected = byte_set(cursor.next_bytes());
    if cursor.is_complete() {
        expected.push("the end of the text".to_owned());
    }
    let place = Place::of(text, found.start);
    let found = (read < text.len()).then(|| quoted(&text[found]));
    Ok(Err(Refusal { place, found, expected, forced: cursor.forced()? }))
}

/// The character that begins at or holds a byte; the byte itself where the text is not UTF-8 there.
fn character_at(text: &[u8], byte: usize) -> Range<usize> {
    let start = (byte.saturating_sub(3)..=byte).rev().find(|&at| text[at] & 0xc0 != 0x80).unwrap_or(byte);
    let end = (start + 1..text.len().min(start + 4)).find(|&at| text[at] & 0xc0 != 0x80);
    let whole = start..end.unwrap_or(text.len().min(start + 4));
    if std::str::from_utf8(&text[whole.clone()]).is_ok() { whole } else { byte..byte + 1 }
}

impl Refusal {
    fn message(&self) -> String {
        match &self.found {
            Some(found) => format!("{found} is not allowed here"),
            None => "the text ends too early".to_owned(),
        }
    }
}

fn print(outcome: &Outcome, length: usize) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let (ok, error, text, forced, faint) =
        (style::OK, style::ERROR, style::TEXT, style::FORCED, style::FAINT);
    let refusal = match outcome {
        Ok(captures) => {
            writeln!(out, "{ok}ok{ok:#}: the text obeys the structure ({length} bytes)")?;
            for capture in captures {
                let (start, bytes) = (capture.range.start, quoted(&capture.bytes));
                writeln!(out, "{} at byte {start}: {text}{bytes}{text:#}", capture.name)?;
            }
            return Ok(());
        }
        Err(refusal) => refusal,
    };
    let place = &refusal.place;
    writeln!(
        out,
        "{error}refused{error:#} at line {}, column {} (byte {}): {}",
        place.line,
        place.column,
        place.byte,
        refusal.message(),
    )?;
    let number = place.line.to_string();
    writeln!(out, "{faint}{number} |{faint:#} {}", place.excerpt)?;
    let margin = " ".repeat(number.len());
    writeln!(out, "{faint}{margin} |{faint:#} {}{error}^{error:#}", " ".repeat(place.caret))?;
    if !refusal.forced.is_empty() {
        let required = shortened(&quoted(&refusal.forced), 60);
        writeln!(out, "only this may follow: {forced}{required}{forced:#}")?;
    } else if !refusal.expected.is_empty() {
        let expected = refusal.expected.iter().take(16).cloned().collect::<Vec<_>>().join(", ");
        let more = if refusal.expected.len() > 16 { ", ..." } else { "" };
        writeln!(out, "possible here: {text}{expected}{more}{text:#}")?;
    }
    Ok(())
}

/// Captures as JSON, with their places in bytes.
pub(crate) fn captures_as_json(captures: &[Capture]) -> Value {
    let as_json = |capture: &Capture| {
        let (range, text) = (&capture.range, String::from_utf8_lossy(&capture.bytes));
        json!({ "name": capture.name, "text": text, "start": range.start, "end": range.end })
    };
    captures.iter().map(as_json).collect()
}

fn as_json(outcome: &Outcome) -> Value {
    match outcome {
        Ok(captures) if captures.is_empty() => json!({ "ok": true }),
        Ok(captures) => json!({ "ok": true, "captures": captures_as_json(captures) }),
        Err(refusal) => json!({
            "ok": false,
            "message": refusal.message(),
            "line": refusal.place.line,
            "column": refusal.place.column,
            "byte": refusal.place.byte,
            "expected": refusal.expected,
            "forced": String::from_utf8_lossy(&refusal.forced),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_shown_as_its_character() {
        let text = "a€b".as_bytes();
        assert_eq!(character_at(text, 0), 0..1);
        assert_eq!(character_at(text, 2), 1..4);
        assert_eq!(character_at(text, 4), 4..5);
        assert_eq!(character_at(b"a\x80\x80", 2), 2..3);
    }
}
