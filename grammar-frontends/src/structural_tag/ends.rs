//! The content of a tag, without the ends of the tag in its free text.
//!
//! The first end of a tag ends it, so free text that the end may follow holds no end. Mostly that text is the last part of
//! the content, and is written together with the end. Parts after it that may be left out are written out, as
//! [`LastParts`]. Elsewhere, as in repeats of text and tags, the ends are among its excluded strings: an end of
//! which two texts have a part each is not found there.

use std::borrow::Cow;

use super::format::{AnyText, End, Format, Minimum, Repeat};

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
    pub(super) fn may_run_into(&self, end: &End) -> bool {
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

    /// The ways to read a sequence of which one part meets an end. Texts side by side are one text, and a part at the end
    /// that may be left out is a way of its own. `None` where the parts are too intricate for that.
    pub(super) fn last_parts(elements: &[Self], end: &End) -> Option<Vec<LastParts>> {
        end.texts().next()?;
        let mut ways = Vec::new();
        let mut text: Option<usize> = None;
        for (before, element) in elements.iter().enumerate().rev() {
            if let Some(own) = element.repeated_text() {
                match text {
                    None => text = Some(before),
                    Some(next) if elements[next].repeated_text() == Some(own) => {}
                    Some(_) => return None,
                }
                continue;
            }
            // A part that meets the end in one way and is before another one in others would be lowered twice, and all tags in
            // it as well.
            let may_meet_end = text.is_none() && ways.is_empty() && !matches!(element, Format::Star(_));
            let content = element.once();
            let is_intricate = content.may_be_empty() || !may_meet_end && content.may_run_into(end);
            if is_intricate || ways.len() == MAX_WAYS {
                return None;
            }
            ways.push(LastParts { before, last: Some(before), text });
            if !element.may_be_empty() {
                return Some(ways);
            }
        }
        ways.push(LastParts { before: 0, last: None, text });
        Some(ways)
    }

    /// The content of a part that may be left out; else the part itself.
    pub(super) fn once(&self) -> &Self {
        match self {
            Format::Optional(content) | Format::Star(content) => content,
            _ => self,
        }
    }

    /// The text without bounds that the format is. Repeated it is the same.
    pub(super) fn repeated_text(&self) -> Option<&AnyText> {
        match self {
            Format::AnyText(text) if text.max_chars.is_none() && text.max_tokens.is_none() => Some(text),
            Format::Optional(content) | Format::Plus(content) | Format::Star(content) => {
                content.repeated_text()
            }
            _ => None,
        }
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

/// Ways to read a sequence before an end; each is written out.
const MAX_WAYS: usize = 16;

/// A way to read a sequence before an end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LastParts {
    /// How many of the first elements are read as they are.
    pub(super) before: usize,
    /// The element after them, which is not left out. It meets the end unless a text follows.
    pub(super) last: Option<usize>,
    /// The text after that, which meets the end.
    pub(super) text: Option<usize>,
}

/// The first element after which all others may be left out.
pub(super) fn first_before_end(elements: &[Format]) -> usize {
    let empty = elements.iter().rev().take_while(|element| element.may_be_empty()).count();
    elements.len().saturating_sub(empty + 1)
}
