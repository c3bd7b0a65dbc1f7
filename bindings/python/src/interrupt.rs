//! `Interrupt`: stopping work from outside, at a deadline or by a call.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Stops work from outside: at a deadline, or when another thread calls `cancel`.
///
/// Given to a call that compiles, or to a matcher. Work that is stopped raises `IndeterminateError`; nothing was decided
/// then, and a matcher is as it was. One interrupt may be given to many calls, and once it has come it stays.
///
/// Parameters
/// ----------
/// timeout : float, optional
///     Seconds from now until it comes by itself. Default: it comes when `cancel` is called.
#[pyclass(frozen, module = "grammask", weakref)]
pub(crate) struct Interrupt {
    pub(crate) inner: grammask::Interrupt,
}

#[pymethods]
impl Interrupt {
    #[new]
    #[pyo3(signature = (timeout=None))]
    fn new(timeout: Option<f64>) -> PyResult<Self> {
        let inner = match timeout {
            None => grammask::Interrupt::new(),
            Some(seconds) => deadline(seconds).ok_or_else(|| {
                PyValueError::new_err("`timeout` must be a number of seconds, not negative")
            })?,
        };
        Ok(Self { inner })
    }

    /// Stops the work that it was given to, and all that it will be given to.
    fn cancel(&self) {
        self.inner.cancel();
    }

    /// Whether it has come.
    #[getter]
    fn has_come(&self) -> bool {
        self.inner.check().is_err()
    }

    fn __repr__(&self) -> String {
        let state = if self.has_come() { "has come" } else { "waits" };
        format!("<Interrupt that {state}>")
    }
}

/// An interrupt after so many seconds; `None` for a negative number or one that is none. A time that no clock counts never comes.
pub(crate) fn deadline(seconds: f64) -> Option<grammask::Interrupt> {
    if seconds.is_nan() || seconds < 0.0 {
        return None;
    }
    let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let start = Instant::now();
    Some(grammask::Interrupt::after(limit, move || start.elapsed()))
}

/// The interrupt that a call was given, or one that never comes.
pub(crate) fn given(interrupt: Option<&Bound<'_, Interrupt>>) -> grammask::Interrupt {
    interrupt.map_or_else(grammask::Interrupt::never, |interrupt| interrupt.get().inner.clone())
}
