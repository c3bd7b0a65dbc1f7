//! A structural tag in pieces: what stays, and the tags that change from one request to the next.
//!
//! A request with tools is mostly tags that were there in the request before, in one list. To read and lower
//! all of them again takes longer than all that is new. So the list is cut out of the document. The rest is a
//! [`TagTemplate`], a grammar in which one rule represents the tags of a request. Each tag is a [`TagArm`],
//! which depends on its own text alone: mostly two literals and the schema between them.
//!
//! Only what is plain is cut: one list, the tags of a single trigger or with a separator, whose contents hold
//! no formats themselves. This module finds no faults. If something is not plainly right there are no pieces,
//! and the document is read as a whole.

use std::borrow::Cow;

use super::format::{Begin, End, Format};
use super::options::{MAX_NESTING, StructuralTagOptions};
use super::place::Place;
use super::scan::{WithoutSchemas, find_tags, has_tags, max_depth, take_out_schemas};
use super::schema_value::SchemaValue;
use super::tag::StructuralTag;
use super::tag_parts::{TagArm, TagContent, TagExtent, TagTemplate, TagText};
use super::{lower, read};
use crate::json::JsonValue;
use crate::json::scan::{after_space, object_end};

/// A document whose list of tags was cut out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SplitTags<'d> {
    /// The text before the first tag.
    pub head: &'d str,
    /// The tags, in their order; at least one.
    pub tags: Vec<&'d str>,
    /// The text after the last tag.
    pub tail: &'d str,
}

/// Most brackets around the tags of a document.
const MAX_DEPTH_AROUND: usize = 16;

/// Most brackets inside of one another in a tag, its schemas left out. Deeper values are too deep for some
/// documents (the parser reads 127), and these are read as a whole.
const MAX_DEPTH_INSIDE: usize = 100;

impl<'d> SplitTags<'d> {
    /// Cuts a document. `known` says how long the tag is with which a text begins, where it is known; it must be a
    /// JSON object then. `None` where the document is not plain.
    pub fn cut(document: &'d str, mut known: impl FnMut(&'d str) -> Option<usize>) -> Option<Self> {
        let bytes = document.as_bytes();
        let (key_end, depth) = find_tags(bytes, 0)?;
        if depth + 2 > MAX_DEPTH_AROUND {
            return None;
        }
        let open = after_space(bytes, after_space(bytes, key_end) + 1);
        if bytes.get(open) != Some(&b'[') {
            return None;
        }
        let head = &document[..=open];
        let mut at = after_space(bytes, open + 1);
        let mut tags = Vec::with_capacity(16);
        loop {
            let text = document.get(at..)?;
            let end = match known(text) {
                Some(length) => at + length,
                None => object_end(bytes, at)?,
            };
            tags.push(document.get(at..end)?);
            let next = after_space(bytes, end);
            match bytes.get(next) {
                Some(b',') => at = after_space(bytes, next + 1),
                Some(b']') => {
                    at = next;
                    break;
                }
                _ => return None,
            }
        }
        // Another list would be one too many.
        let is_last = !has_tags(bytes, at)?;
        is_last.then(|| Self { head, tags, tail: &document[at..] })
    }
}

impl TagTemplate {
    /// The frame of a document, read with one of its tags. `None` where it is not plain; it may be right all the same.
    pub fn new(head: &str, tag: &str, tail: &str, options: &StructuralTagOptions) -> Option<Self> {
        let document = [head, tag, tail].concat();
        let read = StructuralTag::parse(&document, options).ok()?;
        lower::template(read.format(), options)
    }
}

impl TagArm {
    /// The piece that a tag is, given as JSON text. `None` where it is not plain.
    pub fn new(tag: &str, extent: &TagExtent, options: &StructuralTagOptions) -> Option<Self> {
        // The schema is taken out, because it is nearly all of the text: it is read once, and not written again as a key.
        let (remainder, schemas) = match take_out_schemas(tag) {
            Some(WithoutSchemas { remainder, schemas }) => {
                let schemas: Option<Vec<SchemaValue>> = schemas.into_iter().map(SchemaValue::read).collect();
                (Cow::Owned(remainder), schemas?)
            }
            None => (Cow::Borrowed(tag), Vec::new()),
        };
        if max_depth(remainder.as_bytes())? > MAX_DEPTH_INSIDE {
            return None;
        }
        let value: JsonValue = remainder.parse().ok()?;
        let place = Place::root("", MAX_NESTING + 1).with_schemas(&schemas);
        let tag = read::tag(&value, &place).ok()?;
        let holds_formats = !matches!(
            tag.content,
            Format::JsonSchema(_) | Format::AnyText(_) | Format::ConstString(_) | Format::Regex(_)
        );
        if holds_formats {
            return None;
        }
        let begin = begin(&tag.begin, extent)?;
        if let Some(schema) = lower::lone_schema(&tag.content)
            && let Some(end) = only_end(&tag.end)
        {
            return Some(Self { begin, content: TagContent::Schema(Box::new(schema)), end });
        }
        let content = lower::content_and_end(&tag, options).ok()?;
        Some(Self { begin, content: TagContent::Grammar(Box::new(content)), end: TagText::Text("".into()) })
    }
}

/// How a tag begins, after its trigger.
fn begin(begin: &Begin, extent: &TagExtent) -> Option<TagText> {
    match (begin, extent) {
        (Begin::Text(text), TagExtent::Whole) => Some(TagText::Text(text.clone())),
        (Begin::Text(text), TagExtent::AfterTrigger(trigger) | TagExtent::AfterWrittenTrigger(trigger)) => {
            Some(TagText::Text(text.strip_prefix(&**trigger)?.into()))
        }
        (Begin::Token(token), TagExtent::Whole) => Some(TagText::Token(token.clone())),
        (Begin::Token(_), _) => None,
    }
}

/// How a tag ends, where it ends in one way.
fn only_end(end: &End) -> Option<TagText> {
    match end {
        End::Token(token) => Some(TagText::Token(token.clone())),
        End::Texts(texts) => match &**texts {
            [text] => Some(TagText::Text(text.clone())),
            _ => None,
        },
    }
}
