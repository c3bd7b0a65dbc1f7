//! Exact decimal numbers.
//!
//! Bounds and constants of a schema are compared digit by digit. A binary floating-point number would move
//! `0.1` or a bound of thirty digits to a neighbour and accept a wrong text there.

use std::cmp::Ordering;
use std::iter;

use smallvec::SmallVec;

/// The digits of a number. Most have few, and need no memory of their own.
pub(crate) type DigitString = SmallVec<[u8; 16]>;

/// A decimal number in normal form: equal numbers are equal values, however they were spelled.
///
/// The magnitude is `0.d1 d2 d3 ... * 10^exponent`; `digits` has neither leading nor trailing zeros, and
/// zero has no digits, exponent 0 and no sign.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    digits: DigitString,
    exponent: i64,
}

impl Decimal {
    /// Zero.
    pub(crate) fn zero() -> Self {
        Self { negative: false, digits: DigitString::new(), exponent: 0 }
    }

    /// A small whole number.
    pub(crate) fn from_integer(value: u64) -> Self {
        Self::from_parts(false, digits_of(value.into()), 0)
    }

    /// Reads a JSON number. `None` where the text is none, or its exponent does not fit 32 bits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], i64::from(rest[at + 1..].parse::<i32>().ok()?)),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
        Some(Self::from_parts(negative, digits, exponent - i64::try_from(fraction.len()).ok()?))
    }

    /// The number whose decimal digits are `digits`, times ten to the power `scale`.
    fn from_parts(negative: bool, mut digits: DigitString, scale: i64) -> Self {
        let mut exponent = scale + digits.len() as i64;
        let leading = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..leading);
        exponent -= leading as i64;
        while digits.last() == Some(&0) {
            digits.pop();
        }
        if digits.is_empty() {
            return Self::zero();
        }
        Self { negative, digits, exponent }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= self.digits.len() as i64
    }

    /// How many digits the number has when written without an exponent.
    pub(crate) fn written_len(&self) -> u64 {
        let len = self.digits.len() as i64;
        let end = (len - self.exponent).max(0);
        (self.exponent.max(1) + end).unsigned_abs()
    }

    /// The exponent of the number with one digit before the point; none of zero.
    pub(crate) fn scientific_exponent(&self) -> Option<i64> {
        (!self.is_zero()).then_some(self.exponent - 1)
    }

    /// The magnitude with its first digit before the point.
    pub(crate) fn mantissa(&self) -> Self {
        Self { negative: false, digits: self.digits.clone(), exponent: i64::from(!self.is_zero()) }
    }

    /// The number with its sign turned.
    pub(crate) fn negated(&self) -> Self {
        let mut result = self.clone();
        result.negative = !self.negative && !self.is_zero();
        result
    }

    /// The digits before the point, without leading zeros: none for magnitudes below one.
    ///
    /// Only for numbers whose [`written_len`](Self::written_len) was found to be small.
    pub(crate) fn whole_digits(&self) -> DigitString {
        let count = usize::try_from(self.exponent).unwrap_or(0);
        let mut digits: DigitString = self.digits.iter().copied().take(count).collect();
        digits.resize(count, 0);
        digits
    }

    /// The digits after the point, without trailing zeros.
    ///
    /// Only for numbers whose [`written_len`](Self::written_len) was found to be small.
    pub(crate) fn fraction_digits(&self) -> DigitString {
        if self.is_zero() {
            return DigitString::new();
        }
        if self.exponent < 0 {
            let zeros = usize::try_from(-self.exponent).unwrap_or(0);
            let mut digits = DigitString::from_elem(0, zeros);
            digits.extend_from_slice(&self.digits);
            return digits;
        }
        self.digits.iter().copied().skip(usize::try_from(self.exponent).unwrap_or(usize::MAX)).collect()
    }

    /// The greatest whole number that is not greater.
    pub(crate) fn floor(&self) -> Self {
        if self.is_integer() {
            return self.clone();
        }
        let whole = Self::from_parts(false, self.whole_digits(), 0);
        if self.negative { whole.plus_one().negated() } else { whole }
    }

    /// The number times ten to the power `places`.
    fn shifted(&self, places: u32) -> Self {
        let exponent = if self.is_zero() { 0 } else { self.exponent + i64::from(places) };
        Self { exponent, ..self.clone() }
    }

    /// A whole number of at most 38 digits.
    pub(crate) fn to_integer(&self) -> Option<i128> {
        if self.exponent > 38 {
            return None;
        }
        let count = usize::try_from(self.exponent).unwrap_or(0);
        let digits = self.digits.iter().copied().chain(iter::repeat(0)).take(count);
        let magnitude = digits.fold(0i128, |value, digit| value * 10 + i128::from(digit));
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// The least whole number that is not less.
    pub(crate) fn ceiling(&self) -> Self {
        if self.is_integer() { self.clone() } else { self.negated().floor().negated() }
    }

    /// The next whole number; only for whole numbers.
    pub(crate) fn plus_one(&self) -> Self {
        let digits = self.whole_digits();
        // A negative whole number is not zero.
        let digits = if self.negative { decrement(&digits) } else { increment(&digits) };
        Self::from_parts(self.negative, digits, 0)
    }

    /// The whole number before; only for whole numbers.
    pub(crate) fn minus_one(&self) -> Self {
        self.negated().plus_one().negated()
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

/// The decimal digits of a number.
fn digits_of(value: u128) -> DigitString {
    let mut digits = DigitString::from_slice(value.to_string().as_bytes());
    digits.iter_mut().for_each(|digit| *digit -= b'0');
    digits
}

/// One more than a number of these digits.
pub(crate) fn increment(digits: &[u8]) -> DigitString {
    let mut digits = DigitString::from_slice(digits);
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
pub(crate) fn decrement(digits: &[u8]) -> DigitString {
    let mut digits = DigitString::from_slice(digits);
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

/// The step of `multipleOf`: `units / 10^places`, with as few places as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Divisor {
    pub(crate) units: u64,
    pub(crate) places: u32,
}

impl Divisor {
    /// The step of whole numbers.
    pub(crate) const ONE: Self = Self { units: 1, places: 0 };

    /// The step as a fraction, if it is positive and small enough to compute with.
    pub(crate) fn new(value: &Decimal) -> Option<Self> {
        if value.is_negative() || value.is_zero() || value.written_len() > 40 {
            return None;
        }
        let fraction = value.fraction_digits();
        let mut units: u64 = 0;
        for digit in value.whole_digits().into_iter().chain(fraction.iter().copied()) {
            units = units.checked_mul(10)?.checked_add(u64::from(digit))?;
        }
        Some(Self { units, places: u32::try_from(fraction.len()).ok()? })
    }

    /// The step as a number.
    pub(crate) fn value(self) -> Decimal {
        self.times(1)
    }

    /// The multiple with this factor.
    fn times(self, factor: i128) -> Decimal {
        let product = u128::from(self.units).saturating_mul(factor.unsigned_abs());
        Decimal::from_parts(factor < 0 && product > 0, digits_of(product), -i64::from(self.places))
    }

    /// The multiples between two numbers, both included. `None` where the numbers are too large to compute with.
    pub(crate) fn multiples_between(
        self,
        lower: &Decimal,
        upper: &Decimal,
    ) -> Option<impl Iterator<Item = Decimal>> {
        let units = i128::from(self.units);
        let first = -(-lower.shifted(self.places).ceiling().to_integer()?).div_euclid(units);
        let last = upper.shifted(self.places).floor().to_integer()?.div_euclid(units);
        Some((first..=last).map(move |factor| self.times(factor)))
    }

    /// The step of the numbers that are multiples of both.
    pub(crate) fn least_common_multiple(self, other: Self) -> Option<Self> {
        let places = self.places.max(other.places);
        let scale = |step: Self| step.units.checked_mul(10u64.checked_pow(places - step.places)?);
        let (left, right) = (scale(self)?, scale(other)?);
        let units = (left / greatest_common_divisor(left, right)).checked_mul(right)?;
        Some(Self { units, places }.reduced())
    }

    fn reduced(mut self) -> Self {
        while self.places > 0 && self.units.is_multiple_of(10) {
            self.units /= 10;
            self.places -= 1;
        }
        self
    }

    /// Whether a number is a multiple.
    pub(crate) fn divides(self, value: &Decimal) -> bool {
        if value.is_zero() {
            return true;
        }
        let shift = value.exponent + i64::from(self.places) - value.digits.len() as i64;
        if shift < 0 {
            return false;
        }
        let modulus = u128::from(self.units);
        // Division is the dear part, so the digits are taken together that fit beside a remainder.
        let remainder = value.digits.chunks(18).fold(0u128, |rest, digits| {
            let next = |number: u128, &digit: &u8| number * 10 + u128::from(digit);
            digits.iter().fold(rest, next) % modulus
        });
        // Past 64 factors of ten, every power of two and five that 64 bits can hold is there.
        (0..shift.min(64)).fold(remainder, |rest, _| rest * 10 % modulus) == 0
    }
}

pub(crate) fn greatest_common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}
