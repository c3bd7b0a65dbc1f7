//! The interface of an engine, and the sources that it compiles.

use std::fmt;

use grammask::{TokenMask, json_schema};
use serde::{Deserialize, Serialize};

/// An engine that can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
pub(crate) enum EngineId {
    /// This project.
    Grammask,
    /// This project with its pushdown backend.
    GrammaskPda,
    /// The llguidance crate.
    Llguidance,
}

impl EngineId {
    /// Name and version, as printed in tables.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Grammask => "grammask 0.1.0",
            Self::GrammaskPda => "grammask 0.1.0 (pda)",
            Self::Llguidance => "llguidance 1.9.1",
        }
    }
}

/// The parser backend of our own engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Backend {
    /// Earley's algorithm.
    Earley,
    /// Parallel stacks.
    Pda,
}

impl EngineId {
    /// Our own engine over a backend; other engines as they are.
    pub(crate) fn with(self, backend: Backend) -> Self {
        match (self, backend) {
            (Self::Grammask, Backend::Pda) => Self::GrammaskPda,
            (id, _) => id,
        }
    }
}

impl fmt::Display for EngineId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Grammask => "grammask",
            Self::GrammaskPda => "grammask-pda",
            Self::Llguidance => "llguidance",
        })
    }
}

/// In a refusal, between the reason and the place to which it applies.
pub(crate) const PLACE: &str = " | at ";

/// A source to compile.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "llguidance"), allow(dead_code, reason = "only llguidance reads its dialect"))]
pub(crate) enum Source<'t> {
    /// A JSON Schema as text.
    JsonSchema(&'t str),
    /// The same language in the dialects of the engines.
    Grammar {
        /// For grammask.
        ebnf: &'t str,
        /// For llguidance.
        lark: &'t str,
    },
    /// Free text with tool calls in it.
    Structure {
        /// For grammask, a structural tag.
        tag: &'t str,
        /// For llguidance.
        lark: &'t str,
    },
}

/// An engine with the grammar and the matcher that it is working on.
///
/// Refusals are texts: they are grouped and printed, never acted upon.
pub(crate) trait Engine {
    /// The engine's name.
    fn id(&self) -> EngineId;

    /// Number of ids that a mask has a bit for.
    fn mask_len(&self) -> usize;

    /// Forgets everything but the vocabulary.
    fn drop_caches(&mut self);

    /// Compiles a grammar, which takes the place of the last one.
    fn compile(&mut self, source: Source<'_>) -> Result<(), String>;

    /// Puts aside, off the clock, what later calls of [`start`](Self::start) need.
    fn keep_copy(&mut self) {}

    /// A fresh matcher of the last compiled grammar, which takes the place of the last one.
    fn start(&mut self) -> Result<(), String>;

    /// Writes the mask of the matcher's state into the caller's mask.
    fn mask(&mut self, mask: &mut TokenMask) -> Result<(), String>;

    /// Commits a token.
    fn commit(&mut self, token: u32) -> Result<(), String>;

    /// Uses the time in which nobody waits, as while a model computes logits, for at most this many masks
    /// that may be needed next. Engines that know no such thing do nothing.
    fn idle(&mut self, masks: usize) -> Result<(), String> {
        let _ = masks;
        Ok(())
    }

    /// Copies the matcher. The copy is dropped.
    fn fork(&mut self) -> Result<(), String>;

    /// Takes back the last tokens that were committed.
    fn rollback(&mut self, tokens: usize) -> Result<(), String>;

    /// Bytes that the last compiled grammar holds, where the engine counts them.
    fn memory_usage(&self) -> Option<usize> {
        None
    }

    /// Whether the matcher would take a token. The matcher may be of no use afterwards.
    fn would_accept(&mut self, token: u32) -> bool;
}

/// In which order our engine takes an object's members. The other engine has one order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum KeyOrder {
    Declared,
    Any,
}

impl From<KeyOrder> for json_schema::KeyOrder {
    fn from(order: KeyOrder) -> Self {
        match order {
            KeyOrder::Declared => Self::Declared,
            KeyOrder::Any => Self::Any,
        }
    }
}

impl fmt::Display for KeyOrder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            KeyOrder::Declared => "declared",
            KeyOrder::Any => "any",
        })
    }
}
