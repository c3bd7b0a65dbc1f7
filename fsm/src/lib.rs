//! Byte automata of grammar rules.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod byte_classes;
mod program;

pub use byte_classes::ByteClasses;
pub use program::{ByteEdge, Call, Count, Fragment, FragmentId, Program, State, StateId};
