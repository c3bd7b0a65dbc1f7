//! Bitmasks that Python owns: numpy arrays, torch tensors, and whatever else has their shape.
#![expect(unsafe_code, reason = "the memory of arrays and tensors is reached through their addresses")]

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;

use crate::errors::raise;

/// Rows of 32-bit words in memory that a Python object owns.
///
/// Valid as long as the object is neither dropped nor resized; callers hold a reference to it and the
/// interpreter's lock, or (batches) have the caller's word.
#[derive(Clone, Copy)]
pub(crate) struct MaskRows {
    address: *mut u32,
    rows: usize,
    words: usize,
}

/// The tensor that was seen last: asking a tensor for its type and shape takes three times as long as asking it
/// for its address.
#[derive(Default)]
pub(crate) struct LastTensor {
    seen: Option<(Py<PyAny>, MaskRows)>,
}

// SAFETY: the address is only followed while the object that owns the memory is referenced by the same call.
unsafe impl Send for MaskRows {}
// SAFETY: as above; writing goes through `row`, whose callers see to it that rows are not shared.
unsafe impl Sync for MaskRows {}

impl MaskRows {
    /// The rows of a bitmask: a C-contiguous, writable array or CPU tensor of `int32`, of one or two dimensions.
    pub(crate) fn of(mask: &Bound<'_, PyAny>, last: &mut LastTensor) -> PyResult<Self> {
        let py = mask.py();
        if let Ok(array) = mask.cast::<PyArrayDyn<i32>>() {
            return Self::of_array(array.as_untyped(), array.data().cast());
        }
        if let Ok(array) = mask.cast::<PyArrayDyn<u32>>() {
            return Self::of_array(array.as_untyped(), array.data());
        }
        if mask.cast::<PyUntypedArray>().is_ok() {
            return Err(raise(py, "BitmaskError", "the bitmask must be of dtype int32"));
        }
        match mask.call_method0(intern!(py, "data_ptr")) {
            Ok(address) => Self::of_tensor(mask, address.extract()?, last),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyAttributeError>(py) => {
                let array = py.import("grammask._support")?.call_method1("as_bitmask_array", (mask,))?;
                let array = array.cast::<PyArrayDyn<i32>>()?;
                Self::of_array(array.as_untyped(), array.data().cast())
            }
            Err(error) => Err(error),
        }
    }

    /// Rows at an address that the caller vouches for, up to the one that is asked for.
    pub(crate) fn at(py: Python<'_>, address: usize, index: usize, words: usize) -> PyResult<Self> {
        if address == 0 || !address.is_multiple_of(align_of::<u32>()) {
            return Err(raise(py, "BitmaskError", "the address is null, or not aligned to four bytes"));
        }
        Ok(Self { address: address as *mut u32, rows: index.saturating_add(1), words })
    }

    fn of_array(array: &Bound<'_, PyUntypedArray>, address: *mut u32) -> PyResult<Self> {
        let py = array.py();
        if !array.is_c_contiguous() {
            return Err(raise(py, "BitmaskError", "the bitmask must be C-contiguous"));
        }
        // SAFETY: the object is an array, and the lock is held while its flags are read.
        let flags = unsafe { (*array.as_array_ptr()).fields.flags };
        if flags & numpy::npyffi::NPY_ARRAY_WRITEABLE == 0 {
            return Err(raise(py, "BitmaskError", "the bitmask must be writable"));
        }
        let (rows, words) = shape(py, array.shape())?;
        Ok(Self { address, rows, words })
    }

    fn of_tensor(tensor: &Bound<'_, PyAny>, address: usize, last: &mut LastTensor) -> PyResult<Self> {
        if let Some((seen, rows)) = &last.seen
            && seen.is(tensor)
            && rows.address as usize == address
        {
            return Ok(*rows);
        }
        let py = tensor.py();
        let dtype = tensor.getattr(intern!(py, "dtype"))?.str()?;
        if !dtype.to_str()?.ends_with("int32") {
            return Err(raise(
                py,
                "BitmaskError",
                format!("the bitmask must be of dtype int32, not {dtype}"),
            ));
        }
        if let Ok(device) = tensor.getattr(intern!(py, "device"))
            && device.getattr(intern!(py, "type")).is_ok_and(|kind| kind.eq("cpu").is_ok_and(|cpu| !cpu))
        {
            return Err(raise(
                py,
                "BitmaskError",
                format!("the bitmask must be on the CPU, not on {device}"),
            ));
        }
        if !tensor.call_method0(intern!(py, "is_contiguous"))?.is_truthy()? {
            return Err(raise(py, "BitmaskError", "the bitmask must be contiguous"));
        }
        let dimensions: Vec<usize> = tensor.getattr(intern!(py, "shape"))?.extract()?;
        let (rows, words) = shape(py, &dimensions)?;
        let rows = Self { address: address as *mut u32, rows, words };
        last.seen = Some((tensor.clone().unbind(), rows));
        Ok(rows)
    }

    /// All rows, each of exactly so many words.
    ///
    /// # Safety
    ///
    /// As for [`row`](Self::row), for every row.
    pub(crate) unsafe fn all<'r>(self, py: Python<'_>, words: usize) -> PyResult<&'r mut [u32]> {
        self.check_width(py, words)?;
        if words == 0 || self.rows == 0 {
            return Ok(&mut []);
        }
        // SAFETY: as in `row`.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.address, self.rows * words) })
    }

    fn check_width(self, py: Python<'_>, words: usize) -> PyResult<()> {
        if self.words == words {
            return Ok(());
        }
        let message =
            format!("a row of the bitmask must have {words} words for this vocabulary, not {}", self.words);
        Err(raise(py, "BitmaskError", message))
    }

    /// One row, of exactly so many words.
    ///
    /// # Safety
    ///
    /// No other reference to the row is alive, and the object that owns the memory stays alive and as it is for
    /// as long as the row is used.
    pub(crate) unsafe fn row<'r>(self, py: Python<'_>, index: i64, words: usize) -> PyResult<&'r mut [u32]> {
        self.check_width(py, words)?;
        let place = usize::try_from(index).ok().filter(|&place| place < self.rows).ok_or_else(|| {
            raise(
                py,
                "BitmaskError",
                format!("row {index} is not one of the {} rows of the bitmask", self.rows),
            )
        })?;
        if words == 0 {
            return Ok(&mut []);
        }
        // SAFETY: `rows * words` elements of four bytes lie behind the address (the object is C-contiguous and
        // has this shape), the row is within them, and the caller vouches for the rest.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.address.add(place * words), words) })
    }
}

fn shape(py: Python<'_>, shape: &[usize]) -> PyResult<(usize, usize)> {
    match *shape {
        [words] => Ok((1, words)),
        [rows, words] => Ok((rows, words)),
        _ => Err(raise(py, "BitmaskError", "the bitmask must have one dimension or two")),
    }
}
