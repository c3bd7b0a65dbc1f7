//! Masks onto logits in CPU memory.
#![expect(unsafe_code, reason = "the memory of arrays and tensors is reached through their addresses")]

use grammask::apply::{ApplyError, Layout, Logit, Padding, Processor, Rows, apply_mask_raw, half};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Where the logits lie. Strides are counted in elements.
#[derive(FromPyObject)]
pub(crate) struct Logits(usize, usize, usize, isize, isize);

/// Where the bitmask lies: address, and words from one row to the next.
#[derive(FromPyObject)]
pub(crate) struct Masks(usize, usize);

/// Writes minus infinity over forbidden logits. `grammask.apply_token_bitmask_inplace` calls it with memory that it
/// has checked.
#[pyfunction]
pub(crate) fn apply_bitmask(
    py: Python<'_>,
    dtype: &str,
    logits: Logits,
    masks: Masks,
    width: usize,
    rows: Option<Vec<u32>>,
) -> PyResult<()> {
    let Logits(address, row_count, columns, row_stride, column_stride) = logits;
    let layout = Layout::new(row_count, columns)
        .row_stride(row_stride)
        .column_stride(column_stride)
        .vocabulary(width)
        .mask_stride(masks.1)
        .padding(Padding::Keep)
        .select(rows.as_deref().map_or(Rows::All, Rows::Same));
    let outcome = match dtype {
        "float32" => py.detach(|| apply::<f32>(address, masks.0, &layout)),
        "float16" => py.detach(|| apply::<half::f16>(address, masks.0, &layout)),
        "bfloat16" => py.detach(|| apply::<half::bf16>(address, masks.0, &layout)),
        _ => return Err(PyValueError::new_err(format!("logits of dtype {dtype} are not supported"))),
    };
    outcome.map_err(|error| PyValueError::new_err(error.to_string()))
}

fn apply<T: Logit>(logits: usize, masks: usize, layout: &Layout<'_>) -> Result<(), ApplyError> {
    // SAFETY: the Python half passes the addresses, shapes and strides that the arrays or tensors name themselves, has
    // checked dtypes and row numbers, and holds them during the call.
    unsafe { apply_mask_raw(Processor::default(), logits as *mut T, masks as *const u32, layout) }
}
