//! `minimum`, `maximum`, their exclusive forms in both dialects, `multipleOf`.

use super::decimal::{Decimal, Step};
use super::document::{NodeId, member};
use super::json::{Members, Value};
use super::keywords::{Fallible, Normalizer};
use super::number_shape::{Bound, Edge, NumberShape};

pub(super) fn read(n: &mut Normalizer<'_>, node: NodeId, members: &Members<'_>) -> Fallible<NumberShape> {
    let lower =
        NumberShape { lower: bound(n, node, members, "minimum", "exclusiveMinimum")?, ..NumberShape::any() };
    let upper =
        NumberShape { upper: bound(n, node, members, "maximum", "exclusiveMaximum")?, ..NumberShape::any() };
    let mut shape = lower.and(&upper);
    for (keyword, side) in [("exclusiveMinimum", Side::Lower), ("exclusiveMaximum", Side::Upper)] {
        if let Some(value) = member(members, keyword).filter(|value| !value.is_boolean()) {
            let value = decimal(n, node, keyword, value)?;
            let bound = Some(Bound { value, edge: Edge::Exclusive });
            shape = shape.and(&match side {
                Side::Lower => NumberShape { lower: bound, ..NumberShape::any() },
                Side::Upper => NumberShape { upper: bound, ..NumberShape::any() },
            });
        }
    }
    if let Some(value) = member(members, "multipleOf") {
        let value = decimal(n, node, "multipleOf", value)?;
        if value.is_negative() || value.is_zero() {
            return Err(n.malformed(node, "multipleOf", "a number above zero"));
        }
        match Step::new(&value) {
            Some(step) => shape.steps.push(step),
            None => {
                let reason = "the step has too many digits to compute with";
                n.unsupported(node, "multipleOf", reason, "use a step of at most 18 digits")?;
            }
        }
    }
    Ok(shape)
}

#[derive(Clone, Copy)]
enum Side {
    Lower,
    Upper,
}

/// The inclusive keyword, made exclusive by draft 4's boolean beside it.
fn bound(
    n: &mut Normalizer<'_>,
    node: NodeId,
    members: &Members<'_>,
    keyword: &str,
    modifier: &str,
) -> Fallible<Option<Bound>> {
    let Some(value) = member(members, keyword) else { return Ok(None) };
    let value = decimal(n, node, keyword, value)?;
    let edge = match member(members, modifier) {
        Some(Value::Bool(true)) => Edge::Exclusive,
        _ => Edge::Inclusive,
    };
    Ok(Some(Bound { value, edge }))
}

fn decimal(n: &mut Normalizer<'_>, node: NodeId, keyword: &str, value: &Value<'_>) -> Fallible<Decimal> {
    let number = value.as_number().and_then(Decimal::parse);
    number.ok_or_else(|| n.malformed(node, keyword, "a number"))
}

/// The value of a keyword that counts: a whole number, however it is spelled.
pub(super) fn count(
    n: &mut Normalizer<'_>,
    node: NodeId,
    members: &Members<'_>,
    keyword: &str,
) -> Fallible<Option<u64>> {
    let Some(value) = member(members, keyword) else { return Ok(None) };
    let number = decimal(n, node, keyword, value).ok();
    match number.filter(|number| number.is_integer() && !number.is_negative()) {
        Some(number) => {
            let digits = if number.written_len() > 20 { vec![] } else { number.whole_digits() };
            let fits = digits.iter().try_fold(0u64, |sum, &digit| {
                sum.checked_mul(10).and_then(|sum| sum.checked_add(u64::from(digit)))
            });
            let huge = number.written_len() > 20;
            Ok(Some(fits.filter(|_| !huge).unwrap_or(u64::MAX)))
        }
        None => Err(n.malformed(node, keyword, "a whole number that is not negative")),
    }
}
