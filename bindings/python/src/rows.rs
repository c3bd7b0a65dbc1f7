//! Bitmasks that Python owns: numpy arrays, torch tensors, and whatever else has their shape.
//!
//! Such memory may be freed, moved or given another shape whenever Python code runs, on this thread or on another. So
//! masks are computed first, with or without the interpreter's lock. Then the object is asked for its shape and its
//! address, and the rows are written under the lock, with no call of Python's in between.
#![expect(unsafe_code, reason = "the memory of arrays and tensors is reached through their addresses")]

use numpy::npyffi::{NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE};
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::raise;

/// Rows of 32-bit words in memory that a Python object owns.
///
/// Valid until Python code runs again; it cannot be sent to another thread, nor used without the lock.
pub(crate) struct MaskRows<'py> {
    /// The object that keeps the memory alive: the array itself, or its buffer. `None` if the caller gave a bare address
    /// and keeps the memory alive.
    _owner: Option<Bound<'py, PyAny>>,
    address: *mut u32,
    rows: usize,
    words: usize,
}

/// The type of tensors' elements that was seen to be right: to read its name takes longer than all else.
#[derive(Default)]
pub(crate) struct KnownType {
    seen: Option<Py<PyAny>>,
}

/// An object as an array, if it is one. The first question imports numpy, and our way to it panics where that fails, as at
/// the end of the process. Nothing is an array there.
pub(crate) fn as_array<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyUntypedArray>> {
    static IS_THERE: PyOnceLock<()> = PyOnceLock::new();
    let py = object.py();
    IS_THERE.get_or_try_init(py, || py.import("numpy").map(drop)).ok()?;
    object.cast().ok()
}

impl<'py> MaskRows<'py> {
    /// The rows of a bitmask: a C-contiguous, aligned, writable array or CPU tensor of `int32`, of one or two dimensions.
    pub(crate) fn of(mask: &Bound<'py, PyAny>, known: &mut KnownType) -> PyResult<Self> {
        let py = mask.py();
        if let Some(array) = as_array(mask) {
            return Self::of_array(array);
        }
        match mask.getattr(intern!(py, "data_ptr")) {
            Ok(address) => Self::of_tensor(mask, &address, known),
            Err(error) if error.is_instance_of::<PyAttributeError>(py) => {
                let array = py.import("grammask._support")?.call_method1("as_bitmask_array", (mask,))?;
                let array =
                    as_array(&array).ok_or_else(|| raise(py, "BitmaskError", "the bitmask is no array"))?;
                Self::of_array(array)
            }
            Err(error) => Err(error),
        }
    }

    /// Rows at an address that the caller vouches for, up to the one that is asked for.
    pub(crate) fn at(py: Python<'py>, address: usize, index: usize, words: usize) -> PyResult<Self> {
        if address == 0 {
            return Err(raise(py, "BitmaskError", "the address is null"));
        }
        // No memory is larger than half of all addresses, nor wraps around their end.
        let rows = index.checked_add(1);
        let bytes = rows.and_then(|rows| rows.checked_mul(words)?.checked_mul(size_of::<u32>()));
        let end = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
        let (Some(rows), Some(_)) = (rows, end.and_then(|bytes| address.checked_add(bytes))) else {
            let message = format!("no memory has a row {index} of {words} words");
            return Err(raise(py, "BitmaskError", message));
        };
        Ok(Self { _owner: None, address: pointer(py, address)?, rows, words })
    }

    fn of_array(array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        let py = array.py();
        let address = match (array.cast::<PyArrayDyn<i32>>(), array.cast::<PyArrayDyn<u32>>()) {
            (Ok(words), _) => words.data().cast(),
            (_, Ok(words)) => words.data(),
            _ => return Err(raise(py, "BitmaskError", "the bitmask must be of dtype int32")),
        };
        if !array.is_c_contiguous() {
            return Err(raise(py, "BitmaskError", "the bitmask must be C-contiguous"));
        }
        // SAFETY: the object is an array, and the lock is held while its flags are read.
        let flags = unsafe { (*array.as_array_ptr()).fields.flags };
        if flags & NPY_ARRAY_WRITEABLE == 0 {
            return Err(raise(py, "BitmaskError", "the bitmask must be writable"));
        }
        if flags & NPY_ARRAY_ALIGNED == 0 {
            return Err(raise(py, "BitmaskError", "the bitmask must be aligned to four bytes"));
        }
        let (rows, words) = shape(py, array.shape())?;
        Ok(Self { address, rows, words, _owner: Some(array.as_any().clone()) })
    }

    /// A tensor is asked for everything each time, since all of it may change in place. Its address comes last, when no
    /// further question gives others the time to change it.
    fn of_tensor(
        tensor: &Bound<'py, PyAny>,
        data_ptr: &Bound<'py, PyAny>,
        known: &mut KnownType,
    ) -> PyResult<Self> {
        let py = tensor.py();
        let dtype = tensor.getattr(intern!(py, "dtype"))?;
        if !known.seen.as_ref().is_some_and(|seen| seen.is(&dtype)) {
            let name = dtype.str()?;
            if !name.to_str()?.ends_with("int32") {
                let message = format!("the bitmask must be of dtype int32, not {name}");
                return Err(raise(py, "BitmaskError", message));
            }
            known.seen = Some(dtype.unbind());
        }
        let is_cpu = tensor.getattr(intern!(py, "is_cpu")).is_ok_and(|cpu| cpu.is_truthy().unwrap_or(false));
        if !is_cpu
            && let Ok(device) = tensor.getattr(intern!(py, "device"))
            && device.getattr(intern!(py, "type")).is_ok_and(|kind| kind.eq("cpu").is_ok_and(|cpu| !cpu))
        {
            let message = format!("the bitmask must be on the CPU, not on {device}");
            return Err(raise(py, "BitmaskError", message));
        }
        if !tensor.call_method0(intern!(py, "is_contiguous"))?.is_truthy()? {
            return Err(raise(py, "BitmaskError", "the bitmask must be contiguous"));
        }
        let dimensions: Vec<usize> = tensor.getattr(intern!(py, "shape"))?.extract()?;
        let (rows, words) = shape(py, &dimensions)?;
        let address = pointer(py, data_ptr.call0()?.extract()?)?;
        if address.is_null() && rows > 0 && words > 0 {
            return Err(raise(
                py,
                "BitmaskError",
                "the bitmask has no memory; give a plain tensor that owns its own",
            ));
        }
        Ok(Self { _owner: Some(tensor.clone()), address, rows, words })
    }

    /// Number of rows, each of exactly so many words.
    pub(crate) fn count_of(&self, py: Python<'_>, words: usize) -> PyResult<usize> {
        if self.words == words {
            return Ok(self.rows);
        }
        let message =
            format!("a row of the bitmask must have {words} words for this vocabulary, not {}", self.words);
        Err(raise(py, "BitmaskError", message))
    }

    /// The place of a row of exactly so many words.
    pub(crate) fn check(&self, py: Python<'_>, index: i64, words: usize) -> PyResult<usize> {
        let count = self.count_of(py, words)?;
        usize::try_from(index).ok().filter(|&place| place < count).ok_or_else(|| {
            let message = format!("row {index} is not one of the {count} rows of the bitmask");
            raise(py, "BitmaskError", message)
        })
    }

    /// A row that was [checked](Self::check).
    ///
    /// # Panics
    ///
    /// Where it was not.
    ///
    /// # Safety
    ///
    /// No Python code ran since the rows were made, and none runs as long as the row is used.
    pub(crate) unsafe fn row(&mut self, place: usize) -> &mut [u32] {
        assert!(place < self.rows, "the row was checked");
        if self.words == 0 {
            return &mut [];
        }
        // SAFETY: `rows * words` elements of four bytes begin at the address, which is aligned (the object is
        // C-contiguous, of this shape, and alive), and the row is one of them. The lock is held, so nobody frees it.
        unsafe { std::slice::from_raw_parts_mut(self.address.add(place * self.words), self.words) }
    }
}

fn pointer(py: Python<'_>, address: usize) -> PyResult<*mut u32> {
    if address.is_multiple_of(align_of::<u32>()) {
        return Ok(address as *mut u32);
    }
    Err(raise(py, "BitmaskError", "the bitmask must be aligned to four bytes"))
}

fn shape(py: Python<'_>, shape: &[usize]) -> PyResult<(usize, usize)> {
    match *shape {
        [words] => Ok((1, words)),
        [rows, words] => Ok((rows, words)),
        _ => Err(raise(py, "BitmaskError", "the bitmask must have one dimension or two")),
    }
}
