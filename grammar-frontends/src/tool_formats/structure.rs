//! From a family and a request to formats.

use super::family::{Family, Layout, Part, ReasoningMarks, Row, ToolNames};
use super::formats::{literal, response, schema_format};
use super::harmony;
use super::request::{Choice, Function, Markers, ParallelCalls, Reasoning, ToolRequest, malformed};

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
    let thoughts = || match request.reasoning {
        Reasoning::Empty => literal(""),
        _ => {
            let excludes = match request.markers {
                Markers::Excluded => vec![marks.open.into()],
                Markers::Allowed => Vec::new(),
            };
            Format::AnyText(AnyText { excludes, max_tokens: None, max_chars: request.reasoning_chars })
        }
    };
    let blocks = |begins: &[&str]| {
        let tag = |&begin: &&str| Tag {
            begin: Begin::Text(begin.into()),
            content: thoughts(),
            end: End::text(marks.close),
        };
        let blocks = one_of(begins.iter().map(|begin| Format::Tag(Box::new(tag(begin)))).collect());
        match marks.after {
            [""] => blocks,
            after => Format::Sequence(vec![blocks, texts(after)]),
        }
    };
    match request.reasoning {
        Reasoning::Enabled | Reasoning::Empty => parts.push(blocks(marks.begins)),
        Reasoning::Disabled if marks.skipped.is_empty() => {}
        Reasoning::Disabled => parts.push(optional(texts(marks.skipped))),
        Reasoning::Auto => {
            let written: Vec<&str> = marks.begins.iter().copied().filter(|begin| !begin.is_empty()).collect();
            let mut ways = vec![match written.is_empty() {
                true => blocks(&[marks.open]),
                false => blocks(&written),
            }];
            ways.extend(marks.skipped.iter().map(|text| literal(text)));
            parts.push(optional(one_of(ways)));
        }
    }
}

/// The texts that the answer must not contain.
fn excludes(family: &Family, request: &ToolRequest) -> Vec<Box<str>> {
    let mut marks = Vec::new();
    if request.markers == Markers::Excluded {
        marks.extend(family.reasoning.iter().flat_map(|marks| [marks.open, marks.close]));
        marks.extend(family.unwritten);
    }
    marks.iter().chain(family.excluded).map(|&text| text.into()).collect()
}

fn after_match(request: &ToolRequest) -> AfterMatch {
    match request.parallel {
        ParallelCalls::Allowed => AfterMatch::Continue,
        ParallelCalls::Off => AfterMatch::Stop,
    }
}

/// Everything after the reasoning.
fn answer(family: &Family, request: &ToolRequest) -> Vec<Format> {
    if let Layout::Message { response, joint, row, end } = family.layout {
        let message = message(family, request, response, joint, row);
        return if end.is_empty() { vec![message] } else { vec![message, literal(end)] };
    }
    if let Layout::Whole { rows, opener } = family.layout {
        return vec![whole(family, request, rows, opener)];
    }
    if !request.has_tools() {
        return vec![value(family, request).unwrap_or_else(|| free_text(family, request))];
    }
    let mut parts = Vec::new();
    if !family.leads.is_empty() && request.choice != Choice::Auto {
        parts.push(optional(texts(family.leads)));
    }
    parts.push(match (request.choice, value(family, request)) {
        (Choice::Auto, None) => calls_in_text(family, request, Minimum::Zero),
        (Choice::Auto, Some(value)) => {
            let calls = calls_in_text(family, request, Minimum::One);
            Format::Or(vec![led(family, calls), value])
        }
        (Choice::Required, _) => calls_in_text(family, request, Minimum::One),
        (Choice::Forced, _) => first_call(family, request, AfterMatch::Stop),
    });
    parts
}

/// Calls after a text that may precede them.
fn led(family: &Family, calls: Format) -> Format {
    match family.leads {
        [] => calls,
        leads => Format::Sequence(vec![optional(texts(leads)), calls]),
    }
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

/// Marks of answers that are no calls, which may occur anywhere in free text.
fn answer_marks(family: &Family) -> impl Iterator<Item = &'static str> {
    family.answer.iter().flat_map(|&(open, close)| [open, close]).filter(|mark| !mark.is_empty())
}

fn triggers(family: &Family) -> impl Iterator<Item = Box<str>> {
    family.triggers.iter().map(|&trigger| trigger.into())
}

/// A tag that is its beginning alone.
fn bare_tag(mark: &str) -> Tag {
    Tag { begin: Begin::Text(mark.into()), content: literal(""), end: End::text("") }
}

/// Free text that starts no call.
fn free_text(family: &Family, request: &ToolRequest) -> Format {
    let mut excludes = excludes(family, request);
    excludes.extend(triggers(family));
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
    let mut format = TriggeredTags {
        triggers: triggers(family).collect(),
        tags: tags(family, request, after_match),
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
            Format::Sequence(vec![free_text(family, request), optional(first())])
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
    let tags = tags(family, request, after_match).into_iter().map(|tag| Format::Tag(Box::new(tag)));
    one_of(tags.collect())
}

/// Calls by themselves, or the rows that contain them.
fn tags(family: &Family, request: &ToolRequest, after_match: AfterMatch) -> Vec<Tag> {
    match family.layout {
        Layout::Section { rows } => {
            rows.iter().map(|&marks| section(family, request, marks, after_match)).collect()
        }
        _ => calls(family, request),
    }
}

/// An answer that is calls as a whole, or none.
fn whole(family: &Family, request: &ToolRequest, rows: &[Row], opener: &str) -> Format {
    let rows = |after_match: AfterMatch| {
        one_of(rows.iter().map(|&marks| marked_row(family, request, marks, after_match)).collect())
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
fn row(family: &Family, request: &ToolRequest, separator: &str, after_match: AfterMatch) -> Format {
    Format::TagsWithSeparator(TagsWithSeparator {
        tags: calls(family, request),
        separator: separator.into(),
        minimum: Minimum::One,
        after_match,
    })
}

/// Calls in a row between marks.
fn section(
    family: &Family,
    request: &ToolRequest,
    (opens, separator, close): Row,
    after_match: AfterMatch,
) -> Tag {
    let row = row(family, request, separator, after_match);
    let (begin, content) = match opens {
        [open] => (*open, row),
        _ => {
            let trigger = family.triggers.first().copied().unwrap_or("");
            let rests: Vec<&str> = opens.iter().filter_map(|open| open.strip_prefix(trigger)).collect();
            (trigger, Format::Sequence(vec![texts(&rests), row]))
        }
    };
    Tag { begin: Begin::Text(begin.into()), content, end: End::text(close) }
}

/// Calls in a row, between marks where there are some.
fn marked_row(family: &Family, request: &ToolRequest, marks: Row, after_match: AfterMatch) -> Format {
    match marks {
        (&[""], separator, "") => row(family, request, separator, after_match),
        _ => Format::Tag(Box::new(section(family, request, marks, after_match))),
    }
}

/// One tag for every function and spelling.
fn calls(family: &Family, request: &ToolRequest) -> Vec<Tag> {
    let spellings = |function| family.calls.iter().map(move |parts| call(family, parts, function, request));
    request.functions.iter().flat_map(spellings).collect()
}

fn call(family: &Family, parts: &[Part], function: &Function, request: &ToolRequest) -> Tag {
    let mut formats = formats(family, parts, function, request);
    // Every entry of the table begins and ends with a text.
    let begin = match formats.first() {
        Some(Format::ConstString(text)) => text.clone(),
        _ => "".into(),
    };
    let end = match formats.pop() {
        Some(Format::ConstString(text)) => text,
        _ => "".into(),
    };
    let content = match formats.len() {
        2 => formats.swap_remove(1),
        _ => Format::Sequence(formats.split_off(1)),
    };
    Tag { begin: Begin::Text(begin), content, end: End::Texts(vec![end]) }
}

fn formats(family: &Family, parts: &[Part], function: &Function, request: &ToolRequest) -> Vec<Format> {
    let format = |part: &Part| match *part {
        Part::Text(text) => literal(&text.replace("$NAME", &function.name)),
        Part::Pattern(pattern) => Format::Regex(pattern.into()),
        Part::OneOf(ways) => {
            let ways = ways.iter().map(|parts| match formats(family, parts, function, request) {
                parts if parts.is_empty() => literal(""),
                parts => Format::Sequence(parts),
            });
            Format::Or(ways.collect())
        }
        Part::Arguments(style) => {
            schema_format(&function.schema, style, family.order, &function.origin, request)
        }
    };
    parts.iter().map(format).collect()
}

/// A response, calls, or calls after a response. Where a family reasons and is asked not to, the prompt may end with the
/// mark that opens the response.
fn message(
    family: &Family,
    request: &ToolRequest,
    (open, close): (&str, &str),
    joint: &str,
    row: Row,
) -> Format {
    let free = |other_begin: &str| {
        let mut excludes = excludes(family, request);
        let marks = row.0.iter().copied().chain([other_begin, joint, row.2]);
        excludes.extend(marks.filter(|mark| !mark.is_empty()).map(Into::into));
        Format::AnyText(AnyText { excludes, ..AnyText::default() })
    };
    let marked = |begin: &str, content: Format| {
        Format::Tag(Box::new(Tag { begin: Begin::Text(begin.into()), content, end: End::text(close) }))
    };
    // A response format says how an answer without calls is written, and nothing of the text before calls.
    let text = |value: Option<Format>| {
        let content = |other_begin: &str| value.clone().unwrap_or_else(|| free(other_begin));
        match request.reasoning {
            Reasoning::Disabled if family.reasoning.is_some() => {
                Format::Or(vec![marked(open, content("")), marked("", content(open))])
            }
            _ => marked(open, content("")),
        }
    };
    let calls = |after_match: AfterMatch| marked_row(family, request, row, after_match);
    let after_text = |calls: Format| {
        let text = Format::Sequence(vec![text(None), literal(joint)]);
        Format::Sequence(vec![optional(text), calls])
    };
    match (request.has_tools(), request.choice) {
        (false, _) => text(response(request)),
        (true, Choice::Auto) => {
            Format::Or(vec![text(response(request)), after_text(calls(after_match(request)))])
        }
        (true, Choice::Required) => after_text(calls(after_match(request))),
        (true, Choice::Forced) => after_text(calls(AfterMatch::Stop)),
    }
}

fn optional(format: Format) -> Format {
    Format::Optional(Box::new(format))
}

/// One of some formats, which may be a single one.
fn one_of(mut formats: Vec<Format>) -> Format {
    match formats.len() {
        1 => formats.swap_remove(0),
        _ => Format::Or(formats),
    }
}

fn texts(all: &[&str]) -> Format {
    one_of(all.iter().map(|text| literal(text)).collect())
}
