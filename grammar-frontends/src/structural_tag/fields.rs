//! The fields of one JSON object: each is asked for by name, and none is left over.

use grammask_grammar_ir::TokenRef;

use super::error::shortened;
use super::place::{Place, malformed};
use super::schema_value::SchemaValue;
use crate::diagnostic::{Result, did_you_mean};
use crate::json::{JsonObject, JsonValue};

pub(super) struct Fields<'f> {
    members: &'f JsonObject,
    place: Place<'f>,
    read: Vec<&'static str>,
}

impl<'f> Fields<'f> {
    pub(super) fn new(members: &'f JsonObject, place: &'f Place<'f>) -> Self {
        Self { members, place: place.deeper(), read: vec!["type"] }
    }

    /// The place of a field.
    pub(super) fn place<'c>(&'c self, key: &'c str) -> Place<'c> {
        self.place.key(key)
    }

    /// Refuses fields that were not asked for.
    pub(super) fn finish(self, kind: &str) -> Result<()> {
        let Some(unknown) = self.members.keys().find(|key| !self.read.contains(key)) else {
            return Ok(());
        };
        let hint = did_you_mean(unknown, &self.read, || "leave it out".to_owned());
        let message = format!("the format `{kind}` has no field `{}`", shortened(unknown));
        Err(malformed(&self.place.key(unknown), message, hint))
    }

    /// A field, `null` being none.
    pub(super) fn optional(&mut self, key: &'static str) -> Option<&'f JsonValue> {
        self.read.push(key);
        self.members.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn required(&mut self, key: &'static str) -> Result<&'f JsonValue> {
        match self.optional(key) {
            Some(value) => Ok(value),
            None => Err(malformed(&self.place, format!("the field `{key}` is missing"), "add it")),
        }
    }

    /// The schema that was cut out and has this number in the document.
    pub(super) fn removed_schema(&self, index: &JsonValue) -> Option<&SchemaValue> {
        self.place.schema(usize::try_from(index.as_u64()?).ok()?)
    }

    pub(super) fn text(&mut self, key: &'static str) -> Result<&'f str> {
        let value = self.required(key)?;
        let message = || format!("`{key}` must be a string");
        value.as_str().ok_or_else(|| malformed(&self.place(key), message(), "write a string"))
    }

    /// A string that is not empty.
    pub(super) fn full_text(&mut self, key: &'static str, what: &str) -> Result<&'f str> {
        let text = self.text(key)?;
        if text.is_empty() {
            return Err(malformed(&self.place(key), format!("{what} must not be empty"), "write it"));
        }
        Ok(text)
    }

    pub(super) fn list(&mut self, key: &'static str) -> Result<&'f [JsonValue]> {
        match self.required(key)? {
            JsonValue::Array(items) => Ok(items),
            _ => Err(malformed(&self.place(key), format!("`{key}` must be an array"), "write an array")),
        }
    }

    /// A list of strings none of which is empty; none where the field is absent.
    pub(super) fn full_texts(&mut self, key: &'static str) -> Result<Vec<Box<str>>> {
        let Some(value) = self.optional(key) else { return Ok(Vec::new()) };
        let place = self.place(key);
        let JsonValue::Array(items) = value else {
            return Err(malformed(&place, format!("`{key}` must be an array of strings"), "write an array"));
        };
        let text = |(index, item): (usize, &JsonValue)| match item.as_str() {
            Some(text) if !text.is_empty() => Ok(text.into()),
            _ => {
                let message = format!("`{key}` must hold non-empty strings only");
                Err(malformed(&place.index(index), message, "write a string of at least one character"))
            }
        };
        items.iter().enumerate().map(text).collect()
    }

    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool> {
        self.flag_or(key, false)
    }

    pub(super) fn flag_or(&mut self, key: &'static str, default: bool) -> Result<bool> {
        match self.optional(key) {
            None => Ok(default),
            Some(JsonValue::Bool(flag)) => Ok(*flag),
            Some(_) => {
                let message = format!("{key} must be a boolean");
                Err(malformed(&self.place(key), message, "write `true` or `false`"))
            }
        }
    }

    pub(super) fn limit(&mut self, key: &'static str) -> Result<Option<u32>> {
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

    pub(super) fn integer(&mut self, key: &'static str) -> Result<i64> {
        let value = self.required(key)?;
        let message = || format!("`{key}` must be an integer");
        value.as_i64().ok_or_else(|| malformed(&self.place(key), message(), "write a whole number"))
    }

    pub(super) fn token(&mut self, key: &'static str) -> Result<TokenRef> {
        let value = self.required(key)?;
        token(value, &self.place(key))
    }

    /// A list of tokens; none where the field is absent.
    pub(super) fn tokens(&mut self, key: &'static str) -> Result<Vec<TokenRef>> {
        let Some(value) = self.optional(key) else { return Ok(Vec::new()) };
        let place = self.place(key);
        let JsonValue::Array(items) = value else {
            return Err(malformed(&place, format!("`{key}` must be an array of tokens"), "write an array"));
        };
        items.iter().enumerate().map(|(index, item)| token(item, &place.index(index))).collect()
    }
}

/// A token: its id or its name.
pub(super) fn token(value: &JsonValue, place: &Place<'_>) -> Result<TokenRef> {
    match value {
        JsonValue::String(name) if !name.is_empty() => Ok(TokenRef::Name(name.as_str().into())),
        JsonValue::Number(_) => match value.as_u64().and_then(|id| u32::try_from(id).ok()) {
            Some(id) => Ok(TokenRef::Id(id)),
            None if value.as_i64().is_some() => {
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
