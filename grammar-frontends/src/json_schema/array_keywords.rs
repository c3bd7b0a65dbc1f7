//! `items`, `prefixItems`, `additionalItems`, `minItems`, `maxItems`, `uniqueItems`, `contains`.

use super::array_shape::{ArrayShape, OwedItems, Repetition};
use super::document::{Draft, NodeId, Step, member};
use super::goal::{Atom, GoalId};
use super::json::{Members, Value};
use super::keywords::{Fallible, Normalizer};
use super::number_keywords::count;

pub(super) fn read<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
) -> Fallible<ArrayShape> {
    let mut shape = ArrayShape::any();
    let draft = n.document.draft(node);
    if let Some(value) = member(members, "prefixItems").filter(|_| draft >= Draft::Draft2020) {
        shape.prefix = places(n, node, "prefixItems", value)?;
    }
    match member(members, "items") {
        // A list here is the older drafts' `prefixItems`; newer ones do not allow it, and it can mean nothing
        // else.
        Some(value @ Value::Array(_)) if shape.prefix.is_empty() => {
            shape.prefix = places(n, node, "items", value)?;
            if let Some(rest) = member(members, "additionalItems") {
                shape.rest = n.subschema(node, Step::Keyword("additionalItems"), rest)?;
            }
        }
        Some(value) => shape.rest = n.subschema(node, Step::Keyword("items"), value)?,
        None => {}
    }
    shape.min = count(n, node, members, "minItems")?.unwrap_or(0);
    shape.max = count(n, node, members, "maxItems")?;
    match member(members, "uniqueItems") {
        None | Some(Value::Bool(false)) => {}
        Some(Value::Bool(true)) => shape.repetition = Repetition::Forbidden(node),
        Some(_) => return Err(n.malformed(node, "uniqueItems", "`true` or `false`")),
    }
    if let Some(value) = member(members, "contains").filter(|_| draft >= Draft::Draft6) {
        let goal = n.subschema(node, Step::Keyword("contains"), value)?;
        let (mut min, mut max) = (1, None);
        if draft >= Draft::Draft2019 {
            min = count(n, node, members, "minContains")?.unwrap_or(1);
            max = count(n, node, members, "maxContains")?;
        }
        owe(&mut shape, OwedItems { goal, from: 0, min, max });
    }
    Ok(shape.normalized())
}

/// Adds what `contains` owes, in simpler words where there are some.
fn owe(shape: &mut ArrayShape, owed: OwedItems) {
    let upper = |bound: Option<u64>, other: u64| Some(bound.map_or(other, |bound| bound.min(other)));
    match (owed.goal, owed.min, owed.max) {
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
            shape.min = shape.min.max(owed.min);
            shape.owed.push(owed);
        }
    }
}

fn places<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    keyword: &'static str,
    value: &'s Value<'s>,
) -> Fallible<Vec<GoalId>> {
    let Value::Array(items) = value else {
        return Err(n.malformed(node, keyword, "a list of schemas"));
    };
    let steps = items.iter().enumerate();
    steps.map(|(index, item)| n.subschema(node, Step::Index(keyword, index), item)).collect()
}

/// The array that equals a constant.
pub(super) fn constant<'s>(n: &mut Normalizer<'s>, node: NodeId, items: &'s [Value<'s>]) -> ArrayShape {
    let mut prefix = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let child = n.document.child(node, Step::Item(index), item);
        prefix.push(n.algebra.goals.atom(Atom::Const(child)));
    }
    let length = items.len() as u64;
    ArrayShape { prefix, rest: GoalId::NEVER, min: length, max: Some(length), ..ArrayShape::any() }
}
