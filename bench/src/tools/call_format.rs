//! Formats of calls.

/// A format in which models write calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CallFormat {
    /// `<function=NAME>{...}</function>` in free text, as Llama 3.1 writes custom tools.
    Llama,
    /// OpenAI's Harmony: messages with channels and recipients between marks that are tokens.
    Harmony,
}
