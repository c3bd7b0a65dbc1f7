//! Rules that many grammars share, compiled once and copied into drafts.
//!
//! Here they are data. [`find_shared_rules`](crate::compile::find_shared_rules) compiles and keeps them.

use std::sync::Arc;

use grammask_grammar_ir::{Counterparts, ExprId, Grammar, RuleId};

use crate::draft::automata::{Draft, DraftFragment, DraftRole};
use crate::draft::prebuilt::PrebuiltStates;
use crate::ids::NONE;
use crate::options::CompileOptions;
use crate::program::tables::{Count, Program};

/// Shared rules, compiled by themselves.
pub(crate) struct SharedRules {
    pub(crate) options: CompileOptions,
    pub(crate) grammar: Grammar,
    pub(crate) program: Program,
    /// The states of each fragment.
    pub(crate) ranges: Vec<PrebuiltStates>,
    /// The rule that each fragment is called after.
    pub(crate) named: Vec<Option<RuleId>>,
    /// The fragment of each rule that has one.
    pub(crate) rules: Vec<Option<u32>>,
    /// The fragments of repeats, with their bodies.
    pub(crate) counted: Vec<(ExprId, Count, u32)>,
    pub(crate) any_escape: Option<u32>,
}

/// Shared rules in a draft.
pub(crate) struct CopiedRules {
    /// Rules and their fragments.
    pub(crate) rules: Vec<(RuleId, u32)>,
    /// Repeated bodies and their fragments.
    pub(crate) counted: Vec<(ExprId, Count, u32)>,
    pub(crate) any_escape: Option<u32>,
}

/// Shared rules that a grammar has, and which of its rules and expressions they are.
pub(crate) struct SharedMatch {
    pub(crate) shared: Arc<SharedRules>,
    pub(crate) counterparts: Counterparts,
}

impl SharedMatch {
    /// Writes the rules into a draft that has a root.
    pub(crate) fn copy(&self, draft: &mut Draft) -> CopiedRules {
        self.shared.copy(draft, &self.counterparts)
    }
}

impl SharedRules {
    fn copy(&self, draft: &mut Draft, counterparts: &Counterparts) -> CopiedRules {
        let Program { states, byte_edges, epsilons, calls, fragments, .. } = &self.program;
        let first = draft.fragments.len() as u32;
        let moved = draft.prebuilt.append(states, byte_edges, epsilons, calls, first);
        let rule_of = |rule: RuleId| counterparts.rules[rule.index()];
        for (index, fragment) in fragments.iter().enumerate() {
            let rule = self.named[index].and_then(rule_of);
            let PrebuiltStates { first, end } = self.ranges[index];
            draft.fragments.push(DraftFragment {
                rule: rule.map_or(NONE, |rule| rule.index() as u32),
                name: rule.is_none().then(|| fragment.name.clone()),
                prebuilt: Some(PrebuiltStates { first: first + moved, end: end + moved }),
                linked: None,
                start: fragment.start.raw() + moved,
                count: fragment.count,
                nullable: fragment.nullable,
                role: DraftRole::None,
                stands_for_rule: false,
            });
        }
        let rules = counterparts.rules.iter().zip(&self.rules);
        let rules = rules.filter_map(|(&rule, &fragment)| Some((rule?, fragment? + first)));
        let counted = self.counted.iter().flat_map(|&(body, count, fragment)| {
            let ours = counterparts.repeated.iter().filter(move |pair| pair.1 == body);
            ours.map(move |&(ours, _)| (ours, count, fragment + first))
        });
        CopiedRules {
            rules: rules.collect(),
            counted: counted.collect(),
            any_escape: self.any_escape.map(|fragment| fragment + first),
        }
    }
}
