//! The questions about a class of characters, and the answers that are kept.

use std::sync::{Mutex, MutexGuard, PoisonError};

use grammask_parser_backend::{CharClass, Fuel, Run, StepError};

use super::class_distance::ClassDistances;
use super::run_shape::{RunCache, RunShape};
use super::uniform_step::ClassBytesCache;
use super::universal_states::UniversalStates;
use super::{class_distance, exploration, uniform_step};
use crate::automaton::lazy::Automaton;
use crate::tables::state::State;

/// The answers about runs over classes of characters in one automaton. Its lock is taken before the automaton's.
#[derive(Default)]
pub(crate) struct RunAnswers {
    caches: Mutex<Caches>,
}

#[derive(Default)]
struct Caches {
    answers: RunCache,
    universal_states: UniversalStates,
    distances: ClassDistances,
    class_bytes: ClassBytesCache,
}

impl RunAnswers {
    fn lock(&self) -> MutexGuard<'_, Caches> {
        // Answers that were kept before a panic are right.
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The behaviour of a state on texts over a class.
    pub(crate) fn run_over(
        &self,
        automaton: &Automaton,
        state: State,
        class: &CharClass,
        fuel: &mut Fuel,
    ) -> Run {
        // An answer holds for all counts of the same intervals, so the intervals are part of the key.
        let intervals = exploration::count_intervals(automaton, state);
        let items = &automaton.set(state).items;
        {
            // From cheap to expensive. A universal state needs only the automaton of one item: if one reading
            // takes every text, the set does. A distance is a lower bound from one automaton. The exploration
            // of sets is exact, but it can give up.
            let Caches { answers, universal_states, distances, .. } = &mut *self.lock();
            if let Some(known) = answers.get(state.set, intervals, class) {
                return known.at(&state.counts);
            }
            if items.iter().any(|item| universal_states.contains(&automaton.program, item.state, class)) {
                answers.insert(state.set, intervals, class, RunShape::Unbounded);
                return Run::Unbounded;
            }
            if let Some(shape) = class_distance::min_chars(distances, &automaton.program, items, class) {
                answers.insert(state.set, intervals, class, shape);
                return shape.at(&state.counts);
            }
        }
        // The lock is free here, because the exploration computes transitions, which may take long. Two
        // threads may do the same work; both find the same answer.
        let mut shape = exploration::explore(automaton, state, class, fuel);
        let Caches { answers, distances, .. } = &mut *self.lock();
        // Repeats of words have too many sets for the exploration. Their automata still give a lower bound,
        // which lets the walk skip short tokens.
        if shape == RunShape::Unknown {
            let contexts = &automaton.lock().contexts;
            let repeats =
                class_distance::min_chars_in_repeats(distances, &automaton.program, contexts, items, class);
            shape = repeats.unwrap_or(shape);
        }
        answers.insert(state.set, intervals, class, shape);
        shape.at(&state.counts)
    }

    /// The states that 1, 2, ... characters of a class lead to, `max` of them at most; fewer where the last one leads to
    /// itself. `None` where some number of characters leads to more than one.
    pub(crate) fn step_class_n(
        &self,
        automaton: &Automaton,
        state: State,
        class: &CharClass,
        max: u32,
        fuel: &mut Fuel,
    ) -> Result<Option<Vec<State>>, StepError> {
        let bytes = self.lock().class_bytes.get(automaton.program.byte_classes(), class);
        uniform_step::step_class_n(automaton, state, &bytes, max, fuel)
    }
}
