//! The entry: a structural tag that was read, and what can be made of it.

use grammask_grammar_ir::Grammar;

use super::embedded_schema::GrammarSkeleton;
use super::format::Format;
use super::options::StructuralTagOptions;
use super::schema_value::SchemaValue;
use super::{document, lower, write};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::json::JsonValue;

/// A structural tag that was read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuralTag {
    format: Format,
}

impl StructuralTag {
    /// Reads a structural tag from JSON text, in the form of today (`format`) or the older one (`structures` and
    /// `triggers`).
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its JSON pointer.
    pub fn parse(source: &str, options: &StructuralTagOptions) -> Result<Self, Diagnostics> {
        Self::parse_with(source, options, SchemaValue::read)
    }

    /// As [`parse`](Self::parse); `read` has what [`SchemaValue::read`] says of the texts of schemas, which are equal from
    /// one document to the next and most of their text.
    ///
    /// # Errors
    ///
    /// As for [`parse`](Self::parse).
    pub fn parse_with(
        source: &str,
        options: &StructuralTagOptions,
        read: impl FnMut(&str) -> Option<SchemaValue>,
    ) -> Result<Self, Diagnostics> {
        let limit = options.limits.document_bytes;
        if source.len() > limit {
            let message = format!("the structural tag has {} bytes, more than {limit}", source.len());
            let error = Diagnostic::error("structural-tag/limit", message);
            return Err(error.with_hint("make it smaller or raise the limit `document_bytes`").into());
        }
        if let Some(format) = document::format_without_schemas(source, options, read) {
            return Ok(Self { format });
        }
        let value: JsonValue = source.parse().map_err(|error| {
            let message = format!("Failed to parse JSON: {error}");
            Diagnostic::error("structural-tag/syntax", message).with_hint("correct the JSON")
        })?;
        match document::format(&value, options, &[]) {
            Ok(format) => Ok(Self { format }),
            Err(error) => Err((*error).with_json_source(source).into()),
        }
    }

    /// Reads a structural tag that was parsed already. The limit on bytes does not apply.
    pub fn from_value(value: &JsonValue, options: &StructuralTagOptions) -> Result<Self, Diagnostics> {
        match document::format(value, options, &[]) {
            Ok(format) => Ok(Self { format }),
            Err(error) => Err((*error).into()),
        }
    }

    /// A structural tag of a format that was made here.
    pub(crate) fn from_format(format: Format) -> Self {
        Self { format }
    }

    pub(super) fn format(&self) -> &Format {
        &self.format
    }

    /// The structural tag as JSON, in the form of today. Fields that have their default are left out.
    pub fn to_value(&self) -> JsonValue {
        JsonValue::object([("type", "structural_tag".into()), ("format", write::format(&self.format))])
    }

    /// The grammar of the texts that the tag describes. Tokens have names in it until a vocabulary is known.
    ///
    /// # Errors
    ///
    /// Where an embedded schema, pattern or grammar is refused, or a format asks for what is not supported; with
    /// the JSON pointer.
    pub fn grammar(&self, options: &StructuralTagOptions) -> Result<Grammar, Diagnostics> {
        self.grammar_with_warnings(options).map(|(grammar, _)| grammar)
    }

    /// As [`grammar`](Self::grammar), and the [warnings](crate::json_schema::Report::warnings) of its JSON Schemas, with
    /// places in the whole document.
    ///
    /// # Errors
    ///
    /// As for [`grammar`](Self::grammar).
    pub fn grammar_with_warnings(
        &self,
        options: &StructuralTagOptions,
    ) -> Result<(Grammar, Vec<String>), Diagnostics> {
        lower::lower(&self.format, options)
    }

    /// As [`grammar`](Self::grammar), with rules that stand for the schemas: a request mostly has schemas that were compiled before.
    ///
    /// # Errors
    ///
    /// As for [`grammar`](Self::grammar), but for what is wrong with schemas.
    pub fn skeleton(&self, options: &StructuralTagOptions) -> Result<GrammarSkeleton, Diagnostics> {
        lower::skeleton(&self.format, options)
    }
}
