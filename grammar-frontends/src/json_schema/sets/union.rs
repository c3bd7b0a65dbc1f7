//! The union of sets of values.
//!
//! The naive way takes up one set after the other and simplifies the result each time, which takes the square
//! of their number where they are constants. So the values of finite sets are collected, and sorted once in
//! the end. Shapes are distinguished by their hashes where there are many, and compared with few others to
//! see whether they cover one another. An alternative that another one covers would only make the grammar
//! ambiguous.

use std::hash::Hash;

use grammask_grammar_ir::hash::hash_of;

use super::array_shape::ArrayShape;
use super::decimal::Decimal;
use super::normal_form::{Algebra, NormalForm, TooManyAlternatives};
use super::number_shape::{NumberKind, NumberShape};
use super::object_shape::ObjectShape;
use super::string_shape::StringShape;

/// Shapes above which those that others cover are no longer sought: there are pairs of them.
const MAX_ABSORBED: usize = 64;

/// The work of conjoining two shapes that list nothing.
pub(crate) const PAIR: usize = 6;

/// The union of the sets that were added.
pub(crate) struct Union<'s> {
    null: bool,
    booleans: [bool; 2],
    /// Without finite sets.
    numbers: Alternatives<NumberShape>,
    /// Without finite sets.
    strings: Alternatives<StringShape<'s>>,
    arrays: Alternatives<ArrayShape>,
    objects: Alternatives<ObjectShape<'s>>,
    /// The finite sets of numbers of any spelling.
    any_numbers: Vec<Decimal>,
    /// The finite sets of numbers that are spelled as integers.
    integers: Vec<Decimal>,
    texts: Vec<&'s str>,
}

impl<'s> Union<'s> {
    pub(crate) fn new() -> Self {
        Self {
            null: false,
            booleans: [false, false],
            numbers: Alternatives::new(),
            strings: Alternatives::new(),
            arrays: Alternatives::new(),
            objects: Alternatives::new(),
            any_numbers: Vec::new(),
            integers: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// Adds all values of a set.
    pub(crate) fn add(
        &mut self,
        norm: NormalForm<'s>,
        algebra: &mut Algebra<'s>,
    ) -> Result<(), TooManyAlternatives> {
        let Algebra { goals, tests, limits, work, is_ordered, .. } = algebra;
        work.charge(1);
        self.null |= norm.null;
        self.booleans[0] |= norm.booleans[0];
        self.booleans[1] |= norm.booleans[1];
        let count = norm.numbers.len();
        for shape in norm.numbers {
            match shape.values {
                // Finite sets are collected and joined at the end. One by one, each would be compared with
                // all others.
                Some(values) => {
                    work.charge(values.len());
                    let integers = shape.kind == NumberKind::Integer;
                    let all = if integers { &mut self.integers } else { &mut self.any_numbers };
                    all.extend(values);
                }
                None => self.numbers.add(shape, count, |one, other| {
                    work.charge(PAIR);
                    one.and(other) == *one
                }),
            }
        }
        let count = norm.strings.len();
        for shape in norm.strings {
            match shape.values {
                Some(values) => {
                    work.charge(values.len());
                    self.texts.extend(values);
                }
                None => self.strings.add(shape, count, |one, other| {
                    work.charge(PAIR + one.size() / 4 + other.size() / 4);
                    one.and(other, tests) == *one
                }),
            }
        }
        let count = norm.arrays.len();
        for shape in norm.arrays {
            self.arrays.add(shape, count, |one, other| one.and(other, goals) == *one);
        }
        let count = norm.objects.len();
        for shape in norm.objects {
            self.objects.add(shape, count, |one, other| {
                // A cheap test first: conjoining two objects goes through all their members.
                one.may_be_covered(other, *is_ordered, goals) && one.and(other, goals, tests) == *one
            });
        }
        let most =
            [self.numbers.len(), self.strings.len(), self.arrays.len(), self.objects.len()].into_iter().max();
        if most > Some(limits.alternatives) || work.is_spent() { Err(TooManyAlternatives) } else { Ok(()) }
    }

    pub(crate) fn add_null(&mut self) {
        self.null = true;
    }

    pub(crate) fn add_boolean(&mut self, value: bool) {
        self.booleans[usize::from(value)] = true;
    }

    pub(crate) fn add_number(&mut self, value: Decimal) {
        self.any_numbers.push(value);
    }

    pub(crate) fn add_text(&mut self, text: &'s str) {
        self.texts.push(text);
    }

    /// The union as a normal form, finite sets last.
    pub(crate) fn finish(self, algebra: &mut Algebra<'s>) -> Result<NormalForm<'s>, TooManyAlternatives> {
        let Algebra { tests, limits, work, .. } = algebra;
        let Self { null, booleans, any_numbers, integers, texts, .. } = self;
        let mut norm = NormalForm {
            null,
            booleans,
            numbers: self.numbers.shapes,
            strings: self.strings.shapes,
            arrays: self.arrays.shapes,
            objects: self.objects.shapes,
        };
        for (mut values, kind) in [(any_numbers, NumberKind::Any), (integers, NumberKind::Integer)] {
            let covering =
                norm.numbers.iter().filter(|shape| shape.kind != NumberKind::Integer || shape.kind == kind);
            let covering: Vec<&NumberShape> = covering.take(MAX_ABSORBED).collect();
            work.charge(values.len().saturating_mul(1 + covering.len()));
            values.retain(|value| !work.is_spent() && !covering.iter().any(|shape| shape.contains(value)));
            if !values.is_empty() {
                norm.numbers.push(NumberShape { kind, ..NumberShape::finite(values) });
            }
        }
        let mut values = texts;
        let covering = norm.strings.get(..MAX_ABSORBED).unwrap_or(&norm.strings);
        work.charge(values.len().saturating_mul(1 + covering.len()));
        values.retain(|value| !work.is_spent() && !covering.iter().any(|shape| shape.contains(value, tests)));
        if !values.is_empty() {
            norm.strings.push(StringShape::finite(values));
        }
        let too_many = norm.numbers.len().max(norm.strings.len()) > limits.alternatives;
        if too_many || work.is_spent() { Err(TooManyAlternatives) } else { Ok(norm) }
    }
}

/// Shapes of which none is equal to another one.
pub(crate) struct Alternatives<T> {
    shapes: Vec<T>,
    /// Of each shape, where there are many.
    hashes: Vec<u64>,
}

/// Shapes from which on they are told apart by their hashes.
const MIN_HASHED: usize = 8;

impl<T: PartialEq + Hash> Alternatives<T> {
    pub(crate) fn new() -> Self {
        Self { shapes: Vec::new(), hashes: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.shapes.len()
    }

    pub(crate) fn into_shapes(self) -> Vec<T> {
        self.shapes
    }

    /// Adds a shape, unless it is there.
    pub(crate) fn insert(&mut self, shape: T) {
        if self.shapes.len() >= MIN_HASHED {
            if self.hashes.is_empty() {
                self.hashes.extend(self.shapes.iter().map(hash_of));
            }
            let hash = hash_of(&shape);
            let mut alike = self.hashes.iter().zip(&self.shapes).filter(|(known, _)| **known == hash);
            if alike.any(|(_, known)| *known == shape) {
                return;
            }
            self.hashes.push(hash);
        } else if self.shapes.contains(&shape) {
            return;
        }
        self.shapes.push(shape);
    }

    /// Adds one of `count` shapes of a set without those that it covers, unless it is covered by another one. A set of many
    /// shapes is taken as it is: a shape that covers another may write its members in another order, and products of
    /// alternatives hold both.
    fn add(&mut self, shape: T, count: usize, mut is_within: impl FnMut(&T, &T) -> bool) {
        let before = self.shapes.len();
        if before > 0 && before < MAX_ABSORBED && count <= MAX_ABSORBED {
            self.shapes.retain(|known| *known == shape || !is_within(known, &shape));
            if self.shapes.len() < before {
                self.hashes.clear();
            }
            if self.shapes.iter().any(|known| *known == shape || is_within(&shape, known)) {
                return;
            }
        }
        self.insert(shape);
    }
}
