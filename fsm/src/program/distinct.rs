//! The places at which arrays and objects begin whose items or names do not repeat.
//!
//! A rule with the option [`distinct`](grammask_grammar_ir::RuleOptions::distinct) stays a fragment of its
//! own, called only directly after a bracket. So the states after a bracket show which kind of array it
//! opens. They call such a fragment and do nothing else, or they do not call one.

use grammask_grammar_ir::Distinct;
use smallvec::SmallVec;

use crate::error::AutomataError;
use crate::program::tables::{Call, FragmentId, Options, Program, StateId};

/// The scope that a byte opens: an array or object in which something must not occur twice, or none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OpenedScope {
    /// Nothing of this kind.
    Nothing,
    /// An array whose items, or an object whose names, must differ.
    Of(Distinct),
    /// One of these in some derivations of the text, but not in all.
    Ambiguous,
}

impl Program {
    /// The scope that a byte opens after some states, in which one text is read in several ways.
    pub fn distinct_scope_at(&self, states: impl IntoIterator<Item = StateId>, byte: u8) -> OpenedScope {
        let edges = states.into_iter().flat_map(|state| self.byte_edges(state));
        let states = edges.filter(|edge| edge.start <= byte && byte <= edge.end).map(|edge| edge.target);
        let mut left: SmallVec<[StateId; 8]> = states.collect();
        let mut met: SmallVec<[StateId; 8]> = SmallVec::new();
        let mut found: Option<OpenedScope> = None;
        while let Some(id) = left.pop() {
            // A linear search, because there are few: the states after one byte, and those that they reach
            // without reading.
            if met.contains(&id) {
                continue;
            }
            met.push(id);
            let state = self.state(id);
            left.extend(state.epsilons.iter().copied());
            // A reading without a call goes on in an array or object that is not compared.
            let is_plain = state.is_final || !state.bytes.is_empty() || !state.tokens.is_empty();
            let calls = state.calls.iter().map(|call| match self.distinct_of(call.fragment) {
                Some(distinct) => OpenedScope::Of(distinct),
                None => OpenedScope::Nothing,
            });
            for opened in calls.chain(is_plain.then_some(OpenedScope::Nothing)) {
                match found {
                    Some(known) if known != opened => return OpenedScope::Ambiguous,
                    _ => found = Some(opened),
                }
            }
        }
        found.unwrap_or(OpenedScope::Nothing)
    }

    fn distinct_of(&self, fragment: FragmentId) -> Option<Distinct> {
        // Deferred programs have no options, and are not compiled for the question.
        let is_own = fragment.index() < self.fragments.len();
        let fragment = (is_own || self.sub_programs.has_options()).then(|| self.fragment(fragment))?;
        fragment.options.as_deref().and_then(|options: &Options| options.distinct)
    }

    /// Checks that rules whose items or names do not repeat are directly after their brackets.
    pub(crate) fn check_distinct(&self) -> Result<(), AutomataError> {
        if !self.own_options() || !self.has_options(|options| options.distinct.is_some()) {
            return Ok(());
        }
        // For each state the fragment of that kind that is called there, or after edges that read nothing.
        let ids = || (0..self.own_state_count()).filter_map(StateId::new);
        let mut called: Vec<Option<(Distinct, FragmentId)>> = vec![None; self.own_state_count()];
        let mut before: Vec<(StateId, StateId)> = Vec::new();
        let mut left: Vec<StateId> = Vec::new();
        for id in ids() {
            let state = self.state(id);
            before.extend(state.epsilons.iter().map(|&target| (target, id)));
            let inner = |call: &Call| Some((self.distinct_of(call.fragment)?, call.fragment));
            called[id.index()] = state.calls.iter().find_map(inner);
            left.extend(called[id.index()].map(|_| id));
        }
        before.sort_unstable();
        while let Some(id) = left.pop() {
            let first = before.partition_point(|&(target, _)| target < id);
            for &(_, from) in before[first..].iter().take_while(|&&(target, _)| target == id) {
                if called[from.index()].is_none() {
                    called[from.index()] = called[id.index()];
                    left.push(from);
                }
            }
        }
        let called = |id: StateId| called.get(id.index()).copied().flatten();
        let wrong = |fragment| Err(AutomataError::not_behind_bracket(&self.fragment(fragment).name));
        for fragment in &self.fragments {
            if let Some((_, inner)) = called(fragment.start) {
                return wrong(inner);
            }
        }
        // Which states the edges belong to does not matter.
        for edge in &self.byte_edges {
            if let Some((distinct, inner)) = called(edge.target)
                && (edge.start, edge.end) != (distinct.bracket(), distinct.bracket())
            {
                return wrong(inner);
            }
        }
        let returns = self.calls.iter().map(|call| call.target);
        let others = returns.chain(self.token_edges.iter().map(|edge| edge.target));
        match others.filter_map(called).next() {
            Some((_, inner)) => wrong(inner),
            None => Ok(()),
        }
    }
}
