//! Ctrl-C while the interpreter's lock is given up.
//!
//! The interpreter runs handlers of signals between two instructions of Python, and there are none while a structure
//! compiles. So the compiler asks, by way of its interrupt; most compilations are over before the first question.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use grammask::Interrupt;
use pyo3::prelude::*;

/// Time between two looks: each takes the interpreter's lock.
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);

/// The signals that come during one piece of work.
pub(crate) struct Signals {
    looked: Arc<Mutex<Looked>>,
}

struct Looked {
    last: Instant,
    /// The exception that a signal handler has raised.
    raised: Option<PyErr>,
}

impl Signals {
    pub(crate) fn new() -> Self {
        Self { looked: Arc::new(Mutex::new(Looked { last: Instant::now(), raised: None })) }
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
        if self.raised.is_none() && self.last.elapsed() >= BETWEEN_LOOKS {
            self.raised = Python::try_attach(|py| py.check_signals().err()).flatten();
            self.last = Instant::now();
        }
        self.raised.is_some()
    }
}
