//! Schemas that were read before.
//!
//! Nearly all of a structural tag's text is schemas, and from one request to the next most of them are the
//! same. To read a schema, and to write it out again as the key by which its automata are found, takes ten
//! times as long as to see where it ends. So the schemas are cut out first. The rest of the document is read
//! with a number in the place of each, and a schema is looked up by its unchanged text.
//!
//! This module finds no faults: a document that is not plainly right is read as a whole.

use std::sync::Mutex;

use grammask_grammar_ir::PerProcess;
use grammask_grammar_ir::hash::HashMap;

use super::document;
use super::format::Format;
use super::options::StructuralTagOptions;
use super::scan::{WithoutSchemas, take_out_schemas};
use super::schema_value::SchemaValue;
use crate::json::JsonValue;

/// Schemas of structural tags by their texts, for [`StructuralTag::parse_with`](super::StructuralTag::parse_with). Shared between threads.
///
/// Past its bound everything is forgotten, and read again when it comes again.
#[derive(Debug)]
pub struct SchemaCache {
    max_bytes: usize,
    entries: PerProcess<Mutex<Entries>>,
}

#[derive(Debug, Default)]
struct Entries {
    schemas: HashMap<Box<str>, SchemaValue>,
    bytes: usize,
}

/// Bytes held for each byte of a schema's text: the text twice, and the tree of values.
const BYTES_PER_BYTE: usize = 8;

impl SchemaCache {
    /// Holds about this many bytes at most.
    pub fn new(max_bytes: usize) -> Self {
        Self { max_bytes, entries: PerProcess::default() }
    }

    /// Forgets all schemas.
    pub fn clear(&self) {
        *self.entries.lock() = Entries::default();
    }

    /// Reads a document whose schemas can be cut out. `None` where something about it is not plain.
    pub(super) fn read(&self, source: &str, options: &StructuralTagOptions) -> Option<Format> {
        let WithoutSchemas { remainder, schemas } = take_out_schemas(source)?;
        let schemas: Option<Vec<SchemaValue>> = schemas.into_iter().map(|text| self.schema(text)).collect();
        let remainder: JsonValue = remainder.parse().ok()?;
        document::format(&remainder, options, &schemas?).ok()
    }

    fn schema(&self, text: &str) -> Option<SchemaValue> {
        if let Some(known) = self.entries.lock().schemas.get(text) {
            return Some(known.clone());
        }
        let read = SchemaValue::read(text)?;
        let mut entries = self.entries.lock();
        let bytes = text.len().saturating_mul(BYTES_PER_BYTE);
        if entries.bytes + bytes > self.max_bytes {
            *entries = Entries::default();
        }
        if bytes <= self.max_bytes {
            entries.bytes += bytes;
            entries.schemas.insert(text.into(), read.clone());
        }
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tag::StructuralTag;
    use super::*;

    #[test]
    fn cached_schemas_change_nothing() {
        let options = StructuralTagOptions::default();
        let cache = SchemaCache::new(1 << 10);
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
                StructuralTag::parse_with(document, &options, &cache),
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
        let cache = SchemaCache::new(BYTES_PER_BYTE * 20);
        for number in 0..100 {
            assert!(cache.schema(&format!(r#"{{"a": {number}}}"#)).is_some());
            assert!(cache.entries.lock().bytes <= cache.max_bytes);
        }
    }
}
