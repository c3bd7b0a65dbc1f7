//! The end of a rule, as far as it can be written out: the texts of a `suffix` or `stop`.
//!
//! A rule with the body `L` and the end `E` has the texts of `L E` that go on no other text of it. As one language they
//! do not say where the end begins, and a bound cannot be put on the part before it. Both can be said where `E` has few
//! *forms*, each a row of characters:
//!
//! * *How long is the end?* The texts whose end has `n` bytes are those of `L E_n`, where `E_n` are the ends of that many
//!   bytes. A text that can be cut in several ways is cut where its end begins first, so those that have a longer end are
//!   taken out ([`Terminator::by_length`]).
//! * *Which text may precede the end?* If the rule has the texts of `B E` for some `B`, then `B`. A text of
//!   `L` followed by an end must not have ended before. It must not have ended inside `L`, so it is none of
//!   `L E` with anything after it. Nor may an end be astride the two, where the last characters of one end
//!   are the first ones of another. If that happens before every end (`\n\n` after a text that ends with
//!   `\n`), the texts that begin an end are taken out, too. If it happens before none (`</think>`), nothing
//!   is. Where it happens before some (`[ab]b` after an `a`), the text that may precede the end depends on it,
//!   and there is no such `B` ([`Terminator::before`]).

use std::collections::BTreeMap;

use grammask_fsm::TextLimits;
use grammask_fsm::text::TextAutomaton;
use grammask_grammar_ir::{CharRange, ExprId, GrammarBuilder};

use super::literals::cases_of;
use crate::language::shortest;
use crate::regex::{self, LetterCase, PatternBudget, RegexOptions};

/// Most forms that are written out.
const MAX_FORMS: usize = 64;
/// Most characters of a form that is not a plain text.
const MAX_FORM_CHARS: u32 = 128;
/// Most characters of all forms that are compared with one another.
const MAX_COMPARED: usize = 1024;
/// Steps spent on the automaton of an end, some 10 ns each.
const MAX_STEPS: usize = 500_000;

/// Steps spent on the ends of all rules of a source.
pub(super) const MAX_ALL_STEPS: usize = 20 * MAX_STEPS;

/// The work that the ends of rules may still take.
pub(super) struct EndBudget<'a> {
    pub(super) patterns: &'a mut PatternBudget,
    pub(super) steps: &'a mut usize,
}

/// Each character of a form is one of a class; its ranges ascend.
type Form = Vec<Vec<CharRange>>;

/// The forms of an end.
#[derive(Clone, Debug)]
pub(super) struct Terminator(Vec<Form>);

impl Terminator {
    /// The one form of a text.
    pub(super) fn of_text(text: &str, case: LetterCase) -> Self {
        let class = |character: char| match case {
            LetterCase::Ignored => cases_of(character),
            LetterCase::Exact => vec![(character, character)],
        };
        Self(vec![text.chars().map(class).collect()])
    }

    /// The forms of a pattern that a rule can end with; `None` where there are too many to write out. A rule ends with
    /// the first text that it can end with, so that what only goes on such a text (the second `;` of `;+`) is none.
    pub(super) fn of_pattern(
        pattern: &str,
        options: &RegexOptions,
        budget: &mut EndBudget<'_>,
    ) -> Option<Self> {
        let mut builder = GrammarBuilder::new();
        let end = regex::compile_next(&mut builder, pattern, options, budget.patterns).ok()?;
        let end = shortest(&mut builder, end);
        let root = builder.add_rule("root", end).ok()?;
        let grammar = builder.finish(root).ok()?;
        let limits = TextLimits::default().max_steps(MAX_STEPS.min(*budget.steps));
        let body = grammar.rule(grammar.root()).body();
        let (automaton, steps) = TextAutomaton::from_expr_counted(&grammar, body, &limits);
        *budget.steps = budget.steps.saturating_sub(steps);
        automaton.ok()?.rows(MAX_FORMS, MAX_FORM_CHARS).map(Self)
    }

    /// The ends by how many bytes they have, long ones first. `None` where characters of several lengths make too many
    /// forms.
    pub(super) fn by_length(&self, builder: &mut GrammarBuilder) -> Option<Vec<(u32, ExprId)>> {
        let mut cases: BTreeMap<u32, Vec<Form>> = BTreeMap::new();
        let mut room = MAX_FORMS;
        for form in &self.0 {
            let mut written: Vec<(u32, Form)> = vec![(0, Vec::new())];
            for class in form {
                let parts = by_utf8_length(class);
                let longer = written.iter().flat_map(|(bytes, form)| {
                    parts.iter().map(move |(length, class)| {
                        (bytes + length, form.iter().chain([class]).cloned().collect())
                    })
                });
                written = longer.collect();
                if written.len() > room {
                    return None;
                }
            }
            room -= written.len();
            for (bytes, form) in written {
                cases.entry(bytes).or_default().push(form);
            }
        }
        let cases = cases.into_iter().rev().map(|(bytes, forms)| {
            let forms: Vec<ExprId> = forms.iter().map(|form| row(builder, form)).collect();
            (bytes, builder.choice(forms))
        });
        Some(cases.collect())
    }

    /// All ends.
    pub(super) fn any(&self, builder: &mut GrammarBuilder) -> ExprId {
        let forms: Vec<ExprId> = self.0.iter().map(|form| row(builder, form)).collect();
        builder.choice(forms)
    }

    /// The texts of `body` that may precede each of the ends; `None` where that depends on the end.
    pub(super) fn before(&self, builder: &mut GrammarBuilder, body: ExprId) -> Option<ExprId> {
        let characters: usize = self.0.iter().map(Vec::len).sum();
        if characters > MAX_COMPARED {
            return None;
        }
        // Then it is the only one: nothing goes on the empty text.
        if self.0.iter().any(Vec::is_empty) {
            return Some(shortest(builder, body));
        }
        let any = builder.any_char();
        let anything = builder.repeat(any, 0, None);
        let end = self.any(builder);
        let ended = builder.sequence([body, end, anything]);
        let mut operands = vec![body, builder.complement(ended)];
        for (first, one) in self.0.iter().enumerate() {
            for (second, other) in self.0.iter().enumerate() {
                // Whether the last characters of `one` can be the first ones of `other`, or those in it.
                for read in 1..other.len() {
                    let shared = one.len().min(read);
                    let last = &one[one.len() - shared..];
                    let place = &other[read - shared..read];
                    if !overlap(last, place) {
                        continue;
                    }
                    let is_certain = first == second && self.0.len() == 1 && covers(last, place);
                    if !is_certain {
                        return None;
                    }
                    let part = row(builder, &one[..one.len() - shared]);
                    let begun = builder.sequence([body, part]);
                    operands.push(builder.complement(begun));
                }
            }
        }
        Some(builder.intersection(operands))
    }

    /// Whether the end of a text is told by its last characters: no end is the last part of another one.
    pub(super) fn is_suffix_free(&self) -> bool {
        self.0.iter().all(|one| {
            let longer = self.0.iter().filter(|other| other.len() > one.len());
            longer.into_iter().all(|other| !overlap(one, &other[other.len() - one.len()..]))
        })
    }
}

/// One character after the other.
fn row(builder: &mut GrammarBuilder, form: &[Vec<CharRange>]) -> ExprId {
    let mut parts = Vec::new();
    let mut text = String::new();
    for class in form {
        match class[..] {
            [(low, high)] if low == high => text.push(low),
            _ => {
                parts.push(builder.literal(&std::mem::take(&mut text)));
                parts.push(builder.class(class.iter().copied()));
            }
        }
    }
    parts.push(builder.literal(&text));
    builder.sequence(parts)
}

/// A class, by how many bytes its characters have.
fn by_utf8_length(class: &[CharRange]) -> Vec<(u32, Vec<CharRange>)> {
    let lengths = [
        (1, '\0', '\u{7f}'),
        (2, '\u{80}', '\u{7ff}'),
        (3, '\u{800}', '\u{ffff}'),
        (4, '\u{10000}', char::MAX),
    ];
    let parts = lengths.into_iter().map(|(length, low, high)| (length, intersection(class, &[(low, high)])));
    parts.filter(|(_, part)| !part.is_empty()).collect()
}

/// The characters of two classes.
fn intersection(one: &[CharRange], other: &[CharRange]) -> Vec<CharRange> {
    let pairs = one.iter().flat_map(|&(low, high)| {
        other.iter().map(move |&(least, greatest)| (low.max(least), high.min(greatest)))
    });
    pairs.filter(|(low, high)| low <= high).collect()
}

/// Whether some text is of both forms.
fn overlap(one: &[Vec<CharRange>], other: &[Vec<CharRange>]) -> bool {
    one.iter().zip(other).all(|(one, other)| !intersection(one, other).is_empty())
}

/// Whether every text of the second form is of the first.
fn covers(one: &[Vec<CharRange>], other: &[Vec<CharRange>]) -> bool {
    let size = |class: &[CharRange]| -> u64 {
        class.iter().map(|&(low, high)| u64::from(u32::from(high)) - u64::from(u32::from(low)) + 1).sum()
    };
    one.iter().zip(other).all(|(one, other)| size(&intersection(one, other)) == size(other))
}
