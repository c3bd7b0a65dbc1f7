//! Steps by rows of a table.

use crate::error::StepError;
use crate::fuel::Fuel;

/// Steps from the place in which those of one state are looked up: an optional part of a [`Backend`](crate::Backend).
///
/// Saves: a walk steps one state by many bytes, and looks its row up once.
///
/// Without it: each step is a [`Backend::step`](crate::Backend::step). The masks are the same.
pub trait Rows<S> {
    /// The place in which the steps of one state are looked up.
    type Row: Copy;

    /// The row of a state.
    fn row(&self, state: S) -> Self::Row;

    /// The row of a state, where the row of another one is known: inside a string each byte leads back to the same one.
    fn row_from(&self, known: S, row: Self::Row, state: S) -> Self::Row;

    /// As [`Backend::step`](crate::Backend::step), with the state's own row.
    fn step_in(&self, row: Self::Row, state: S, byte: u8, fuel: &mut Fuel) -> Result<Option<S>, StepError>;
}
