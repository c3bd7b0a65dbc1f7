//! Compiling on the compiler's own threads, with a `concurrent.futures.Future` for who waits.
//!
//! A thread of Rust's must not touch an interpreter that is being torn down. At the end of the program
//! `atexit` calls `finish_background`, while the interpreter is whole. It waits for answers that are being
//! delivered, and no answer is delivered after it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use grammask::{CompileError, Compiler, Interrupt};
use pyo3::prelude::*;

use crate::compiled::CompiledGrammar;
use crate::engines::Engine;
use crate::errors::{Syntax, interrupted, raise, refused, warn};
use crate::forks::attach_apart_from_forks;
use crate::kept::{Kept, Shelf};
use crate::metrics::COMPILE;
use crate::source::Source;
use crate::tokenizer::TokenizerInfo;

/// Answers that are being delivered.
static DELIVERIES: AtomicUsize = AtomicUsize::new(0);

/// Whether the program is at its end.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// How often the end of deliveries is looked for, at the end of the program.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Waits for what is being delivered, and ends deliveries.
#[pyfunction]
pub(crate) fn finish_background(py: Python<'_>) {
    IS_OVER.store(true, Ordering::SeqCst);
    // Those who deliver want the interpreter's lock.
    py.detach(|| {
        while DELIVERIES.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(POLL_INTERVAL);
        }
    });
}

/// In a forked process no thread delivers what its parent's threads were delivering.
#[pyfunction]
pub(crate) fn forget_deliveries() {
    DELIVERIES.store(0, Ordering::SeqCst);
}

/// A delivery that may begin.
struct Delivery;

impl Delivery {
    /// A delivery, unless the program is at its end. It is counted before it is asked for, so that of this and
    /// [`finish_background`] one sees the other.
    fn begin() -> Option<Self> {
        DELIVERIES.fetch_add(1, Ordering::SeqCst);
        let begun = Self;
        (!IS_OVER.load(Ordering::SeqCst)).then_some(begun)
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        DELIVERIES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Work that a future stands for.
#[pyclass(frozen, module = "grammask")]
pub(crate) struct PendingCompile {
    cancel: Box<dyn Fn() + Send + Sync>,
}

#[pymethods]
impl PendingCompile {
    /// Ends the work, if it is not done.
    fn cancel(&self, py: Python<'_>) {
        py.detach(|| (self.cancel)());
    }
}

/// Begins to compile, and returns a `CompileFuture`.
pub(crate) fn begin<'py, B: Engine>(
    py: Python<'py>,
    (compiler, shelf): (&Compiler<B>, &Arc<Shelf<B>>),
    tokenizer: &Py<TokenizerInfo>,
    (source, interrupt): (Source, Interrupt),
) -> PyResult<Bound<'py, PyAny>> {
    let future = py.import("grammask._support")?.getattr("CompileFuture")?.call0()?;
    let answer = Answer {
        future: Some(future.clone().unbind()),
        tokenizer: tokenizer.clone_ref(py),
        interrupt: interrupt.clone(),
    };
    let shelf = Arc::clone(shelf);
    let work = compiler.with_interrupt(interrupt).compile_in_background(move |compiler| {
        let syntax = source.syntax();
        let start = Instant::now();
        let outcome = shelf.get(compiler, source);
        COMPILE.observe_apart(start.elapsed());
        let compiled = outcome.as_ref().map(|kept| kept.compiled.clone()).map_err(CompileError::clone);
        answer.give(outcome, syntax);
        compiled
    });
    if !compiler.threads().is_started() {
        // The system has no thread for us.
        let _told = py.detach(|| work.wait());
    }
    let pending = PendingCompile { cancel: Box::new(move || work.cancel()) };
    future.setattr("_pending", Bound::new(py, pending)?)?;
    Ok(future)
}

/// The result that the caller of `compile_*` gets.
pub(crate) fn finish<B: Engine>(
    py: Python<'_>,
    kept: Kept<B>,
    tokenizer: &Py<TokenizerInfo>,
) -> PyResult<CompiledGrammar> {
    kept.compiled.warnings().iter().try_for_each(|message| warn(py, message))?;
    let compiled = B::wrap(kept.compiled);
    Ok(CompiledGrammar { compiled, grammar: kept.grammar, tokenizer: tokenizer.clone_ref(py) })
}

/// Whom to tell. If the work goes without an answer, it tells that.
struct Answer {
    future: Option<Py<PyAny>>,
    tokenizer: Py<TokenizerInfo>,
    interrupt: Interrupt,
}

impl Answer {
    fn give<B: Engine>(mut self, outcome: Result<Kept<B>, CompileError>, syntax: Syntax) {
        self.deliver(|py, tokenizer| {
            let kept = outcome.map_err(|error| refused(py, &error, syntax))?;
            finish(py, kept, tokenizer)
        });
    }

    fn deliver(&mut self, outcome: impl FnOnce(Python<'_>, &Py<TokenizerInfo>) -> PyResult<CompiledGrammar>) {
        let Some(future) = self.future.take() else { return };
        let Some(_delivery) = Delivery::begin() else { return };
        attach_apart_from_forks(|py| {
            let told = match outcome(py, &self.tokenizer).and_then(|compiled| Bound::new(py, compiled)) {
                Ok(compiled) => future.call_method1(py, "deliver", (compiled, py.None())),
                Err(error) => future.call_method1(py, "deliver", (py.None(), error)),
            };
            // There is nobody else to tell.
            if let Err(error) = told {
                error.write_unraisable(py, None);
            }
        });
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let interrupt = self.interrupt.clone();
        self.deliver(|py, _| {
            // Work that is stopped before a thread has begun it is not begun.
            Err(match interrupt.check() {
                Err(reason) => interrupted(py, reason),
                Ok(()) => raise(py, "GrammaskError", "the compilation ended without an answer"),
            })
        });
    }
}
