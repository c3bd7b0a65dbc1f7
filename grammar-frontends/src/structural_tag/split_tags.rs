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
use super::scan::{
    WithoutSchemas, after_space, find_tags, has_tags, max_depth, object_end, take_out_schemas,
};
use super::schema_value::SchemaValue;
use super::tag::StructuralTag;
use super::tag_parts::{TagArm, TagContent, TagExtent, TagTemplate, TagText};
use super::{lower, read};
use crate::json::JsonValue;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(document: &str, expected: Option<(&str, &[&str], &str)>) {
        let expected = expected.map(|(head, tags, tail)| SplitTags { head, tags: tags.to_vec(), tail });
        assert_eq!(SplitTags::cut(document, |_| None), expected, "{document}");
        // The first tag is known.
        let first = expected.as_ref().map(|pieces| pieces.tags[0]);
        let known = |text: &str| first.filter(|first| text.starts_with(first)).map(str::len);
        assert_eq!(SplitTags::cut(document, known), expected, "{document}");
    }

    #[test]
    fn tags_are_cut_out() {
        check(
            r#"{"a": "tags", "tags" : [ {"a": "]\"", "tags": [{}]} , {}], "b": 1}"#,
            Some((r#"{"a": "tags", "tags" : ["#, &[r#"{"a": "]\"", "tags": [{}]}"#, "{}"], r#"], "b": 1}"#)),
        );
    }

    #[test]
    fn what_is_not_plain_has_no_pieces() {
        for document in [
            "",
            r#"{"tags": []}"#,
            r#"{"tags": {}}"#,
            r#"{"tags": [{}"#,
            r#"{"tags": [{} {}]}"#,
            r#"{"tags": [1]}"#,
            r#"{"tags": [{}], "tags": [{}]}"#,
            r#"{"tags": [{}], "t\u0061gs": [{}]}"#,
            r#"{"t\u0061gs": [{}]}"#,
            r#"[[[[[[[[[[[[[[[{"tags": [{}]}]]]]]]]]]]]]]]]"#,
        ] {
            check(document, None);
        }
    }

    const TAG: &str =
        r#"{"begin": "<f=a>", "content": {"type": "json_schema", "json_schema": true}, "end": "</f>"}"#;

    fn frame(head: &str, tail: &str) -> Option<TagExtent> {
        TagTemplate::new(head, TAG, tail, &StructuralTagOptions::default()).map(|frame| frame.extent)
    }

    #[test]
    fn frames_are_of_one_trigger_or_of_a_separator() {
        let after = Some(TagExtent::AfterTrigger("<f=".into()));
        assert_eq!(
            frame(r#"{"format": {"type": "triggered_tags", "triggers": ["<f="], "tags": ["#, "]}}"),
            after
        );
        let written = Some(TagExtent::AfterWrittenTrigger("<f=".into()));
        let first =
            r#"{"format": {"type": "triggered_tags", "triggers": ["<f="], "at_least_one": true, "tags": ["#;
        assert_eq!(frame(first, "]}}"), written);
        let inside = r#"{"format": {"type": "sequence", "elements": [{"type": "any_text"},
            {"type": "triggered_tags", "triggers": ["<f="], "tags": ["#;
        assert_eq!(frame(inside, "]}]}}"), after);
        let separated = r#"{"format": {"type": "tags_with_separator", "separator": ",", "tags": ["#;
        assert_eq!(frame(separated, "]}}"), Some(TagExtent::Whole));
        for (head, tail) in [
            (r#"{"format": {"type": "triggered_tags", "triggers": ["<f=", "<g="], "tags": ["#, "]}}"),
            (r#"{"format": {"type": "triggered_tags", "triggers": ["<g="], "tags": ["#, "]}}"),
            (r#"{"format": {"type": "json_schema", "json_schema": {"enum": [{"tags": ["#, "]}]}}}"),
            (r#"{"format": {"type": "triggered_tags", "triggers": ["<f="], "tags": ["#, "]}"),
        ] {
            assert_eq!(frame(head, tail), None, "{head}");
        }
    }

    #[test]
    fn pieces_hold_no_formats() {
        let options = StructuralTagOptions::default();
        let extent = TagExtent::AfterTrigger("<f=".into());
        let piece = TagArm::new(TAG, &extent, &options).unwrap();
        assert_eq!((piece.begin, piece.end), (TagText::Text("a>".into()), TagText::Text("</f>".into())));
        assert!(matches!(piece.content, TagContent::Schema(_)));
        let two = TAG.replace(r#""</f>""#, r#"["</f>", "!"]"#);
        let TagContent::Grammar(rest) = TagArm::new(&two, &extent, &options).unwrap().content else {
            panic!()
        };
        assert_eq!(rest.schemas.len(), 1);
        for tag in [
            r#"{"begin": "<g=", "content": {"type": "any_text"}, "end": "</f>"}"#,
            r#"{"begin": "<f=", "content": {"type": "sequence", "elements": [{"type": "any_text"}]}, "end": "</f>"}"#,
            r#"{"begin": "<f=", "content": {"type": "any_text"}, "end": ""}"#,
            r#"{"begin": "<f=", "content": {"type": "any_text"}, "end": "</f>", "more": 1}"#,
            r#"{"begin": "<f=", "content": {"type": "any_text"}, "end": "</f>"}, 1"#,
            r#"1, {"begin": "<f=", "content": {"type": "any_text"}, "end": "</f>"}"#,
            r#""{"begin": "<f=", "content": {"type": "any_text"}, "end": "</f>"}"#,
        ] {
            assert!(TagArm::new(tag, &extent, &options).is_none(), "{tag}");
        }
    }

    #[test]
    fn a_deep_tag_is_read_with_its_document() {
        let extent = TagExtent::AfterTrigger("<f=".into());
        // A name with an escape keeps the schema from being cut out.
        let piece = |depth: usize| {
            let schema = [&"{\"not\": ".repeat(depth), "true", &"}".repeat(depth)].concat();
            let content = format!(r#"{{"type": "json_schema", "json\u005fschema": {schema}}}"#);
            let tag = format!(r#"{{"begin": "<f=a", "content": {content}, "end": "b"}}"#);
            TagArm::new(&tag, &extent, &StructuralTagOptions::default())
        };
        assert!(piece(MAX_DEPTH_INSIDE - 2).is_some());
        assert!(piece(MAX_DEPTH_INSIDE - 1).is_none());
    }
}
