//! Numbers with an exponent, as serialisers print them.
//!
//! They have one digit before the point that is not zero, at most 17 in all, as the shortest form of a double
//! has. Their exponent is so small or so large that some serialiser writes one. So for each exponent the
//! mantissa lies between 1 and 10, and an interval of numbers falls apart. Exponents between those of its
//! bounds have any mantissa; those of the bounds themselves have one between the bounds' digits. A number
//! with `k` digits after its point is a multiple of `10^-p` if its exponent is at least `k - p`.

use grammask_grammar_ir::ExprId;
use smallvec::SmallVec;

use super::digits::{DigitForm, Digits, FractionForm, signs};
use crate::json_schema::sets::decimal::Decimal;
use crate::json_schema::sets::number_shape::{Bound, Edge};

/// Most digits after the point of a mantissa.
const MAX_FRACTION: i64 = 16;

/// Exponents have at most three digits.
const MAX_EXPONENT: i64 = 999;

/// Ranges of exponents, below zero and above.
type Ranges = SmallVec<[(i64, i64); 2]>;

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
        // No zero has an exponent, so a signed one does no harm; with it, both signs often have the same bounds.
        let (negative, positive) = signs(lower, upper, true);
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
        let whole = places.map_or(i64::MIN, |places| -places);
        let ranges = form.ranges().map(|(from, to)| (from.max(whole), to));
        let (after, before) = (first.saturating_add(1), last.saturating_sub(1));
        ways.extend(self.any_mantissas(
            form,
            ranges.map(|(from, to)| (from.max(after), to.min(before))),
            places,
        ));
        let ends = [Some(first), Some(last).filter(|&last| last != first)].into_iter().flatten();
        for exponent in ends.filter(|end| ranges.iter().any(|(from, to)| (from..=to).contains(&end))) {
            let fraction = places.map_or(MAX_FRACTION, |places| MAX_FRACTION.min(exponent + places));
            let above = (exponent == first).then_some(least);
            let below = most.filter(|_| exponent == last);
            let Some(mantissa) = self.mantissa(form, fraction, (above, below)) else { continue };
            let exponent = self.exponents(form, &[(exponent, exponent)]);
            ways.push(self.builder.sequence([mantissa, exponent]));
        }
    }

    /// Numbers of any mantissa whose exponents lie in one of two ranges, and are not too small for the digits
    /// after the point. Of the digits, counts that leave the same exponents are grouped.
    fn any_mantissas(
        &mut self,
        form: &ExponentForm,
        ranges: [(i64, i64); 2],
        places: Option<i64>,
    ) -> Option<ExprId> {
        let ranges_after = |digits: i64| {
            let least = places.map_or(i64::MIN, |places| digits - places);
            ranges.map(|(from, to)| (from.max(least), to)).into_iter().filter(|(from, to)| from <= to)
        };
        // From the most digits down: what may follow after this many. With fewer digits there are more exponents.
        let mut rest: Option<ExprId> = None;
        let mut known: Option<(Ranges, ExprId)> = None;
        let mut most = MAX_FRACTION;
        while most > 0 {
            let ranges: Ranges = ranges_after(most).collect();
            let least = (1..most).rev().find(|&digits| !ranges_after(digits).eq(ranges.iter().copied()));
            let count = most - least.unwrap_or(0);
            let exponents = self.more_exponents(form, ranges, &mut known);
            (rest, most) = (self.digits_before(count, exponents, rest), most - count);
        }
        let mut ways: SmallVec<[ExprId; 2]> = SmallVec::new();
        if let Some(rest) = rest {
            let point = self.builder.literal(".");
            ways.push(self.builder.sequence([point, rest]));
        }
        if let Some(exponents) = self.more_exponents(form, ranges_after(0).collect(), &mut known) {
            let digits = Digits { builder: &mut *self.builder, form: form.digits(0) }.zero_fraction();
            ways.push(self.builder.sequence([digits, exponents]));
        }
        if ways.is_empty() {
            return None;
        }
        let (first, ways) = (self.digit(1, 9), self.builder.choice(ways));
        Some(self.builder.sequence([first, ways]))
    }

    /// The exponents of some ranges: those that were written last, or these and one below them, or others.
    fn more_exponents(
        &mut self,
        form: &ExponentForm,
        ranges: Ranges,
        known: &mut Option<(Ranges, ExprId)>,
    ) -> Option<ExprId> {
        let &(from, to) = ranges.first()?;
        let exponents = match known {
            Some((written, exponents)) if *written == ranges => return Some(*exponents),
            Some((written, exponents))
                if !form.is_padded && ranges.len() == 1 && written.as_slice() == [(from + 1, to)] =>
            {
                let below = self.builder.literal(&format!("{}{from}", form.mark));
                self.builder.choice([below, *exponents])
            }
            _ => self.exponents(form, &ranges),
        };
        *known = Some((ranges, exponents));
        Some(exponents)
    }

    /// Up to `count` digits, the last of them no zero, and an exponent; or `count` digits and the rest.
    fn digits_before(
        &mut self,
        count: i64,
        exponents: Option<ExprId>,
        rest: Option<ExprId>,
    ) -> Option<ExprId> {
        let count = u32::try_from(count).unwrap_or(0);
        let any = self.digit(0, 9);
        let ends = exponents.map(|exponents| {
            let (digits, last) = (self.builder.repeat(any, 0, Some(count - 1)), self.digit(1, 9));
            self.builder.sequence([digits, last, exponents])
        });
        let goes_on = rest.map(|rest| {
            let digits = self.builder.repeat(any, count, Some(count));
            self.builder.sequence([digits, rest])
        });
        match (ends, goes_on) {
            (Some(ends), Some(goes_on)) => Some(self.builder.choice([ends, goes_on])),
            (ends, goes_on) => ends.or(goes_on),
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
