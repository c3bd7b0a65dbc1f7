//! Compiling while the prompt is read.
//!
//! A model reads the prompt for tens of milliseconds before it writes the first token; a structure that is
//! compiled meanwhile costs nothing. The naive way, a thread for each request, lets a burst of requests start
//! hundreds. Here the work goes to the [`Threads`](crate::Threads) of the compiler. If it has not begun when
//! its result is needed, the waiting caller does it. So no caller waits behind other people's work, and a
//! pool of any size (even none) gets everything done. A thread of the pool may itself wait for another
//! compilation without blocking anything for good.
//!
//! Whatever the size of the pool, an outcome is set once: by the thread that did the work, or by [`cancel`]
//! and the deadline if they come first. All waiting callers are then released at once; the work itself ends a
//! little later, where it next looks at its interrupt.
//!
//! [`cancel`]: BackgroundCompile::cancel

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use grammask_earley::Engine;
use grammask_grammar_ir::{Interrupt, Interrupted};
use grammask_parser_backend::Backend;

use crate::base::error::CompileError;
use crate::compile::backend::BuildBackend;
use crate::compile::compiler::Compiler;
use crate::grammar::compiled::CompiledGrammar;
use crate::matcher::matcher::Matcher;
use crate::matcher::stop_tokens::StopTokens;

/// A structure that is being compiled. Clones are handles to the same work. Dropping all of them does not end
/// it, because it may be meant for a cache; [`cancel`](Self::cancel) does.
pub struct BackgroundCompile<B: Backend = Engine> {
    shared: Arc<CompileTask<B>>,
}

impl<B: Backend> Clone for BackgroundCompile<B> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

type CompileOutcome<B> = Result<CompiledGrammar<B>, CompileError>;

struct CompileTask<B: Backend> {
    state: Mutex<TaskState<B>>,
    done: Condvar,
    interrupt: Interrupt,
}

enum TaskState<B: Backend> {
    /// Nobody has begun.
    Waiting(Box<dyn FnOnce() -> CompileOutcome<B> + Send>),
    /// A thread of this process is at it.
    Running(u32),
    Done(CompileOutcome<B>),
}

impl<B: BuildBackend> Compiler<B> {
    /// Begins to compile on the compiler's threads and returns at once. `compile` gets a compiler like this one
    /// whose work the handle can end:
    ///
    /// ```
    /// use grammask_grammar_frontends::regex::RegexOptions;
    /// # use grammask_mask_cache::{Vocabulary, VocabularyOptions};
    /// # use grammask_matcher::Compiler;
    /// # let vocabulary = Vocabulary::from_tokens(["a", "b"].map(Some), &VocabularyOptions::default().stop_ids([]))?;
    /// # let compiler = Compiler::new(vocabulary);
    /// let pending = compiler.compile_in_background(|compiler| compiler.regex("ab*", &RegexOptions::default()));
    /// let mut matcher = pending.matcher();
    /// // The prompt is read; then the first mask is needed:
    /// matcher.get()?.accept_bytes(b"a")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A deadline is an interrupt of the compiler's: `compiler.with_interrupt(Interrupt::after(..))`. To compile
    /// equal structures once, go through a [`CompileCache`](crate::CompileCache) in `compile`.
    pub fn compile_in_background(
        &self,
        compile: impl FnOnce(&Compiler<B>) -> Result<CompiledGrammar<B>, CompileError> + Send + 'static,
    ) -> BackgroundCompile<B> {
        let interrupt = self.interrupt().child();
        let compiler = self.with_interrupt(interrupt.clone());
        let job = Box::new(move || {
            compiler.interrupt().check()?;
            compile(&compiler)
        });
        let shared = Arc::new(CompileTask {
            state: Mutex::new(TaskState::Waiting(job)),
            done: Condvar::new(),
            interrupt,
        });
        // The thread may come late, or never: then the caller that waits does the work.
        let work = Arc::clone(&shared);
        self.threads().spawn(move || work.work());
        BackgroundCompile { shared }
    }
}

impl<B: Backend> BackgroundCompile<B> {
    /// Whether there is an outcome.
    pub fn is_ready(&self) -> bool {
        matches!(*self.shared.settled(), TaskState::Done(_))
    }

    /// The outcome, if there is one. Never waits and never compiles; without threads there is none before a
    /// caller [waits](Self::wait).
    ///
    /// # Errors
    ///
    /// Those of the compilation; or that it was cancelled, or its deadline passed.
    pub fn try_get(&self) -> Option<Result<CompiledGrammar<B>, CompileError>> {
        match &*self.shared.settled() {
            TaskState::Done(outcome) => Some(outcome.clone()),
            _ => None,
        }
    }

    /// Waits for the outcome; compiles on this thread if no other has begun.
    ///
    /// # Errors
    ///
    /// As for [`try_get`](Self::try_get); and where this process was forked while a thread of the other one was
    /// compiling.
    pub fn wait(&self) -> Result<CompiledGrammar<B>, CompileError> {
        // Does nothing if a thread has begun.
        self.shared.work();
        let mut state = self.shared.lock();
        loop {
            if let TaskState::Done(outcome) = &*state {
                return outcome.clone();
            }
            // The thread that was working belongs to the parent process, and will never answer here.
            if matches!(*state, TaskState::Running(process) if process != std::process::id()) {
                return Err(CompileError::left_behind());
            }
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the work, if it is not done. Waiting callers are released at once, with an error that says so.
    pub fn cancel(&self) {
        // The interrupt first: work that ends in between then ends with an error, and the outcome below is
        // set at most once.
        self.shared.interrupt.cancel();
        self.shared.finish(Err(Interrupted::Cancelled.into()));
    }

    /// A matcher for the grammar that is being compiled, without waiting for it.
    pub fn matcher(&self) -> BackgroundMatcher<B> {
        BackgroundMatcher { compile: self.clone(), stop: StopTokens::default(), matcher: None }
    }
}

impl<B: Backend> fmt::Debug for BackgroundCompile<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &*self.shared.settled() {
            TaskState::Waiting(_) => "waiting",
            TaskState::Running(_) => "running",
            TaskState::Done(Ok(_)) => "compiled",
            TaskState::Done(Err(_)) => "failed",
        };
        formatter.debug_tuple("BackgroundCompile").field(&state).finish()
    }
}

impl<B: Backend> CompileTask<B> {
    fn lock(&self) -> MutexGuard<'_, TaskState<B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, after work that has not begun was given up if it is too late for it.
    fn settled(&self) -> MutexGuard<'_, TaskState<B>> {
        let state = self.lock();
        if let (TaskState::Waiting(_), Err(reason)) = (&*state, self.interrupt.check()) {
            drop(state);
            self.finish(Err(reason.into()));
            return self.lock();
        }
        state
    }

    /// Does the work, unless another has begun.
    fn work(&self) {
        let mut state = self.lock();
        // The state changes under the lock, so exactly one thread gets the job. It runs without the lock.
        match std::mem::replace(&mut *state, TaskState::Running(std::process::id())) {
            TaskState::Waiting(job) => {
                drop(state);
                // Waiting callers must be told even if the work panics.
                let mut end = FinishOnDrop { shared: self, outcome: None };
                end.outcome = Some(job());
            }
            other => *state = other,
        }
    }

    /// Sets the outcome, unless there is one.
    fn finish(&self, outcome: CompileOutcome<B>) {
        let mut state = self.lock();
        if matches!(*state, TaskState::Done(_)) {
            return;
        }
        let before = std::mem::replace(&mut *state, TaskState::Done(outcome));
        drop(state);
        self.done.notify_all();
        // The contents of a job are not ours; they are dropped when the lock is free.
        drop(before);
    }
}

struct FinishOnDrop<'s, B: Backend> {
    shared: &'s CompileTask<B>,
    outcome: Option<CompileOutcome<B>>,
}

impl<B: Backend> Drop for FinishOnDrop<'_, B> {
    fn drop(&mut self) {
        let outcome = self.outcome.take();
        self.shared.finish(outcome.unwrap_or_else(|| Err(CompileError::no_outcome())));
    }
}

/// A matcher whose grammar may still be in compilation: it waits when the grammar is first needed.
pub struct BackgroundMatcher<B: Backend = Engine> {
    compile: BackgroundCompile<B>,
    stop: StopTokens,
    matcher: Option<Matcher<B>>,
}

impl<B: Backend> fmt::Debug for BackgroundMatcher<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compile, stop, matcher } = self;
        let mut fields = formatter.debug_struct("BackgroundMatcher");
        fields.field("compile", compile).field("stop", stop).field("matcher", matcher).finish()
    }
}

impl<B: Backend> Clone for BackgroundMatcher<B> {
    fn clone(&self) -> Self {
        let Self { compile, stop, matcher } = self;
        Self { compile: compile.clone(), stop: stop.clone(), matcher: matcher.clone() }
    }
}

impl<B: Backend> BackgroundMatcher<B> {
    /// As [`Matcher::with_stop_tokens`], without waiting.
    #[must_use]
    pub fn with_stop_tokens(mut self, stop: StopTokens) -> Self {
        self.matcher = self.matcher.map(|matcher| matcher.with_stop_tokens(stop.clone()));
        self.stop = stop;
        self
    }

    /// The compilation that is waited for.
    pub fn compile(&self) -> &BackgroundCompile<B> {
        &self.compile
    }

    /// The matcher; waits for the grammar.
    ///
    /// # Errors
    ///
    /// Those of the compilation, as for [`BackgroundCompile::wait`].
    pub fn get(&mut self) -> Result<&mut Matcher<B>, CompileError> {
        if self.matcher.is_none() {
            let grammar = self.compile.wait()?;
            self.matcher = Some(grammar.matcher().with_stop_tokens(self.stop.clone()));
        }
        self.matcher.as_mut().ok_or_else(CompileError::no_outcome)
    }

    /// The matcher, if the grammar is there. Never waits.
    ///
    /// # Errors
    ///
    /// Those of the compilation, as for [`BackgroundCompile::try_get`].
    pub fn try_get(&mut self) -> Option<Result<&mut Matcher<B>, CompileError>> {
        if self.matcher.is_none() && !self.compile.is_ready() {
            return None;
        }
        Some(self.get())
    }
}
