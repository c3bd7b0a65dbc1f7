//! A whole document, in the form of today or the older one.

use super::fields::Fields;
use super::format::{AfterMatch, Begin, End, Format, JsonSchemaFormat, Minimum, Style, Tag, TriggeredTags};
use super::options::{MAX_NESTING, StructuralTagOptions};
use super::place::{Place, malformed};
use super::scan::{WithoutSchemas, take_out_schemas};
use super::schema_value::SchemaValue;
use super::{read, triggers};
use crate::diagnostic::Result;
use crate::json::JsonValue;

/// Reads a document whose schemas can be cut out, which are nearly all of its text. To see where a schema ends takes a
/// tenth of the time of reading it, and most are read when a text comes to them. `None` where something is not plainly
/// right.
pub(super) fn format_without_schemas(
    source: &str,
    options: &StructuralTagOptions,
    read: impl FnMut(&str) -> Option<SchemaValue>,
) -> Option<Format> {
    let WithoutSchemas { remainder, schemas } = take_out_schemas(source)?;
    let schemas: Option<Vec<SchemaValue>> = schemas.into_iter().map(read).collect();
    let remainder: JsonValue = remainder.parse().ok()?;
    format(&remainder, options, &schemas?).ok()
}

/// Reads a document. Where a schema was taken out of it, it has the schema's index in `schemas`.
pub(super) fn format(
    document: &JsonValue,
    options: &StructuralTagOptions,
    schemas: &[SchemaValue],
) -> Result<Format> {
    let root = Place::root("", options.limits.nesting.min(MAX_NESTING) + 1).with_schemas(schemas);
    let JsonValue::Object(members) = document else {
        let message = "a structural tag must be an object";
        return Err(malformed(&root, message, "write {\"type\": \"structural_tag\", \"format\": ...}"));
    };
    if members.get("type").is_some_and(|kind| kind.as_str() != Some("structural_tag")) {
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
    Ok(format)
}

/// The older form: `structures`, each with `begin`, `schema` and `end`, and `triggers`.
fn legacy(fields: &mut Fields<'_>) -> Result<Format> {
    let structures = fields.list("structures")?;
    let at = fields.place("structures");
    let mut tags = Vec::with_capacity(structures.len());
    for (index, structure) in structures.iter().enumerate() {
        let place = at.index(index);
        let JsonValue::Object(members) = structure else {
            let message = "a structure must be an object";
            return Err(malformed(&place, message, "write `begin`, `schema` and `end`"));
        };
        let mut fields = Fields::new(members, &place);
        let begin = fields.text("begin")?;
        let end = fields.text("end")?;
        let schema = read::legacy_schema(&mut fields)?;
        fields.finish("structure")?;
        let mut schema = JsonSchemaFormat::new(schema, Style::Json);
        schema.origin = Some(format!("/structures/{index}/schema").into());
        tags.push(Tag {
            begin: Begin::Text(begin.into()),
            content: Format::JsonSchema(schema),
            end: End::text(end),
        });
    }
    let triggers = fields.full_texts("triggers")?;
    let (at_triggers, at_tags) = (fields.place("triggers"), fields.place("structures"));
    triggers::check(&triggers, &tags, &[], &at_triggers, &at_tags)?;
    let (minimum, after_match) = (Minimum::Zero, AfterMatch::Continue);
    Ok(Format::TriggeredTags(TriggeredTags { triggers, tags, minimum, after_match, excludes: Vec::new() }))
}
