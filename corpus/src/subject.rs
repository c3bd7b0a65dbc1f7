//! What the runner can put a case to: a backend, or the naive recogniser.

use grammask_oracle::{Chart, Recogniser};
use grammask_parser_backend::{Backend, Fuel};

use crate::ByteSet;

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

    /// The least number of bytes that finish a sentence, if the subject knows.
    fn ending(&self, state: &Self::State) -> Option<u64> {
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

    fn step(&self, state: &B::State, byte: u8) -> Result<Option<B::State>, String> {
        self.0.step(*state, byte, &mut Fuel::unlimited()).map_err(|error| error.to_string())
    }

    fn is_complete(&self, state: &B::State) -> bool {
        self.0.is_complete(*state)
    }

    fn next_bytes(&self, state: &B::State) -> ByteSet {
        ByteSet(self.0.next_bytes(*state))
    }

    fn ending(&self, state: &B::State) -> Option<u64> {
        self.0.ending(*state, &mut Fuel::unlimited()).ok()
    }
}

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
