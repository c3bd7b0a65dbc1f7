//! Sets of numbers.

use super::decimal::{Decimal, Divisor};
use super::sorted::{in_both, in_either};

/// Which numbers, by their fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NumberKind {
    Any,
    Integer,
    /// Numbers that are no integers.
    Fractional,
}

/// Whether a bound belongs to the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Edge {
    Inclusive,
    Exclusive,
}

impl Edge {
    fn flipped(self) -> Self {
        match self {
            Edge::Inclusive => Edge::Exclusive,
            Edge::Exclusive => Edge::Inclusive,
        }
    }
}

/// An end of an interval.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bound {
    pub(crate) value: Decimal,
    pub(crate) edge: Edge,
}

/// The numbers of an interval that are of a kind and multiples of a step; or a finite set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NumberShape {
    /// A finite set, sorted; everything else but the kind is unconstrained then. The kind tells how draft 4 spells
    /// its whole numbers: as integers without a fraction.
    pub(crate) values: Option<Vec<Decimal>>,
    pub(crate) kind: NumberKind,
    pub(crate) lower: Option<Bound>,
    pub(crate) upper: Option<Bound>,
    pub(crate) steps: Vec<Divisor>,
    /// Steps of which the numbers are *no* multiples.
    pub(crate) not_steps: Vec<Divisor>,
}

/// Multiples between two bounds that are looked at one by one.
const MAX_MULTIPLES: usize = 16;

/// Digits of bounds between which numbers are listed.
const MAX_DIGITS: u64 = 40;

impl NumberShape {
    pub(crate) fn any() -> Self {
        Self {
            values: None,
            kind: NumberKind::Any,
            lower: None,
            upper: None,
            steps: Vec::new(),
            not_steps: Vec::new(),
        }
    }

    /// About how many values and conditions it lists.
    pub(crate) fn size(&self) -> usize {
        1 + self.values.as_ref().map_or(0, Vec::len) + self.steps.len() + self.not_steps.len()
    }

    pub(crate) fn of_kind(kind: NumberKind) -> Self {
        Self { kind, ..Self::any() }
    }

    pub(crate) fn finite(mut values: Vec<Decimal>) -> Self {
        values.sort_unstable();
        values.dedup();
        Self { values: Some(values), ..Self::any() }
    }

    /// The numbers of a finite set, or the whole ones between bounds; `None` where they are more than this many.
    pub(crate) fn enumerated(&self, most: usize) -> Option<Vec<Decimal>> {
        if let Some(values) = &self.values {
            return (values.len() <= most).then(|| values.clone());
        }
        let (Some(mut next), Some(last)) = self.whole_bounds() else { return None };
        if self.kind != NumberKind::Integer || next.written_len().max(last.written_len()) > MAX_DIGITS {
            return None;
        }
        let mut listed = Vec::new();
        for _ in 0..=most {
            if next > last {
                return Some(listed);
            }
            let after = next.plus_one();
            if self.contains(&next) {
                listed.push(next);
            }
            next = after;
        }
        None
    }

    pub(crate) fn contains(&self, value: &Decimal) -> bool {
        if let Some(values) = &self.values {
            return values.binary_search(value).is_ok();
        }
        let kind = match self.kind {
            NumberKind::Any => true,
            NumberKind::Integer => value.is_integer(),
            NumberKind::Fractional => !value.is_integer(),
        };
        let above = self.lower.as_ref().is_none_or(|bound| match bound.edge {
            Edge::Inclusive => *value >= bound.value,
            Edge::Exclusive => *value > bound.value,
        });
        let below = self.upper.as_ref().is_none_or(|bound| match bound.edge {
            Edge::Inclusive => *value <= bound.value,
            Edge::Exclusive => *value < bound.value,
        });
        kind && above
            && below
            && self.steps.iter().all(|step| step.divides(value))
            && !self.not_steps.iter().any(|step| step.divides(value))
    }

    pub(crate) fn and(&self, other: &Self) -> Self {
        let (finite, filter) = match (&self.values, &other.values) {
            (Some(_), _) => (self, other),
            (_, Some(_)) => (other, self),
            _ => return self.and_open(other),
        };
        let values = match (&finite.values, &filter.values) {
            (Some(left), Some(right)) => in_both(left, right),
            _ => finite.values.iter().flatten().filter(|value| filter.contains(value)).cloned().collect(),
        };
        let kind = match (finite.kind, filter.kind) {
            (NumberKind::Integer, _) | (_, NumberKind::Integer) => NumberKind::Integer,
            _ => NumberKind::Any,
        };
        Self { values: Some(values), kind, ..Self::any() }
    }

    fn and_open(&self, other: &Self) -> Self {
        let kind = match (self.kind, other.kind) {
            (NumberKind::Any, kind) | (kind, NumberKind::Any) => kind,
            (left, right) if left == right => left,
            _ => return Self::finite(Vec::new()),
        };
        Self {
            values: None,
            kind,
            lower: tighter(&self.lower, &other.lower, |left, right| left.value.cmp(&right.value)),
            upper: tighter(&self.upper, &other.upper, |left, right| right.value.cmp(&left.value)),
            steps: in_either(&self.steps, &other.steps),
            not_steps: in_either(&self.not_steps, &other.not_steps),
        }
    }

    /// The bounds of an integer shape as whole numbers, both inclusive.
    pub(crate) fn whole_bounds(&self) -> (Option<Decimal>, Option<Decimal>) {
        let lower = self.lower.as_ref().map(|bound| {
            let least = bound.value.ceiling();
            if bound.edge == Edge::Exclusive && least == bound.value { least.plus_one() } else { least }
        });
        let upper = self.upper.as_ref().map(|bound| {
            let greatest = bound.value.floor();
            if bound.edge == Edge::Exclusive && greatest == bound.value {
                greatest.minus_one()
            } else {
                greatest
            }
        });
        (lower, upper)
    }

    /// Whether the set is known to be empty. Bounds of more than `digits` digits are not looked into.
    pub(crate) fn is_empty(&self, digits: u64) -> bool {
        if let Some(values) = &self.values {
            return values.is_empty();
        }
        let step = self.step();
        if let Some(step) = step
            && (self.not_steps.iter().any(|not| not.divides(&step.value()))
                || (self.kind == NumberKind::Fractional && step.places == 0))
        {
            return true;
        }
        let bounds = [&self.lower, &self.upper];
        if bounds.iter().any(|bound| bound.as_ref().is_some_and(|bound| bound.value.written_len() > digits)) {
            return false;
        }
        if self.kind == NumberKind::Integer
            && let (Some(lower), Some(upper)) = self.whole_bounds()
            && lower > upper
        {
            return true;
        }
        let (Some(lower), Some(upper)) = (&self.lower, &self.upper) else { return false };
        let exclusive = lower.edge == Edge::Exclusive || upper.edge == Edge::Exclusive;
        if lower.value > upper.value
            || (lower.value == upper.value
                && (exclusive || (self.kind == NumberKind::Fractional && lower.value.is_integer())))
        {
            return true;
        }
        let multiples = step.and_then(|step| step.multiples_between(&lower.value, &upper.value));
        multiples.is_some_and(|multiples| {
            // If there are more, the last one stands for all that are not looked at.
            let is_outside = |(at, value)| at < MAX_MULTIPLES && !self.contains(&value);
            multiples.take(MAX_MULTIPLES + 1).enumerate().all(is_outside)
        })
    }

    /// The step of all that the shape holds; none where it has no step, or one that is too large to compute with.
    pub(crate) fn step(&self) -> Option<Divisor> {
        let whole = (self.kind == NumberKind::Integer).then_some(Divisor::ONE);
        let mut steps = self.steps.iter().copied().chain(whole);
        let first = steps.next()?;
        steps.try_fold(first, Divisor::least_common_multiple)
    }

    /// The numbers outside the set, as shapes that do not overlap where that is cheap.
    pub(crate) fn complement(&self) -> Vec<Self> {
        if let Some(values) = &self.values {
            let mut result = Vec::new();
            let mut lower = None;
            for value in values {
                let bound = Bound { value: value.clone(), edge: Edge::Exclusive };
                result.push(Self { lower: lower.take(), upper: Some(bound.clone()), ..Self::any() });
                lower = Some(bound);
            }
            result.push(Self { lower, ..Self::any() });
            return result;
        }
        let mut result = Vec::new();
        match self.kind {
            NumberKind::Any => {}
            NumberKind::Integer => result.push(Self::of_kind(NumberKind::Fractional)),
            NumberKind::Fractional => result.push(Self::of_kind(NumberKind::Integer)),
        }
        let flip = |bound: &Bound| Some(Bound { value: bound.value.clone(), edge: bound.edge.flipped() });
        // Within the kind: what the kind excludes is there already.
        if let Some(bound) = &self.lower {
            result.push(Self { upper: flip(bound), ..Self::of_kind(self.kind) });
        }
        if let Some(bound) = &self.upper {
            result.push(Self { lower: flip(bound), ..Self::of_kind(self.kind) });
        }
        for &step in &self.steps {
            result.push(Self { not_steps: vec![step], ..Self::any() });
        }
        for &step in &self.not_steps {
            result.push(Self { steps: vec![step], ..Self::any() });
        }
        result
    }
}

/// The tighter of two bounds; `order` says which value is looser (less).
fn tighter(
    left: &Option<Bound>,
    right: &Option<Bound>,
    order: impl Fn(&Bound, &Bound) -> std::cmp::Ordering,
) -> Option<Bound> {
    match (left, right) {
        (Some(left), Some(right)) => {
            let ordering = order(left, right).then(left.edge.cmp(&right.edge));
            Some(if ordering.is_lt() { right.clone() } else { left.clone() })
        }
        (bound, None) | (None, bound) => bound.clone(),
    }
}
