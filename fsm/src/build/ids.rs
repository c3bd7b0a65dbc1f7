//! The ids of the build's inputs: rules, and the parts of tag dispatches.

use grammask_grammar_ir::RuleId;
use grammask_grammar_ir::hash::HashMap;

use crate::ids::{Id, IdVec, define_id};

define_id! {
    /// A rule, as a node of a graph.
    RuleNumber
}

impl From<RuleId> for RuleNumber {
    /// The number that a rule has among all rules of its grammar.
    #[inline]
    fn from(rule: RuleId) -> Self {
        Self::from_index(rule.index())
    }
}

/// The numbers of rules.
pub(crate) enum RuleNumbers {
    /// Each has that of its place in the grammar.
    All,
    /// Those of a part of a grammar that were met, in that order.
    Met(HashMap<RuleId, RuleNumber>, IdVec<RuleNumber, RuleId>),
}

impl RuleNumbers {
    pub(crate) fn none() -> Self {
        Self::Met(HashMap::default(), IdVec::default())
    }

    /// The number of a rule, [`Id::NONE`] if it was not met.
    #[inline]
    pub(crate) fn of(&self, rule: RuleId) -> RuleNumber {
        match self {
            Self::All => rule.into(),
            Self::Met(numbers, _) => numbers.get(&rule).copied().unwrap_or(RuleNumber::NONE),
        }
    }

    /// The number of a rule, which is met.
    #[inline]
    pub(crate) fn meet(&mut self, rule: RuleId) -> RuleNumber {
        match self {
            Self::All => rule.into(),
            Self::Met(numbers, rules) => *numbers.entry(rule).or_insert_with(|| rules.push(rule)),
        }
    }

    /// The rule that has a number.
    pub(crate) fn rule(&self, number: RuleNumber) -> Option<RuleId> {
        match self {
            Self::All => RuleId::new(number.index()),
            Self::Met(_, rules) => rules.get(number).copied(),
        }
    }
}

define_id! {
    /// The beginning of a pattern: a state of Aho and Corasick's automaton.
    PrefixId
}

define_id! {
    /// A trigger of a tag dispatch.
    TriggerId
}
