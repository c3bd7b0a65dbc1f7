//! Automata under construction.
//!
//! [`encoding`](crate::encoding) and [`build`](crate::build) write states and edges into a
//! [`Draft`](automata::Draft), the [`passes`](crate::passes) rewrite it, and emission turns it into a program. The
//! arena, the labels and the tables of prebuilt fragments can change here without care elsewhere, as long as the
//! methods of `Draft` keep their meaning. This folder imports `program` for the rows of prebuilt fragments.

pub(crate) mod ids;
pub(crate) mod labels;
pub(crate) mod names;
pub(crate) mod prebuilt;
pub(crate) mod automata;
