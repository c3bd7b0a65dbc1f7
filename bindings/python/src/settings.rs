//! Options by their names: keyword arguments and dicts of them.
//!
//! Options are fields of structs in Rust, and there are too many of them to be parameters of every method. Each name is
//! taken out of what the caller gave when the field of that name is set; a name that is left over is a mistake.

use std::collections::BTreeMap;

use grammask::Limits;
use grammask::tuning::Toggle;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};

use crate::errors::raise;

/// Named values that the caller gave.
pub(crate) struct Settings<'py> {
    left: BTreeMap<String, Bound<'py, PyAny>>,
    /// The names that were asked for, for the message that refuses others.
    known: Vec<&'static str>,
}

impl<'py> Settings<'py> {
    pub(crate) fn of(given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let given = given.into_iter().flatten();
        let named = given.map(|(name, value)| Ok((name.extract::<String>()?, value)));
        Ok(Self { left: named.collect::<PyResult<_>>()?, known: Vec::new() })
    }

    /// The value of a name, if there is one.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Bound<'py, PyAny>> {
        self.known.push(name);
        if self.left.is_empty() { None } else { self.left.remove(name) }
    }

    /// The value of a name. `None` is as if there were none.
    pub(crate) fn get<T: Setting>(&mut self, name: &'static str) -> PyResult<Option<T>> {
        let value = self.take(name).filter(|value| !value.is_none());
        value.map(|value| T::read(name, &value)).transpose()
    }

    /// Sets what has the name, where a value was given.
    pub(crate) fn set<T: Setting>(&mut self, name: &'static str, target: &mut T) -> PyResult<()> {
        self.get(name).map(|value| value.into_iter().for_each(|value| *target = value))
    }

    /// One of several values by its name.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> PyResult<Option<T>> {
        let Some(given) = self.get::<String>(name)? else { return Ok(None) };
        let found = choices.iter().find(|(choice, _)| *choice == given).map(|(_, value)| *value);
        found.map(Some).ok_or_else(|| {
            let choices: Vec<String> = choices.iter().map(|(choice, _)| format!("{choice:?}")).collect();
            let given = grammask::ir::shorten(&given);
            wrong_value(format!("`{name}` is one of {}, not {given:?}", choices.join(", ")))
        })
    }

    /// Refuses keyword arguments that no option has.
    pub(crate) fn finish_arguments(self, function: &str) -> PyResult<()> {
        self.left.keys().next().map_or(Ok(()), |name| {
            Err(PyTypeError::new_err(format!("{function}() got an unexpected keyword argument '{name}'")))
        })
    }

    /// Refuses names of a dict that no option has.
    pub(crate) fn finish(self, what: &str) -> PyResult<()> {
        self.left.keys().next().map_or(Ok(()), |name| {
            let known = self.known.join("`, `");
            let name = grammask::ir::shorten(name);
            Err(wrong_value(format!("`{what}` has no `{name}`; its names are `{known}`")))
        })
    }
}

/// A type that a value can be read as.
pub(crate) trait Setting: Sized {
    fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self>;
}

/// A value of the right type that an argument cannot have.
pub(crate) fn wrong_value(message: impl AsRef<str>) -> PyErr {
    Python::attach(|py| raise(py, "InvalidOptionError", message))
}

fn wrong(name: &str, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let kind = value.get_type();
    let kind = kind.name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("`{name}` must be {wanted}, not {kind}"))
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Setting for $number {
            fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
                let is_whole = value.cast::<PyInt>().is_ok() || value.extract::<i128>().is_ok();
                if value.cast::<PyBool>().is_ok() || !is_whole {
                    return Err(wrong(name, "a whole number", value));
                }
                let message = || format!("`{name}` must be a number from 0 to {}", <$number>::MAX);
                value.extract().map_err(|_| wrong_value(message()))
            }
        }
    )*};
}

numbers!(u32, u64, usize);

impl Setting for i64 {
    fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if value.cast::<PyBool>().is_ok() {
            return Err(wrong(name, "a whole number", value));
        }
        value.extract().map_err(|_| match value.cast::<PyInt>() {
            Ok(_) => wrong_value(format!("`{name}` must be a number of 64 bits")),
            Err(_) => wrong(name, "a whole number", value),
        })
    }
}

impl Setting for bool {
    fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        value.extract().map_err(|_| wrong(name, "a bool", value))
    }
}

impl Setting for String {
    fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(text) = value.cast::<PyString>() else {
            return Err(wrong(name, "a str", value));
        };
        text.to_str().map(str::to_owned).map_err(|_| {
            wrong_value(format!("`{name}` holds half of a surrogate pair, which is no character"))
        })
    }
}

impl Setting for (String, String) {
    fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        value.extract().map_err(|_| wrong(name, "a pair of str", value))
    }
}

impl Setting for Toggle {
    fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(if bool::read(name, value)? { Toggle::On } else { Toggle::Off })
    }
}

/// Sets fields of a struct by their names, after a prefix.
macro_rules! set_fields {
    ($settings:expr, $prefix:literal, $target:expr, $($field:ident),* $(,)?) => {{
        $($settings.set(concat!($prefix, stringify!($field)), &mut $target.$field)?;)*
    }};
}

pub(crate) use set_fields;

/// Puts fields of a struct into a dict under their names.
macro_rules! get_fields {
    ($dict:expr, $source:expr, $($field:ident),* $(,)?) => {{
        $($dict.set_item(stringify!($field), $source.$field)?;)*
    }};
}

/// The limits of a compiled grammar as a dict. That of its compiler's cache is none of them.
pub(crate) fn limits_dict<'py>(py: Python<'py>, limits: &Limits) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    get_fields!(
        dict,
        limits,
        max_table_bytes,
        max_mask_bytes,
        max_pool_bytes,
        max_total_bytes,
        max_items_per_set,
        max_distinct_bytes,
        max_work_per_call
    );
    Ok(dict)
}

/// The limits of a grammar whose compiler is given none.
#[pyfunction]
pub(crate) fn default_limits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    limits_dict(py, &Limits::default())
}
