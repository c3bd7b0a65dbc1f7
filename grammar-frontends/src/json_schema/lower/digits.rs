//! The texts of the numbers between two bounds, digit by digit, without an exponent.
//!
//! Such a text is `-?(0|[1-9][0-9]*)(\.[0-9]+)?`. Its value is above a bound if the first digit that differs
//! is greater. So the texts form a small tree along the bound's own digits, with a branch to free digits at
//! each. The end of a fraction and the number of digits follow the same rule everywhere: a [`DigitForm`].

use grammask_grammar_ir::{ExprId, GrammarBuilder};

use crate::json_schema::document::ids::Draft;
use crate::json_schema::options::Numbers;
use crate::json_schema::sets::decimal::{Decimal, DigitString, decrement, increment};
use crate::json_schema::sets::number_shape::{Bound, Edge, NumberKind};

/// Builds expressions of digits.
pub(crate) struct Digits<'b> {
    pub(crate) builder: &'b mut GrammarBuilder,
    pub(crate) form: DigitForm,
}

/// How fractions are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FractionForm {
    /// With zeros at the end, also after a whole number, which may have none.
    Any,
    /// Without zeros at the end; a whole number has none.
    Shortest,
    /// As the one before, but a whole number has `.0`.
    Always,
}

/// How digits are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct DigitForm {
    pub(crate) fraction: FractionForm,
    /// Most digits before the point.
    pub(crate) max_whole: Option<u32>,
    /// Most digits after the point.
    pub(crate) max_fraction: Option<u32>,
    /// Whether zero may have a sign.
    pub(crate) has_negative_zero: bool,
}

/// Whether an integer has neither a fraction nor an exponent. In the default spelling it has none, because readers of typed
/// values refuse `64.0` for an integer, and no printer of an integer writes it. Draft 4 says so of the value itself.
pub(crate) fn has_digits_alone(numbers: Numbers, draft: Draft) -> bool {
    draft == Draft::Draft4 || !matches!(numbers, Numbers::Any)
}

impl DigitForm {
    pub(crate) fn of(numbers: Numbers, kind: NumberKind, draft: Draft) -> Self {
        let max = match numbers {
            Numbers::Printed { max_digits } => Some(max_digits.max(1)),
            Numbers::Any | Numbers::Canonical => None,
        };
        let fraction = match (numbers, kind) {
            (Numbers::Canonical, _) => FractionForm::Shortest,
            (_, NumberKind::Integer) if has_digits_alone(numbers, draft) => FractionForm::Shortest,
            _ => FractionForm::Any,
        };
        let has_negative_zero = numbers != Numbers::Canonical;
        Self { fraction, max_whole: max, max_fraction: max, has_negative_zero }
    }

    /// Most zeros at the end of a fraction of this many digits.
    fn max_zeros(&self, digits: usize) -> Option<u32> {
        self.max_fraction.map(|max| max.saturating_sub(count(digits)))
    }

    /// The form with room for the digits of bounds.
    pub(crate) fn with_room_for<'d>(mut self, values: impl IntoIterator<Item = &'d Decimal>) -> Self {
        for value in values {
            let room = |max: Option<u32>, digits: usize| max.map(|max| max.max(count(digits)));
            self.max_whole = room(self.max_whole, value.whole_digits().len());
            self.max_fraction = room(self.max_fraction, value.fraction_digits().len());
        }
        self
    }
}

/// The digits of a bound, split at the point.
struct SplitBound {
    whole: DigitString,
    fraction: DigitString,
    edge: Edge,
}

impl SplitBound {
    /// A bound below (above) which no text has more digits after the point than there may be, as a text can tell it.
    fn new(bound: &Bound, side: Edge, max_fraction: Option<u32>) -> Self {
        let mut whole = bound.value.whole_digits();
        if whole.is_empty() {
            whole.push(0);
        }
        let (mut fraction, mut edge) = (bound.value.fraction_digits(), bound.edge);
        if max_fraction.is_some_and(|max| fraction.len() > max as usize) {
            fraction.truncate(max_fraction.unwrap_or(0) as usize);
            while fraction.last() == Some(&0) {
                fraction.pop();
            }
            edge = side;
        }
        Self { whole, fraction, edge }
    }
}

/// The edge of a bound from below that is cut: no text is equal to it. From above the cut bound itself lies
/// below it.
const CUT_LOWER: Edge = Edge::Exclusive;
const CUT_UPPER: Edge = Edge::Inclusive;

impl Digits<'_> {
    /// Nothing if the grammar is not built any further.
    pub(super) fn unless_interrupted<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.builder.interrupted().is_none().then(|| write(self))
    }

    /// All texts of numbers between the bounds; `None` is no bound. `None` as a result: there are none.
    pub(crate) fn between(&mut self, lower: Option<&Bound>, upper: Option<&Bound>) -> Option<ExprId> {
        let (negative, positive) = signs(lower, upper, self.form.has_negative_zero);
        self.signed(negative, positive, Self::magnitude)
    }

    /// All whole numbers between two inclusive bounds, without a fraction.
    pub(crate) fn whole_between(
        &mut self,
        lower: Option<&Decimal>,
        upper: Option<&Decimal>,
    ) -> Option<ExprId> {
        let bound = |value: Option<&Decimal>| {
            value.map(|value| Bound { value: value.clone(), edge: Edge::Inclusive })
        };
        let (lower, upper) = (bound(lower), bound(upper));
        let (negative, positive) = signs(lower.as_ref(), upper.as_ref(), self.form.has_negative_zero);
        self.signed(negative, positive, Self::whole_magnitude)
    }

    /// The fraction of a whole number.
    pub(crate) fn zero_fraction(&mut self) -> ExprId {
        match self.form.fraction {
            FractionForm::Shortest => self.builder.empty(),
            FractionForm::Always => self.builder.literal(".0"),
            FractionForm::Any => {
                let zeros = self.zeros(0, 1);
                let point = self.builder.literal(".");
                let fraction = self.builder.sequence([point, zeros]);
                self.builder.optional(fraction)
            }
        }
    }

    /// At least some zeros at the end of a fraction of this many digits, or nothing where it has none.
    pub(crate) fn zeros(&mut self, digits: usize, least: u32) -> ExprId {
        if self.form.fraction != FractionForm::Any {
            return self.builder.empty();
        }
        let zero = self.digit(0, 0);
        let most = self.form.max_zeros(digits).map(|most| most.max(least));
        self.builder.repeat(zero, least, most)
    }

    pub(crate) fn zero(&mut self) -> ExprId {
        self.builder.literal("0")
    }

    /// Every whole number above zero, without a fraction.
    pub(crate) fn positive_whole(&mut self) -> ExprId {
        let (first, digit) = (self.digit(1, 9), self.digit(0, 9));
        let rest = self.builder.repeat(digit, 0, self.form.max_whole.map(|max| max.saturating_sub(1)));
        self.builder.sequence([first, rest])
    }

    /// Numbers between zero and one; where zeros at the end count, zero too.
    pub(crate) fn below_one(&mut self) -> ExprId {
        let point = self.builder.literal("0.");
        let digits = match self.tail(0, End::More) {
            Some(digits) => digits,
            None => self.builder.never(),
        };
        self.builder.sequence([point, digits])
    }

    /// Numbers with or without a sign, and zero, which may have one.
    pub(crate) fn signed_or_zero(&mut self, magnitude: ExprId, zero: ExprId) -> ExprId {
        let minus = self.builder.literal("-");
        let sign = self.builder.optional(minus);
        if self.form.has_negative_zero {
            let all = self.builder.choice([zero, magnitude]);
            return self.builder.sequence([sign, all]);
        }
        let signed = self.builder.sequence([sign, magnitude]);
        self.builder.choice([zero, signed])
    }

    /// Any exponent.
    pub(crate) fn any_exponent(&mut self) -> ExprId {
        let mark = self.builder.class([('e', 'e'), ('E', 'E')]);
        let sign = self.builder.class([('+', '+'), ('-', '-')]);
        let (sign, digit) = (self.builder.optional(sign), self.digit(0, 9));
        let digits = self.builder.repeat(digit, 1, None);
        self.builder.sequence([mark, sign, digits])
    }

    /// The spellings of one number.
    pub(crate) fn exactly(&mut self, value: &Decimal) -> ExprId {
        let mut text = whole_text(value);
        let fraction = value.fraction_digits();
        if !fraction.is_empty() {
            text.push('.');
            text.extend(fraction.iter().map(|&digit| char::from(b'0' + digit)));
        }
        let text = self.builder.literal(&text);
        let zeros = match fraction.len() {
            0 => self.zero_fraction(),
            digits => self.zeros(digits, 0),
        };
        let text = self.builder.sequence([text, zeros]);
        self.signed_zero(value, text)
    }

    fn signed_zero(&mut self, value: &Decimal, text: ExprId) -> ExprId {
        if !value.is_zero() || !self.form.has_negative_zero {
            return text;
        }
        let minus = self.builder.literal("-");
        let sign = self.builder.optional(minus);
        self.builder.sequence([sign, text])
    }

    fn signed(
        &mut self,
        negative: Option<(Bound, Option<Bound>)>,
        positive: Option<(Bound, Option<Bound>)>,
        magnitude: fn(&mut Self, &Bound, Option<&Bound>) -> Option<ExprId>,
    ) -> Option<ExprId> {
        let mut alternatives = Vec::new();
        if let Some((lower, upper)) = negative
            && let Some(texts) = magnitude(self, &lower, upper.as_ref())
        {
            let minus = self.builder.literal("-");
            alternatives.push(self.builder.sequence([minus, texts]));
        }
        if let Some((lower, upper)) = positive {
            alternatives.extend(magnitude(self, &lower, upper.as_ref()));
        }
        (!alternatives.is_empty()).then(|| self.builder.choice(alternatives))
    }

    /// Texts of numbers between bounds that are not negative.
    pub(crate) fn magnitude(&mut self, lower: &Bound, upper: Option<&Bound>) -> Option<ExprId> {
        let most = self.form.max_fraction;
        let low = SplitBound::new(lower, CUT_LOWER, most);
        let Some(high) = upper.map(|upper| SplitBound::new(upper, CUT_UPPER, most)) else {
            let mut alternatives = vec![];
            let next = increment(&low.whole);
            let above = self.whole_range(&next, None);
            let (any, edge) = (self.any_fraction(), self.fraction(Some(&low), None));
            alternatives.extend(above.map(|above| self.builder.sequence([above, any])));
            alternatives.extend(edge.map(|edge| self.after(&low.whole, edge)));
            return Some(self.builder.choice(alternatives));
        };
        let mut alternatives = Vec::new();
        if low.whole == high.whole {
            let edge = self.fraction(Some(&low), Some(&high));
            alternatives.extend(edge.map(|edge| self.after(&low.whole, edge)));
        } else {
            let edge = self.fraction(Some(&low), None);
            alternatives.extend(edge.map(|edge| self.after(&low.whole, edge)));
            let inner = increment(&low.whole);
            if is_less(&inner, &high.whole) {
                let above = self.whole_range(&inner, Some(&decrement(&high.whole)));
                let any = self.any_fraction();
                alternatives.extend(above.map(|above| self.builder.sequence([above, any])));
            }
            let edge = self.fraction(None, Some(&high));
            alternatives.extend(edge.map(|edge| self.after(&high.whole, edge)));
        }
        (!alternatives.is_empty()).then(|| self.builder.choice(alternatives))
    }

    fn whole_magnitude(&mut self, lower: &Bound, upper: Option<&Bound>) -> Option<ExprId> {
        // Zero as an exclusive bound comes from leaving zero to the numbers without a sign.
        let mut low = SplitBound::new(lower, CUT_LOWER, None).whole;
        if lower.edge == Edge::Exclusive {
            low = increment(&low);
        }
        let high = upper.map(|bound| SplitBound::new(bound, CUT_UPPER, None).whole);
        self.whole_range(&low, high.as_deref())
    }

    fn after(&mut self, whole: &[u8], fraction: ExprId) -> ExprId {
        let text: String = whole.iter().map(|&digit| char::from(b'0' + digit)).collect();
        let text = self.builder.literal(&text);
        self.builder.sequence([text, fraction])
    }

    /// Whole numbers from `low` to `high`, both inclusive, without leading zeros.
    pub(crate) fn whole_range(&mut self, low: &[u8], high: Option<&[u8]>) -> Option<ExprId> {
        if high.is_some_and(|high| is_less(high, low)) {
            return None;
        }
        let mut alternatives = Vec::new();
        let same_length = high.is_some_and(|high| high.len() == low.len());
        if same_length {
            let high = high.unwrap_or_default();
            return Some(self.same_length(low, high));
        }
        alternatives.push(self.at_least(low));
        let first = self.digit(1, 9);
        let any = self.digit(0, 9);
        match high {
            None => {
                let most = self.form.max_whole.map(|max| max.saturating_sub(1));
                if most.is_none_or(|most| most >= count(low.len())) {
                    let rest = self.builder.repeat(any, count(low.len()), most);
                    alternatives.push(self.builder.sequence([first, rest]));
                }
            }
            Some(high) => {
                if high.len() > low.len() + 1 {
                    let rest = self.builder.repeat(any, count(low.len()), Some(count(high.len() - 2)));
                    alternatives.push(self.builder.sequence([first, rest]));
                }
                let mut least = vec![0; high.len()];
                least[0] = 1;
                alternatives.push(self.same_length(&least, high));
            }
        }
        Some(self.builder.choice(alternatives))
    }

    /// Texts of as many digits as both bounds have, between them.
    fn same_length(&mut self, low: &[u8], high: &[u8]) -> ExprId {
        let shared = low.iter().zip(high).take_while(|(low, high)| low == high).count();
        let prefix: String = low[..shared].iter().map(|&digit| char::from(b'0' + digit)).collect();
        let prefix = self.builder.literal(&prefix);
        if shared == low.len() {
            return prefix;
        }
        let (low, high) = (&low[shared..], &high[shared..]);
        // A first digit after which all digits may come is grouped with those between.
        let is_low_free = low[1..].iter().all(|&digit| digit == 0);
        let is_high_free = high[1..].iter().all(|&digit| digit == 9);
        let (first, last) = (low[0] + u8::from(!is_low_free), high[0] - u8::from(!is_high_free));
        let mut alternatives = Vec::new();
        if !is_low_free {
            let at_low = self.digit(low[0], low[0]);
            let rest = self.at_least(&low[1..]);
            alternatives.push(self.builder.sequence([at_low, rest]));
        }
        if first <= last {
            let between = self.digit(first, last);
            let rest = self.any_digits(low.len() - 1);
            alternatives.push(self.builder.sequence([between, rest]));
        }
        if !is_high_free {
            let at_high = self.digit(high[0], high[0]);
            let rest = self.at_most(&high[1..]);
            alternatives.push(self.builder.sequence([at_high, rest]));
        }
        let choice = self.builder.choice(alternatives);
        self.builder.sequence([prefix, choice])
    }

    /// Texts of as many digits as the bound, not less than it. From the last digit to the first, so that no
    /// call nests.
    fn at_least(&mut self, low: &[u8]) -> ExprId {
        self.beside(low, |digit| (digit < 9).then_some((digit + 1, 9)))
    }

    fn at_most(&mut self, high: &[u8]) -> ExprId {
        self.beside(high, |digit| (digit > 0).then(|| (0, digit - 1)))
    }

    /// Texts of as many digits as the bound, on one side of it: `way_out` has the digits that leave a digit of the bound
    /// to that side.
    fn beside(&mut self, bound: &[u8], way_out: impl Fn(u8) -> Option<(u8, u8)>) -> ExprId {
        let mut result = self.builder.empty();
        // Whether any digits may come from here on.
        let mut is_free = true;
        for (at, &digit) in bound.iter().enumerate().rev() {
            let left = bound.len() - at - 1;
            let out = way_out(digit);
            if is_free {
                let (start, end) =
                    out.map_or((digit, digit), |(start, end)| (start.min(digit), end.max(digit)));
                let (any, free) = (self.digit(start, end), self.any_digits(left));
                result = self.builder.sequence([any, free]);
                is_free = (start, end) == (0, 9);
                continue;
            }
            let same = self.digit(digit, digit);
            result = self.builder.sequence([same, result]);
            if let Some((start, end)) = out {
                let (out, free) = (self.digit(start, end), self.any_digits(left));
                let out = self.builder.sequence([out, free]);
                result = self.builder.choice([result, out]);
            }
        }
        result
    }

    /// The texts that may follow the whole part of a number.
    pub(crate) fn any_fraction(&mut self) -> ExprId {
        let whole = self.zero_fraction();
        let point = self.builder.literal(".");
        let fraction = self.tail(0, End::More).map(|digits| self.builder.sequence([point, digits]));
        match self.form.fraction {
            FractionForm::Any => fraction.map_or(whole, |fraction| self.builder.optional(fraction)),
            _ => self.builder.choice([whole].into_iter().chain(fraction)),
        }
    }

    /// Whether a fraction may end after a digit.
    fn end_after(&self, digit: u8) -> End {
        if digit > 0 || self.form.fraction == FractionForm::Any { End::Here } else { End::More }
    }

    /// Any digits of a fraction after `read` digits of it; none of them, if it may end here.
    fn tail(&mut self, read: usize, end: End) -> Option<ExprId> {
        let any = self.digit(0, 9);
        let left = self.form.max_fraction.map(|max| max.saturating_sub(count(read)));
        let is_at_limit = left == Some(0);
        if self.form.fraction == FractionForm::Any {
            let least = u32::from(end == End::More);
            return (!is_at_limit || end == End::Here).then(|| self.builder.repeat(any, least, left));
        }
        let some = (!is_at_limit).then(|| {
            let before = self.builder.repeat(any, 0, left.map(|left| left - 1));
            let last = self.digit(1, 9);
            self.builder.sequence([before, last])
        });
        match end {
            End::More => some,
            End::Here => Some(match some {
                Some(some) => self.builder.optional(some),
                None => self.builder.empty(),
            }),
        }
    }

    /// The digits of a fraction after `read` digits of it that are not all zeros.
    fn tail_above_zero(&mut self, read: usize) -> Option<ExprId> {
        let some = self.tail(read, End::More)?;
        if self.form.fraction != FractionForm::Any {
            // It does not end with a zero.
            return Some(some);
        }
        let (zero, more, any) = (self.digit(0, 0), self.digit(1, 9), self.digit(0, 9));
        let (zeros, rest) = (self.builder.repeat(zero, 0, None), self.builder.repeat(any, 0, None));
        let above_zero = self.builder.sequence([zeros, more, rest]);
        Some(match self.form.max_fraction {
            None => above_zero,
            Some(_) => self.builder.intersection([some, above_zero]),
        })
    }

    /// A digit of a range and any digits after it.
    fn out(&mut self, (first, last): (u8, u8), read: usize) -> Option<ExprId> {
        let mut ways = Vec::with_capacity(2);
        let way = |this: &mut Self, range: (u8, u8), end: End| {
            let tail = this.tail(read + 1, end)?;
            let digit = this.digit(range.0, range.1);
            Some(this.builder.sequence([digit, tail]))
        };
        if self.end_after(0) == End::Here {
            return way(self, (first, last), End::Here);
        }
        if first == 0 {
            ways.extend(way(self, (0, 0), End::More));
        }
        if last > 0 {
            ways.extend(way(self, (first.max(1), last), End::Here));
        }
        (!ways.is_empty()).then(|| self.builder.choice(ways))
    }

    /// The text after a whole part that equals that of the given bounds: nothing, or a point and digits.
    fn fraction(&mut self, low: Option<&SplitBound>, high: Option<&SplitBound>) -> Option<ExprId> {
        // Without a fraction the value equals the bound cut at the point.
        let above = low.is_none_or(|low| low.fraction.is_empty() && low.edge == Edge::Inclusive);
        let below = high.is_none_or(|high| !high.fraction.is_empty() || high.edge == Edge::Inclusive);
        let point = self.builder.literal(".");
        let digits = self.fraction_digits(
            low.map(|low| (low.fraction.as_slice(), low.edge)),
            high.map(|high| (high.fraction.as_slice(), high.edge)),
        );
        let whole = (above && below).then(|| match self.form.fraction {
            FractionForm::Any => self.builder.empty(),
            _ => self.zero_fraction(),
        });
        let with_point = digits.map(|digits| self.builder.sequence([point, digits]));
        let ways: Vec<ExprId> = whole.into_iter().chain(with_point).collect();
        (!ways.is_empty()).then(|| self.builder.choice(ways))
    }

    /// Digits after the point, at least one, whose value lies between the bounds' fractions.
    fn fraction_digits(&mut self, low: Option<(&[u8], Edge)>, high: Option<(&[u8], Edge)>) -> Option<ExprId> {
        let (Some((low, low_edge)), Some((high, high_edge))) = (low, high) else {
            return match (low, high) {
                (Some((low, edge)), None) => self.fraction_above(low, edge, (0, End::More)),
                (None, Some((high, edge))) => self.fraction_below(high, edge, (0, End::More)),
                _ => self.tail(0, End::More),
            };
        };
        let length = low.len().max(high.len());
        let digit_of = |digits: &[u8], at: usize| digits.get(at).copied().unwrap_or(0);
        let has_zeros = self.form.fraction == FractionForm::Any;
        let Some(split) = (0..length).find(|&at| digit_of(low, at) != digit_of(high, at)) else {
            // Both bounds are one number: it and its spellings with zeros at the end, if any.
            if low_edge == Edge::Exclusive || high_edge == Edge::Exclusive || low.is_empty() && !has_zeros {
                return None;
            }
            let texts: String = low.iter().map(|&digit| char::from(b'0' + digit)).collect();
            let texts = self.builder.literal(&texts);
            let zeros = self.zeros(low.len(), u32::from(low.is_empty()));
            return Some(self.builder.sequence([texts, zeros]));
        };
        let (low_digit, high_digit) = (digit_of(low, split), digit_of(high, split));
        if low_digit > high_digit {
            return None;
        }
        let mut alternatives = Vec::new();
        let read = split + 1;
        let rest = low.get(read..).unwrap_or_default();
        if let Some(rest) = self.fraction_above(rest, low_edge, (read, self.end_after(low_digit))) {
            let same = self.digit(low_digit, low_digit);
            alternatives.push(self.builder.sequence([same, rest]));
        }
        if low_digit + 1 < high_digit {
            alternatives.extend(self.out((low_digit + 1, high_digit - 1), split));
        }
        let rest = high.get(read..).unwrap_or_default();
        if let Some(rest) = self.fraction_below(rest, high_edge, (read, self.end_after(high_digit))) {
            let same = self.digit(high_digit, high_digit);
            alternatives.push(self.builder.sequence([same, rest]));
        }
        let whole = (!alternatives.is_empty()).then(|| {
            let tail = self.builder.choice(alternatives);
            let shared: String = (0..split).map(|at| char::from(b'0' + digit_of(low, at))).collect();
            let literal = self.builder.literal(&shared);
            self.builder.sequence([literal, tail])
        });
        if low.len() > split || low_edge == Edge::Exclusive {
            return whole;
        }
        // The lower bound ends here: stopping early is stopping at it. Its digits up to `split` are zeros
        // and its own, and any text that ends between its last digit and `split` equals it.
        let ends = low.len()..=if has_zeros { split } else { low.len() };
        let mut texts = Vec::new();
        for end in ends.filter(|&end| end > 0) {
            let text: String = (0..end).map(|at| char::from(b'0' + digit_of(low, at))).collect();
            texts.push(self.builder.literal(&text));
        }
        texts.extend(whole);
        (!texts.is_empty()).then(|| self.builder.choice(texts))
    }

    /// Digits with `0.digits` not less than (or greater than) `0.low`, after this many digits of the fraction. None of them,
    /// if it may end there.
    fn fraction_above(&mut self, low: &[u8], edge: Edge, (read, end): (usize, End)) -> Option<ExprId> {
        let end = low.last().map_or(end, |&digit| self.end_after(digit));
        let mut result = match edge {
            Edge::Inclusive => self.tail(read + low.len(), end),
            Edge::Exclusive => self.tail_above_zero(read + low.len()),
        };
        for (at, &digit) in low.iter().enumerate().rev() {
            let same = self.digit(digit, digit);
            let mut ways = Vec::with_capacity(2);
            ways.extend(result.map(|result| self.builder.sequence([same, result])));
            if digit < 9 {
                ways.extend(self.out((digit + 1, 9), read + at));
            }
            result = (!ways.is_empty()).then(|| self.builder.choice(ways));
        }
        result
    }

    /// Digits with `0.digits` not greater than (or less than) `0.high`, after this many digits of the fraction. None of them,
    /// if it may end there.
    fn fraction_below(&mut self, high: &[u8], edge: Edge, (read, end): (usize, End)) -> Option<ExprId> {
        let at_end = high.last().map_or(end, |&digit| self.end_after(digit));
        let mut result = match (edge, at_end) {
            (Edge::Inclusive, End::Here) => Some(self.zeros(read + high.len(), 0)),
            (Edge::Inclusive, End::More) if self.form.fraction == FractionForm::Any => {
                Some(self.zeros(read + high.len(), 1))
            }
            _ => None,
        };
        for (at, &digit) in high.iter().enumerate().rev() {
            // The rest of the bound is above zero, so stopping here stays below it.
            let before = if at == 0 { end } else { self.end_after(high[at - 1]) };
            let mut alternatives = Vec::with_capacity(3);
            if before == End::Here {
                alternatives.push(self.builder.empty());
            }
            if let Some(rest) = result {
                let same = self.digit(digit, digit);
                alternatives.push(self.builder.sequence([same, rest]));
            }
            if digit > 0 {
                alternatives.extend(self.out((0, digit - 1), read + at));
            }
            result = (!alternatives.is_empty()).then(|| self.builder.choice(alternatives));
        }
        result
    }

    fn any_digits(&mut self, length: usize) -> ExprId {
        let any = self.digit(0, 9);
        self.builder.repeat(any, count(length), Some(count(length)))
    }

    pub(crate) fn digit(&mut self, start: u8, end: u8) -> ExprId {
        self.builder.class([(char::from(b'0' + start), char::from(b'0' + end))])
    }
}

/// Whether a fraction may end after the digits so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Here,
    /// There is no digit yet, or the last one is a zero with which no fraction ends.
    More,
}

/// The bounds' magnitudes below zero and from zero on; `None` where no number of that sign is allowed.
pub(super) type SignedBounds = (Option<(Bound, Option<Bound>)>, Option<(Bound, Option<Bound>)>);

pub(super) fn signs(lower: Option<&Bound>, upper: Option<&Bound>, has_negative_zero: bool) -> SignedBounds {
    let zero = |edge| Bound { value: Decimal::zero(), edge };
    let turned = |bound: &Bound| Bound { value: bound.value.negated(), edge: bound.edge };
    let may_be_zero = |bound: &Bound| bound.value.is_zero() && bound.edge == Edge::Inclusive;
    let negative = match lower {
        Some(bound) if !(bound.value.is_negative() || has_negative_zero && may_be_zero(bound)) => None,
        lower => {
            let least = match upper {
                Some(bound) if bound.value.is_negative() => turned(bound),
                Some(bound) if bound.value.is_zero() => zero(bound.edge),
                _ => zero(Edge::Inclusive),
            };
            let edge = if has_negative_zero { least.edge } else { Edge::Exclusive };
            let least = if least.value.is_zero() { Bound { edge, ..least } } else { least };
            Some((least, lower.map(turned)))
        }
    };
    let positive = match upper {
        Some(bound) if bound.value.is_negative() => None,
        upper => {
            let least = match lower {
                Some(bound) if !bound.value.is_negative() => bound.clone(),
                _ => zero(Edge::Inclusive),
            };
            Some((least, upper.cloned()))
        }
    };
    (negative, positive)
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn is_less(left: &[u8], right: &[u8]) -> bool {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right)).is_lt()
}

/// The digits before the point, with the sign.
fn whole_text(value: &Decimal) -> String {
    let mut text = String::new();
    if value.is_negative() {
        text.push('-');
    }
    let whole = value.whole_digits();
    if whole.is_empty() {
        text.push('0');
    }
    text.extend(whole.iter().map(|&digit| char::from(b'0' + digit)));
    text
}
