//! `items`, `prefixItems`, `additionalItems`, `minItems`, `maxItems`, `uniqueItems`, `contains`.

use super::normalizer::Normalizer;
use super::numbers::count;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::{Draft, NodeId};
use crate::json_schema::document::json::{Members, Value};
use crate::json_schema::document::nodes::PathStep;
use crate::json_schema::sets::array_shape::{ArrayShape, ItemObligation, Repetition};
use crate::json_schema::sets::goals::{Atom, GoalId};

pub(crate) fn read<'s>(n: &mut Normalizer<'s>, node: NodeId, members: &'s Members<'s>) -> Result<ArrayShape> {
    let mut shape = ArrayShape::any();
    let draft = n.document.draft(node);
    if let Some(value) = members.get("prefixItems").filter(|_| draft >= Draft::Draft2020) {
        shape.prefix = n.branches(node, "prefixItems", value)?;
    }
    match members.get("items") {
        // A list here is the older drafts' `prefixItems`; newer ones do not allow it, and it can mean nothing
        // else.
        Some(value @ Value::Array(_)) if shape.prefix.is_empty() => {
            shape.prefix = n.branches(node, "items", value)?;
            if let Some(rest) = members.get("additionalItems") {
                shape.rest = n.subschema(node, PathStep::Keyword("additionalItems"), rest)?;
            }
        }
        Some(value) => shape.rest = n.subschema(node, PathStep::Keyword("items"), value)?,
        None => {}
    }
    shape.min = count(n, node, members, "minItems")?.unwrap_or(0);
    shape.max = count(n, node, members, "maxItems")?;
    match members.get("uniqueItems") {
        None | Some(Value::Bool(false)) => {}
        Some(Value::Bool(true)) => shape.repetition = Repetition::Forbidden(node),
        Some(_) => return Err(n.malformed(node, "uniqueItems", "`true` or `false`")),
    }
    if let Some(value) = members.get("contains").filter(|_| draft >= Draft::Draft6) {
        let goal = n.subschema(node, PathStep::Keyword("contains"), value)?;
        let (mut min, mut max) = (1, None);
        if draft >= Draft::Draft2019 {
            min = count(n, node, members, "minContains")?.unwrap_or(1);
            max = count(n, node, members, "maxContains")?;
        }
        add_obligation(&mut shape, ItemObligation { goal, from: 0, min, max });
    }
    Ok(shape.normalized())
}

/// Adds the obligation of a `contains`, in a simpler form where there is one.
fn add_obligation(shape: &mut ArrayShape, obligation: ItemObligation) {
    let upper = |bound: Option<u64>, other: u64| Some(bound.map_or(other, |bound| bound.min(other)));
    match (obligation.goal, obligation.min, obligation.max) {
        (_, 0, None) => {}
        (GoalId::ANY, min, max) => {
            shape.min = shape.min.max(min);
            if let Some(max) = max {
                shape.max = upper(shape.max, max);
            }
        }
        (GoalId::NEVER, min, _) => {
            if min > 0 {
                shape.min = u64::MAX;
                shape.max = Some(0);
            }
        }
        _ => {
            shape.min = shape.min.max(obligation.min);
            shape.obligations.push(obligation);
        }
    }
}

/// The array that equals a constant.
pub(crate) fn constant<'s>(n: &mut Normalizer<'s>, node: NodeId, items: &'s [Value<'s>]) -> ArrayShape {
    let mut prefix = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let child = n.document.child(node, PathStep::Item(index), item);
        prefix.push(n.algebra.goals.atom(Atom::Const(child)));
    }
    let length = items.len() as u64;
    ArrayShape { prefix, rest: GoalId::NEVER, min: length, max: Some(length), ..ArrayShape::any() }
}
