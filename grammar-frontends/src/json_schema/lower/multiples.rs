//! Multiples of a step with a fraction, between bounds.
//!
//! The naive way intersects the texts of the interval with the automaton of the multiples. But the fractions
//! that may follow depend on the remainder of the digits before the point alone. Take multiples of 0.3. Whole
//! multiples of 3 have `.0`, `.3`, `.6` or `.9` after them, numbers with remainder 1 have `.2`, `.5`, `.8`,
//! and those with remainder 2 have `.1`, `.4`, `.7`. So there is one automaton of whole numbers for each list
//! of fractions, between the whole parts of the bounds. The few multiples with just these whole parts are
//! listed.
//!
//! Numbers that are no multiples are told in the same way, up to as many places as the steps have; those of more places are
//! multiples of none.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use grammask_grammar_ir::ExprId;

use super::digits::signs;
use super::lowering::SchemaLowering;
use super::remainders::Residues;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::sets::decimal::{Decimal, Divisor, greatest_common_divisor};
use crate::json_schema::sets::number_shape::{Bound, NumberKind, NumberShape};

/// Multiples of a step from 0 to the first whole one that are written out.
const MAX_FRACTIONS: u64 = 2_000;

/// Multiples that are listed where telling them takes too many states.
const MAX_LISTED: i128 = 4_096;

/// Units of work for a multiple that is listed: it becomes a literal, and an edge for each of its digits.
const WORK_FOR_A_MULTIPLE: usize = 20;

/// The multiples of a step by their whole parts; or numbers of other conditions that depend on remainders.
struct Fractions {
    /// Whole parts with the same remainder have the same fractions.
    modulus: u64,
    kind: NumberKind,
    /// Digits after the point, for each remainder.
    of: Vec<Vec<String>>,
}

impl Fractions {
    /// `None` where there are too many.
    fn new(step: Divisor, kind: NumberKind) -> Option<Self> {
        let scale = 10u64.checked_pow(step.places)?;
        let common = greatest_common_divisor(step.units, scale);
        if scale / common > MAX_FRACTIONS {
            return None;
        }
        let modulus = step.units / common;
        let mut of = vec![Vec::new(); usize::try_from(modulus).ok().filter(|&size| size <= 20_000)?];
        for count in 0..scale / common {
            let multiple = u128::from(count) * u128::from(step.units);
            let (whole, fraction) = (multiple / u128::from(scale), multiple % u128::from(scale));
            if fraction == 0 && kind == NumberKind::Fractional {
                continue;
            }
            let digits = format!("{fraction:0>width$}", width = step.places as usize);
            of[usize::try_from(whole).ok()?].push(digits.trim_end_matches('0').to_owned());
        }
        Some(Self { modulus, kind, of })
    }

    /// Numbers of at most this many places that are multiples of all steps of a shape, and of none of those
    /// that it excludes. `None` where more than this many remainders and fractions distinguish them.
    fn of_conditions(shape: &NumberShape, places: u32, most: usize) -> Option<Self> {
        let scale = 10u64.checked_pow(places)?;
        let scaled = |step: &Divisor| step.units.checked_mul(10u64.checked_pow(places - step.places)?);
        let steps: Vec<u64> = shape.steps.iter().map(scaled).collect::<Option<_>>()?;
        let excluded: Vec<u64> = shape.not_steps.iter().map(scaled).collect::<Option<_>>()?;
        if excluded.contains(&1) {
            // It divides all of these numbers.
            return Some(Self { modulus: 1, kind: shape.kind, of: vec![Vec::new()] });
        }
        let common = steps.iter().chain(&excluded).try_fold(1u64, |common, &step| {
            (common / greatest_common_divisor(common, step)).checked_mul(step)
        })?;
        let modulus = common / greatest_common_divisor(common, scale);
        if u128::from(modulus) * u128::from(scale) > most as u128 {
            return None;
        }
        let mut of = Vec::new();
        for remainder in 0..modulus {
            let mut fractions = Vec::new();
            for fraction in 0..scale {
                let number = remainder * scale + fraction;
                let is_multiple = |&step: &u64| number.is_multiple_of(step);
                let is_whole = fraction == 0;
                let is_of_kind =
                    shape.kind == NumberKind::Any || is_whole == (shape.kind == NumberKind::Integer);
                if is_of_kind && steps.iter().all(is_multiple) && !excluded.iter().any(is_multiple) {
                    let digits = format!("{fraction:0>width$}", width = places as usize);
                    fractions.push(digits.trim_end_matches('0').to_owned());
                }
            }
            of.push(fractions);
        }
        Some(Self { modulus, kind: shape.kind, of })
    }

    /// The fractions after a whole number that is not negative.
    fn fractions_after(&self, whole: &Decimal) -> &[String] {
        let remainder = whole.whole_digits().iter().fold(0, |remainder: u128, &digit| {
            (remainder * 10 + u128::from(digit)) % u128::from(self.modulus)
        });
        usize::try_from(remainder).ok().and_then(|at| self.of.get(at)).map_or(&[], Vec::as_slice)
    }

    /// The remainders with the same fractions.
    fn groups(&self) -> BTreeMap<&[String], Vec<u64>> {
        let mut groups: BTreeMap<&[String], Vec<u64>> = BTreeMap::new();
        for (remainder, fractions) in (0..).zip(&self.of).filter(|(_, fractions)| !fractions.is_empty()) {
            groups.entry(fractions).or_default().push(remainder);
        }
        groups
    }
}

/// A number times a power of ten, without what is left after the point; `None` where it is large.
fn scaled(value: &Decimal, places: u32) -> Option<i128> {
    if value.written_len() > 30 || places > 6 {
        return None;
    }
    let fraction = value.fraction_digits();
    let places = (0..places as usize).map(|place| fraction.get(place).copied().unwrap_or(0));
    let digits = value.whole_digits().into_iter().chain(places);
    let magnitude = digits.fold(0i128, |number, digit| number * 10 + i128::from(digit));
    Some(if value.is_negative() { -magnitude } else { magnitude })
}

impl SchemaLowering<'_> {
    /// The multiples of a step in the interval of a shape, if few enough states distinguish them.
    pub(super) fn multiples_by_fraction(
        &mut self,
        shape: &NumberShape,
        step: Divisor,
        node: NodeId,
    ) -> Result<Option<Option<ExprId>>> {
        let Some(fractions) = Fractions::new(step, shape.kind) else { return Ok(None) };
        self.by_fraction(&fractions, shape, node)
    }

    /// The numbers of a shape that are multiples of none of some steps, some of which have fractions; `None` where too
    /// many states distinguish them.
    pub(super) fn without_multiples_by_fraction(
        &mut self,
        shape: &NumberShape,
        node: NodeId,
    ) -> Result<Option<Option<ExprId>>> {
        let steps = shape.steps.iter().chain(&shape.not_steps);
        let places = steps.map(|step| step.places).max().unwrap_or(0);
        let most = self.normalizer.options.limits.states;
        let Some(fractions) = Fractions::of_conditions(shape, places, most) else { return Ok(None) };
        let Some(up_to_places) = self.by_fraction(&fractions, shape, node)? else { return Ok(None) };
        // A number with more places is a multiple of no step.
        let beyond = match shape.steps.is_empty() && shape.kind != NumberKind::Integer {
            true => self.beyond_places(shape, places),
            false => None,
        };
        let ways: Vec<ExprId> = up_to_places.into_iter().chain(beyond).collect();
        Ok(Some((!ways.is_empty()).then(|| self.builder.choice(ways))))
    }

    /// Numbers between the bounds of a shape with another digit than zero after this many places.
    fn beyond_places(&mut self, shape: &NumberShape, places: u32) -> Option<ExprId> {
        let bounds =
            NumberShape { lower: shape.lower.clone(), upper: shape.upper.clone(), ..NumberShape::any() };
        let interval = self.interval(&bounds)?;
        let builder = &mut self.builder;
        let not_point = builder.negated_class([('.', '.')]);
        let whole = builder.repeat(not_point, 0, None);
        let (point, digit) = (builder.literal("."), builder.class([('0', '9')]));
        let skipped = builder.repeat(digit, places, None);
        let (some, rest) = (builder.class([('1', '9')]), builder.repeat(digit, 0, None));
        let form = builder.sequence([whole, point, skipped, some, rest]);
        Some(builder.intersection([interval, form]))
    }

    /// The numbers of a shape between two bounds, where its steps leave few and telling them takes too many states.
    pub(super) fn few_multiples(&self, shape: &NumberShape) -> Option<NumberShape> {
        let (step, counts) = self.counts_of_few(shape)?;
        let units = i128::from(step.units);
        let mut values = Vec::new();
        for count in counts {
            self.normalizer.algebra.work.charge(WORK_FOR_A_MULTIPLE);
            let value = Decimal::parse(&format!("{}e-{}", count.checked_mul(units)?, step.places))?;
            values.extend(shape.contains(&value).then_some(value));
        }
        let kind = match shape.kind {
            NumberKind::Integer => NumberKind::Integer,
            NumberKind::Any | NumberKind::Fractional => NumberKind::Any,
        };
        Some(NumberShape { kind, ..NumberShape::finite(values) })
    }

    /// The step of a shape whose multiples are listed, and how many times it they are at least and at most.
    pub(super) fn counts_of_few(&self, shape: &NumberShape) -> Option<(Divisor, RangeInclusive<i128>)> {
        let (low, high) = (&shape.lower.as_ref()?.value, &shape.upper.as_ref()?.value);
        let step = shape.step()?;
        let all = shape.not_steps.iter().try_fold(step, |all, &next| all.least_common_multiple(next));
        let states = |all: Divisor| all.units.saturating_mul(low.written_len().max(high.written_len()) + 2);
        if all.is_some_and(|all| states(all) <= self.normalizer.options.limits.states as u64) {
            return None;
        }
        let units = i128::from(step.units);
        // Rounding moves each end by less than two steps.
        let first = scaled(low, step.places)? / units - 2;
        let last = scaled(high, step.places)? / units + 2;
        (last - first <= MAX_LISTED).then_some((step, first..=last))
    }

    /// The numbers of the fractions in the interval of a shape, if few enough states distinguish them.
    fn by_fraction(
        &mut self,
        fractions: &Fractions,
        shape: &NumberShape,
        node: NodeId,
    ) -> Result<Option<Option<ExprId>>> {
        let bounds = [&shape.lower, &shape.upper].into_iter().flatten();
        let longest = bounds.map(|bound| bound.value.whole_digits().len() as u64 + 2).max().unwrap_or(2);
        let states =
            (fractions.groups().len() as u64).saturating_mul(fractions.modulus).saturating_mul(longest);
        if states > self.normalizer.options.limits.states as u64 {
            return Ok(None);
        }
        let has_negative_zero = self.digit_form(shape.kind).has_negative_zero;
        let (negative, positive) = signs(shape.lower.as_ref(), shape.upper.as_ref(), has_negative_zero);
        let mut alternatives = Vec::new();
        if let Some((low, high)) = negative
            && let Some(texts) = self.unsigned_multiples(fractions, &low, high.as_ref(), node)?
        {
            let minus = self.builder.literal("-");
            alternatives.push(self.builder.sequence([minus, texts]));
        }
        if let Some((low, high)) = positive {
            alternatives.extend(self.unsigned_multiples(fractions, &low, high.as_ref(), node)?);
        }
        Ok(Some((!alternatives.is_empty()).then(|| self.builder.choice(alternatives))))
    }

    /// Multiples between bounds that are not negative.
    fn unsigned_multiples(
        &mut self,
        fractions: &Fractions,
        low: &Bound,
        high: Option<&Bound>,
        node: NodeId,
    ) -> Result<Option<ExprId>> {
        let interval = NumberShape { lower: Some(low.clone()), upper: high.cloned(), ..NumberShape::any() };
        let first = low.value.floor();
        let last = high.map(|high| high.value.floor());
        let mut values = Vec::new();
        for whole in std::iter::once(&first).chain(last.as_ref().filter(|&last| *last > first)) {
            let digits: String = whole.whole_digits().iter().map(|&digit| char::from(b'0' + digit)).collect();
            let texts =
                fractions.fractions_after(whole).iter().map(|fraction| format!("0{digits}.{fraction}0"));
            values.extend(
                texts.filter_map(|text| Decimal::parse(&text)).filter(|value| interval.contains(value)),
            );
        }
        let mut alternatives = Vec::new();
        let mut digits = self.digits(fractions.kind);
        // The sign of zero is that of the interval.
        digits.form.has_negative_zero = false;
        alternatives.extend(values.iter().map(|value| digits.exactly(value)));
        let (after, before) = (first.plus_one(), last.map(|last| last.minus_one()));
        if before.as_ref().is_none_or(|before| after <= *before) {
            for (fractions_of_group, remainders) in fractions.groups() {
                let wholes = if fractions.modulus == 1 {
                    self.digits(fractions.kind).whole_between(Some(&after), before.as_ref())
                } else {
                    let residues = Residues::with_remainders(fractions.modulus, remainders);
                    self.multiples_between(&residues, &after, before.as_ref(), node)?
                };
                let Some(wholes) = wholes else { continue };
                let ends: Vec<ExprId> = fractions_of_group
                    .iter()
                    .map(|fraction| self.fraction(fractions.kind, fraction))
                    .collect();
                let ends = self.builder.choice(ends);
                alternatives.push(self.builder.sequence([wholes, ends]));
            }
        }
        Ok((!alternatives.is_empty()).then(|| self.builder.choice(alternatives)))
    }

    /// The digits of a fraction and any zeros after them.
    fn fraction(&mut self, kind: NumberKind, text: &str) -> ExprId {
        let mut digits = self.digits(kind);
        if text.is_empty() {
            return digits.zero_fraction();
        }
        let zeros = digits.zeros(text.len(), 0);
        let text = self.builder.literal(&format!(".{text}"));
        self.builder.sequence([text, zeros])
    }
}
