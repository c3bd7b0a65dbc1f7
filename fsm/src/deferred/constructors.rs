//! The constructors of deferred programs.

use std::sync::Arc;

use grammask_grammar_ir::{Grammar, Interrupt, RuleId, Toggle};

use crate::build::shared_rules::SharedMatch;
use crate::compile::pipeline::{compile, compile_rule};
use crate::deferred::size_estimate::{SizeEstimate, estimate};
use crate::error::{AutomataError, Failure};
use crate::options::CompileOptions;
use crate::program::deferred::{DeferredProgram, Footprint};
use crate::program::tables::Program;

impl DeferredProgram {
    /// Takes a grammar to be [compiled](compile) when it is first read; from then on the interrupt of the
    /// options is ignored. Compiles it at once if [`CompileOptions::deferred_programs`] is off, or if one
    /// pass over the grammar cannot tell that its language is not empty and how large its automata may
    /// become.
    ///
    /// # Errors
    ///
    /// As for [`compile`], where it is compiled at once.
    pub fn new(grammar: Grammar, options: &CompileOptions) -> Result<Self, AutomataError> {
        let may_wait = options.deferred_programs == Toggle::On;
        let Some(footprint) = may_wait.then(|| estimate(&grammar, options)).flatten() else {
            return Ok(Self::from(Arc::new(compile(&grammar, options)?)));
        };
        let options = uninterrupted(options);
        Ok(Self::deferred(footprint, move |footprint| as_estimated(compile(&grammar, &options)?, footprint)))
    }

    /// As [`new`](Self::new), for a grammar that is not even written: it is when it is first read. `write` must give the
    /// estimated grammar; everything that is read of another one, or of none, is an error then. `None` where
    /// [`CompileOptions::deferred_programs`] is off, and where the automata may become too large to wait.
    pub fn from_estimate(
        size: &SizeEstimate,
        write: impl FnOnce() -> Option<Grammar> + Send + 'static,
        options: &CompileOptions,
    ) -> Option<Self> {
        let may_wait = options.deferred_programs == Toggle::On;
        let footprint = may_wait.then(|| size.footprint(options)).flatten()?;
        let options = uninterrupted(options);
        Some(Self::deferred(footprint, move |footprint| {
            let grammar = write().ok_or_else(|| Failure::EstimateWrong.alone())?;
            as_estimated(compile(&grammar, &options)?, footprint)
        }))
    }

    /// A rule of a shared grammar, whose footprint is known, with the automata of its common rules.
    pub(crate) fn of_rule(
        grammar: &Arc<Grammar>,
        rule: RuleId,
        footprint: Footprint,
        options: &Arc<CompileOptions>,
        found: &Arc<[SharedMatch]>,
    ) -> Self {
        let (grammar, options, found) = (Arc::clone(grammar), Arc::clone(options), Arc::clone(found));
        Self::deferred(footprint, move |footprint| {
            as_estimated(compile_rule(&grammar, rule, &options, &found)?, footprint)
        })
    }
}

/// The options without their interrupt: a deferred job may run long after the call that the interrupt belongs to.
pub(crate) fn uninterrupted(options: &CompileOptions) -> Arc<CompileOptions> {
    Arc::new(options.clone().interrupt(Interrupt::never()))
}

/// A program, if its footprint is what was estimated.
fn as_estimated(program: Program, footprint: &Footprint) -> Result<Program, AutomataError> {
    match footprint.is_true_of(&program) {
        true => Ok(program),
        false => Err(Failure::EstimateWrong.in_rule(&program.fragment(program.root()).name)),
    }
}
