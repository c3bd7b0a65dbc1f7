//! Properties of every tag dispatch of a finished grammar: its patterns can be completed, and it can end.
//!
//! A trigger that holds another one is never completed: reading it, the other one is completed first and its
//! structure begins. The same goes for stop strings and, at its very end too, for excluded strings. All
//! occurrences of all patterns in one another are found with one Aho-Corasick automaton. It runs over the
//! patterns spelled as bytes, in which a token is a byte that UTF-8 never uses, followed by the token's
//! number.

use std::collections::HashMap;

use crate::dispatch::{AfterDispatch, Dispatch, DispatchEnd, Pattern, PatternPart};
use crate::error::GrammarError;
use crate::error::GrammarErrorKind;
use crate::expr::Expr;
use crate::grammar::{Grammar, Rule};
use crate::text_search::TextSearch;
use crate::token::TokenRef;

/// Checks all tag dispatches that rules mention.
pub(crate) fn check(grammar: &Grammar) -> Result<(), GrammarError> {
    if grammar.pools.dispatches.is_empty() {
        return Ok(());
    }
    let mut is_met = vec![false; grammar.expr_count()];
    let mut stack = Vec::new();
    for rule_id in grammar.rule_ids() {
        let rule = grammar.rule(rule_id);
        stack.extend(rule.lookahead());
        stack.push(rule.body());
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut is_met[id.index()], true) {
                continue;
            }
            if let Expr::TagDispatch(dispatch) = grammar.expr(id) {
                check_one(rule, &dispatch).map_err(|kind| GrammarError::new(kind, rule.span()))?;
            }
            stack.extend_from_slice(grammar.operands(id));
        }
    }
    Ok(())
}

/// The effect of a pattern that is completed.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Trigger,
    Stop,
    Exclude,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Stop => "stop string",
            Self::Exclude => "excluded string",
        }
    }
}

fn check_one(rule: &Rule, dispatch: &Dispatch<'_>) -> Result<(), GrammarErrorKind> {
    let name = || rule.name().to_owned();
    let never_ends = match (dispatch.end, dispatch.after) {
        (DispatchEnd::Anywhere, _) => false,
        (DispatchEnd::AtStop, AfterDispatch::Loop) => dispatch.stops.is_empty(),
        (DispatchEnd::AtStop, AfterDispatch::End) => {
            dispatch.stops.is_empty() && dispatch.triggers.is_empty()
        }
        (DispatchEnd::AfterDispatch, AfterDispatch::End) => dispatch.triggers.is_empty(),
        (DispatchEnd::AfterDispatch, AfterDispatch::Loop) => true,
    };
    if never_ends {
        return Err(GrammarErrorKind::EndlessDispatch { name: name() });
    }
    let roles = [
        (Role::Trigger, dispatch.triggers),
        (Role::Stop, dispatch.stops),
        (Role::Exclude, dispatch.excludes),
    ];
    let patterns: Vec<(Role, &Pattern)> =
        roles.iter().flat_map(|(role, patterns)| patterns.iter().map(|pattern| (*role, pattern))).collect();
    if let Some((role, _)) = patterns.iter().find(|(_, pattern)| pattern.is_empty()) {
        return Err(GrammarErrorKind::EmptyPattern { name: name(), what: role.word() });
    }
    // One pattern holds no other, and an excluded string need not be possible.
    if patterns.len() == 1 || dispatch.triggers.is_empty() && dispatch.stops.is_empty() {
        return Ok(());
    }
    let mut speller = Speller::default();
    let spelled: Vec<Vec<u8>> = patterns.iter().map(|(_, pattern)| speller.spell(pattern)).collect();
    let mut sorted: Vec<usize> = (0..patterns.len()).collect();
    sorted.sort_by_key(|&index| (&spelled[index], patterns[index].0 != Role::Exclude));
    // Each text once, the excluded ones first: many equal triggers would all be found in one another.
    let mut distinct = sorted.clone();
    distinct.dedup_by(|one, other| spelled[*one] == spelled[*other]);
    let excluded: Vec<usize> =
        distinct.iter().copied().filter(|&index| patterns[index].0 == Role::Exclude).collect();
    let search = |indices: &[usize]| {
        let texts: Vec<&[u8]> = indices.iter().map(|&index| &*spelled[index]).collect();
        let limit = GrammarErrorKind::TooLarge { what: "bytes of tags", limit: u32::MAX as usize };
        TextSearch::new(&texts).ok_or(limit)
    };
    let (any, any_excluded) = (search(&distinct)?, search(&excluded)?);
    let mut unreachable: Option<(usize, usize)> = None;
    // In sorted order, because texts with equal beginnings are looked up in the same parts of the tables. The
    // error names the first pattern in the order of the source.
    for index in sorted {
        // An excluded string need not be possible.
        if patterns[index].0 == Role::Exclude || unreachable.is_some_and(|(first, _)| first < index) {
            continue;
        }
        // Several patterns may be completed at the very end. Only excluded ones matter there.
        let text = &spelled[index];
        let before_the_end = any.first_in(&text[..text.len() - 1]).map(|found| distinct[found]);
        let by = before_the_end.or_else(|| any_excluded.first_in(text).map(|found| excluded[found]));
        unreachable = by.map(|by| (index, by)).or(unreachable);
    }
    let Some((index, by)) = unreachable else { return Ok(()) };
    let ((role, pattern), (by_role, by)) = (patterns[index], patterns[by]);
    Err(GrammarErrorKind::UnreachablePattern {
        name: name(),
        what: role.word(),
        pattern: show(pattern),
        by_what: by_role.word(),
        by: show(by),
    })
}

/// Spells patterns as bytes: texts unchanged, tokens in a form that no text contains.
#[derive(Default)]
struct Speller<'g> {
    numbers: HashMap<&'g TokenRef, u32>,
}

impl<'g> Speller<'g> {
    fn spell(&mut self, pattern: &'g Pattern) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in pattern.parts() {
            match part {
                PatternPart::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                PatternPart::Token(token) => {
                    let next = self.numbers.len() as u32;
                    let number = *self.numbers.entry(token).or_insert(next);
                    bytes.push(0xFF);
                    // Two bits a byte, in bytes that UTF-8 does not use either.
                    bytes.extend((0..16).map(|place| 0xF8 | (number >> (2 * place) & 3) as u8));
                }
            }
        }
        bytes
    }
}

/// A pattern for a message.
fn show(pattern: &Pattern) -> String {
    let part = |part: &PatternPart| match part {
        PatternPart::Text(text) => format!("\"{}\"", text.escape_debug()),
        PatternPart::Token(token) => format!("Token({token})"),
    };
    pattern.parts().iter().map(part).collect::<Vec<_>>().join(" ")
}
