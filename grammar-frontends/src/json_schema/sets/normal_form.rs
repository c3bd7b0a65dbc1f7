//! Sets of JSON values as a disjunction of typed shapes.

use std::hash::Hash;

use super::array_shape::ArrayShape;
use super::goals::Goals;
use super::inhabited::StringEmptiness;
use super::number_shape::{NumberKind, NumberShape};
use super::object_shape::ObjectShape;
use super::string_shape::StringShape;
use super::text_tests::{Polarity, TestId, TextTest, TextTests};
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::options::JsonSchemaLimits;

/// The tables that are needed to conjoin shapes.
pub(crate) struct Algebra<'s> {
    pub(crate) goals: Goals,
    pub(crate) tests: TextTests<'s>,
    pub(crate) limits: JsonSchemaLimits,
    /// Comparisons made so far.
    pub(crate) work: u64,
    inhabited: StringEmptiness<'s>,
}

impl<'s> Algebra<'s> {
    pub(crate) fn new(limits: JsonSchemaLimits) -> Self {
        let (goals, tests) = (Goals::new(), TextTests::default());
        Self { goals, tests, limits, work: 0, inhabited: StringEmptiness::new() }
    }

    /// Whether there may be a string of a shape; *no* is certain.
    pub(crate) fn may_be_nonempty(&mut self, shape: &StringShape<'s>) -> bool {
        self.inhabited.may_be_nonempty(shape, &self.tests)
    }

    /// Whether no text passes both tests; *yes* is certain.
    pub(crate) fn are_disjoint(&mut self, left: TestId, right: TestId) -> bool {
        let mut tests = [left, right].map(|test| TextTest { test, sense: Polarity::Holds }).to_vec();
        tests.sort_unstable();
        self.tests.have_disjoint_prefixes(left, right)
            || !self.may_be_nonempty(&StringShape { tests, ..StringShape::any() })
    }
}

/// More alternatives than the limit.
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

    /// The intersection.
    pub(crate) fn and(&self, other: &Self, algebra: &mut Algebra<'s>) -> Result<Self, TooManyAlternatives> {
        if self.is_any() {
            return Ok(other.clone());
        }
        if other.is_any() {
            return Ok(self.clone());
        }
        algebra.work += self.conjunction_cost(other);
        let Algebra { goals, tests, limits, .. } = algebra;
        let budget = limits.alternatives;
        let mut result = NormalForm {
            null: self.null && other.null,
            booleans: [self.booleans[0] && other.booleans[0], self.booleans[1] && other.booleans[1]],
            numbers: product(&self.numbers, &other.numbers, budget, |left, right| {
                Some(left.and(right)).filter(|shape| !shape.is_empty(limits.digits))
            })?,
            strings: product(&self.strings, &other.strings, budget, |left, right| {
                Some(left.and(right, tests)).filter(|shape| !shape.is_empty(tests))
            })?,
            arrays: product(&self.arrays, &other.arrays, budget, |left, right| {
                Some(left.and(right, goals)).filter(|shape| !shape.is_empty())
            })?,
            objects: product(&self.objects, &other.objects, budget, |left, right| {
                Some(left.and(right, goals, tests)).filter(|shape| !shape.is_empty())
            })?,
        };
        result.simplify(algebra);
        Ok(result)
    }

    /// About how much work it is to conjoin this with another.
    fn conjunction_cost(&self, other: &Self) -> u64 {
        let simple = self.numbers.len() * other.numbers.len()
            + self.strings.len() * other.strings.len()
            + self.arrays.len() * other.arrays.len();
        let members =
            |norm: &Self| norm.objects.iter().map(|shape| 1 + shape.properties.len()).sum::<usize>();
        let objects = members(self) * other.objects.len() + members(other) * self.objects.len();
        (1 + simple + objects) as u64
    }

    /// The union.
    pub(crate) fn or(&mut self, other: &Self, algebra: &mut Algebra<'s>) -> Result<(), TooManyAlternatives> {
        self.null |= other.null;
        self.booleans[0] |= other.booleans[0];
        self.booleans[1] |= other.booleans[1];
        union(&mut self.numbers, &other.numbers);
        union(&mut self.strings, &other.strings);
        union(&mut self.arrays, &other.arrays);
        union(&mut self.objects, &other.objects);
        self.simplify(algebra);
        let most = [self.numbers.len(), self.strings.len(), self.arrays.len(), self.objects.len()];
        if most.into_iter().any(|count| count > algebra.limits.alternatives) {
            return Err(TooManyAlternatives);
        }
        Ok(())
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
            let shapes = shape.complement();
            result = result.and(&typed(&|norm| norm.numbers = shapes.clone()), algebra)?;
        }
        for shape in &self.strings {
            let shapes = shape.complement();
            result = result.and(&typed(&|norm| norm.strings = shapes.clone()), algebra)?;
        }
        for shape in &self.arrays {
            let shapes = shape.complement(&mut algebra.goals, from);
            result = result.and(&typed(&|norm| norm.arrays = shapes.clone()), algebra)?;
        }
        for shape in &self.objects {
            let shapes = shape.complement(&mut algebra.goals);
            result = result.and(&typed(&|norm| norm.objects = shapes.clone()), algebra)?;
        }
        Ok(result)
    }

    /// Merges finite sets, and drops alternatives that another one covers: they would only make the grammar
    /// ambiguous.
    pub(crate) fn simplify(&mut self, algebra: &mut Algebra<'s>) {
        for kind in [NumberKind::Any, NumberKind::Integer] {
            merge_finite(
                &mut self.numbers,
                |shape| shape.values.as_ref().filter(|_| shape.kind == kind),
                |values| NumberShape { kind, ..NumberShape::finite(values) },
            );
        }
        merge_finite(&mut self.strings, |shape| shape.values.as_ref(), StringShape::finite);
        let Algebra { goals, tests, .. } = algebra;
        absorb(&mut self.numbers, |left, right| left.and(right) == *left);
        absorb(&mut self.strings, |left, right| left.and(right, tests) == *left);
        absorb(&mut self.arrays, |left, right| left.and(right, goals) == *left);
        absorb(&mut self.objects, |left, right| {
            may_be_covered(left, right, goals) && left.and(right, goals, tests) == *left
        });
    }
}

/// A quick check before the costly one: a shape is not covered by one that demands other properties, or more of
/// a property that stands at the same place.
fn may_be_covered(left: &ObjectShape<'_>, right: &ObjectShape<'_>, goals: &Goals) -> bool {
    let mut pairs = left.properties.iter().zip(&right.properties);
    right.properties.len() <= left.properties.len()
        && pairs.all(|(own, other)| {
            own.name != other.name
                || (own.presence >= other.presence && goals.implies(own.value, other.value))
        })
}

/// Pairs that may be tried for each alternative that may result.
pub(crate) const PAIRS_FOR_ONE: usize = 64;

fn product<T: PartialEq>(
    left: &[T],
    right: &[T],
    budget: usize,
    mut and: impl FnMut(&T, &T) -> Option<T>,
) -> Result<Vec<T>, TooManyAlternatives> {
    // Pairs that contradict each other leave no result, and still take their time.
    if left.len().saturating_mul(right.len()) > budget.saturating_mul(PAIRS_FOR_ONE) {
        return Err(TooManyAlternatives);
    }
    let mut result: Vec<T> = Vec::new();
    for one in left {
        for other in right {
            let Some(shape) = and(one, other) else { continue };
            if !result.contains(&shape) {
                result.push(shape);
            }
            if result.len() > budget {
                return Err(TooManyAlternatives);
            }
        }
    }
    Ok(result)
}

fn union<T: PartialEq + Clone>(into: &mut Vec<T>, from: &[T]) {
    for shape in from {
        if !into.contains(shape) {
            into.push(shape.clone());
        }
    }
}

fn merge_finite<T, V: Clone>(
    shapes: &mut Vec<T>,
    values: impl Fn(&T) -> Option<&Vec<V>>,
    finite: impl Fn(Vec<V>) -> T,
) {
    let sets = shapes.iter().filter_map(&values);
    if sets.clone().count() < 2 {
        return;
    }
    let all: Vec<V> = sets.flatten().cloned().collect();
    shapes.retain(|shape| values(shape).is_none());
    shapes.push(finite(all));
}

/// Above this many alternatives the quadratic search for covered ones is not worth its time.
const MAX_ABSORBED: usize = 24;

fn absorb<T>(shapes: &mut Vec<T>, mut is_within: impl FnMut(&T, &T) -> bool) {
    if shapes.len() < 2 || shapes.len() > MAX_ABSORBED {
        return;
    }
    let mut at = 0;
    while at < shapes.len() {
        let within = (0..shapes.len()).any(|other| other != at && is_within(&shapes[at], &shapes[other]));
        if within {
            shapes.remove(at);
        } else {
            at += 1;
        }
    }
}
