//! The best allowed token, and probabilities of the allowed ones.

use crate::apply::{Processor, threads};
use crate::error::ApplyError;
use crate::layout::{Layout, Plan};
use crate::logit::Logit;
use crate::share_out::share_out;
use crate::weights::{self, BLOCK, Cut, Row, Scale};

/// Bytes of logits that are worth a thread: choosing takes several times as long as applying a mask.
const MIN_BYTES_PER_THREAD: usize = 1 << 19;

/// Memory that is shared by the rows of a call (of one thread).
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) maxima: Vec<f32>,
    pub(crate) sums: Vec<f64>,
    pub(crate) candidates: Vec<(f32, u32)>,
}

/// The best allowed token of each selected row: the largest logit, and of equal ones the smallest id.
///
/// Logits are not written. NaN is never chosen, plus infinity may be.
///
/// # Errors
///
/// When the layout does not fit the slices, `out` has not [`Layout::selected`] places, a mask allows nothing,
/// or all that it allows is minus infinity or NaN.
pub fn argmax<T: Logit>(
    processor: Processor,
    logits: &[T],
    masks: &[u32],
    layout: &Layout<'_>,
    out: &mut [u32],
) -> Result<(), ApplyError> {
    each_row(processor, logits, masks, layout, out, 1, |row, _, scratch, out: &mut [u32]| {
        let maximum = find_maximum(processor, row, scratch)?;
        out[0] = first_of_maximum(row, maximum, scratch);
        Ok(())
    })
}

/// The probability of every token of each selected row, at a temperature: 0 for forbidden tokens, and 1 in
/// all.
///
/// `out` has [`Layout::selected`] rows of as many columns as the logits. The maximum is subtracted first, so
/// large logits do no harm. NaN counts as minus infinity. Where logits are plus infinity, they share
/// everything.
///
/// # Errors
///
/// As [`argmax`], and when the temperature is not a finite number above 0.
pub fn softmax<T: Logit>(
    processor: Processor,
    logits: &[T],
    masks: &[u32],
    layout: &Layout<'_>,
    temperature: f32,
    out: &mut [f32],
) -> Result<(), ApplyError> {
    if !(temperature > 0.0 && temperature.is_finite()) {
        return Err(ApplyError::setting("the temperature of a softmax must be a finite number above 0"));
    }
    let columns = layout.columns();
    each_row(processor, logits, masks, layout, out, columns, |row, _, scratch, out: &mut [f32]| {
        let maximum = find_maximum(processor, row, scratch)?;
        let scale = Scale { maximum, inverse_temperature: 1.0 / temperature, cut: Cut::NONE };
        weights::sums(processor.instructions, row, scale, &mut scratch.sums);
        let total: f64 = scratch.sums.iter().sum();
        weights::write(processor.instructions, row, scale, (1.0 / total) as f32, out);
        Ok(())
    })
}

/// The largest allowed logit. The maxima of the blocks stay in `scratch`.
pub(crate) fn find_maximum<T: Logit>(
    processor: Processor,
    row: &Row<'_, T>,
    scratch: &mut Scratch,
) -> Result<f32, ApplyError> {
    weights::maxima(processor.instructions, row, &mut scratch.maxima);
    let maximum = scratch.maxima.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if maximum > f32::NEG_INFINITY {
        return Ok(maximum);
    }
    // Rare, so it may cost another pass.
    Err(if row.count_allowed() == 0 { ApplyError::nothing_allowed() } else { ApplyError::nothing_possible() })
}

/// The smallest id with the largest logit, which [`find_maximum`] has found.
pub(crate) fn first_of_maximum<T: Logit>(row: &Row<'_, T>, maximum: f32, scratch: &Scratch) -> u32 {
    let block = scratch.maxima.iter().position(|&of_block| of_block == maximum).unwrap_or(0);
    let mut found = None;
    row.for_each_allowed(block, |logit, token| {
        if logit == maximum && found.is_none() {
            found = Some(token);
        }
    });
    debug_assert!(found.is_some(), "the block's maximum is one of its logits");
    found.unwrap_or((block * BLOCK) as u32)
}

/// Runs `choose` on every selected row, with its number among the selected ones and its part of `out`.
pub(crate) fn each_row<T: Logit, O: Send>(
    processor: Processor,
    logits: &[T],
    masks: &[u32],
    layout: &Layout<'_>,
    out: &mut [O],
    width: usize,
    choose: impl Fn(&Row<'_, T>, usize, &mut Scratch, &mut [O]) -> Result<(), ApplyError> + Sync,
) -> Result<(), ApplyError> {
    let plan = Plan::for_slices(layout, logits.len(), masks.len())?;
    if Some(out.len()) != plan.count.checked_mul(width) {
        return Err(ApplyError::layout(format!(
            "the results need {} rows of {width} places and there are {} places in all",
            plan.count,
            out.len()
        )));
    }
    if plan.count == 0 {
        return Ok(());
    }
    if plan.columns == 0 {
        return Err(ApplyError::nothing_allowed());
    }
    let run = |index: usize, scratch: &mut Scratch, out: &mut [O]| {
        let job = plan.job(index);
        let words = &masks[job.mask..job.mask + plan.masked.div_ceil(32)];
        // `Plan::for_slices` lets no offset below 0 pass.
        let first = job.logits.unsigned_abs();
        let result = if plan.column_stride == 1 {
            let row = &logits[first..first + plan.columns];
            choose(&Row::new(row, words, plan.masked, plan.padding), index, scratch, out)
        } else {
            let stride = plan.column_stride.unsigned_abs().max(1);
            let row: Vec<T> = logits[first..].iter().step_by(stride).take(plan.columns).copied().collect();
            choose(&Row::new(&row, words, plan.masked, plan.padding), index, scratch, out)
        };
        result.map_err(|error| error.in_row(job.row))
    };
    let threads = threads::<T>(processor, &plan, MIN_BYTES_PER_THREAD);
    let mut rows = out.chunks_mut(width).enumerate();
    if threads > 1 {
        return share_out(threads, rows, Scratch::default, |scratch, (index, out)| run(index, scratch, out));
    }
    let mut scratch = Scratch::default();
    rows.try_for_each(|(index, out)| run(index, &mut scratch, out))
}
