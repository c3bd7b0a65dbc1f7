//! Rules that many grammars share, compiled once and copied into drafts.
//!
//! Here they are data. [`find_shared_rules`](crate::compile::find_shared_rules) compiles and keeps them.

use std::sync::Arc;

use grammask_grammar_ir::{Counterparts, ExprId, Grammar, RuleId};

use crate::draft::automata::{Draft, DraftFragment, DraftRole};
use crate::draft::ids::{DraftFragmentId, DraftStateId};
use crate::draft::prebuilt::{PrebuiltFragment, PrebuiltStates};
use crate::encoding::escapes::AnyEscape;
use crate::ids::{Id, IdVec, ids};
use crate::options::CompileOptions;
use crate::program::state_tables::StateTables;
use crate::program::tables::{Count, FragmentId, Program, StateId};

/// Shared rules, compiled by themselves.
pub(crate) struct SharedRules {
    pub(crate) options: CompileOptions,
    pub(crate) grammar: Grammar,
    pub(crate) program: Program,
    /// The states of each fragment.
    pub(crate) ranges: IdVec<FragmentId, PrebuiltStates>,
    /// The rule that each fragment is called after.
    pub(crate) named: IdVec<FragmentId, Option<RuleId>>,
    /// The fragment of each rule that has one.
    pub(crate) rules: Vec<Option<FragmentId>>,
    /// The fragments of repeats, with their bodies.
    pub(crate) counted: Vec<(ExprId, Count, FragmentId)>,
    pub(crate) any_escape: AnyEscape<Option<FragmentId>>,
}

/// Shared rules in a draft.
pub(crate) struct CopiedRules {
    /// Rules and their fragments.
    pub(crate) rules: Vec<(RuleId, DraftFragmentId)>,
    /// Repeated bodies and their fragments.
    pub(crate) counted: Vec<(ExprId, Count, DraftFragmentId)>,
    pub(crate) any_escape: AnyEscape<Option<DraftFragmentId>>,
}

/// Shared rules that a grammar has, and which of its rules and expressions they are.
#[derive(Clone)]
pub(crate) struct SharedMatch {
    pub(crate) shared: Arc<SharedRules>,
    pub(crate) counterparts: Counterparts,
}

impl SharedMatch {
    /// Whether a rule of the grammar is among the automata.
    pub(crate) fn has(&self, rule: RuleId) -> bool {
        let mut rules = self.counterparts.rules.iter().zip(&self.shared.rules);
        rules.any(|(&ours, fragment)| ours == Some(rule) && fragment.is_some())
    }

    /// Writes the rules into a draft that has a root.
    pub(crate) fn copy(&self, draft: &mut Draft) -> CopiedRules {
        self.shared.copy(draft, &self.counterparts)
    }
}

impl SharedRules {
    fn copy(&self, draft: &mut Draft, counterparts: &Counterparts) -> CopiedRules {
        let Program { states, byte_edges, epsilons, calls, fragments, .. } = &self.program;
        // All numbers of the shared tables move by constants: fragments by `first`, states by `moved`.
        let first = draft.fragments.next_id();
        let in_draft = |fragment: FragmentId| first.plus(fragment.index());
        let moved = draft.prebuilt.append(StateTables { rows: states, byte_edges, epsilons, calls }, first);
        let rule_of = |rule: RuleId| counterparts.rules[rule.index()];
        for (id, fragment) in ids(fragments.len()).zip(fragments) {
            let rule = self.named[id].and_then(rule_of);
            let PrebuiltStates { first, end } = self.ranges[id];
            let here = |state: StateId| moved.plus(state.index());
            let states = PrebuiltStates { first: here(first), end: here(end) };
            draft.fragments.push(DraftFragment {
                rule,
                // A fragment that is a rule of this grammar has that rule's name. The names in the shared
                // tables are those of the grammar that was compiled first.
                name: rule.is_none().then(|| fragment.name.clone()),
                prebuilt: Some(PrebuiltFragment { states, start: here(fragment.start) }),
                linked: None,
                start: DraftStateId::NONE,
                count: fragment.count,
                nullable: fragment.nullable,
                role: DraftRole::None,
                stands_for_rule: false,
            });
        }
        let rules = counterparts.rules.iter().zip(&self.rules);
        let rules = rules.filter_map(|(&rule, &fragment)| Some((rule?, in_draft(fragment?))));
        let counted = self.counted.iter().flat_map(|&(body, count, fragment)| {
            let ours = counterparts.repeated.iter().filter(move |pair| pair.1 == body);
            ours.map(move |&(ours, _)| (ours, count, in_draft(fragment)))
        });
        CopiedRules {
            rules: rules.collect(),
            counted: counted.collect(),
            any_escape: self.any_escape.map(|fragment| fragment.map(in_draft)),
        }
    }
}
