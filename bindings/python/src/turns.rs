//! Whose turn it is to use a matcher.
//!
//! A matcher is one thread's at a time. A call that computes gives up the interpreter's lock, so that another thread may come
//! with the same matcher. PyO3 would tell that one `Already borrowed`.

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::False;

use crate::errors::raise;

/// The matcher for a call that may change it.
pub(crate) fn turn<'py, M>(matcher: &Bound<'py, M>) -> PyResult<PyRefMut<'py, M>>
where
    M: PyClass<Frozen = False>,
{
    matcher.try_borrow_mut().map_err(|_| in_use(matcher.py()))
}

/// The matcher for a call that looks at it.
pub(crate) fn turn_to_read<'py, M>(matcher: &Bound<'py, M>) -> PyResult<PyRef<'py, M>>
where
    M: PyClass<Frozen = False>,
{
    matcher.try_borrow().map_err(|_| in_use(matcher.py()))
}

fn in_use(py: Python<'_>) -> PyErr {
    let message = "another call is using this matcher: in another thread, or around the function that it calls; \
                   give each thread its own (`matcher.fork()`), or wait for the other call with a lock";
    raise(py, "MatcherError", message)
}
