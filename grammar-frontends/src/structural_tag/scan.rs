//! Finding parts of a document without parsing it: schemas, lists of tags. If a text is not plainly right, the answer
//! is `None`, and it is read as a whole.

use std::fmt::Write as _;

use crate::json::scan::{after_space, object_end, string_end};

/// A document without its schemas.
pub(super) struct WithoutSchemas<'d> {
    /// The document, with the index of a schema in its place.
    pub(super) remainder: String,
    pub(super) schemas: Vec<&'d str>,
}

/// Takes the schemas out of a document: the objects under the names `json_schema` and `schema`. `None` where
/// there is something else, or where a name is spelled with escapes, so that a number under these names is
/// always one of ours. If the document is no JSON, then what is left is none either, or a schema is none.
pub(super) fn take_out_schemas(document: &str) -> Option<WithoutSchemas<'_>> {
    let bytes = document.as_bytes();
    let mut without =
        WithoutSchemas { remainder: String::with_capacity(document.len().min(1 << 12)), schemas: Vec::new() };
    let (mut at, mut copied) = (0, 0);
    while let Some(quote) = bytes[at..].iter().position(|&byte| byte == b'"') {
        let begin = at + quote;
        at = string_end(bytes, begin)?;
        if !matches!(name(bytes, begin, at)?, b"json_schema" | b"schema") {
            continue;
        }
        let start = after_space(bytes, after_space(bytes, at) + 1);
        at = object_end(bytes, start)?;
        without.remainder.push_str(&document[copied..start]);
        // Writing to a string cannot fail.
        let _ = write!(without.remainder, "{}", without.schemas.len());
        without.schemas.push(&document[start..at]);
        copied = at;
    }
    without.remainder.push_str(&document[copied..]);
    Some(without)
}

/// The place after the first name `tags`, and how many brackets are open there. `None` where there is no such name,
/// or where names are not plain.
pub(super) fn find_tags(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                let begin = at;
                at = string_end(bytes, begin)?;
                if name(bytes, begin, at)? == b"tags" {
                    return Some((at, depth));
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
}

/// The name of a member, if a string is one, or else nothing. `None` where it is written with escapes.
fn name(bytes: &[u8], begin: usize, end: usize) -> Option<&[u8]> {
    if bytes.get(after_space(bytes, end)) != Some(&b':') {
        return Some(b"");
    }
    let name = bytes.get(begin + 1..end - 1)?;
    (!name.contains(&b'\\')).then_some(name)
}

/// Whether the rest of a document has the name `tags`; `None` where it is not plain.
pub(super) fn has_tags(bytes: &[u8], mut at: usize) -> Option<bool> {
    while let Some(quote) = bytes.get(at..)?.iter().position(|&byte| byte == b'"') {
        let begin = at + quote;
        at = string_end(bytes, begin)?;
        if name(bytes, begin, at)? == b"tags" {
            return Some(true);
        }
    }
    Some(false)
}

/// How many brackets are open at most. `None` where a string has no end.
pub(super) fn max_depth(bytes: &[u8]) -> Option<usize> {
    let (mut open, mut max, mut at) = (0_usize, 0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => {
                open += 1;
                max = max.max(open);
            }
            b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Some(max)
}
