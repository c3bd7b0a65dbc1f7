//! From a family and a request to formats.

use std::sync::Arc;

use serde_json::Value;

use super::harmony;
use super::request::{Choice, Fallible, Markers, ParallelCalls, Reasoning, ToolRequest, malformed};
use super::table::{self, Family, Layout, Opener, Part};
use crate::structural_tag::format::{
    AnyText, Begin, Course, End, Format, JsonSchemaFormat, Least, Style, Tag, TagsWithSeparator,
    TriggeredTags,
};

/// The format of all answers to the request.
pub(super) fn structure(family: &Family, request: &ToolRequest) -> Fallible<Format> {
    if matches!(family.layout, Layout::Harmony) {
        return Ok(harmony::structure(request));
    }
    if let Some(builtin) = request.builtins.first() {
        let message = format!("`{}` brings no tools of its own, as `{}` is", family.names[0], builtin.kind);
        let hint = "offer functions only, or use the family `harmony`";
        return Err(malformed(builtin.origin.trim_end_matches("/parameters"), message, hint));
    }
    let mut parts: Vec<Format> = Vec::new();
    if let Some(marks) = family.reasoning {
        reasoning(marks, request, &mut parts);
    }
    parts.extend(answer(family, request));
    Ok(match parts.len() {
        1 => parts.swap_remove(0),
        _ => Format::Sequence(parts),
    })
}

pub(super) fn literal(text: &str) -> Format {
    Format::ConstString(text.into())
}

/// A value of a schema that stands elsewhere.
pub(super) fn schema_format(
    schema: &Arc<Value>,
    style: Style,
    origin: &str,
    request: &ToolRequest,
) -> Format {
    let mut format = JsonSchemaFormat::new(Arc::clone(schema), style);
    format.origin = Some(origin.into());
    format.max_whitespace = request.max_whitespace;
    Format::JsonSchema(format)
}

/// The value of the response format.
pub(super) fn response(request: &ToolRequest) -> Option<Format> {
    let schema = request.response.as_ref()?;
    Some(schema_format(schema, Style::Json, "/response_format/json_schema/schema", request))
}

/// The reasoning before the answer.
fn reasoning(marks: table::Reasoning, request: &ToolRequest, parts: &mut Vec<Format>) {
    let block = |begin: &str, content: Format| {
        let tag = Tag { begin: Begin::Text(begin.into()), content, end: End::text(marks.close) };
        match marks.after {
            "" => Format::Tag(Box::new(tag)),
            after => Format::Sequence(vec![Format::Tag(Box::new(tag)), literal(after)]),
        }
    };
    let thoughts = || {
        let excludes = vec![marks.open.into()];
        Format::AnyText(AnyText { excludes, max_tokens: None, max_chars: request.reasoning_chars })
    };
    let opener = match marks.opener {
        Opener::InPrompt => "",
        Opener::Written => marks.open,
    };
    match request.reasoning {
        Reasoning::Disabled => {}
        Reasoning::Enabled => parts.push(block(opener, thoughts())),
        Reasoning::Auto => parts.push(Format::Optional(Box::new(block(marks.open, thoughts())))),
        Reasoning::Empty => parts.push(block(opener, literal(""))),
    }
}

/// What may not be text of the answer.
fn excludes(family: &Family, request: &ToolRequest) -> Vec<Box<str>> {
    match (family.reasoning, request.markers) {
        (Some(marks), Markers::Excluded) => vec![marks.open.into(), marks.close.into()],
        _ => Vec::new(),
    }
}

fn course(request: &ToolRequest) -> Course {
    match request.parallel {
        ParallelCalls::Allowed => Course::GoOn,
        ParallelCalls::Off => Course::Stop,
    }
}

/// Everything behind the reasoning.
fn answer(family: &Family, request: &ToolRequest) -> Vec<Format> {
    if let Layout::Message { response, open, close, end } = family.layout {
        return message(family, request, response, (open, close), end);
    }
    if !request.has_tools() {
        return vec![response(request).unwrap_or_else(|| free_text(family, request))];
    }
    match (request.choice, response(request)) {
        (Choice::Auto, None) => vec![calls_in_text(family, request, Least::None)],
        (Choice::Auto, Some(response)) => {
            vec![Format::Or(vec![calls_in_text(family, request, Least::One), response])]
        }
        (Choice::Required, _) => vec![calls_in_text(family, request, Least::One)],
        (Choice::Forced, _) => vec![one_call(family, request)],
    }
}

/// Free text that starts no call.
fn free_text(family: &Family, request: &ToolRequest) -> Format {
    let mut excludes = excludes(family, request);
    match family.layout {
        Layout::Blocks { trigger } => excludes.push(trigger.into()),
        Layout::Section { open, .. } => excludes.push(open.into()),
        Layout::Message { .. } | Layout::Harmony => {}
    }
    Format::AnyText(AnyText { excludes, ..AnyText::default() })
}

/// Calls with free text around them. Where one is required it comes first.
fn calls_in_text(family: &Family, request: &ToolRequest, least: Least) -> Format {
    let (triggers, tags) = match family.layout {
        Layout::Section { open, .. } => (vec![open.into()], vec![section(family, request, course(request))]),
        Layout::Blocks { trigger } => (vec![trigger.into()], calls(family, request)),
        Layout::Message { .. } | Layout::Harmony => (Vec::new(), Vec::new()),
    };
    let excludes = excludes(family, request);
    Format::TriggeredTags(TriggeredTags { triggers, tags, least, course: course(request), excludes })
}

/// Exactly one call.
fn one_call(family: &Family, request: &ToolRequest) -> Format {
    match family.layout {
        Layout::Section { .. } => Format::Tag(Box::new(section(family, request, Course::Stop))),
        _ => {
            let calls = calls(family, request).into_iter().map(|tag| Format::Tag(Box::new(tag)));
            Format::Or(calls.collect())
        }
    }
}

/// Calls in a row between marks.
fn section(family: &Family, request: &ToolRequest, course: Course) -> Tag {
    let (open, separator, close) = match family.layout {
        Layout::Section { open, separator, close } => (open, separator, close),
        Layout::Message { open, close, .. } => (open, "", close),
        Layout::Blocks { .. } | Layout::Harmony => ("", "", ""),
    };
    let content = Format::TagsWithSeparator(TagsWithSeparator {
        tags: calls(family, request),
        separator: separator.into(),
        least: Least::One,
        course,
    });
    Tag { begin: Begin::Text(open.into()), content, end: End::text(close) }
}

/// One tag for every function.
fn calls(family: &Family, request: &ToolRequest) -> Vec<Tag> {
    let call = |function: &super::request::Function| {
        let mut texts: Vec<Format> = Vec::with_capacity(family.call.len());
        for part in family.call {
            texts.push(match *part {
                Part::Text(text) => literal(&text.replace("$NAME", &function.name)),
                Part::Number => Format::Regex("[0-9]+".into()),
                Part::Arguments(style) => schema_format(&function.schema, style, &function.origin, request),
            });
        }
        // Every entry of the table begins and ends with a text.
        let begin = match texts.first() {
            Some(Format::ConstString(text)) => text.clone(),
            _ => "".into(),
        };
        let end = match texts.pop() {
            Some(Format::ConstString(text)) => text,
            _ => "".into(),
        };
        let content = match texts.len() {
            2 => texts.swap_remove(1),
            _ => Format::Sequence(texts.split_off(1)),
        };
        Tag { begin: Begin::Text(begin), content, end: End::Texts(vec![end]) }
    };
    request.functions.iter().map(call).collect()
}

/// A message whose parts all stand between marks.
fn message(
    family: &Family,
    request: &ToolRequest,
    marks: (&str, &str),
    (open, close): (&str, &str),
    end: &str,
) -> Vec<Format> {
    let content = response(request).unwrap_or_else(|| {
        let mut excludes = excludes(family, request);
        excludes.extend([open.into(), close.into()]);
        Format::AnyText(AnyText { excludes, ..AnyText::default() })
    });
    let text =
        Format::Tag(Box::new(Tag { begin: Begin::Text(marks.0.into()), content, end: End::text(marks.1) }));
    let section = |course: Course| Format::Tag(Box::new(section(family, request, course)));
    let body = match (request.has_tools(), request.choice) {
        (false, _) => text,
        (true, Choice::Auto) => {
            let calls = section(course(request));
            let both = Format::Sequence(vec![text, Format::Optional(Box::new(calls.clone()))]);
            Format::Or(vec![both, calls])
        }
        (true, Choice::Required) => {
            Format::Sequence(vec![Format::Optional(Box::new(text)), section(course(request))])
        }
        (true, Choice::Forced) => {
            Format::Sequence(vec![Format::Optional(Box::new(text)), section(Course::Stop)])
        }
    };
    vec![body, literal(end)]
}
