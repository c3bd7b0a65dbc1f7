//! What a picture shows.

use crate::program::tables::FragmentId;

/// What is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Every fragment, one below the other.
    Program,
    /// One fragment.
    Fragment(FragmentId),
}
