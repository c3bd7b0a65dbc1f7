//! The number that a rule carries, `rule::_`: what references give it, and conditions on it.
//!
//! A number has 64 bits. `[first:end]` are the bits from `first` on and before `end`, as a number of their own.

use grammask_grammar_ir::Span;

use super::fault::Fault;
use super::token::{LarkToken, Sort};

/// The number that a reference gives, from the number of the rule it is in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    Constant(u64),
    /// `_`.
    Same,
    /// `set_bit(n)` and `bit_or(n)`, as the bits that become 1.
    Or(u64),
    /// `clear_bit(n)` and `bit_and(n)`, as the bits that stay.
    And(u64),
    /// `incr(bits)`: one more, unless all of these bits are 1.
    Increment(Bits),
    /// `decr(bits)`: one less, unless all of these bits are 0.
    Decrement(Bits),
}

/// A condition on an alternative.
#[derive(Debug)]
pub(super) enum Condition {
    True,
    Not(Box<Self>),
    Both(Box<[Self; 2]>),
    Either(Box<[Self; 2]>),
    /// `bit_set(n)` and `is_ones(bits)`.
    Ones(Bits),
    /// `bit_clear(n)` and `is_zeros(bits)`.
    Zeros(Bits),
    /// `eq(bits, n)` and its kind.
    Number(Bits, Relation, u64),
    /// `bit_count_eq(bits, n)` and its kind.
    Count(Bits, Relation, u64),
}

/// Whether the first number is so to the second.
pub(super) type Relation = fn(&u64, &u64) -> bool;

/// Bits that stand next to each other, at least one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    first: u32,
    /// As many ones as there are bits.
    ones: u64,
}

impl Argument {
    /// Whether it depends on a number.
    pub(super) fn reads_number(self) -> bool {
        !matches!(self, Self::Constant(_))
    }

    pub(super) fn value(self, number: u64) -> u64 {
        match self {
            Self::Constant(value) => value,
            Self::Same => number,
            Self::Or(bits) => number | bits,
            Self::And(bits) => number & bits,
            Self::Increment(bits) if bits.of(number) < bits.ones => number + (1 << bits.first),
            Self::Decrement(bits) if bits.of(number) > 0 => number - (1 << bits.first),
            Self::Increment(_) | Self::Decrement(_) => number,
        }
    }
}

impl Condition {
    /// Whether it depends on a number. Recurses as deep as brackets nest, as `holds` does.
    pub(super) fn reads_number(&self) -> bool {
        match self {
            Self::True => false,
            Self::Not(inner) => inner.reads_number(),
            Self::Both(parts) | Self::Either(parts) => parts.iter().any(Self::reads_number),
            Self::Ones(_) | Self::Zeros(_) | Self::Number(..) | Self::Count(..) => true,
        }
    }

    pub(super) fn holds(&self, number: u64) -> bool {
        match self {
            Self::True => true,
            Self::Not(inner) => !inner.holds(number),
            Self::Both(parts) => parts.iter().all(|part| part.holds(number)),
            Self::Either(parts) => parts.iter().any(|part| part.holds(number)),
            Self::Ones(bits) => bits.of(number) == bits.ones,
            Self::Zeros(bits) => bits.of(number) == 0,
            Self::Number(bits, relation, other) => relation(&bits.of(number), other),
            Self::Count(bits, relation, other) => relation(&bits.of(number).count_ones().into(), other),
        }
    }
}

fn relation_named(name: &str) -> Option<Relation> {
    Some(match name {
        "eq" => u64::eq,
        "ne" => u64::ne,
        "lt" => u64::lt,
        "le" => u64::le,
        "gt" => u64::gt,
        "ge" => u64::ge,
        _ => return None,
    })
}

impl Bits {
    const ALL: Self = Self { first: 0, ones: u64::MAX };

    fn one(first: u32) -> Self {
        Self { first, ones: 1 }
    }

    fn of(self, number: u64) -> u64 {
        number >> self.first & self.ones
    }
}

/// Reads arguments and conditions from the tokens of a statement.
pub(super) struct NumberReader<'a> {
    pub(super) source: &'a str,
    /// The rest of the statement.
    pub(super) tokens: &'a [LarkToken],
    /// How many tokens were read.
    pub(super) read: usize,
    /// How deep brackets may still nest.
    pub(super) nesting: usize,
}

impl<'a> NumberReader<'a> {
    /// The argument after `::` at a place.
    pub(super) fn argument(&mut self, colons: Span) -> Result<Argument, Fault> {
        let wrong = |at| {
            let hint = "write `_`, a number, or one of set_bit(n), clear_bit(n), bit_and(n), bit_or(n), incr(_) and decr(_)";
            Fault::new("lark/number", "no number of a rule is written like this", hint, at)
        };
        if let Some(value) = self.number()? {
            return Ok(Argument::Constant(value));
        }
        let name = self.take(Sort::Name).ok_or_else(|| wrong(self.here(colons)))?;
        let function = self.text(name);
        if function == "_" {
            return Ok(Argument::Same);
        }
        if !matches!(function, "set_bit" | "clear_bit" | "bit_and" | "bit_or" | "incr" | "decr") {
            return Err(wrong(name));
        }
        let open = self.expect(Sort::OpenGroup, name)?;
        let argument = match function {
            "set_bit" => Argument::Or(1 << self.bit(open)?),
            "clear_bit" => Argument::And(!(1 << self.bit(open)?)),
            "bit_and" => Argument::And(self.expect_number(open)?),
            "bit_or" => Argument::Or(self.expect_number(open)?),
            "incr" => Argument::Increment(self.bits(open)?),
            _ => Argument::Decrement(self.bits(open)?),
        };
        self.expect(Sort::CloseGroup, open)?;
        Ok(argument)
    }

    /// The condition after `%if` or `(`. Recurses as deep as brackets may nest.
    pub(super) fn condition(&mut self, before: Span) -> Result<Condition, Fault> {
        let wrong = |at| {
            let hint = "the conditions are true, bit_set, bit_clear, is_ones, is_zeros, eq, ne, lt, le, gt, ge, bit_count_eq and its kind, and, or, not";
            Fault::new("lark/number", "there is no condition like this", hint, at)
        };
        let name = self.take(Sort::Name).ok_or_else(|| wrong(self.here(before)))?;
        let function = self.text(name);
        if function == "true" {
            return Ok(Condition::True);
        }
        let is_known =
            matches!(function, "not" | "and" | "or" | "bit_set" | "bit_clear" | "is_ones" | "is_zeros");
        let (counted, relation) = match function.strip_prefix("bit_count_") {
            Some(relation) => (true, relation_named(relation)),
            None => (false, relation_named(function)),
        };
        if !is_known && relation.is_none() {
            return Err(wrong(name));
        }
        let open = self.expect(Sort::OpenGroup, name)?;
        let condition = match (function, relation) {
            (_, Some(relation)) => {
                let bits = self.bits(open)?;
                let comma = self.expect(Sort::Comma, open)?;
                let other = self.expect_number(comma)?;
                match counted {
                    true => Condition::Count(bits, relation, other),
                    false => Condition::Number(bits, relation, other),
                }
            }
            ("not", None) => Condition::Not(Box::new(self.inner(open)?)),
            ("and" | "or", None) => {
                let first = self.inner(open)?;
                let comma = self.expect(Sort::Comma, open)?;
                let parts = Box::new([first, self.inner(comma)?]);
                if function == "and" { Condition::Both(parts) } else { Condition::Either(parts) }
            }
            ("bit_set", None) => Condition::Ones(Bits::one(self.bit(open)?)),
            ("bit_clear", None) => Condition::Zeros(Bits::one(self.bit(open)?)),
            ("is_ones", None) => Condition::Ones(self.bits(open)?),
            _ => Condition::Zeros(self.bits(open)?),
        };
        self.expect(Sort::CloseGroup, open)?;
        Ok(condition)
    }

    /// A condition in brackets.
    fn inner(&mut self, before: Span) -> Result<Condition, Fault> {
        self.nesting = self.nesting.checked_sub(1).ok_or_else(|| {
            let message = "brackets nest too deep";
            Fault::new("lark/limit", message, "give inner parts a rule of their own", before)
        })?;
        let condition = self.condition(before)?;
        self.nesting += 1;
        Ok(condition)
    }

    /// `_` or `[first:end]`.
    fn bits(&mut self, before: Span) -> Result<Bits, Fault> {
        let place = self.here(before);
        let wrong = || {
            let hint = "write `_` for all bits, or `[0:3]` for the bits 0, 1 and 2; there are 64";
            Fault::new("lark/number", "these are no bits of a number", hint, place)
        };
        if let Some(name) = self.take(Sort::Name) {
            return if self.text(name) == "_" { Ok(Bits::ALL) } else { Err(wrong()) };
        }
        self.take(Sort::OpenOption).ok_or_else(wrong)?;
        let first = self.number()?;
        self.take(Sort::Colon).ok_or_else(wrong)?;
        let end = self.number()?;
        self.take(Sort::CloseOption).ok_or_else(wrong)?;
        let bounds = first.zip(end).filter(|(first, end)| first < end && *end <= 64);
        let (first, end) = bounds.ok_or_else(wrong)?;
        Ok(Bits { first: first as u32, ones: u64::MAX >> (64 - (end - first)) })
    }

    /// The number of a bit.
    fn bit(&mut self, before: Span) -> Result<u32, Fault> {
        let place = self.here(before);
        let bit = self.expect_number(before)?;
        match u32::try_from(bit) {
            Ok(bit) if bit < u64::BITS => Ok(bit),
            _ => Err(Fault::new("lark/number", "a number has 64 bits", "name one from 0 to 63", place)),
        }
    }

    fn expect_number(&mut self, before: Span) -> Result<u64, Fault> {
        let place = self.here(before);
        self.number()?.ok_or_else(|| {
            Fault::new("lark/number", "a number is missing", "write one, as in `5` or `0x1f`", place)
        })
    }

    fn number(&mut self) -> Result<Option<u64>, Fault> {
        let (span, read) = if let Some(span) = self.take(Sort::Integer) {
            (span, self.text(span).parse())
        } else if let Some(span) = self.take(Sort::Hexadecimal) {
            (span, u64::from_str_radix(&self.text(span)[2..], 16))
        } else {
            return Ok(None);
        };
        read.map(Some)
            .map_err(|_| Fault::new("lark/limit", "this number is too large", "numbers have 64 bits", span))
    }

    fn expect(&mut self, sort: Sort, before: Span) -> Result<Span, Fault> {
        let place = self.here(before);
        self.take(sort).ok_or_else(|| {
            let message = match sort {
                Sort::Comma => "a `,` is missing",
                Sort::OpenGroup => "a `(` is missing",
                _ => "a `)` is missing",
            };
            Fault::new("lark/syntax", message, "write as in `lt([0:3], 5)`", place)
        })
    }

    fn take(&mut self, sort: Sort) -> Option<Span> {
        let token = self.tokens.get(self.read).filter(|token| token.sort == sort)?;
        self.read += 1;
        Some(token.span)
    }

    /// The place of the next token, or of the one before.
    fn here(&self, before: Span) -> Span {
        self.tokens.get(self.read).map_or(before, |token| token.span)
    }

    fn text(&self, span: Span) -> &'a str {
        &self.source[span.start as usize..span.end as usize]
    }
}
