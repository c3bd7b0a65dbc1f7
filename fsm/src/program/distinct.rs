//! The places at which arrays and objects begin whose items or names do not repeat.
//!
//! A rule with the option [`distinct`](grammask_grammar_ir::RuleOptions::distinct) stays a fragment of its
//! own, called only directly after a bracket. So the states after a bracket show which kind of array it
//! opens. They call such a fragment and do nothing else, or they do not call one.

use grammask_grammar_ir::Distinct;
use smallvec::SmallVec;

use crate::error::AutomataError;
use crate::program::tables::{Call, FragmentId, Options, Program, StateId};

impl Program {
    /// Whether some of the readings of a byte after some states open an array or object that is compared, and whether some
    /// do not.
    pub fn distinct_readings(&self, states: impl IntoIterator<Item = StateId>, byte: u8) -> (bool, bool) {
        let edges = states.into_iter().flat_map(|state| self.byte_edges(state));
        let states = edges.filter(|edge| edge.start <= byte && byte <= edge.end).map(|edge| edge.target);
        let mut left: SmallVec<[StateId; 8]> = states.collect();
        let mut met: SmallVec<[StateId; 8]> = SmallVec::new();
        let (mut compared, mut others) = (false, false);
        while !(compared && others)
            && let Some(id) = left.pop()
        {
            // A linear search, because there are few: the states after one byte, and those that they reach
            // without reading.
            if met.contains(&id) {
                continue;
            }
            met.push(id);
            let state = self.state(id);
            left.extend(state.epsilons.iter().copied());
            // A reading without a call goes on in an array or object that is not compared.
            others |= state.is_final || !state.bytes.is_empty() || !state.tokens.is_empty();
            for call in state.calls {
                let is_compared = self.distinct_of(call.fragment).is_some();
                compared |= is_compared;
                others |= !is_compared;
            }
        }
        (compared, others)
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
