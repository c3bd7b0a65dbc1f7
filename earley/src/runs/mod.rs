//! How a set treats texts over a class of characters, such as the inside of a JSON string.
//!
//! The input is a state and a class. The result says how many characters of the class the state reads for certain, or
//! which state all of them lead to. Each analysis may give up, and may change here without care elsewhere, as long as
//! its answer stays true of every text over the class. This folder imports the automaton and the tables.

pub(crate) mod boundary;
pub(crate) mod class_distance;
pub(crate) mod class_runs;
pub(crate) mod exploration;
pub(crate) mod run_shape;
pub(crate) mod uniform_step;
pub(crate) mod universal_states;
