//! Schemas that were read before.
//!
//! Nearly all of a structural tag's text is schemas, and from one request to the next most of them are the same. To read
//! a schema, and to write it out again as the key by which its automata are found, takes ten times as long as to see
//! where it ends. So the schemas are cut out first: what is left of the document is read with a number in the place of
//! each, and a schema is looked up by its text as it stands.
//!
//! Nothing is decided here about what is wrong: wherever a document is not plainly right, it is read as a whole.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use grammask_grammar_ir::hash::HashMap;
use serde_json::Value;

use super::schema_value::SchemaValue;
use super::{StructuralTag, StructuralTagOptions, read_document};

/// Schemas of structural tags by their texts, for [`StructuralTag::parse_with`]. Shared between threads.
///
/// Past its bound everything is forgotten, and read again when it comes again.
#[derive(Debug)]
pub struct KnownSchemas {
    max_bytes: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    schemas: HashMap<Box<str>, SchemaValue>,
    bytes: usize,
}

/// Bytes held for each byte of a schema's text: the text twice, and the tree of values.
const BYTES_PER_BYTE: usize = 8;

impl KnownSchemas {
    /// Holds about so many bytes at most.
    pub fn new(max_bytes: usize) -> Self {
        Self { max_bytes, inner: Mutex::default() }
    }

    /// Forgets all schemas.
    pub fn clear(&self) {
        *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = Inner::default();
    }

    /// Reads a document whose schemas can be cut out. `None` where something about it is not plain.
    pub(super) fn read_document(
        &self,
        document: &str,
        options: &StructuralTagOptions,
    ) -> Option<StructuralTag> {
        let Cut { rest, schemas } = cut(document)?;
        let schemas: Option<Vec<SchemaValue>> = schemas.into_iter().map(|text| self.schema(text)).collect();
        let rest: Value = serde_json::from_str(&rest).ok()?;
        read_document(&rest, options, &schemas?).ok()
    }

    fn schema(&self, text: &str) -> Option<SchemaValue> {
        let lock = || self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().schemas.get(text) {
            return Some(known.clone());
        }
        let read = SchemaValue::read(text)?;
        let mut inner = lock();
        let bytes = text.len().saturating_mul(BYTES_PER_BYTE);
        if inner.bytes + bytes > self.max_bytes {
            *inner = Inner::default();
        }
        if bytes <= self.max_bytes {
            inner.bytes += bytes;
            inner.schemas.insert(text.into(), read.clone());
        }
        Some(read)
    }
}

/// A document without its schemas.
#[derive(Debug, PartialEq)]
pub(super) struct Cut<'d> {
    /// The document, with the number of a schema in its place.
    pub(super) rest: String,
    pub(super) schemas: Vec<&'d str>,
}

/// Cuts the schemas out of a document: the objects under the names `json_schema` and `schema`. `None` where something
/// else stands there, or where a name is spelled with escapes, so that a number under these names is always one of
/// ours. If the document is no JSON, then what is left is none either, or a schema is none.
pub(super) fn cut(document: &str) -> Option<Cut<'_>> {
    let bytes = document.as_bytes();
    let mut cut = Cut { rest: String::with_capacity(document.len().min(1 << 12)), schemas: Vec::new() };
    let (mut at, mut copied) = (0, 0);
    while let Some(quote) = bytes[at..].iter().position(|&byte| byte == b'"') {
        let begin = at + quote;
        at = string_end(bytes, begin)?;
        let colon = after_space(bytes, at);
        if bytes.get(colon) != Some(&b':') {
            continue;
        }
        let name = &bytes[begin + 1..at - 1];
        if name.contains(&b'\\') {
            return None;
        }
        if name != b"json_schema" && name != b"schema" {
            continue;
        }
        let start = after_space(bytes, colon + 1);
        at = object_end(bytes, start)?;
        cut.rest.push_str(&document[copied..start]);
        // Writing to a string cannot fail.
        let _ = write!(cut.rest, "{}", cut.schemas.len());
        cut.schemas.push(&document[start..at]);
        copied = at;
    }
    cut.rest.push_str(&document[copied..]);
    Some(cut)
}

/// The place after the string that begins at a quote.
pub(super) fn string_end(bytes: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

pub(super) fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The place after the object that begins here, if one does.
pub(super) fn object_end(bytes: &[u8], begin: usize) -> Option<usize> {
    if bytes.get(begin) != Some(&b'{') {
        return None;
    }
    let mut open = 0_usize;
    let mut at = begin;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => open += 1,
            b'}' | b']' if open == 1 => return Some(at + 1),
            b'}' | b']' => open -= 1,
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(document: &str, rest: &str, schemas: &[&str]) {
        let expected = Cut { rest: rest.to_owned(), schemas: schemas.to_vec() };
        assert_eq!(cut(document), Some(expected), "{document}");
    }

    #[test]
    fn schemas_are_cut_out() {
        check(
            r#"{"a": "json_schema", "json_schema" : {"schema": ["}", {"x\"}": 1}]}, "schema":{}}"#,
            r#"{"a": "json_schema", "json_schema" : 0, "schema":1}"#,
            &[r#"{"schema": ["}", {"x\"}": 1}]}"#, "{}"],
        );
        check(r#"["schema", "{"]"#, r#"["schema", "{"]"#, &[]);
    }

    #[test]
    fn what_is_not_plain_is_left_alone() {
        for document in [
            r#"{"schema": 0}"#,
            r#"{"json_schema": true}"#,
            r#"{"json\u005fschema": 0, "schema": {}}"#,
            r#"{"schema": {"a": 1}"#.trim_end_matches('}'),
            r#"{"schema"#,
            r#"{"schema": "#,
        ] {
            assert_eq!(cut(document), None, "{document}");
        }
    }

    #[test]
    fn known_schemas_change_nothing() {
        let options = StructuralTagOptions::default();
        let known = KnownSchemas::new(1 << 10);
        let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#;
        let documents = [
            format!(r#"{{"format": {{"type": "json_schema", "json_schema": {schema}}}}}"#),
            format!(r#"{{"format": {{"type": "json_schema", "json_schema": {schema}, "style": "xml"}}}}"#),
            format!(r#"{{"format": {{"json_schema": {schema}}}, "schema": {{}}}}"#),
            r#"{"format": {"json_schema": 0}}"#.to_owned(),
            r#"{"format": {"json_schema": {"a": tru}}}"#.to_owned(),
            format!(
                r#"{{"structures": [{{"begin": "<a>", "schema": {schema}, "end": "<b>"}}], "triggers": ["<a"]}}"#
            ),
        ];
        for document in documents.iter().chain(&documents) {
            let (with, without) = (
                StructuralTag::parse_with(document, &options, &known),
                StructuralTag::parse(document, &options),
            );
            match (with, without) {
                (Ok(with), Ok(without)) => assert_eq!(with, without),
                (Err(with), Err(without)) => assert_eq!(with.to_string(), without.to_string()),
                (with, without) => panic!("{document}: {with:?}, {without:?}"),
            }
        }
    }

    #[test]
    fn too_many_schemas_are_forgotten() {
        let known = KnownSchemas::new(BYTES_PER_BYTE * 20);
        for number in 0..100 {
            assert!(known.schema(&format!(r#"{{"a": {number}}}"#)).is_some());
            assert!(known.inner.lock().unwrap().bytes <= known.max_bytes);
        }
    }
}
