//! Sets of JSON values as a disjunction of typed shapes.

use std::hash::Hash;

use super::array_shape::ArrayShape;
use super::goals::Goals;
use super::inhabited::StringEmptiness;
use super::number_shape::NumberShape;
use super::object_shape::ObjectShape;
use super::string_shape::StringShape;
use super::text_tests::{Polarity, TestId, TextTest, TextTests};
use super::union::{Alternatives, PAIR, Union};
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::options::{JsonSchemaLimits, KeyOrder};
use crate::json_schema::work::Work;

/// The tables that are needed to conjoin shapes.
pub(crate) struct Algebra<'s> {
    pub(crate) goals: Goals,
    pub(crate) tests: TextTests<'s>,
    pub(crate) limits: JsonSchemaLimits,
    pub(crate) work: Work,
    /// Whether members of objects have an order.
    pub(super) is_ordered: bool,
    inhabited: StringEmptiness<'s>,
}

impl<'s> Algebra<'s> {
    pub(crate) fn new(limits: JsonSchemaLimits, key_order: KeyOrder, work: Work) -> Self {
        let (goals, tests) = (Goals::new(work.clone()), TextTests::new(work.clone()));
        let is_ordered = key_order != KeyOrder::Any;
        Self { goals, tests, limits, work, is_ordered, inhabited: StringEmptiness::new() }
    }

    /// Whether there may be a string of a shape; *no* is certain.
    pub(crate) fn may_be_nonempty(&mut self, shape: &StringShape<'s>) -> bool {
        self.work.charge(1 + shape.tests.len());
        !self.work.is_spent() && self.inhabited.may_be_nonempty(shape, &self.tests, &self.work)
    }

    /// Whether no text passes both tests; *yes* is certain.
    pub(crate) fn are_disjoint(&mut self, left: TestId, right: TestId) -> bool {
        let mut tests = [left, right].map(|test| TextTest { test, sense: Polarity::Holds }).to_vec();
        tests.sort_unstable();
        !self.may_be_nonempty(&StringShape { tests, ..StringShape::any() })
    }
}

/// More alternatives than the limit, or more work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyAlternatives;

/// A set of JSON values. Each list is a union; an empty list excludes the type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NormalForm<'s> {
    pub(crate) null: bool,
    /// `false` and `true`.
    pub(crate) booleans: [bool; 2],
    pub(crate) numbers: Vec<NumberShape>,
    pub(crate) strings: Vec<StringShape<'s>>,
    pub(crate) arrays: Vec<ArrayShape>,
    pub(crate) objects: Vec<ObjectShape<'s>>,
}

impl<'s> NormalForm<'s> {
    pub(crate) fn any() -> Self {
        Self {
            null: true,
            booleans: [true, true],
            numbers: vec![NumberShape::any()],
            strings: vec![StringShape::any()],
            arrays: vec![ArrayShape::any()],
            objects: vec![ObjectShape::any()],
        }
    }

    pub(crate) fn never() -> Self {
        Self {
            null: false,
            booleans: [false, false],
            numbers: Vec::new(),
            strings: Vec::new(),
            arrays: Vec::new(),
            objects: Vec::new(),
        }
    }

    pub(crate) fn is_any(&self) -> bool {
        self.null
            && self.booleans == [true, true]
            && self.numbers == [NumberShape::any()]
            && self.strings == [StringShape::any()]
            && self.arrays == [ArrayShape::any()]
            && matches!(&*self.objects, [shape] if shape.is_any())
    }

    pub(crate) fn is_never(&self) -> bool {
        !self.null
            && self.booleans == [false, false]
            && self.numbers.is_empty()
            && self.strings.is_empty()
            && self.arrays.is_empty()
            && self.objects.is_empty()
    }

    /// Whether it is a list of scalars, or empty.
    pub(crate) fn lists_scalars(&self) -> bool {
        self.arrays.is_empty()
            && self.objects.is_empty()
            && self.numbers.iter().all(|shape| shape.values.is_some())
            && self.strings.iter().all(|shape| shape.values.is_some())
    }

    /// The texts that are excluded, where nothing else is.
    pub(crate) fn only_excluded_texts(&self) -> Option<&[&'s str]> {
        let [StringShape { values: None, excluded, tests, min: 0, max: None }] = self.strings.as_slice()
        else {
            return None;
        };
        let is_plain = tests.is_empty()
            && !excluded.is_empty()
            && self.null
            && self.booleans == [true, true]
            && self.numbers == [NumberShape::any()]
            && self.arrays == [ArrayShape::any()]
            && matches!(&*self.objects, [shape] if shape.is_any());
        is_plain.then_some(excluded)
    }

    /// About how many values, names and conditions it lists.
    pub(crate) fn size(&self) -> usize {
        let numbers = self.numbers.iter().map(NumberShape::size).sum::<usize>();
        let strings = self.strings.iter().map(StringShape::size).sum::<usize>();
        let arrays = self.arrays.iter().map(ArrayShape::size).sum::<usize>();
        let objects = self.objects.iter().map(ObjectShape::size).sum::<usize>();
        numbers + strings + arrays + objects
    }

    /// The intersection.
    pub(crate) fn and(&self, other: &Self, algebra: &mut Algebra<'s>) -> Result<Self, TooManyAlternatives> {
        if self.is_any() || other.is_any() {
            let narrower = if self.is_any() { other } else { self };
            algebra.work.charge(narrower.size());
            return Ok(narrower.clone());
        }
        let Algebra { goals, tests, limits, work, .. } = algebra;
        let budget = (limits.alternatives, &*work);
        let result = NormalForm {
            null: self.null && other.null,
            booleans: [self.booleans[0] && other.booleans[0], self.booleans[1] && other.booleans[1]],
            numbers: product(&self.numbers, &other.numbers, budget, |left, right| {
                work.charge((left.size() + right.size()) / 4);
                Some(left.and(right)).filter(|shape| !shape.is_empty(limits.digits))
            })?,
            strings: product(&self.strings, &other.strings, budget, |left, right| {
                work.charge((left.size() + right.size()) / 4);
                Some(left.and(right, tests)).filter(|shape| !shape.is_empty(tests))
            })?,
            arrays: product(&self.arrays, &other.arrays, budget, |left, right| {
                Some(left.and(right, goals)).filter(|shape| !shape.is_empty())
            })?,
            objects: product(&self.objects, &other.objects, budget, |left, right| {
                Some(left.and(right, goals, tests)).filter(|shape| !shape.is_empty())
            })?,
        };
        result.simplified(algebra)
    }

    /// Whether both hold one shape of numbers each, and some number may be in both: then the intersection need not be
    /// written.
    pub(crate) fn shares_number(&self, other: &Self, algebra: &Algebra<'s>) -> bool {
        let ([left], [right]) = (self.numbers.as_slice(), other.numbers.as_slice()) else { return false };
        algebra.work.charge(PAIR + (left.size() + right.size()) / 4);
        !left.and(right).is_empty(algebra.limits.digits)
    }

    /// The complement. `from` is where uniqueness would be demanded.
    pub(crate) fn complement(
        &self,
        from: NodeId,
        algebra: &mut Algebra<'s>,
    ) -> Result<Self, TooManyAlternatives> {
        let mut result = NormalForm::any();
        result.null = !self.null;
        result.booleans = [!self.booleans[0], !self.booleans[1]];
        let typed = |change: &dyn Fn(&mut NormalForm<'s>)| {
            let mut norm = NormalForm::any();
            change(&mut norm);
            norm
        };
        for shape in &self.numbers {
            algebra.work.charge(shape.size());
            let shapes = shape.complement();
            result = result.and(&typed(&|norm| norm.numbers = shapes.clone()), algebra)?;
        }
        for shape in &self.strings {
            algebra.work.charge(shape.size());
            let shapes = shape.complement();
            result = result.and(&typed(&|norm| norm.strings = shapes.clone()), algebra)?;
        }
        for shape in &self.arrays {
            let shapes = shape.complement(&mut algebra.goals, from);
            result = result.and(&typed(&|norm| norm.arrays = shapes.clone()), algebra)?;
        }
        for shape in &self.objects {
            let shapes = shape.complement(algebra.is_ordered, &mut algebra.goals);
            result = result.and(&typed(&|norm| norm.objects = shapes.clone()), algebra)?;
        }
        Ok(result)
    }

    /// Merges finite sets, and drops alternatives that another one covers.
    pub(crate) fn simplified(self, algebra: &mut Algebra<'s>) -> Result<Self, TooManyAlternatives> {
        let most = [self.numbers.len(), self.strings.len(), self.arrays.len(), self.objects.len()];
        if most.into_iter().all(|count| count < 2) {
            return Ok(self);
        }
        let mut union = Union::new();
        union.add(self, algebra)?;
        union.finish(algebra)
    }
}

/// Pairs that may be tried for each alternative that may result.
pub(crate) const PAIRS_FOR_ONE: usize = 64;

fn product<T: PartialEq + Hash>(
    left: &[T],
    right: &[T],
    (budget, work): (usize, &Work),
    mut and: impl FnMut(&T, &T) -> Option<T>,
) -> Result<Vec<T>, TooManyAlternatives> {
    // Pairs that contradict each other leave no result, and still take their time.
    if left.len().saturating_mul(right.len()) > budget.saturating_mul(PAIRS_FOR_ONE) {
        return Err(TooManyAlternatives);
    }
    let mut result = Alternatives::new();
    for one in left {
        for other in right {
            work.charge(PAIR);
            if let Some(shape) = and(one, other) {
                result.insert(shape);
            }
            if result.len() > budget || work.is_spent() {
                return Err(TooManyAlternatives);
            }
        }
    }
    Ok(result.into_shapes())
}
