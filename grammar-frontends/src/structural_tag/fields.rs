//! The fields of one JSON object: each is asked for by name, and none is left over.

use std::fmt::Write as _;

use grammask_grammar_ir::TokenRef;
use serde_json::{Map, Value};

use super::read::{Fallible, shortened};
use super::schema_value::SchemaValue;
use crate::Diagnostic;

/// A place in the document, as a chain that is only spelled out for a report.
pub(super) struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    step: Step<'p>,
    depth: usize,
    limit: usize,
    /// The schemas that were cut out of the document.
    schemas: &'p [SchemaValue],
}

enum Step<'p> {
    Root(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'p> Place<'p> {
    /// The document, or the part of it at a pointer. `limit` is how deep formats may nest.
    pub(super) fn root(pointer: &'p str, limit: usize) -> Self {
        Place { parent: None, step: Step::Root(pointer), depth: 0, limit, schemas: &[] }
    }

    pub(super) fn with_schemas(self, schemas: &'p [SchemaValue]) -> Self {
        Self { schemas, ..self }
    }

    fn step<'c>(&'c self, step: Step<'c>, depth: usize) -> Place<'c> {
        Place { parent: Some(self), step, depth, limit: self.limit, schemas: self.schemas }
    }

    pub(super) fn key<'c>(&'c self, key: &'c str) -> Place<'c> {
        self.step(Step::Key(key), self.depth)
    }

    /// An item of an array.
    pub(super) fn index(&self, index: usize) -> Place<'_> {
        self.step(Step::Index(index), self.depth)
    }

    /// The same place, one format deeper.
    fn deeper(&self) -> Place<'_> {
        self.step(Step::Root(""), self.depth + 1)
    }

    pub(super) fn check_depth(&self) -> Fallible<()> {
        if self.depth < self.limit {
            return Ok(());
        }
        let message = format!("formats nest deeper than {}", self.limit);
        let error = Diagnostic::error("structural-tag/limit", message).with_pointer(self.pointer());
        Err(Box::new(error.with_hint("nest less or raise the limit `nesting`")))
    }

    /// The JSON pointer.
    pub(super) fn pointer(&self) -> String {
        let mut steps = Vec::with_capacity(16);
        let mut at = Some(self);
        while let Some(place) = at {
            steps.push(&place.step);
            at = place.parent;
        }
        let mut pointer = String::with_capacity(64);
        for step in steps.into_iter().rev() {
            match step {
                Step::Root(text) => pointer.push_str(text),
                Step::Key(key) => {
                    pointer.push('/');
                    match key.contains(['~', '/']) {
                        true => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
                        false => pointer.push_str(key),
                    }
                }
                Step::Index(index) => {
                    // Writing to a string cannot fail.
                    let _ = write!(pointer, "/{index}");
                }
            }
        }
        pointer
    }
}

/// A refusal of what stands at a place.
pub(super) fn malformed(
    place: &Place<'_>,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Box<Diagnostic> {
    let error = Diagnostic::error("structural-tag/malformed", message).with_pointer(place.pointer());
    Box::new(error.with_hint(hint))
}

pub(super) struct Fields<'f> {
    members: &'f Map<String, Value>,
    place: Place<'f>,
    read: Vec<&'static str>,
}

impl<'f> Fields<'f> {
    pub(super) fn new(members: &'f Map<String, Value>, place: &'f Place<'f>) -> Self {
        Self { members, place: place.deeper(), read: vec!["type"] }
    }

    /// The place of a field.
    pub(super) fn place<'c>(&'c self, key: &'c str) -> Place<'c> {
        self.place.key(key)
    }

    /// Refuses fields that nobody asked for.
    pub(super) fn finish(self, kind: &str) -> Fallible<()> {
        let Some(unknown) = self.members.keys().find(|key| !self.read.contains(&key.as_str())) else {
            return Ok(());
        };
        let hint = match crate::ebnf::closest(unknown, &self.read) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => "leave it out".to_owned(),
        };
        let message = format!("the format `{kind}` has no field `{}`", shortened(unknown));
        Err(malformed(&self.place.key(unknown), message, hint))
    }

    /// A field, `null` being none.
    pub(super) fn optional(&mut self, key: &'static str) -> Option<&'f Value> {
        self.read.push(key);
        self.members.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn required(&mut self, key: &'static str) -> Fallible<&'f Value> {
        match self.optional(key) {
            Some(value) => Ok(value),
            None => Err(malformed(&self.place, format!("the field `{key}` is missing"), "add it")),
        }
    }

    /// The schema that was cut out where its number stands.
    pub(super) fn cut_schema(&self, value: &Value) -> Option<&SchemaValue> {
        self.place.schemas.get(usize::try_from(value.as_u64()?).ok()?)
    }

    pub(super) fn text(&mut self, key: &'static str) -> Fallible<&'f str> {
        let value = self.required(key)?;
        let message = || format!("`{key}` must be a string");
        value.as_str().ok_or_else(|| malformed(&self.place(key), message(), "write a string"))
    }

    /// A string that is not empty.
    pub(super) fn full_text(&mut self, key: &'static str, what: &str) -> Fallible<&'f str> {
        let text = self.text(key)?;
        if text.is_empty() {
            return Err(malformed(&self.place(key), format!("{what} must not be empty"), "write it"));
        }
        Ok(text)
    }

    pub(super) fn list(&mut self, key: &'static str) -> Fallible<&'f [Value]> {
        match self.required(key)? {
            Value::Array(items) => Ok(items),
            _ => Err(malformed(&self.place(key), format!("`{key}` must be an array"), "write an array")),
        }
    }

    /// A list of strings none of which is empty; none where the field is absent.
    pub(super) fn full_texts(&mut self, key: &'static str) -> Fallible<Vec<Box<str>>> {
        let Some(value) = self.optional(key) else { return Ok(Vec::new()) };
        let place = self.place(key);
        let Value::Array(items) = value else {
            return Err(malformed(&place, format!("`{key}` must be an array of strings"), "write an array"));
        };
        let text = |(index, item): (usize, &Value)| match item.as_str() {
            Some(text) if !text.is_empty() => Ok(text.into()),
            _ => {
                let message = format!("`{key}` must hold non-empty strings only");
                Err(malformed(&place.index(index), message, "write a string of at least one character"))
            }
        };
        items.iter().enumerate().map(text).collect()
    }

    pub(super) fn flag(&mut self, key: &'static str) -> Fallible<bool> {
        self.flag_or(key, false)
    }

    pub(super) fn flag_or(&mut self, key: &'static str, default: bool) -> Fallible<bool> {
        match self.optional(key) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => {
                let message = format!("{key} must be a boolean");
                Err(malformed(&self.place(key), message, "write `true` or `false`"))
            }
        }
    }

    pub(super) fn limit(&mut self, key: &'static str) -> Fallible<Option<u32>> {
        let Some(value) = self.optional(key) else { return Ok(None) };
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        match number {
            Some(number) => Ok(Some(number)),
            None => {
                let message = format!("{key} must be a non-negative 32-bit integer or null");
                Err(malformed(&self.place(key), message, "write a number from 0 to 4294967295"))
            }
        }
    }

    pub(super) fn integer(&mut self, key: &'static str) -> Fallible<i64> {
        let value = self.required(key)?;
        let message = || format!("`{key}` must be an integer");
        value.as_i64().ok_or_else(|| malformed(&self.place(key), message(), "write a whole number"))
    }

    pub(super) fn token(&mut self, key: &'static str) -> Fallible<TokenRef> {
        let value = self.required(key)?;
        token(value, &self.place(key))
    }

    /// A list of tokens; none where the field is absent.
    pub(super) fn tokens(&mut self, key: &'static str) -> Fallible<Vec<TokenRef>> {
        let Some(value) = self.optional(key) else { return Ok(Vec::new()) };
        let place = self.place(key);
        let Value::Array(items) = value else {
            return Err(malformed(&place, format!("`{key}` must be an array of tokens"), "write an array"));
        };
        items.iter().enumerate().map(|(index, item)| token(item, &place.index(index))).collect()
    }
}

/// A token: its id or its name.
pub(super) fn token(value: &Value, place: &Place<'_>) -> Fallible<TokenRef> {
    match value {
        Value::String(name) if !name.is_empty() => Ok(TokenRef::Name(name.as_str().into())),
        Value::Number(number) => match number.as_u64().and_then(|id| u32::try_from(id).ok()) {
            Some(id) => Ok(TokenRef::Id(id)),
            None if number.as_i64().is_some() => {
                Err(malformed(place, "Token ID must be non-negative", "write an id of the vocabulary"))
            }
            None => {
                Err(malformed(place, "a token id must be a 32-bit integer", "write an id of the vocabulary"))
            }
        },
        _ => Err(malformed(
            place,
            "TokenFormat's token must be an integer or string",
            "write the token's id or its text in the vocabulary",
        )),
    }
}
