//! The subject of a case: a backend, or the naive recogniser.

use grammask_grammar_ir::Grammar;
use grammask_mask_cache::{Vocabulary, VocabularyOptions};
use grammask_matcher::{CompiledGrammar, Compiler, MatchError, Matcher};
use grammask_oracle::{Chart, Recogniser};
use grammask_parser_backend::{Backend, Fuel};

use crate::byte_set::ByteSet;

/// Something that follows a grammar byte by byte.
///
/// An `Err` is always a failure of the case: corpus cases are far from every limit.
pub trait Subject {
    /// Where it stands.
    type State: Clone;

    /// Where it stands before the first byte.
    fn start(&self) -> Self::State;

    /// Reads a byte; `None` where no sentence goes on with it.
    fn step(&self, state: &Self::State, byte: u8) -> Result<Option<Self::State>, String>;

    /// Whether what was read is a sentence.
    fn is_complete(&self, state: &Self::State) -> bool;

    /// The bytes that may be read next, as the subject itself says.
    fn next_bytes(&self, state: &Self::State) -> ByteSet;

    /// Whether the same may follow two states, as far as the subject knows.
    fn are_same(&self, one: &Self::State, other: &Self::State) -> bool {
        let _ = (one, other);
        false
    }

    /// The least number of bytes that finish a sentence, if the subject knows.
    fn shortest_completion_len(&self, state: &Self::State) -> Option<u64> {
        let _ = state;
        None
    }

    /// A shortest text that finishes a sentence, of at most so many bytes, if the subject knows one.
    fn shortest_ending(&self, state: &Self::State, max_bytes: usize) -> Option<Vec<u8>> {
        let _ = (state, max_bytes);
        None
    }

    /// A text that finishes a sentence, from a subject that finds one sooner than its bytes are tried.
    fn finish(&self, state: &Self::State) -> Option<Vec<u8>> {
        let _ = state;
        None
    }
}

/// A backend as a subject.
#[derive(Debug)]
pub struct BackendSubject<B>(pub B);

impl<B: Backend> Subject for BackendSubject<B> {
    type State = B::State;

    fn start(&self) -> B::State {
        self.0.start()
    }

    fn are_same(&self, one: &B::State, other: &B::State) -> bool {
        one == other
    }

    fn step(&self, state: &B::State, byte: u8) -> Result<Option<B::State>, String> {
        self.0.step(*state, byte, &mut Fuel::unlimited()).map_err(|error| error.to_string())
    }

    fn is_complete(&self, state: &B::State) -> bool {
        self.0.is_complete(*state)
    }

    fn next_bytes(&self, state: &B::State) -> ByteSet {
        ByteSet(self.0.next_bytes(*state))
    }

    fn shortest_completion_len(&self, state: &B::State) -> Option<u64> {
        self.0.shortest_completion(*state, &mut Fuel::unlimited()).ok().map(|(length, _)| length)
    }

    fn shortest_ending(&self, state: &B::State, max_bytes: usize) -> Option<Vec<u8>> {
        self.0.shortest_ending(*state, max_bytes, &mut Fuel::unlimited()).ok().flatten()
    }
}

/// A matcher as a subject: for grammars in which items or names must differ, which no backend keeps apart by itself.
#[derive(Debug)]
pub struct MatcherSubject(CompiledGrammar);

impl MatcherSubject {
    /// Follows a grammar with the defaults of the compiler, over a vocabulary of bytes.
    ///
    /// # Errors
    ///
    /// Where the grammar is refused.
    pub fn new(grammar: &Grammar) -> Result<Self, String> {
        let bytes = Vocabulary::from_tokens(
            (0..=255u8).map(|byte| Some([byte])),
            &VocabularyOptions::default().stop_ids([]),
        );
        let bytes = bytes.map_err(|error| error.to_string())?;
        Compiler::builder(bytes).build().grammar(grammar).map(Self).map_err(|error| error.to_string())
    }
}

/// Whether items or names must differ somewhere in a grammar.
pub fn asks_to_differ(grammar: &Grammar) -> bool {
    grammar.rule_ids().any(|rule| grammar.rule(rule).options().distinct.is_some())
}

impl Subject for MatcherSubject {
    type State = Matcher;

    fn start(&self) -> Matcher {
        self.0.matcher()
    }

    fn step(&self, state: &Matcher, byte: u8) -> Result<Option<Matcher>, String> {
        let mut next = state.fork();
        match next.accept_bytes(&[byte]) {
            Ok(()) => Ok(Some(next)),
            Err(MatchError::ByteRefused { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn is_complete(&self, state: &Matcher) -> bool {
        state.is_completed()
    }

    fn next_bytes(&self, state: &Matcher) -> ByteSet {
        ByteSet(state.next_bytes().words())
    }

    fn finish(&self, state: &Matcher) -> Option<Vec<u8>> {
        state.fork().shortest_ending(MAX_COMPLETION_BYTES).ok().flatten()
    }
}

/// Bytes that finish a text at most.
const MAX_COMPLETION_BYTES: usize = 10_000;

/// The naive recogniser as a subject.
#[derive(Debug)]
pub struct OracleSubject<'r>(pub &'r Recogniser);

impl<'r> Subject for OracleSubject<'r> {
    type State = Chart<'r>;

    fn start(&self) -> Chart<'r> {
        self.0.begin()
    }

    fn step(&self, state: &Chart<'r>, byte: u8) -> Result<Option<Chart<'r>>, String> {
        let mut chart = state.clone();
        Ok(chart.push(byte).then_some(chart))
    }

    fn is_complete(&self, state: &Chart<'r>) -> bool {
        state.is_complete()
    }

    fn next_bytes(&self, state: &Chart<'r>) -> ByteSet {
        state.next_bytes().into_iter().collect()
    }
}
