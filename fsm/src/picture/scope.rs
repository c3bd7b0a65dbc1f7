//! The part of a program that a picture shows.

use crate::program::tables::FragmentId;

/// The part of a program to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Every fragment, one below the other.
    Program,
    /// One fragment.
    Fragment(FragmentId),
}
