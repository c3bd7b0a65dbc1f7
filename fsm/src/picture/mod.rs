//! Pictures of automata: DOT for Graphviz, and SVG that needs no other program.

mod dot;
mod graph;
mod label;
mod layout;
mod svg;

pub use dot::dot;
pub use svg::{MAX_STATES, PictureError, svg};

use crate::FragmentId;

/// What is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Every fragment, one below the other.
    Program,
    /// One fragment.
    Fragment(FragmentId),
}
