//! Masks onto logits, in CPU memory and on NVIDIA devices.
//!
//! The Python half knows arrays and tensors; what comes here are the addresses, shapes and strides that they name.
#![expect(unsafe_code, reason = "the memory of arrays and tensors is reached through their addresses")]

use grammask::apply::{ApplyError, Layout, Logit, Padding, Processor, Rows, apply_mask_raw, half};
use numpy::npyffi::{NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, NPY_TYPES};
use numpy::{PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::rows::as_array;

/// Where the logits lie: address, rows, columns, and both strides, counted in elements.
#[derive(FromPyObject)]
pub(crate) struct Logits(usize, usize, usize, isize, isize);

/// Where the bitmask lies: address, and words from one row to the next.
#[derive(FromPyObject)]
pub(crate) struct Masks(usize, usize);

impl Logits {
    /// Logits past `width` are left alone.
    fn layout(&self, masks: &Masks, width: usize) -> Layout<'static> {
        let Self(_, rows, columns, row_stride, column_stride) = *self;
        Layout::new(rows, columns)
            .row_stride(row_stride)
            .column_stride(column_stride)
            .vocabulary(width)
            .mask_stride(masks.1)
            .padding(Padding::Keep)
    }
}

/// Writes minus infinity over forbidden logits in CPU memory. `grammask.apply_token_bitmask_inplace` calls it with
/// tensors of its own, whose shapes nobody else changes. Each is named by its address or by itself; then it is asked for
/// its address here, and nobody has a turn to move the memory before it is written.
///
/// The interpreter's lock is held: without it another thread may free the memory. The rows are shared out between
/// threads that do not need it.
#[pyfunction]
pub(crate) fn apply_bitmask(
    dtype: &str,
    logits: (Bound<'_, PyAny>, usize, usize, isize, isize),
    masks: (Bound<'_, PyAny>, usize),
    width: usize,
    rows: Option<Vec<u32>>,
) -> PyResult<()> {
    let (tensor, count, columns, row_stride, column_stride) = logits;
    let masks = Masks(address(&masks.0)?, masks.1);
    let logits = Logits(address(&tensor)?, count, columns, row_stride, column_stride);
    apply_at(dtype, &logits, &masks, width, rows.as_deref())
}

/// [`apply_bitmask`] for numpy arrays of one dimension or two, which are asked here: asking them in Python takes longer
/// than the work. The caller has checked that arrays and row numbers fit each other; arrays that changed meanwhile are
/// refused.
///
/// Returns `False`, having done nothing, for arrays that the kernels do not take: of another type or byte order,
/// read-only, unaligned, or a bitmask that is not C-contiguous.
#[pyfunction]
pub(crate) fn apply_bitmask_array(
    logits: &Bound<'_, PyAny>,
    bitmask: &Bound<'_, PyAny>,
    width: usize,
    rows: Option<Vec<u32>>,
) -> PyResult<bool> {
    let (logits, masks) = (as_array(logits).and_then(logit_array), as_array(bitmask).and_then(mask_array));
    let (Some((dtype, logits)), Some((masks, count))) = (logits, masks) else { return Ok(false) };
    let has_rows = match &rows {
        None => logits.1 == count,
        Some(rows) => rows.iter().all(|&row| usize::try_from(row).is_ok_and(|row| row < logits.1.min(count))),
    };
    if !has_rows || width > logits.2 || width.div_ceil(32) > masks.1 {
        return Err(PyValueError::new_err("an array changed its shape while it was looked at"));
    }
    apply_at(dtype, &logits, &masks, width, rows.as_deref()).map(|()| true)
}

/// A number is an address. Everything else is asked for its address, also a tensor of one number, which would be converted
/// to that number.
pub(crate) fn address(memory: &Bound<'_, PyAny>) -> PyResult<usize> {
    match memory.cast::<PyInt>() {
        Ok(address) => address.extract(),
        Err(_) => memory.call_method0(intern!(memory.py(), "data_ptr"))?.extract(),
    }
}

/// Bytes of an element of the types that have kernels.
pub(crate) fn element_size(dtype: &str) -> usize {
    if dtype == "float32" { 4 } else { 2 }
}

pub(crate) fn check_aligned(address: usize, size: usize) -> PyResult<()> {
    if address.is_multiple_of(size) {
        return Ok(());
    }
    Err(PyValueError::new_err("logits and bitmask must be aligned to their elements; copy them"))
}

pub(crate) fn check_there(address: usize) -> PyResult<()> {
    if address == 0 { Err(PyValueError::new_err("the memory of a tensor is gone")) } else { Ok(()) }
}

fn apply_at(dtype: &str, logits: &Logits, masks: &Masks, width: usize, rows: Option<&[u32]>) -> PyResult<()> {
    check_aligned(logits.0, element_size(dtype))?;
    check_aligned(masks.0, align_of::<u32>())?;
    if logits.1 == 0 || width == 0 {
        return Ok(());
    }
    check_there(logits.0)?;
    check_there(masks.0)?;
    let layout = logits.layout(masks, width).select(rows.map_or(Rows::All, Rows::Same));
    let outcome = match dtype {
        "float32" => apply::<f32>(logits.0, masks.0, &layout),
        "float16" => apply::<half::f16>(logits.0, masks.0, &layout),
        "bfloat16" => apply::<half::bf16>(logits.0, masks.0, &layout),
        _ => return Err(unknown(dtype)),
    };
    outcome.map_err(|error| PyValueError::new_err(error.to_string()))
}

fn logit_array(array: &Bound<'_, PyUntypedArray>) -> Option<(&'static str, Logits)> {
    let dtype = array.dtype();
    let name = match dtype.num() {
        number if number == NPY_TYPES::NPY_FLOAT as i32 => "float32",
        number if number == NPY_TYPES::NPY_HALF as i32 => "float16",
        _ => return None,
    };
    // SAFETY: the object is an array, and the lock is held while its fields are read.
    let (flags, address) = unsafe {
        let fields = &(*array.as_array_ptr()).fields;
        (fields.flags, fields.data as usize)
    };
    let usable = NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED;
    if flags & usable != usable || dtype.is_native_byteorder() != Some(true) {
        return None;
    }
    let size = isize::try_from(dtype.itemsize()).ok()?;
    let elements = |bytes: isize| (bytes % size == 0).then_some(bytes / size);
    let place = match (array.shape(), array.strides()) {
        (&[columns], &[step]) => Logits(address, 1, columns, 0, elements(step)?),
        (&[rows, columns], &[row, step]) => Logits(address, rows, columns, elements(row)?, elements(step)?),
        _ => return None,
    };
    Some((name, place))
}

/// The masks, and how many there are.
fn mask_array(array: &Bound<'_, PyUntypedArray>) -> Option<(Masks, usize)> {
    let address = match array.cast::<PyArrayDyn<i32>>() {
        Ok(words) => words.data() as usize,
        Err(_) => array.cast::<PyArrayDyn<u32>>().ok()?.data() as usize,
    };
    // SAFETY: the object is an array, and the lock is held while its flags are read.
    let is_aligned = unsafe { (*array.as_array_ptr()).fields.flags } & NPY_ARRAY_ALIGNED != 0;
    let (count, words) = match *array.shape() {
        [words] => (1, words),
        [count, words] => (count, words),
        _ => return None,
    };
    (is_aligned && array.is_c_contiguous()).then_some((Masks(address, words), count))
}

fn unknown(dtype: &str) -> PyErr {
    PyValueError::new_err(format!("logits of dtype {dtype} are not supported"))
}

fn apply<T: Logit>(logits: usize, masks: usize, layout: &Layout<'_>) -> Result<(), ApplyError> {
    // SAFETY: the arrays or tensors named these addresses, shapes and strides just now, and dtypes and row
    // numbers were checked. The interpreter's lock is held, so that nobody frees the memory.
    unsafe { apply_mask_raw(Processor::default(), logits as *mut T, masks as *const u32, layout) }
}

/// Writes minus infinity over forbidden logits in the memory of an NVIDIA device, on a stream of the caller's, and
/// returns at once. `place` is the device's number and the stream, `rows` a list of 32-bit row numbers on the device:
/// address and length.
///
/// Returns why it did nothing where this machine or this build cannot: no driver, no device, another system. The
/// caller has other ways then.
#[pyfunction]
#[cfg_attr(
    not(all(feature = "cuda", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    expect(unused_variables, reason = "without the feature there is nothing to be done")
)]
pub(crate) fn apply_bitmask_cuda(
    py: Python<'_>,
    dtype: &str,
    place: (u32, usize),
    logits: Logits,
    masks: Masks,
    width: usize,
    rows: Option<(u64, u32)>,
) -> PyResult<Option<String>> {
    #[cfg(all(
        feature = "cuda",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    return cuda::apply(py, place, dtype, (logits, masks, width), rows);
    #[cfg(not(all(
        feature = "cuda",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )))]
    Ok(Some("this build has no kernels for CUDA".to_owned()))
}

#[cfg(all(feature = "cuda", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod cuda {
    use std::collections::HashMap;
    use std::sync::{Mutex, PoisonError};

    use grammask::apply::cuda::{Device, DeviceBatch, DeviceRows, LogitType};
    use grammask::apply::{ApplyError, ApplyErrorKind};
    use pyo3::exceptions::{PyRuntimeError, PyValueError};
    use pyo3::prelude::*;

    use super::{Logits, Masks, unknown};
    use crate::forks::detach;

    /// Devices that were asked for, with what came of it: neither kernels nor a driver come later.
    static DEVICES: Mutex<Option<HashMap<u32, Result<Device, ApplyError>>>> = Mutex::new(None);

    pub(super) fn apply(
        py: Python<'_>,
        (device, stream): (u32, usize),
        dtype: &str,
        (logits, masks, width): (Logits, Masks, usize),
        rows: Option<(u64, u32)>,
    ) -> PyResult<Option<String>> {
        let logit = match dtype {
            "float32" => LogitType::F32,
            "float16" => LogitType::F16,
            "bfloat16" => LogitType::Bf16,
            _ => return Err(unknown(dtype)),
        };
        let rows = rows.map_or(DeviceRows::All, |(list, count)| DeviceRows::Same { list, count });
        let layout = logits.layout(&masks, width);
        let batch = DeviceBatch { logit, logits: logits.0 as u64, masks: masks.0 as u64, layout, rows };
        // The kernels are compiled for the device the first time. Only a fork waits for that: the list of devices would stay
        // locked in the child.
        let outcome = detach(py, || {
            let device = opened(device)?;
            // SAFETY: the Python half passes the values that the tensors name themselves, and has checked
            // dtypes, devices and shapes. The stream is the one that the framework frees and reuses their
            // memory on.
            unsafe { device.apply_mask(stream as *mut std::ffi::c_void, &batch) }
        });
        match outcome {
            Ok(()) => Ok(None),
            Err(error) if matches!(error.kind(), ApplyErrorKind::NoDriver | ApplyErrorKind::NoDevice) => {
                Ok(Some(error.to_string()))
            }
            Err(error) if error.kind() == ApplyErrorKind::Layout => {
                Err(PyValueError::new_err(error.to_string()))
            }
            Err(error) => Err(PyRuntimeError::new_err(error.to_string())),
        }
    }

    fn opened(ordinal: u32) -> Result<Device, ApplyError> {
        let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        let devices = devices.get_or_insert_default();
        match devices.get(&ordinal) {
            Some(known) => known.clone(),
            None => {
                let device = Device::new(ordinal);
                // Memory may be freed; the rest stays as it is.
                if device.as_ref().err().is_none_or(|error| error.kind() != ApplyErrorKind::OutOfMemory) {
                    devices.insert(ordinal, device.clone());
                }
                device
            }
        }
    }
}
