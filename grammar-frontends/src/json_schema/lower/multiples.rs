//! Multiples of a step with a fraction, between bounds.
//!
//! The naive way intersects the texts of the interval with the automaton of the multiples. But the fractions
//! that may follow depend on the remainder of the digits before the point alone: multiples of 0.3 are whole multiples
//! of 3 with `.0`, `.3`, `.6` or `.9` after them, those that leave 1 with `.2`, `.5`, `.8`, and those that leave 2
//! with `.1`, `.4`, `.7`. So there is one automaton of whole numbers for each list of fractions, between the whole
//! parts of the bounds, and the few multiples with just these whole parts are listed.

use std::collections::BTreeMap;

use grammask_grammar_ir::ExprId;

use super::digits::{FractionForm, signs};
use super::lowering::SchemaLowering;
use super::numbers::Residues;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::sets::decimal::{Decimal, Divisor};
use crate::json_schema::sets::number_shape::{Bound, Edge, NumberKind, NumberShape};

/// Multiples of a step from 0 to the first whole one that are written out.
const MAX_FRACTIONS: u64 = 2_000;

/// The multiples of a step by their whole parts.
struct Fractions {
    /// Whole parts with the same remainder have the same fractions.
    modulus: u64,
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
        Some(Self { modulus, of })
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

fn greatest_common_divisor(left: u64, right: u64) -> u64 {
    let (mut left, mut right) = (left, right);
    while right > 0 {
        (left, right) = (right, left % right);
    }
    left
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
        let bounds = [&shape.lower, &shape.upper].into_iter().flatten();
        let longest = bounds.map(|bound| bound.value.whole_digits().len() as u64 + 2).max().unwrap_or(2);
        let states =
            (fractions.groups().len() as u64).saturating_mul(fractions.modulus).saturating_mul(longest);
        if states > self.normalizer.options.limits.states as u64 {
            return Ok(None);
        }
        let has_negative_zero = self.digits().form.has_negative_zero;
        let (negative, positive) = signs(shape.lower.as_ref(), shape.upper.as_ref(), has_negative_zero);
        let mut alternatives = Vec::new();
        if let Some((low, high)) = negative
            && let Some(texts) = self.unsigned_multiples(&fractions, &low, high.as_ref(), node)?
        {
            let minus = self.builder.literal("-");
            alternatives.push(self.builder.sequence([minus, texts]));
        }
        if let Some((low, high)) = positive {
            alternatives.extend(self.unsigned_multiples(&fractions, &low, high.as_ref(), node)?);
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
        let inside = |value: &Decimal| {
            let above = *value > low.value || (*value == low.value && low.edge == Edge::Inclusive);
            let below = high.is_none_or(|high| {
                *value < high.value || (*value == high.value && high.edge == Edge::Inclusive)
            });
            above && below
        };
        let first = low.value.floor();
        let last = high.map(|high| high.value.floor());
        let mut values = Vec::new();
        for whole in std::iter::once(&first).chain(last.as_ref().filter(|&last| *last > first)) {
            let digits: String = whole.whole_digits().iter().map(|&digit| char::from(b'0' + digit)).collect();
            let texts =
                fractions.fractions_after(whole).iter().map(|fraction| format!("0{digits}.{fraction}0"));
            values.extend(texts.filter_map(|text| Decimal::parse(&text)).filter(inside));
        }
        let mut alternatives = Vec::new();
        if !values.is_empty() {
            alternatives.extend(self.decimals(&NumberShape::finite(values), node)?);
        }
        let (after, before) = (first.plus_one(), last.map(|last| last.minus_one()));
        if before.as_ref().is_none_or(|before| after <= *before) {
            for (fractions_of_group, remainders) in fractions.groups() {
                let wholes = if fractions.modulus == 1 {
                    self.digits().whole_between(Some(&after), before.as_ref())
                } else {
                    let residues = Residues::with_remainders(fractions.modulus, remainders);
                    self.multiples_between(&residues, &after, before.as_ref(), node)?
                };
                let Some(wholes) = wholes else { continue };
                let ends: Vec<ExprId> =
                    fractions_of_group.iter().map(|fraction| self.fraction(fraction)).collect();
                let ends = self.builder.choice(ends);
                alternatives.push(self.builder.sequence([wholes, ends]));
            }
        }
        Ok((!alternatives.is_empty()).then(|| self.builder.choice(alternatives)))
    }

    /// The digits of a fraction and any zeros after them.
    fn fraction(&mut self, digits: &str) -> ExprId {
        match digits {
            "" => self.digits().zero_fraction(),
            _ => {
                let text = self.builder.literal(&format!(".{digits}"));
                if self.digits().form.fraction != FractionForm::Any {
                    return text;
                }
                let zero = self.builder.class([('0', '0')]);
                let zeros = self.builder.repeat(zero, 0, None);
                self.builder.sequence([text, zeros])
            }
        }
    }
}
