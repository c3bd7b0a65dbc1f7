//! Masks onto whole batches of logits.
//!
//! Rows are independent, so a batch is a loop over rows, and over threads where there is enough to do. That
//! is later than expected. A core masks a megabyte in the time in which a thread is started, and logits that
//! were just written are in a cache that other cores reach more slowly.
#![expect(
    unsafe_code,
    reason = "rows of caller's memory are given as pointers and strides, as tensors have them"
)]

use std::convert::Infallible;

use crate::error::ApplyError;
use crate::layout::{Job, Layout, Padding, Plan};
use crate::logit::Logit;
use crate::share_out::{share_out, thread_count};
use crate::simd::{Instructions, Lane};

/// Bytes of logits that are worth a thread.
const MIN_BYTES_PER_THREAD: usize = 4 << 20;

/// Rows that a thread takes at a time: so small a part of its share that no thread waits for another for long.
const TAKES_PER_THREAD: usize = 16;

/// Whether a call may use more than the thread it was made on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Threading {
    /// Threads that live as long as the call, at most one a core, where the batch is large enough to pay for them.
    #[default]
    WhenItPays,
    /// The calling thread alone.
    Caller,
}

/// How a call is carried out. It never changes what comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processor {
    /// Instructions to use; where the processor lacks them, plain ones are used.
    pub instructions: Instructions,
    /// Threads to use.
    pub threads: Threading,
}

impl Default for Processor {
    /// The best instructions that the processor has, and threads where they pay.
    fn default() -> Self {
        Self { instructions: Instructions::detect(), threads: Threading::WhenItPays }
    }
}

/// Writes minus infinity over every logit that its mask forbids; all others keep their bits, NaN included.
///
/// # Errors
///
/// When the layout reaches past the end of `logits` or `masks`, or names a row twice. Nothing was written
/// then.
pub fn apply_mask<T: Logit>(
    processor: Processor,
    logits: &mut [T],
    masks: &[u32],
    layout: &Layout<'_>,
) -> Result<(), ApplyError> {
    let plan = Plan::for_slices(layout, logits.len(), masks.len())?;
    // SAFETY: the plan was checked against both slices, which are borrowed for the whole call.
    unsafe { run(processor, logits.as_mut_ptr(), masks.as_ptr(), &plan) };
    Ok(())
}

/// [`apply_mask`] on memory that is known by its address, such as a tensor's.
///
/// `logits` points to the first element of row 0, which with negative strides is not the lowest address.
///
/// # Errors
///
/// When the layout is impossible whatever the memory: rows overlap, or a row is named twice. Nothing was
/// written then.
///
/// # Safety
///
/// For the whole call every element of the selected rows must be valid for reads and writes, aligned for `T`,
/// and not in use elsewhere. The words of their mask rows must be valid for reads, aligned and unchanged.
pub unsafe fn apply_mask_raw<T: Logit>(
    processor: Processor,
    logits: *mut T,
    masks: *const u32,
    layout: &Layout<'_>,
) -> Result<(), ApplyError> {
    let plan = Plan::new(layout)?;
    // SAFETY: the caller vouches for the memory, the plan for rows that do not overlap.
    unsafe { run(processor, logits, masks, &plan) };
    Ok(())
}

/// # Safety
///
/// As [`apply_mask_raw`].
unsafe fn run<T: Logit>(processor: Processor, logits: *mut T, masks: *const u32, plan: &Plan<'_>) {
    if plan.columns == 0 {
        return;
    }
    let base = Base { logits, masks };
    // SAFETY: as the caller's; jobs of one plan share no logit.
    let row = |index| unsafe { base.row(processor, plan, plan.job(index)) };
    let threads = threads::<T>(processor, plan, MIN_BYTES_PER_THREAD);
    if threads == 1 {
        (0..plan.count).for_each(row);
        return;
    }
    let rows = (plan.count / (threads * TAKES_PER_THREAD)).max(1);
    let starts = (0..plan.count).step_by(rows);
    let Ok(()) = share_out(
        threads,
        starts,
        || (),
        |(), start| {
            (start..plan.count.min(start + rows)).for_each(row);
            Ok::<(), Infallible>(())
        },
    );
}

/// How many threads to share the rows out between, where each takes at least this many bytes.
pub(crate) fn threads<T>(processor: Processor, plan: &Plan<'_>, min_bytes: usize) -> usize {
    let bytes = plan.count.saturating_mul(plan.columns).saturating_mul(size_of::<T>());
    match processor.threads {
        Threading::WhenItPays => thread_count(plan.count, bytes, min_bytes),
        Threading::Caller => 1,
    }
}

/// The pointers that all rows are counted from.
#[derive(Clone, Copy)]
struct Base<T> {
    logits: *mut T,
    masks: *const u32,
}

// SAFETY: the caller of `run` vouches that the memory is valid for the whole call, logits are `Send + Sync`,
// and no two jobs touch the same one.
unsafe impl<T: Send + Sync> Sync for Base<T> {}

impl<T: Logit> Base<T> {
    /// # Safety
    ///
    /// As [`apply_mask_raw`], for this job's row.
    unsafe fn row(&self, processor: Processor, plan: &Plan<'_>, job: Job) {
        let first = self.logits.cast::<T::Bits>().wrapping_offset(job.logits);
        // SAFETY: the caller vouches for the words of this row.
        let words = unsafe { words_at(self.masks.wrapping_add(job.mask), plan.masked.div_ceil(32)) };
        if plan.column_stride == 1 {
            // SAFETY: the caller vouches for the elements of this row, which are contiguous; the bits of a
            // logit have its size and its alignment.
            let lanes = unsafe { std::slice::from_raw_parts_mut(first, plan.columns) };
            let (masked, padding) = lanes.split_at_mut(plan.masked);
            T::Bits::fill_forbidden(processor.instructions, masked, words, T::NEGATIVE_INFINITY);
            if plan.padding == Padding::Forbid {
                padding.fill(T::NEGATIVE_INFINITY);
            }
            return;
        }
        for column in 0..plan.columns {
            let is_allowed = match words.get(column / 32) {
                Some(word) if column < plan.masked => word >> (column % 32) & 1 == 1,
                _ => plan.padding == Padding::Keep,
            };
            if !is_allowed {
                // `Plan` showed that the products of columns and stride fit.
                let at = first.wrapping_offset(column as isize * plan.column_stride);
                // SAFETY: the caller vouches for the elements of this row.
                unsafe { at.write(T::NEGATIVE_INFINITY) };
            }
        }
    }
}

/// A slice that may be empty, for which any pointer will do.
///
/// # Safety
///
/// As [`std::slice::from_raw_parts`] where `count` is not 0.
unsafe fn words_at<'a>(first: *const u32, count: usize) -> &'a [u32] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(first, count) }
}
