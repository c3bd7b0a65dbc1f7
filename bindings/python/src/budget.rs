//! `Budget`: memory that the grammars of several compilers share.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::settings::Setting;

/// Bytes that the tables and masks of many grammars may hold together. Give all compilers of a process the same one.
///
/// Where they hold more, what was not used for longest goes; texts in progress keep what they stand on.
///
/// Parameters
/// ----------
/// max_bytes : int
#[pyclass(frozen, module = "grammask", weakref)]
pub(crate) struct Budget {
    pub(crate) inner: Arc<grammask::Budget>,
}

#[pymethods]
impl Budget {
    #[new]
    fn new(max_bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { inner: Arc::new(grammask::Budget::new(usize::read("max_bytes", max_bytes)?)) })
    }

    /// The most bytes.
    #[getter]
    fn max_bytes(&self) -> usize {
        self.inner.max_bytes()
    }

    /// Bytes that are held now.
    #[getter]
    fn used_bytes(&self) -> usize {
        self.inner.memory_usage()
    }

    /// How often a grammar or its tables were dropped to keep the bound.
    #[getter]
    fn evicted(&self) -> u64 {
        self.inner.evicted()
    }

    fn __repr__(&self) -> String {
        format!("<Budget of {} bytes, {} used>", self.inner.max_bytes(), self.inner.memory_usage())
    }
}
