//! Patterns with look-ahead, as intersections and complements.
//!
//! # The problem
//!
//! `(?=a)` and `(?!a)` say something about all of the text after them, not about a part of it. No way of
//! translating a pattern part by part says that.
//!
//! # The method
//!
//! A pattern is read from its end. Every part is given the language of the texts that may follow it, its
//! *rest*, and returns the language of all texts from the part on. A character or a literal is put before the
//! rest. An alternation is the union of its branches before the same rest, and the parts of a concatenation
//! are taken from the last to the first. `(?=a)` is then an intersection: the rest, and the texts that begin
//! with what `a` matches. `(?!a)` intersects with the complement of these. `$` is the rest without all texts
//! that are not empty. `^` needs to know whether something was read before: at the start of the pattern
//! nothing was, after a part that cannot be empty something was, and elsewhere it is refused.
//!
//! Repeats of parts without look-ahead are repeats. With it, a bounded repeat is written out. An unbounded
//! one has a closed form if each round reads one character and the text ends after it, as in `((?!a).)*$`. It
//! has the texts of such characters in which no place begins a match of `a`. Other ones are refused, as is
//! look-behind.

use grammask_grammar_ir::{ExprId, GrammarBuilder};
use regex_syntax::hir::{self, Class, Hir, HirKind, Look};

use super::anchors::{self, Problem};
use super::options::{Matching, RegexLimits, RegexOptions};

/// Names of the groups that stand for look-ahead begin so. No group of a translated pattern has a name.
pub(super) const AHEAD: &str = "ahead_";
/// As [`AHEAD`], for what must not follow.
pub(super) const NOT_AHEAD: &str = "not_ahead_";

/// Rounds of a repeat that may be written out.
const MAX_ROUNDS: u32 = 64;

/// The language of a pattern that holds look-ahead.
pub(super) fn compile(
    builder: &mut GrammarBuilder,
    hir: &Hir,
    options: &RegexOptions,
) -> Result<ExprId, Problem> {
    let mut compiler =
        LookAheadCompiler { builder, left: options.limits.expressions, limits: options.limits };
    let language = match options.matching {
        Matching::Whole => compiler.before(hir, Language::End, Position::Start)?,
        Matching::Search => {
            let at_start = compiler.before(hir, Language::Any, Position::Start)?;
            let later = compiler.before(hir, Language::Any, Position::Later)?;
            let skipped = compiler.character();
            let skipped = compiler.builder.repeat(skipped, 1, None);
            let later = compiler.put_before(skipped, later);
            compiler.union([at_start, later])
        }
    };
    Ok(compiler.expr(language))
}

/// A set of texts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Nothing,
    /// The empty text.
    End,
    /// Every text.
    Any,
    Other(ExprId),
}

/// The facts about a place in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Start,
    /// Something was read before it.
    Later,
    Anywhere,
}

/// The demand of a group of the pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Polarity {
    Follows,
    DoesNotFollow,
}

struct LookAheadCompiler<'b> {
    builder: &'b mut GrammarBuilder,
    /// Parts that may still be looked at.
    left: usize,
    limits: RegexLimits,
}

impl LookAheadCompiler<'_> {
    /// The texts from a part on. Nesting is bounded by the parser.
    fn before(&mut self, hir: &Hir, rest: Language, at: Position) -> Result<Language, Problem> {
        self.left = self.left.checked_sub(1).ok_or(Problem::TooLarge)?;
        // Nothing may follow, so nothing can begin here.
        if rest == Language::Nothing {
            return Ok(rest);
        }
        if is_plain(hir) {
            let expr = self.plain(hir)?;
            return Ok(self.put_before(expr, rest));
        }
        match hir.kind() {
            HirKind::Look(Look::Start) => match at {
                Position::Start => Ok(rest),
                Position::Later => Ok(Language::Nothing),
                // Whether something was read before differs from match to match, and one language cannot say
                // both.
                Position::Anywhere => Err(Problem::LookAround),
            },
            HirKind::Look(Look::End) => Ok(self.both(rest, Language::End)),
            HirKind::Look(_) => Err(Problem::LineAnchor),
            HirKind::Capture(group) => match sense(group) {
                Some(sense) => {
                    // The group reads nothing itself: any text may follow what it matches, and the rest
                    // begins at the same place.
                    let matches = self.before(&group.sub, Language::Any, at)?;
                    let good = if sense == Polarity::Follows { matches } else { self.not(matches) };
                    Ok(self.both(good, rest))
                }
                None => self.before(&group.sub, rest, at),
            },
            HirKind::Concat(parts) => {
                // Forwards for the places, because a place depends on the parts before. Then backwards for
                // the languages, because a rest depends on the parts after.
                let mut places = Vec::with_capacity(parts.len());
                let mut place = at;
                for part in parts {
                    places.push(place);
                    place = after(part, place);
                }
                let mut rest = rest;
                for (part, place) in parts.iter().zip(places).rev() {
                    rest = self.before(part, rest, place)?;
                }
                Ok(rest)
            }
            HirKind::Alternation(branches) => {
                let mut all = Language::Nothing;
                for branch in branches {
                    let branch = self.before(branch, rest, at)?;
                    all = self.union([all, branch]);
                }
                Ok(all)
            }
            HirKind::Repetition(repetition) => self.rounds(repetition, rest, at),
            _ => Err(Problem::Unsupported),
        }
    }

    /// The texts that break what look-ahead asks for.
    fn ahead(&mut self, inner: &Hir, sense: Polarity, at: Position) -> Result<Language, Problem> {
        let matches = self.before(inner, Language::Any, at)?;
        Ok(match sense {
            Polarity::Follows => self.not(matches),
            Polarity::DoesNotFollow => matches,
        })
    }

    fn rounds(
        &mut self,
        repetition: &hir::Repetition,
        rest: Language,
        at: Position,
    ) -> Result<Language, Problem> {
        let optional = repetition.max.map(|max| max.saturating_sub(repetition.min));
        if repetition.min.max(optional.unwrap_or(0)) > MAX_ROUNDS {
            return Err(Problem::TooLarge);
        }
        // Only the first round knows where it is.
        let place = |round: u32| if round == 0 { at } else { Position::Anywhere };
        let mut language = match optional {
            None => self.guarded_characters(&repetition.sub, rest)?,
            Some(optional) => {
                let mut language = rest;
                for round in (0..optional).rev() {
                    let one_more = self.before(&repetition.sub, language, place(repetition.min + round))?;
                    language = self.union([rest, one_more]);
                }
                language
            }
        };
        for round in (0..repetition.min).rev() {
            language = self.before(&repetition.sub, language, place(round))?;
        }
        Ok(language)
    }

    /// Any number of rounds that look ahead and read one character, up to the end of the text.
    fn guarded_characters(&mut self, round: &Hir, rest: Language) -> Result<Language, Problem> {
        let mut guards = Vec::new();
        let character = guarded(round, &mut guards).ok_or(Problem::LookAround)?;
        if rest != Language::End {
            return Err(Problem::LookAround);
        }
        let character = self.plain(character)?;
        let run = self.builder.repeat(character, 0, None);
        let mut bad = Language::Nothing;
        for (inner, sense) in guards {
            let guard = self.ahead(inner, sense, Position::Anywhere)?;
            bad = self.union([bad, guard]);
        }
        // A guard comes before a character, not at the end.
        let any = self.character();
        let not_empty = self.builder.repeat(any, 1, None);
        let bad = self.both(bad, Language::Other(not_empty));
        let bad = self.put_before(run, bad);
        let good = self.not(bad);
        Ok(self.both(Language::Other(run), good))
    }

    /// A part without anchors and look-ahead.
    fn plain(&mut self, hir: &Hir) -> Result<ExprId, Problem> {
        let options = RegexOptions { limits: self.limits, ..RegexOptions::default() };
        anchors::compile(self.builder, hir, &options)
    }

    fn character(&mut self) -> ExprId {
        self.builder.any_char()
    }

    fn expr(&mut self, language: Language) -> ExprId {
        match language {
            Language::Nothing => self.builder.never(),
            Language::End => self.builder.empty(),
            Language::Any => {
                let any = self.character();
                self.builder.repeat(any, 0, None)
            }
            Language::Other(expr) => expr,
        }
    }

    fn put_before(&mut self, part: ExprId, rest: Language) -> Language {
        match rest {
            Language::Nothing => Language::Nothing,
            rest => {
                let rest = self.expr(rest);
                Language::Other(self.builder.sequence([part, rest]))
            }
        }
    }

    fn union(&mut self, languages: [Language; 2]) -> Language {
        match languages {
            [Language::Any, _] | [_, Language::Any] => Language::Any,
            [Language::Nothing, other] | [other, Language::Nothing] => other,
            [left, right] if left == right => left,
            [left, right] => {
                let (left, right) = (self.expr(left), self.expr(right));
                Language::Other(self.builder.choice([left, right]))
            }
        }
    }

    fn both(&mut self, left: Language, right: Language) -> Language {
        match (left, right) {
            (Language::Nothing, _) | (_, Language::Nothing) => Language::Nothing,
            (Language::Any, other) | (other, Language::Any) => other,
            (left, right) if left == right => left,
            (left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                Language::Other(self.builder.intersection([left, right]))
            }
        }
    }

    fn not(&mut self, language: Language) -> Language {
        match language {
            Language::Nothing => Language::Any,
            Language::Any => Language::Nothing,
            other => {
                let other = self.expr(other);
                Language::Other(self.builder.complement(other))
            }
        }
    }
}

fn sense(group: &hir::Capture) -> Option<Polarity> {
    let name = group.name.as_deref()?;
    if name.starts_with(AHEAD) {
        Some(Polarity::Follows)
    } else if name.starts_with(NOT_AHEAD) {
        Some(Polarity::DoesNotFollow)
    } else {
        None
    }
}

/// Whether a part has neither anchors nor look-ahead. `regex-syntax` knows for each part whether it has
/// anchors.
fn is_plain(hir: &Hir) -> bool {
    hir.properties().look_set().is_empty() && !holds_look_ahead(hir)
}

/// Nesting is bounded by the parser.
fn holds_look_ahead(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(group) => sense(group).is_some() || holds_look_ahead(&group.sub),
        HirKind::Repetition(repetition) => holds_look_ahead(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(holds_look_ahead),
        _ => false,
    }
}

/// The facts after a part.
fn after(part: &Hir, at: Position) -> Position {
    match consumes(part) {
        (0, Some(0)) => at,
        (1.., _) => Position::Later,
        _ if at == Position::Later => at,
        _ => Position::Anywhere,
    }
}

/// Least (0 or 1) and greatest (0 or unknown) number of characters that a part reads: look-ahead reads none.
fn consumes(hir: &Hir) -> (u32, Option<u32>) {
    let unknown = |least| (least, None);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => (0, Some(0)),
        HirKind::Literal(_) | HirKind::Class(_) => unknown(1),
        HirKind::Capture(group) if sense(group).is_some() => (0, Some(0)),
        HirKind::Capture(group) => consumes(&group.sub),
        HirKind::Repetition(repetition) => match consumes(&repetition.sub) {
            (0, Some(0)) => (0, Some(0)),
            (least, _) => unknown(least.min(repetition.min)),
        },
        HirKind::Concat(parts) => {
            let parts = parts.iter().map(consumes);
            let nothing = (0, Some(0));
            parts.fold(nothing, |sum, part| match (sum, part) {
                (sum, (0, Some(0))) => sum,
                ((least, _), (other, _)) => unknown(least.max(other)),
            })
        }
        HirKind::Alternation(branches) => {
            let least = branches.iter().map(|branch| consumes(branch).0).min().unwrap_or(0);
            if branches.iter().all(|branch| consumes(branch) == (0, Some(0))) {
                (0, Some(0))
            } else {
                unknown(least)
            }
        }
    }
}

/// The one character that a round reads, and the look-ahead before it.
fn guarded<'h>(round: &'h Hir, guards: &mut Vec<(&'h Hir, Polarity)>) -> Option<&'h Hir> {
    match round.kind() {
        HirKind::Class(Class::Unicode(_)) => Some(round),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            (text.chars().count() == 1).then_some(round)
        }
        HirKind::Capture(group) if sense(group).is_none() => guarded(&group.sub, guards),
        HirKind::Concat(parts) => {
            let (last, before) = parts.split_last()?;
            for part in before {
                let HirKind::Capture(group) = part.kind() else { return None };
                guards.push((&group.sub, sense(group)?));
            }
            guarded(last, guards)
        }
        _ => None,
    }
}
