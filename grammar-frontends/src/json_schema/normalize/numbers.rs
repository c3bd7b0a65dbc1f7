//! `minimum`, `maximum`, their exclusive forms in both dialects, `multipleOf`.

use super::normalizer::Normalizer;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::document::json::{Members, Value};
use crate::json_schema::sets::decimal::{Decimal, Divisor};
use crate::json_schema::sets::number_shape::{Bound, Edge, NumberShape};

pub(crate) fn read(n: &mut Normalizer<'_>, node: NodeId, members: &Members<'_>) -> Result<NumberShape> {
    let lower =
        NumberShape { lower: bound(n, node, members, "minimum", "exclusiveMinimum")?, ..NumberShape::any() };
    let upper =
        NumberShape { upper: bound(n, node, members, "maximum", "exclusiveMaximum")?, ..NumberShape::any() };
    let mut shape = lower.and(&upper);
    for (keyword, side) in [("exclusiveMinimum", BoundSide::Lower), ("exclusiveMaximum", BoundSide::Upper)] {
        if let Some(value) = members.get(keyword).filter(|value| !value.is_boolean()) {
            let value = decimal(n, node, keyword, value)?;
            let bound = Some(Bound { value, edge: Edge::Exclusive });
            shape = shape.and(&match side {
                BoundSide::Lower => NumberShape { lower: bound, ..NumberShape::any() },
                BoundSide::Upper => NumberShape { upper: bound, ..NumberShape::any() },
            });
        }
    }
    if let Some(value) = members.get("multipleOf") {
        let value = decimal(n, node, "multipleOf", value)?;
        if value.is_negative() || value.is_zero() {
            return Err(n.malformed(node, "multipleOf", "a number above zero"));
        }
        match Divisor::new(&value) {
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
enum BoundSide {
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
) -> Result<Option<Bound>> {
    let Some(value) = members.get(keyword) else { return Ok(None) };
    let value = decimal(n, node, keyword, value)?;
    let edge = match members.get(modifier) {
        Some(Value::Bool(true)) => Edge::Exclusive,
        _ => Edge::Inclusive,
    };
    Ok(Some(Bound { value, edge }))
}

fn decimal(n: &mut Normalizer<'_>, node: NodeId, keyword: &str, value: &Value<'_>) -> Result<Decimal> {
    let number = value.as_number().and_then(Decimal::parse);
    number.ok_or_else(|| n.malformed(node, keyword, "a number"))
}

/// The value of a keyword that counts: a whole number, however it is spelled.
pub(crate) fn count(
    n: &mut Normalizer<'_>,
    node: NodeId,
    members: &Members<'_>,
    keyword: &str,
) -> Result<Option<u64>> {
    let Some(value) = members.get(keyword) else { return Ok(None) };
    let number = decimal(n, node, keyword, value).ok();
    match number.filter(|number| number.is_integer() && !number.is_negative()) {
        Some(number) => {
            let fits = number.to_integer().and_then(|number| u64::try_from(number).ok());
            Ok(Some(fits.unwrap_or(u64::MAX)))
        }
        None => Err(n.malformed(node, keyword, "a whole number that is not negative")),
    }
}
