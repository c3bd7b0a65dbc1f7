//! JSON values, as Python's own.

use pyo3::prelude::*;

/// Dicts, lists, strings and numbers.
pub(crate) fn loads<'py>(py: Python<'py>, value: &grammask::JsonValue) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
