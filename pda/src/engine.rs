//! The engine: an automaton and the queries over it, as a backend.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use grammask_fsm::Program;
use grammask_parser_backend::{
    Backend, BuildError, CharClass, ClassRuns, DistinctScope, DistinctScopes, Fuel, LocalParts, MaskKey,
    Rows, Run, Split, StepError, TableCounts, Tables,
};

use crate::automaton::Automaton;
use crate::config::Config;
use crate::left_recursion::{decline_left_recursion, decline_permutation};
use crate::runs::run_over;
use crate::shortest_completion::ShortestCompletion;
use crate::split::split;
use crate::stacks::State;
use crate::tree::units;

/// Parallel stacks in one persistent tree. See the crate documentation.
pub struct Engine {
    automaton: Automaton,
    shortest_completion: ShortestCompletion,
    /// Bytes of the program, which are counted part by part.
    program_bytes: usize,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Engine")
            .field("config", &self.automaton.config)
            .field("lists", &self.list_count())
            .field("memory_usage", &self.memory_usage())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine for a program.
    ///
    /// # Errors
    ///
    /// Fails if a rule can begin with itself, directly or after rules that may be empty. It also fails if the
    /// grammar names tokens that are taken as a whole or has parts in any order, or if a limit is reached before the
    /// first byte.
    pub fn new(program: Arc<Program>, config: Config) -> Result<Self, BuildError> {
        // Whether rules begin with themselves is asked of all of them, so nothing is gained by references.
        let program = match program.whole() {
            Ok(Cow::Borrowed(_)) => program,
            Ok(Cow::Owned(whole)) => Arc::new(whole),
            Err(error) => return Err(BuildError::new(error.to_string())),
        };
        decline_left_recursion(&program)?;
        if !program.labels().is_empty() {
            return Err(BuildError::new(
                "tokens that are taken as a whole: the backend `pda` reads bytes only; write the grammar without them",
            ));
        }
        decline_permutation(&program)?;
        Ok(Self {
            program_bytes: program.memory_usage(),
            automaton: Automaton::new(program, config)?,
            shortest_completion: ShortestCompletion::default(),
        })
    }

    /// The program that the engine runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.automaton.program
    }

    /// How many lists of stacks were made so far.
    pub fn list_count(&self) -> usize {
        self.automaton.lists.len()
    }

    /// How many nodes the tree of stacks has.
    pub fn node_count(&self) -> usize {
        self.automaton.lock().tree.len()
    }

    /// How many stacks are alive in a state.
    pub fn stack_count(&self, state: State) -> usize {
        self.automaton.list(state).stacks.len()
    }
}

impl Backend for Engine {
    type State = State;

    fn start(&self) -> State {
        self.automaton.start
    }

    fn step(&self, state: State, byte: u8, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        self.automaton.step(state, byte, fuel)
    }

    fn is_complete(&self, state: State) -> bool {
        self.automaton.list(state).acceptance.complete
    }

    fn next_bytes(&self, state: State) -> [u64; 4] {
        self.automaton.list(state).next_bytes
    }

    fn mask_key(&self, state: State) -> MaskKey {
        MaskKey { set: self.automaton.representative(state).raw(), detail: 0 }
    }

    fn parallel_states(&self, state: State, fuel: &mut Fuel) -> Result<Vec<State>, StepError> {
        self.automaton.parallel_states(state, fuel)
    }

    fn shortest_completion(&self, state: State, fuel: &mut Fuel) -> Result<(u64, [u64; 4]), StepError> {
        let (shortest, _) = self.shortest_completion.find(&self.automaton, state, None, fuel)?;
        Ok((shortest.len, shortest.first_bytes))
    }

    fn shortest_ending(
        &self,
        state: State,
        max_bytes: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<Vec<u8>>, StepError> {
        let max_bytes = Some(units(max_bytes));
        Ok(self.shortest_completion.find(&self.automaton, state, max_bytes, fuel)?.1)
    }

    fn rows(&self) -> impl Rows<State> {
        &self.automaton
    }

    fn class_runs(&self) -> &impl ClassRuns<State> {
        self
    }

    fn local_parts(&self) -> &impl LocalParts<State> {
        self
    }

    fn tables(&self) -> &impl Tables<Self, State> {
        self
    }

    fn distinct_scopes(&self) -> Option<&impl DistinctScopes<State>> {
        Some(self)
    }
}

impl<'e> Rows<State> for &'e Automaton {
    type Row = &'e [AtomicU32];

    fn row(&self, state: State) -> &'e [AtomicU32] {
        Automaton::row(self, state)
    }

    fn row_from(&self, known: State, row: &'e [AtomicU32], state: State) -> &'e [AtomicU32] {
        if known == state { row } else { Automaton::row(self, state) }
    }

    fn step_in(
        &self,
        row: &'e [AtomicU32],
        state: State,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<State>, StepError> {
        Automaton::step_in(self, row, state, byte, fuel)
    }
}

impl ClassRuns<State> for Engine {
    fn run_over(&self, state: State, class: &CharClass, fuel: &mut Fuel) -> Run {
        run_over(&self.automaton, state, class, fuel)
    }
}

impl LocalParts<State> for Engine {
    fn split(&self, state: State, fuel: &mut Fuel) -> Result<Option<Split<State>>, StepError> {
        split(&self.automaton, state, fuel)
    }

    fn may_complete(&self, state: State) -> bool {
        self.automaton.list(state).acceptance.local_complete
    }
}

impl Tables<Self, State> for Engine {
    fn memory_usage(&self) -> usize {
        self.automaton.bytes.load(Ordering::Relaxed) + self.program_bytes
    }

    fn counts(&self) -> TableCounts {
        TableCounts { sets: self.list_count(), contexts: self.node_count() }
    }

    fn fresh(&self) -> Result<Self, BuildError> {
        Self::new(Arc::clone(&self.automaton.program), self.automaton.config)
    }

    fn import(
        &self,
        other: &Self,
        states: &[State],
        max_growth: usize,
        fuel: &mut Fuel,
    ) -> Result<Vec<State>, StepError> {
        self.automaton.import(&other.automaton, states, max_growth, fuel)
    }
}

impl DistinctScopes<State> for Engine {
    fn distinct_scope_at(&self, state: State, byte: u8) -> DistinctScope {
        let states = self.automaton.list(state).stacks.iter().map(|stack| stack.state);
        DistinctScope::of(self.automaton.program.distinct_readings(states, byte))
    }
}
