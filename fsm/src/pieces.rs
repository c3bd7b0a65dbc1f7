//! Compiling in pieces.
//!
//! What is compiled when a text comes to it makes one mask wait for all of it. A text that is sure to come there some
//! tokens later can have a piece done with each of them. So what is left to do is a value, which each piece makes into
//! that of the next one: the grammar is written, its automata are built, the passes run over them.

use std::fmt;
use std::sync::Arc;

use grammask_grammar_ir::{Grammar, RuleId};

use crate::compile::Built;
use crate::error::Failure;
use crate::{BuildError, CompileOptions, Program};

/// What is left to do until there is a program.
pub(crate) enum Work {
    Write { write: Write, options: Arc<CompileOptions> },
    Build { source: Source, options: Arc<CompileOptions> },
    Finish { built: Box<Built>, source: Source, options: Arc<CompileOptions> },
}

/// Writes a grammar.
pub(crate) type Write = Box<dyn FnOnce() -> Option<Grammar> + Send>;

/// What is compiled.
pub(crate) enum Source {
    Whole(Box<Grammar>),
    /// A rule of a grammar that others have too, and whether it reaches the common part.
    Rule(Arc<Grammar>, RuleId, bool),
}

/// How soon a text comes to what is worked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Time {
    /// Some tokens are likely to come before.
    Some,
    /// The next token may be the last one before.
    Little,
}

/// What a piece of work led to.
pub(crate) enum Progress {
    Left(Work),
    /// The program, and what it is of.
    Done(Box<Program>, Source),
}

impl Source {
    pub(crate) fn rule_name(&self) -> &str {
        let (grammar, (rule, _)) = self.parts();
        grammar.rule(rule).name()
    }

    fn parts(&self) -> (&Grammar, (RuleId, bool)) {
        match self {
            // Nothing is hidden in a grammar by itself.
            Self::Whole(grammar) => (grammar, (grammar.root(), true)),
            &Self::Rule(ref grammar, rule, has_common) => (grammar, (rule, has_common)),
        }
    }
}

impl Work {
    /// Does the next piece.
    pub(crate) fn piece(self) -> Result<Progress, BuildError> {
        match self {
            Self::Write { write, options } => {
                let grammar = write().ok_or_else(|| Failure::NotForeseen.alone())?;
                Ok(Progress::Left(Self::Build { source: Source::Whole(Box::new(grammar)), options }))
            }
            Self::Build { source, options } => {
                let (grammar, rule) = source.parts();
                let built = Box::new(Built::of_rule(grammar, rule, &options)?);
                Ok(Progress::Left(Self::Finish { built, source, options }))
            }
            Self::Finish { built, source, options } => {
                let (grammar, rule) = source.parts();
                let program = built.program(grammar, rule, &options)?;
                Ok(Progress::Done(Box::new(program), source))
            }
        }
    }

    /// Does the next piece, or where there is little time left half of what is left.
    pub(crate) fn pieces(self, time: Time) -> Result<Progress, BuildError> {
        match (self.piece()?, time) {
            (Progress::Left(left @ Self::Build { .. }), Time::Little) => left.piece(),
            (progress, _) => Ok(progress),
        }
    }

    /// Does all of it.
    pub(crate) fn all(self) -> Result<(Box<Program>, Source), BuildError> {
        let mut work = self;
        loop {
            match work.piece()? {
                Progress::Left(left) => work = left,
                Progress::Done(program, source) => return Ok((program, source)),
            }
        }
    }

    /// The same, in as little memory as it takes: it may wait for long.
    pub(crate) fn tight(self) -> Self {
        match self {
            Self::Finish { built, source, options } => {
                Self::Finish { built: Box::new(built.tight()), source, options }
            }
            other => other,
        }
    }

    fn options(&self) -> &CompileOptions {
        let (Self::Write { options, .. } | Self::Build { options, .. } | Self::Finish { options, .. }) = self;
        options
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Work").field("options", self.options()).finish_non_exhaustive()
    }
}
