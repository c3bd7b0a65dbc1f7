//! Free text, and the ends of the tag around it.
//!
//! Mostly a dispatch of the engine reads the text and the first of its ends. Where ends, triggers and excluded strings
//! are parts of one another, a dispatch would complete some of them only, and the texts are told apart by expressions.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroU32;

use grammask_grammar_ir::{
    AfterDispatch, DispatchEnd, ExprId, Pattern, PatternPart, RuleOptions, TagDispatch,
};

use super::error::shortened;
use super::format::AnyText;
use super::lower::FormatLowering;
use super::place::{Place, unsupported};
use super::text_search::{StringSearch, tails};
use crate::diagnostic::Result;

/// Bytes that are compared to tell ends from other strings: a tenth of a second.
const MAX_COMPARED: usize = 50_000_000;

impl FormatLowering<'_> {
    /// Free text, and the ends where there are any.
    pub(super) fn any_text(
        &mut self,
        text: &AnyText,
        ends: &[Box<str>],
        place: &Place<'_>,
    ) -> Result<ExprId> {
        if text.max_tokens.is_none() && text.max_chars.is_none() {
            return self.dispatched(TagDispatch::new(), &text.excludes, ends, place);
        }
        let excluded = text.excludes.iter().chain(ends).map(|text| &**text);
        let excluded: Vec<&str> = excluded.filter(|text| !text.is_empty()).collect();
        self.before_ends(&excluded, ends, place, |this, tails| {
            let body = this.text_without(&excluded, tails, text.max_chars);
            let Some(most) = text.max_tokens else { return Ok(body) };
            // The ends are no part of what is counted.
            let Some(max_tokens) = NonZeroU32::new(most) else { return Ok(this.builder.empty()) };
            let rule = this.fresh("text", body, place)?;
            this.builder
                .set_options(rule, RuleOptions { max_tokens: Some(max_tokens), ..RuleOptions::default() });
            Ok(this.builder.rule(rule))
        })
    }

    /// Free text of at most `most` characters that holds no excluded text and has none of the tails.
    fn text_without(&mut self, excluded: &[&str], tails: &[&str], most: Option<u32>) -> ExprId {
        if tails.is_empty() && most.is_none() {
            let mut dispatch = TagDispatch::new();
            dispatch.excludes.extend(excluded.iter().map(|&text| Pattern::from(text)));
            return self.builder.tag_dispatch(dispatch);
        }
        let any = self.builder.any_char();
        let around = self.builder.repeat(any, 0, None);
        let [excluded, tails] = [excluded, tails].map(|texts| {
            let texts: Vec<ExprId> = texts.iter().map(|text| self.builder.literal(text)).collect();
            (!texts.is_empty()).then(|| self.builder.choice(texts))
        });
        let mut operands = Vec::new();
        if let Some(excluded) = excluded {
            let holding = self.builder.sequence([around, excluded, around]);
            operands.push(self.builder.complement(holding));
        }
        if let Some(tails) = tails {
            let ending = self.builder.sequence([around, tails]);
            operands.push(self.builder.complement(ending));
        }
        if most.is_some() || operands.is_empty() {
            operands.push(self.builder.repeat(any, 0, most));
        }
        match operands[..] {
            [one] => one,
            _ => self.builder.intersection(operands),
        }
    }

    /// Each end after a text of which it is the first end, and nothing more where there are no ends. The text before it has
    /// none of its [`tails`]. Ends with the same tails are written together.
    fn before_ends(
        &mut self,
        texts: &[&str],
        ends: &[Box<str>],
        place: &Place<'_>,
        mut text: impl FnMut(&mut Self, &[&str]) -> Result<ExprId>,
    ) -> Result<ExprId> {
        if ends.is_empty() {
            return text(self, &[]);
        }
        let mut groups: BTreeMap<Vec<&str>, Vec<ExprId>> = BTreeMap::new();
        for (end, tails) in ends.iter().zip(all_tails(ends, texts, place)?) {
            groups.entry(tails).or_default().push(self.literal(end));
        }
        let mut ways = Vec::with_capacity(groups.len());
        for (tails, ends) in groups {
            let text = text(self, &tails)?;
            let end = self.builder.choice(ends);
            ways.push(self.builder.sequence([text, end]));
        }
        Ok(self.builder.choice(ways))
    }

    /// The lowered body, followed by one of the ends if there are any.
    pub(super) fn with_end(&mut self, body: ExprId, ends: &[Box<str>]) -> ExprId {
        if ends.is_empty() {
            return body;
        }
        let end = self.one_of(ends);
        self.builder.sequence([body, end])
    }

    /// A dispatch in free text that holds no excluded strings, and one of the ends where there are any.
    pub(super) fn dispatched(
        &mut self,
        mut dispatch: TagDispatch,
        excludes: &[Box<str>],
        ends: &[Box<str>],
        place: &Place<'_>,
    ) -> Result<ExprId> {
        let stops: Vec<&str> = ends.iter().map(|end| &**end).filter(|end| !end.is_empty()).collect();
        if has_overlap(&dispatch, excludes, &stops) {
            return self.overlapping(dispatch, excludes, ends, place);
        }
        dispatch.excludes.extend(excludes.iter().map(|text| Pattern::from(&**text)));
        // The text of an end that follows a tag is not searched for.
        if dispatch.after == AfterDispatch::End && !ends.is_empty() {
            let end = self.one_of(ends);
            for (_, body) in &mut dispatch.triggers {
                *body = self.builder.sequence([*body, end]);
            }
        }
        if !stops.is_empty() && stops.len() == ends.len() {
            dispatch.end = DispatchEnd::AtStop;
        }
        dispatch.stops.extend(stops.into_iter().map(Pattern::from));
        Ok(self.builder.tag_dispatch(dispatch))
    }

    /// The same where ends, triggers and excluded strings are parts of one another, so that a dispatch would complete some
    /// of them only.
    fn overlapping(
        &mut self,
        dispatch: TagDispatch,
        excludes: &[Box<str>],
        ends: &[Box<str>],
        place: &Place<'_>,
    ) -> Result<ExprId> {
        let triggers: Vec<Box<str>> = triggers(&dispatch).map(Into::into).collect();
        let all = triggers.iter().chain(excludes).chain(ends).map(|text| &**text);
        let all: Vec<&str> = all.filter(|text| !text.is_empty()).collect();
        let without = excludes.iter().chain(ends).map(|text| &**text);
        let without: Vec<&str> = without.filter(|text| !text.is_empty()).collect();
        let ending = StringSearch::new(without.iter().copied());
        if let Some(trigger) = triggers.iter().find(|trigger| ending.is_in(trigger)) {
            let trigger = shortened(trigger);
            let message = format!(
                "the trigger `{trigger}` can never be completed: it holds an excluded string, or an end of the tag around it"
            );
            return Err(unsupported(place, message, "use another trigger or end"));
        }
        let is_cut = |tails: &Vec<Vec<&str>>| tails.iter().any(|tails| !tails.is_empty());
        if triggers.is_empty() || !is_cut(&all_tails(ends, &all, place)?) {
            return self.before_ends(&all, ends, place, |this, tails| {
                if dispatch.triggers.is_empty() {
                    return Ok(this.text_without(&without, tails, None));
                }
                let mut dispatch = dispatch.clone();
                dispatch.excludes.extend(without.iter().map(|&text| Pattern::from(text)));
                Ok(this.builder.tag_dispatch(dispatch))
            });
        }
        // Texts before each trigger, and the last one before the end.
        let last =
            self.before_ends(&all, ends, place, |this, tails| Ok(this.text_without(&all, tails, None)))?;
        let tails = all_tails(&triggers, &all, place)?;
        let mut ways = Vec::with_capacity(triggers.len());
        for ((trigger, mut tails), (_, body)) in triggers.iter().zip(tails).zip(&dispatch.triggers) {
            // An excluded string or an end that is complete with a trigger comes first.
            let excluded = excludes.iter().chain(ends).filter_map(|text| text.strip_suffix(&**trigger));
            tails.extend(excluded.filter(|tail| !tail.is_empty()));
            let text = self.text_without(&all, &tails, None);
            let trigger = self.literal(trigger);
            ways.push(self.builder.sequence([text, trigger, *body]));
        }
        let tag = self.builder.choice(ways);
        Ok(match dispatch.after {
            AfterDispatch::Loop => {
                let tags = self.builder.repeat(tag, 0, None);
                self.builder.sequence([tags, last])
            }
            AfterDispatch::End => {
                let tag = self.with_end(tag, ends);
                self.builder.choice([tag, last])
            }
        })
    }
}

/// The texts among the triggers of a dispatch.
fn triggers(dispatch: &TagDispatch) -> impl Iterator<Item = &str> {
    dispatch.triggers.iter().flat_map(|(pattern, _)| pattern.parts()).filter_map(|part| match part {
        PatternPart::Text(text) => Some(&**text),
        PatternPart::Token(_) => None,
    })
}

/// Whether one of them would never be completed: some stop string is part of another, or a trigger or an
/// excluded string is part of one, or the reverse.
fn has_overlap(dispatch: &TagDispatch, excludes: &[Box<str>], stops: &[&str]) -> bool {
    if stops.is_empty() {
        return false;
    }
    let others: Vec<&str> = triggers(dispatch).chain(excludes.iter().map(|text| &**text)).collect();
    let (any_stop, any_other) =
        (StringSearch::new(stops.iter().copied()), StringSearch::new(others.iter().copied()));
    let mut met = HashSet::with_capacity(stops.len());
    let among = stops.iter().any(|stop| !met.insert(stop) || any_stop.is_part_in(stop));
    among
        || stops.iter().any(|stop| any_other.is_in(stop))
        || others.iter().any(|other| any_stop.is_in(other))
}

/// For each end its [`tails`].
fn all_tails<'t>(ends: &[Box<str>], texts: &[&'t str], place: &Place<'_>) -> Result<Vec<Vec<&'t str>>> {
    let mut left = MAX_COMPARED;
    let all: Option<_> = ends.iter().map(|end| tails(end, texts, &mut left)).collect();
    all.ok_or_else(|| {
        let message =
            "the ends of tags, the triggers and the excluded strings are too many or too much alike";
        unsupported(place, message, "use fewer or shorter ones")
    })
}
