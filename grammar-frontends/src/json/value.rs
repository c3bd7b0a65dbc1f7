//! Values that own their parts.

use std::fmt;
use std::ops::Index;
use std::str::FromStr;

use bumpalo::Bump;
use indexmap::IndexMap;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::borrowed::Value;
use super::error::JsonError;
use super::parse::parse;

/// A JSON value.
///
/// [`FromStr`] reads it, with at most 127 arrays and objects inside of one another; where a name repeats, the last of its
/// values counts. [`Display`](fmt::Display) writes it without space, and as `{:#}` over several lines. Values are equal if
/// they are written alike: `1` is not `1.0`, and the order of the members counts.
///
/// An escape that is half of a pair of surrogates, such as `\ud83d` alone, is an error. In a `description`, `title` or
/// `$comment` it is U+FFFD, because programs that cut such texts short may leave one.
///
/// ```
/// use grammask_grammar_frontends::json::JsonValue;
///
/// let value: JsonValue = r#"{"b": 1.50, "a": [1e999, null]}"#.parse()?;
/// assert_eq!(value.to_string(), r#"{"b":1.50,"a":[1e999,null]}"#);
/// assert_eq!(value.get("b").and_then(JsonValue::as_number), Some("1.50"));
/// assert_eq!(JsonValue::from(serde_json::json!({"a": [2, "x"]})), r#"{"a": [2, "x"]}"#.parse::<JsonValue>()?);
/// # Ok::<(), grammask_grammar_frontends::json::JsonError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JsonValue {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it is written.
    Number(Box<str>),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<JsonValue>),
    /// An object.
    Object(JsonObject),
}

/// The members of a JSON object, in the order in which they were read or inserted.
#[derive(Clone, Debug, Default)]
pub struct JsonObject(IndexMap<String, JsonValue>);

impl JsonValue {
    /// An object of these members.
    pub fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The value of a member; `None` where this is no object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// The members, where this is an object.
    pub fn as_object(&self) -> Option<&JsonObject> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The items, where this is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The text, where this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number as it is written, where this is one.
    pub fn as_number(&self) -> Option<&str> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The number, where this is one that is written as an integer from 0 to 2^64 - 1.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.parse().ok()
    }

    /// The number, where this is one that is written as an integer from -2^63 to 2^63 - 1.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.parse().ok()
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Puts a member after the others, or in the place of the one with this name. Does nothing where this is
    /// no object.
    pub fn insert(&mut self, name: &str, value: impl Into<Self>) {
        if let Self::Object(members) = self {
            members.insert(name.to_owned(), value.into());
        }
    }
}

/// The value of a member; `null` where there is none.
impl Index<&str> for JsonValue {
    type Output = Self;

    fn index(&self, name: &str) -> &Self {
        self.get(name).unwrap_or(&Self::Null)
    }
}

/// The item at an index; `null` where there is none.
impl Index<usize> for JsonValue {
    type Output = Self;

    fn index(&self, index: usize) -> &Self {
        self.as_array().and_then(|items| items.get(index)).unwrap_or(&Self::Null)
    }
}

impl PartialEq<&str> for JsonValue {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == Some(text)
    }
}

impl JsonObject {
    /// No members.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&JsonValue> {
        self.0.get(name)
    }

    /// Whether there is a member of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The members.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &JsonValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub(super) fn entries(&self) -> indexmap::map::Iter<'_, String, JsonValue> {
        self.0.iter()
    }

    /// Puts a member after the others, or in the place of the one with this name.
    pub fn insert(&mut self, name: String, value: JsonValue) {
        self.0.insert(name, value);
    }
}

/// The order counts.
impl PartialEq for JsonObject {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for JsonObject {}

impl FromIterator<(String, JsonValue)> for JsonObject {
    fn from_iter<I: IntoIterator<Item = (String, JsonValue)>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

impl Extend<(String, JsonValue)> for JsonObject {
    fn extend<I: IntoIterator<Item = (String, JsonValue)>>(&mut self, members: I) {
        self.0.extend(members);
    }
}

impl IntoIterator for JsonObject {
    type Item = (String, JsonValue);
    type IntoIter = indexmap::map::IntoIter<String, JsonValue>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl FromStr for JsonValue {
    type Err = JsonError;

    fn from_str(text: &str) -> Result<Self, JsonError> {
        let arena = Bump::new();
        parse(text, &arena, |_| 0).map(|value| Self::from(&value))
    }
}

/// As deep as the parser reads, which is little.
impl From<&Value<'_>> for JsonValue {
    fn from(value: &Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number((*number).into()),
            Value::String(text) => Self::String((*text).to_owned()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => Self::Object(
                members.into_iter().map(|(name, value)| (name.to_owned(), Self::from(value))).collect(),
            ),
        }
    }
}

/// In the order in which `serde_json` gives the members, with numbers as it writes them.
impl From<serde_json::Value> for JsonValue {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(number) => Self::Number(number.to_string().into()),
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(items) => items.into_iter().map(Self::from).collect(),
            serde_json::Value::Object(members) => {
                Self::Object(members.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

impl From<bool> for JsonValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for JsonValue {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for JsonValue {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for JsonValue {
            fn from(number: $integer) -> Self {
                Self::Number(number.to_string().into())
            }
        }
    )*};
}

from_integers!(i32, i64, u32, u64, usize);

/// The shortest text that reads as the number; `null` for infinity and NaN, which JSON lacks.
impl From<f64> for JsonValue {
    fn from(number: f64) -> Self {
        serde_json::Number::from_f64(number)
            .map_or(Self::Null, |number| Self::Number(number.to_string().into()))
    }
}

impl<T: Into<Self>> From<Vec<T>> for JsonValue {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Self>> FromIterator<T> for JsonValue {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(self, 0, f)
    }
}

/// Writes a value at this depth of containers.
fn write_value(value: &JsonValue, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        JsonValue::Null => f.write_str("null"),
        JsonValue::Bool(value) => write!(f, "{value}"),
        JsonValue::Number(number) => f.write_str(number),
        JsonValue::String(text) => write_string(text, f),
        JsonValue::Array(items) if items.is_empty() => f.write_str("[]"),
        JsonValue::Object(members) if members.is_empty() => f.write_str("{}"),
        JsonValue::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                f.write_str(if at == 0 { "[" } else { "," })?;
                write_line_break(depth + 1, f)?;
                write_value(item, depth + 1, f)?;
            }
            write_line_break(depth, f)?;
            f.write_str("]")
        }
        JsonValue::Object(members) => {
            for (at, (name, value)) in members.iter().enumerate() {
                f.write_str(if at == 0 { "{" } else { "," })?;
                write_line_break(depth + 1, f)?;
                write_string(name, f)?;
                f.write_str(if f.alternate() { ": " } else { ":" })?;
                write_value(value, depth + 1, f)?;
            }
            write_line_break(depth, f)?;
            f.write_str("}")
        }
    }
}

fn write_line_break(depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match f.alternate() {
        true => write!(f, "\n{:1$}", "", 2 * depth),
        false => Ok(()),
    }
}

fn write_string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
}

/// Numbers as integers of 64 bits where they are, and else as the nearest `f64`.
impl Serialize for JsonValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => match (number.parse(), number.parse(), number.parse()) {
                (Ok(number), _, _) => serializer.serialize_u64(number),
                (_, Ok(number), _) => serializer.serialize_i64(number),
                (_, _, Ok(number)) => serializer.serialize_f64(number),
                _ => serializer.serialize_str(number),
            },
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members.iter() {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}
