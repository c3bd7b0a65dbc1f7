//! Strings and names.
//!
//! A test speaks about decoded text; [`JsonEscaped`](grammask_grammar_ir::Expr::JsonEscaped) lays the
//! spelling over it. Escaping distributes over everything but intersection and complement, and it is pushed
//! down to single characters where a long counted run would otherwise be hidden from the engine's counters.

use grammask_fsm::text::MAX_COUNTED_MIN;
use grammask_grammar_ir::{CharRange, Expr, ExprId, passes};

use super::lowering::SchemaLowering;
use super::nonempty::nonempty;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::text_tests::{
    Approximation, ClassRun, Lengths, Polarity, TestId, TextTest, Weight,
};
use crate::json_schema::value_syntax::NameSyntax;

impl<'s> SchemaLowering<'s> {
    /// A string with its quotes, out of one of the shapes.
    pub(super) fn string_value(
        &mut self,
        shapes: &[StringShape<'s>],
        node: NodeId,
    ) -> Result<Option<ExprId>> {
        if shapes.is_empty() {
            return Ok(None);
        }
        if let Some(&known) = self.strings.get(shapes) {
            return Ok(known);
        }
        let expr = if let Some(notation) = self.notation {
            self.notation_string(shapes, node, notation)?
        } else if *shapes == [StringShape::any()] && !self.excludes_texts() {
            let quote = self.punctuation.quote;
            let any = self.builder.any_char();
            let any = self.escaped(any);
            Some(self.shared("json_string", |builder| {
                let text = builder.repeat(any, 0, None);
                builder.sequence([quote, text, quote])
            })?)
        } else {
            match self.format_alone(shapes) {
                Some(format) => self.shared_format(format, shapes, node)?,
                None => self.quoted_shapes(shapes, node)?,
            }
        };
        self.strings.insert(shapes.to_vec(), expr);
        Ok(expr)
    }

    fn quoted_shapes(&mut self, shapes: &[StringShape<'s>], node: NodeId) -> Result<Option<ExprId>> {
        let mut contents = Vec::with_capacity(shapes.len());
        for shape in shapes {
            contents.extend(self.spelled(shape, node)?);
        }
        if contents.is_empty() {
            return Ok(None);
        }
        let content = self.builder.choice(contents);
        let content = self.without_excluded(content);
        let quote = self.punctuation.quote;
        Ok(Some(self.builder.sequence([quote, content, quote])))
    }

    /// The format that is all that the shapes ask for.
    fn format_alone(&self, shapes: &[StringShape<'s>]) -> Option<&'static str> {
        let [shape] = shapes else { return None };
        let [TextTest { test, sense: Polarity::Holds }] = shape.tests.as_slice() else { return None };
        let is_alone = shape.values.is_none() && shape.excluded.is_empty();
        let tests = &self.normalizer.algebra.tests;
        let format = tests.format_of(*test)?;
        let is_bounded = || {
            if (shape.min, shape.max) == (0, None) {
                return false;
            }
            let (least, most) = tests.length_range(*test, Approximation::Within).unwrap_or_default();
            shape.min > least || shape.max.is_some_and(|max| most.is_none_or(|most| max < most))
        };
        (is_alone && !self.excludes_texts() && !is_bounded()).then_some(format.name)
    }

    /// The strings of a format. Many schemas have the same ones.
    fn shared_format(
        &mut self,
        format: &'static str,
        shapes: &[StringShape<'s>],
        node: NodeId,
    ) -> Result<Option<ExprId>> {
        let Some(text) = self.quoted_shapes(shapes, node)? else { return Ok(None) };
        self.shared(format, |_| text).map(Some)
    }

    /// One string of JSON with its quotes.
    pub(super) fn quoted(&mut self, value: &str) -> ExprId {
        let text = self.builder.literal(value);
        let text = self.escaped(text);
        let (text, quote) = (self.without_excluded(text), self.punctuation.quote);
        self.builder.sequence([quote, text, quote])
    }

    /// The strings of a shape as they are written between quotes.
    fn spelled(&mut self, shape: &StringShape<'s>, node: NodeId) -> Result<Option<ExprId>> {
        if shape.values.is_none() && shape.excluded.is_empty() {
            if shape.tests.is_empty() {
                let any = self.builder.any_char();
                return self.spelled_run(&plain_run(&shape_class(), shape), any).map(Some);
            }
            if let [TextTest { test, sense: Polarity::Holds }] = shape.tests.as_slice()
                && let Some(runs) = self.normalizer.algebra.tests.class_runs(*test)
            {
                let mut texts = Vec::with_capacity(runs.len());
                for run in runs.into_iter().filter_map(|run| bounded_run(run, shape)) {
                    let class = self.builder.class(run.class.iter().copied());
                    texts.push(self.spelled_run(&run, class)?);
                }
                return Ok((!texts.is_empty()).then(|| self.builder.choice(texts)));
            }
        }
        let lengths = if self.excludes_texts() { Lengths::Multiplied } else { Lengths::Counted };
        let Some(text) = self.text_in(shape, node, (Approximation::Within, lengths))? else {
            return Ok(None);
        };
        let is_format = shape.tests.iter().any(|test| self.normalizer.algebra.tests.is_format(test.test));
        if is_format {
            return Ok(Some(self.spelled_parts(text, MAX_NESTED_PARTS)));
        }
        Ok(Some(self.escaped(text)))
    }

    /// The spelling of each part of a text by itself: beside an intersection, counted runs stay counted.
    fn spelled_parts(&mut self, text: ExprId, depth: u32) -> ExprId {
        let (is_choice, parts) = match self.builder.expr(text) {
            Expr::Sequence(parts) if depth > 0 => (false, parts.to_vec()),
            Expr::Choice(parts) if depth > 0 => (true, parts.to_vec()),
            _ => return self.escaped(text),
        };
        let parts: Vec<ExprId> = parts.into_iter().map(|part| self.spelled_parts(part, depth - 1)).collect();
        if is_choice { self.builder.choice(parts) } else { self.builder.sequence(parts) }
    }

    fn spelled_run(&mut self, run: &ClassRun, class: ExprId) -> Result<ExprId> {
        let before = self.spelled_places(&run.before);
        let class = self.escaped(class);
        let middle = self.builder.repeat(class, run.min, run.max);
        let after = self.spelled_places(&run.after);
        Ok(self.builder.sequence([before, middle, after]))
    }

    /// Single characters in a row; those that are fixed are written as literals.
    fn spelled_places(&mut self, places: &[Vec<CharRange>]) -> ExprId {
        let mut parts = Vec::new();
        let mut literal = String::new();
        for place in places {
            match place.as_slice() {
                [(start, end)] if start == end => literal.push(*start),
                class => {
                    parts.push(self.builder.literal(&literal));
                    literal.clear();
                    parts.push(self.builder.class(class.iter().copied()));
                }
            }
        }
        parts.push(self.builder.literal(&literal));
        let places = self.builder.sequence(parts);
        let empty = self.builder.empty();
        if self.builder.expr(places) == self.builder.expr(empty) {
            return empty;
        }
        self.escaped(places)
    }

    /// The strings of a shape as decoded text.
    pub(super) fn text(&mut self, shape: &StringShape<'s>, node: NodeId) -> Result<Option<ExprId>> {
        self.text_in(shape, node, (Approximation::Within, Lengths::Multiplied))
    }

    fn text_in(
        &mut self,
        shape: &StringShape<'s>,
        node: NodeId,
        (approximation, lengths): (Approximation, Lengths),
    ) -> Result<Option<ExprId>> {
        if let Some(values) = &shape.values {
            if values.is_empty() {
                return Ok(None);
            }
            let values: Vec<ExprId> = values.iter().map(|value| self.builder.literal(value)).collect();
            return Ok(Some(self.builder.choice(values)));
        }
        if let Some(places) = &mut self.normalizer.rule_origins {
            places.text(shape, &self.normalizer.algebra.tests, node);
        }
        if !self.normalizer.algebra.may_be_nonempty(shape) {
            let conditions = shape.conditions(&self.normalizer.algebra.tests);
            self.normalizer.conflict(node, &format!("no string satisfies all of this: {conditions}"));
            return Ok(None);
        }
        if (approximation, lengths) == (Approximation::Within, Lengths::Counted)
            && let Some(texts) = self.normalizer.algebra.tests.format_alone(shape)
        {
            return Ok(passes::append_body(&mut self.builder, &texts));
        }
        let mut operands = Vec::new();
        for &test in &shape.tests {
            let Some(operand) = self.test_text(test, node, (approximation, lengths))? else {
                return Ok(None);
            };
            operands.push(operand);
        }
        if !shape.excluded.is_empty() {
            operands.push(self.none_of(&shape.excluded));
        }
        if let Some((min, max)) = self.needed_bounds(shape, node, (approximation, lengths))? {
            if let (&[operand], 1, None) = (operands.as_slice(), min, max)
                && let Some(text) = nonempty(&mut self.builder, operand)
            {
                return Ok(Some(text));
            }
            let any = self.builder.any_char();
            operands.push(self.builder.repeat(any, min, max));
        }
        Ok(Some(self.builder.intersection(operands)))
    }

    pub(super) fn none_of(&mut self, texts: &[&'s str]) -> ExprId {
        self.normalizer.algebra.work.charge(COMPLEMENT);
        let texts: Vec<ExprId> = texts.iter().map(|text| self.builder.literal(text)).collect();
        let texts = self.builder.choice(texts);
        self.builder.complement(texts)
    }

    /// The texts that pass a test for certain, or all that may.
    pub(super) fn test_text(
        &mut self,
        test: TextTest,
        node: NodeId,
        (approximation, lengths): (Approximation, Lengths),
    ) -> Result<Option<ExprId>> {
        let of_test = if test.sense == Polarity::Holds { approximation } else { approximation.flipped() };
        if of_test == Approximation::Around && self.normalizer.algebra.tests.has_no_complement(test.test) {
            let name = self.normalizer.algebra.tests.name(test.test);
            let reason = format!("of no text it is certain that it does not obey {name}");
            self.normalizer.unsupported(node, "format", reason, "say what is wanted with a pattern")?;
        }
        let text = match self.normalizer.algebra.tests.shapes(test.test).map(<[_]>::to_vec) {
            Some(shapes) => {
                let mut texts = Vec::new();
                // One shape stands for the test, and several are a part of it each.
                let is_whole = shapes.len() == 1 && test.sense == Polarity::Holds;
                let lengths = if is_whole { lengths } else { Lengths::Multiplied };
                for shape in &shapes {
                    texts.extend(self.text_in(shape, node, (of_test, lengths))?);
                }
                self.builder.choice(texts)
            }
            None => self.pattern_text(test.test, (of_test, lengths)),
        };
        Ok(match test.sense {
            Polarity::Holds => Some(text),
            Polarity::Fails => Some(self.builder.complement(text)),
        })
    }

    fn pattern_text(&mut self, test: TestId, (approximation, lengths): (Approximation, Lengths)) -> ExprId {
        let key = (test, approximation, lengths);
        if let Some(&known) = self.patterns.get(&key) {
            return known;
        }
        let text = match self.normalizer.algebra.tests.build(test, approximation, lengths, &mut self.builder)
        {
            Some(text) => text,
            None => self.builder.never(),
        };
        self.patterns.insert(key, text);
        text
    }

    /// The bounds on the length that the tests do not imply already, if the product that keeps them is small
    /// enough.
    fn needed_bounds(
        &mut self,
        shape: &StringShape<'s>,
        node: NodeId,
        (approximation, lengths): (Approximation, Lengths),
    ) -> Result<Option<(u32, Option<u32>)>> {
        if shape.min == 0 && shape.max.is_none() {
            return Ok(None);
        }
        let tests = &self.normalizer.algebra.tests;
        let holding = || shape.tests.iter().filter(|test| test.sense == Polarity::Holds);
        let known: Vec<_> = holding()
            .filter_map(|test| tests.built_length_range(test.test, approximation, lengths))
            .collect();
        let min = if known.iter().any(|range| range.0 >= shape.min) { 0 } else { shape.min };
        let implied = |max: u64| known.iter().any(|range| range.1.is_some_and(|known| known <= max));
        let max = shape.max.filter(|&max| !implied(max));
        if min == 0 && max.is_none() {
            return Ok(None);
        }
        if !shape.tests.is_empty() {
            self.normalizer.algebra.work.charge(PRODUCT);
        }
        let fits = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
        let is_counted = lengths == Lengths::Counted && min <= u64::from(MAX_COUNTED_MIN);
        let length = max.filter(|_| !is_counted).unwrap_or(min).saturating_add(1);
        let weights: Vec<Weight> = shape
            .tests
            .iter()
            .map(|test| {
                let weight = tests.weight(test.test, lengths);
                let all = weight.looping.saturating_add(weight.ending);
                // A text that a pattern does not match may have any length.
                if test.sense == Polarity::Holds {
                    weight
                } else {
                    Weight { looping: all, ending: 0, tail: 0 }
                }
            })
            .collect();
        let limit = self.normalizer.options.limits.states as u64;
        if !weights.is_empty() && counted_states(&weights, length) > limit.saturating_mul(COUNTED_FOR_EACH) {
            // Tests that have texts in common have fewer states together than their product.
            let is_measured =
                approximation == Approximation::Within && weights.len() > 1 && self.measures_left > 0;
            self.measures_left -= u32::from(is_measured);
            let texts = StringShape { min: 0, max: None, ..shape.clone() };
            if is_measured && let Some(together) = self.text_automaton(&texts, lengths) {
                let (least, most) = together.length_range().unwrap_or_default();
                let min = if u64::from(least) >= shape.min { 0 } else { min };
                let max = max.filter(|&max| most.is_none_or(|most| u64::from(most) > max));
                let states = (together.state_count() as u64).saturating_mul(length);
                if min == 0 && max.is_none() {
                    return Ok(None);
                }
                if states <= limit.saturating_mul(MEASURED_FOR_EACH) {
                    return Ok(Some((fits(min), max.map(fits))));
                }
            }
            let keyword = if max.is_some() { "maxLength" } else { "minLength" };
            let reason = format!(
                "keeping a length of {} beside the pattern or format takes more than {limit} states",
                max.unwrap_or(min)
            );
            let hint = "put the length into the pattern, or use a smaller bound";
            self.normalizer.unsupported(node, keyword, reason, hint)?;
            return Ok(None);
        }
        Ok(Some((fits(min), max.map(fits))))
    }

    /// A name that passes the tests and is none of `names`, without quotes; `None` where there is none.
    pub(super) fn free_name(
        &mut self,
        tests: &[TextTest],
        names: &[&'s str],
        node: NodeId,
    ) -> Result<Option<ExprId>> {
        // Names that fail the tests anyway need not be taken away again.
        let tests_of = &self.normalizer.algebra.tests;
        let mut clashing: Vec<&'s str> = names
            .iter()
            .copied()
            .filter(|name| tests.iter().all(|&test| tests_of.passes(test, name)))
            .collect();
        clashing.sort_unstable();
        clashing.dedup();
        let shape = StringShape { tests: tests.to_vec(), excluded: clashing, ..StringShape::any() };
        if let Some(places) = &mut self.normalizer.rule_origins {
            places.text(&shape, &self.normalizer.algebra.tests, node);
        }
        if !self.normalizer.algebra.may_be_nonempty(&shape) {
            return Ok(None);
        }
        let StringShape { tests, excluded: clashing, .. } = shape;
        let stands_alone = self.punctuation.names == NameSyntax::Json && !self.excludes_texts();
        let lengths = if stands_alone { Lengths::Counted } else { Lengths::Multiplied };
        let mut operands = Vec::new();
        for test in tests {
            let Some(operand) = self.test_text(test, node, (Approximation::Within, lengths))? else {
                return Ok(None);
            };
            operands.push(operand);
        }
        if !clashing.is_empty() {
            operands.push(self.none_of(&clashing));
        }
        if operands.is_empty() {
            let any = self.builder.any_char();
            if self.punctuation.names == NameSyntax::Json {
                let any = self.escaped(any);
                let text = self.builder.repeat(any, 0, None);
                return Ok(Some(self.without_excluded(text)));
            }
            operands.push(self.builder.repeat(any, 0, None));
        }
        let text = self.builder.intersection(operands);
        Ok(Some(self.spelled_name(text)))
    }
}

/// The work of a text whose tests and length are one automaton.
const PRODUCT: usize = 256;

/// The work of all texts but a few: its automaton has some thirty states beside those of the texts.
const COMPLEMENT: usize = 320;

/// States of a product with a bound on the length, as they are estimated, for each of the limit: minimising leaves a
/// small part of them. With the default limit a URI of 2,083 characters is taken.
const COUNTED_FOR_EACH: u64 = 80;

/// The same where the states of all tests together were counted: no product with a length has more than the engine takes.
const MEASURED_FOR_EACH: u64 = 20;

/// Sequences and alternatives inside one another whose parts are spelled by themselves.
const MAX_NESTED_PARTS: u32 = 3;

/// About how many states a product with a bound on the length has. Where the rest of a text is bounded, the length
/// matters only near the bound; see `counted.rs` in `fsm`.
fn counted_states(weights: &[Weight], length: u64) -> u64 {
    let looping =
        weights.iter().fold(length, |product, weight| product.saturating_mul(weight.looping.max(1)));
    let all = |weight: &Weight| weight.looping.saturating_add(weight.ending).max(1);
    let product = weights.iter().fold(1u64, |product, weight| product.saturating_mul(all(weight)));
    weights.iter().fold(looping, |sum, weight| {
        let with_end = (product / all(weight)).saturating_mul(weight.ending);
        sum.saturating_add(with_end.saturating_mul(length.min(weight.tail.max(1))))
    })
}

fn shape_class() -> Vec<CharRange> {
    vec![('\0', char::MAX)]
}

fn plain_run(class: &[CharRange], shape: &StringShape<'_>) -> ClassRun {
    let fits = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
    ClassRun {
        before: Vec::new(),
        class: class.to_vec(),
        min: fits(shape.min),
        max: shape.max.map(fits),
        after: Vec::new(),
    }
}

/// A run within the shape's bounds on the length; `None` where none of its texts is.
fn bounded_run(mut run: ClassRun, shape: &StringShape<'_>) -> Option<ClassRun> {
    let fixed = (run.before.len() + run.after.len()) as u64;
    let fits = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
    run.min = run.min.max(fits(shape.min.saturating_sub(fixed)));
    if let Some(max) = shape.max {
        let max = fits(max.checked_sub(fixed)?);
        run.max = Some(run.max.map_or(max, |known| known.min(max)));
    }
    run.max.is_none_or(|max| run.min <= max).then_some(run)
}
