//! OpenAI's Harmony response format.
//!
//! An answer is a row of messages, each after `<|start|>assistant` except the first, whose beginning is in
//! the prompt. A message has a channel (`analysis`, `commentary`, `final`) and, where it calls a tool, a
//! recipient, which is after the channel or before it, and a content type.

use super::formats::{literal, response, schema_format};
use super::request::{Choice, ParallelCalls, Reasoning, ToolRequest};
use crate::structural_tag::format::{
    AfterMatch, AnyText, Begin, End, Format, MemberOrder, Minimum, Style, Tag, TagsWithSeparator,
};

const NEXT: &str = "<|start|>assistant";

/// The spellings of a function's content type.
const JSON_TYPES: &[&str] = &[" <|constrain|>json", "<|constrain|>json", " json", ""];

/// The spellings of a built-in tool's content type.
const CODE_TYPES: &[&str] = &[" code", " <|constrain|>code", ""];

pub(super) fn structure(request: &ToolRequest) -> Format {
    let messages = messages(request);
    let calls = calls(request);
    if calls.is_empty() {
        let mut tags = messages;
        tags.push(last(request));
        return row(tags);
    }
    match (request.choice, request.parallel) {
        (Choice::Auto, ParallelCalls::Allowed) => {
            let mut tags = messages;
            tags.push(last(request));
            tags.extend(calls);
            row(tags)
        }
        (Choice::Auto, ParallelCalls::Off) => {
            let mut without = messages.clone();
            without.push(last(request));
            let with = Format::Sequence(vec![before(messages), or(calls)]);
            Format::Or(vec![row(without), with])
        }
        (Choice::Required, ParallelCalls::Allowed) => {
            let mut others = messages.clone();
            others.extend(calls.iter().cloned());
            let more = Format::Sequence(vec![literal(NEXT), or(others)]);
            let more = Format::Star(Box::new(more));
            Format::Sequence(vec![before(messages), or(calls), more])
        }
        (Choice::Required, ParallelCalls::Off) | (Choice::Forced, _) => {
            Format::Sequence(vec![before(messages), or(calls)])
        }
    }
}

fn or(tags: Vec<Tag>) -> Format {
    Format::Or(tags.into_iter().map(|tag| Format::Tag(Box::new(tag))).collect())
}

/// Messages, at least one of them.
fn row(tags: Vec<Tag>) -> Format {
    Format::TagsWithSeparator(TagsWithSeparator {
        tags,
        separator: NEXT.into(),
        minimum: Minimum::One,
        after_match: AfterMatch::Continue,
    })
}

/// Any number of messages, each with the beginning of the next one.
fn before(messages: Vec<Tag>) -> Format {
    Format::Star(Box::new(Format::Sequence(vec![or(messages), literal(NEXT)])))
}

fn text() -> Format {
    Format::AnyText(AnyText::default())
}

fn message(begin: &str, content: Format, ends: &[&str]) -> Tag {
    let ends = ends.iter().map(|&end| end.into()).collect();
    Tag { begin: Begin::Text(begin.into()), content, end: End::Texts(ends) }
}

/// Reasoning and preambles.
fn messages(request: &ToolRequest) -> Vec<Tag> {
    let mut tags = Vec::new();
    let thoughts = match request.reasoning {
        Reasoning::Disabled => None,
        Reasoning::Empty => Some(literal("")),
        Reasoning::Enabled | Reasoning::Auto => {
            Some(Format::AnyText(AnyText { max_chars: request.reasoning_chars, ..AnyText::default() }))
        }
    };
    if let Some(thoughts) = thoughts {
        tags.push(message("<|channel|>analysis<|message|>", thoughts, &["<|end|>"]));
    }
    tags.push(message("<|channel|>commentary<|message|>", text(), &["<|end|>"]));
    tags
}

/// The answer for the user.
fn last(request: &ToolRequest) -> Tag {
    let ends = &["<|end|>", "<|return|>"];
    match response(request) {
        None => message("<|channel|>final<|message|>", text(), ends),
        Some(value) => {
            let types = spellings(&[" <|constrain|>json", ""]);
            let content = Format::Sequence(vec![types, literal("<|message|>"), value]);
            message("<|channel|>final", content, ends)
        }
    }
}

/// One of the spellings of a content type.
fn spellings(spellings: &[&str]) -> Format {
    Format::Or(spellings.iter().map(|spelling| literal(spelling)).collect())
}

/// Calls of every tool, with the recipient after the channel and before it.
fn calls(request: &ToolRequest) -> Vec<Tag> {
    let json = |schema, origin| schema_format(schema, Style::Json, MemberOrder::Declared, origin, request);
    let call = |recipient: &str, types: &[&str], arguments: Format| {
        let headers = ["commentary", "analysis"].iter().flat_map(|channel| {
            let after = format!("<|channel|>{channel} to={recipient}");
            let before = format!(" to={recipient}<|channel|>{channel}");
            [after, before]
        });
        let headers = Format::Or(headers.map(|header| literal(&header)).collect());
        let content = Format::Sequence(vec![headers, spellings(types), literal("<|message|>"), arguments]);
        message("", content, &["<|call|>"])
    };
    let functions = request.functions.iter().map(|function| {
        let recipient = format!("functions.{}", function.name);
        call(&recipient, JSON_TYPES, json(&function.schema, &function.origin))
    });
    let builtins = request
        .builtins
        .iter()
        .map(|builtin| call(&builtin.name, CODE_TYPES, json(&builtin.schema, &builtin.origin)));
    functions.chain(builtins).collect()
}
