//! How a grammar is read, and bounds on it.

use grammask_grammar_ir::{Interrupt, setters};

/// How to read a grammar, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EbnfOptions {
    /// The start rule's name; `root` by default.
    pub root: String,
    /// Bounds on what is taken.
    pub limits: EbnfLimits,
    /// Stops the reading from outside; by default nothing does.
    pub interrupt: Interrupt,
}

impl Default for EbnfOptions {
    fn default() -> Self {
        Self { root: "root".to_owned(), limits: EbnfLimits::default(), interrupt: Interrupt::never() }
    }
}

impl EbnfOptions {
    /// Sets [`root`](Self::root).
    #[must_use]
    pub fn root(mut self, root: impl Into<String>) -> Self {
        self.root = root.into();
        self
    }
}

setters! { EbnfOptions { limits: EbnfLimits, interrupt: Interrupt } }

/// Bounds on the text of a grammar. Past them it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EbnfLimits {
    /// Longest source in bytes; 16 MiB by default.
    pub source_bytes: usize,
    /// Most names, literals, classes and signs in the source, which take some 150 bytes each while it is read;
    /// 2,000,000 by default.
    pub tokens: usize,
    /// Deepest nesting of parentheses in a rule; 1,000 by default, and never more.
    pub nesting: usize,
    /// Most chunks of one `Substring`; 65,536 by default. Each makes up to two rules.
    pub chunks: usize,
    /// Most mistakes that are reported; 20 by default, at least one.
    pub reports: usize,
}

impl Default for EbnfLimits {
    fn default() -> Self {
        Self { source_bytes: 16 << 20, tokens: 2_000_000, nesting: MAX_NESTING, chunks: 1 << 16, reports: 20 }
    }
}

setters! { EbnfLimits {
    source_bytes: usize,
    tokens: usize,
    nesting: usize,
    chunks: usize,
    reports: usize,
} }

/// Trees of this depth are walked with recursion.
pub(super) const MAX_NESTING: usize = 1_000;

/// Which of the dialects is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Ebnf,
    Gbnf,
}
