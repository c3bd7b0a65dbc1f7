//! `x-guidance`: the options that a schema of llguidance carries with it. They are honoured, or the schema is refused.

use std::borrow::Cow;

use super::document::json::{Members, Value};
use super::options::{JsonSchemaOptions, OneOf, Unsupported, Whitespace};
use crate::diagnostic::{Diagnostic, Result};

const KEYWORD: &str = "x-guidance";

/// Most characters of whitespace between two tokens.
const MAX_RUN: u32 = 64;

/// The options of the caller, with those of the schema in their place.
pub(super) fn with_options_of<'o>(
    schema: &Value<'_>,
    options: &'o JsonSchemaOptions,
) -> Result<Cow<'o, JsonSchemaOptions>> {
    let Some(guidance) = schema.as_object().and_then(|members| members.get(KEYWORD)) else {
        return Ok(Cow::Borrowed(options));
    };
    let Some(members) = guidance.as_object() else {
        return Err(refused("", "`x-guidance` must be an object", "write an object of options"));
    };
    let mut options = options.clone();
    let (mut item_separator, mut key_separator) = (",", ":");
    let mut is_flexible = None;
    for (name, value) in members {
        match (name, value) {
            ("whitespace_flexible", Value::Bool(flexible)) => is_flexible = Some(*flexible),
            ("item_separator", _) => item_separator = separator(members, name, ',')?,
            ("key_separator", _) => key_separator = separator(members, name, ':')?,
            ("lenient", Value::Bool(is_lenient)) => {
                options.unsupported = if *is_lenient { Unsupported::Ignore } else { Unsupported::Refuse };
            }
            ("coerce_one_of" | "json_allow_general_unicode_escapes", Value::Bool(false))
            | ("whitespace_pattern" | "json_allowed_escapes", Value::Null) => {}
            ("coerce_one_of", Value::Bool(true)) => options.one_of = OneOf::AsAnyOf,
            ("whitespace_pattern", _) => {
                let hint =
                    "set `whitespace_flexible`: true for JSON's whitespace, false for the separators alone";
                return Err(refused(name, "a pattern of whitespace is not supported", hint));
            }
            _ => {
                let message = format!("`{name}` with this value is not supported");
                let hint = "leave it out; the options of the caller say how texts are spelled";
                return Err(refused(name, &message, hint));
            }
        }
    }
    let is_usual = (item_separator, key_separator) == (",", ":");
    match is_flexible {
        Some(true) if is_usual => options.whitespace = Whitespace::Free { max_run: Some(MAX_RUN) },
        Some(false) => {
            let (item_separator, key_separator) = (item_separator.to_owned(), key_separator.to_owned());
            options.whitespace = Whitespace::Fixed { item_separator, key_separator };
        }
        None if is_usual => {}
        _ => {
            let hint = "set `whitespace_flexible` to false beside them";
            return Err(refused("", "separators are exact only where whitespace is not flexible", hint));
        }
    }
    Ok(Cow::Owned(options))
}

/// The treatment of keywords that cannot be enforced, if the options of the schema say it.
pub(super) fn unsupported(schema: &Value<'_>) -> Option<Unsupported> {
    match schema.as_object()?.get(KEYWORD)?.as_object()?.get("lenient")? {
        Value::Bool(true) => Some(Unsupported::Ignore),
        Value::Bool(false) => Some(Unsupported::Refuse),
        _ => None,
    }
}

/// A separator, which is a pattern there: one that stands for itself.
fn separator<'v>(members: &'v Members<'_>, name: &str, mark: char) -> Result<&'v str> {
    let text = members.get(name).and_then(Value::as_str);
    text.filter(|text| text.trim_matches([' ', '\t', '\n', '\r']) == mark.to_string()).ok_or_else(|| {
        let message = format!("`{name}` must be `{mark}` with whitespace around it, and no other pattern");
        refused(name, &message, "write the separator as it is")
    })
}

fn refused(name: &str, message: &str, hint: &str) -> Box<Diagnostic> {
    let pointer = if name.is_empty() { format!("/{KEYWORD}") } else { format!("/{KEYWORD}/{name}") };
    Box::new(Diagnostic::error("json-schema/unsupported", message).with_pointer(pointer).with_hint(hint))
}
