//! Pictures of automata: DOT for Graphviz, and SVG that needs no other program.
//!
//! A program and a [`Scope`] come in, text goes out. A program becomes a graph of plain nodes and edges first; the two
//! writers share it, and the layout is for SVG alone. Everything can change here: no other folder imports this one.
//! This folder imports `program`.

mod scope;
mod label;
mod graph;
mod dot;
mod layout;
mod svg;

pub use dot::dot;
pub use scope::Scope;
pub use svg::{MAX_STATES, PictureError, svg};
