//! The content of a tag, without the ends of the tag in its free text.
//!
//! The first end of a tag ends it, so free text that the end may follow holds no end. Mostly that text is the last part of
//! the content, and is written together with the end. Where it stands in repeats, or before parts that may be left out,
//! the ends are among its excluded strings.

use std::borrow::Cow;

use super::format::{End, Format, Minimum, Repeat};

impl Format {
    /// The format as the content of a tag with this end: the same, but for free text that the end may follow.
    pub(super) fn before_end(&self, end: &End) -> Cow<'_, Self> {
        if !self.may_run_into(end) {
            return Cow::Borrowed(self);
        }
        let inside = |content: &Format| content.before_end(end).into_owned();
        Cow::Owned(match self {
            Format::AnyText(text) => {
                let mut text = text.clone();
                text.excludes.extend(end.texts().map(Into::into));
                Format::AnyText(text)
            }
            Format::TriggeredTags(tags) => {
                let mut tags = tags.clone();
                tags.excludes.extend(end.texts().map(Into::into));
                Format::TriggeredTags(tags)
            }
            Format::AnyTokens(tokens) => {
                let mut tokens = tokens.clone();
                tokens.excludes.extend(end.token().cloned());
                Format::AnyTokens(tokens)
            }
            Format::TokenTriggeredTags(tags) => {
                let mut tags = tags.clone();
                tags.excludes.extend(end.token().cloned());
                Format::TokenTriggeredTags(tags)
            }
            Format::ExcludeToken(excludes) => {
                Format::ExcludeToken(excludes.iter().chain(end.token()).cloned().collect())
            }
            Format::Sequence(elements) => {
                let (others, last) = elements.split_at(first_before_end(elements));
                Format::Sequence(others.iter().cloned().chain(last.iter().map(inside)).collect())
            }
            Format::Or(elements) => Format::Or(elements.iter().map(inside).collect()),
            Format::Optional(content) => Format::Optional(Box::new(inside(content))),
            Format::Plus(content) => Format::Plus(Box::new(inside(content))),
            Format::Star(content) => Format::Star(Box::new(inside(content))),
            Format::Repeat(repeat) => {
                let Repeat { min, max, content } = &**repeat;
                Format::Repeat(Box::new(Repeat { min: *min, max: *max, content: inside(content) }))
            }
            other => other.clone(),
        })
    }

    /// Whether free text of the format may go on over an end that follows it.
    fn may_run_into(&self, end: &End) -> bool {
        match self {
            Format::AnyText(_) | Format::TriggeredTags(_) => end.texts().next().is_some(),
            Format::AnyTokens(_) | Format::TokenTriggeredTags(_) | Format::ExcludeToken(_) => {
                end.token().is_some()
            }
            Format::Sequence(elements) => {
                elements[first_before_end(elements)..].iter().any(|element| element.may_run_into(end))
            }
            Format::Or(elements) => elements.iter().any(|element| element.may_run_into(end)),
            Format::Optional(content) | Format::Plus(content) | Format::Star(content) => {
                content.may_run_into(end)
            }
            Format::Repeat(repeat) => repeat.content.may_run_into(end),
            _ => false,
        }
    }

    /// Whether no element of a sequence but the last one may run into an end that follows the sequence.
    pub(super) fn only_last_meets(elements: &[Self], end: &End) -> bool {
        let before = elements.len().saturating_sub(1);
        elements[first_before_end(elements).min(before)..before]
            .iter()
            .all(|element| !element.may_run_into(end))
    }

    /// Whether the format may be left out. Patterns and grammars count as if they could not.
    fn may_be_empty(&self) -> bool {
        match self {
            Format::AnyText(_)
            | Format::AnyTokens(_)
            | Format::Optional(_)
            | Format::Star(_)
            | Format::Dispatch(_)
            | Format::TokenDispatch(_) => true,
            Format::TriggeredTags(tags) => tags.minimum == Minimum::Zero,
            Format::TokenTriggeredTags(tags) => tags.minimum == Minimum::Zero,
            Format::TagsWithSeparator(tags) => tags.minimum == Minimum::Zero,
            Format::ConstString(text) => text.is_empty(),
            Format::Sequence(elements) => elements.iter().all(Format::may_be_empty),
            Format::Or(elements) => elements.iter().any(Format::may_be_empty),
            Format::Plus(content) => content.may_be_empty(),
            Format::Repeat(repeat) => {
                let Repeat { min, content, .. } = &**repeat;
                *min == 0 || content.may_be_empty()
            }
            Format::JsonSchema(_)
            | Format::Grammar(_)
            | Format::Regex(_)
            | Format::Tag(_)
            | Format::Token(_)
            | Format::ExcludeToken(_) => false,
        }
    }
}

/// The first element after which all others may be left out.
fn first_before_end(elements: &[Format]) -> usize {
    let empty = elements.iter().rev().take_while(|element| element.may_be_empty()).count();
    elements.len().saturating_sub(empty + 1)
}
