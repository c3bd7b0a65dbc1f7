//! A schema in a structural tag.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::known::string_end;
use crate::json_schema::{SimpleSchema, outlook, simple_schema};

/// A schema, as it was read or as it stands in a document. Where there is a [`SimpleSchema`] for the text, it is read when
/// somebody asks for its value: most are not asked.
#[derive(Clone, Debug)]
pub(crate) struct SchemaValue(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    value: OnceLock<Arc<Value>>,
    written: Option<Written>,
}

/// A schema that came as text.
#[derive(Debug)]
struct Written {
    /// Without space between its parts: texts that are equal are equal values. Most are what writing the value out
    /// would give.
    text: Box<str>,
    outlook: Option<SimpleSchema>,
}

impl SchemaValue {
    /// Reads a schema, or sees that it can be read later. `None` where the text is no JSON.
    pub(super) fn read(text: &str) -> Option<Self> {
        let outlook = outlook(text);
        let value = match outlook {
            Some(_) => OnceLock::new(),
            None => OnceLock::from(Arc::new(serde_json::from_str(text).ok()?)),
        };
        Some(Self(Arc::new(Inner {
            value,
            written: Some(Written { text: without_space(text).into(), outlook }),
        })))
    }

    pub(crate) fn value(&self) -> &Arc<Value> {
        self.0.value.get_or_init(|| {
            let text = self.0.written.as_ref().map_or("", |written| &written.text);
            // It was read once, when it was looked at.
            Arc::new(serde_json::from_str(text).unwrap_or_default())
        })
    }

    /// The text without space between its parts, where the schema came as text.
    pub(super) fn text(&self) -> Option<&str> {
        self.0.written.as_ref().map(|written| &*written.text)
    }

    /// The text, where the value was not read and what it says can be read from there.
    pub(super) fn unread(&self) -> Option<&str> {
        self.text().filter(|_| self.0.value.get().is_none())
    }

    pub(super) fn outlook(&self) -> Option<SimpleSchema> {
        match &self.0.written {
            Some(written) => written.outlook,
            None => simple_schema(self.value()),
        }
    }
}

impl From<Arc<Value>> for SchemaValue {
    fn from(value: Arc<Value>) -> Self {
        Self(Arc::new(Inner { value: OnceLock::from(value), written: None }))
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
            // What was read ends its strings.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_between_parts_is_nothing() {
        let spelled = "{ \"a \\\" b\" :\t[ 1 , true ],\r\n\"\\u0061\": \" é\" }";
        assert_eq!(without_space(spelled), r#"{"a \" b":[1,true],"\u0061":" é"}"#);
        let read = SchemaValue::read(r#"{"a": [1, 2.50, "x y"]}"#).unwrap();
        assert_eq!(read.text(), Some(read.value().to_string().as_str()));
    }

    #[test]
    fn plain_schemas_are_read_late() {
        let plain = r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#;
        let late = SchemaValue::read(plain).unwrap();
        assert!(late.outlook().is_some() && late.unread().is_some());
        assert_eq!(late, SchemaValue::from(Arc::new(serde_json::from_str(plain).unwrap())));
        assert!(late.unread().is_none());
        let other = SchemaValue::read(r#"{"anyOf": []}"#).unwrap();
        assert!(other.outlook().is_none() && other.unread().is_none());
        assert!(SchemaValue::read(r#"{"a": tru}"#).is_none());
    }
}
