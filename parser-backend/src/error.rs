//! A bad grammar and a limit reached are different things, and so are their types.

/// The grammar cannot be served by the backend. `Display` says why and what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    message: String,
}

impl BuildError {
    /// An error with its explanation.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// A step could not be decided within its limits. *Indeterminate*: it says nothing about whether the byte or
/// token is allowed. The state that it was asked of stays valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// One Earley set (or set of stacks) would hold too many items.
    #[error(
        "indeterminate: the grammar is too ambiguous here ({items} parses at once, limit {limit}); \
         make it less ambiguous or raise `max_items_per_set`"
    )]
    TooManyItems {
        /// Items that the set would hold at least.
        items: usize,
        /// The limit.
        limit: usize,
    },
    /// The memory budget of the grammar's tables is used up.
    #[error("indeterminate: the grammar's tables hold {bytes} bytes, limit {limit}; raise `max_table_bytes`")]
    OutOfMemory {
        /// Bytes held.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// One call did more work than it may.
    #[error(
        "indeterminate: one call would take more than {limit} units of work; make the grammar less \
         ambiguous or raise `max_work_per_call`"
    )]
    OutOfWork {
        /// The limit.
        limit: u64,
    },
    /// Somebody asked for the work to stop.
    #[error("indeterminate: the work was interrupted")]
    Interrupted,
    /// A part of the grammar that was left to be compiled until a text comes to it could not be compiled.
    #[error("indeterminate: a part of the grammar could not be compiled when a text came to it: {reason}")]
    DeferredCompileFailed {
        /// Why, and what to change.
        reason: Box<str>,
    },
    /// No token of the vocabulary spells any way on, though the grammar has one.
    #[error(
        "the vocabulary cannot spell any continuation here (the grammar goes on with byte {byte:#04x}); \
         use a vocabulary that has a token for every byte"
    )]
    Unspellable {
        /// A byte with which the grammar goes on.
        byte: u8,
    },
    /// Arrays and objects whose items or names must differ hold too many of them.
    #[error(
        "indeterminate: items or names that must differ hold {bytes} bytes here, limit {limit}; write fewer of them or \
         raise `max_distinct_bytes`"
    )]
    TooManyDistinct {
        /// Bytes of the items and names that have occurred in the arrays and objects that are open.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Items that must differ nest too deep.
    #[error("indeterminate: items that must differ nest more than {limit} deep here; nest less")]
    TooDeepDistinct {
        /// The limit.
        limit: usize,
    },
    /// Whether items or names must differ depends on how the text is read.
    #[error(
        "indeterminate: the text can be read in several ways here, and not in all of them must the items or names that \
         follow differ; make the grammar less ambiguous"
    )]
    UnclearDistinct,
    /// The text is finished, nothing can follow, and the vocabulary has no token to say so.
    #[error("the text is complete and the vocabulary has no stop token; name one in its options")]
    NoStopToken,
}

impl StepError {
    /// The cause as a fixed name, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooManyItems { .. } => "limit/items-per-set",
            Self::OutOfMemory { .. } => "limit/table-bytes",
            Self::OutOfWork { .. } => "limit/work-per-call",
            Self::Interrupted => "interrupted/call",
            Self::DeferredCompileFailed { .. } => "limit/deferred-compilation",
            Self::Unspellable { .. } => "vocabulary/unspellable",
            Self::TooManyDistinct { .. } => "limit/distinct-bytes",
            Self::TooDeepDistinct { .. } => "limit/distinct-depth",
            Self::UnclearDistinct => "limit/distinct-ambiguous",
            Self::NoStopToken => "vocabulary/no-stop-token",
        }
    }
}
