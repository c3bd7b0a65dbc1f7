//! Arrays of different items.
//!
//! Items that come from a finite set of scalars are parts in any order, each of which occurs at most once.
//! The set may be listed, whole numbers between bounds, or the texts of a pattern with few texts. Where each
//! place has a set of its own, the arrays are written out as a tree. A value has one expression whatever its
//! spellings, so that `1` and `1.0` are the same item. Places that have no value in common need no
//! comparison. All other items are compared while the text is written: see
//! [`unique_items`](super::unique_items).

use std::borrow::Cow;

use grammask_grammar_ir::{ExprId, Occurrence};

use super::contains::MAX_OBLIGATIONS;
use super::lowering::SchemaLowering;
use super::punctuation::Punctuation;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::sets::array_shape::{ArrayShape, ItemObligation, Repetition};
use crate::json_schema::sets::decimal::Decimal;
use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::normal_form::NormalForm;
use crate::json_schema::sets::number_shape::NumberShape;
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::value_syntax::ItemComparison;

/// Most values of an item that are distinguished.
const MAX_VALUES: usize = 4_096;

/// Places with a set of values each: nesting goes as deep.
const MAX_PLACES: usize = 8;

/// Most values of an item where some have to occur: they are compared with one another.
const MAX_WITNESSES: usize = 512;

/// Arrays that are written out, and values in all ways to meet obligations.
const MAX_ARRAYS: usize = 4_096;

/// A scalar; equal values are equal.
#[derive(Clone, PartialEq)]
enum Scalar<'s> {
    Word(&'static str),
    Number(Decimal),
    Text(Cow<'s, str>),
}

/// A scalar and its text.
type SpelledScalar<'s> = (Scalar<'s>, ExprId);

impl<'s> SchemaLowering<'s> {
    /// The array, if equal items are forbidden and the items are scalars from finite sets; `Some(None)` where
    /// there is no such array.
    pub(super) fn unique_array(
        &mut self,
        shape: &ArrayShape,
        node: NodeId,
    ) -> Result<Option<Option<ExprId>>> {
        if !matches!(shape.repetition, Repetition::Forbidden(_)) {
            return Ok(None);
        }
        if !shape.prefix.is_empty() {
            return if shape.obligations.is_empty() { self.unique_places(shape, node) } else { Ok(None) };
        }
        let Some(values) = self.finite_values(shape.rest, node)? else { return Ok(None) };
        let Some(ways) = self.ways_to_meet(shape, &values, node)? else { return Ok(None) };
        let most = shape.max.unwrap_or(u64::MAX).min(values.len() as u64);
        if shape.min > most {
            return Ok(Some(None));
        }
        // Without items nothing is listed, and it may be read beside arrays that are compared.
        if most == 0 && self.distinct.comparison != ItemComparison::Impossible {
            return Ok(None);
        }
        let Punctuation { space, before_first, after_last, comma, .. } = self.punctuation;
        let (open, close) = (self.builder.literal("["), self.builder.literal("]"));
        let separator = self.builder.sequence([space, comma]);
        let mut is_empty_allowed = false;
        let mut insides = Vec::with_capacity(ways.len() + 1);
        for way in ways {
            // A value that is read twice is none of the parts. But the grammar has the symbol for it then.
            let mut parts: Vec<(ExprId, Occurrence)> = Vec::with_capacity(values.len());
            for ((_, value), occurrence) in values.iter().zip(way) {
                if let Some(occurrence) = occurrence {
                    parts.push((self.told_item(*value, None), occurrence));
                }
            }
            let required = parts.iter().filter(|(_, occurrence)| *occurrence == Occurrence::Required).count();
            let most = most.min(parts.len() as u64);
            let least = shape.min.max(required as u64);
            is_empty_allowed |= least == 0;
            if least <= most && most > 0 {
                // Neither bound is above the number of values.
                let items = self.builder.permutation(separator, parts, least as u32, Some(most as u32));
                insides.push(self.builder.sequence([before_first, items, space, after_last, close]));
            }
        }
        insides.splice(..0, is_empty_allowed.then_some(close));
        if insides.is_empty() {
            return Ok(Some(None));
        }
        let inside = self.builder.choice(insides);
        Ok(Some(Some(self.builder.sequence([open, space, inside]))))
    }

    /// The ways in which values meet all obligations: in each a value must occur, may, or (`None`) must not. No array
    /// is in two of them. `None` where they are too many.
    fn ways_to_meet(
        &mut self,
        shape: &ArrayShape,
        values: &[SpelledScalar<'s>],
        node: NodeId,
    ) -> Result<Option<Vec<Vec<Option<Occurrence>>>>> {
        let mut ways = vec![vec![Some(Occurrence::Optional); values.len()]];
        if shape.obligations.len() > MAX_OBLIGATIONS
            || !shape.obligations.is_empty() && values.len() > MAX_WITNESSES
        {
            return Ok(None);
        }
        for &ItemObligation { goal, from, min, max } in &shape.obligations {
            if from > 0 {
                return Ok(None);
            }
            let goal = self.normalizer.algebra.goals.and(shape.rest, goal);
            let Some(met) = self.finite_values(goal, node)? else { return Ok(None) };
            let is_met = |at: &usize| met.iter().any(|(value, _)| *value == values[*at].0);
            let witnesses: Vec<usize> = (0..values.len()).filter(is_met).collect();
            let mut narrower = Vec::new();
            for mut way in ways {
                let is = |at: usize, occurrence| way[at] == Some(occurrence);
                let required = witnesses.iter().filter(|&&at| is(at, Occurrence::Required)).count() as u64;
                let optional: Vec<usize> =
                    witnesses.iter().copied().filter(|&at| is(at, Occurrence::Optional)).collect();
                let (missing, all) = (min.saturating_sub(required), optional.len() as u64);
                let room = max.map_or(all, |max| max.saturating_sub(required).min(all));
                if max.is_some_and(|max| max < required) || missing > room {
                    continue;
                }
                if missing == all || room == 0 {
                    let all_or_none = if missing == all { Some(Occurrence::Required) } else { None };
                    optional.into_iter().for_each(|at| way[at] = all_or_none);
                    narrower.push(way);
                } else if missing == 0 && room == all {
                    narrower.push(way);
                } else if missing == 1 && room == all || room == 1 {
                    if room == 1 {
                        optional.iter().for_each(|&at| way[at] = None);
                        narrower.extend((missing == 0).then(|| way.clone()));
                    }
                    // Each is the first that occurs, in the order of the values: those before it do not.
                    for at in optional {
                        way[at] = Some(Occurrence::Required);
                        narrower.push(way.clone());
                        way[at] = None;
                    }
                } else {
                    return Ok(None);
                }
            }
            if narrower.len().saturating_mul(values.len()) > MAX_ARRAYS {
                return Ok(None);
            }
            ways = narrower;
        }
        Ok(Some(ways))
    }

    /// An array whose places are listed.
    fn unique_places(&mut self, shape: &ArrayShape, node: NodeId) -> Result<Option<Option<ExprId>>> {
        let Some(length) = shape.max.and_then(|max| usize::try_from(max).ok()) else { return Ok(None) };
        if length > MAX_PLACES {
            return Ok(None);
        }
        if self.places_differ(shape, length)? {
            let shape = ArrayShape { repetition: Repetition::Free, ..shape.clone() };
            return self.array(&shape, node).map(Some);
        }
        let (mut places, mut arrays) = (Vec::with_capacity(length), 1usize);
        for place in 0..length {
            let Some(values) = self.finite_values(shape.item(place), node)? else { return Ok(None) };
            arrays = arrays.saturating_mul(values.len().max(1));
            places.push(values);
        }
        if arrays > MAX_ARRAYS {
            return Ok(None);
        }
        let inside = self.different_items(&places, shape.min, &mut Vec::new());
        let open = self.builder.literal("[");
        Ok(Some(inside.map(|inside| self.builder.sequence([open, inside]))))
    }

    /// Whether no value may occur at two places.
    fn places_differ(&mut self, shape: &ArrayShape, length: usize) -> Result<bool> {
        for place in 0..length {
            for other in 0..place {
                let both = self.normalizer.algebra.goals.and(shape.item(place), shape.item(other));
                if !self.normalizer.norm(both)?.is_never() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The text after the bracket or an item, given the items before it.
    fn different_items(
        &mut self,
        places: &[Vec<SpelledScalar<'s>>],
        min: u64,
        read: &mut Vec<usize>,
    ) -> Option<ExprId> {
        let Punctuation { space, before_first, after_last, comma, .. } = self.punctuation;
        let is_first = read.is_empty();
        let (before, after) = if is_first { (before_first, None) } else { (comma, Some(after_last)) };
        let mut ways = Vec::new();
        for (index, (value, text)) in places.get(read.len()).into_iter().flatten().enumerate() {
            if read.iter().zip(places).any(|(&earlier, place)| place[earlier].0 == *value) {
                continue;
            }
            read.push(index);
            let rest = self.different_items(places, min, read);
            read.pop();
            if let Some(rest) = rest {
                let text = self.told_item(*text, None);
                ways.push(self.builder.sequence([before, text, rest]));
            }
        }
        if read.len() as u64 >= min {
            let close = self.builder.literal("]");
            ways.push(self.builder.sequence(after.into_iter().chain([close])));
        }
        if ways.is_empty() {
            return None;
        }
        let ways = self.builder.choice(ways);
        Some(self.builder.sequence([space, ways]))
    }

    /// The numbers and strings of a set, each once, if they are finite sets of at most [`MAX_VALUES`] together.
    pub(super) fn listed_scalars(&self, norm: &NormalForm<'s>) -> Option<(Vec<Decimal>, Vec<Cow<'s, str>>)> {
        let (mut numbers, mut strings) = (Vec::new(), Vec::new());
        for shape in &norm.numbers {
            numbers.extend(shape.enumerated(MAX_VALUES)?);
        }
        for shape in &norm.strings {
            strings.extend(self.enumerated(shape, MAX_VALUES)?);
        }
        let numbers = NumberShape::finite(numbers).values?;
        strings.sort_unstable();
        strings.dedup();
        (numbers.len() + strings.len() <= MAX_VALUES).then_some((numbers, strings))
    }

    /// The values of a goal, if these are scalars and few.
    fn finite_values(&mut self, goal: GoalId, node: NodeId) -> Result<Option<Vec<SpelledScalar<'s>>>> {
        let norm = self.normalizer.norm(goal)?;
        if !norm.arrays.is_empty() || !norm.objects.is_empty() {
            return Ok(None);
        }
        // Other notations spell what the schema lists.
        if self.notation.is_some() && norm.strings.iter().any(|shape| shape.values.is_none()) {
            return Ok(None);
        }
        let Some((numbers, strings)) = self.listed_scalars(&norm) else { return Ok(None) };
        let words = [("null", norm.null), ("false", norm.booleans[0]), ("true", norm.booleans[1])];
        let words = words.into_iter().filter(|(_, allowed)| *allowed);
        let mut values: Vec<SpelledScalar<'s>> =
            words.map(|(word, _)| (Scalar::Word(word), self.word(word))).collect();
        for number in numbers {
            let holding = norm.numbers.iter().filter(|shape| shape.contains(&number));
            let alone = NumberShape::finite(vec![number.clone()]);
            let shapes: Vec<NumberShape> =
                holding.map(|shape| NumberShape { kind: shape.kind, ..alone.clone() }).collect();
            let text = self.numbers(&shapes, node)?;
            values.extend(text.map(|text| (Scalar::Number(number), text)));
        }
        for string in strings {
            let text = match &string {
                Cow::Borrowed(value) => self.string_value(&[StringShape::finite(vec![value])], node)?,
                Cow::Owned(value) => Some(self.quoted(value)),
            };
            values.extend(text.map(|text| (Scalar::Text(string), text)));
        }
        Ok(Some(values))
    }
}
