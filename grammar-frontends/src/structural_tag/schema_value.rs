//! A schema in a structural tag.

use std::sync::Arc;

use once_cell::race::OnceBox;

use crate::json::JsonValue;
use crate::json::scan::string_end;
use crate::json_schema::{SimpleSchema, estimate, estimate_value};

/// A schema, as it was read or as it is in a document. Simple ones are read when their value is asked for: most are not.
#[derive(Clone, Debug)]
pub struct SchemaValue(Arc<Contents>);

#[derive(Debug)]
struct Contents {
    value: OnceBox<Arc<JsonValue>>,
    source: Option<SchemaText>,
}

/// A schema that came as text.
#[derive(Debug)]
struct SchemaText {
    /// Without space between its parts: texts that are equal are equal values. Most are what writing the value out
    /// would give.
    text: Box<str>,
    simple: Option<SimpleSchema>,
}

impl SchemaValue {
    /// Reads a schema, or sees that it can be read later. `None` where the text is no JSON.
    pub fn read(text: &str) -> Option<Self> {
        let simple = estimate(text);
        let value = match simple {
            Some(_) => OnceBox::new(),
            None => OnceBox::with_value(Box::new(Arc::new(text.parse().ok()?))),
        };
        Some(Self(Arc::new(Contents {
            value,
            source: Some(SchemaText { text: without_space(text).into(), simple }),
        })))
    }

    /// About the bytes of memory that it holds: its text twice, and the tree of values.
    pub fn memory_usage(&self) -> usize {
        self.text().map_or(0, str::len).saturating_mul(8)
    }

    pub(crate) fn value(&self) -> &Arc<JsonValue> {
        self.0.value.get_or_init(|| {
            let text = self.0.source.as_ref().map_or("", |source| &source.text);
            // It was read once, when it was looked at.
            Box::new(Arc::new(text.parse().unwrap_or_default()))
        })
    }

    /// The text without space between its parts, where the schema came as text.
    pub(super) fn text(&self) -> Option<&str> {
        self.0.source.as_ref().map(|source| &*source.text)
    }

    pub(super) fn simple_schema(&self) -> Option<SimpleSchema> {
        match &self.0.source {
            Some(source) => source.simple,
            None => estimate_value(self.value()),
        }
    }
}

impl From<Arc<JsonValue>> for SchemaValue {
    fn from(value: Arc<JsonValue>) -> Self {
        Self(Arc::new(Contents { value: OnceBox::with_value(Box::new(value)), source: None }))
    }
}

impl PartialEq for SchemaValue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.value() == other.value()
    }
}

/// JSON without the space outside of strings.
fn without_space(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut kept = String::with_capacity(text.len());
    let (mut at, mut copied) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            // The text was read before, so its strings are closed.
            b'"' => at = string_end(bytes, at).unwrap_or(bytes.len()),
            b' ' | b'\t' | b'\n' | b'\r' => {
                kept.push_str(&text[copied..at]);
                at += 1;
                copied = at;
            }
            _ => at += 1,
        }
    }
    kept.push_str(&text[copied..]);
    kept
}
