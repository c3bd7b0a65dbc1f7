//! The compiled form of a grammar: one byte automaton for each rule, in flat tables.
//!
//! Tables come in from [`passes`](crate::passes), [`link`](crate::link) and [`stored`](crate::stored);
//! engines read them through [`Program`](tables::Program). Everything here is data and the questions that
//! engines ask of it: byte classes, left corners, distances to the end, sub-programs and their deferred
//! parts. The layout of a table can change here, together with its writer in `passes`. This folder imports
//! only the files at the bottom of the crate (`error`, `graph`, `ids`, `options`, `utf8`); it does not know
//! how a program is compiled.

pub(crate) mod ids;
pub(crate) mod fragment_name;
pub(crate) mod byte_classes;
pub(crate) mod tables;
pub(crate) mod state_tables;
pub(crate) mod deferred;
pub(crate) mod sub_programs;
pub(crate) mod fingerprint;
pub(crate) mod left_corners;
pub(crate) mod missing_parts;
pub(crate) mod distances;
pub(crate) mod distinct;
pub(crate) mod used_bytes;
pub(crate) mod expanded_suffixes;
