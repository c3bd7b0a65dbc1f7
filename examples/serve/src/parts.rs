//! The text of an answer, taken apart into what is said and the calls of tools.

use serde_json::Value;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Call { name: String, arguments: String },
}

/// Takes an answer apart while it is written.
pub(crate) struct Splitter {
    /// Whether there may be calls.
    calls: bool,
    /// Bytes that were not given out.
    rest: Vec<u8>,
}

impl Splitter {
    pub(crate) fn new(calls: bool) -> Self {
        Self { calls, rest: Vec::new() }
    }

    /// The parts that are certain once these bytes were written.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Part> {
        self.rest.extend_from_slice(bytes);
        // A character may be written in pieces.
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let incomplete = self.rest.split_off(whole);
        let text = String::from_utf8_lossy(&std::mem::take(&mut self.rest)).into_owned();
        let (parts, rest) = self.take(&text);
        self.rest = [rest.as_bytes(), &incomplete].concat();
        parts
    }

    /// The bytes that are left when the answer ends.
    pub(crate) fn finish(self) -> Option<Part> {
        let text = String::from_utf8_lossy(&self.rest).into_owned();
        (!text.is_empty()).then_some(Part::Text(text))
    }

    fn take<'t>(&self, mut text: &'t str) -> (Vec<Part>, &'t str) {
        let mut parts = Vec::new();
        let say = |text: &str, parts: &mut Vec<Part>| {
            if !text.is_empty() {
                parts.push(Part::Text(text.to_owned()));
            }
        };
        if !self.calls {
            say(text, &mut parts);
            return (parts, "");
        }
        while let Some((before, after)) = text.split_once(OPEN) {
            say(before, &mut parts);
            text = &text[before.len()..];
            let Some((call, after)) = after.split_once(CLOSE) else { return (parts, text) };
            match read_call(call) {
                Some(call) => parts.push(call),
                None => say(&text[..OPEN.len() + call.len() + CLOSE.len()], &mut parts),
            }
            text = after;
        }
        // The mark may go on with what comes next.
        let held = (1..OPEN.len()).rev().find(|&len| text.ends_with(&OPEN[..len])).unwrap_or(0);
        let (said, rest) = text.split_at(text.len() - held);
        say(said, &mut parts);
        (parts, rest)
    }
}

fn read_call(call: &str) -> Option<Part> {
    let call: Value = serde_json::from_str(call.trim()).ok()?;
    let name = call.get("name")?.as_str()?.to_owned();
    Some(Part::Call { name, arguments: call.get("arguments")?.to_string() })
}

#[cfg(test)]
mod tests {
    use super::{Part, Splitter};

    const ANSWER: &str = "I ask <b>: \u{e9} <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"<tool\"}}\n</tool_call> <tool";

    /// The parts, with texts that follow one another joined.
    fn check(pieces: &[&[u8]], calls: bool) -> Vec<Part> {
        let mut splitter = Splitter::new(calls);
        let mut parts: Vec<Part> = pieces.iter().flat_map(|piece| splitter.push(piece)).collect();
        parts.extend(splitter.finish());
        let mut joined: Vec<Part> = Vec::new();
        for part in parts {
            match (joined.last_mut(), part) {
                (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
                (_, part) => joined.push(part),
            }
        }
        joined
    }

    #[test]
    fn cuts_do_not_matter() {
        let whole = check(&[ANSWER.as_bytes()], true);
        assert_eq!(
            whole,
            [
                Part::Text("I ask <b>: \u{e9} ".to_owned()),
                Part::Call { name: "f".to_owned(), arguments: "{\"a\":\"<tool\"}".to_owned() },
                Part::Text(" <tool".to_owned()),
            ]
        );
        let bytes: Vec<&[u8]> = ANSWER.as_bytes().chunks(1).collect();
        assert_eq!(check(&bytes, true), whole);
    }

    #[test]
    fn answers_without_tools_are_texts() {
        assert_eq!(check(&[ANSWER.as_bytes()], false), [Part::Text(ANSWER.to_owned())]);
    }
}
