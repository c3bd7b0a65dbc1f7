//! From a family and a request to formats.

use super::formats::{literal, response, schema_format};
use super::harmony;
use super::request::{Choice, Function, Markers, ParallelCalls, Reasoning, ToolRequest, malformed};
use super::table::{Family, Layout, Opener, Part, ReasoningMarks, ToolNames};
use crate::diagnostic::Result;
use crate::structural_tag::format::{
    AfterMatch, AnyText, Begin, End, Format, Minimum, Tag, TagsWithSeparator, TriggeredTags,
};

/// The format of all answers to the request.
pub(super) fn structure(family: &Family, request: &ToolRequest) -> Result<Format> {
    if matches!(family.layout, Layout::Harmony) {
        return Ok(harmony::structure(request));
    }
    if let Some(builtin) = request.builtins.first() {
        let message = format!("`{}` brings no tools of its own, as `{}` is", family.keys[0], builtin.kind);
        let hint = "offer functions only, or use the family `harmony`";
        return Err(malformed(builtin.origin.trim_end_matches("/parameters"), message, hint));
    }
    check_names(family, request)?;
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

/// Whether the family can call tools of these names.
fn check_names(family: &Family, request: &ToolRequest) -> Result<()> {
    if family.names == ToolNames::Any {
        return Ok(());
    }
    let is_identifier = |part: &str| {
        part.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
            && part.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
    };
    match request.functions.iter().find(|function| !function.name.split('.').all(is_identifier)) {
        Some(function) => {
            let message = format!(
                "`{}` calls tools in Python's syntax, and `{}` is no name in it",
                family.keys[0], function.name
            );
            let place = format!("{}/name", function.origin.trim_end_matches("/parameters"));
            Err(malformed(&place, message, "use letters, digits and `_`, and dots between them"))
        }
        None => Ok(()),
    }
}

/// The reasoning before the answer.
fn reasoning(marks: ReasoningMarks, request: &ToolRequest, parts: &mut Vec<Format>) {
    let block = |begin: &str, content: Format| {
        let tag = Tag { begin: Begin::Text(begin.into()), content, end: End::text(marks.close) };
        match marks.after {
            "" => Format::Tag(Box::new(tag)),
            after => Format::Sequence(vec![Format::Tag(Box::new(tag)), literal(after)]),
        }
    };
    let thoughts = || {
        let excludes = match request.markers {
            Markers::Excluded => vec![marks.open.into()],
            Markers::Allowed => Vec::new(),
        };
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

/// The texts that the answer must not contain.
fn excludes(family: &Family, request: &ToolRequest) -> Vec<Box<str>> {
    match (family.reasoning, request.markers) {
        (Some(marks), Markers::Excluded) => vec![marks.open.into(), marks.close.into()],
        _ => Vec::new(),
    }
}

fn after_match(request: &ToolRequest) -> AfterMatch {
    match request.parallel {
        ParallelCalls::Allowed => AfterMatch::Continue,
        ParallelCalls::Off => AfterMatch::Stop,
    }
}

/// Everything after the reasoning.
fn answer(family: &Family, request: &ToolRequest) -> Vec<Format> {
    if let Layout::Message { response, open, close, end } = family.layout {
        return message(family, request, response, (open, close), end);
    }
    if let Layout::Whole { marks, opener, .. } = family.layout {
        return vec![whole(family, request, marks, opener)];
    }
    if !request.has_tools() {
        return vec![value(family, request).unwrap_or_else(|| free_text(family, request))];
    }
    let mut parts = Vec::new();
    if !family.lead.is_empty() && request.choice != Choice::Auto {
        parts.push(Format::Optional(Box::new(literal(family.lead))));
    }
    parts.push(match (request.choice, value(family, request)) {
        (Choice::Auto, None) => calls_in_text(family, request, Minimum::Zero),
        (Choice::Auto, Some(value)) => Format::Or(vec![calls_in_text(family, request, Minimum::One), value]),
        (Choice::Required, _) => calls_in_text(family, request, Minimum::One),
        (Choice::Forced, _) => first_call(family, request, AfterMatch::Stop),
    });
    parts
}

/// The value of the response format, alone or between marks of answers.
fn value(family: &Family, request: &ToolRequest) -> Option<Format> {
    let value = response(request)?;
    let pairs = family.answer.iter().filter(|(_, close)| !close.is_empty());
    let marked = pairs.map(|&(open, close)| {
        let tag = Tag { begin: Begin::Text(open.into()), content: value.clone(), end: End::text(close) };
        Format::Tag(Box::new(tag))
    });
    let marked: Vec<Format> = marked.collect();
    Some(match marked.is_empty() {
        true => value,
        false => Format::Or([vec![value], marked].concat()),
    })
}

/// How calls begin.
fn openings(family: &Family) -> Vec<Box<str>> {
    match family.layout {
        Layout::Blocks { triggers } => triggers.iter().map(|&trigger| trigger.into()).collect(),
        Layout::Section { open, .. } => vec![open.into()],
        Layout::Whole { .. } | Layout::Message { .. } | Layout::Harmony => Vec::new(),
    }
}

/// Marks of answers that are no calls, which may occur anywhere in free text.
fn answer_marks(family: &Family) -> impl Iterator<Item = &'static str> {
    family.answer.iter().flat_map(|&(open, close)| [open, close]).filter(|mark| !mark.is_empty())
}

/// A tag that is its beginning alone.
fn bare_tag(mark: &str) -> Tag {
    Tag { begin: Begin::Text(mark.into()), content: literal(""), end: End::text("") }
}

/// Free text that starts no call.
fn free_text(family: &Family, request: &ToolRequest) -> Format {
    let mut excludes = excludes(family, request);
    excludes.extend(openings(family));
    if family.answer.is_empty() {
        return Format::AnyText(AnyText { excludes, ..AnyText::default() });
    }
    Format::TriggeredTags(TriggeredTags {
        triggers: answer_marks(family).map(Into::into).collect(),
        tags: answer_marks(family).map(bare_tag).collect(),
        minimum: Minimum::Zero,
        after_match: AfterMatch::Continue,
        excludes,
    })
}

/// Calls with free text around them. Where one is required it comes first.
fn calls_in_text(family: &Family, request: &ToolRequest, minimum: Minimum) -> Format {
    let after_match = after_match(request);
    let tags = match family.layout {
        Layout::Section { .. } => vec![section(family, request, after_match)],
        _ => calls(family, request),
    };
    let mut format = TriggeredTags {
        triggers: openings(family),
        tags,
        minimum,
        after_match,
        excludes: excludes(family, request),
    };
    if family.answer.is_empty() {
        return Format::TriggeredTags(format);
    }
    // A mark of an answer is no call: it is not what is required, and nothing ends with it.
    let first = || first_call(family, request, after_match);
    match (minimum, after_match) {
        (Minimum::One, AfterMatch::Stop) => first(),
        (Minimum::Zero, AfterMatch::Stop) => {
            Format::Sequence(vec![free_text(family, request), Format::Optional(Box::new(first()))])
        }
        (_, AfterMatch::Continue) => {
            format.minimum = Minimum::Zero;
            format.triggers.extend(answer_marks(family).map(Into::into));
            format.tags.extend(answer_marks(family).map(bare_tag));
            let rest = Format::TriggeredTags(format);
            match minimum {
                Minimum::Zero => rest,
                Minimum::One => Format::Sequence(vec![first(), rest]),
            }
        }
    }
}

/// A call by itself, or the row that contains it.
fn first_call(family: &Family, request: &ToolRequest, after_match: AfterMatch) -> Format {
    match family.layout {
        Layout::Section { .. } => Format::Tag(Box::new(section(family, request, after_match))),
        _ => {
            let calls = calls(family, request).into_iter().map(|tag| Format::Tag(Box::new(tag)));
            Format::Or(calls.collect())
        }
    }
}

/// An answer that is calls as a whole, or none.
fn whole(
    family: &Family,
    request: &ToolRequest,
    marks: &[(&'static str, &'static str)],
    opener: &str,
) -> Format {
    let rows = |after_match: AfterMatch| {
        let rows = marks.iter().map(|&(open, close)| {
            let row = row(family, request, after_match);
            match (open, close) {
                ("", "") => row,
                _ => Format::Tag(Box::new(Tag {
                    begin: Begin::Text(open.into()),
                    content: row,
                    end: End::text(close),
                })),
            }
        });
        Format::Or(rows.collect())
    };
    let other = || {
        value(family, request).unwrap_or_else(|| {
            let excluded = excludes(family, request);
            let excluded: Vec<String> = excluded.iter().map(|mark| regex_syntax::escape(mark)).collect();
            let without = match excluded.is_empty() {
                true => String::new(),
                false => format!("(?![^]*(?:{}))", excluded.join("|")),
            };
            Format::Regex(format!("(?!{opener}){without}[^]*").into())
        })
    };
    match (request.has_tools(), request.choice) {
        (false, _) => other(),
        (true, Choice::Auto) => Format::Or(vec![rows(after_match(request)), other()]),
        (true, Choice::Required) => rows(after_match(request)),
        (true, Choice::Forced) => rows(AfterMatch::Stop),
    }
}

/// Calls in a row.
fn row(family: &Family, request: &ToolRequest, after_match: AfterMatch) -> Format {
    let separator = match family.layout {
        Layout::Section { separator, .. } | Layout::Whole { separator, .. } => separator,
        Layout::Message { .. } | Layout::Blocks { .. } | Layout::Harmony => "",
    };
    Format::TagsWithSeparator(TagsWithSeparator {
        tags: calls(family, request),
        separator: separator.into(),
        minimum: Minimum::One,
        after_match,
    })
}

/// Calls in a row between marks.
fn section(family: &Family, request: &ToolRequest, after_match: AfterMatch) -> Tag {
    let (open, close) = match family.layout {
        Layout::Section { open, close, .. } | Layout::Message { open, close, .. } => (open, close),
        Layout::Whole { .. } | Layout::Blocks { .. } | Layout::Harmony => ("", ""),
    };
    Tag { begin: Begin::Text(open.into()), content: row(family, request, after_match), end: End::text(close) }
}

/// One tag for every function and spelling.
fn calls(family: &Family, request: &ToolRequest) -> Vec<Tag> {
    let spellings = || [family.call].into_iter().chain(family.other_calls.iter().copied());
    request
        .functions
        .iter()
        .flat_map(|function| spellings().map(move |parts| call(parts, function, request)))
        .collect()
}

fn call(parts: &[Part], function: &Function, request: &ToolRequest) -> Tag {
    let mut texts: Vec<Format> = Vec::with_capacity(parts.len());
    for part in parts {
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
}

/// A message whose parts are all between marks.
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
    let section = |after_match: AfterMatch| Format::Tag(Box::new(section(family, request, after_match)));
    let body = match (request.has_tools(), request.choice) {
        (false, _) => text,
        (true, Choice::Auto) => {
            let calls = section(after_match(request));
            let both = Format::Sequence(vec![text, Format::Optional(Box::new(calls.clone()))]);
            Format::Or(vec![both, calls])
        }
        (true, Choice::Required) => {
            Format::Sequence(vec![Format::Optional(Box::new(text)), section(after_match(request))])
        }
        (true, Choice::Forced) => {
            Format::Sequence(vec![Format::Optional(Box::new(text)), section(AfterMatch::Stop)])
        }
    };
    vec![body, literal(end)]
}
