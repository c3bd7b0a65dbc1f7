//! Which tag belongs to which trigger.

use std::collections::HashSet;

use grammask_grammar_ir::TokenRef;

use super::error::shortened;
use super::format::{Begin, Tag};
use super::place::{Place, malformed};
use super::text_search::{Prefixes, StringSearch};
use crate::diagnostic::Result;

/// Every tag begins with exactly one of the triggers, every trigger with one of the tags, and no excluded string
/// keeps a trigger from being written.
pub(super) fn check(
    triggers: &[Box<str>],
    tags: &[Tag],
    excludes: &[Box<str>],
    at_triggers: &Place<'_>,
    at_tags: &Place<'_>,
) -> Result<()> {
    let prefixes = Prefixes::new(triggers);
    for (index, tag) in tags.iter().enumerate() {
        let at_tag = at_tags.index(index);
        let place = at_tag.key("begin");
        let Begin::Text(begin) = &tag.begin else {
            return Err(malformed(
                &place,
                "Tags in triggered_tags must have a string begin, not a token format",
                "write a string, or use `token_triggered_tags`",
            ));
        };
        let mut matching = prefixes.of(begin);
        matching.sort_unstable();
        match matching[..] {
            [_] => {}
            [] => {
                return Err(malformed(
                    &place,
                    "One tag does not match any trigger in a triggered tags format",
                    format!("add a trigger with which `{}` begins", shortened(begin)),
                ));
            }
            [one, other, ..] => {
                let (one, other) = (&triggers[one], &triggers[other]);
                return Err(malformed(
                    &place,
                    "One tag matches multiple triggers in a triggered tags format",
                    format!("leave out `{}` or `{}`", shortened(one), shortened(other)),
                ));
            }
        }
    }
    let all = StringSearch::new(triggers.iter().map(|trigger| &**trigger));
    let mut met = HashSet::with_capacity(triggers.len());
    for (index, trigger) in triggers.iter().enumerate() {
        // The quick answer for nearly all. The search below compares with every other trigger, only to name
        // one in the message.
        if met.insert(trigger) && !all.is_part_in(trigger) {
            continue;
        }
        let hides = |other: &str| trigger.contains(other);
        let hidden = triggers
            .iter()
            .enumerate()
            .find(|(at, other)| *at != index && hides(other) && (other.len() < trigger.len() || *at < index));
        if let Some((_, other)) = hidden {
            let (trigger, other) = (shortened(trigger), shortened(other));
            return Err(malformed(
                &at_triggers.index(index),
                format!(
                    "the trigger `{trigger}` is never reached, because it contains the trigger `{other}`"
                ),
                "leave one of the two out",
            ));
        }
    }
    check_reachable(triggers, excludes, at_triggers)
}

/// Strings after which a rule begins are not kept from being written by an excluded one.
pub(super) fn check_excludes(
    triggers: &[Box<str>],
    excludes: &[Box<str>],
    at_excludes: &Place<'_>,
) -> Result<()> {
    let Some((trigger, exclude)) = excluded_trigger(triggers, excludes) else { return Ok(()) };
    Err(malformed(
        &at_excludes.index(exclude),
        format!(
            "Exclude string must not be a prefix of trigger string: `{}` is part of `{}`, which could never be written",
            shortened(&excludes[exclude]),
            shortened(&triggers[trigger])
        ),
        "exclude a longer string, or leave it out",
    ))
}

fn check_reachable(triggers: &[Box<str>], excludes: &[Box<str>], at_triggers: &Place<'_>) -> Result<()> {
    let Some((trigger, exclude)) = excluded_trigger(triggers, excludes) else { return Ok(()) };
    let message = format!(
        "the trigger `{}` can never be written, because it contains the excluded `{}`",
        shortened(&triggers[trigger]),
        shortened(&excludes[exclude])
    );
    let hint = "exclude a longer string, or leave it out";
    Err(malformed(&at_triggers.index(trigger), message, hint))
}

/// The first trigger that contains an excluded string, and the first such string.
fn excluded_trigger(triggers: &[Box<str>], excludes: &[Box<str>]) -> Option<(usize, usize)> {
    let all = StringSearch::new(excludes.iter().map(|exclude| &**exclude));
    let trigger = triggers.iter().position(|trigger| all.is_in(trigger))?;
    Some((trigger, excludes.iter().position(|exclude| triggers[trigger].contains(&**exclude))?))
}

/// Every tag begins with one of the trigger tokens, none of which is excluded.
pub(super) fn check_tokens(
    triggers: &[TokenRef],
    tags: &[Tag],
    excludes: &[TokenRef],
    at_tags: &Place<'_>,
    at_excludes: &Place<'_>,
) -> Result<()> {
    let triggers: HashSet<&TokenRef> = triggers.iter().collect();
    for (index, tag) in tags.iter().enumerate() {
        let at_tag = at_tags.index(index);
        let place = at_tag.key("begin");
        match &tag.begin {
            Begin::Token(token) if triggers.contains(token) => {}
            Begin::Token(_) => {
                let message = "One tag does not match any trigger in a token triggered tags format";
                return Err(malformed(&place, message, "add its token to `trigger_tokens`"));
            }
            Begin::Text(_) => {
                let message = "Tags in token_triggered_tags must begin with a token format";
                let hint = "write {\"type\": \"token\", \"token\": ...}, or use `triggered_tags`";
                return Err(malformed(&place, message, hint));
            }
        }
    }
    match excludes.iter().position(|token| triggers.contains(token)) {
        Some(index) => {
            let message = "an excluded token is a trigger";
            Err(malformed(&at_excludes.index(index), message, "leave it out of `exclude_tokens`"))
        }
        None => Ok(()),
    }
}
