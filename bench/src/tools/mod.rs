//! Tool calls: traces of agents, in two formats, and what `tools` measures on them.
//!
//! Traces come in, and structures, texts and judgements go out. Imports `engine` and `run`.

mod call_format;
mod judge;
mod structure;
mod trace;
mod words;

pub(crate) use self::call_format::CallFormat;
pub(crate) use self::judge::{Judgement, judge};
pub(crate) use self::structure::{Tool, lark, structural_tag};
pub(crate) use self::trace::{Mutation, Place, Trace, read};
pub(crate) use self::words::Words;
