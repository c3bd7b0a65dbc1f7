//! Hostile inputs: sources and texts that are dear for their size, made from templates, each at three sizes.
//!
//! A [`Shape`] is a kind of input; [`shapes`] lists them all, as families times what they hold.
//! [`run()`](run) puts an input to a compiler, and a [`Meter`] sees every call. The bounds on the cost of a
//! call are [`longest`], [`largest`] and [`MAX_POWER`]. The program `hostile` measures them in release
//! builds, and a test asserts the part that does not depend on the machine.
//!
//! A new shape is a line in a table of `schemas`, `grammars`, `patterns`, `structures` or `texts`. Imports nothing of this
//! crate.

mod template;

mod shape;

mod schemas;

mod grammars;

mod patterns;

mod structures;

mod texts;

mod vocabulary;

mod run;

mod rule;

pub use rule::{MAX_POWER, largest, longest, power};
pub use run::{End, Meter, run};
pub use shape::{Calls, Input, SEED, Shape, Syntax};
pub use vocabulary::vocabulary;

/// All shapes, in the order of their families.
pub fn shapes() -> Vec<Shape> {
    [schemas::shapes(), grammars::shapes(), patterns::shapes(), structures::shapes(), texts::shapes()]
        .concat()
}
