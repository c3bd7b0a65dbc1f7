//! A structural tag with its schemas left out, so that schemas that were compiled before need not be compiled again.

use std::sync::Arc;

use grammask_grammar_ir::{Grammar, RuleId};

use super::error::in_schema;
use super::format::{JsonSchemaFormat, MemberOrder, Style};
use super::options::StructuralTagOptions;
use crate::diagnostic::Diagnostics;
use crate::json_schema::{self, Compiled, Report, SimpleSchema, Whitespace};

/// A grammar with rules that stand for JSON Schemas.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GrammarSkeleton {
    /// The grammar. The body of a schema's rule is a literal that means nothing.
    pub grammar: Grammar,
    /// The schemas, equal ones once.
    pub schemas: Vec<EmbeddedSchema>,
    /// The work of reading its patterns, in units of [`JsonSchemaLimits::work`](crate::json_schema::JsonSchemaLimits::work).
    pub work: usize,
}

/// A JSON Schema of a structural tag, and the rule that stands for it in the [`GrammarSkeleton`].
#[derive(Clone, Debug)]
pub struct EmbeddedSchema {
    pub(super) rule: RuleId,
    content: SchemaContent,
    /// The place of the schema in the document.
    prefix: Box<str>,
}

/// The content on which the grammar of a schema depends, beside the options.
#[derive(Clone, Debug)]
pub(super) struct SchemaContent {
    format: JsonSchemaFormat,
    key: Arc<str>,
}

impl SchemaContent {
    pub(super) fn new(format: &JsonSchemaFormat) -> Self {
        let JsonSchemaFormat { schema, style, key_order, spelling, max_whitespace, excludes, origin: _ } =
            format;
        let how = format!("{style:?} {key_order:?} {spelling:?} {max_whitespace:?} {excludes:?} ");
        let key = match schema.text() {
            Some(text) => (how + text).into(),
            None => format!("{how}{}", schema.value()).into(),
        };
        Self { format: format.clone(), key }
    }

    pub(super) fn key(&self) -> &Arc<str> {
        &self.key
    }

    pub(super) fn at(self, rule: RuleId, prefix: Box<str>) -> EmbeddedSchema {
        EmbeddedSchema { rule, content: self, prefix }
    }

    pub(super) fn compile(
        &self,
        options: &StructuralTagOptions,
        prefix: &str,
    ) -> Result<Compiled, Diagnostics> {
        let mut options = options.json_schema.clone();
        if self.format.key_order == MemberOrder::Any {
            options = options.key_order(json_schema::KeyOrder::Any);
        }
        if let Some(spelling) = self.format.spelling {
            options = options.spelling(spelling);
        }
        if let Some(max) = self.format.max_whitespace {
            options.whitespace = Whitespace::Free { max_run: Some(max) };
        }
        let (schema, syntax) = (self.format.schema.value(), self.format.style.written());
        json_schema::compile_within(schema, &options, syntax, &self.format.excludes, &mut 0)
            .map_err(|error| (*in_schema(error, prefix)).into())
    }
}

impl EmbeddedSchema {
    /// The rule that stands for the schema.
    pub fn rule(&self) -> RuleId {
        self.rule
    }

    /// The JSON pointer of the schema in the whole document.
    pub fn pointer(&self) -> &str {
        &self.prefix
    }

    /// A text that spells all that the grammar depends on but the options: equal keys have equal grammars.
    pub fn key(&self) -> &str {
        &self.content.key
    }

    /// The facts about the [grammar](Self::compile) before it is written, if one look at the schema is
    /// enough.
    pub fn simple_schema(&self, options: &StructuralTagOptions) -> Option<SimpleSchema> {
        let JsonSchemaFormat { schema, style, key_order, spelling, max_whitespace: _, excludes, origin: _ } =
            &self.content.format;
        let is_plain = *style == Style::Json
            && *key_order == MemberOrder::Declared
            && spelling.is_none()
            && excludes.is_empty();
        (is_plain && SimpleSchema::holds_under(&options.json_schema))
            .then(|| schema.simple_schema())
            .flatten()
    }

    /// The grammar of the schema alone, and a report of [warnings](json_schema::Report::warnings) with places in the schema.
    ///
    /// # Errors
    ///
    /// Where the schema is refused, with the JSON pointer into the whole document.
    pub fn compile(&self, options: &StructuralTagOptions) -> Result<Compiled, Diagnostics> {
        self.content.compile(options, &self.prefix)
    }

    /// The warnings of the schema's report, with places in the whole document.
    pub fn warnings<'r>(&'r self, report: &'r Report) -> impl Iterator<Item = String> + 'r {
        report.warnings_at(&self.prefix)
    }
}
