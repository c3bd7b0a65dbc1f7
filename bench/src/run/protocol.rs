//! The messages between parent and worker: one JSON object a line.

use serde::{Deserialize, Serialize};

use crate::engine::EngineId;

/// Parent to worker: run this schema.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The engines, in the order in which they take their turns.
    pub(crate) engines: Vec<EngineId>,
    /// The line of the pack.
    pub(crate) line: String,
    /// The caches that are kept from schema to schema.
    pub(crate) caches: Caches,
    /// Whether instances are run, or only the schema compiled.
    pub(crate) depth: Depth,
    /// The clock.
    pub(crate) clock: Clock,
}

/// The caches that an engine may keep from one schema to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Caches {
    /// Everything it likes.
    Kept,
    /// Nothing but the vocabulary.
    Dropped,
}

/// The clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub(crate) enum Clock {
    /// Time on the wall, as a serving engine waits for it. Other load on the machine counts. Reading it adds some
    /// 0.02 us to each figure.
    Wall,
    /// Time that the thread was on a core. Reading it is a system call, which adds some 0.3 us to each figure,
    /// and other load still costs caches; for machines that are not quiet.
    Cpu,
}

/// How much of a schema is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Depth {
    /// Schema and instances.
    Instances,
    /// The schema up to its first mask.
    FirstMask,
}

/// Worker to parent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The engines are loaded.
    Ready {
        /// Resident memory before and after loading the engines, KiB.
        before_kib: u64,
        /// See `before_kib`.
        after_kib: u64,
    },
    /// The worker enters a stage; the parent's clock starts anew.
    Enter {
        /// Whose turn it is.
        engine: EngineId,
        /// The current stage.
        stage: Stage,
    },
    /// An engine is done with the schema.
    Finished(Box<Record>),
    /// All engines of the job are done.
    JobDone,
    /// The job itself could not be read.
    Unreadable(String),
}

/// The parts of an engine's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// Up to the first mask.
    Compile,
    /// The instances.
    Instances,
}

/// The record of one engine with one schema. Times are in nanoseconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) engine: EngineId,
    pub(crate) id: String,
    /// Bytes of the schema's text.
    pub(crate) schema_bytes: usize,
    /// How many instances the schema has.
    pub(crate) instances: usize,
    pub(crate) compile: Compile,
    pub(crate) replays: Vec<Replay>,
    /// The most memory that the worker had resident so far, KiB.
    pub(crate) peak_kib: u64,
}

/// How compiling went.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Compile {
    /// The first mask was reached.
    Done {
        compile: u64,
        matcher: u64,
        first_mask: u64,
        /// Whether the operating system took the core away in between.
        preempted: Preempted,
    },
    /// The engine does not take the schema.
    Refused { reason: String, after: u64 },
    /// The worker was lost: no answer in time, or a crash.
    Lost { loss: Loss, stage: Stage },
}

/// Why a worker was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Loss {
    /// No answer within the limit.
    Timeout,
    /// The process ended; what it said last.
    Crash(String),
}

/// Whether a measurement was disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Preempted {
    Yes,
    No,
}

/// One instance through one matcher.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Replay {
    /// Whether the schema allows the instance.
    pub(crate) valid: bool,
    /// Tokens of the instance.
    pub(crate) tokens: usize,
    /// Tokens accepted.
    pub(crate) accepted: usize,
    /// Whether the end token was in the mask after the last token.
    pub(crate) ended: bool,
    pub(crate) masks: Vec<u64>,
    pub(crate) commits: Vec<u64>,
    /// Tokens on which mask and matcher did not agree.
    pub(crate) disagreements: u32,
    /// Indices of slow masks during which the core was taken away.
    pub(crate) disturbed: Vec<u32>,
    /// The message of the engine when it gave up.
    pub(crate) error: Option<String>,
}

impl Replay {
    /// Whether the engine let the whole instance pass.
    pub(crate) fn passed(&self) -> bool {
        self.error.is_none() && self.ended && self.accepted == self.tokens
    }
}

impl Record {
    /// The time to the first mask.
    pub(crate) fn first_mask_after(&self) -> Option<u64> {
        match self.compile {
            Compile::Done { compile, matcher, first_mask, .. } => Some(compile + matcher + first_mask),
            _ => None,
        }
    }
}
