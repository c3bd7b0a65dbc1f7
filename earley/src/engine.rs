//! The engine: an automaton and the queries over it, as a backend.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use grammask_fsm::{Program, TokenLabel, TokenSide};
use grammask_parser_backend::{
    Backend, BuildError, CharClass, ClassRuns, Configuration, Configurations, DistinctScope, DistinctScopes,
    Fuel, LocalParts, MaskKey, Rows, Run, Split, StepError, TableCounts, Tables, TokenEdges, TokenSet,
};

use crate::automaton::lazy::Automaton;
use crate::config::Config;
use crate::derivations::assemble::assemble;
use crate::local::canonical_form::{CanonicalForms, canonical_form};
use crate::local::context_expansion::ContextExpansion;
use crate::local::split::split;
use crate::queries::shortest_completion::ShortestCompletion;
use crate::queries::{union, whole_tokens};
use crate::runs::class_runs::RunAnswers;
use crate::tables::ids::{index, units};
use crate::tables::state::State;

/// A lazy automaton over interned Earley sets. See the crate documentation.
pub struct Engine {
    automaton: Automaton,
    runs: RunAnswers,
    canonical_forms: CanonicalForms,
    context_expansion: ContextExpansion,
    shortest_completion: ShortestCompletion,
    /// Bytes of the program, which are counted part by part.
    program_bytes: usize,
}

impl Engine {
    /// An engine for a program.
    ///
    /// # Errors
    ///
    /// Fails if a counted repeat can begin with itself, if a setting is out of range, or if the first set
    /// takes more work or items than one call may.
    pub fn new(program: Arc<Program>, config: Config) -> Result<Self, BuildError> {
        let program_bytes = program.memory_usage();
        Ok(Self {
            automaton: Automaton::new(program, config)?,
            runs: RunAnswers::default(),
            canonical_forms: CanonicalForms::default(),
            context_expansion: ContextExpansion::default(),
            shortest_completion: ShortestCompletion::default(),
            program_bytes,
        })
    }

    /// The program that the engine runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.automaton.program
    }

    /// How many sets were made so far.
    pub fn set_count(&self) -> usize {
        self.automaton.lock().index.len()
    }

    /// How many contexts were made so far.
    pub fn context_count(&self) -> usize {
        self.automaton.lock().contexts.len()
    }

    /// How many items the set of a state holds.
    pub fn item_count(&self, state: State) -> usize {
        self.automaton.set(state).items.len()
    }
}

impl Backend for Engine {
    type State = State;

    fn start(&self) -> State {
        self.automaton.start
    }

    #[inline]
    fn step(&self, state: State, byte: u8, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        self.automaton.step(state, byte, fuel)
    }

    #[inline]
    fn is_complete(&self, state: State) -> bool {
        self.automaton.set(state).complete
    }

    fn next_bytes(&self, state: State) -> [u64; 4] {
        self.automaton.set(state).next_bytes
    }

    fn mask_key(&self, state: State) -> MaskKey {
        self.automaton.mask_key(state)
    }

    #[inline]
    fn read_known(&self, state: State, text: &[u8]) -> Option<State> {
        self.automaton.read_known(state, text)
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

    #[inline]
    fn rows(&self) -> impl Rows<State> {
        &self.automaton
    }

    #[inline]
    fn class_runs(&self) -> &impl ClassRuns<State> {
        self
    }

    #[inline]
    fn local_parts(&self) -> &impl LocalParts<State> {
        self
    }

    #[inline]
    fn token_edges(&self) -> &impl TokenEdges<State> {
        self
    }

    #[inline]
    fn tables(&self) -> &impl Tables<Self, State> {
        self
    }

    fn distinct_scopes(&self) -> Option<&impl DistinctScopes<State>> {
        Some(self)
    }

    fn configurations(&self) -> Option<&impl Configurations<State>> {
        Some(self)
    }
}

impl<'e> Rows<State> for &'e Automaton {
    type Row = &'e [AtomicU32];

    #[inline]
    fn row(&self, state: State) -> &'e [AtomicU32] {
        Automaton::row(self, state)
    }

    #[inline]
    fn row_from(&self, known: State, row: &'e [AtomicU32], state: State) -> &'e [AtomicU32] {
        // Counts have no part in it.
        if known.set == state.set { row } else { Automaton::row(self, state) }
    }

    #[inline]
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
        self.runs.run_over(&self.automaton, state, class, fuel)
    }

    fn step_class_n(
        &self,
        state: State,
        class: &CharClass,
        max: u32,
        fuel: &mut Fuel,
    ) -> Result<Option<Vec<State>>, StepError> {
        self.runs.step_class_n(&self.automaton, state, class, max, fuel)
    }
}

impl LocalParts<State> for Engine {
    fn split(&self, state: State, fuel: &mut Fuel) -> Result<Option<Split<State>>, StepError> {
        split(&self.automaton, state, fuel)
    }

    fn may_complete(&self, state: State) -> bool {
        self.automaton.set(state).local_complete
    }

    fn canonical_form(&self, local: State) -> Option<Vec<u32>> {
        canonical_form(&self.automaton, &self.canonical_forms, local)
    }

    fn may_follow(&self, local: State, texts: &[&[u8]], fuel: &mut Fuel) -> Vec<bool> {
        self.context_expansion.may_follow(&self.automaton, local, texts, fuel)
    }
}

impl TokenEdges<State> for Engine {
    #[inline]
    fn token_labels(&self, state: State) -> &[u32] {
        match self.automaton.names_tokens {
            true => &self.automaton.set(state).labels,
            false => &[],
        }
    }

    fn token_set(&self, label: u32) -> TokenSet<'_> {
        match self.automaton.program.labels().get(index(label)) {
            Some(TokenLabel { ids, side: TokenSide::Inside }) => TokenSet::Inside(ids),
            Some(TokenLabel { ids, side: TokenSide::Outside }) => TokenSet::Outside(ids),
            None => TokenSet::Inside(&[]),
        }
    }

    fn step_token(&self, state: State, id: u32, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        whole_tokens::step(&self.automaton, state, id, fuel)
    }

    fn join(&self, one: State, other: State, fuel: &mut Fuel) -> Result<State, StepError> {
        union::join(&self.automaton, one, other, fuel)
    }
}

impl Tables<Self, State> for Engine {
    fn memory_usage(&self) -> usize {
        self.automaton.sets.bytes.load(Ordering::Relaxed) + self.program_bytes
    }

    fn counts(&self) -> TableCounts {
        TableCounts { sets: self.set_count(), contexts: self.context_count() }
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
        let states = self.automaton.set(state).items.iter().map(|item| item.state);
        DistinctScope::of(self.automaton.program.distinct_readings(states, byte))
    }
}

impl Configurations<State> for Engine {
    fn assemble(&self, configuration: &Configuration, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        assemble(&self.automaton, configuration, fuel)
    }
}
