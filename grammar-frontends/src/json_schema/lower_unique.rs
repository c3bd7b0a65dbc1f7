//! Arrays of different items.
//!
//! Items that come from a finite set of scalars are parts in any order, each of which occurs at most once. A value
//! has one part whatever its spellings, so that `1` and `1.0` are the same item.

use grammask_grammar_ir::{ExprId, Occurrence};

use super::array_shape::{ArrayShape, Repetition};
use super::document::NodeId;
use super::goal::GoalId;
use super::keywords::Fallible;
use super::lower::{Lowering, Punctuation};
use super::number_shape::NumberShape;
use super::string_shape::StringShape;

/// Most values of an item that are told apart.
const MAX_VALUES: usize = 4_096;

impl<'s> Lowering<'s> {
    /// The array, if equal items are forbidden and the items are scalars from a finite set; `Some(None)` where
    /// there is no such array.
    pub(super) fn unique_array(
        &mut self,
        shape: &ArrayShape,
        node: NodeId,
    ) -> Fallible<Option<Option<ExprId>>> {
        let is_plain = shape.prefix.is_empty() && shape.owed.is_empty();
        if !matches!(shape.repetition, Repetition::Forbidden(_)) || !is_plain {
            return Ok(None);
        }
        let Some(values) = self.finite_values(shape.rest, node)? else { return Ok(None) };
        let most = shape.max.unwrap_or(u64::MAX).min(values.len() as u64);
        if shape.min > most {
            return Ok(Some(None));
        }
        let Punctuation { space, comma, .. } = self.punctuation;
        let (open, close) = (self.builder.literal("["), self.builder.literal("]"));
        // Neither bound is above the number of values.
        let (min, max) = (shape.min as u32, most as u32);
        let inside = if max == 0 {
            close
        } else {
            let separator = self.builder.sequence([space, comma]);
            let parts = values.into_iter().map(|value| (value, Occurrence::Optional));
            let items = self.builder.unordered(separator, parts, min, Some(max));
            let items = self.builder.sequence([items, space, close]);
            if min == 0 { self.builder.choice([close, items]) } else { items }
        };
        Ok(Some(Some(self.builder.sequence([open, space, inside]))))
    }

    /// An expression for each value of a goal, if these are scalars and few.
    fn finite_values(&mut self, goal: GoalId, node: NodeId) -> Fallible<Option<Vec<ExprId>>> {
        let norm = self.normalizer.norm(goal)?;
        let is_finite = norm.numbers.iter().all(|shape| shape.values.is_some())
            && norm.strings.iter().all(|shape| shape.values.is_some());
        if !is_finite || !norm.arrays.is_empty() || !norm.objects.is_empty() {
            return Ok(None);
        }
        let numbers = norm.numbers.iter().filter_map(|shape| shape.values.as_ref()).flatten().cloned();
        let numbers = NumberShape::finite(numbers.collect()).values.unwrap_or_default();
        let strings = norm.strings.iter().filter_map(|shape| shape.values.as_ref()).flatten().copied();
        let strings = StringShape::finite(strings.collect()).values.unwrap_or_default();
        if numbers.len() + strings.len() > MAX_VALUES {
            return Ok(None);
        }
        let words = [("null", norm.null), ("false", norm.booleans[0]), ("true", norm.booleans[1])];
        let words = words.into_iter().filter(|(_, allowed)| *allowed);
        let mut values: Vec<ExprId> = words.map(|(word, _)| self.builder.literal(word)).collect();
        for number in numbers {
            values.extend(self.numbers(&[NumberShape::finite(vec![number])], node)?);
        }
        for string in strings {
            values.extend(self.string_value(&[StringShape::finite(vec![string])], node)?);
        }
        Ok(Some(values))
    }
}
