//! A structural tag in pieces: what stays, and the tags that change from one request to the next.
//!
//! A request with tools is mostly tags that were there in the request before, in one list. To read and lower all of
//! them again takes longer than all that is new. So the list is cut out of the document: what stands around it is a
//! [`TagFrame`], a grammar in which one rule stands for whichever tags come, and each tag is a [`TagPiece`], which
//! depends on its own text alone: mostly two literals and the schema between them.
//!
//! Only what is plain is cut: one list, the tags of a single trigger or with a separator, whose contents hold no
//! formats themselves. Nothing is decided here about what is wrong; wherever something is not plainly right there are
//! no pieces, and the document is read as a whole.

use std::borrow::Cow;

use grammask_grammar_ir::{Grammar, RuleId, TokenRef};
use serde_json::Value;

use super::fields::Place;
use super::format::{Begin, End, Format};
use super::known::{Cut, after_space, cut, object_end, string_end};
use super::lower;
use super::outline::{EmbeddedSchema, Outline};
use super::schema_value::SchemaValue;
use super::{DEEPEST, StructuralTag, StructuralTagOptions, read};

/// A document whose list of tags was cut out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TagPieces<'d> {
    /// What stands before the first tag.
    pub head: &'d str,
    /// The tags, in their order; at least one.
    pub tags: Vec<&'d str>,
    /// What stands behind the last tag.
    pub tail: &'d str,
}

/// What stands around the tags, as a grammar.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TagFrame {
    /// The grammar. The body of the rule that stands for the tags means nothing.
    pub grammar: Grammar,
    /// The rule that stands for one of the tags.
    pub placeholder: RuleId,
    /// What of a tag stands there.
    pub reach: TagReach,
}

/// What of a tag stands in its frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TagReach {
    /// All of it.
    Whole,
    /// What follows the trigger, with which it begins.
    AfterTrigger(Box<str>),
    /// The same, where the trigger is also written out before it. In a tag of its own the trigger and what follows are one
    /// literal: if the name of a special token begins in the trigger and ends behind it, then the tag is not plain.
    AfterWrittenTrigger(Box<str>),
}

/// A tag without what stands around it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TagPiece {
    /// How it begins.
    pub begin: TagText,
    /// What follows.
    pub content: TagContent,
    /// How it ends; the empty text where the content says it.
    pub end: TagText,
}

/// A beginning or an end of a tag.
#[derive(Clone, Debug, PartialEq)]
pub enum TagText {
    /// A literal, in which the names of special tokens are those tokens.
    Text(Box<str>),
    /// A token.
    Token(TokenRef),
}

/// What stands inside of a tag.
#[derive(Clone, Debug)]
pub enum TagContent {
    /// A value of a schema. No rule stands for it.
    Schema(Box<EmbeddedSchema>),
    /// What a grammar says, the end included, with the schemas left out.
    Grammar(Box<Outline>),
}

/// Most brackets around the tags of a document.
const AROUND: usize = 16;

/// Most brackets inside of one another in a tag, its schemas left out: what lies deeper is too deep for some documents
/// (serde_json reads 127), and these are read as a whole.
const INSIDE: usize = 100;

impl<'d> TagPieces<'d> {
    /// Cuts a document. `known` says how long the tag is with which a text begins, where it is known; it must be a
    /// JSON object then. `None` where the document is not plain.
    pub fn cut(document: &'d str, mut known: impl FnMut(&'d str) -> Option<usize>) -> Option<Self> {
        let bytes = document.as_bytes();
        let (key_end, depth) = find_tags(bytes, 0)?;
        if depth + 2 > AROUND {
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

/// The place after the first name `tags`, and how many brackets are open there. `None` where there is no such name,
/// or where names are not plain.
fn find_tags(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                let begin = at;
                at = string_end(bytes, begin)?;
                if is_tags(bytes, begin, at)? {
                    return Some((at, depth));
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
}

/// Whether a string between quotes is the name `tags`; `None` where it is a name with escapes.
fn is_tags(bytes: &[u8], begin: usize, end: usize) -> Option<bool> {
    if bytes.get(after_space(bytes, end)) != Some(&b':') {
        return Some(false);
    }
    let name = bytes.get(begin + 1..end - 1)?;
    (!name.contains(&b'\\')).then_some(name == b"tags")
}

/// Whether the rest of a document has the name `tags`; `None` where it is not plain.
fn has_tags(bytes: &[u8], mut at: usize) -> Option<bool> {
    while let Some(quote) = bytes.get(at..)?.iter().position(|&byte| byte == b'"') {
        let begin = at + quote;
        at = string_end(bytes, begin)?;
        if is_tags(bytes, begin, at)? {
            return Some(true);
        }
    }
    Some(false)
}

/// How many brackets are open at most. `None` where a string has no end.
fn most_open(bytes: &[u8]) -> Option<usize> {
    let (mut open, mut most, mut at) = (0_usize, 0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => {
                open += 1;
                most = most.max(open);
            }
            b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Some(most)
}

impl TagFrame {
    /// The frame of a document, read with one of its tags. `None` where it is not plain; it may be right all the same.
    pub fn new(head: &str, tag: &str, tail: &str, options: &StructuralTagOptions) -> Option<Self> {
        let document = [head, tag, tail].concat();
        let read = StructuralTag::parse(&document, options).ok()?;
        lower::frame(&read.format, options)
    }
}

impl TagPiece {
    /// The piece that a tag is, given as JSON text. `None` where it is not plain.
    pub fn new(tag: &str, reach: &TagReach, options: &StructuralTagOptions) -> Option<Self> {
        // The schema apart, which is nearly all of the text: it is read once, and not written again as a key.
        let (rest, schemas) = match cut(tag) {
            Some(Cut { rest, schemas }) => {
                let schemas: Option<Vec<SchemaValue>> = schemas.into_iter().map(SchemaValue::read).collect();
                (Cow::Owned(rest), schemas?)
            }
            None => (Cow::Borrowed(tag), Vec::new()),
        };
        if most_open(rest.as_bytes())? > INSIDE {
            return None;
        }
        let value: Value = serde_json::from_str(&rest).ok()?;
        let place = Place::root("", DEEPEST + 1).with_schemas(&schemas);
        let tag = read::tag(&value, &place).ok()?;
        let holds_formats = !matches!(
            tag.content,
            Format::JsonSchema(_) | Format::AnyText(_) | Format::ConstString(_) | Format::Regex(_)
        );
        if holds_formats {
            return None;
        }
        let begin = begin(&tag.begin, reach)?;
        if let Some(schema) = lower::lone_schema(&tag.content)
            && let Some(end) = only_end(&tag.end)
        {
            return Some(Self { begin, content: TagContent::Schema(Box::new(schema)), end });
        }
        let rest = lower::rest(&tag, options).ok()?;
        Some(Self { begin, content: TagContent::Grammar(Box::new(rest)), end: TagText::Text("".into()) })
    }
}

/// How a tag begins, behind its trigger.
fn begin(begin: &Begin, reach: &TagReach) -> Option<TagText> {
    match (begin, reach) {
        (Begin::Text(text), TagReach::Whole) => Some(TagText::Text(text.clone())),
        (Begin::Text(text), TagReach::AfterTrigger(trigger) | TagReach::AfterWrittenTrigger(trigger)) => {
            Some(TagText::Text(text.strip_prefix(&**trigger)?.into()))
        }
        (Begin::Token(token), TagReach::Whole) => Some(TagText::Token(token.clone())),
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
        let expected = expected.map(|(head, tags, tail)| TagPieces { head, tags: tags.to_vec(), tail });
        assert_eq!(TagPieces::cut(document, |_| None), expected, "{document}");
        // The first tag is known.
        let first = expected.as_ref().map(|pieces| pieces.tags[0]);
        let known = |text: &str| first.filter(|first| text.starts_with(first)).map(str::len);
        assert_eq!(TagPieces::cut(document, known), expected, "{document}");
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

    fn frame(head: &str, tail: &str) -> Option<TagReach> {
        TagFrame::new(head, TAG, tail, &StructuralTagOptions::default()).map(|frame| frame.reach)
    }

    #[test]
    fn frames_are_of_one_trigger_or_of_a_separator() {
        let after = Some(TagReach::AfterTrigger("<f=".into()));
        assert_eq!(
            frame(r#"{"format": {"type": "triggered_tags", "triggers": ["<f="], "tags": ["#, "]}}"),
            after
        );
        let written = Some(TagReach::AfterWrittenTrigger("<f=".into()));
        let first =
            r#"{"format": {"type": "triggered_tags", "triggers": ["<f="], "at_least_one": true, "tags": ["#;
        assert_eq!(frame(first, "]}}"), written);
        let inside = r#"{"format": {"type": "sequence", "elements": [{"type": "any_text"},
            {"type": "triggered_tags", "triggers": ["<f="], "tags": ["#;
        assert_eq!(frame(inside, "]}]}}"), after);
        let separated = r#"{"format": {"type": "tags_with_separator", "separator": ",", "tags": ["#;
        assert_eq!(frame(separated, "]}}"), Some(TagReach::Whole));
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
        let reach = TagReach::AfterTrigger("<f=".into());
        let piece = TagPiece::new(TAG, &reach, &options).unwrap();
        assert_eq!((piece.begin, piece.end), (TagText::Text("a>".into()), TagText::Text("</f>".into())));
        assert!(matches!(piece.content, TagContent::Schema(_)));
        let two = TAG.replace(r#""</f>""#, r#"["</f>", "!"]"#);
        let TagContent::Grammar(rest) = TagPiece::new(&two, &reach, &options).unwrap().content else {
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
            assert!(TagPiece::new(tag, &reach, &options).is_none(), "{tag}");
        }
    }

    #[test]
    fn a_deep_tag_is_read_with_its_document() {
        let reach = TagReach::AfterTrigger("<f=".into());
        // A name with an escape keeps the schema from being cut out.
        let piece = |depth: usize| {
            let schema = [&"{\"not\": ".repeat(depth), "true", &"}".repeat(depth)].concat();
            let content = format!(r#"{{"type": "json_schema", "json\u005fschema": {schema}}}"#);
            let tag = format!(r#"{{"begin": "<f=a", "content": {content}, "end": "b"}}"#);
            TagPiece::new(&tag, &reach, &StructuralTagOptions::default())
        };
        assert!(piece(INSIDE - 2).is_some());
        assert!(piece(INSIDE - 1).is_none());
    }
}
