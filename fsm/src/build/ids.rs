//! The ids of the build's inputs: rules, and the parts of tag dispatches.

use grammask_grammar_ir::RuleId;

use crate::ids::{Id, define_id};

define_id! {
    /// A rule, as a node of a graph: its position in the grammar.
    RuleNumber
}

impl RuleNumber {
    /// The rule itself.
    pub(crate) fn rule(self) -> Option<RuleId> {
        RuleId::new(self.index())
    }
}

impl From<RuleId> for RuleNumber {
    #[inline]
    fn from(rule: RuleId) -> Self {
        Self::from_index(rule.index())
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
