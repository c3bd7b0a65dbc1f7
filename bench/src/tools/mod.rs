//! Tool calls: traces of agents, in two formats, and what `tools` measures on them.

mod judge;
mod structure;
mod trace;
mod words;

pub(crate) use self::judge::{Judgement, judge};
pub(crate) use self::structure::{Tool, lark, structural_tag};
pub(crate) use self::trace::{Mutation, Place, Trace, places, read};
pub(crate) use self::words::Words;

/// A format in which models write calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CallFormat {
    /// `<function=NAME>{...}</function>` in free text, as Llama 3.1 writes custom tools.
    Llama,
    /// OpenAI's Harmony: messages with channels and recipients between marks that are tokens.
    Harmony,
}
