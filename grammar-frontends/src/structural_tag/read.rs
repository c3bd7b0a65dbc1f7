//! Formats from JSON, with everything checked that one format and its neighbours decide.

use std::sync::Arc;

use grammask_grammar_ir::TokenRef;

use super::error::shortened;
use super::fields::Fields;
use super::format::{
    AfterMatch, AnyText, AnyTokens, Begin, Dispatch, End, Format, JsonSchemaFormat, MemberOrder, Minimum,
    Repeat, Style, Tag, TagsWithSeparator, TriggeredTags,
};
use super::place::{Place, malformed};
use super::schema_value::SchemaValue;
use super::triggers;
use crate::diagnostic::{Diagnostic, Result, did_you_mean};
use crate::json::{JsonObject, JsonValue};
use crate::json_schema::Spelling;

/// All types, with the fields by which one is known that does not name its type. Where none is given, the type
/// has to be named: its fields belong to several types.
const TYPES: &[(&str, &[&str])] = &[
    ("const_string", &["value"]),
    ("json_schema", &["json_schema"]),
    ("qwen_xml_parameter", &[]),
    ("grammar", &["grammar"]),
    ("regex", &["pattern"]),
    ("any_text", &[]),
    ("sequence", &[]),
    ("or", &[]),
    ("tag", &["begin", "content", "end"]),
    ("triggered_tags", &["triggers", "tags"]),
    ("token_triggered_tags", &["trigger_tokens", "tags"]),
    ("tags_with_separator", &["separator", "tags"]),
    ("optional", &[]),
    ("plus", &[]),
    ("star", &[]),
    ("repeat", &["min", "max", "content"]),
    ("dispatch", &[]),
    ("token_dispatch", &[]),
    ("token", &["token"]),
    ("exclude_token", &[]),
    ("any_tokens", &[]),
];

/// Reads a format.
pub(super) fn format(value: &JsonValue, place: &Place<'_>) -> Result<Format> {
    place.check_depth()?;
    let JsonValue::Object(members) = value else {
        return Err(malformed(place, "Format must be an object", "write an object with a `type`"));
    };
    let kind = match members.get("type") {
        Some(JsonValue::String(kind)) => kind.as_str(),
        Some(_) => {
            let place = place.key("type");
            return Err(malformed(&place, "`type` must be a string", "name one of the format types"));
        }
        None => guessed_type(members, place)?,
    };
    let mut fields = Fields::new(members, place);
    let format = match kind {
        "const_string" => Format::ConstString(fields.text("value")?.into()),
        "json_schema" => json_schema(&mut fields)?,
        "qwen_xml_parameter" => {
            let schema = schema(&mut fields)?;
            Format::JsonSchema(JsonSchemaFormat::new(schema, Style::QwenXml))
        }
        "grammar" => Format::Grammar(fields.full_text("grammar", "Grammar")?.into()),
        "regex" => Format::Regex(fields.full_text("pattern", "Regex format's pattern")?.into()),
        "any_text" => Format::AnyText(AnyText {
            excludes: fields.full_texts("excludes")?,
            max_tokens: fields.limit("max_tokens")?,
            max_chars: fields.limit("max_chars")?,
        }),
        "sequence" => Format::Sequence(elements(&mut fields, "Sequence")?),
        "or" => Format::Or(elements(&mut fields, "Or")?),
        "tag" => Format::Tag(Box::new(tag_fields(&mut fields)?)),
        "triggered_tags" => triggered_tags(&mut fields)?,
        "token_triggered_tags" => token_triggered_tags(&mut fields)?,
        "tags_with_separator" => tags_with_separator(&mut fields)?,
        "optional" => Format::Optional(Box::new(content(&mut fields)?)),
        "plus" => Format::Plus(Box::new(content(&mut fields)?)),
        "star" => Format::Star(Box::new(content(&mut fields)?)),
        "repeat" => repeat(&mut fields)?,
        "dispatch" => dispatch(&mut fields)?,
        "token_dispatch" => token_dispatch(&mut fields)?,
        "token" => Format::Token(fields.token("token")?),
        "exclude_token" => Format::ExcludeToken(fields.tokens("exclude_tokens")?),
        "any_tokens" => Format::AnyTokens(AnyTokens {
            excludes: fields.tokens("exclude_tokens")?,
            max_tokens: fields.limit("max_tokens")?,
        }),
        other => return Err(unknown_type(other, &place.key("type"))),
    };
    fields.finish(kind)?;
    Ok(format)
}

/// The type of a format that does not name it.
fn guessed_type(members: &JsonObject, place: &Place<'_>) -> Result<&'static str> {
    let fits = |keys: &[&str]| !keys.is_empty() && keys.iter().all(|key| members.contains_key(key));
    let mut fitting = TYPES.iter().filter(|(_, keys)| fits(keys));
    match (fitting.next(), fitting.next()) {
        (Some((name, _)), None) => Ok(name),
        _ => Err(malformed(
            place,
            "the format's `type` is missing, and its fields do not tell it",
            "add `type`",
        )),
    }
}

fn unknown_type(name: &str, place: &Place<'_>) -> Box<Diagnostic> {
    let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
    let hint = did_you_mean(name, &names, || format!("write one of {}", names.join(", ")));
    malformed(place, format!("Format type not recognized: {}", shortened(name)), hint)
}

fn schema(fields: &mut Fields<'_>) -> Result<SchemaValue> {
    schema_field(fields, "json_schema")
}

/// The schema of a structure in the older form.
pub(super) fn legacy_schema(fields: &mut Fields<'_>) -> Result<SchemaValue> {
    schema_field(fields, "schema")
}

fn schema_field(fields: &mut Fields<'_>, key: &'static str) -> Result<SchemaValue> {
    let value = fields.required(key)?;
    if let Some(read) = fields.removed_schema(value) {
        return Ok(read.clone());
    }
    match value {
        JsonValue::Object(_) | JsonValue::Bool(_) => Ok(Arc::new(value.clone()).into()),
        _ => {
            let message = format!("`{key}` must be a schema: an object, `true` or `false`");
            Err(malformed(&fields.place(key), message, "write the schema itself, not its text"))
        }
    }
}

fn json_schema(fields: &mut Fields<'_>) -> Result<Format> {
    let schema = schema(fields)?;
    let style = match fields.optional("style") {
        None => Style::Json,
        Some(value) => {
            match value.as_str().and_then(|name| Style::ALL.iter().find(|known| known.0 == name)) {
                Some(&(_, style, _)) => style,
                None => {
                    let names: Vec<String> =
                        Style::ALL.iter().map(|(name, ..)| format!("\"{name}\"")).collect();
                    let message = format!("style must be {}", names.join(", "));
                    return Err(malformed(&fields.place("style"), message, "write one of these"));
                }
            }
        }
    };
    let order = if fields.flag("any_order")? { MemberOrder::Any } else { MemberOrder::Declared };
    let max_whitespace = fields.limit("max_whitespace_cnt")?;
    if max_whitespace == Some(0) {
        return Err(malformed(
            &fields.place("max_whitespace_cnt"),
            "max_whitespace_cnt must be a positive integer or null",
            "leave it out, or allow at least one character",
        ));
    }
    let spelling = match fields.optional("spelling") {
        None => None,
        Some(value) => match value.as_str().and_then(Spelling::from_name) {
            Some(spelling) => Some(spelling),
            None => {
                let message = "spelling must be \"printed\", \"any\", \"compact\" or \"canonical\"";
                return Err(malformed(&fields.place("spelling"), message, "write one of these"));
            }
        },
    };
    let excludes = fields.full_texts("excludes")?;
    Ok(Format::JsonSchema(JsonSchemaFormat {
        key_order: order,
        spelling,
        max_whitespace,
        excludes,
        ..JsonSchemaFormat::new(schema, style)
    }))
}

fn content(fields: &mut Fields<'_>) -> Result<Format> {
    let value = fields.required("content")?;
    format(value, &fields.place("content"))
}

fn elements(fields: &mut Fields<'_>, what: &str) -> Result<Vec<Format>> {
    let items = fields.list("elements")?;
    let place = fields.place("elements");
    if items.is_empty() {
        let message = format!("{what} format must have at least one element");
        return Err(malformed(&place, message, "add an element, or write an empty `const_string`"));
    }
    items.iter().enumerate().map(|(index, item)| format(item, &place.index(index))).collect()
}

fn tags(fields: &mut Fields<'_>, what: &str) -> Result<Vec<Tag>> {
    let items = fields.list("tags")?;
    let place = fields.place("tags");
    if items.is_empty() {
        let message = format!("{what} format's tags must be non-empty");
        return Err(malformed(&place, message, "add a tag"));
    }
    items.iter().enumerate().map(|(index, item)| tag(item, &place.index(index))).collect()
}

pub(super) fn tag(value: &JsonValue, place: &Place<'_>) -> Result<Tag> {
    place.check_depth()?;
    let JsonValue::Object(members) = value else {
        return Err(malformed(place, "a tag must be an object", "write `begin`, `content` and `end`"));
    };
    if members.get("type").is_some_and(|kind| kind.as_str() != Some("tag")) {
        return Err(malformed(
            &place.key("type"),
            "only formats of the type `tag` may stand here",
            "write a tag",
        ));
    }
    let mut fields = Fields::new(members, place);
    let tag = tag_fields(&mut fields)?;
    fields.finish("tag")?;
    Ok(tag)
}

fn tag_fields(fields: &mut Fields<'_>) -> Result<Tag> {
    let begin = match fields.required("begin")? {
        JsonValue::String(text) => Begin::Text(text.as_str().into()),
        value => Begin::Token(token_format(
            value,
            &fields.place("begin"),
            "`begin` must be a string or a token format",
        )?),
    };
    let content = content(fields)?;
    let end = end(fields)?;
    let never_ends = match &end {
        End::Texts(texts) => texts.iter().all(|text| text.is_empty()),
        End::Token(_) => false,
    };
    // An empty end is how a tag says that the end of the text ends it; one that is all there is says nothing.
    if never_ends && content.takes_everything() {
        return Err(malformed(
            &fields.place("end"),
            "When the content is unlimited, at least one end string must be non-empty",
            "write the string that ends the tag",
        ));
    }
    Ok(Tag { begin, content, end })
}

fn end(fields: &mut Fields<'_>) -> Result<End> {
    let value = fields.required("end")?;
    let place = fields.place("end");
    match value {
        JsonValue::String(text) => Ok(End::text(text)),
        JsonValue::Array(items) if items.is_empty() => {
            Err(malformed(&place, "Tag format's end array cannot be empty", "write at least one string"))
        }
        JsonValue::Array(items) => {
            let texts = items.iter().enumerate().map(|(index, item)| match item.as_str() {
                Some(text) => Ok(text.into()),
                None => {
                    let place = place.index(index);
                    Err(malformed(&place, "an end must be a string", "write a string"))
                }
            });
            Ok(End::Texts(texts.collect::<Result<_>>()?))
        }
        value => {
            let message = "`end` must be a string, an array of strings or a token format";
            Ok(End::Token(token_format(value, &place, message)?))
        }
    }
}

/// The token of a format that must be of the type `token`.
fn token_format(value: &JsonValue, place: &Place<'_>, message: &'static str) -> Result<TokenRef> {
    if value.as_object().is_none() {
        return Err(malformed(place, message, "write a string, or {\"type\": \"token\", \"token\": ...}"));
    }
    match format(value, place)? {
        Format::Token(token) => Ok(token),
        _ => Err(malformed(place, message, "write a string, or {\"type\": \"token\", \"token\": ...}")),
    }
}

fn bounds(fields: &mut Fields<'_>) -> Result<(Minimum, AfterMatch)> {
    let minimum = if fields.flag("at_least_one")? { Minimum::One } else { Minimum::Zero };
    let after_match = if fields.flag("stop_after_first")? { AfterMatch::Stop } else { AfterMatch::Continue };
    Ok((minimum, after_match))
}

fn triggered_tags(fields: &mut Fields<'_>) -> Result<Format> {
    let triggers = fields.full_texts("triggers")?;
    if triggers.is_empty() {
        return Err(malformed(
            &fields.place("triggers"),
            "Triggered tags format's triggers must be non-empty",
            "write the strings with which tags begin",
        ));
    }
    let tags = tags(fields, "Triggered tags")?;
    let (minimum, after_match) = bounds(fields)?;
    let excludes = fields.full_texts("excludes")?;
    triggers::check(&triggers, &tags, &excludes, &fields.place("triggers"), &fields.place("tags"))?;
    Ok(Format::TriggeredTags(TriggeredTags { triggers, tags, minimum, after_match, excludes }))
}

fn token_triggered_tags(fields: &mut Fields<'_>) -> Result<Format> {
    let triggers = fields.tokens("trigger_tokens")?;
    if triggers.is_empty() {
        return Err(malformed(
            &fields.place("trigger_tokens"),
            "Token triggered tags format's trigger_tokens must be non-empty",
            "write the tokens with which tags begin",
        ));
    }
    let tags = tags(fields, "Token triggered tags")?;
    let (minimum, after_match) = bounds(fields)?;
    let excludes = fields.tokens("exclude_tokens")?;
    let place = fields.place("tags");
    triggers::check_tokens(&triggers, &tags, &excludes, &place, &fields.place("exclude_tokens"))?;
    Ok(Format::TokenTriggeredTags(TriggeredTags { triggers, tags, minimum, after_match, excludes }))
}

fn tags_with_separator(fields: &mut Fields<'_>) -> Result<Format> {
    let tags = tags(fields, "Tags with separator")?;
    let separator = fields.text("separator")?.into();
    let (minimum, after_match) = bounds(fields)?;
    Ok(Format::TagsWithSeparator(TagsWithSeparator { tags, separator, minimum, after_match }))
}

fn repeat(fields: &mut Fields<'_>) -> Result<Format> {
    let min = fields.integer("min")?;
    let max = fields.integer("max")?;
    let Some(min) = u32::try_from(min).ok() else {
        let message = "Repeat min must be a non-negative 32-bit integer";
        return Err(malformed(&fields.place("min"), message, "write a number from 0 to 4294967295"));
    };
    let max = match max {
        -1 => None,
        max => match u32::try_from(max) {
            Ok(max) => Some(max),
            Err(_) => {
                let message = "Repeat max must be -1 (unbounded) or >= 0";
                return Err(malformed(&fields.place("max"), message, "write -1 for any number"));
            }
        },
    };
    if max.is_some_and(|max| max < min) {
        return Err(malformed(&fields.place("max"), "Repeat min must be <= max", "swap the bounds"));
    }
    let content = content(fields)?;
    Ok(Format::Repeat(Box::new(Repeat { min, max, content })))
}

/// The pairs under `rules`.
fn rules<T>(
    fields: &mut Fields<'_>,
    what: &str,
    read: impl Fn(&JsonValue, &Place<'_>) -> Result<T>,
) -> Result<Vec<(T, Format)>> {
    let items = fields.list("rules")?;
    let place = fields.place("rules");
    if items.is_empty() {
        return Err(malformed(&place, format!("{what} format's rules must be non-empty"), "add a pair"));
    }
    let mut rules = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let place = place.index(index);
        let Some([begin, content]) = item.as_array() else {
            let message = "a rule must be a pair of a trigger and a format";
            return Err(malformed(&place, message, "write [trigger, format]"));
        };
        rules.push((read(begin, &place.index(0))?, format(content, &place.index(1))?));
    }
    Ok(rules)
}

fn dispatch(fields: &mut Fields<'_>) -> Result<Format> {
    let rules = rules(fields, "Dispatch", |value, place| match value.as_str() {
        Some(text) if !text.is_empty() => Ok(Box::<str>::from(text)),
        _ => Err(malformed(place, "a trigger must be a non-empty string", "write a string")),
    })?;
    let after_match = if fields.flag_or("loop", true)? { AfterMatch::Continue } else { AfterMatch::Stop };
    let excludes = fields.full_texts("excludes")?;
    let triggers: Vec<Box<str>> = rules.iter().map(|(trigger, _)| trigger.clone()).collect();
    triggers::check_excludes(&triggers, &excludes, &fields.place("excludes"))?;
    Ok(Format::Dispatch(Dispatch { rules, after_match, excludes }))
}

fn token_dispatch(fields: &mut Fields<'_>) -> Result<Format> {
    let rules = rules(fields, "Token dispatch", super::fields::token)?;
    let after_match = if fields.flag_or("loop", true)? { AfterMatch::Continue } else { AfterMatch::Stop };
    let excludes = fields.tokens("exclude_tokens")?;
    let triggers: Vec<TokenRef> = rules.iter().map(|(trigger, _)| trigger.clone()).collect();
    let place = fields.place("exclude_tokens");
    triggers::check_tokens(&triggers, &[], &excludes, &place, &place)?;
    Ok(Format::TokenDispatch(Dispatch { rules, after_match, excludes }))
}
