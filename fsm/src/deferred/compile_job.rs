//! The compiler as a job in steps, and the constructors of deferred programs.
//!
//! Compiling a sub-program on demand delays the mask that needs it by the whole compilation. When a text is
//! certain to reach the sub-program a few tokens later, we spread the work over the masks before it. So the
//! rest of the work is a value, and each step turns it into the next one. The grammar is written, then its
//! automata are built, then the passes run over them.

use std::fmt;
use std::sync::Arc;

use grammask_grammar_ir::{Grammar, Interrupt, RuleId, Toggle};

use crate::compile::pipeline::{Built, compile};
use crate::deferred::size_estimate::{SizeEstimate, estimate};
use crate::error::{AutomataError, Failure};
use crate::options::CompileOptions;
use crate::program::deferred::{DeferredJob, DeferredProgram, Footprint, Progress, Urgency};
use crate::program::tables::Program;

/// The work that is left until there is a program.
enum CompileJob {
    Write { write: WriteGrammar, options: Arc<CompileOptions> },
    Build { source: Source, options: Arc<CompileOptions> },
    Finish { built: Box<Built>, source: Source, options: Arc<CompileOptions> },
}

/// Writes a grammar.
type WriteGrammar = Box<dyn FnOnce() -> Option<Grammar> + Send>;

/// The grammar that is compiled.
enum Source {
    Whole(Box<Grammar>),
    /// A rule of a shared grammar.
    Rule(Arc<Grammar>, RuleId),
}

/// The result of one step.
enum Step {
    Left(CompileJob),
    /// The program, and its source.
    Done(Box<Program>, Source),
}

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
        let source = Source::Whole(Box::new(grammar));
        let job = CompileJob::Build { source, options: uninterrupted(options) };
        Ok(Self::deferred(footprint, Box::new(job)))
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
        let job = CompileJob::Write { write: Box::new(write), options: uninterrupted(options) };
        Some(Self::deferred(footprint, Box::new(job)))
    }

    /// A rule of a shared grammar, whose footprint is known.
    pub(crate) fn of_rule(
        grammar: &Arc<Grammar>,
        rule: RuleId,
        footprint: Footprint,
        options: &Arc<CompileOptions>,
    ) -> Self {
        let source = Source::Rule(Arc::clone(grammar), rule);
        let job = CompileJob::Build { source, options: Arc::clone(options) };
        Self::deferred(footprint, Box::new(job))
    }
}

/// The options without their interrupt: a deferred job may run long after the call that the interrupt belongs to.
pub(crate) fn uninterrupted(options: &CompileOptions) -> Arc<CompileOptions> {
    Arc::new(options.clone().interrupt(Interrupt::never()))
}

impl DeferredJob for CompileJob {
    fn advance(self: Box<Self>, footprint: &Footprint, urgency: Urgency) -> Result<Progress, AutomataError> {
        let mut step = self.step()?;
        loop {
            let left = match step {
                Step::Left(left) => left,
                Step::Done(program, _) if footprint.is_true_of(&program) => {
                    return Ok(Progress::Done(program));
                }
                Step::Done(_, source) => return Err(Failure::EstimateWrong.in_rule(source.rule_name())),
            };
            // Writing the grammar is a small part of the work; building and finishing are about a half each.
            let goes_on = match urgency {
                Urgency::Later => false,
                Urgency::Soon => matches!(left, Self::Build { .. }),
                Urgency::Now => true,
            };
            if !goes_on {
                return Ok(Progress::Left(Box::new(left.shrink_to_fit())));
            }
            step = left.step()?;
        }
    }
}

impl CompileJob {
    fn step(self) -> Result<Step, AutomataError> {
        match self {
            Self::Write { write, options } => {
                let grammar = write().ok_or_else(|| Failure::EstimateWrong.alone())?;
                Ok(Step::Left(Self::Build { source: Source::Whole(Box::new(grammar)), options }))
            }
            Self::Build { source, options } => {
                let (grammar, rule) = source.parts();
                let built = Box::new(Built::of_rule(grammar, rule, &options)?);
                Ok(Step::Left(Self::Finish { built, source, options }))
            }
            Self::Finish { built, source, options } => {
                let (grammar, rule) = source.parts();
                let program = built.program(grammar, rule, &options)?;
                Ok(Step::Done(Box::new(program), source))
            }
        }
    }

    /// The same job in as little memory as it takes, because it may wait for long.
    fn shrink_to_fit(self) -> Self {
        match self {
            Self::Finish { built, source, options } => {
                Self::Finish { built: Box::new(built.shrink_to_fit()), source, options }
            }
            other => other,
        }
    }

    fn options(&self) -> &CompileOptions {
        let (Self::Write { options, .. } | Self::Build { options, .. } | Self::Finish { options, .. }) = self;
        options
    }
}

impl Source {
    fn rule_name(&self) -> &str {
        let (grammar, rule) = self.parts();
        grammar.rule(rule).name()
    }

    fn parts(&self) -> (&Grammar, RuleId) {
        match self {
            // No rule of a whole grammar is compiled separately.
            Self::Whole(grammar) => (grammar, grammar.root()),
            &Self::Rule(ref grammar, rule) => (grammar, rule),
        }
    }
}

impl fmt::Debug for CompileJob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CompileJob").field("options", self.options()).finish_non_exhaustive()
    }
}
