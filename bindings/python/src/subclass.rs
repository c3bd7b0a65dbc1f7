//! Subclasses that have an `__init__` of their own.
//!
//! `__new__` makes the objects of this package, and it gets the arguments of the class that is called. A subclass that only
//! has its own `__init__` may take others, and says by `super().__init__(...)` what the base class is to get. So `__new__`
//! leaves an object of such a class empty, and the base class's `__init__` fills it.

use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::types::{PyDict, PyEllipsis, PyTuple, PyType};
use pyo3::{PyClass, PyTypeInfo};

/// Called for each new subclass.
pub(crate) fn announce<T: PyTypeInfo>(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    let support = py.import("grammask._support")?;
    support.call_method1("fill_by_init", (class, py.get_type::<T>())).map(drop)
}

/// Whether `__new__` is to leave an object empty: in place of its arguments it got an ellipsis.
pub(crate) fn is_to_be_empty<T: PyTypeInfo>(class: &Bound<'_, PyType>, first: &Bound<'_, PyAny>) -> bool {
    first.is_exact_instance_of::<PyEllipsis>() && !class.is(class.py().get_type::<T>())
}

/// An object of the base class with these arguments, with whose content `__init__` fills an empty one. A single argument
/// that is such an object is taken as it is; both then share what never changes.
pub(crate) fn filling<'py, T: PyClass<Frozen = True>>(
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, T>> {
    if keywords.is_none()
        && let Ok((made,)) = arguments.extract::<(Bound<'py, PyAny>,)>()
        && made.is_exact_instance_of::<T>()
    {
        return Ok(made.cast_into()?);
    }
    Ok(arguments.py().get_type::<T>().call(arguments, keywords)?.cast_into()?)
}
