//! From `regex-syntax`'s HIR to a grammar expression, with anchors made part of the language.
//!
//! # The problem
//!
//! A grammar has no anchors, so `^` and `$` must be turned into languages. At the two ends of a pattern that
//! is easy: leave them out. A pattern that is searched for gets "any text" on each side that has no anchor.
//! But they may occur anywhere: `^a|b$`, `(^|x)y`, `(a|$)(^|b)`, `(^a|b)*`.
//!
//! # The method
//!
//! A way through an expression reads some text and meets some anchors. It can only succeed where every `^`
//! met has nothing before it and every `$` has nothing after it. So every expression is split into four
//! *variants* by what its ways need: nothing; the text's start; the text's end; both. A variant is a plain
//! language, `None` where it is empty, and the expression's ways are the union of the four. Anchors that are
//! met after text was read, or the reverse, contradict themselves, and such ways are left out when parts are
//! put together. That only takes knowing whether a variant contains the empty text:
//!
//! - a character or literal is the variant "nothing"; `^` is the empty text as variant "start", `$` as "end";
//! - a choice is the union, variant by variant;
//! - in a concatenation of a way `x` and a way `y`: if `y` needs the start, `x` must be empty. If `x` needs
//!   the end, `y` must be empty. Then the needs add up;
//! - a repeat has the closed forms that [`AnchorCompiler::repeat`] derives; it stays a counted repeat.
//!
//! In the end, a whole match is the union of the four variants. A search puts any text before the variants
//! that do not need the start, and any text after those that do not need the end.
//!
//! An expression without anchors has one variant only and is translated part by part. A part may be used by
//! several variants of what is around it; the expressions counted as a tree are limited, since patterns like
//! `(a|$)(a|$)(a|$)...` grow quadratically.

use grammask_grammar_ir::{CaptureOption, Expr, ExprId, GrammarBuilder, RuleOptions};
use regex_syntax::hir::{self, Class, Hir, HirKind, Look};

use super::options::{Groups, Matching, RegexOptions};

/// Why there is no expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// A multi-line anchor.
    LineAnchor,
    /// More expressions than the limit allows.
    TooLarge,
    /// Something other than text; `regex-syntax` is asked for none of it.
    Unsupported,
    /// Look-around or a word boundary in a repeat that has no closed form.
    LookAround,
    /// Look-behind that may look past the parts before it, or at more than characters.
    LookBehind,
    /// Look-around and word boundaries that are written one inside the other.
    TooDeep,
    /// Word boundaries with and without Unicode.
    MixedBoundaries,
}

pub(super) fn compile(
    builder: &mut GrammarBuilder,
    hir: &Hir,
    options: &RegexOptions,
) -> Result<ExprId, Problem> {
    let (limit, groups) = (options.limits.expressions, options.groups);
    let has_anchors = !hir.properties().look_set().is_empty();
    let compiler = AnchorCompiler { builder, stack: Vec::new(), limit, groups, has_anchors };
    let (builder, variants) = hir::visit(hir, compiler)?;
    let mut compiler = AnchorCompiler { builder, stack: Vec::new(), limit, groups, has_anchors };
    Ok(compiler.close(variants, options.matching))
}

/// A language, as an expression.
#[derive(Clone, Copy, Debug)]
struct SizedLanguage {
    expr: ExprId,
    /// Its ways to read the empty text, if there are any; they hand out the texts of groups.
    empty: Option<ExprId>,
    /// Expressions in it, counted as a tree.
    size: usize,
}

/// The languages of an expression's ways, by what they need around them. `None` has no text in it.
#[derive(Clone, Copy, Debug, Default)]
struct Variants {
    free: Option<SizedLanguage>,
    start: Option<SizedLanguage>,
    end: Option<SizedLanguage>,
    both: Option<SizedLanguage>,
}

struct AnchorCompiler<'b> {
    builder: &'b mut GrammarBuilder,
    /// Finished operands of the nodes that are open.
    stack: Vec<Variants>,
    limit: usize,
    groups: Groups,
    has_anchors: bool,
}

impl<'b> hir::Visitor for AnchorCompiler<'b> {
    type Output = (&'b mut GrammarBuilder, Variants);
    type Err = Problem;

    fn finish(mut self) -> Result<Self::Output, Problem> {
        let variants = self.stack.pop().ok_or(Problem::Unsupported)?;
        Ok((self.builder, variants))
    }

    fn visit_post(&mut self, hir: &Hir) -> Result<(), Problem> {
        let variants = match hir.kind() {
            HirKind::Empty => Variants { free: Some(self.empty()), ..Variants::default() },
            HirKind::Literal(literal) => {
                std::str::from_utf8(&literal.0).map_err(|_| Problem::Unsupported)?;
                let expr = self.builder.bytes(&literal.0);
                Variants { free: Some(SizedLanguage { expr, empty: None, size: 1 }), ..Variants::default() }
            }
            HirKind::Class(class) => Variants { free: self.class(class)?, ..Variants::default() },
            // An anchor reads nothing; the variant says what it needs.
            HirKind::Look(Look::Start) => Variants { start: Some(self.empty()), ..Variants::default() },
            HirKind::Look(Look::End) => Variants { end: Some(self.empty()), ..Variants::default() },
            HirKind::Look(_) => return Err(Problem::LineAnchor),
            HirKind::Capture(group) => match &group.name {
                Some(name) if self.groups == Groups::Captured => {
                    let body = self.stack.pop().ok_or(Problem::Unsupported)?;
                    self.captured(name, &body)?
                }
                // The operand is the result, and is on the stack already.
                _ => return Ok(()),
            },
            HirKind::Repetition(repetition) => {
                let body = self.stack.pop().ok_or(Problem::Unsupported)?;
                self.repeat(&body, repetition.min, repetition.max)
            }
            HirKind::Concat(parts) => {
                let operands = self.operands(parts.len())?;
                self.concatenation(&operands)
            }
            HirKind::Alternation(parts) => {
                let operands = self.operands(parts.len())?;
                self.alternation(&operands)
            }
        };
        // Variants multiply: a concatenation has up to four for each combination. The limit stops that before
        // it takes memory.
        let size =
            variants.all().iter().flatten().map(|language| language.size).fold(0, usize::saturating_add);
        if size > self.limit {
            return Err(Problem::TooLarge);
        }
        self.stack.push(variants);
        Ok(())
    }
}

impl Variants {
    fn all(&self) -> [Option<SizedLanguage>; 4] {
        [self.free, self.start, self.end, self.both]
    }

    fn is_free(&self) -> bool {
        matches!(self.all(), [_, None, None, None])
    }
}

fn nullable(language: Option<SizedLanguage>) -> bool {
    language.is_some_and(|language| language.empty.is_some())
}

impl AnchorCompiler<'_> {
    fn operands(&mut self, count: usize) -> Result<Vec<Variants>, Problem> {
        let start = self.stack.len().checked_sub(count).ok_or(Problem::Unsupported)?;
        Ok(self.stack.split_off(start))
    }

    /// Each variant as a rule whose text is handed out.
    fn captured(&mut self, name: &str, body: &Variants) -> Result<Variants, Problem> {
        let mut rule = |language: Option<SizedLanguage>| {
            let Some(language) = language else { return Ok(None) };
            let expr = self.captured_rule(name, language.expr)?;
            // The empty ways alone are needed beside anchors.
            let empty = match language.empty {
                Some(empty) if self.has_anchors => Some(self.captured_rule(name, empty)?),
                empty => empty,
            };
            Ok(Some(SizedLanguage { expr, empty, ..language }))
        };
        Ok(Variants {
            free: rule(body.free)?,
            start: rule(body.start)?,
            end: rule(body.end)?,
            both: rule(body.both)?,
        })
    }

    fn captured_rule(&mut self, name: &str, body: ExprId) -> Result<ExprId, Problem> {
        let rule = self.builder.declare_fresh("group").map_err(|_| Problem::TooLarge)?;
        self.builder.define(rule, body).map_err(|_| Problem::TooLarge)?;
        let capture = Some(CaptureOption::new(name));
        self.builder.set_options(rule, RuleOptions { capture, ..RuleOptions::default() });
        Ok(self.builder.rule(rule))
    }

    fn empty(&mut self) -> SizedLanguage {
        let expr = self.builder.empty();
        SizedLanguage { expr, empty: Some(expr), size: 1 }
    }

    /// Whether an expression is the empty text and hands out nothing.
    fn is_plain(&self, expr: ExprId) -> bool {
        matches!(self.builder.expr(expr), Expr::Empty)
    }

    /// One of some ways to read the empty text. Those that hand out nothing are one.
    fn either(&mut self, ways: impl Iterator<Item = ExprId>) -> Option<ExprId> {
        let (plain, others): (Vec<ExprId>, Vec<ExprId>) = ways.partition(|&way| self.is_plain(way));
        let ways: Vec<ExprId> = plain.into_iter().take(1).chain(others).collect();
        match ways.as_slice() {
            [] => None,
            [only] => Some(*only),
            _ => Some(self.builder.choice(ways)),
        }
    }

    /// The empty ways of either side.
    fn empty_ways(&mut self, languages: &[Option<SizedLanguage>]) -> Option<SizedLanguage> {
        let expr = self.either(languages.iter().flatten().filter_map(|language| language.empty))?;
        Some(SizedLanguage { expr, empty: Some(expr), size: 1 })
    }

    fn class(&mut self, class: &Class) -> Result<Option<SizedLanguage>, Problem> {
        let ranges: Vec<(char, char)> = match class {
            Class::Unicode(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
            Class::Bytes(class) if class.is_ascii() => {
                class.iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect()
            }
            Class::Bytes(_) => return Err(Problem::Unsupported),
        };
        if ranges.is_empty() {
            return Ok(None);
        }
        Ok(Some(SizedLanguage { expr: self.builder.class(ranges), empty: None, size: 1 }))
    }

    /// The texts of either side; absent sides add nothing.
    fn union(&mut self, languages: &[Option<SizedLanguage>]) -> Option<SizedLanguage> {
        let present: Vec<SizedLanguage> = languages.iter().flatten().copied().collect();
        match present.as_slice() {
            [] => None,
            [only] => Some(*only),
            _ => Some(SizedLanguage {
                expr: self.builder.choice(present.iter().map(|language| language.expr)),
                empty: self.either(present.iter().filter_map(|language| language.empty)),
                size: sum(&present),
            }),
        }
    }

    /// One language after the other; none at all if one of them has no text.
    fn sequence(&mut self, languages: &[Option<SizedLanguage>]) -> Option<SizedLanguage> {
        let mut parts: Vec<SizedLanguage> = languages.iter().copied().collect::<Option<_>>()?;
        if parts.iter().any(|part| !self.is_plain(part.expr)) {
            parts.retain(|part| !self.is_plain(part.expr));
        } else {
            parts.truncate(1);
        }
        match parts.as_slice() {
            [only] => Some(*only),
            _ => Some(SizedLanguage {
                expr: self.builder.sequence(parts.iter().map(|language| language.expr)),
                empty: parts
                    .iter()
                    .map(|language| language.empty)
                    .collect::<Option<Vec<_>>>()
                    .map(|empty| self.builder.sequence(empty)),
                size: sum(&parts),
            }),
        }
    }

    fn power(&mut self, body: Option<SizedLanguage>, min: u32, max: Option<u32>) -> Option<SizedLanguage> {
        match body {
            _ if max == Some(0) => Some(self.empty()),
            None if min > 0 => None,
            None => Some(self.empty()),
            Some(body) => Some(SizedLanguage {
                expr: self.builder.repeat(body.expr, min, max),
                empty: match body.empty {
                    Some(empty) if self.is_plain(empty) => Some(empty),
                    Some(empty) => Some(self.builder.repeat(empty, min, max)),
                    None => (min == 0).then(|| self.builder.empty()),
                },
                size: body.size.saturating_add(1),
            }),
        }
    }

    fn alternation(&mut self, parts: &[Variants]) -> Variants {
        let mut union = |select: fn(&Variants) -> Option<SizedLanguage>| {
            let languages: Vec<_> = parts.iter().map(select).collect();
            self.union(&languages)
        };
        Variants {
            free: union(|part| part.free),
            start: union(|part| part.start),
            end: union(|part| part.end),
            both: union(|part| part.both),
        }
    }

    /// Runs of parts without anchors are one sequence, so that a long pattern is not copied part by part.
    fn concatenation(&mut self, parts: &[Variants]) -> Variants {
        let mut whole: Option<Variants> = None;
        let mut rest = parts;
        while !rest.is_empty() {
            let run = rest.iter().take_while(|part| part.is_free()).count();
            let next = if run > 0 {
                let languages: Vec<_> = rest[..run].iter().map(|part| part.free).collect();
                Variants { free: self.sequence(&languages), ..Variants::default() }
            } else {
                rest[0]
            };
            rest = &rest[run.max(1)..];
            whole = Some(match whole {
                None => next,
                Some(before) => self.pair(&before, &next),
            });
        }
        whole.unwrap_or_default()
    }

    /// `x` and then `y`: every pair of variants whose needs can be met.
    fn pair(&mut self, x: &Variants, y: &Variants) -> Variants {
        let free = self.sequence(&[x.free, y.free]);
        let (empty_before, empty_after) =
            (self.empty_ways(&[x.free, x.start]), self.empty_ways(&[y.free, y.end]));

        let start_before = self.sequence(&[x.start, y.free]);
        let start_after = self.sequence(&[empty_before, y.start]);
        let start = self.union(&[start_before, start_after]);

        let end_after = self.sequence(&[x.free, y.end]);
        let end_before = self.sequence(&[x.end, empty_after]);
        let end = self.union(&[end_after, end_before]);

        let around = self.sequence(&[x.start, y.end]);
        let before = self.sequence(&[x.both, empty_after]);
        let after = self.sequence(&[empty_before, y.both]);
        // `x` needs the end and `y` the start: both are empty, and so is the whole text.
        let crossed = [self.empty_ways(&[x.end, x.both]), self.empty_ways(&[y.start, y.both])];
        let empty = self.sequence(&crossed);
        let both = self.union(&[around, before, after, empty]);
        Variants { free, start, end, both }
    }

    /// The ways through `min` to `max` rounds of a body with the variants free `f`, start `s`, end `e` and
    /// both `b`.
    ///
    /// - No round needs anything: `f{min,max}`.
    /// - Some need the start, none the end. Let `i` be the last such round. All rounds before it are empty
    ///   and those after it are free: `s f{min-i,max-i}`. Rounds before `i` exist only if `f` or `s` contain
    ///   the empty text. Then `i` is any number up to `max`, and the union over `i` is `s f{0,max-1}`.
    ///   Otherwise `i` is 1 and this is `s f{min-1,max-1}`.
    /// - Some need the end, none the start: the mirror image.
    /// - Both are needed. Let `i` be the last round that needs the start and `j` the first that needs the end.
    ///   If `i < j`, rounds before `i` and after `j` are empty, those between are free: `s f{min-2,max-2} e`,
    ///   or `s f{0,max-2} e` if there can be empty rounds outside. If `i = j`, the only round that reads
    ///   anything is a `b`; `min - 1` empty rounds must be possible. If `i > j`, every round is empty.
    fn repeat(&mut self, body: &Variants, min: u32, max: Option<u32>) -> Variants {
        let &Variants { free: f, start: s, end: e, both: b } = body;
        let free = self.power(f, min, max);
        if body.is_free() || max == Some(0) {
            return Variants { free, ..Variants::default() };
        }
        let empty_before = nullable(f) || nullable(s);
        let empty_after = nullable(f) || nullable(e);
        let less = |rounds: u32| max.map(|max| max.saturating_sub(rounds));

        let between = self.power(f, if empty_before { 0 } else { min.saturating_sub(1) }, less(1));
        let start = self.sequence(&[s, between]);
        let between = self.power(f, if empty_after { 0 } else { min.saturating_sub(1) }, less(1));
        let end = self.sequence(&[between, e]);

        let two_rounds = max.is_none_or(|max| max >= 2);
        let separate = if two_rounds {
            let padded = empty_before || empty_after;
            let between = self.power(f, if padded { 0 } else { min.saturating_sub(2) }, less(2));
            self.sequence(&[s, between, e])
        } else {
            None
        };
        let same = b.filter(|_| min <= 1 || empty_before || empty_after);
        let crossed = two_rounds && (nullable(e) || nullable(b)) && (nullable(s) || nullable(b));
        let crossed = crossed.then(|| self.empty());
        let both = self.union(&[separate, same, crossed]);
        Variants { free, start, end, both }
    }

    /// The language of the whole pattern.
    fn close(&mut self, variants: Variants, matching: Matching) -> ExprId {
        let language = match matching {
            Matching::Whole => self.union(&variants.all()),
            Matching::Search => {
                let Variants { free, start, end, both } = variants;
                let is_any = nullable(free) || nullable(start) || nullable(end);
                if is_any && self.groups == Groups::Plain {
                    // Every text has an empty part, and one at its start and at its end.
                    Some(self.any_text())
                } else {
                    let any = [(); 4].map(|()| Some(self.any_text()));
                    let free = self.sequence(&[any[0], free, any[1]]);
                    let start = self.sequence(&[start, any[2]]);
                    let end = self.sequence(&[any[3], end]);
                    self.union(&[free, start, end, both])
                }
            }
        };
        match language {
            Some(language) => language.expr,
            None => self.builder.never(),
        }
    }

    fn any_text(&mut self) -> SizedLanguage {
        let any = self.builder.any_char();
        let empty = Some(self.builder.empty());
        SizedLanguage { expr: self.builder.repeat(any, 0, None), empty, size: 2 }
    }
}

fn sum(languages: &[SizedLanguage]) -> usize {
    languages.iter().fold(1, |total: usize, language| total.saturating_add(language.size))
}
