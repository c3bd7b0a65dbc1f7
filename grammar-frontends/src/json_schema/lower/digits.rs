//! The texts of the numbers between two bounds, digit by digit.
//!
//! A number under bounds is spelled without an exponent: `-?(0|[1-9][0-9]*)(\.[0-9]+)?`. Its value is above a
//! bound if the first digit that differs is greater, so the texts form a small tree: along the bound's own
//! digits, with a way out to free digits at each. Zeros at the end of a fraction never matter.

use grammask_grammar_ir::{ExprId, GrammarBuilder};

use crate::json_schema::sets::decimal::Decimal;
use crate::json_schema::sets::number_shape::{Bound, Edge};

/// Builds expressions of digits.
pub(crate) struct Digits<'b> {
    pub(crate) builder: &'b mut GrammarBuilder,
}

/// Zeros at the end of a fraction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zeros {
    /// Any number of them, also after a whole number.
    Any,
    None,
}

/// The digits of a bound, split at the point.
struct SplitBound {
    whole: Vec<u8>,
    fraction: Vec<u8>,
    edge: Edge,
}

impl SplitBound {
    fn new(bound: &Bound) -> Self {
        let mut whole = bound.value.whole_digits();
        if whole.is_empty() {
            whole.push(0);
        }
        Self { whole, fraction: bound.value.fraction_digits(), edge: bound.edge }
    }
}

impl Digits<'_> {
    /// All texts of numbers between the bounds; `None` is no bound. `None` as a result: there are none.
    pub(crate) fn between(&mut self, lower: Option<&Bound>, upper: Option<&Bound>) -> Option<ExprId> {
        let (negative, positive) = signs(lower, upper);
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
        let (negative, positive) = signs(lower.as_ref(), upper.as_ref());
        self.signed(negative, positive, Self::whole_magnitude)
    }

    /// An optional fraction of zeros.
    pub(crate) fn zero_fraction(&mut self) -> ExprId {
        let zero = self.digit(0, 0);
        let zeros = self.builder.repeat(zero, 1, None);
        let point = self.builder.literal(".");
        let fraction = self.builder.sequence([point, zeros]);
        self.builder.optional(fraction)
    }

    /// The whole grammar of JSON's numbers.
    pub(crate) fn any_number(&mut self) -> ExprId {
        let builder = &mut *self.builder;
        let digit = builder.class([('0', '9')]);
        let digits = builder.repeat(digit, 1, None);
        let (minus, point) = (builder.literal("-"), builder.literal("."));
        let sign = builder.optional(minus);
        let (zero, first) = (builder.literal("0"), builder.class([('1', '9')]));
        let rest = builder.repeat(digit, 0, None);
        let positive = builder.sequence([first, rest]);
        let whole = builder.choice([zero, positive]);
        let fraction = builder.sequence([point, digits]);
        let fraction = builder.optional(fraction);
        let mark = builder.class([('e', 'e'), ('E', 'E')]);
        let signs = builder.class([('+', '+'), ('-', '-')]);
        let signs = builder.optional(signs);
        let exponent = builder.sequence([mark, signs, digits]);
        let exponent = builder.optional(exponent);
        builder.sequence([sign, whole, fraction, exponent])
    }

    /// Digits with a sign, and what may follow.
    pub(crate) fn any_integer(&mut self, end: ExprId) -> ExprId {
        let (sign, zero, positive) = self.parts_of_integer();
        let whole = self.builder.choice([zero, positive]);
        self.builder.sequence([sign, whole, end])
    }

    /// Every whole number in one spelling.
    pub(crate) fn canonical_integer(&mut self) -> ExprId {
        let (sign, zero, positive) = self.parts_of_integer();
        let signed = self.builder.sequence([sign, positive]);
        self.builder.choice([zero, signed])
    }

    fn parts_of_integer(&mut self) -> (ExprId, ExprId, ExprId) {
        let builder = &mut *self.builder;
        let digit = builder.class([('0', '9')]);
        let minus = builder.literal("-");
        let sign = builder.optional(minus);
        let (zero, first) = (builder.literal("0"), builder.class([('1', '9')]));
        let rest = builder.repeat(digit, 0, None);
        (sign, zero, builder.sequence([first, rest]))
    }

    /// Every number in one spelling.
    pub(crate) fn canonical(&mut self) -> ExprId {
        let (any, first) = (self.digit(0, 9), self.digit(1, 9));
        let digits = self.builder.repeat(any, 0, None);
        let (minus, zero, point) =
            (self.builder.literal("-"), self.builder.literal("0"), self.builder.literal("."));
        let fraction = self.builder.sequence([point, digits, first]);
        let below_one = self.builder.sequence([zero, fraction]);
        let fraction = self.builder.optional(fraction);
        let from_one = self.builder.sequence([first, digits, fraction]);
        let magnitude = self.builder.choice([below_one, from_one]);
        let sign = self.builder.optional(minus);
        let signed = self.builder.sequence([sign, magnitude]);
        self.builder.choice([zero, signed])
    }

    /// The spellings of one number.
    pub(crate) fn exactly(&mut self, value: &Decimal, zeros: Zeros) -> ExprId {
        let mut text = whole_text(value);
        let fraction = value.fraction_digits();
        if !fraction.is_empty() {
            text.push('.');
            text.extend(fraction.iter().map(|&digit| char::from(b'0' + digit)));
        }
        let text = self.builder.literal(&text);
        let zeros = match zeros {
            Zeros::None => return text,
            Zeros::Any if fraction.is_empty() => self.zero_fraction(),
            Zeros::Any => {
                let zero = self.digit(0, 0);
                self.builder.repeat(zero, 0, None)
            }
        };
        self.builder.sequence([text, zeros])
    }

    /// The digits of a whole number with their sign.
    pub(crate) fn whole(&mut self, value: &Decimal) -> ExprId {
        self.builder.literal(&whole_text(value))
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
    fn magnitude(&mut self, lower: &Bound, upper: Option<&Bound>) -> Option<ExprId> {
        let low = SplitBound::new(lower);
        let Some(high) = upper.map(SplitBound::new) else {
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
        let mut low = SplitBound::new(lower).whole;
        if lower.edge == Edge::Exclusive {
            low = increment(&low);
        }
        self.whole_range(&low, upper.map(|bound| SplitBound::new(bound).whole).as_deref())
    }

    fn after(&mut self, whole: &[u8], fraction: ExprId) -> ExprId {
        let text: String = whole.iter().map(|&digit| char::from(b'0' + digit)).collect();
        let text = self.builder.literal(&text);
        self.builder.sequence([text, fraction])
    }

    /// Whole numbers from `low` to `high`, both inclusive, without leading zeros.
    fn whole_range(&mut self, low: &[u8], high: Option<&[u8]>) -> Option<ExprId> {
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
                let rest = self.builder.repeat(any, count(low.len()), None);
                alternatives.push(self.builder.sequence([first, rest]));
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
        let mut alternatives = Vec::new();
        let at_low = self.digit(low[0], low[0]);
        let rest = self.at_least(&low[1..]);
        alternatives.push(self.builder.sequence([at_low, rest]));
        if low[0] + 1 < high[0] {
            let between = self.digit(low[0] + 1, high[0] - 1);
            let rest = self.any_digits(low.len() - 1);
            alternatives.push(self.builder.sequence([between, rest]));
        }
        let at_high = self.digit(high[0], high[0]);
        let rest = self.at_most(&high[1..]);
        alternatives.push(self.builder.sequence([at_high, rest]));
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

    fn beside(&mut self, bound: &[u8], way_out: impl Fn(u8) -> Option<(u8, u8)>) -> ExprId {
        let mut result = self.builder.empty();
        for (at, &digit) in bound.iter().enumerate().rev() {
            let same = self.digit(digit, digit);
            result = self.builder.sequence([same, result]);
            if let Some((start, end)) = way_out(digit) {
                let (out, free) = (self.digit(start, end), self.any_digits(bound.len() - at - 1));
                let out = self.builder.sequence([out, free]);
                result = self.builder.choice([result, out]);
            }
        }
        result
    }

    fn any_fraction(&mut self) -> ExprId {
        let any = self.digit(0, 9);
        let digits = self.builder.repeat(any, 1, None);
        let point = self.builder.literal(".");
        let fraction = self.builder.sequence([point, digits]);
        self.builder.optional(fraction)
    }

    /// What may follow a whole part that equals that of the given bounds: nothing, or a point and digits.
    fn fraction(&mut self, low: Option<&SplitBound>, high: Option<&SplitBound>) -> Option<ExprId> {
        // Without a fraction the value equals the bound cut at the point.
        let above = low.is_none_or(|low| low.fraction.is_empty() && low.edge == Edge::Inclusive);
        let below = high.is_none_or(|high| !high.fraction.is_empty() || high.edge == Edge::Inclusive);
        let point = self.builder.literal(".");
        let digits = self.fraction_digits(
            low.map(|low| (low.fraction.as_slice(), low.edge)),
            high.map(|high| (high.fraction.as_slice(), high.edge)),
        );
        // A point needs a digit after it.
        let digits = digits.map(|digits| {
            let any = self.digit(0, 9);
            let (one, rest) = (any, self.builder.repeat(any, 0, None));
            let some = self.builder.sequence([one, rest]);
            self.builder.intersection([digits, some])
        });
        let with_point = digits.map(|digits| self.builder.sequence([point, digits]));
        match (above && below, with_point) {
            (true, Some(with_point)) => Some(self.builder.optional(with_point)),
            (true, None) => Some(self.builder.empty()),
            (false, with_point) => with_point,
        }
    }

    /// Digits after the point, possibly none, whose value lies between the bounds' fractions.
    fn fraction_digits(&mut self, low: Option<(&[u8], Edge)>, high: Option<(&[u8], Edge)>) -> Option<ExprId> {
        let (Some((low, low_edge)), Some((high, high_edge))) = (low, high) else {
            return match (low, high) {
                (Some((low, edge)), None) => Some(self.fraction_above(low, edge)),
                (None, Some((high, edge))) => self.fraction_below(high, edge),
                _ => {
                    let any = self.digit(0, 9);
                    Some(self.builder.repeat(any, 0, None))
                }
            };
        };
        let length = low.len().max(high.len());
        let digit_of = |digits: &[u8], at: usize| digits.get(at).copied().unwrap_or(0);
        let Some(split) = (0..length).find(|&at| digit_of(low, at) != digit_of(high, at)) else {
            // Both bounds are one number: it and its spellings with zeros at the end, if any.
            if low_edge == Edge::Exclusive || high_edge == Edge::Exclusive {
                return None;
            }
            let texts: String = low.iter().map(|&digit| char::from(b'0' + digit)).collect();
            let (texts, zero) = (self.builder.literal(&texts), self.digit(0, 0));
            let zeros = self.builder.repeat(zero, 0, None);
            return Some(self.builder.sequence([texts, zeros]));
        };
        let (low_digit, high_digit) = (digit_of(low, split), digit_of(high, split));
        if low_digit > high_digit {
            return None;
        }
        let any = self.digit(0, 9);
        let anything = self.builder.repeat(any, 0, None);
        let mut alternatives = Vec::new();
        let same = self.digit(low_digit, low_digit);
        let rest = self.fraction_above(low.get(split + 1..).unwrap_or_default(), low_edge);
        alternatives.push(self.builder.sequence([same, rest]));
        if low_digit + 1 < high_digit {
            let between = self.digit(low_digit + 1, high_digit - 1);
            alternatives.push(self.builder.sequence([between, anything]));
        }
        let same = self.digit(high_digit, high_digit);
        let rest = self.fraction_below(high.get(split + 1..).unwrap_or_default(), high_edge);
        alternatives.extend(rest.map(|rest| self.builder.sequence([same, rest])));
        let tail = self.builder.choice(alternatives);
        let shared: String = (0..split).map(|at| char::from(b'0' + digit_of(low, at))).collect();
        let literal = self.builder.literal(&shared);
        let whole = self.builder.sequence([literal, tail]);
        if low.len() > split || low_edge == Edge::Exclusive {
            return Some(whole);
        }
        // The lower bound ends here: stopping early is stopping at it. Its digits up to `split` are zeros
        // and its own, and any text that ends between its last digit and `split` equals it.
        let mut texts = Vec::new();
        for end in low.len()..=split {
            let text: String = (0..end).map(|at| char::from(b'0' + digit_of(low, at))).collect();
            texts.push(self.builder.literal(&text));
        }
        texts.push(whole);
        Some(self.builder.choice(texts))
    }

    /// Digits, possibly none, with `0.digits` not less than (or greater than) `0.low`.
    fn fraction_above(&mut self, low: &[u8], edge: Edge) -> ExprId {
        let any = self.digit(0, 9);
        let anything = self.builder.repeat(any, 0, None);
        let mut result = match edge {
            Edge::Inclusive => anything,
            Edge::Exclusive => {
                let (zero, more) = (self.digit(0, 0), self.digit(1, 9));
                let zeros = self.builder.repeat(zero, 0, None);
                self.builder.sequence([zeros, more, anything])
            }
        };
        for &digit in low.iter().rev() {
            let same = self.digit(digit, digit);
            result = self.builder.sequence([same, result]);
            if digit < 9 {
                let out = self.digit(digit + 1, 9);
                let out = self.builder.sequence([out, anything]);
                result = self.builder.choice([result, out]);
            }
        }
        result
    }

    /// Digits, possibly none, with `0.digits` not greater than (or less than) `0.high`.
    fn fraction_below(&mut self, high: &[u8], edge: Edge) -> Option<ExprId> {
        let any = self.digit(0, 9);
        let anything = self.builder.repeat(any, 0, None);
        let mut result = match edge {
            Edge::Inclusive => {
                let zero = self.digit(0, 0);
                Some(self.builder.repeat(zero, 0, None))
            }
            Edge::Exclusive => None,
        };
        for &digit in high.iter().rev() {
            // What is left of the bound is above zero, so stopping here stays below it.
            let mut alternatives = vec![self.builder.empty()];
            if let Some(rest) = result {
                let same = self.digit(digit, digit);
                alternatives.push(self.builder.sequence([same, rest]));
            }
            if digit > 0 {
                let out = self.digit(0, digit - 1);
                alternatives.push(self.builder.sequence([out, anything]));
            }
            result = Some(self.builder.choice(alternatives));
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

/// The bounds' magnitudes below zero and from zero on; `None` where no number of that sign is allowed.
type SignedBounds = (Option<(Bound, Option<Bound>)>, Option<(Bound, Option<Bound>)>);

fn signs(lower: Option<&Bound>, upper: Option<&Bound>) -> SignedBounds {
    let zero = |edge| Bound { value: Decimal::zero(), edge };
    let turned = |bound: &Bound| Bound { value: bound.value.negated(), edge: bound.edge };
    let negative = match lower {
        Some(bound) if !bound.value.is_negative() => None,
        lower => {
            let least = match upper {
                Some(bound) if bound.value.is_negative() => turned(bound),
                _ => zero(Edge::Exclusive),
            };
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

fn increment(digits: &[u8]) -> Vec<u8> {
    let mut digits = digits.to_vec();
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return digits;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
    digits
}

/// One less; only for numbers above zero.
fn decrement(digits: &[u8]) -> Vec<u8> {
    let mut digits = digits.to_vec();
    for digit in digits.iter_mut().rev() {
        if *digit > 0 {
            *digit -= 1;
            break;
        }
        *digit = 9;
    }
    if digits.len() > 1 && digits[0] == 0 {
        digits.remove(0);
    }
    digits
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
