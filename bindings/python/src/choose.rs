//! Tokens chosen from logits and masks in one pass, in CPU memory.
#![expect(unsafe_code, reason = "the memory of arrays and tensors is reached through their addresses")]

use grammask::apply::{ApplyError, Layout, Logit, Processor, Rows, Sampling, half, sample};
use numpy::{PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::apply::{address, check_aligned, check_there, element_size};
use crate::rows::as_array;

/// How one row is drawn: temperature, `top_k`, `top_p`, seed, step.
type Draw = (f64, u32, f32, u64, u64);

/// Draws a token for each row. `grammask.choose_tokens` calls it with arrays or with tensors of its own, whose columns follow
/// one another. Logits come with rows, columns and the stride from row to row, masks with rows and words. Arrays are asked
/// here whether they still are so large.
#[pyfunction]
pub(crate) fn choose_tokens(
    dtype: &str,
    logits: (Bound<'_, PyAny>, usize, usize, usize),
    masks: (Bound<'_, PyAny>, usize, usize),
    width: usize,
    rows: Option<Vec<u32>>,
    draws: Vec<Draw>,
) -> PyResult<Vec<u32>> {
    let (tensor, count, columns, stride) = logits;
    let draw = match dtype {
        "float32" => Place::draw::<f32>,
        "float16" => Place::draw::<half::f16>,
        "bfloat16" => Place::draw::<half::bf16>,
        _ => return Err(PyValueError::new_err(format!("logits of dtype {dtype} are not supported"))),
    };
    let layout = Layout::new(count, columns)
        .row_stride(isize::try_from(stride)?)
        .mask_stride(masks.2)
        .vocabulary(width)
        .select(rows.as_deref().map_or(Rows::All, Rows::Same));
    let settings = draws.into_iter().map(|(temperature, top_k, top_p, seed, step)| {
        // From the greatest on all tokens are equally likely.
        let temperature =
            if temperature.is_finite() { temperature.min(f64::from(f32::MAX)) } else { temperature };
        #[expect(clippy::cast_possible_truncation, reason = "the nearest number is meant")]
        let temperature = temperature as f32;
        Sampling::default().temperature(temperature).top_k(top_k).top_p(top_p).seed(seed).step(step)
    });
    let settings: Vec<Sampling> = settings.collect();
    if settings.len() != layout.selected() {
        return Err(PyValueError::new_err("there must be settings for each row"));
    }
    if count == 0 || columns == 0 || stride < columns {
        return Err(PyValueError::new_err("the logits must have columns, and rows that do not overlap"));
    }
    let elements = (count - 1).checked_mul(stride).and_then(|before| before.checked_add(columns));
    let words = masks.1.checked_mul(masks.2);
    let (Some(elements), Some(words)) = (elements, words) else {
        return Err(PyValueError::new_err("there are too many logits"));
    };
    let place = Place {
        masks: memory(&masks.0, words, size_of::<u32>())?,
        words,
        logits: memory(&tensor, elements, element_size(dtype))?,
        elements,
    };
    let mut chosen = vec![0; settings.len()];
    draw(&place, &layout, &settings, &mut chosen)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(chosen)
}

/// The address of so many elements of a size.
fn memory(owner: &Bound<'_, PyAny>, count: usize, size: usize) -> PyResult<usize> {
    let address = match as_array(owner) {
        None => address(owner)?,
        Some(array) => {
            let is_whole =
                array.len() == count && array.dtype().itemsize() == size && array.is_c_contiguous();
            if !is_whole {
                return Err(PyValueError::new_err("an array changed its shape while it was looked at"));
            }
            // SAFETY: the object is an array, and the lock is held while its fields are read.
            unsafe { (*array.as_array_ptr()).fields.data as usize }
        }
    };
    check_there(address)?;
    check_aligned(address, size)?;
    Ok(address)
}

/// Where logits and masks lie, and how many elements each has.
struct Place {
    logits: usize,
    elements: usize,
    masks: usize,
    words: usize,
}

impl Place {
    fn draw<T: Logit>(
        &self,
        layout: &Layout<'_>,
        settings: &[Sampling],
        chosen: &mut [u32],
    ) -> Result<(), ApplyError> {
        // SAFETY: the arrays or tensors named these addresses and shapes just now, which are neither null nor unaligned, and
        // the interpreter's lock is held, so that nobody frees the memory.
        let (logits, masks) = unsafe {
            (
                std::slice::from_raw_parts(self.logits as *const T, self.elements),
                std::slice::from_raw_parts(self.masks as *const u32, self.words),
            )
        };
        sample(Processor::default(), logits, masks, layout, settings, chosen)
    }
}
