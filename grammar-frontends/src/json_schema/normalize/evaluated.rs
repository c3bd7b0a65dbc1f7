//! Members and items that a schema evaluates, as data.

use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::normal_form::NormalForm;
use crate::json_schema::sets::object_shape::{ObjectShape, Presence, Property, PropertyOrigin};
use crate::json_schema::sets::text_tests::{Polarity, TestId, TextTest};

/// Values, and the members and items of them that are evaluated.
#[derive(Clone)]
pub(crate) struct EvaluationCase<'s> {
    pub(super) norm: NormalForm<'s>,
    pub(super) evaluated: Evaluated<'s>,
}

/// Evaluated members and items. `None` is all of them.
#[derive(Clone, Default)]
pub(super) struct Evaluated<'s> {
    pub(super) members: Option<EvaluatedMembers<'s>>,
    pub(super) items: Option<EvaluatedItems>,
}

/// Members by their names.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct EvaluatedMembers<'s> {
    pub(super) names: Vec<&'s str>,
    pub(super) tests: Vec<TestId>,
}

/// The first items, and those that satisfy one of some goals.
#[derive(Clone, Default)]
pub(super) struct EvaluatedItems {
    pub(super) first: usize,
    pub(super) that: Vec<GoalId>,
}

impl<'s> EvaluatedMembers<'s> {
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.tests.is_empty()
    }

    pub(super) fn size(&self) -> usize {
        self.names.len() + self.tests.len()
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.names.extend_from_slice(&other.names);
        self.tests.extend_from_slice(&other.tests);
    }

    /// The same, each once and in order.
    pub(super) fn sorted(mut self) -> Self {
        self.names.sort_unstable();
        self.names.dedup();
        self.tests.sort_unstable();
        self.tests.dedup();
        self
    }

    /// Objects with these members, whose other ones satisfy a goal.
    pub(super) fn with_others(&self, goal: GoalId) -> ObjectShape<'s> {
        let mut shape = ObjectShape::with_rest(goal);
        for &test in &self.tests {
            shape.split_matching(TextTest { test, sense: Polarity::Fails }, goal);
        }
        shape.properties.extend(self.names.iter().map(|&name| {
            let (presence, origin) = (Presence::Optional, PropertyOrigin::Mentioned);
            Property { name, value: GoalId::ANY, presence, origin }
        }));
        shape.normalized()
    }
}

impl<'s> Evaluated<'s> {
    pub(super) const ALL: Self = Self { members: None, items: None };

    pub(super) fn nothing() -> Self {
        Self { members: Some(EvaluatedMembers::default()), items: Some(EvaluatedItems::default()) }
    }

    /// How many names, tests and goals it lists.
    pub(super) fn size(&self) -> usize {
        let members = self.members.as_ref().map_or(0, EvaluatedMembers::size);
        1 + members + self.items.as_ref().map_or(0, |some| some.that.len())
    }

    /// About the work of comparing all of it with all of another one.
    pub(super) fn cost_beside(&self, other: &Self) -> usize {
        self.size() + other.size() + self.size().saturating_mul(other.size()) / 8
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        let members = self.members.as_ref().zip(other.members.as_ref()).map(|(left, right)| {
            let mut all = left.clone();
            all.names.extend(right.names.iter().filter(|name| !left.names.contains(name)));
            all.tests.extend(right.tests.iter().filter(|test| !left.tests.contains(test)));
            all
        });
        let items = self.items.as_ref().zip(other.items.as_ref()).map(|(left, right)| {
            let mut all = left.clone();
            all.first = left.first.max(right.first);
            all.that.extend(right.that.iter().filter(|goal| !left.that.contains(goal)));
            all
        });
        Self { members, items }
    }

    pub(super) fn covers_members(&self, other: &Self) -> bool {
        match (&self.members, &other.members) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(all), Some(some)) => {
                some.names.iter().all(|name| all.names.contains(name))
                    && some.tests.iter().all(|test| all.tests.contains(test))
            }
        }
    }

    pub(super) fn covers_items(&self, other: &Self) -> bool {
        match (&self.items, &other.items) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(all), Some(some)) => {
                some.first <= all.first && some.that.iter().all(|goal| all.that.contains(goal))
            }
        }
    }
}
