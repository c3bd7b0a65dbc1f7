//! The tables of an engine: their size, and their replacement when they are full.

use crate::error::{BuildError, StepError};
use crate::fuel::Fuel;
use crate::not_offered::NotOffered;

/// How much the tables of an engine hold now, in entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// Sets of parses: the states without their counts.
    pub sets: usize,
    /// Objects that sets share: contexts, nodes of stacks.
    pub contexts: usize,
}

/// Tables that an engine `B` with states `S` fills lazily: an optional part of a [`Backend`](crate::Backend).
///
/// Saves: memory. When the tables, or the masks kept beside them, have used up their budget, texts move over to an
/// engine with empty ones.
///
/// Without it: the engine is taken to hold as many bytes as its own type, and is never replaced. An engine whose tables
/// can grow without bound needs this part. The masks are the same.
pub trait Tables<B, S> {
    /// Bytes of memory that the engine holds now. Asked for often, so it should be known and not counted.
    fn memory_usage(&self) -> usize;

    /// How much the tables hold now. For people: nothing depends on it.
    fn counts(&self) -> TableCounts {
        TableCounts::default()
    }

    /// An engine for the same grammar with empty tables.
    ///
    /// # Errors
    ///
    /// Where there cannot be another one.
    fn fresh(&self) -> Result<B, BuildError>;

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
        other: &B,
        states: &[S],
        max_growth: usize,
        fuel: &mut Fuel,
    ) -> Result<Vec<S>, StepError>;
}

impl<B, S> Tables<B, S> for NotOffered {
    fn memory_usage(&self) -> usize {
        size_of::<B>()
    }

    fn fresh(&self) -> Result<B, BuildError> {
        Err(BuildError::new("this backend has no tables to begin anew; offer `Backend::tables`"))
    }

    /// Never asked: there is no fresh engine.
    fn import(&self, _: &B, _: &[S], _: usize, _: &mut Fuel) -> Result<Vec<S>, StepError> {
        Err(StepError::OutOfWork { limit: 0 })
    }
}
