//! The texts that may follow a rule, wherever the grammar calls it: context expansion.
//!
//! Whether a text can be read after a rule has ended depends, in the naive way, on the callers of the rule,
//! and so on the whole text before. But many texts can follow in no place at all: no letter follows a JSON
//! string, whichever rule called it. The first XGrammar paper (section 3.2, algorithm 2) collects, for each rule,
//! the byte edges after all of its calls into one automaton, the *expanded suffix*. It stops at edges that
//! call other rules, and at the end of the caller.
//!
//! Here the search continues there: a call leads to the beginning of its callee, and the end of a rule to the
//! states after all calls of it. That forgets the stack, and with it the actual caller and the counts of
//! repeats; so the automaton reads all texts that may follow, and more. It never refuses a text that can
//! follow. It is not built. Sets of its states are stepped along the texts in question, as far as a bound on
//! the work allows, and past that bound every text may follow.

use std::borrow::Cow;

use crate::ids::{Id, IdVec, Rows};
use crate::program::tables::{FragmentId, Program, StateId};

/// The callers and callees of fragments, and the fragment of each state.
#[derive(Debug)]
pub struct ExpandedSuffixes {
    /// The program with all tables its own, where that is another one.
    whole: Option<Box<Program>>,
    /// Whether something could not be compiled, so that anything may follow.
    has_failed: bool,
    /// The fragment of each state; none for an unreachable one.
    owners: IdVec<StateId, FragmentId>,
    /// The states in which calls of each fragment return.
    rows: Rows<FragmentId>,
    returns: Vec<StateId>,
}

/// The answer for some texts.
#[derive(Debug)]
pub struct FollowAnswer {
    /// For each text whether it may follow. `false` is certain.
    pub may_follow: Vec<bool>,
    /// How many states were visited.
    pub work: u64,
}

impl ExpandedSuffixes {
    /// Looks at all edges of a program once. Deferred programs are compiled now.
    pub fn new(program: &Program) -> Self {
        let Ok(whole) = program.whole_as_read() else {
            let (owners, rows, returns) = Default::default();
            return Self { whole: None, has_failed: true, owners, rows, returns };
        };
        let owners = whole.owners();
        let mut calls: Vec<(FragmentId, StateId)> = (0..whole.state_count())
            .filter_map(StateId::new)
            .flat_map(|id| whole.state(id).calls)
            .map(|call| (call.fragment, call.target))
            .collect();
        calls.sort_unstable();
        calls.dedup();
        let rows = Rows::count(whole.fragment_count(), calls.iter().map(|call| call.0));
        let returns = calls.into_iter().map(|(_, target)| target).collect();
        let whole = match whole {
            Cow::Borrowed(_) => None,
            Cow::Owned(whole) => Some(Box::new(whole)),
        };
        Self { whole, has_failed: false, owners, rows, returns }
    }

    /// The fragment that a state belongs to.
    pub fn fragment_of(&self, state: StateId) -> Option<FragmentId> {
        self.owners.get(state)?.known()
    }

    /// Which of some texts can be read after a call of a fragment, in one of all places. Sorted texts share
    /// the work for their common beginnings. After `max_work` visits of states all other texts may follow.
    pub fn may_follow(
        &self,
        program: &Program,
        fragment: FragmentId,
        texts: &[&[u8]],
        max_work: u64,
    ) -> FollowAnswer {
        if self.has_failed {
            return FollowAnswer { may_follow: vec![true; texts.len()], work: 0 };
        }
        let program = self.whole.as_deref().unwrap_or(program);
        let mut search = SuffixSearch {
            program,
            suffixes: self,
            met: IdVec::of(0, program.state_count()),
            generation: 0,
            work: 0,
            max_work,
        };
        // The states after each byte of the current text, as far as it can be read.
        let mut path: Vec<Vec<StateId>> = Vec::new();
        let mut before: &[u8] = &[];
        let start = search.close(self.returns(fragment).to_vec());
        let mut may_follow = Vec::with_capacity(texts.len());
        for &text in texts {
            // Sorted texts share beginnings with their neighbours, whose sets of states are still on the
            // path.
            path.truncate(before.iter().zip(text).take_while(|(one, other)| one == other).count());
            for &byte in &text[path.len()..] {
                let Some(next) = search.step(path.last().unwrap_or(&start), byte) else { break };
                path.push(next);
            }
            before = text;
            // A text that the bound cut short is not known, and neither are texts from there on.
            may_follow.push(path.len() == text.len() || search.is_spent());
        }
        FollowAnswer { may_follow, work: search.work }
    }

    /// The states in which calls of a fragment return.
    fn returns(&self, fragment: FragmentId) -> &[StateId] {
        &self.returns[self.rows.of(fragment)]
    }
}

/// Steps sets of states of all automata at once, without a stack.
struct SuffixSearch<'p> {
    program: &'p Program,
    suffixes: &'p ExpandedSuffixes,
    /// The generation in which each state was met.
    met: IdVec<StateId, u32>,
    generation: u32,
    work: u64,
    max_work: u64,
}

impl SuffixSearch<'_> {
    fn is_spent(&self) -> bool {
        self.work >= self.max_work
    }

    /// `None`: none of the states reads the byte.
    fn step(&mut self, states: &[StateId], byte: u8) -> Option<Vec<StateId>> {
        let edges = states.iter().flat_map(|&state| self.program.byte_edges(state));
        let next = edges.filter(|edge| edge.start <= byte && byte <= edge.end).map(|edge| edge.target);
        let next: Vec<StateId> = next.collect();
        (!next.is_empty()).then(|| self.close(next))
    }

    /// Adds the states that can be reached without a byte, and keeps those that read one, until the bound is
    /// reached.
    fn close(&mut self, mut open: Vec<StateId>) -> Vec<StateId> {
        self.generation += 1;
        let mut states = Vec::new();
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut self.met[id], self.generation) == self.generation {
                continue;
            }
            self.work += 1;
            if self.is_spent() {
                break;
            }
            let state = self.program.state(id);
            if !state.bytes.is_empty() {
                states.push(id);
            }
            open.extend(state.epsilons);
            for call in state.calls {
                let callee = self.program.fragment(call.fragment);
                open.push(callee.start);
                if callee.call_is_nullable() {
                    open.push(call.target);
                }
            }
            if state.is_final
                && let Some(owner) = self.suffixes.owners[id].known()
            {
                // Without a stack, the end of a fragment returns to all its callers.
                open.extend(self.suffixes.returns(owner));
                let owner = self.program.fragment(owner);
                // A repeat may go on with another iteration, whatever its count.
                open.extend(owner.count.map(|_| owner.start));
            }
        }
        states
    }
}
