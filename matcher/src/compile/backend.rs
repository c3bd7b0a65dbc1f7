//! How a compiler makes its parser backend.

use std::sync::Arc;

use grammask_fsm::Program;
use grammask_parser_backend::{Backend, BuildError};

/// A backend that a [`Compiler`](crate::Compiler) can make: its engine for a compiled program.
///
/// Implement it for an engine of your own, and `Compiler::builder(vocabulary).backend::<YourEngine>()` compiles all
/// syntaxes for it. An engine that is not made of a [`Program`] goes in by
/// [`CompiledGrammar::from_backend`](crate::CompiledGrammar::from_backend).
pub trait BuildBackend: Backend + Sized {
    /// The engine for a program.
    ///
    /// # Errors
    ///
    /// Fails if the backend does not serve the program; the message names the rules and says what to change.
    fn build(program: Arc<Program>, settings: &BackendSettings) -> Result<Self, BuildError>;
}

/// The settings that a compiler passes to the engine that it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendSettings {
    /// Bytes of the longest token: states with equal mask keys must allow the same texts up to this length.
    pub longest_token: u32,
    /// Bytes that the engine's tables may hold; past them it answers with
    /// [`StepError::OutOfMemory`](grammask_parser_backend::StepError::OutOfMemory), and is replaced by a fresh one.
    pub max_table_bytes: usize,
    /// Parses that may be alive at once.
    pub max_items_per_set: usize,
}

impl BuildBackend for grammask_earley::Engine {
    fn build(program: Arc<Program>, settings: &BackendSettings) -> Result<Self, BuildError> {
        let config = grammask_earley::Config {
            longest_token: settings.longest_token,
            max_bytes: settings.max_table_bytes,
            max_items_per_set: settings.max_items_per_set,
        };
        Self::new(program, config)
    }
}

#[cfg(feature = "pda")]
impl BuildBackend for grammask_pda::Engine {
    fn build(program: Arc<Program>, settings: &BackendSettings) -> Result<Self, BuildError> {
        let config = grammask_pda::Config {
            longest_token: settings.longest_token,
            max_bytes: settings.max_table_bytes,
            max_stacks: settings.max_items_per_set,
        };
        Self::new(program, config)
    }
}
