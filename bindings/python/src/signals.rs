//! Ctrl-C while the interpreter's lock is given up.
//!
//! The interpreter runs handlers of signals between two instructions of Python, and there are none while a structure
//! is read and compiled. So the reader and the compiler ask, by way of their interrupt; most work is over before the
//! first question.

use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use grammask::{CompileError, Interrupt};
use pyo3::prelude::*;

use crate::errors::{Syntax, interrupted, refused};

/// Time between two looks: each takes the interpreter's lock.
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);

/// Does work on a source without the interpreter's lock. Signals stop it, and so does the interrupt of the caller.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    (syntax, callers): (Syntax, &Interrupt),
    work: impl FnOnce(&Interrupt) -> Result<T, CompileError> + Send,
) -> PyResult<T> {
    let signals = Signals::new();
    let interrupt = signals.interrupt(callers);
    let made = py.detach(|| work(&interrupt));
    signals.raised()?;
    made.map_err(|error| match (error.interrupted(), callers.check()) {
        // Of the two interrupts the caller's tells why.
        (Some(_), Err(reason)) => interrupted(py, reason),
        _ => refused(py, &error, syntax),
    })
}

/// The signals that come during one piece of work.
pub(crate) struct Signals {
    looked: Arc<Mutex<Looked>>,
}

struct Looked {
    /// The thread that the work was asked for on. Handlers run on the main one alone, so that others need not look.
    thread: ThreadId,
    last: Instant,
    /// The exception that a signal handler has raised.
    raised: Option<PyErr>,
}

impl Signals {
    pub(crate) fn new() -> Self {
        let (thread, last) = (std::thread::current().id(), Instant::now());
        Self { looked: Arc::new(Mutex::new(Looked { thread, last, raised: None })) }
    }

    /// An interrupt that stops the work after a signal handler has raised an exception, and when that of the caller comes.
    pub(crate) fn interrupt(&self, callers: &Interrupt) -> Interrupt {
        let (looked, callers) = (Arc::clone(&self.looked), callers.clone());
        Interrupt::when(move || {
            callers.check().is_err()
                || match looked.try_lock() {
                    Ok(mut looked) => looked.has_raised(),
                    // Another thread of the work is looking.
                    Err(_) => false,
                }
        })
    }

    /// Fails with the exception that a signal handler has raised. The call raises it instead of its own result.
    pub(crate) fn raised(&self) -> PyResult<()> {
        let raised = self.looked.lock().ok().and_then(|mut looked| looked.raised.take());
        raised.map_or(Ok(()), Err)
    }
}

impl Looked {
    fn has_raised(&mut self) -> bool {
        let may_look = self.raised.is_none() && std::thread::current().id() == self.thread;
        if may_look && self.last.elapsed() >= BETWEEN_LOOKS {
            self.raised = Python::try_attach(|py| py.check_signals().err()).flatten();
            self.last = Instant::now();
        }
        self.raised.is_some()
    }
}
