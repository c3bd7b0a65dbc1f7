//! Patterns with look-around or word boundaries, as intersections and complements.
//!
//! # The problem
//!
//! `(?=a)` and `(?!a)` say something about all of the text after them, not about a part of it, and `\b` compares the
//! characters on both sides. No way of translating a pattern part by part says that.
//!
//! # The method
//!
//! A pattern is read from its end. Every part is given the texts that may follow it, its *rest*, and returns the texts from
//! the part on. A rest is three languages, one for each fact about the text before it. Nothing was read, or the last
//! character is one of a word, or it is another.
//!
//! - The parts of a concatenation are taken from the last to the first, and an alternation is the union of its branches.
//! - `^` leaves the language of the start, and `$` that of the empty text. `\b` keeps those texts that begin with a character
//!   of the other kind; at the start and at the end of the text there is none of a word.
//! - `(?=a)` is an intersection: the rest, and the texts that begin with what `a` matches. `(?!a)` intersects with the
//!   complement of these.
//! - `(?<=a)` and `(?<!a)` are intersections with the parts before them, which end as demanded. If these parts may be
//!   shorter than a match of `a`, that is right at the start alone. After other texts the rest is *unknown*, and the pattern
//!   is refused unless such a rest is of no use in the end.
//! - A part without assertions is put before the rest. Where that depends on the last character, the part is split by its
//!   last character. If it can be empty, the fact before it is the fact after it.
//!
//! The result stays small. Where all texts of a language begin with characters of one kind, `\b` needs no intersection.
//! Alternatives are written before one copy of the rest that they share. A language that is used again becomes an automaton.
//!
//! Repeats of parts without assertions are repeats, and so are those of [local](super::look_around) ones. Of others, a bounded
//! repeat is written out. An unbounded one has a closed form if each round reads one character and the text ends after it, as
//! in `((?!a).)*$`. It has the texts of such characters in which no place begins a match of `a`. Other ones are refused.

use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_grammar_ir::{ExprId, GrammarBuilder};
use regex_syntax::hir::{self, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};

use super::anchors::Problem;
use super::look_around::{PatternPart, Polarity, Side, Stretch, least_of, stretches};
use super::options::{Matching, RegexLimits, RegexOptions};

/// Rounds of a repeat that may be written out.
const MAX_ROUNDS: u32 = 64;

/// Languages that may be written one inside the other: those who walk over patterns recurse.
const MAX_DEPTH: u32 = 2_048;

/// The most languages in one that is written out where it occurs first, and where it occurs again.
const LARGEST_ONCE: u32 = 64;
const LARGEST_AGAIN: u32 = 8;

/// The language of a pattern that holds look-around or word boundaries.
pub(super) fn compile(
    builder: &mut GrammarBuilder,
    hir: &Hir,
    looks_behind: bool,
    options: &RegexOptions,
) -> Result<ExprId, Problem> {
    let word = word_class(hir)?;
    let mut compiler = AssertionCompiler::new(builder, word, options.limits);
    let language = match options.matching {
        Matching::Whole => compiler.before(&PatternPart::new(hir), Rest::of(Language::End))?.at_start,
        // Look-behind looks at the text that was skipped, too, in each alternative.
        Matching::Search if looks_behind => {
            let any_char = Class::Unicode(ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)]));
            let sub = Box::new(Hir::class(any_char));
            let skipped = Hir::repetition(hir::Repetition { min: 0, max: None, greedy: true, sub });
            let alternatives = match hir.kind() {
                HirKind::Alternation(branches) => branches.as_slice(),
                _ => std::slice::from_ref(hir),
            };
            let mut languages = Vec::with_capacity(alternatives.len());
            for alternative in alternatives {
                let hir = Hir::concat(vec![skipped.clone(), alternative.clone()]);
                languages.push(compiler.before(&PatternPart::new(&hir), Rest::of(Language::Any))?.at_start);
            }
            compiler.union(&languages)
        }
        Matching::Search => {
            let rest = compiler.before(&PatternPart::new(hir), Rest::of(Language::Any))?;
            let any = compiler.builder.any_char();
            let some = compiler.builder.repeat(any, 1, None);
            let skipped = Part { expr: some, nullable: false, first: None, last: None };
            let later = compiler.read(skipped, rest).at_start;
            compiler.union(&[rest.at_start, later])
        }
    };
    if language == Language::Unknown { Err(Problem::LookBehind) } else { Ok(compiler.expr(language)) }
}

/// The characters of words: those of ASCII, or with Unicode's in the dialect that has them.
fn word_class(hir: &Hir) -> Result<ClassUnicode, Problem> {
    let looks = hir.properties().look_set();
    let ascii = looks.contains_word_ascii();
    if looks.contains_word_unicode() {
        // Two kinds of words would take more facts.
        let parsed = regex_syntax::parse(r"\w").map_err(|_| Problem::Unsupported)?;
        return match parsed.into_kind() {
            HirKind::Class(Class::Unicode(class)) if !ascii => Ok(class),
            _ => Err(Problem::MixedBoundaries),
        };
    }
    let ranges = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
    Ok(ClassUnicode::new(ranges.map(|(least, greatest)| ClassUnicodeRange::new(least, greatest))))
}

/// A set of texts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Language {
    Nothing,
    /// The empty text.
    End,
    /// Every text.
    Any,
    Other(ExprId),
    /// It depends on more of the text before than is known.
    Unknown,
}

/// The texts from a place on, by what was read before it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rest {
    at_start: Language,
    after_word: Language,
    after_other: Language,
}

impl Rest {
    /// The same texts in every case.
    fn of(language: Language) -> Self {
        Self { at_start: language, after_word: language, after_other: language }
    }

    fn is_same(self) -> bool {
        self == Self::of(self.at_start)
    }
}

/// The kind of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Other,
}

/// The demand of a word boundary on the next character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Word,
    /// Another one, or none.
    NotWord,
    Any,
    Never,
}

/// The demands of a word boundary, after a character of a word and otherwise.
fn demands(look: Look) -> Result<(Next, Next), Problem> {
    Ok(match look {
        Look::WordAscii | Look::WordUnicode => (Next::NotWord, Next::Word),
        Look::WordAsciiNegate | Look::WordUnicodeNegate => (Next::Word, Next::NotWord),
        Look::WordStartAscii | Look::WordStartUnicode => (Next::Never, Next::Word),
        Look::WordEndAscii | Look::WordEndUnicode => (Next::NotWord, Next::Never),
        Look::WordStartHalfAscii | Look::WordStartHalfUnicode => (Next::Never, Next::Any),
        Look::WordEndHalfAscii | Look::WordEndHalfUnicode => (Next::NotWord, Next::NotWord),
        Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF => {
            return Err(Problem::LineAnchor);
        }
    })
}

/// A part without assertions.
#[derive(Clone, Copy)]
struct Part {
    expr: ExprId,
    /// Whether it can be empty.
    nullable: bool,
    /// The kind of the first character of its texts that are not empty, if that is always the same, and of the last one.
    first: Option<Kind>,
    last: Option<Kind>,
}

/// Facts on a language that was written.
#[derive(Clone, Copy, Default)]
struct Facts {
    /// How deep languages nest in it.
    depth: u32,
    /// How many languages are written in it, each as often as it is, where it is used.
    size: u32,
    is_used: bool,
    /// The same as an automaton.
    automaton: Option<ExprId>,
    /// The kind of the character that all its texts begin with.
    first: Option<Kind>,
    /// A part without assertions that it is, and the rest after it.
    split: Option<(ExprId, Language)>,
}

/// An end of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    First,
    Last,
}

pub(super) struct AssertionCompiler<'b> {
    pub(super) builder: &'b mut GrammarBuilder,
    word: ClassUnicode,
    other: ClassUnicode,
    /// The texts that begin with a character of a word, and those that do not. Written once, so that rests can be compared.
    begins_with_word: Option<Language>,
    begins_otherwise: Option<Language>,
    facts: HashMap<ExprId, Facts>,
    /// Parts that may still be looked at.
    pub(super) left: usize,
    pub(super) limits: RegexLimits,
}

impl<'b> AssertionCompiler<'b> {
    fn new(builder: &'b mut GrammarBuilder, word: ClassUnicode, limits: RegexLimits) -> Self {
        let mut other = word.clone();
        other.negate();
        let left = limits.expressions;
        let facts = HashMap::default();
        Self { builder, word, other, begins_with_word: None, begins_otherwise: None, facts, left, limits }
    }

    /// The texts from a part on. Nesting is bounded by the parser.
    fn before(&mut self, node: &PatternPart<'_>, rest: Rest) -> Result<Rest, Problem> {
        self.left = self.left.checked_sub(1).ok_or(Problem::TooLarge)?;
        // Nothing may follow, so nothing can begin here.
        if rest == Rest::of(Language::Nothing) {
            return Ok(rest);
        }
        if node.is_local && node.look.is_none() {
            let first = self.kind_at(Edge::First, node);
            let last = if rest.is_same() { None } else { self.kind_at(Edge::Last, node) };
            let part = Part { expr: self.local(node)?, nullable: node.can_be_empty, first, last };
            return Ok(self.read(part, rest));
        }
        let texts = match node.hir.kind() {
            HirKind::Look(Look::Start) => Ok(Rest { at_start: rest.at_start, ..Rest::of(Language::Nothing) }),
            HirKind::Look(Look::End) => Ok(self.zip(rest, Rest::of(Language::End), Self::both)),
            HirKind::Look(look) => {
                let (after_word, otherwise) = demands(*look)?;
                let word = self.beginning(after_word);
                let other = self.beginning(otherwise);
                let demanded = Rest { at_start: other, after_word: word, after_other: other };
                Ok(self.zip(rest, demanded, Self::both))
            }
            HirKind::Capture(_) => match (node.look, node.inner.as_slice()) {
                (Some((Side::Ahead, polarity)), [sub]) => {
                    // The group reads nothing itself: any text may follow what it matches, and the rest
                    // begins at the same place.
                    let matches = self.before(sub, Rest::of(Language::Any))?;
                    let good = if polarity == Polarity::Matches { matches } else { self.not(matches) };
                    Ok(self.zip(good, rest, Self::both))
                }
                (Some((Side::Behind, _)), _) => self.run(&[], (&[], &[node]), rest),
                (None, [group]) => self.before(group, rest),
                _ => Err(Problem::Unsupported),
            },
            HirKind::Concat(_) => self.concatenation(node, rest),
            HirKind::Alternation(_) => {
                let branches = node.inner.iter().map(|branch| self.before(branch, rest));
                let branches = branches.collect::<Result<Vec<Rest>, Problem>>()?;
                Ok(self.alternatives(&branches, rest))
            }
            HirKind::Repetition(repetition) => match node.inner.as_slice() {
                [round] => self.rounds(repetition, round, rest),
                _ => Err(Problem::Unsupported),
            },
            _ => Err(Problem::Unsupported),
        }?;
        let deepest =
            [texts.at_start, texts.after_word, texts.after_other].map(|language| self.facts(language).depth);
        if deepest.into_iter().max() > Some(MAX_DEPTH) { Err(Problem::TooDeep) } else { Ok(texts) }
    }

    fn facts(&self, language: Language) -> Facts {
        match language {
            Language::Other(expr) => self.facts.get(&expr).copied().unwrap_or_default(),
            _ => Facts::default(),
        }
    }

    /// A language that is written with others, the first character of whose texts is of a kind.
    fn around(&mut self, expr: ExprId, inner: &[Language], first: Option<Kind>) -> Language {
        let inner = inner.iter().map(|&language| self.facts(language));
        let (depth, size) = inner.fold((0, 0), |(depth, size): (u32, u32), inner| {
            (depth.max(inner.depth), size.saturating_add(inner.size))
        });
        let facts = Facts { depth: depth + 1, size: size.saturating_add(1), first, ..Facts::default() };
        self.facts.insert(expr, facts);
        Language::Other(expr)
    }

    fn concatenation(&mut self, node: &PatternPart<'_>, mut rest: Rest) -> Result<Rest, Problem> {
        let stretches = stretches(&node.inner);
        for (at, stretch) in stretches.iter().enumerate().rev() {
            let (before, after) = (at.checked_sub(1).and_then(|at| stretches.get(at)), stretches.get(at + 1));
            match stretch {
                Stretch::Other(part) => rest = self.before(&node.inner[*part], rest)?,
                // Look-around beside a run that it fits is written with the run, and so is all look-behind after it.
                Stretch::LookAround(range) => {
                    let is_after_run = matches!(before, Some(Stretch::Run(..)));
                    for part in &node.inner[range.clone()] {
                        let is_written = match part.look {
                            Some((Side::Behind, _)) => is_after_run,
                            _ => part.fits(least_of(after)),
                        };
                        if !is_written {
                            rest = self.before(part, rest)?;
                        }
                    }
                }
                Stretch::Run(range, least) => {
                    let ahead = node.look_around(before, Side::Ahead).filter(|look| look.fits(*least));
                    let behind = node.look_around(after, Side::Behind);
                    let (ahead, behind) = (ahead.collect::<Vec<_>>(), behind.collect::<Vec<_>>());
                    let mut run = &node.inner[range.clone()];
                    // Where the rest depends on the last character, the last part alone is split by it.
                    while ahead.is_empty()
                        && behind.is_empty()
                        && !rest.is_same()
                        && let Some((last, others)) = run.split_last()
                    {
                        rest = self.before(last, rest)?;
                        run = others;
                    }
                    if !run.is_empty() {
                        rest = self.run(run, (&ahead, &behind), rest)?;
                    }
                }
            }
        }
        Ok(rest)
    }

    /// Local parts, the look-ahead before them that fits, and the look-behind after them, as one part before a rest.
    fn run(
        &mut self,
        parts: &[PatternPart<'_>],
        (ahead, behind): (&[&PatternPart<'_>], &[&PatternPart<'_>]),
        rest: Rest,
    ) -> Result<Rest, Problem> {
        let at = |edge, part: Option<&PatternPart<'_>>, this: &Self| {
            part.filter(|part| !part.can_be_empty).and_then(|part| this.kind_at(edge, part))
        };
        let part = Part {
            expr: self.looked_around(parts, ahead, behind)?,
            nullable: parts.iter().all(|part| part.can_be_empty)
                && behind.iter().all(|look| look.allows_the_empty_text()),
            first: at(Edge::First, parts.first(), self),
            last: at(Edge::Last, parts.last(), self),
        };
        let texts = self.read(part, rest);
        let least = parts.iter().map(|part| part.least).fold(0, u64::saturating_add);
        if behind.iter().all(|look| look.fits(least)) {
            return Ok(texts);
        }
        // At the start there is no other text that a match may begin in.
        Ok(Rest { at_start: texts.at_start, ..Rest::of(Language::Unknown) })
    }

    fn rounds(
        &mut self,
        repetition: &hir::Repetition,
        round: &PatternPart<'_>,
        rest: Rest,
    ) -> Result<Rest, Problem> {
        let optional = repetition.max.map(|max| max.saturating_sub(repetition.min));
        if repetition.min.max(optional.unwrap_or(0)) > MAX_ROUNDS {
            return Err(Problem::TooLarge);
        }
        let mut result = match optional {
            None => self.guarded_characters(round, rest)?,
            Some(optional) => {
                let mut result = rest;
                for _ in 0..optional {
                    let one_more = self.before(round, result)?;
                    result = self.alternatives(&[rest, one_more], rest);
                }
                result
            }
        };
        for _ in 0..repetition.min {
            result = self.before(round, result)?;
        }
        Ok(result)
    }

    /// Any number of rounds that look ahead and read one character, up to the end of the text.
    fn guarded_characters(&mut self, round: &PatternPart<'_>, rest: Rest) -> Result<Rest, Problem> {
        let mut guards = Vec::new();
        let character = guarded(round, &mut guards).ok_or(Problem::LookAround)?;
        if rest != Rest::of(Language::End) {
            return Err(Problem::LookAround);
        }
        let (first, last) = (self.kind_at(Edge::First, character), self.kind_at(Edge::Last, character));
        let character = self.local(character)?;
        let run = self.builder.repeat(character, 0, None);
        // The texts that begin with a place at which a guard is broken.
        let mut bad = Rest::of(Language::Nothing);
        for (sub, polarity) in guards {
            let matches = self.before(sub, Rest::of(Language::Any))?;
            let broken = if polarity == Polarity::Matches { self.not(matches) } else { matches };
            bad = self.alternatives(&[bad, broken], Rest::of(Language::Any));
        }
        // A guard comes before a character, not at the end.
        let some = Language::Other(self.some());
        let bad = self.zip(bad, Rest::of(some), Self::both);
        let bad = self.read(Part { expr: run, nullable: true, first, last }, bad);
        let good = self.not(bad);
        Ok(self.zip(Rest::of(Language::Other(run)), good, Self::both))
    }

    /// The part, and then the rest that its last character asks for.
    fn read(&mut self, part: Part, rest: Rest) -> Rest {
        if rest.is_same() {
            let first = part.first.filter(|_| !part.nullable);
            return Rest::of(self.put_before(part.expr, first, rest.at_start));
        }
        let read = if rest.after_word == rest.after_other {
            let expr = self.not_empty(part);
            self.put_before(expr, part.first, rest.after_word)
        } else {
            let words = self.ending(part, Kind::Word, rest.after_word);
            let others = self.ending(part, Kind::Other, rest.after_other);
            self.union(&[words, others])
        };
        if !part.nullable {
            return Rest::of(read);
        }
        self.alternatives(&[Rest::of(read), rest], rest)
    }

    /// The texts of a part whose last character is of a kind, before a rest.
    fn ending(&mut self, part: Part, kind: Kind, rest: Language) -> Language {
        if rest == Language::Nothing || part.last.is_some_and(|last| last != kind) {
            return Language::Nothing;
        }
        let expr = if part.last.is_some() {
            self.not_empty(part)
        } else {
            let any = self.expr(Language::Any);
            let last = self.class(kind);
            let ending = self.builder.sequence([any, last]);
            self.builder.intersection([part.expr, ending])
        };
        self.put_before(expr, part.first, rest)
    }

    fn not_empty(&mut self, part: Part) -> ExprId {
        if part.nullable {
            let some = self.some();
            self.builder.intersection([part.expr, some])
        } else {
            part.expr
        }
    }

    /// The kind of the first or the last character of all texts of a part that are not empty, where it is the same.
    fn kind_at(&self, edge: Edge, node: &PatternPart<'_>) -> Option<Kind> {
        if node.is_plain() {
            return self.kind_of_plain(edge, node.hir);
        }
        match (node.hir.kind(), edge) {
            (HirKind::Capture(_) | HirKind::Repetition(_), _) if node.look.is_none() => {
                self.kind_at(edge, node.inner.first()?)
            }
            (HirKind::Concat(_), Edge::First) => {
                self.kind_at(edge, node.inner.first().filter(|at| !at.can_be_empty)?)
            }
            (HirKind::Concat(_), Edge::Last) => {
                self.kind_at(edge, node.inner.last().filter(|at| !at.can_be_empty)?)
            }
            _ => None,
        }
    }

    fn kind_of_plain(&self, edge: Edge, hir: &Hir) -> Option<Kind> {
        match hir.kind() {
            HirKind::Literal(literal) => {
                let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
                let at = match edge {
                    Edge::First => characters.next(),
                    Edge::Last => characters.next_back(),
                }?;
                let words = self.word.ranges();
                let next = words.partition_point(|range| range.end() < at);
                let is_word = words.get(next).is_some_and(|range| range.start() <= at);
                Some(if is_word { Kind::Word } else { Kind::Other })
            }
            HirKind::Class(Class::Unicode(class)) => self.kind(class),
            HirKind::Capture(group) => self.kind_of_plain(edge, &group.sub),
            HirKind::Repetition(repetition) => self.kind_of_plain(edge, &repetition.sub),
            HirKind::Concat(parts) => {
                let at = match edge {
                    Edge::First => parts.first(),
                    Edge::Last => parts.last(),
                }?;
                self.kind_of_plain(edge, Some(at).filter(|at| at.properties().minimum_len() > Some(0))?)
            }
            _ => None,
        }
    }

    fn kind(&self, class: &ClassUnicode) -> Option<Kind> {
        let is_without = |kind: &ClassUnicode| {
            let mut common = class.clone();
            common.intersect(kind);
            common.ranges().is_empty()
        };
        if is_without(&self.other) { Some(Kind::Word) } else { is_without(&self.word).then_some(Kind::Other) }
    }

    fn class(&mut self, kind: Kind) -> ExprId {
        let class = if kind == Kind::Word { &self.word } else { &self.other };
        self.builder.class(class.iter().map(|range| (range.start(), range.end())))
    }

    /// The texts that begin as a boundary demands.
    fn beginning(&mut self, next: Next) -> Language {
        let known = match next {
            Next::Any => return Language::Any,
            Next::Never => return Language::Nothing,
            Next::Word => self.begins_with_word,
            Next::NotWord => self.begins_otherwise,
        };
        if let Some(known) = known {
            return known;
        }
        let kind = if next == Next::Word { Kind::Word } else { Kind::Other };
        let first = self.class(kind);
        let texts = self.put_before(first, Some(kind), Language::Any);
        if next == Next::Word {
            self.begins_with_word = Some(texts);
            return texts;
        }
        let texts = self.union(&[Language::End, texts]);
        self.begins_otherwise = Some(texts);
        texts
    }

    /// Combines the languages of either case, once for those that are alike.
    fn zip(
        &mut self,
        left: Rest,
        right: Rest,
        mut combine: impl FnMut(&mut Self, Language, Language) -> Language,
    ) -> Rest {
        let start = (left.at_start, right.at_start);
        let word = (left.after_word, right.after_word);
        let other = (left.after_other, right.after_other);
        let at_start = combine(self, start.0, start.1);
        let after_word = if word == start { at_start } else { combine(self, word.0, word.1) };
        let after_other = match other {
            _ if other == start => at_start,
            _ if other == word => after_word,
            (left, right) => combine(self, left, right),
        };
        Rest { at_start, after_word, after_other }
    }

    /// Every text but the empty one.
    fn some(&mut self) -> ExprId {
        let any = self.builder.any_char();
        self.builder.repeat(any, 1, None)
    }

    fn expr(&mut self, language: Language) -> ExprId {
        match language {
            // An unknown language is not written.
            Language::Nothing | Language::Unknown => self.builder.never(),
            Language::End => self.builder.empty(),
            Language::Any => {
                let any = self.builder.any_char();
                self.builder.repeat(any, 0, None)
            }
            Language::Other(expr) => self.used(expr),
        }
    }

    /// A language as a part of others: an automaton of its own where it is large, and from the second time on unless it is
    /// small. If all copies were written out, a repeat would multiply them in each of its rounds.
    fn used(&mut self, expr: ExprId) -> ExprId {
        let Some(facts) = self.facts.get_mut(&expr) else { return expr };
        let largest = if std::mem::replace(&mut facts.is_used, true) { LARGEST_AGAIN } else { LARGEST_ONCE };
        if facts.automaton.is_none() && facts.size <= largest {
            return expr;
        }
        facts.size = 1;
        if let Some(automaton) = facts.automaton {
            return automaton;
        }
        let any = self.expr(Language::Any);
        let automaton = self.builder.intersection([expr, any]);
        self.facts.entry(expr).and_modify(|facts| {
            facts.automaton = Some(automaton);
            facts.depth += 1;
        });
        automaton
    }

    /// A part, whose texts begin with a character of a kind if one is given, and a rest.
    fn put_before(&mut self, part: ExprId, first: Option<Kind>, rest: Language) -> Language {
        self.join(part, &[], first, rest)
    }

    /// As [`put_before`](Self::put_before), for a part that holds parts of some languages.
    fn join(&mut self, part: ExprId, of: &[Language], first: Option<Kind>, rest: Language) -> Language {
        if matches!(rest, Language::Nothing | Language::Unknown) {
            return rest;
        }
        let after = self.expr(rest);
        let expr = self.builder.sequence([part, after]);
        if expr == after {
            return rest;
        }
        let inner: Vec<Language> = of.iter().copied().chain([rest]).collect();
        let language = self.around(expr, &inner, first);
        self.facts.entry(expr).and_modify(|facts| facts.split = Some((part, rest)));
        language
    }

    fn union(&mut self, languages: &[Language]) -> Language {
        self.union_before(languages, &[])
    }

    /// As [`union`](Self::union), with one copy of each of some rests.
    fn union_before(&mut self, languages: &[Language], rests: &[Language]) -> Language {
        let mut different: Vec<Language> = Vec::new();
        let (mut seen, mut is_known) = (HashSet::default(), true);
        for &language in languages {
            match language {
                Language::Any => return Language::Any,
                Language::Unknown => is_known = false,
                Language::Nothing => {}
                _ if seen.insert(language) => different.push(language),
                _ => {}
            }
        }
        if !is_known {
            return Language::Unknown;
        }
        let shares = different.len() > 1 && !rests.is_empty();
        let different = if shares { self.with_shared(rests, different) } else { different };
        match *different {
            [] => Language::Nothing,
            [only] => only,
            _ => {
                let exprs: Vec<ExprId> = different.iter().map(|&language| self.expr(language)).collect();
                let (expr, first) = (self.builder.choice(exprs), self.common_first(&different));
                self.around(expr, &different, first)
            }
        }
    }

    /// The same union, in which those before one of some rests are one language.
    fn with_shared(&mut self, rests: &[Language], languages: Vec<Language>) -> Vec<Language> {
        let mut others = Vec::with_capacity(languages.len());
        let mut groups: Vec<(Vec<Vec<ExprId>>, Vec<Language>)> = vec![Default::default(); rests.len()];
        for language in languages {
            match self.parts_before(rests, language) {
                Some((part, rest)) => {
                    groups[rest].0.push(part);
                    groups[rest].1.push(language);
                }
                None => others.push(language),
            }
        }
        for (&rest, (parts, members)) in rests.iter().zip(groups) {
            if parts.len() > 1 {
                let parts: Vec<ExprId> = parts.into_iter().map(|part| self.builder.sequence(part)).collect();
                let (part, first) = (self.builder.choice(parts), self.common_first(&members));
                others.push(self.join(part, &members, first, rest));
            } else {
                others.extend(members);
            }
        }
        others
    }

    /// The parts of a language that come before one of some rests, and the number of the rest.
    fn parts_before(&self, rests: &[Language], language: Language) -> Option<(Vec<ExprId>, usize)> {
        let (mut parts, mut at) = (Vec::new(), language);
        loop {
            if let Some(rest) = rests.iter().position(|&rest| rest == at) {
                return Some((parts, rest));
            }
            let (part, rest) = self.facts(at).split?;
            parts.push(part);
            at = rest;
        }
    }

    fn common_first(&self, languages: &[Language]) -> Option<Kind> {
        let mut firsts = languages.iter().map(|&language| self.facts(language).first);
        let first = firsts.next()?;
        first.filter(|_| firsts.all(|other| other == first))
    }

    /// The union of branches before a rest, in either case.
    fn alternatives(&mut self, branches: &[Rest], rest: Rest) -> Rest {
        let rests = [rest.at_start, rest.after_word, rest.after_other];
        let of = |select: fn(&Rest) -> Language| branches.iter().map(select).collect::<Vec<_>>();
        let [start, word, other] =
            [of(|rest| rest.at_start), of(|rest| rest.after_word), of(|rest| rest.after_other)];
        let at_start = self.union_before(&start, &rests);
        let after_word = if word == start { at_start } else { self.union_before(&word, &rests) };
        let after_other = match other {
            _ if other == start => at_start,
            _ if other == word => after_word,
            _ => self.union_before(&other, &rests),
        };
        Rest { at_start, after_word, after_other }
    }

    fn both(&mut self, left: Language, right: Language) -> Language {
        match (left, right) {
            (Language::Nothing, _) | (_, Language::Nothing) => Language::Nothing,
            (Language::Unknown, _) | (_, Language::Unknown) => Language::Unknown,
            (Language::Any, other) | (other, Language::Any) => other,
            (left, right) if left == right => left,
            (texts, begin) | (begin, texts)
                if self.demanded(begin).is_some() && self.begin(texts).is_some() =>
            {
                if self.demanded(begin) == self.begin(texts) { texts } else { Language::Nothing }
            }
            (left, right) => {
                let exprs = [self.expr(left), self.expr(right)];
                let expr = self.builder.intersection(exprs);
                let first = self.facts(left).first.or(self.facts(right).first);
                self.around(expr, &[left, right], first)
            }
        }
    }

    /// The kind of the next character that a language stands for, as a word boundary demands it.
    fn demanded(&self, language: Language) -> Option<Next> {
        let known = [(self.begins_with_word, Next::Word), (self.begins_otherwise, Next::NotWord)];
        known.into_iter().find(|(known, _)| *known == Some(language)).map(|(_, next)| next)
    }

    /// The demand of a word boundary that all texts of a language meet, where one is known.
    fn begin(&self, language: Language) -> Option<Next> {
        match language {
            Language::End => Some(Next::NotWord),
            _ => self.facts(language).first.map(|first| match first {
                Kind::Word => Next::Word,
                Kind::Other => Next::NotWord,
            }),
        }
    }

    fn not(&mut self, rest: Rest) -> Rest {
        self.zip(rest, rest, |this, language, _| match language {
            Language::Nothing => Language::Any,
            Language::Any => Language::Nothing,
            Language::Unknown => Language::Unknown,
            other => {
                let expr = this.expr(other);
                let expr = this.builder.complement(expr);
                this.around(expr, &[other], None)
            }
        })
    }
}

/// The one character that a round reads, and the look-ahead before it.
fn guarded<'n, 'h>(
    round: &'n PatternPart<'h>,
    guards: &mut Vec<(&'n PatternPart<'h>, Polarity)>,
) -> Option<&'n PatternPart<'h>> {
    match round.hir.kind() {
        HirKind::Class(Class::Unicode(_)) => Some(round),
        HirKind::Literal(_) => round.is_one_character().then_some(round),
        HirKind::Capture(_) if round.is_plain() => round.is_one_character().then_some(round),
        HirKind::Capture(_) if round.look.is_none() => guarded(round.inner.first()?, guards),
        HirKind::Concat(_) => {
            let (last, before) = round.inner.split_last()?;
            for part in before {
                let (_, polarity) = part.look.filter(|(side, _)| *side == Side::Ahead)?;
                guards.push((part.inner.first()?, polarity));
            }
            guarded(last, guards)
        }
        _ => None,
    }
}
