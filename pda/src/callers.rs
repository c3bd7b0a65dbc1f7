//! Where a caller goes on once a rule has ended.
//!
//! A state may call one rule in several ways, which differ in what follows. The naive way pushes a node for each of them,
//! so the stacks double with every level. Here all of them are one caller, with one node.

use grammask_fsm::{FragmentId, Program, StateId};
use grammask_grammar_ir::hash::HashMap;

/// The states in which a caller goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Caller {
    One(StateId),
    /// An entry of [`Callers`].
    Several(u32),
}

/// The callers of a program that go on in several states.
pub(crate) struct Callers {
    sets: Vec<Box<[StateId]>>,
    /// By the state that calls and the rule.
    by_call: HashMap<(StateId, FragmentId), Caller>,
}

impl Callers {
    pub(crate) fn new(program: &Program) -> Self {
        let mut callers = Self { sets: Vec::new(), by_call: HashMap::default() };
        let mut known: HashMap<Box<[StateId]>, Caller> = HashMap::default();
        for id in (0..program.state_count()).filter_map(StateId::new) {
            let calls = program.state(id).calls;
            if calls.len() < 2 {
                continue;
            }
            let mut calls: Vec<_> = calls.iter().collect();
            calls.sort_unstable_by_key(|call| (call.fragment, call.target));
            for group in calls.chunk_by(|one, other| one.fragment == other.fragment) {
                if let [call, _, ..] = group {
                    let targets: Box<[StateId]> = group.iter().map(|call| call.target).collect();
                    let caller = *known.entry(targets).or_insert_with_key(|targets| {
                        callers.sets.push(targets.clone());
                        Caller::Several(callers.sets.len() as u32 - 1)
                    });
                    callers.by_call.insert((id, call.fragment), caller);
                }
            }
        }
        callers
    }

    /// The caller of a rule at a state, of whose calls of the rule `target` is one.
    pub(crate) fn of_call(&self, state: StateId, fragment: FragmentId, target: StateId) -> Caller {
        self.by_call.get(&(state, fragment)).copied().unwrap_or(Caller::One(target))
    }

    /// The states in which a caller goes on.
    pub(crate) fn states(&self, caller: Caller) -> impl Iterator<Item = StateId> + '_ {
        let (one, several) = match caller {
            Caller::One(state) => (Some(state), &[][..]),
            Caller::Several(index) => (None, &*self.sets[index as usize]),
        };
        one.into_iter().chain(several.iter().copied())
    }
}

/// A program with its callers.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'p> {
    pub(crate) program: &'p Program,
    pub(crate) callers: &'p Callers,
}
