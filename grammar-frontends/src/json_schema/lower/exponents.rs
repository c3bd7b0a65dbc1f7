//! Numbers with an exponent, as serialisers print them.
//!
//! They have one digit before the point that is not zero, at most 17 in all, as the shortest form of a double has, and an
//! exponent so small or so large that some serialiser writes one. So for each exponent the mantissa lies between 1 and
//! 10, and an interval of numbers falls apart: exponents between those of its bounds have any mantissa, those of the
//! bounds themselves one between the bounds' digits. A number with `k` digits behind its point is a multiple of `10^-p`
//! if its exponent is at least `k - p`.

use grammask_grammar_ir::ExprId;

use super::digits::{DigitForm, Digits, FractionForm, signs};
use crate::json_schema::sets::decimal::Decimal;
use crate::json_schema::sets::number_shape::{Bound, Edge};

/// Digits after the point of a mantissa.
const MAX_FRACTION: i64 = 16;

/// Exponents have at most three digits.
const MAX_EXPONENT: i64 = 999;

/// How some serialisers write numbers with an exponent.
struct ExponentForm {
    mark: &'static str,
    /// The greatest exponent below zero, and the least above.
    greatest_negative: i64,
    least_positive: i64,
    fraction: FractionForm,
    /// Whether exponents may have the sign `+`, and two digits where one is enough.
    is_padded: bool,
}

/// `1e-07`, `1e-7`, `1.5e+16`, `1.5e16`: Python from `1e-05` down and from `1e+16` on, the others later; and
/// `1.0E-4`, `1.0E7`: Java.
const FORMS: [ExponentForm; 2] = [
    ExponentForm {
        mark: "e",
        greatest_negative: -5,
        least_positive: 16,
        fraction: FractionForm::Shortest,
        is_padded: true,
    },
    ExponentForm {
        mark: "E",
        greatest_negative: -4,
        least_positive: 7,
        fraction: FractionForm::Always,
        is_padded: false,
    },
];

impl ExponentForm {
    fn ranges(&self) -> [(i64, i64); 2] {
        [(-MAX_EXPONENT, self.greatest_negative), (self.least_positive, MAX_EXPONENT)]
    }

    fn digits(&self, max_fraction: i64) -> DigitForm {
        DigitForm {
            fraction: self.fraction,
            max_whole: Some(1),
            max_fraction: u32::try_from(max_fraction).ok(),
            has_negative_zero: false,
        }
    }
}

impl Digits<'_> {
    /// The numbers between two bounds that are written with an exponent; if `places` are given, those that are multiples of
    /// `10^-places`.
    pub(crate) fn exponents_between(
        &mut self,
        lower: Option<&Bound>,
        upper: Option<&Bound>,
        places: Option<i64>,
    ) -> Option<ExprId> {
        let (negative, positive) = signs(lower, upper, false);
        if negative.is_some() && negative == positive {
            let (least, most) = positive?;
            let magnitudes = self.magnitudes(&least, most.as_ref(), places)?;
            let minus = self.builder.literal("-");
            let sign = self.builder.optional(minus);
            return Some(self.builder.sequence([sign, magnitudes]));
        }
        let mut ways = Vec::new();
        if let Some((least, most)) = negative
            && let Some(magnitudes) = self.magnitudes(&least, most.as_ref(), places)
        {
            let minus = self.builder.literal("-");
            ways.push(self.builder.sequence([minus, magnitudes]));
        }
        if let Some((least, most)) = positive {
            ways.extend(self.magnitudes(&least, most.as_ref(), places));
        }
        (!ways.is_empty()).then(|| self.builder.choice(ways))
    }

    fn magnitudes(&mut self, least: &Bound, most: Option<&Bound>, places: Option<i64>) -> Option<ExprId> {
        let mut ways = Vec::new();
        for form in &FORMS {
            self.magnitudes_in(form, (least, most), places, &mut ways);
        }
        (!ways.is_empty()).then(|| self.builder.choice(ways))
    }

    fn magnitudes_in(
        &mut self,
        form: &ExponentForm,
        (least, most): (&Bound, Option<&Bound>),
        places: Option<i64>,
        ways: &mut Vec<ExprId>,
    ) {
        let first = least.value.scientific_exponent().unwrap_or(i64::MIN);
        let last = most.map_or(i64::MAX, |most| most.value.scientific_exponent().unwrap_or(i64::MIN));
        // Exponents from here on leave the digits of the mantissa free.
        let free = places.map_or(i64::MIN, |places| MAX_FRACTION - places);
        let whole = places.map_or(i64::MIN, |places| -places);
        let is_single = |exponent: i64| exponent == first || exponent == last || exponent < free;
        let (mut single, mut ranges) = (Vec::new(), Vec::new());
        for (from, to) in form.ranges() {
            let (from, to) = (from.max(first).max(whole), to.min(last));
            let ends = [from, to].into_iter().chain(from..free.min(to.saturating_add(1)));
            single.extend(ends.filter(|&exponent| from <= exponent && exponent <= to && is_single(exponent)));
            let (from, to) = (from.max(first.saturating_add(1)).max(free), to.min(last.saturating_sub(1)));
            if from <= to {
                ranges.push((from, to));
            }
        }
        single.sort_unstable();
        single.dedup();
        if !ranges.is_empty() {
            let mantissa = self.mantissa(form, MAX_FRACTION, (None, None));
            let exponents = self.exponents(form, &ranges);
            ways.extend(mantissa.map(|mantissa| self.builder.sequence([mantissa, exponents])));
        }
        for exponent in single {
            let fraction = places.map_or(MAX_FRACTION, |places| MAX_FRACTION.min(exponent + places));
            let above = (exponent == first).then_some(least);
            let below = most.filter(|_| exponent == last);
            let Some(mantissa) = self.mantissa(form, fraction, (above, below)) else { continue };
            let exponent = self.exponents(form, &[(exponent, exponent)]);
            ways.push(self.builder.sequence([mantissa, exponent]));
        }
    }

    /// Mantissas of a number between bounds of the same exponent.
    fn mantissa(
        &mut self,
        form: &ExponentForm,
        max_fraction: i64,
        (above, below): (Option<&Bound>, Option<&Bound>),
    ) -> Option<ExprId> {
        let mut digits = Digits { builder: &mut *self.builder, form: form.digits(max_fraction) };
        if above.is_none() && below.is_none() {
            let (first, fraction) = (digits.digit(1, 9), digits.any_fraction());
            return Some(digits.builder.sequence([first, fraction]));
        }
        let scaled = |bound: &Bound| Bound { value: bound.value.mantissa(), edge: bound.edge };
        let one = || Bound { value: Decimal::from_integer(1), edge: Edge::Inclusive };
        let ten = || Bound { value: Decimal::from_integer(10), edge: Edge::Exclusive };
        let (above, below) = (above.map_or_else(one, scaled), below.map_or_else(ten, scaled));
        digits.magnitude(&above, Some(&below))
    }

    /// The mark and exponents of some ranges.
    fn exponents(&mut self, form: &ExponentForm, ranges: &[(i64, i64)]) -> ExprId {
        let mark = self.builder.literal(form.mark);
        let mut ways = Vec::with_capacity(3);
        for &(from, to) in ranges {
            let is_negative = to < 0;
            let (least, most) = if is_negative { (-to, -from) } else { (from, to) };
            let written =
                |number: i64| number.to_string().bytes().map(|byte| byte - b'0').collect::<Vec<u8>>();
            let Some(mut digits) = self.whole_range(&written(least), Some(&written(most))) else { continue };
            if form.is_padded
                && let Ok(least) = u8::try_from(least)
                && least < 10
            {
                let most = u8::try_from(most).map_or(9, |most| most.min(9));
                let (zero, digit) = (self.digit(0, 0), self.digit(least, most));
                let padded = self.builder.sequence([zero, digit]);
                digits = self.builder.choice([digits, padded]);
            }
            let sign = self.builder.literal(if is_negative { "-" } else { "+" });
            let sign = match (is_negative, form.is_padded) {
                (true, _) => sign,
                (false, true) => self.builder.optional(sign),
                (false, false) => self.builder.empty(),
            };
            ways.push(self.builder.sequence([sign, digits]));
        }
        let ways = self.builder.choice(ways);
        self.builder.sequence([mark, ways])
    }

    /// The spellings of one number with an exponent.
    pub(crate) fn exponents_of(&mut self, value: &Decimal) -> Option<ExprId> {
        if value.mantissa().fraction_digits().len() > usize::try_from(MAX_FRACTION).unwrap_or(0) {
            return None;
        }
        let bound = Bound { value: value.clone(), edge: Edge::Inclusive };
        value.scientific_exponent()?;
        self.exponents_between(Some(&bound), Some(&bound), None)
    }
}
