//! Whether any string is in a shape: patterns, formats and lengths that exclude one another.
//!
//! The naive way intersects the automata of every shape, only to see whether something is left; the engine
//! builds them once more later. Most shapes have an example that is found without automata: texts that one of
//! the patterns matches are made up and put to the other tests. Where none passes, the automata decide,
//! within a bound on the work. Past that bound a shape counts as inhabited. An automaton that is empty ends
//! no text, and the engine leaves it out, so only the message is lost.

use grammask_fsm::TextLimits;
use grammask_fsm::text::TextAutomaton;
use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{CharRange, Expr, ExprId, Grammar, GrammarBuilder};

use super::string_shape::StringShape;
use super::text_tests::{Approximation, Lengths, Polarity, TextTests};
use crate::json_schema::work::Work;

/// The shapes that were decided, and the work that is left for others.
pub(crate) struct StringEmptiness<'s> {
    known: HashMap<StringShape<'s>, bool>,
    /// Steps that are left for intersections.
    left: usize,
}

/// Steps for the intersections of one schema, some 10 ns each.
const MAX_TOTAL_STEPS: usize = 10_000_000;

/// Steps for one of them.
const MAX_STEPS: usize = 100_000;

/// Steps that stand for copying the patterns of one intersection into a grammar.
const INTERSECTION: usize = 1000;

/// Examples tried for each pattern.
const MAX_EXAMPLES: usize = 8;

/// Characters of an example.
const MAX_EXAMPLE_LEN: usize = 300;

/// Languages inside languages (`propertyNames` in `propertyNames`) that are looked into.
const MAX_DEPTH: u32 = 8;

impl<'s> StringEmptiness<'s> {
    pub(crate) fn new() -> Self {
        Self { known: HashMap::default(), left: MAX_TOTAL_STEPS }
    }

    /// Whether a shape has a string; *no* is certain.
    pub(crate) fn may_be_nonempty(
        &mut self,
        shape: &StringShape<'s>,
        tests: &TextTests<'s>,
        work: &Work,
    ) -> bool {
        if shape.is_empty(tests) {
            return false;
        }
        // Without tests a length is free, and there are more strings of it than were listed.
        if shape.values.is_some() || shape.tests.is_empty() {
            return true;
        }
        if shape.is_format(tests) {
            return true;
        }
        let mut patterns = shape.tests.iter().filter(|test| test.sense == Polarity::Holds);
        if let Some(first) = patterns.next()
            && patterns.any(|other| tests.have_disjoint_prefixes(first.test, other.test))
        {
            return false;
        }
        if let Some(&known) = self.known.get(shape) {
            return known;
        }
        let inhabited = has_example(shape, tests, work) || self.intersection_is_nonempty(shape, tests);
        self.known.insert(shape.clone(), inhabited);
        inhabited
    }

    fn intersection_is_nonempty(&mut self, shape: &StringShape<'s>, tests: &TextTests<'s>) -> bool {
        if self.left == 0 {
            return true;
        }
        self.left = self.left.saturating_sub(INTERSECTION);
        let limits = TextLimits::default().max_steps(MAX_STEPS);
        let mut builder = GrammarBuilder::new();
        let decided =
            expression(&mut builder, shape, tests, (Approximation::Around, Lengths::Multiplied, MAX_DEPTH))
                .and_then(|text| {
                    let rule = builder.add_rule("root", text).ok()?;
                    let grammar = builder.finish(rule).ok()?;
                    let body = grammar.rule(grammar.root()).body();
                    let (found, steps) = TextAutomaton::any_in_counted(&grammar, body, &limits);
                    self.left = self.left.saturating_sub(steps);
                    found.ok()
                });
        decided.unwrap_or(true)
    }
}

/// The texts of a shape as an expression; `None` where it nests too deep.
pub(crate) fn expression_within<'s>(
    builder: &mut GrammarBuilder,
    shape: &StringShape<'s>,
    tests: &TextTests<'s>,
    lengths: Lengths,
) -> Option<ExprId> {
    expression(builder, shape, tests, (Approximation::Within, lengths, MAX_DEPTH))
}

/// The shape from one side as an expression; `None` where it nests too deep.
fn expression<'s>(
    builder: &mut GrammarBuilder,
    shape: &StringShape<'s>,
    tests: &TextTests<'s>,
    (side, lengths, depth): (Approximation, Lengths, u32),
) -> Option<ExprId> {
    let depth = depth.checked_sub(1)?;
    let one_of = |builder: &mut GrammarBuilder, texts: &[&'s str]| {
        let texts: Vec<ExprId> = texts.iter().map(|text| builder.literal(text)).collect();
        builder.choice(texts)
    };
    if let Some(values) = &shape.values {
        return Some(one_of(builder, values));
    }
    let mut operands = Vec::new();
    for test in &shape.tests {
        let side = if test.sense == Polarity::Holds { side } else { side.flipped() };
        let text = match tests.shapes(test.test) {
            Some(shapes) => {
                let texts: Option<Vec<ExprId>> = shapes
                    .iter()
                    .map(|shape| expression(builder, shape, tests, (side, Lengths::Multiplied, depth)))
                    .collect();
                builder.choice(texts?)
            }
            None => tests.build(test.test, side, lengths, builder)?,
        };
        operands.push(match test.sense {
            Polarity::Holds => text,
            Polarity::Fails => builder.complement(text),
        });
    }
    if !shape.excluded.is_empty() {
        let texts = one_of(builder, &shape.excluded);
        operands.push(builder.complement(texts));
    }
    if shape.min > 0 || shape.max.is_some() {
        let any = builder.any_char();
        let fits = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
        operands.push(builder.repeat(any, fits(shape.min), shape.max.map(fits)));
    }
    Some(builder.intersection(operands))
}

/// Whether an example of one of the tests passes all.
fn has_example<'s>(shape: &StringShape<'s>, tests: &TextTests<'s>, work: &Work) -> bool {
    let patterns = shape.tests.iter().filter(|test| test.sense == Polarity::Holds);
    let mut grammars = patterns.filter_map(|test| tests.grammar(test.test, Approximation::Within));
    let of_patterns = grammars.any(|grammar| {
        (0..MAX_EXAMPLES).any(|variant| {
            let mut example = Example { variant, longer: shape.min, text: String::new(), length: 0 };
            let is_written = example.write(grammar, grammar.rule(grammar.root()).body()).is_some();
            work.charge(4 + example.length);
            is_written && shape.contains_in(&example.text, tests, Approximation::Around)
        })
    });
    // Where all patterns must fail, most texts pass.
    of_patterns
        || ["a", "1", "_x", " -"].iter().any(|text| {
            let times = usize::try_from(shape.min).map_or(usize::MAX, |min| min.max(1));
            times <= MAX_EXAMPLE_LEN && shape.contains_in(&text.repeat(times), tests, Approximation::Around)
                || text.len() == 1 && shape.contains_in("", tests, Approximation::Around)
        })
}

/// A text that a pattern matches.
struct Example {
    /// Examples of different numbers take different characters and alternatives.
    variant: usize,
    /// Characters that are missing still, for repeats to add.
    longer: u64,
    text: String,
    length: usize,
}

/// Characters that examples are made of where a class has them.
const COMMON: [char; 10] = ['a', '0', 'A', '1', '_', '-', '/', '.', ' ', '@'];

impl Example {
    /// `None` where the text grows too long, or nothing matches. Nesting is bounded by the regex frontend.
    fn write(&mut self, grammar: &Grammar, id: ExprId) -> Option<()> {
        if self.length > MAX_EXAMPLE_LEN {
            return None;
        }
        match grammar.expr(id) {
            Expr::Empty => {}
            Expr::Bytes(bytes) => {
                let literal = std::str::from_utf8(bytes).ok()?;
                self.length += literal.chars().count();
                self.text.push_str(literal);
            }
            Expr::Class(ranges) => {
                self.text.push(self.one_of(ranges)?);
                self.length += 1;
            }
            Expr::Sequence(parts) => {
                for &part in parts {
                    self.write(grammar, part)?;
                }
            }
            Expr::Choice(alternatives) => {
                let chosen = self.variant.checked_rem(alternatives.len())?;
                self.write(grammar, alternatives[chosen])?;
            }
            // The others are tried on the whole.
            Expr::Intersection(parts) => self.write(grammar, *parts.first()?)?,
            Expr::Repeat { body, min, max } => {
                let extra = self.longer.saturating_sub(self.length as u64).min(MAX_EXAMPLE_LEN as u64 + 1);
                let usual = u64::from(min) + (self.variant % 3 / 2) as u64;
                let times = usual.max(extra).min(u64::from(max.unwrap_or(u32::MAX)));
                for round in 1..=times {
                    let before = self.length;
                    self.write(grammar, body)?;
                    let is_enough = round >= usual && self.length as u64 >= self.longer;
                    // Rounds that add nothing can go on for ever.
                    if is_enough || self.length == before {
                        break;
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn one_of(&self, ranges: &[CharRange]) -> Option<char> {
        let has = |common: &char| ranges.iter().any(|(start, end)| (start..=end).contains(&common));
        let turned = COMMON.iter().cycle().skip(self.variant % COMMON.len()).take(COMMON.len());
        turned.copied().find(has).or_else(|| ranges.first().map(|range| range.0))
    }
}
