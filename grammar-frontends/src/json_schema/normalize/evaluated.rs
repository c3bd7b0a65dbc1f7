//! Members and items that a schema evaluates, as data.

use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::normal_form::NormalForm;
use crate::json_schema::sets::text_tests::TestId;

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
#[derive(Clone, Default)]
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

impl<'s> Evaluated<'s> {
    pub(super) const ALL: Self = Self { members: None, items: None };

    pub(super) fn nothing() -> Self {
        Self { members: Some(EvaluatedMembers::default()), items: Some(EvaluatedItems::default()) }
    }

    /// How many names, tests and goals it lists.
    pub(super) fn size(&self) -> usize {
        let members = self.members.as_ref().map_or(0, |some| some.names.len() + some.tests.len());
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
