//! Programs that are compiled when something of them is first read.
//!
//! A text reads few of the parts of a large structure: of four hundred tools a model calls one or two.
//! Naively each part is compiled with the whole. A [`DeferredProgram`] keeps a job instead, and runs it when
//! an engine reaches the part. Section 3.2 of the second XGrammar paper makes masks in this way; here it is
//! the automata. A program that refers to it must know before that no fact about the whole depends on it, and
//! which bytes it tells apart. This is its [`Footprint`], which an
//! [estimate](crate::deferred::size_estimate) gives in a small part of the time of compiling.
//!
//! This file does not know how a program is compiled: the work is a [`DeferredJob`]. It is done at once. Spread over
//! the masks before the part, the same work delays more masks, each by less; `docs/benchmarks.md` has the figures.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use grammask_grammar_ir::PerProcess;

use crate::error::{AutomataError, Failure};
use crate::options::PartSize;
use crate::program::byte_classes::ByteClasses;
use crate::program::tables::{BuildCost, Program, TokenLabel};

/// Work that ends in a program. The facts of the footprint must be those of the program; it is an error if they are not.
/// The size may be another one.
type DeferredJob = Box<dyn FnOnce(&Footprint) -> Result<Program, AutomataError> + Send>;

/// A program, or a grammar that becomes one when it is first asked for: once, however many threads ask and however many
/// other programs refer to it.
pub struct DeferredProgram {
    /// The facts that programs which refer to this one rely on.
    footprint: Footprint,
    origin: Origin,
    /// `None` if it was done, or if a thread is at it: after a fork one that this process does not have.
    job: PerProcess<Mutex<Option<DeferredJob>>>,
    compiled: OnceLock<Result<Compiled, AutomataError>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Eager,
    Deferred,
}

#[derive(Debug)]
struct Compiled {
    program: Arc<Program>,
    /// Bytes that it holds.
    bytes: usize,
}

impl DeferredProgram {
    /// A program that `job` makes when it is first read.
    pub(crate) fn deferred(
        footprint: Footprint,
        job: impl FnOnce(&Footprint) -> Result<Program, AutomataError> + Send + 'static,
    ) -> Self {
        Self {
            footprint,
            origin: Origin::Deferred,
            job: PerProcess::new(Mutex::new(Some(Box::new(job)))),
            compiled: OnceLock::new(),
        }
    }

    /// The program, compiled now if it was not before.
    ///
    /// # Errors
    ///
    /// Fails if the estimate is not true of the program (no such grammar is known), or if it was being compiled
    /// when this process was forked.
    pub fn program(&self) -> Result<&Arc<Program>, &AutomataError> {
        if !self.is_compiled() {
            // Readers of a compiled program never take this lock. Those that come while it is compiled wait
            // here, and then find the result.
            let mut job = self.job.lock();
            if !self.is_compiled() {
                let program = job.take().map(|job| job(&self.footprint).map(Compiled::new));
                let _ = self.compiled.set(program.unwrap_or_else(|| Err(Failure::LeftBehind.alone())));
            }
        }
        // Empty only if the lock was that of a forked process, whose thread will never finish here.
        let compiled = self.compiled.get_or_init(|| Err(Failure::LeftBehind.alone()));
        compiled.as_ref().map(|compiled| &compiled.program)
    }

    /// Whether it is compiled.
    pub fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }

    /// Bytes of memory that it holds; before it is compiled, an estimate.
    pub fn memory_usage(&self) -> usize {
        match self.compiled.get() {
            Some(Ok(compiled)) => compiled.bytes,
            _ => self.footprint.bytes,
        }
    }

    /// The work of compiling it; none while it waits.
    pub fn cost(&self) -> BuildCost {
        let compiled = self.compiled.get().and_then(|compiled| compiled.as_ref().ok());
        compiled.map_or(BuildCost::default(), |compiled| compiled.program.cost)
    }

    /// Its size, which counts against the [limits](crate::CompileOptions::max_states) of each program that refers to
    /// it; exact where it was compiled at once.
    pub fn size(&self) -> PartSize {
        self.footprint.size
    }

    /// Whether others may refer to it: it reads something, does not begin with itself, and refers to nothing.
    pub(crate) fn can_be_referred_to(&self) -> bool {
        self.footprint.callable == Callable::Anywhere
    }

    /// The facts that are known of it, compiled or not.
    pub(crate) fn footprint(&self) -> &Footprint {
        &self.footprint
    }

    /// The tokens that it names. A deferred program names none.
    pub(crate) fn labels(&self) -> &[TokenLabel] {
        match (self.origin, self.compiled.get()) {
            (Origin::Eager, Some(Ok(compiled))) if self.footprint.has_labels => compiled.program.labels(),
            _ => &[],
        }
    }
}

impl fmt::Debug for DeferredProgram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("DeferredProgram");
        fields.field("footprint", &self.footprint).field("compiled", &self.compiled).finish_non_exhaustive()
    }
}

impl Compiled {
    fn new(program: Program) -> Self {
        Self { bytes: program.memory_usage(), program: Arc::new(program) }
    }
}

impl From<Arc<Program>> for DeferredProgram {
    fn from(program: Arc<Program>) -> Self {
        let footprint = Footprint::of(&program);
        let compiled = Compiled { bytes: footprint.bytes, program };
        Self {
            footprint,
            origin: Origin::Eager,
            job: PerProcess::default(),
            compiled: OnceLock::from(Ok(compiled)),
        }
    }
}

/// The facts about a program on which one that refers to it relies. They are kept beside the program, because linking
/// many programs looks at none of them.
#[derive(Debug)]
pub(crate) struct Footprint {
    pub(crate) size: PartSize,
    /// Bytes of memory; about as many where it was not compiled at once.
    pub(crate) bytes: usize,
    pub(crate) callable: Callable,
    /// Whether its rules have options.
    pub(crate) has_options: bool,
    /// Whether it names tokens.
    pub(crate) has_labels: bool,
    /// Classes that tell apart whatever it tells apart.
    pub(crate) classes: ByteClasses,
}

/// The places in which a program may be referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callable {
    Anywhere,
    /// It may read nothing, begins with itself, or refers to others.
    Nowhere,
}

impl PartSize {
    pub(crate) fn of(program: &Program) -> Self {
        let states = program.own_state_count() + program.fragments.len();
        Self { states, edges: program.edge_count() }
    }
}

impl Footprint {
    fn of(program: &Program) -> Self {
        let is_empty = program.fragment(program.root()).call_is_nullable();
        let is_plain = !is_empty && program.sub_programs.is_empty() && !program.left_corners().has_cycles();
        Self {
            size: PartSize::of(program),
            bytes: program.memory_usage(),
            callable: if is_plain { Callable::Anywhere } else { Callable::Nowhere },
            has_options: program.own_options(),
            has_labels: !program.labels.is_empty(),
            classes: program.byte_classes.clone(),
        }
    }
}
