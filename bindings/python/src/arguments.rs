//! Arguments that several methods share.

use grammask::json_schema::{KeyOrder, Objects, Spelling, Unsupported, Whitespace};
use grammask::{JsonSchemaOptions, RegexOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::{is_compat, raise};

/// Spaces of one level of indentation, at most.
const WIDEST_INDENT: usize = 64;

/// How deep arrays and objects nest where text is indented: every level has rules of its own.
const DEEPEST_INDENTED: u32 = 32;

/// The keyword arguments of `from_json_schema` and `compile_json_schema`.
pub(crate) struct JsonArguments {
    pub(crate) any_whitespace: bool,
    pub(crate) indent: Option<i64>,
    pub(crate) separators: Option<(String, String)>,
    pub(crate) strict_mode: bool,
    pub(crate) max_whitespace_cnt: Option<i64>,
    pub(crate) any_order: bool,
    pub(crate) spelling: Option<String>,
    pub(crate) around_root: u32,
}

impl JsonArguments {
    pub(crate) fn options(&self, py: Python<'_>) -> PyResult<JsonSchemaOptions> {
        let key_order = if self.any_order { KeyOrder::Any } else { KeyOrder::Declared };
        let objects = if self.strict_mode { Objects::Closed } else { Objects::Open };
        let unsupported = if is_compat() { Unsupported::Ignore } else { Unsupported::Refuse };
        let options = match &self.spelling {
            None => JsonSchemaOptions::default().whitespace(self.whitespace(py)?),
            Some(name) => match Spelling::from_name(name) {
                Some(spelling) => JsonSchemaOptions::default().spelling(spelling),
                None => {
                    let message = "`spelling` is \"printed\", \"any\", \"compact\" or \"canonical\"";
                    return Err(raise(py, "GrammaskError", message));
                }
            },
        };
        Ok(options
            .around_root(self.around_root)
            .objects(objects)
            .key_order(key_order)
            .unsupported(unsupported))
    }

    fn whitespace(&self, py: Python<'_>) -> PyResult<Whitespace> {
        if self.any_whitespace {
            let max_run = match self.max_whitespace_cnt {
                None => None,
                Some(count) => match u32::try_from(count) {
                    Ok(count) if count > 0 => Some(count),
                    _ => return Err(raise(py, "GrammaskError", "`max_whitespace_cnt` must be positive")),
                },
            };
            return Ok(Whitespace::Free { max_run });
        }
        let indent = match self.indent {
            None => None,
            Some(indent) => match usize::try_from(indent) {
                Ok(indent) if indent <= WIDEST_INDENT => Some(" ".repeat(indent)),
                _ => {
                    let message = format!("`indent` must be a number of spaces from 0 to {WIDEST_INDENT}");
                    return Err(raise(py, "GrammaskError", message));
                }
            },
        };
        let usual_item = if indent.is_some() { "," } else { ", " };
        let (item, key) = self.separators.clone().unwrap_or_else(|| (usual_item.to_owned(), ": ".to_owned()));
        let is_space = |text: &str| text.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
        if !item.trim_start_matches([' ', '\t', '\n', '\r']).strip_prefix(',').is_some_and(is_space)
            || !key.trim_start_matches([' ', '\t', '\n', '\r']).strip_prefix(':').is_some_and(is_space)
        {
            let message =
                "`separators` must be a comma and a colon, each with nothing but whitespace around it";
            return Err(raise(py, "GrammaskError", message));
        }
        Ok(match indent {
            None => Whitespace::Fixed { item_separator: item, key_separator: key },
            Some(indent) => Whitespace::Indented {
                indent,
                item_separator: item,
                key_separator: key,
                max_depth: DEEPEST_INDENTED,
            },
        })
    }
}

/// How `from_regex` and `compile_regex` read a pattern.
pub(crate) fn regex_options() -> RegexOptions {
    RegexOptions { dialect: grammask::regex::Dialect::Ecma, ..RegexOptions::default() }
}

/// A schema as JSON text: a string as it is, a `dict` through `json`, a pydantic model through its schema.
pub(crate) fn schema_text(schema: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = schema.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    schema.py().import("grammask._support")?.call_method1("schema_text", (schema,))?.extract()
}

/// The bytes of a `str` or `bytes`.
pub(crate) fn text_bytes<'a>(text: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    if let Ok(bytes) = text.cast::<PyBytes>() {
        return Ok(bytes.as_bytes());
    }
    Ok(text.cast::<PyString>()?.to_str()?.as_bytes())
}

/// One id or a list of them.
pub(crate) fn id_list(py: Python<'_>, ids: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<u32>>> {
    let Some(ids) = ids else { return Ok(None) };
    let numbers: Vec<i64> = match ids.extract::<i64>() {
        Ok(id) => vec![id],
        Err(_) => ids.extract()?,
    };
    let check = |id: i64| {
        let message = format!("{id} is no token id");
        u32::try_from(id).map_err(|_| raise(py, "TokenizerError", message))
    };
    numbers.into_iter().map(check).collect::<PyResult<_>>().map(Some)
}
