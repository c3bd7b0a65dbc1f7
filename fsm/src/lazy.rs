//! Programs that are compiled when something of them is first read.
//!
//! Of the parts of a large structure few are ever read: of four hundred tools a model calls one or two. Naively each
//! part is compiled with the whole. A [`LazyProgram`] keeps the grammar, and compiles it when an engine comes to it (the
//! second XGrammar paper, section 3.2, makes masks that way; here it is the automata). What others have to know of it
//! before, how its numbers are to be spaced and that it calls for no care of theirs, is [foreseen](crate::foresight)
//! from the grammar, in one pass that is a small part of what compiling takes. Where that pass cannot tell, the grammar
//! is compiled at once.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use grammask_grammar_ir::{Grammar, Interrupt};

use crate::compile::compile;
use crate::error::Failure;
use crate::foresight::{Foreseen, foresee};
use crate::{BuildError, ByteClasses, CompileOptions, Pass, Program};

/// A program, or a grammar that becomes one when it is first asked for: once, however many threads ask and however many
/// other programs refer to it.
#[derive(Debug)]
pub struct LazyProgram {
    /// What a program that was not there from the beginning has to keep to.
    foreseen: Option<Box<Foreseen>>,
    /// Gone once it was compiled.
    source: Mutex<Option<Box<Source>>>,
    made: OnceLock<Result<Arc<Program>, BuildError>>,
}

#[derive(Debug)]
struct Source {
    grammar: Grammar,
    options: CompileOptions,
}

impl LazyProgram {
    /// Takes a grammar to be [compiled](compile) when it is first read; later, the interrupt of the options has no say
    /// any more. Compiles it at once where [`CompileOptions::lazy_units`] is off, and where a look at the grammar does
    /// not tell that its language is not empty and how large its automata may become.
    ///
    /// # Errors
    ///
    /// As for [`compile`], where it is compiled at once.
    pub fn new(grammar: Grammar, options: &CompileOptions) -> Result<Self, BuildError> {
        let is_lazy = options.lazy_units == Pass::On;
        let Some(foreseen) = is_lazy.then(|| foresee(&grammar, options)).flatten() else {
            return Ok(Self::from(Arc::new(compile(&grammar, options)?)));
        };
        let options = CompileOptions { interrupt: Interrupt::never(), ..options.clone() };
        Ok(Self {
            foreseen: Some(Box::new(foreseen)),
            source: Mutex::new(Some(Box::new(Source { grammar, options }))),
            made: OnceLock::new(),
        })
    }

    /// The program, compiled now if it was not before.
    ///
    /// # Errors
    ///
    /// Where it is not what was foreseen. No grammar is known for which that is so.
    pub fn program(&self) -> Result<&Arc<Program>, &BuildError> {
        self.made.get_or_init(|| self.make()).as_ref()
    }

    /// Whether it was compiled.
    pub fn is_made(&self) -> bool {
        self.made.get().is_some()
    }

    /// Bytes of memory that it holds; before it was compiled, about what it will hold.
    pub fn memory_usage(&self) -> usize {
        match (self.made.get(), &self.foreseen) {
            (Some(Ok(program)), _) => program.memory_usage(),
            (_, Some(foreseen)) => foreseen.bytes(),
            (_, None) => 0,
        }
    }

    fn make(&self) -> Result<Arc<Program>, BuildError> {
        let source = self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Without a source the program was there from the beginning.
        let (Some(source), Some(foreseen)) = (source, &self.foreseen) else {
            return Err(Failure::NotForeseen.alone());
        };
        let program = compile(&source.grammar, &source.options)?;
        match foreseen.holds_for(&program) {
            true => Ok(Arc::new(program)),
            false => Err(Failure::NotForeseen.in_rule(source.grammar.rule(source.grammar.root()).name())),
        }
    }

    /// Whether others may refer to it: it reads something, does not begin with itself, and refers to nothing.
    pub(crate) fn can_be_referred_to(&self) -> bool {
        match (&self.foreseen, self.made.get()) {
            (Some(_), _) => true,
            (None, Some(Ok(program))) => {
                let is_empty = program.fragment(program.root()).call_is_nullable();
                !is_empty && program.units.is_empty() && !program.left_corners().has_cycles()
            }
            (None, _) => false,
        }
    }

    /// How large it is, or at most may become.
    pub(crate) fn room(&self) -> Room<'_> {
        match (&self.foreseen, self.made.get()) {
            (None, Some(Ok(program))) => Room {
                states: program.own_state_count() as u32,
                fragments: program.fragments.len() as u32,
                likely_states: program.own_state_count() + program.fragments.len(),
                likely_edges: program.edge_count(),
                classes: &program.byte_classes,
            },
            (Some(foreseen), _) => foreseen.room(),
            (None, _) => Room {
                states: 0,
                fragments: 0,
                likely_states: 0,
                likely_edges: 0,
                classes: ByteClasses::one(),
            },
        }
    }

    /// The program that it is from the beginning.
    pub(crate) fn at_once(&self) -> Option<&Arc<Program>> {
        match self.foreseen {
            None => self.made.get()?.as_ref().ok(),
            Some(_) => None,
        }
    }
}

impl From<Arc<Program>> for LazyProgram {
    fn from(program: Arc<Program>) -> Self {
        Self { foreseen: None, source: Mutex::new(None), made: OnceLock::from(Ok(program)) }
    }
}

/// What a program takes up in one that refers to it.
pub(crate) struct Room<'r> {
    /// Numbers of states that are set aside.
    pub(crate) states: u32,
    /// Numbers of fragments that are set aside.
    pub(crate) fragments: u32,
    /// What counts against the limits; exact where it was compiled at once.
    pub(crate) likely_states: usize,
    pub(crate) likely_edges: usize,
    /// Classes that tell apart whatever it tells apart.
    pub(crate) classes: &'r ByteClasses,
}
