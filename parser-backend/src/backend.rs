//! The trait that a parser backend implements.

use std::fmt::Debug;
use std::hash::Hash;

use crate::class::{CharClass, Run};
use crate::configuration::Configuration;
use crate::counts::TableCounts;
use crate::error::{BuildError, StepError};
use crate::fuel::Fuel;
use crate::tokens::TokenSet;

/// A name for the mask of a state: two states of one engine with equal keys have equal masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MaskKey {
    /// Number of the state's set, dense from 0 and stable for the life of the engine.
    pub set: u32,
    /// Everything else that the mask depends on (counts near a bound); 0 if it depends on the set alone.
    pub detail: u64,
}

/// A state taken apart at a rule that is open in it: the part before the end of the rule, and the part after
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Split<S> {
    /// The state without everything that follows the rule. It can be stepped like any other; the end of the
    /// rule shows in [`Backend::may_complete`].
    pub local: S,
    /// The state as it would be if the rule had just ended.
    pub continuation: S,
    /// Whether it may just have ended.
    pub ended: Ended,
}

/// Whether the rule of a local part may have ended in the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It goes on, or its end is part of the local state.
    No,
    /// It may have: texts of the continuation can be read too.
    Maybe,
}

/// The scope that a byte opens in which something must not occur twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DistinctScope {
    /// Nothing.
    Nothing,
    /// An array of JSON whose items must differ.
    Items,
    /// An object of JSON whose names must differ.
    Names,
    /// One of these in some derivations of the text, but not in all. The others may read a token of its own after a value
    /// that has occurred twice: see `TokenRef::REPEATED` of the crate of grammars.
    Ambiguous,
}

/// A need of a grammar beyond context-free rules. A backend that cannot serve it declines the grammar when it
/// is built, naming the need.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Requirement {
    /// Repeats with bounds, kept as counters.
    Counts,
    /// Left-recursive rules.
    LeftRecursion,
    /// Names or items that must not occur twice: [`Backend::distinct_scope_at`] says where.
    Distinct,
    /// Rules with a bound on their tokens: states that are made of a [`Configuration`].
    Attributes,
    /// Tokens that are read as a whole.
    Tokens,
}

/// A parser that follows a grammar byte by byte.
///
/// An engine is immutable to its users and shared between threads; tables that it fills lazily are its own
/// affair. Calls take a state and return a new one, so rollback and fork are copies.
///
/// # Contract
///
/// * [`step`](Self::step) returns `Some` if and only if the bytes read so far and the new one begin some
///   sentence of the grammar: there are no dead ends.
/// * Equal states behave alike. Equal [`mask_key`](Self::mask_key)s allow the same byte strings of up to the
///   length that the engine was built for (the longest token).
/// * A [`StepError`] is *indeterminate* and leaves the engine usable.
pub trait Backend: Send + Sync + 'static {
    /// A configuration of the parser: a small value. Counts of open repeats, and whatever else is not
    /// context-free, are part of it.
    type State: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// The place in which the steps of one state are looked up. A walk that steps one state by many bytes
    /// asks for it once. A backend without such a table takes `()`.
    type Row<'e>: Copy;

    /// The state before the first byte.
    fn start(&self) -> Self::State;

    /// Reads one byte. `None`: no sentence goes on with it. Work that is not a table look-up burns fuel; with
    /// none left the step fails.
    fn step(&self, state: Self::State, byte: u8, fuel: &mut Fuel) -> Result<Option<Self::State>, StepError> {
        self.step_in(self.row(state), state, byte, fuel)
    }

    /// The place in which the state's steps are looked up.
    fn row(&self, state: Self::State) -> Self::Row<'_>;

    /// The row of a state, where the row of another one is known: inside a string each byte leads back to the same one.
    #[inline]
    fn row_from<'e>(&'e self, known: Self::State, row: Self::Row<'e>, state: Self::State) -> Self::Row<'e> {
        if known == state { row } else { self.row(state) }
    }

    /// As [`step`](Self::step), with the state's own row.
    fn step_in(
        &self,
        row: Self::Row<'_>,
        state: Self::State,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<Self::State>, StepError>;

    /// The state after a text, if look-ups suffice. `None` where a byte is refused, or where a step is taken
    /// for the first time, which costs work. A token that is accepted has mostly been a step of a mask
    /// before.
    fn read_known(&self, state: Self::State, text: &[u8]) -> Option<Self::State> {
        let mut fuel = Fuel::new(0);
        text.iter().try_fold(state, |state, &byte| self.step(state, byte, &mut fuel).ok().flatten())
    }

    /// Whether the text so far is a sentence.
    fn is_complete(&self, state: Self::State) -> bool;

    /// The bytes that may be read next: bit `b % 64` of word `b / 64`. Exact.
    fn next_bytes(&self, state: Self::State) -> [u64; 4];

    /// The name of the state's mask.
    fn mask_key(&self, state: Self::State) -> MaskKey;

    /// The behaviour of the state on texts over a class. [`Run::Unknown`] is always a correct answer; any
    /// other must be exact.
    fn run_over(&self, state: Self::State, class: &CharClass, fuel: &mut Fuel) -> Run {
        let _ = (state, class, fuel);
        Run::Unknown
    }

    /// The state that every character of a class leads to, each from its first byte to its last, if all of them can be
    /// read and lead to one. `None` is always a correct answer, and the right one where all would have to be tried.
    fn step_class(
        &self,
        state: Self::State,
        class: &CharClass,
        fuel: &mut Fuel,
    ) -> Result<Option<Self::State>, StepError> {
        let _ = (state, class, fuel);
        Ok(None)
    }

    /// The states that 1, 2, ... characters of a class lead to, each the [`step_class`](Self::step_class) of
    /// the one before. There are at most `most` of them, and fewer if the last of them leads to itself.
    /// `None` where one of the steps has no answer.
    fn step_class_n(
        &self,
        state: Self::State,
        class: &CharClass,
        most: u32,
        fuel: &mut Fuel,
    ) -> Result<Option<Vec<Self::State>>, StepError> {
        let mut states = Vec::new();
        let mut at = state;
        for _ in 0..most {
            match self.step_class(at, class, fuel)? {
                None => return Ok(None),
                Some(next) if next == at => break,
                Some(next) => {
                    states.push(next);
                    at = next;
                }
            }
        }
        Ok(Some(states))
    }

    /// Takes a state apart, if one rule holds all that can be read next. States of different places in a text,
    /// or of different callers, then share their local part: the inside of a string is the same for every
    /// property of that type.
    ///
    /// A text can be read from the state if and only if one of two things holds. The local part reads it; or
    /// the local part reads a beginning of it after which the rule may have ended, and the continuation reads
    /// the rest. The empty beginning counts where the split says so ([`Split::ended`]).
    fn split(&self, state: Self::State, fuel: &mut Fuel) -> Result<Option<Split<Self::State>>, StepError> {
        let _ = (state, fuel);
        Ok(None)
    }

    /// A description of a local part without the numbers of its grammar. Two local states with equal
    /// descriptions, of this engine or another one of the same kind, read the same texts and leave at the
    /// same places. `None` where there is no short description.
    fn canonical_form(&self, local: Self::State) -> Option<Vec<u32>> {
        let _ = local;
        None
    }

    /// For states that a local part leads to: whether the rule may have ended here.
    fn may_complete(&self, state: Self::State) -> bool {
        let _ = state;
        false
    }

    /// Which of some sorted texts can be read after the rule of a local part, in any of the places where the
    /// grammar calls it. This is context expansion (XGrammar, section 3.2, algorithm 2). `true` is always a
    /// correct answer; `false` says that no place does. Never fails: it does what the fuel allows.
    fn may_follow(&self, local: Self::State, texts: &[&[u8]], fuel: &mut Fuel) -> Vec<bool> {
        let _ = (local, fuel);
        vec![true; texts.len()]
    }

    /// The labels of the tokens that the state can read as a whole, in a fixed order, each once. None unless the
    /// grammar names tokens; a backend that does not serve [`Requirement::Tokens`] has none.
    fn token_labels(&self, state: Self::State) -> &[u32] {
        let _ = state;
        &[]
    }

    /// The tokens of a label.
    fn token_set(&self, label: u32) -> TokenSet<'_> {
        let _ = label;
        TokenSet::Inside(&[])
    }

    /// Reads a token as a whole, by all of the state's labels whose sets contain it. `None`: no label's set
    /// does.
    fn step_token(
        &self,
        state: Self::State,
        id: u32,
        fuel: &mut Fuel,
    ) -> Result<Option<Self::State>, StepError> {
        let _ = (state, id, fuel);
        Ok(None)
    }

    /// The union of two states: it reads the texts that either reads. It is needed for a token that was read
    /// both as a whole and as its bytes; a backend without labels is never asked.
    fn join(&self, one: Self::State, other: Self::State, fuel: &mut Fuel) -> Result<Self::State, StepError> {
        let _ = fuel;
        match one == other {
            true => Ok(one),
            false => Err(StepError::OutOfWork { limit: 0 }),
        }
    }

    /// The scope that a byte, which can be read from the state, opens and in which something must not occur
    /// twice. The caller keeps what has occurred. A backend that does not serve [`Requirement::Distinct`] is
    /// never asked.
    fn distinct_scope_at(&self, state: Self::State, byte: u8) -> DistinctScope {
        let _ = (state, byte);
        DistinctScope::Nothing
    }

    /// The state that a configuration describes. `None` if there is no such state, and from a backend that
    /// does not serve [`Requirement::Attributes`].
    fn assemble(
        &self,
        configuration: &Configuration,
        fuel: &mut Fuel,
    ) -> Result<Option<Self::State>, StepError> {
        let _ = (configuration, fuel);
        Ok(None)
    }

    /// Does a bounded piece of work that continuations of the state are certain to need soon, if there is
    /// such work. Called once for each mask that is computed, so that a later mask does not have to wait for
    /// all of it. Changes no answer.
    fn precompile_step(&self, state: Self::State) {
        let _ = state;
    }

    /// The least number of bytes with which a sentence can be finished. It is 0 if the text so far is one,
    /// and `u64::MAX` if a token has to be read as a whole.
    fn shortest_completion_len(&self, state: Self::State, fuel: &mut Fuel) -> Result<u64, StepError>;

    /// [`shortest_completion_len`](Self::shortest_completion_len), and bytes with which such a completion can begin. A
    /// caller that follows one tries these first, and mostly steps once for each byte of it. A backend may answer with
    /// all [`next_bytes`](Self::next_bytes).
    fn shortest_completion(&self, state: Self::State, fuel: &mut Fuel) -> Result<(u64, [u64; 4]), StepError> {
        Ok((self.shortest_completion_len(state, fuel)?, self.next_bytes(state)))
    }

    /// An engine for the same grammar with empty tables.
    fn fresh(&self) -> Result<Self, BuildError>
    where
        Self: Sized;

    /// States of `other`, an engine for the same grammar, as states of this one, in their order. Lets a parse
    /// go on, and be taken back, when the other's tables have used up their budget. The first has to be
    /// moved. The others may be cut short. The answer ends before the first one for which the fuel or the
    /// tables do not suffice, or at which the tables have grown by `max_growth` bytes.
    ///
    /// # Errors
    ///
    /// Where the first cannot be moved.
    fn import(
        &self,
        other: &Self,
        states: &[Self::State],
        max_growth: usize,
        fuel: &mut Fuel,
    ) -> Result<Vec<Self::State>, StepError>;

    /// Which of the requirements the backend serves.
    fn serves(&self, requirement: Requirement) -> bool;

    /// Bytes of memory that the engine's tables hold now. Asked for often, so it should be known and not counted.
    fn memory_usage(&self) -> usize;

    /// How much the engine's tables hold now. For people: nothing depends on it.
    fn table_counts(&self) -> TableCounts {
        TableCounts::default()
    }
}
