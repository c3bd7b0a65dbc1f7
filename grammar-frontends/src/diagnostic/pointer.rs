//! Finding the text of the value at a JSON pointer.
//!
//! A JSON parser into a tree forgets where values stood, so this scans the text. It is only used to show a
//! place to a person, so it checks no more than it must.

use grammask_grammar_ir::Span;

use crate::json::scan::{after_space, string_end, value_end};

/// The bytes of the value at `pointer` in the JSON text `source`. The last of equal keys counts, as in
/// `serde_json`.
pub(super) fn locate(source: &str, pointer: &str) -> Option<Span> {
    let bytes = source.as_bytes();
    let mut start = after_space(bytes, 0);
    let mut segments = pointer.split('/');
    if segments.next() != Some("") {
        return None;
    }
    for segment in segments {
        start = descend(source, start, &segment.replace("~1", "/").replace("~0", "~"))?;
    }
    Some(Span::new(start, value_end(bytes, start)?))
}

/// The start of the value under a name or an index in the object or array that begins here.
fn descend(source: &str, begin: usize, wanted: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    if let Some(mut at) = after_mark(bytes, begin, b'[') {
        for _ in 0..wanted.parse::<usize>().ok()? {
            at = after_mark(bytes, value_end(bytes, at)?, b',')?;
        }
        return Some(at);
    }
    let mut found = None;
    let mut next = after_mark(bytes, begin, b'{');
    while let Some(at) = next.filter(|&at| bytes.get(at) == Some(&b'"')) {
        let end = string_end(bytes, at)?;
        let value = after_mark(bytes, end, b':')?;
        if serde_json::from_str::<String>(source.get(at..end)?).is_ok_and(|name| name == wanted) {
            found = Some(value);
        }
        next = after_mark(bytes, value_end(bytes, value)?, b',');
    }
    found
}

/// The first place after this mark that is not whitespace, if the mark is next.
fn after_mark(bytes: &[u8], at: usize, mark: u8) -> Option<usize> {
    let at = after_space(bytes, at);
    (bytes.get(at) == Some(&mark)).then(|| after_space(bytes, at + 1))
}
