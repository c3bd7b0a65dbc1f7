//! Programs that are compiled when something of them is first read.
//!
//! Of the parts of a large structure few are ever read: of four hundred tools a model calls one or two. Naively each
//! part is compiled with the whole. A [`DeferredProgram`] keeps the grammar, and compiles it when an engine comes to it (the
//! second XGrammar paper, section 3.2, makes masks that way; here it is the automata). What others have to know of it
//! before, how its numbers are to be spaced and that it calls for no care of theirs, is [foreseen](crate::foresight)
//! from the grammar, in one pass that is a small part of what compiling takes. Where that pass cannot tell, the grammar
//! is compiled at once.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use grammask_grammar_ir::{Grammar, Interrupt, RuleId};

use crate::compile::compile;
use crate::error::Failure;
use crate::foresight::foresee;
use crate::pieces::{Progress, Source, Time, Work};
use crate::{BuildError, ByteClasses, CompileOptions, Program, SizeEstimate, Toggle, TokenLabel};

/// A program, or a grammar that becomes one when it is first asked for: once, however many threads ask and however many
/// other programs refer to it.
#[derive(Debug)]
pub struct DeferredProgram {
    /// What others have to know of it. A program that was not there from the beginning has to keep to it.
    room: Room,
    origin: Origin,
    left: Mutex<Left>,
    made: OnceLock<Result<Made, BuildError>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    AtOnce,
    Late,
}

#[derive(Debug)]
struct Made {
    program: Arc<Program>,
    /// Bytes that it holds.
    bytes: usize,
}

/// What is left to do.
#[derive(Debug)]
enum Left {
    Work(Box<Work>),
    /// It is done, and nobody has asked for it yet.
    Done(Result<Made, BuildError>),
    Nothing,
}

/// What became of a [piece of work](DeferredProgram::precompile_step).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ahead {
    /// It is done, and something may be left.
    Worked,
    /// The program is there to be taken.
    Ready,
    /// Somebody else is at it.
    Busy,
}

impl DeferredProgram {
    /// Takes a grammar to be [compiled](compile) when it is first read; later, the interrupt of the options has no say
    /// any more. Compiles it at once where [`CompileOptions::deferred_programs`] is off, and where a look at the grammar does
    /// not tell that its language is not empty and how large its automata may become.
    ///
    /// # Errors
    ///
    /// As for [`compile`], where it is compiled at once.
    pub fn new(grammar: Grammar, options: &CompileOptions) -> Result<Self, BuildError> {
        let is_lazy = options.deferred_programs == Toggle::On;
        let Some(room) = is_lazy.then(|| foresee(&grammar, options)).flatten() else {
            return Ok(Self::from(Arc::new(compile(&grammar, options)?)));
        };
        let source = Source::Whole(Box::new(grammar));
        Ok(Self::late(room, Work::Build { source, options: uninterrupted(options) }))
    }

    /// As [`new`](Self::new), for a grammar that is not even written: it is when it is first read. `write` must give the
    /// estimated grammar; everything that is read of another one, or of none, is an error then. `None` where
    /// [`CompileOptions::deferred_programs`] is off, and where the automata may become too large to wait.
    pub fn from_estimate(
        forecast: &SizeEstimate,
        write: impl FnOnce() -> Option<Grammar> + Send + 'static,
        options: &CompileOptions,
    ) -> Option<Self> {
        let room = (options.deferred_programs == Toggle::On).then(|| forecast.room(options)).flatten()?;
        Some(Self::late(room, Work::Write { write: Box::new(write), options: uninterrupted(options) }))
    }

    /// A rule of a grammar, of which the room that it needs is known.
    pub(crate) fn part_of(
        grammar: &Arc<Grammar>,
        (rule, has_common): (RuleId, bool),
        room: Room,
        options: &Arc<CompileOptions>,
    ) -> Self {
        let source = Source::Rule(Arc::clone(grammar), rule, has_common);
        Self::late(room, Work::Build { source, options: Arc::clone(options) })
    }

    fn late(room: Room, work: Work) -> Self {
        Self {
            room,
            origin: Origin::Late,
            left: Mutex::new(Left::Work(Box::new(work))),
            made: OnceLock::new(),
        }
    }

    /// The program, compiled now if it was not before.
    ///
    /// # Errors
    ///
    /// Where it is not what was foreseen. No grammar is known for which that is so.
    pub fn program(&self) -> Result<&Arc<Program>, &BuildError> {
        self.made.get_or_init(|| self.make()).as_ref().map(|made| &made.program)
    }

    /// Whether it was compiled.
    pub fn is_made(&self) -> bool {
        self.made.get().is_some()
    }

    /// Bytes of memory that it holds; before it was compiled, about what it will hold.
    pub fn memory_usage(&self) -> usize {
        match self.made.get() {
            Some(Ok(made)) => made.bytes,
            _ => self.room.bytes,
        }
    }

    fn make(&self) -> Result<Made, BuildError> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *left, Left::Nothing) {
            Left::Work(work) => {
                let (program, source) = work.all()?;
                self.made_of(*program, &source)
            }
            Left::Done(made) => made,
            // The program was there from the beginning.
            Left::Nothing => Err(Failure::NotForeseen.alone()),
        }
    }

    /// The program, if it is no larger than what there is room for.
    fn made_of(&self, program: Program, source: &Source) -> Result<Made, BuildError> {
        match self.room.holds_for(&program) {
            true => Ok(Made { bytes: program.memory_usage(), program: Arc::new(program) }),
            false => Err(Failure::NotForeseen.in_rule(source.rule_name())),
        }
    }

    /// Does a part of the work that [`program`](Self::program) would do at once. Waits for nobody.
    pub(crate) fn precompile_step(&self, time: Time) -> Ahead {
        if self.is_made() {
            return Ahead::Ready;
        }
        let Ok(mut left) = self.left.try_lock() else { return Ahead::Busy };
        match std::mem::replace(&mut *left, Left::Nothing) {
            Left::Work(work) => {
                *left = match work.pieces(time) {
                    Ok(Progress::Left(work)) => Left::Work(Box::new(work.tight())),
                    Ok(Progress::Done(program, source)) => Left::Done(self.made_of(*program, &source)),
                    Err(error) => Left::Done(Err(error)),
                };
                Ahead::Worked
            }
            Left::Done(made) => {
                *left = Left::Done(made);
                Ahead::Ready
            }
            Left::Nothing => Ahead::Busy,
        }
    }

    /// Whether others may refer to it: it reads something, does not begin with itself, and refers to nothing.
    pub(crate) fn can_be_referred_to(&self) -> bool {
        self.room.callable == Callable::Anywhere
    }

    /// How large it is, or at most may become.
    pub(crate) fn room(&self) -> &Room {
        &self.room
    }

    /// The tokens that it names. What is compiled late names none.
    pub(crate) fn labels(&self) -> &[TokenLabel] {
        match (self.origin, self.made.get()) {
            (Origin::AtOnce, Some(Ok(made))) if self.room.labels > 0 => made.program.labels(),
            _ => &[],
        }
    }
}

impl From<Arc<Program>> for DeferredProgram {
    fn from(program: Arc<Program>) -> Self {
        let room = Room::of(&program);
        let made = Made { bytes: room.bytes, program };
        Self { room, origin: Origin::AtOnce, left: Mutex::new(Left::Nothing), made: OnceLock::from(Ok(made)) }
    }
}

fn uninterrupted(options: &CompileOptions) -> Arc<CompileOptions> {
    Arc::new(CompileOptions { interrupt: Interrupt::never(), ..options.clone() })
}

/// What a program takes up in one that refers to it. Beside the program, since whoever puts many programs together looks
/// at none of them.
#[derive(Debug)]
pub(crate) struct Room {
    /// Numbers of states that are set aside.
    pub(crate) states: u32,
    /// Numbers of fragments that are set aside.
    pub(crate) fragments: u32,
    /// The number of its root.
    pub(crate) root: u32,
    /// How many labels of tokens it has.
    pub(crate) labels: u32,
    /// What counts against the limits; exact where it was compiled at once.
    pub(crate) likely_states: usize,
    pub(crate) likely_edges: usize,
    /// Bytes of memory; about as many where it was not.
    pub(crate) bytes: usize,
    pub(crate) callable: Callable,
    /// Whether its rules say something beside their texts.
    pub(crate) has_options: bool,
    /// Classes that tell apart whatever it tells apart.
    pub(crate) classes: ByteClasses,
}

/// The numbers of [`Room`] that putting a program behind others asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    pub(crate) states: u32,
    pub(crate) fragments: u32,
    pub(crate) root: u32,
    pub(crate) likely_states: usize,
    pub(crate) likely_edges: usize,
    pub(crate) has_options: bool,
}

/// Where a program may stand in another one by reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callable {
    Anywhere,
    /// It may read nothing, begins with itself, or refers to others.
    Nowhere,
}

impl Room {
    pub(crate) fn space(&self) -> Space {
        let &Self { states, fragments, root, likely_states, likely_edges, has_options, .. } = self;
        Space { states, fragments, root, likely_states, likely_edges, has_options }
    }

    fn of(program: &Program) -> Self {
        let is_empty = program.fragment(program.root()).call_is_nullable();
        let is_plain = !is_empty && program.units.is_empty() && !program.left_corners().has_cycles();
        Self {
            states: program.own_state_count() as u32,
            fragments: program.fragments.len() as u32,
            root: program.root.raw(),
            labels: program.labels.len() as u32,
            likely_states: program.own_state_count() + program.fragments.len(),
            likely_edges: program.edge_count(),
            bytes: program.memory_usage(),
            callable: if is_plain { Callable::Anywhere } else { Callable::Nowhere },
            has_options: program.own_options(),
            classes: program.byte_classes.clone(),
        }
    }
}
