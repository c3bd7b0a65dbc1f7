//! Byte automata of grammar rules.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod build;
mod byte_classes;
mod compile;
mod draft;
mod error;
mod graph;
mod literals;
mod options;
mod passes;
mod plan;
mod program;
mod spell;
pub mod text;

pub use byte_classes::ByteClasses;
pub use compile::compile;
pub use error::{BuildError, Cause};
pub use options::{CompileOptions, Pass, TextLimits};
pub use program::{ByteEdge, Call, Count, Fragment, FragmentId, Program, State, StateId};
