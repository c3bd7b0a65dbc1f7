//! Numbers.

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, passes};
use once_cell::race::OnceBox;

use super::digits::{DigitForm, Digits, FractionForm, has_digits_alone};
use super::lowering::SchemaLowering;
use super::whole_numbers::WholeNumbers;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::{Draft, NodeId};
use crate::json_schema::document::nodes::Document;
use crate::json_schema::error::grammar_error;
use crate::json_schema::options::Numbers;
use crate::json_schema::sets::decimal::{Decimal, Divisor};
use crate::json_schema::sets::number_shape::{Bound, Edge, NumberKind, NumberShape};

/// The rule of all numbers.
const NUMBER_RULE: &str = "json_number";

impl SchemaLowering<'_> {
    /// A number out of one of the shapes.
    pub(super) fn numbers(&mut self, shapes: &[NumberShape], node: NodeId) -> Result<Option<ExprId>> {
        if *shapes == [NumberShape::any()] {
            return self.any_number().map(Some);
        }
        if *shapes == [NumberShape::of_kind(NumberKind::Integer)] {
            return self.any_integer().map(Some);
        }
        let mut alternatives = Vec::new();
        for (shapes, whole) in self.told_together(shapes) {
            match whole {
                Some(whole) => {
                    alternatives.extend(self.whole_numbers(whole, shapes[0], node)?);
                    alternatives.extend(shapes.iter().filter_map(|shape| self.exponents(shape)));
                }
                None => {
                    for shape in shapes {
                        alternatives.extend(self.number(shape, node)?);
                    }
                }
            }
        }
        Ok((!alternatives.is_empty()).then(|| self.builder.choice(alternatives)))
    }

    /// The shapes, with those of whole numbers between the same bounds side by side: one automaton tells them. It has no
    /// more states than that of one of them, because its modulus is the largest of theirs.
    fn told_together<'a>(
        &self,
        shapes: &'a [NumberShape],
    ) -> Vec<(Vec<&'a NumberShape>, Option<WholeNumbers>)> {
        let bounds = |shape: &'a NumberShape| (shape.kind, &shape.lower, &shape.upper);
        let mut whole: Vec<Option<WholeNumbers>> = match shapes {
            [_] => vec![None],
            _ => shapes.iter().map(WholeNumbers::of).collect(),
        };
        let mut alike: HashMap<_, usize> = HashMap::default();
        for (shape, _) in shapes.iter().zip(&whole).filter(|(_, whole)| whole.is_some()) {
            *alike.entry(bounds(shape)).or_default() += 1;
        }
        let mut groups: Vec<(Vec<&NumberShape>, Option<WholeNumbers>)> = Vec::new();
        // The last group of some bounds: trying all of them takes quadratic time.
        let mut last: HashMap<_, usize> = HashMap::default();
        for (shape, whole) in shapes.iter().zip(&mut whole) {
            let whole = whole.take().filter(|_| {
                alike.get(&bounds(shape)).is_some_and(|&shapes| shapes > 1)
                    && self.counts_of_few(shape).is_none()
                    && self.long_numbers(shape).is_none()
            });
            let known = last.get(&bounds(shape)).and_then(|&at: &usize| groups.get_mut(at));
            let is_joined = match (&whole, known) {
                (Some(whole), Some((others, Some(group)))) if group.fits(whole) => {
                    group.join(whole);
                    others.push(shape);
                    true
                }
                _ => false,
            };
            if !is_joined {
                if whole.is_some() {
                    last.insert(bounds(shape), groups.len());
                }
                groups.push((vec![shape], whole));
            }
        }
        groups
    }

    pub(super) fn digit_form(&self, kind: NumberKind) -> DigitForm {
        DigitForm::of(self.normalizer.options.numbers, kind, self.draft())
    }

    pub(super) fn digits(&mut self, kind: NumberKind) -> Digits<'_> {
        let form = self.digit_form(kind);
        Digits { builder: &mut self.builder, form }
    }

    fn digits_for(&mut self, shape: &NumberShape) -> Digits<'_> {
        let bounds = [&shape.lower, &shape.upper].into_iter().flatten();
        let form = self.digit_form(shape.kind).with_room_for(bounds.map(|bound| &bound.value));
        Digits { builder: &mut self.builder, form }
    }

    /// All numbers.
    fn any_number(&mut self) -> Result<ExprId> {
        let numbers = self.normalizer.options.numbers;
        match printed_number().filter(|_| numbers == Numbers::PRINTED) {
            Some(printed) => self.shared_rule(NUMBER_RULE, |builder| passes::append(builder, printed)),
            None => self.shared(NUMBER_RULE, |builder| any_number(builder, numbers)),
        }
    }

    fn draft(&self) -> Draft {
        self.normalizer.document.draft(Document::ROOT)
    }

    /// All whole numbers.
    fn any_integer(&mut self) -> Result<ExprId> {
        let (numbers, draft) = (self.normalizer.options.numbers, self.draft());
        self.shared("json_integer", |builder| any_integer(builder, numbers, draft))
    }

    /// The numbers of a shape, those with an exponent among them.
    fn number(&mut self, shape: &NumberShape, node: NodeId) -> Result<Option<ExprId>> {
        let listed = self.few_multiples(shape);
        self.normalizer.check_work()?;
        let shape = listed.as_ref().unwrap_or(shape);
        let decimals = self.decimals(shape, node)?;
        let exponents = if self.long_numbers(shape).is_some() { None } else { self.exponents(shape) };
        let ways: Vec<ExprId> = decimals.into_iter().chain(exponents).collect();
        Ok((!ways.is_empty()).then(|| self.builder.choice(ways)))
    }

    /// The keywords one of which gives a number of more digits than the limit when it is written without an exponent.
    fn long_numbers(&self, shape: &NumberShape) -> Option<[&'static str; 2]> {
        let limit = self.normalizer.options.limits.digits;
        let is_long = |value: &Decimal| value.written_len() > limit;
        let is_far = |bound: &Option<Bound>| bound.as_ref().is_some_and(|bound| is_long(&bound.value));
        if shape.values.iter().flatten().any(is_long) {
            return Some(["enum", "const"]);
        }
        if is_far(&shape.lower) {
            return Some(["minimum", "exclusiveMinimum"]);
        }
        is_far(&shape.upper).then_some(["maximum", "exclusiveMaximum"])
    }

    /// The numbers of a shape that are written with an exponent. Of the multiples of a step those that are multiples of
    /// the least power of ten that the step divides; where it divides none, none.
    fn exponents(&mut self, shape: &NumberShape) -> Option<ExprId> {
        let numbers = self.normalizer.options.numbers;
        let are_written = matches!(numbers, Numbers::Printed { .. } | Numbers::Any);
        if !are_written || shape.kind == NumberKind::Integer && has_digits_alone(numbers, self.draft()) {
            return None;
        }
        let mut digits = self.digits(shape.kind);
        if let Some(values) = &shape.values {
            let texts =
                values.iter().map_while(|value| digits.unless_interrupted(|it| it.exponents_of(value)));
            let texts: Vec<ExprId> = texts.flatten().collect();
            return (!texts.is_empty()).then(|| digits.builder.choice(texts));
        }
        let bounds = (shape.lower.as_ref(), shape.upper.as_ref());
        let whole = (shape.kind == NumberKind::Integer).then_some(0);
        // The step of the most digits before the point is the one that counts.
        let mut places = whole;
        for &step in &shape.steps {
            let next = divided_power_of_ten(step)?;
            places = Some(places.map_or(next, |places| places.min(next)));
        }
        let mut operands = vec![digits.exponents_between(bounds.0, bounds.1, places)?];
        let fractional = (shape.kind == NumberKind::Fractional).then_some(0);
        let excluded: Option<Vec<i64>> = shape.not_steps.iter().map(|&step| power_of_ten(step)).collect();
        for places in excluded?.into_iter().chain(fractional) {
            if let Some(multiples) = digits.exponents_between(None, None, Some(places)) {
                operands.push(digits.builder.complement(multiples));
            }
        }
        Some(digits.builder.intersection(operands))
    }

    /// The numbers of a shape that are written without an exponent.
    pub(super) fn decimals(&mut self, shape: &NumberShape, node: NodeId) -> Result<Option<ExprId>> {
        if let Some([usual, other]) = self.long_numbers(shape) {
            let limit = self.normalizer.options.limits.digits;
            let keyword = if self.normalizer.has_keyword(node, other) { other } else { usual };
            let reason = format!("a number of more than {limit} digits when written without an exponent");
            self.normalizer.unsupported(
                node,
                keyword,
                reason,
                "use fewer digits or raise the limit `digits`",
            )?;
            return self.any_number().map(Some);
        }
        if let Some(values) = &shape.values {
            let mut digits = self.digits(shape.kind);
            let texts = values.iter().map_while(|value| digits.unless_interrupted(|it| it.exactly(value)));
            let texts: Vec<ExprId> = texts.collect();
            return Ok((!texts.is_empty()).then(|| self.builder.choice(texts)));
        }
        if let Some(whole) = WholeNumbers::of(shape) {
            return self.whole_numbers(whole, shape, node);
        }
        if !shape.not_steps.is_empty() {
            return self.without_multiples(shape, node);
        }
        // A multiple of several steps is a multiple of their least common multiple.
        let mut step: Option<Divisor> = None;
        for &next in &shape.steps {
            step = match step.map(|step| step.least_common_multiple(next)) {
                None => Some(next),
                Some(Some(common)) => Some(common),
                Some(None) => {
                    let reason = "the steps have no common multiple of a sensible size";
                    self.normalizer.unsupported(node, "multipleOf", reason, "use one step")?;
                    None
                }
            };
        }
        match step {
            Some(step) => self.stepped(shape, step, node),
            None => Ok(self.interval(shape)),
        }
    }

    /// Numbers that are multiples of none of some steps: the whole ones by their remainder, and all others,
    /// which no whole step divides. Of whole numbers, those that a step with a fraction divides are those that the
    /// least whole multiple of the step divides.
    fn without_multiples(&mut self, shape: &NumberShape, node: NodeId) -> Result<Option<ExprId>> {
        let freed = NumberShape { not_steps: Vec::new(), ..shape.clone() };
        let is_told = shape.not_steps.iter().all(|step| step.places == 0);
        let integers = NumberShape { kind: NumberKind::Integer, ..shape.clone() };
        let Some(whole) = WholeNumbers::of(&integers).filter(|_| is_told) else {
            if let Some(texts) = self.without_multiples_by_fraction(shape, node)? {
                return Ok(texts);
            }
            let limit = self.normalizer.options.limits.states;
            let reason = format!("telling the numbers that are no multiples takes more than {limit} states");
            let hint = "remove the `not` around it, or raise the limit `states`";
            self.normalizer.unsupported(node, "multipleOf", reason, hint)?;
            return self.decimals(&freed, node);
        };
        let fractional = self.decimals(&NumberShape { kind: NumberKind::Fractional, ..freed }, node)?;
        let whole = match shape.kind {
            NumberKind::Any => self.whole_numbers(whole, shape, node)?,
            NumberKind::Integer | NumberKind::Fractional => None,
        };
        let alternatives: Vec<ExprId> = fractional.into_iter().chain(whole).collect();
        Ok((!alternatives.is_empty()).then(|| self.builder.choice(alternatives)))
    }

    /// Numbers of a kind between bounds.
    pub(super) fn interval(&mut self, shape: &NumberShape) -> Option<ExprId> {
        let mut digits = self.digits_for(shape);
        match shape.kind {
            NumberKind::Any => digits.between(shape.lower.as_ref(), shape.upper.as_ref()),
            NumberKind::Integer => {
                let (lower, upper) = shape.whole_bounds();
                self.whole_interval(shape.kind, lower.as_ref(), upper.as_ref())
            }
            NumberKind::Fractional => {
                let between = digits.between(shape.lower.as_ref(), shape.upper.as_ref())?;
                let point = self.builder.literal(".");
                let (any, some) = (self.builder.any_char(), self.builder.class([('1', '9')]));
                let any = self.builder.repeat(any, 0, None);
                let fractional = self.builder.sequence([any, point, any, some, any]);
                Some(self.builder.intersection([between, fractional]))
            }
        }
    }

    pub(super) fn whole_interval(
        &mut self,
        kind: NumberKind,
        lower: Option<&Decimal>,
        upper: Option<&Decimal>,
    ) -> Option<ExprId> {
        let form = self.digit_form(kind).with_room_for(lower.into_iter().chain(upper));
        let mut digits = Digits { builder: &mut self.builder, form };
        let whole = digits.whole_between(lower, upper)?;
        let end = digits.zero_fraction();
        Some(self.builder.sequence([whole, end]))
    }

    fn stepped(&mut self, shape: &NumberShape, step: Divisor, node: NodeId) -> Result<Option<ExprId>> {
        // Whole multiples are told before.
        let step = match shape.kind {
            NumberKind::Integer => step.least_common_multiple(Divisor::ONE),
            NumberKind::Any | NumberKind::Fractional => Some(step),
        };
        match step {
            Some(Divisor { places: 0, .. }) => Ok(None),
            Some(Divisor { units: 1, places }) => {
                let interval = self.interval(shape);
                Ok(interval.map(|interval| self.with_places(interval, places)))
            }
            Some(step) => self.fractional_multiples(shape, step, node),
            None => {
                let reason = "the step has too many digits";
                self.normalizer.unsupported(
                    node,
                    "multipleOf",
                    reason,
                    "use a whole step or a power of ten",
                )?;
                Ok(self.interval(shape))
            }
        }
    }

    /// Numbers with at most this many digits after the point, zeros at the end not counted.
    fn with_places(&mut self, interval: ExprId, places: u32) -> ExprId {
        let builder = &mut self.builder;
        let not_point = builder.negated_class([('.', '.')]);
        let whole = builder.repeat(not_point, 0, None);
        let (digit, zero) = (builder.class([('0', '9')]), builder.class([('0', '0')]));
        let digits = builder.repeat(digit, 0, Some(places));
        let zeros = builder.repeat(zero, 0, None);
        let point = builder.literal(".");
        let fraction = builder.sequence([point, digits, zeros]);
        let fraction = builder.optional(fraction);
        let form = builder.sequence([whole, fraction]);
        builder.intersection([interval, form])
    }

    /// Multiples of a step with a fraction. Without bounds the digits before the point and the first few
    /// after it are one whole number that the step's digits divide.
    fn fractional_multiples(
        &mut self,
        shape: &NumberShape,
        step: Divisor,
        node: NodeId,
    ) -> Result<Option<ExprId>> {
        let is_zero = |bound: &Bound| bound.value.is_zero() && bound.edge == Edge::Inclusive;
        let limit = self.normalizer.options.limits.states as u64;
        let is_plain = self.digit_form(shape.kind).has_negative_zero
            && shape.kind == NumberKind::Any
            && shape.upper.is_none()
            && shape.lower.as_ref().is_none_or(is_zero);
        if !is_plain || step.units.saturating_mul(u64::from(step.places) + 2) > limit {
            if let Some(texts) = self.multiples_by_fraction(shape, step, node)? {
                return Ok(texts);
            }
            let reason =
                format!("telling the multiples of a step with a fraction takes more than {limit} states");
            let hint = "use a whole step or a power of ten, or raise the limit `states`";
            self.normalizer.unsupported(node, "multipleOf", reason, hint)?;
            return Ok(self.interval(shape));
        }
        let magnitude = self.fractional_magnitude(shape.kind, step)?;
        if shape.lower.is_some() {
            let zero = self.digits(shape.kind).exactly(&Decimal::zero());
            return Ok(Some(self.builder.choice([magnitude, zero])));
        }
        let minus = self.builder.literal("-");
        let sign = self.builder.optional(minus);
        Ok(Some(self.builder.sequence([sign, magnitude])))
    }

    fn fractional_magnitude(&mut self, kind: NumberKind, step: Divisor) -> Result<ExprId> {
        let modulus = u128::from(step.units);
        let size = usize::try_from(step.units).unwrap_or(usize::MAX);
        let times_ten = |remainder: usize, digit: u128| {
            usize::try_from((remainder as u128 * 10 + digit) % modulus).unwrap_or(0)
        };
        // `after[r]`: what may follow with `left` places to come and remainder `r`, after a zero and after another digit.
        // Fractions end with a zero where any number of them may follow.
        let has_zeros = self.digit_form(kind).fraction == FractionForm::Any;
        let end = self.digits(kind).zeros(step.places as usize, 0);
        let ends = [has_zeros.then_some(end), Some(end)];
        let mut after: Vec<[Option<ExprId>; 2]> =
            (0..size).map(|at| if at == 0 { ends } else { [None; 2] }).collect();
        let mut first_places: Vec<Option<ExprId>> = after.iter().map(|rests| rests[0]).collect();
        for place in 0..step.places {
            let mut before = Vec::with_capacity(size);
            let mut nonempty = Vec::with_capacity(size);
            for remainder in 0..size {
                let mut ways = Vec::new();
                for digit in 0..10u8 {
                    if let Some(rest) = after[times_ten(remainder, u128::from(digit))][usize::from(digit > 0)]
                    {
                        let digit = self.digits(kind).digit(digit, digit);
                        ways.push(self.builder.sequence([digit, rest]));
                    }
                }
                let goes_on = (!ways.is_empty()).then(|| self.builder.choice(ways));
                nonempty.push(goes_on);
                let goes_on = match goes_on {
                    None => None,
                    Some(body) => {
                        let rule = self.builder.declare_fresh("places").map_err(grammar_error)?;
                        self.builder.define(rule, body).map_err(grammar_error)?;
                        Some(self.builder.rule(rule))
                    }
                };
                let missing = (0..=place).fold(remainder, |rest, _| times_ten(rest, 0));
                let ends = (missing == 0).then(|| match goes_on {
                    Some(goes_on) => self.builder.optional(goes_on),
                    None => self.builder.empty(),
                });
                before.push([ends.filter(|_| has_zeros).or(goes_on), ends.or(goes_on)]);
            }
            after = before;
            first_places = nonempty;
        }
        let mut rules = Vec::with_capacity(size);
        for _ in 0..size {
            rules.push(self.builder.declare_fresh("multiple").map_err(grammar_error)?);
        }
        let point = self.builder.literal(".");
        let mut ends = Vec::with_capacity(size);
        for (remainder, fraction) in first_places.iter().enumerate() {
            let mut ways = Vec::new();
            if let Some(fraction) = fraction {
                ways.push(self.builder.sequence([point, *fraction]));
            }
            if (0..step.places).fold(remainder, |rest, _| times_ten(rest, 0)) == 0 {
                ways.push(if has_zeros { self.builder.empty() } else { self.digits(kind).zero_fraction() });
            }
            ends.push(ways);
        }
        let step_on = |from: usize, digit: u8, lowering: &mut Self| {
            let rule = lowering.builder.rule(rules[times_ten(from, u128::from(digit))]);
            let digit = lowering.digits(kind).digit(digit, digit);
            lowering.builder.sequence([digit, rule])
        };
        for remainder in 0..size {
            let mut ways = ends[remainder].clone();
            ways.extend((0..10).map(|digit| step_on(remainder, digit, self)));
            let body = self.builder.choice(ways);
            self.builder.define(rules[remainder], body).map_err(grammar_error)?;
        }
        let mut starts: Vec<ExprId> = (1..10).map(|digit| step_on(0, digit, self)).collect();
        let zero = self.builder.literal("0");
        let end = self.builder.choice(ends[0].iter().copied());
        starts.push(self.builder.sequence([zero, end]));
        Ok(self.builder.choice(starts))
    }
}

/// The places after the point of the least power of ten that is a multiple of a step: 0 for 0.5, -2 for 25.
fn divided_power_of_ten(step: Divisor) -> Option<i64> {
    let mut units = step.units;
    let mut count = |factor: u64| {
        let mut count = 0;
        while units > 1 && units.is_multiple_of(factor) {
            (units, count) = (units / factor, count + 1);
        }
        count
    };
    let most = count(2).max(count(5));
    (units == 1).then_some(i64::from(step.places) - most)
}

/// The places after the point of a step that is a power of ten.
fn power_of_ten(step: Divisor) -> Option<i64> {
    let (mut units, mut places) = (step.units, i64::from(step.places));
    while units > 1 && units.is_multiple_of(10) {
        (units, places) = (units / 10, places - 1);
    }
    (units == 1).then_some(places)
}

/// All numbers in the default spelling. Most schemas have them, and they are a good part of what a small one takes.
fn printed_number() -> Option<&'static Grammar> {
    static NUMBER: OnceBox<Option<Grammar>> = OnceBox::new();
    let write = || {
        let mut builder = GrammarBuilder::new();
        let body = any_number(&mut builder, Numbers::PRINTED);
        let rule = builder.declare(NUMBER_RULE).ok()?;
        builder.define(rule, body).ok()?;
        builder.finish(rule).ok()
    };
    NUMBER.get_or_init(|| Box::new(write())).as_ref()
}

/// All numbers.
pub(crate) fn any_number(builder: &mut GrammarBuilder, numbers: Numbers) -> ExprId {
    let form = DigitForm::of(numbers, NumberKind::Any, Draft::Draft2020);
    let mut digits = Digits { builder, form };
    let (zero, positive, fraction) = (digits.zero(), digits.positive_whole(), digits.any_fraction());
    let (below_one, from_one) = (digits.below_one(), digits.builder.sequence([positive, fraction]));
    let magnitude = digits.builder.choice([below_one, from_one]);
    let zero_fraction = digits.zero_fraction();
    let zero = digits.builder.sequence([zero, zero_fraction]);
    let decimal = digits.signed_or_zero(magnitude, zero);
    match numbers {
        Numbers::Canonical => decimal,
        Numbers::Any => {
            let exponent = digits.any_exponent();
            let exponent = digits.builder.optional(exponent);
            digits.builder.sequence([decimal, exponent])
        }
        Numbers::Printed { .. } => {
            let exponents = digits.exponents_between(None, None, None);
            digits.builder.choice([decimal].into_iter().chain(exponents))
        }
    }
}

/// All whole numbers.
pub(crate) fn any_integer(builder: &mut GrammarBuilder, numbers: Numbers, draft: Draft) -> ExprId {
    let form = DigitForm::of(numbers, NumberKind::Integer, draft);
    let mut digits = Digits { builder, form };
    let (zero, positive, end) = (digits.zero(), digits.positive_whole(), digits.zero_fraction());
    let whole = digits.signed_or_zero(positive, zero);
    let whole = digits.builder.sequence([whole, end]);
    let exponents = match has_digits_alone(numbers, draft) {
        true => None,
        false => digits.exponents_between(None, None, Some(0)),
    };
    digits.builder.choice([whole].into_iter().chain(exponents))
}
