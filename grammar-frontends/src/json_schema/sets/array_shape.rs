//! Sets of arrays.

use super::goals::{GoalId, Goals};
use crate::json_schema::document::ids::NodeId;

/// The assertion about equal items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Repetition {
    Free,
    /// No two items are equal.
    Forbidden(NodeId),
    /// Some two items are equal.
    Demanded(NodeId),
}

/// A number of items that satisfy a goal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ItemObligation {
    pub(crate) goal: GoalId,
    /// Items before this one do not count.
    pub(crate) from: usize,
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
}

/// The arrays whose items satisfy goals by their place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ArrayShape {
    pub(crate) prefix: Vec<GoalId>,
    pub(crate) rest: GoalId,
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    pub(crate) obligations: Vec<ItemObligation>,
    pub(crate) repetition: Repetition,
}

impl ArrayShape {
    pub(crate) fn any() -> Self {
        Self {
            prefix: Vec::new(),
            rest: GoalId::ANY,
            min: 0,
            max: None,
            obligations: Vec::new(),
            repetition: Repetition::Free,
        }
    }

    /// About how many items and conditions it lists.
    pub(crate) fn size(&self) -> usize {
        1 + self.prefix.len() + self.obligations.len()
    }

    /// Whether it asks for no item.
    pub(crate) fn is_met_by_nothing(&self) -> bool {
        self.min == 0 && self.obligations.iter().all(|obligation| obligation.min == 0)
    }

    /// The goal of the item at a place.
    pub(crate) fn item(&self, index: usize) -> GoalId {
        self.prefix.get(index).copied().unwrap_or(self.rest)
    }

    /// Brings equal sets closer to equal shapes.
    pub(crate) fn normalized(mut self) -> Self {
        let capped = |max: Option<u64>, len: usize| Some(max.map_or(len as u64, |max| max.min(len as u64)));
        if let Some(never) = self.prefix.iter().position(|&goal| goal == GoalId::NEVER) {
            self.max = capped(self.max, never);
        }
        if self.rest == GoalId::NEVER {
            self.max = capped(self.max, self.prefix.len());
        }
        if let Some(max) = self.max.and_then(|max| usize::try_from(max).ok())
            && max <= self.prefix.len()
        {
            self.prefix.truncate(max);
            self.rest = GoalId::NEVER;
        }
        while self.prefix.last() == Some(&self.rest) && self.rest != GoalId::NEVER {
            self.prefix.pop();
        }
        if self.max.is_some_and(|max| max <= 1)
            && let Repetition::Forbidden(_) = self.repetition
        {
            self.repetition = Repetition::Free;
        }
        self
    }

    pub(crate) fn and(&self, other: &Self, goals: &mut Goals) -> Self {
        goals.work.charge(self.size() + other.size());
        let places = self.prefix.len().max(other.prefix.len());
        let prefix = (0..places).map(|index| goals.and(self.item(index), other.item(index))).collect();
        let mut obligations = self.obligations.clone();
        obligations.extend(other.obligations.iter().filter(|item| !self.obligations.contains(item)).cloned());
        let mut min = self.min.max(other.min);
        let repetition = match (self.repetition, other.repetition) {
            (Repetition::Free, repetition) | (repetition, Repetition::Free) => repetition,
            (Repetition::Forbidden(_), Repetition::Demanded(_))
            | (Repetition::Demanded(_), Repetition::Forbidden(_)) => {
                // Nothing has both: bounds that contradict each other say so.
                min = u64::MAX;
                Repetition::Free
            }
            (repetition, _) => repetition,
        };
        let max = [self.max, other.max].into_iter().flatten().min();
        let max = if min == u64::MAX { Some(0) } else { max };
        Self { prefix, rest: goals.and(self.rest, other.rest), min, max, obligations, repetition }
            .normalized()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.max.is_some_and(|max| max < self.min)
    }

    /// The arrays outside the set.
    pub(crate) fn complement(&self, goals: &mut Goals, from: NodeId) -> Vec<Self> {
        // The alternative of each place has all places before it.
        goals.work.charge(1 + self.prefix.len().saturating_mul(self.prefix.len()) / 16);
        let mut result = Vec::new();
        if goals.work.is_spent() {
            return result;
        }
        if self.min > 0 {
            result.push(Self { max: Some(self.min - 1), ..Self::any() });
        }
        if let Some(max) = self.max {
            result.push(Self { min: max.saturating_add(1), ..Self::any() });
        }
        let mut place = |index: usize, goal: GoalId, goals: &mut Goals| {
            if goal == GoalId::ANY {
                return;
            }
            let mut prefix = vec![GoalId::ANY; index];
            prefix.push(goals.not(goal));
            result.push(Self { prefix, min: index as u64 + 1, ..Self::any() });
        };
        for (index, &goal) in self.prefix.iter().enumerate() {
            place(index, goal, goals);
        }
        let places = self.prefix.len();
        // `rest` is not looked at where `max` forbids the items that it is about.
        match self.max.and_then(|max| usize::try_from(max).ok()) {
            Some(max) if max <= places => {}
            Some(max) if max - places <= 16 => (places..max).for_each(|index| place(index, self.rest, goals)),
            _ if self.rest == GoalId::ANY => {}
            _ => {
                let obligation =
                    ItemObligation { goal: goals.not(self.rest), from: places, min: 1, max: None };
                result.push(Self { obligations: vec![obligation], min: places as u64 + 1, ..Self::any() });
            }
        }
        for obligation in &self.obligations {
            if obligation.min > 0 {
                let fewer = ItemObligation { min: 0, max: Some(obligation.min - 1), ..obligation.clone() };
                result.push(Self { obligations: vec![fewer], ..Self::any() });
            }
            if let Some(max) = obligation.max {
                let more = ItemObligation { min: max.saturating_add(1), max: None, ..obligation.clone() };
                result.push(Self { obligations: vec![more], ..Self::any() });
            }
        }
        match self.repetition {
            Repetition::Free => {}
            Repetition::Forbidden(node) => {
                result.push(Self { repetition: Repetition::Demanded(node), min: 2, ..Self::any() });
            }
            Repetition::Demanded(_) => {
                result.push(Self { repetition: Repetition::Forbidden(from), ..Self::any() });
            }
        }
        result.into_iter().map(Self::normalized).collect()
    }
}
