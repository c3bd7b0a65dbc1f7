//! Structural tags: free text, reasoning and tool calls in one structure.
//!
//! A structural tag is a JSON document: `{"type": "structural_tag", "format": {...}}`, in the format of xgrammar
//! 0.2.8. Formats are literals, JSON Schemas, patterns, grammars, free text, single tokens, and what combines them:
//! sequences, alternatives, repeats, tags (beginning, content, end) and free text in which triggers start tags.
//!
//! ```
//! use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
//!
//! let tag = StructuralTag::parse(
//!     r#"{"type": "structural_tag", "format": {
//!         "type": "triggered_tags",
//!         "triggers": ["<call>"],
//!         "tags": [{"begin": "<call>", "content": {"type": "json_schema", "json_schema": true}, "end": "</call>"}]
//!     }}"#,
//!     &StructuralTagOptions::default(),
//! )?;
//! let grammar = tag.grammar(&StructuralTagOptions::default())?;
//! assert_eq!(grammar.rule(grammar.root()).name(), "root");
//!
//! let refused = StructuralTag::parse(r#"{"format": {"type": "any_txt"}}"#, &StructuralTagOptions::default());
//! assert_eq!(
//!     refused.unwrap_err().to_string(),
//!     "1:21 (at `/format/type`): error: Format type not recognized: any_txt; did you mean `any_text`?"
//! );
//! # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
//! ```
//!
//! # Meaning
//!
//! * `const_string` and the beginnings and ends of tags are literals. Where one spells the name of a special token
//!   of the vocabulary, it stands for that token.
//! * `any_text` is whole characters and no special token. It holds none of its `excludes` and, at the end of a tag,
//!   none of the tag's ends: the first end ends it.
//! * `triggered_tags`: once a trigger has been read, one of the tags that begin with it must follow. With
//!   `at_least_one` a tag comes first, before any text; with `stop_after_first` nothing follows the first tag. At
//!   the end of a tag its ends end the text around the inner tags.
//! * `json_schema`: a value of the schema, its keys in the declared order; objects that declare properties are
//!   closed. No string and no name in it holds one of the `excludes` as it is written: where escapes can spell it
//!   otherwise they may.
//! * `regex` matches as a whole.
//! * The formats of tokens (`token`, `exclude_token`, `any_tokens`, `token_triggered_tags`, `token_dispatch`) read
//!   tokens whatever their bytes are.
//!
//! Fields that a format does not have are refused, as is everything else that would change nothing.
//!
//! # Errors and limits
//!
//! [`Diagnostics`] with a JSON pointer, a code (`structural-tag/syntax`, `/malformed`, `/unsupported`, `/limit`,
//! `/grammar`, or that of an embedded schema, pattern or grammar) and what to write instead.
//! [`StructuralTagLimits`] bounds size and nesting; documents nest at most 128 deep.

mod fields;
pub(crate) mod format;
mod known;
mod lower;
mod outline;
mod pieces;
mod read;
mod schema_value;
mod triggers;
mod write;

use grammask_grammar_ir::Grammar;
use serde_json::{Value, json};

pub use self::known::KnownSchemas;
pub use self::outline::{EmbeddedSchema, Outline};
pub use self::pieces::{TagContent, TagFrame, TagPiece, TagPieces, TagReach, TagText};

use self::fields::{Fields, Place, malformed};
use self::format::{Course, Format, Least, Style, Tag, TriggeredTags};
use self::read::Fallible;
use self::schema_value::SchemaValue;
use crate::ebnf::EbnfOptions;
use crate::json_schema::{JsonSchemaOptions, Objects};
use crate::{Diagnostic, Diagnostics};

/// How a structural tag is turned into a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StructuralTagOptions {
    /// How embedded JSON Schemas are read. By default objects that declare properties are closed
    /// ([`Objects::Closed`]).
    pub json_schema: JsonSchemaOptions,
    /// How embedded grammars are read.
    pub ebnf: EbnfOptions,
    /// Bounds on what is taken.
    pub limits: StructuralTagLimits,
}

impl Default for StructuralTagOptions {
    fn default() -> Self {
        Self {
            json_schema: JsonSchemaOptions::default().objects(Objects::Closed),
            ebnf: EbnfOptions::default(),
            limits: StructuralTagLimits::default(),
        }
    }
}

impl StructuralTagOptions {
    /// Sets [`json_schema`](Self::json_schema).
    #[must_use]
    pub fn json_schema(mut self, options: JsonSchemaOptions) -> Self {
        self.json_schema = options;
        self
    }

    /// Sets [`limits`](Self::limits).
    #[must_use]
    pub fn limits(mut self, limits: StructuralTagLimits) -> Self {
        self.limits = limits;
        self
    }
}

/// Bounds on a structural tag. Past them it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StructuralTagLimits {
    /// Longest document in bytes; 16 MiB by default.
    pub document_bytes: usize,
    /// Deepest nesting of formats; 100 by default, and never more.
    pub nesting: usize,
}

/// Trees of formats of this depth are walked with recursion.
const DEEPEST: usize = 100;

impl Default for StructuralTagLimits {
    fn default() -> Self {
        Self { document_bytes: 16 << 20, nesting: DEEPEST }
    }
}

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
    pub fn parse(document: &str, options: &StructuralTagOptions) -> Result<Self, Diagnostics> {
        let limit = options.limits.document_bytes;
        if document.len() > limit {
            let message = format!("the structural tag has {} bytes, more than {limit}", document.len());
            let error = Diagnostic::error("structural-tag/limit", message);
            return Err(error.with_hint("make it smaller or raise the limit `document_bytes`").into());
        }
        let value: Value = serde_json::from_str(document).map_err(|error| {
            let message = format!("Failed to parse JSON: {error}");
            Diagnostic::error("structural-tag/syntax", message).with_hint("correct the JSON")
        })?;
        read_document(&value, options, &[]).map_err(|error| (*error).with_json_source(document).into())
    }

    /// As [`parse`](Self::parse), without reading schemas that are known; those that are not become known.
    ///
    /// # Errors
    ///
    /// As for [`parse`](Self::parse).
    pub fn parse_with(
        document: &str,
        options: &StructuralTagOptions,
        known: &KnownSchemas,
    ) -> Result<Self, Diagnostics> {
        let is_short = document.len() <= options.limits.document_bytes;
        match is_short.then(|| known.read_document(document, options)).flatten() {
            Some(tag) => Ok(tag),
            None => Self::parse(document, options),
        }
    }

    /// Reads a structural tag that was parsed already. The limit on bytes does not apply.
    pub fn from_value(document: &Value, options: &StructuralTagOptions) -> Result<Self, Diagnostics> {
        read_document(document, options, &[]).map_err(|error| (*error).into())
    }

    /// A structural tag of a format that was made here.
    pub(crate) fn of(format: Format) -> Self {
        Self { format }
    }

    /// The structural tag as JSON, in the form of today. Fields that have their default are left out.
    pub fn to_value(&self) -> Value {
        json!({"type": "structural_tag", "format": write::format(&self.format)})
    }

    /// The grammar of the texts that the tag describes. Tokens have names in it until a vocabulary is known.
    ///
    /// # Errors
    ///
    /// Where an embedded schema, pattern or grammar is refused, or a format asks for what is not supported; with
    /// the JSON pointer.
    pub fn grammar(&self, options: &StructuralTagOptions) -> Result<Grammar, Diagnostics> {
        lower::lower(&self.format, options)
    }

    /// As [`grammar`](Self::grammar), with the schemas apart: a request mostly has schemas that were compiled before.
    ///
    /// # Errors
    ///
    /// As for [`grammar`](Self::grammar), but for what is wrong with schemas.
    pub fn outline(&self, options: &StructuralTagOptions) -> Result<Outline, Diagnostics> {
        lower::outline(&self.format, options)
    }
}

/// Where a schema was cut out, its number in `schemas` stands.
fn read_document(
    document: &Value,
    options: &StructuralTagOptions,
    schemas: &[SchemaValue],
) -> Fallible<StructuralTag> {
    let root = Place::root("", options.limits.nesting.min(DEEPEST) + 1).with_schemas(schemas);
    let Value::Object(members) = document else {
        let message = "a structural tag must be an object";
        return Err(malformed(&root, message, "write {\"type\": \"structural_tag\", \"format\": ...}"));
    };
    if members.get("type").is_some_and(|kind| kind != "structural_tag") {
        let message = "Structural tag's type must be \"structural_tag\"";
        return Err(malformed(&root.key("type"), message, "write \"structural_tag\""));
    }
    let mut fields = Fields::new(members, &root);
    let format = match members.contains_key("structures") {
        true => legacy(&mut fields)?,
        false => {
            let value = fields.required("format")?;
            read::format(value, &fields.place("format"))?
        }
    };
    fields.finish("structural_tag")?;
    Ok(StructuralTag { format })
}

/// The older form: `structures`, each with `begin`, `schema` and `end`, and `triggers`.
fn legacy(fields: &mut Fields<'_>) -> Fallible<Format> {
    let structures = fields.list("structures")?;
    let at = fields.place("structures");
    let mut tags = Vec::with_capacity(structures.len());
    for (index, structure) in structures.iter().enumerate() {
        let place = at.index(index);
        let Value::Object(members) = structure else {
            let message = "a structure must be an object";
            return Err(malformed(&place, message, "write `begin`, `schema` and `end`"));
        };
        let mut fields = Fields::new(members, &place);
        let begin = fields.text("begin")?;
        let end = fields.text("end")?;
        let schema = read::legacy_schema(&mut fields)?;
        fields.finish("structure")?;
        let mut schema = read::schema_format(schema, Style::Json);
        schema.origin = Some(format!("/structures/{index}/schema").into());
        tags.push(Tag {
            begin: format::Begin::Text(begin.into()),
            content: Format::JsonSchema(schema),
            end: format::End::text(end),
        });
    }
    let triggers = fields.full_texts("triggers")?;
    let (at_triggers, at_tags) = (fields.place("triggers"), fields.place("structures"));
    triggers::check(&triggers, &tags, &[], &at_triggers, &at_tags)?;
    let (least, course) = (Least::None, Course::GoOn);
    Ok(Format::TriggeredTags(TriggeredTags { triggers, tags, least, course, excludes: Vec::new() }))
}
