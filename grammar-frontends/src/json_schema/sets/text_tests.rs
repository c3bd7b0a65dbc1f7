//! Conditions on decoded texts: patterns, formats, and whole string languages (`propertyNames`).
//!
//! A test is interned once and named by an id, so that shapes can be compared and hashed. It can be asked
//! about one text, and be built as an expression of the grammar.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use grammask_fsm::text::MAX_COUNTED_MIN;
use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::passes;
use grammask_grammar_ir::{CharRange, Expr, ExprId, Grammar, GrammarBuilder};

use super::formats::{Format, FormatTexts, OuterLanguage};
use super::string_shape::StringShape;
use super::whole_match::matches_whole;
use crate::diagnostic::Diagnostics;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::document::nodes::Document;
use crate::json_schema::work::Work;
use crate::regex::{self, PatternBudget, RegexLimits, RegexOptions};

/// An interned condition on decoded texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TestId(u32);

/// Whether a test must hold or must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Polarity {
    Holds,
    Fails,
}

impl Polarity {
    pub(crate) fn flipped(self) -> Self {
        match self {
            Polarity::Holds => Polarity::Fails,
            Polarity::Fails => Polarity::Holds,
        }
    }
}

/// A test and its polarity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextTest {
    pub(crate) test: TestId,
    pub(crate) sense: Polarity,
}

/// Which approximation of a language is taken, where a [format](super::formats) is not known exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Approximation {
    /// Texts that belong to it for certain: these are generated.
    Within,
    /// All texts that may belong to it: this must be empty before anything is called impossible.
    Around,
}

impl Approximation {
    pub(crate) fn flipped(self) -> Self {
        match self {
            Approximation::Within => Approximation::Around,
            Approximation::Around => Approximation::Within,
        }
    }
}

/// Least and greatest number of characters, the latter where there is one.
type LengthRange = (u64, Option<u64>);

/// All texts of a test from one side, or those that are written where lengths cost so much.
type RangeKey = (TestId, Approximation, Option<Lengths>);

/// A class of characters repeated, between two stretches of fixed length: what length bounds can be applied
/// to without a product of automata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClassRun {
    pub(crate) before: Vec<Vec<CharRange>>,
    pub(crate) class: Vec<CharRange>,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    pub(crate) after: Vec<Vec<CharRange>>,
}

/// Units of work for a pattern that is read, beside one for each of its bytes.
const READ_PATTERN: usize = 256;
/// Units of work for an expression of a format that is written for one length: its patterns are read again.
const MADE_EXPRESSION: usize = 24;
/// Texts, with whether each matches.
type Answers = HashMap<Box<str>, bool>;

/// Bytes of a text whose answer is kept.
const MAX_KEPT_TEXT: usize = 100;
/// Literals of a pattern that are listed.
const MAX_LISTED: usize = 64;
/// Texts kept for each test.
const MAX_KEPT_TEXTS: usize = 64;

enum TestKind<'s> {
    Pattern {
        grammar: Box<Grammar>,
        pattern: Box<str>,
    },
    /// With the schema that asked for it first.
    Format(Arc<FormatTexts>, NodeId),
    Language(Vec<StringShape<'s>>),
}

/// All tests.
pub(crate) struct TextTests<'s> {
    kinds: Vec<TestKind<'s>>,
    patterns: HashMap<(Box<str>, regex::Matching), TestId>,
    /// By name and drafts.
    formats: HashMap<(&'static str, String), TestId>,
    languages: HashMap<Vec<StringShape<'s>>, TestId>,
    /// The ranges of lengths that were asked for.
    ranges: RefCell<HashMap<RangeKey, Option<LengthRange>>>,
    /// The unions of class runs that were asked for.
    runs: RefCell<HashMap<TestId, Option<Vec<ClassRun>>>>,
    /// The weights that were asked for.
    weights: RefCell<HashMap<(TestId, Lengths), Weight>>,
    /// Whether short texts that were asked for match.
    answers: RefCell<HashMap<(TestId, Approximation), Answers>>,
    /// A test and a text of which it is not known whether they pass, of those that were asked for.
    undecided: Cell<Option<TestId>>,
    /// The costly parts that patterns may still have.
    pattern_budget: PatternBudget,
    work: Work,
}

impl<'s> TextTests<'s> {
    pub(crate) fn new(work: Work) -> Self {
        Self {
            kinds: Vec::new(),
            patterns: HashMap::default(),
            formats: HashMap::default(),
            languages: HashMap::default(),
            ranges: RefCell::default(),
            runs: RefCell::default(),
            weights: RefCell::default(),
            answers: RefCell::default(),
            undecided: Cell::default(),
            pattern_budget: PatternBudget::new(&RegexLimits::default()),
            work,
        }
    }

    /// The test of an ECMA-262 pattern.
    pub(crate) fn pattern(
        &mut self,
        pattern: &str,
        matching: regex::Matching,
    ) -> Result<TestId, Diagnostics> {
        let key = (Box::from(pattern), matching);
        if let Some(&known) = self.patterns.get(&key) {
            return Ok(known);
        }
        let options = RegexOptions { matching, ..RegexOptions::json_schema() };
        let before = self.pattern_budget.work();
        let grammar = regex::parse_next(pattern, &options, &mut self.pattern_budget)?;
        self.work.charge(READ_PATTERN + pattern.len() + self.pattern_budget.work() - before);
        let id = self.push(TestKind::Pattern { grammar: Box::new(grammar), pattern: pattern.into() });
        self.patterns.insert(key, id);
        Ok(id)
    }

    /// The test of a format.
    pub(crate) fn format(&mut self, texts: Arc<FormatTexts>, node: NodeId) -> TestId {
        let key = (texts.format.name, texts.format.drafts());
        if let Some(&known) = self.formats.get(&key) {
            return known;
        }
        let id = self.push(TestKind::Format(texts, node));
        self.formats.insert(key, id);
        id
    }

    /// The test of belonging to one of some shapes.
    pub(crate) fn language(&mut self, shapes: Vec<StringShape<'s>>) -> TestId {
        if let Some(&known) = self.languages.get(&shapes) {
            return known;
        }
        let id = self.push(TestKind::Language(shapes.clone()));
        self.languages.insert(shapes, id);
        id
    }

    fn push(&mut self, kind: TestKind<'s>) -> TestId {
        // Every test comes from a keyword of a bounded document.
        let id = TestId(u32::try_from(self.kinds.len()).unwrap_or(u32::MAX));
        self.kinds.push(kind);
        id
    }

    fn kind(&self, test: TestId) -> &TestKind<'s> {
        &self.kinds[test.0 as usize]
    }

    /// Whether a text passes. Where that is not known it does not, and [`undecided`](Self::undecided) says so.
    pub(crate) fn passes(&self, condition: TextTest, text: &str) -> bool {
        let passes = self.passes_in(condition, text, Approximation::Within);
        if !passes && !self.is_exact(condition.test) && self.passes_in(condition, text, Approximation::Around)
        {
            self.undecided.set(Some(condition.test));
        }
        passes
    }

    /// Whether a text passes for certain, or may pass.
    pub(crate) fn passes_in(&self, condition: TextTest, text: &str, approximation: Approximation) -> bool {
        if self.work.is_spent() {
            return false;
        }
        let (of_test, negated) = match condition.sense {
            Polarity::Holds => (approximation, false),
            Polarity::Fails => (approximation.flipped(), true),
        };
        let holds = match self.kind(condition.test) {
            TestKind::Language(shapes) => shapes.iter().any(|shape| shape.contains_in(text, self, of_test)),
            TestKind::Format(texts, _)
                if of_test == Approximation::Around && matches!(texts.around, OuterLanguage::Unknown) =>
            {
                true
            }
            _ => self
                .grammar(condition.test, of_test)
                .is_some_and(|grammar| self.matches((condition.test, of_test), grammar, text)),
        };
        holds != negated
    }

    /// Whether the grammar of a pattern or a format matches a text. Short texts are kept: many members have one format, and
    /// they are tried on the same examples.
    fn matches(&self, test: (TestId, Approximation), grammar: &Grammar, text: &str) -> bool {
        if text.len() > MAX_KEPT_TEXT {
            return matches_whole(grammar, text, &self.work);
        }
        let mut answers = self.answers.borrow_mut();
        let known = answers.entry(test).or_default();
        if let Some(&answer) = known.get(text) {
            self.work.charge(1);
            return answer;
        }
        let answer = matches_whole(grammar, text, &self.work);
        if known.len() < MAX_KEPT_TEXTS {
            known.insert(text.into(), answer);
        }
        answer
    }

    /// A format of which it was asked whether some text obeys, and it is not known; with a schema that has it.
    pub(crate) fn undecided(&self) -> Option<(TestId, NodeId)> {
        let asked = self.undecided.get()?;
        let mut open = vec![asked];
        while let Some(test) = open.pop() {
            match self.kind(test) {
                TestKind::Format(_, node) => return Some((test, *node)),
                TestKind::Language(shapes) => {
                    open.extend(shapes.iter().flat_map(|shape| &shape.tests).map(|test| test.test));
                }
                TestKind::Pattern { .. } => {}
            }
        }
        Some((asked, Document::ROOT))
    }

    /// Whether it is known of every text whether it passes.
    fn is_exact(&self, test: TestId) -> bool {
        match self.kind(test) {
            TestKind::Pattern { .. } => true,
            TestKind::Format(texts, _) => matches!(texts.around, OuterLanguage::Same),
            TestKind::Language(_) => false,
        }
    }

    /// The name of a test in messages.
    pub(crate) fn name(&self, test: TestId) -> String {
        match self.kind(test) {
            TestKind::Pattern { pattern, .. } => format!("the pattern `{pattern}`"),
            TestKind::Format(texts, _) => format!("the format `{}`", texts.format.name),
            TestKind::Language(_) => "`propertyNames`".to_owned(),
        }
    }

    /// The shapes of a language test.
    pub(crate) fn shapes(&self, test: TestId) -> Option<&[StringShape<'s>]> {
        match self.kind(test) {
            TestKind::Language(shapes) => Some(shapes),
            TestKind::Pattern { .. } | TestKind::Format(..) => None,
        }
    }

    /// The texts of a shape that asks for a format and a length, and for nothing else.
    pub(crate) fn format_alone(&self, shape: &StringShape<'s>) -> Option<Cow<'_, Grammar>> {
        let &[TextTest { test, sense: Polarity::Holds }] = shape.tests.as_slice() else { return None };
        match self.kind(test) {
            TestKind::Format(texts, _) if shape.excluded.is_empty() => {
                let found = texts.alone(shape.min, shape.max);
                if let Some(Cow::Owned(made)) = &found {
                    self.work.charge(MADE_EXPRESSION * made.expr_count());
                }
                found
            }
            _ => None,
        }
    }

    /// Whether no text is known that fails the test.
    pub(crate) fn has_no_complement(&self, test: TestId) -> bool {
        matches!(self.kind(test), TestKind::Format(texts, _) if matches!(texts.around, OuterLanguage::Unknown))
    }

    /// The format that the test is, if it is one.
    pub(crate) fn format_of(&self, test: TestId) -> Option<&'static Format> {
        match self.kind(test) {
            TestKind::Format(texts, _) => Some(texts.format),
            _ => None,
        }
    }

    /// The grammar beside others, where the whole one would be too large for that.
    fn operand(&self, test: TestId, approximation: Approximation, lengths: Lengths) -> Option<&Grammar> {
        let TestKind::Format(texts, _) = self.kind(test) else { return self.grammar(test, approximation) };
        let some = match (approximation, lengths) {
            (Approximation::Within, Lengths::Counted) => texts.counted.as_ref(),
            (Approximation::Within, Lengths::Multiplied) => texts.multiplied.as_ref(),
            (Approximation::Around, _) => None,
        };
        some.or_else(|| self.grammar(test, approximation))
    }

    /// Whether the test is a format.
    pub(crate) fn is_format(&self, test: TestId) -> bool {
        matches!(self.kind(test), TestKind::Format(..))
    }

    /// The pattern as an expression.
    pub(crate) fn build(
        &self,
        test: TestId,
        approximation: Approximation,
        lengths: Lengths,
        builder: &mut GrammarBuilder,
    ) -> Option<ExprId> {
        if approximation == Approximation::Around && self.has_no_complement(test) {
            let any = builder.any_char();
            return Some(builder.repeat(any, 0, None));
        }
        passes::append_body(builder, self.operand(test, approximation, lengths)?)
    }

    /// The pattern's grammar, for analyses; `None` where anything may match.
    pub(crate) fn grammar(&self, test: TestId, approximation: Approximation) -> Option<&Grammar> {
        match self.kind(test) {
            TestKind::Pattern { grammar, .. } => Some(grammar),
            TestKind::Format(texts, _) => match (approximation, &texts.around) {
                (Approximation::Within, _) | (_, OuterLanguage::Same) => Some(&texts.within),
                (Approximation::Around, OuterLanguage::Wider(grammar)) => Some(grammar),
                (Approximation::Around, OuterLanguage::Unknown) => None,
            },
            TestKind::Language(_) => None,
        }
    }

    /// The texts of a pattern of a few literals, where it has them letter by letter.
    pub(crate) fn listed(&self, test: TestId, pattern: &'s str) -> Option<Vec<&'s str>> {
        let grammar = self.grammar(test, Approximation::Within)?;
        let root = grammar.rule(grammar.root()).body();
        let alone = [root];
        let literals = match grammar.expr(root) {
            Expr::Choice(literals) => literals,
            _ => &alone,
        };
        if literals.len() > MAX_LISTED {
            return None;
        }
        self.work.charge(literals.len() * (1 + pattern.len() / 8));
        let slice = |&literal: &ExprId| {
            let Expr::Bytes(bytes) = grammar.expr(literal) else { return None };
            let start = pattern.find(std::str::from_utf8(bytes).ok()?)?;
            pattern.get(start..start + bytes.len())
        };
        literals.iter().map(slice).collect()
    }

    /// Whether the texts of two tests begin with different literals.
    pub(crate) fn have_disjoint_prefixes(&self, left: TestId, right: TestId) -> bool {
        let [left, right] =
            [left, right].map(|test| self.grammar(test, Approximation::Around).map(leading_literal));
        let (Some(left), Some(right)) = (left, right) else { return false };
        left.iter().zip(right).any(|(one, other)| one != other)
    }

    /// Least and greatest length (in characters) of the texts that a pattern matches, if they are known.
    /// Not exact: the true range may be smaller.
    pub(crate) fn length_range(&self, test: TestId, approximation: Approximation) -> Option<LengthRange> {
        self.length_range_of((test, approximation, None), self.grammar(test, approximation)?)
    }

    /// The same for the texts that [`build`](Self::build) writes.
    pub(crate) fn built_length_range(
        &self,
        test: TestId,
        approximation: Approximation,
        lengths: Lengths,
    ) -> Option<LengthRange> {
        let grammar = self.operand(test, approximation, lengths)?;
        self.length_range_of((test, approximation, Some(lengths)), grammar)
    }

    fn length_range_of(&self, key: RangeKey, grammar: &Grammar) -> Option<LengthRange> {
        let known = self.ranges.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let range = Measures::of(grammar).length_range(grammar.rule(grammar.root()).body());
            self.ranges.borrow_mut().insert(key, range);
            range
        })
    }

    /// The pattern as a union of class runs, if it is one.
    pub(crate) fn class_runs(&self, test: TestId) -> Option<Vec<ClassRun>> {
        let grammar = self.grammar(test, Approximation::Within)?;
        let known = self.runs.borrow().get(&test).cloned();
        let runs = known.unwrap_or_else(|| {
            let runs = class_runs(grammar, grammar.rule(grammar.root()).body());
            self.runs.borrow_mut().insert(test, runs.clone());
            runs
        });
        let places = runs.iter().flatten().map(|run| run.before.len() + run.after.len());
        self.work.charge(1 + places.sum::<usize>());
        runs
    }

    /// About how many states the pattern's automaton has.
    pub(crate) fn weight(&self, test: TestId, lengths: Lengths) -> Weight {
        let known = self.weights.borrow().get(&(test, lengths)).copied();
        known.unwrap_or_else(|| {
            let weight = self.weigh(test, lengths);
            self.weights.borrow_mut().insert((test, lengths), weight);
            weight
        })
    }

    fn weigh(&self, test: TestId, lengths: Lengths) -> Weight {
        let Some(grammar) = self.operand(test, Approximation::Within, lengths) else {
            return Weight { looping: 64, ending: 0, tail: 0 };
        };
        let mut body = grammar.rule(grammar.root()).body();
        if lengths == Lengths::Counted
            && let Expr::Intersection(&[texts, bound]) = grammar.expr(body)
            && is_length_bound(grammar, bound)
        {
            body = texts;
        }
        let mut measures = Measures::of(grammar);
        let all = measures.weight(body);
        let looping = measures.looping_weight(body, Tail::Ends).min(all);
        Weight { looping, ending: all - looping, tail: measures.longest_end(body) }
    }
}

/// Whether an expression is a number of characters of a class.
fn is_length_bound(grammar: &Grammar, id: ExprId) -> bool {
    let Expr::Repeat { body, min, max: Some(_) } = grammar.expr(id) else { return false };
    min <= MAX_COUNTED_MIN && matches!(grammar.expr(body), Expr::Class(_))
}

/// The cost of a bound on the length of texts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Lengths {
    /// The texts stand by themselves: their characters may be counted beside their automaton.
    Counted,
    /// They are a part of others, whose automata have states for each length.
    Multiplied,
}

/// About how many states an automaton has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight {
    /// Of them, those from which on a text may be of any length.
    pub(crate) looping: u64,
    /// The others.
    pub(crate) ending: u64,
    /// How many characters can follow the others at most.
    pub(crate) tail: u64,
}

/// Whether what follows an expression may be of any length.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Ends,
    Loops,
}

/// Measures of the expressions of a pattern. Each is looked at once: look-ahead shares what follows its alternatives.
/// Nesting is bounded by the regex frontend.
struct Measures<'g> {
    grammar: &'g Grammar,
    weights: HashMap<ExprId, u64>,
    looping: HashMap<ExprId, u64>,
    ends: HashMap<ExprId, u64>,
    ranges: HashMap<ExprId, Option<LengthRange>>,
}

impl<'g> Measures<'g> {
    fn of(grammar: &'g Grammar) -> Self {
        let (weights, looping, ends) = (HashMap::default(), HashMap::default(), HashMap::default());
        Self { grammar, weights, looping, ends, ranges: HashMap::default() }
    }

    /// The part of the weight from which a repeat without a bound can be reached.
    fn looping_weight(&mut self, id: ExprId, tail: Tail) -> u64 {
        if tail == Tail::Loops {
            return self.weight(id);
        }
        if let Some(&known) = self.looping.get(&id) {
            return known;
        }
        let looping = match self.grammar.expr(id) {
            Expr::Bytes(_) | Expr::Class(_) | Expr::Empty => return 0,
            Expr::Sequence(parts) => {
                let mut tail = tail;
                parts.iter().rev().fold(0, |sum: u64, &part| {
                    let looping = self.looping_weight(part, tail);
                    if looping > 0 {
                        tail = Tail::Loops;
                    }
                    sum.saturating_add(looping)
                })
            }
            Expr::Choice(parts) => parts
                .iter()
                .fold(0, |sum: u64, &part| sum.saturating_add(self.looping_weight(part, Tail::Ends))),
            Expr::Repeat { max: None, .. } => self.weight(id),
            Expr::Repeat { body, .. } => {
                let looping = self.looping_weight(body, Tail::Ends);
                if looping > 0 { self.weight(id) } else { 0 }
            }
            _ => self.weight(id),
        };
        self.looping.insert(id, looping);
        looping
    }

    /// How many characters can follow a place inside, if no unbounded repeat comes after it.
    fn longest_end(&mut self, id: ExprId) -> u64 {
        if let Some((_, Some(longest))) = self.length_range(id) {
            return longest;
        }
        if let Some(&known) = self.ends.get(&id) {
            return known;
        }
        let longest = match self.grammar.expr(id) {
            Expr::Sequence(parts) => {
                let mut end = 0u64;
                for &part in parts.iter().rev() {
                    match self.length_range(part) {
                        Some((_, Some(longest))) => end = end.saturating_add(longest),
                        _ => {
                            end = end.saturating_add(self.longest_end(part));
                            break;
                        }
                    }
                }
                end
            }
            Expr::Choice(parts) => parts.iter().map(|&part| self.longest_end(part)).max().unwrap_or(0),
            _ => 0,
        };
        self.ends.insert(id, longest);
        longest
    }

    fn length_range(&mut self, id: ExprId) -> Option<LengthRange> {
        match self.grammar.expr(id) {
            Expr::Empty => return Some((0, Some(0))),
            Expr::Bytes(bytes) => {
                let count = std::str::from_utf8(bytes).ok()?.chars().count() as u64;
                return Some((count, Some(count)));
            }
            Expr::Class(_) => return Some((1, Some(1))),
            _ => {}
        }
        if let Some(&known) = self.ranges.get(&id) {
            return known;
        }
        let range = self.length_range_of_operands(id);
        self.ranges.insert(id, range);
        range
    }

    fn length_range_of_operands(&mut self, id: ExprId) -> Option<LengthRange> {
        Some(match self.grammar.expr(id) {
            Expr::Sequence(parts) => {
                let mut sum = (0u64, Some(0u64));
                for &part in parts {
                    let range = self.length_range(part)?;
                    sum.0 = sum.0.saturating_add(range.0);
                    sum.1 = sum.1.zip(range.1).map(|(left, right)| left.saturating_add(right));
                }
                sum
            }
            Expr::Choice(alternatives) => {
                let mut union: Option<LengthRange> = None;
                for &alternative in alternatives {
                    let range = self.length_range(alternative)?;
                    union = Some(union.map_or(range, |known| {
                        (known.0.min(range.0), known.1.zip(range.1).map(|(left, right)| left.max(right)))
                    }));
                }
                union?
            }
            Expr::Repeat { body, min, max } => {
                let range = self.length_range(body)?;
                let most = match (range.1, max) {
                    (Some(0), _) => Some(0),
                    (Some(length), Some(max)) => Some(length.saturating_mul(u64::from(max))),
                    _ => None,
                };
                (range.0.saturating_mul(u64::from(min)), most)
            }
            Expr::Intersection(parts) => {
                let known: Vec<LengthRange> =
                    parts.iter().filter_map(|&part| self.length_range(part)).collect();
                let most = known.iter().filter_map(|range| range.1).min();
                (known.iter().map(|range| range.0).max()?, most)
            }
            _ => return None,
        })
    }

    /// Counts a repeat as often as it may run: a product of automata spells it out.
    fn weight(&mut self, id: ExprId) -> u64 {
        let grammar = self.grammar;
        match grammar.expr(id) {
            Expr::Bytes(bytes) => return bytes.len() as u64,
            Expr::Class(_) | Expr::Empty => return 1,
            _ => {}
        }
        if let Some(&known) = self.weights.get(&id) {
            return known;
        }
        let weight = match grammar.expr(id) {
            Expr::Repeat { body, min, max } => {
                let times = u64::from(max.unwrap_or(min)).max(1);
                self.weight(body).saturating_mul(times)
            }
            // Products.
            Expr::Intersection(parts) => {
                parts.iter().fold(1, |product: u64, &part| product.saturating_mul(self.weight(part).max(1)))
            }
            _ => grammar
                .operands(id)
                .iter()
                .fold(0u64, |sum, &operand| sum.saturating_add(self.weight(operand))),
        };
        self.weights.insert(id, weight);
        weight
    }
}

/// Class runs that one pattern may be a union of.
const MAX_RUNS: usize = 16;

fn class_runs(grammar: &Grammar, id: ExprId) -> Option<Vec<ClassRun>> {
    let parts = match grammar.expr(id) {
        Expr::Sequence(parts) => parts.to_vec(),
        _ => vec![id],
    };
    let mut before = vec![Vec::new()];
    let mut run: Option<(&[CharRange], u32, Option<u32>)> = None;
    let mut after = vec![Vec::new()];
    for part in parts {
        if let Expr::Repeat { body, min, max } = grammar.expr(part)
            && max != Some(min)
        {
            let Expr::Class(class) = grammar.expr(body) else { return None };
            if run.is_some() {
                return None;
            }
            run = Some((class, min, max));
            continue;
        }
        let fixed = fixed(grammar, part)?;
        let approximation = if run.is_some() { &mut after } else { &mut before };
        append(approximation, fixed)?;
    }
    let (class, min, max) = run?;
    let class = class.to_vec();
    let pairs = before.iter().flat_map(|before| after.iter().map(move |after| (before, after)));
    let runs = pairs.map(|(before, after)| {
        let (before, class, after) = (before.clone(), class.clone(), after.clone());
        ClassRun { before, class, min, max, after }
    });
    Some(runs.collect()).filter(|runs: &Vec<_>| runs.len() <= MAX_RUNS)
}

/// Characters in a row, each out of a class.
type TestPlaces = Vec<Vec<CharRange>>;

/// An expression as a few alternatives of fixed length.
fn fixed(grammar: &Grammar, id: ExprId) -> Option<Vec<TestPlaces>> {
    Some(match grammar.expr(id) {
        Expr::Empty => vec![Vec::new()],
        Expr::Class(class) => vec![vec![class.to_vec()]],
        Expr::Bytes(bytes) => {
            vec![std::str::from_utf8(bytes).ok()?.chars().map(|only| vec![(only, only)]).collect()]
        }
        Expr::Repeat { body, min, max } if max == Some(min) && min <= 64 => {
            let Expr::Class(class) = grammar.expr(body) else { return None };
            vec![vec![class.to_vec(); min as usize]]
        }
        Expr::Sequence(parts) => {
            let mut all = vec![Vec::new()];
            for &part in parts {
                append(&mut all, fixed(grammar, part)?)?;
            }
            all
        }
        Expr::Choice(alternatives) => {
            let mut all = Vec::new();
            for &alternative in alternatives {
                all.extend(fixed(grammar, alternative)?);
                if all.len() > MAX_RUNS {
                    return None;
                }
            }
            all
        }
        _ => return None,
    })
}

/// Replaces the first operand by the product. If the second one has a single element, nothing is copied.
fn append(into: &mut Vec<TestPlaces>, fixed: Vec<TestPlaces>) -> Option<()> {
    match fixed.as_slice() {
        [only] => into.iter_mut().for_each(|places| places.extend_from_slice(only)),
        _ => *into = product(into, &fixed)?,
    }
    Some(())
}

fn product(left: &[TestPlaces], right: &[TestPlaces]) -> Option<Vec<TestPlaces>> {
    if left.len() * right.len() > MAX_RUNS {
        return None;
    }
    let pairs = left.iter().flat_map(|left| right.iter().map(move |right| [left.as_slice(), right].concat()));
    Some(pairs.collect())
}

/// The bytes with which every text of a pattern begins, as far as one literal says it.
fn leading_literal(grammar: &Grammar) -> &[u8] {
    let mut id = grammar.rule(grammar.root()).body();
    loop {
        match grammar.expr(id) {
            Expr::Bytes(bytes) => return bytes,
            Expr::Sequence(parts) if !parts.is_empty() => id = parts[0],
            _ => return &[],
        }
    }
}
