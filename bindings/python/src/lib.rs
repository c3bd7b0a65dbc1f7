//! The native half of the Python package `grammask`: the classes that its users see, over the crate of the same
//! name. The other half, in `python/grammask`, holds what needs no speed: bitmask helpers, loaders of
//! tokenizers, exceptions, integrations.
//!
//! Nothing here decides what a grammar allows; each method converts its arguments, calls the facade, and
//! converts the answer. Warm calls (a mask that is known, a token that is accepted) keep the interpreter's
//! lock, since giving it up would cost more than they take. Compiling, cold masks and batches give it up.
#![deny(missing_docs)]

mod apply;
mod arguments;
mod background;
mod batch;
mod beginnings;
mod budget;
mod choose;
mod compiled;
mod compiler;
mod drafts;
mod engines;
mod errors;
mod forks;
mod grammar;
mod interrupt;
mod json;
mod kept;
mod matcher;
mod metrics;
mod rows;
mod settings;
mod signals;
mod source;
mod stops;
mod subclass;
mod tokenizer;
mod turns;

use pyo3::pymodule;

/// The module that Python imports as `grammask._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::apply::{apply_bitmask, apply_bitmask_array, apply_bitmask_cuda};
    #[pymodule_export]
    use crate::background::{PendingCompile, finish_background, forget_deliveries};
    #[pymodule_export]
    use crate::batch::BatchGrammarMatcher;
    #[pymodule_export]
    use crate::budget::Budget;
    #[pymodule_export]
    use crate::choose::choose_tokens;
    #[pymodule_export]
    use crate::compiled::CompiledGrammar;
    #[pymodule_export]
    use crate::compiler::GrammarCompiler;
    #[pymodule_export]
    use crate::errors::set_compat;
    #[pymodule_export]
    use crate::forks::{after_fork, before_fork};
    #[pymodule_export]
    use crate::grammar::Grammar;
    #[pymodule_export]
    use crate::grammar::{model_structural_tag, schema_report};
    #[pymodule_export]
    use crate::interrupt::Interrupt;
    #[pymodule_export]
    use crate::matcher::GrammarMatcher;
    #[pymodule_export]
    use crate::metrics::{process_metrics, set_listener};
    #[pymodule_export]
    use crate::settings::default_limits;
    #[pymodule_export]
    use crate::tokenizer::TokenizerInfo;
}
