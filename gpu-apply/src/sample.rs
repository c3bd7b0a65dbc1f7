//! One token drawn from the allowed ones, straight from logits and mask.
//!
//! The naive way sorts all allowed tokens by probability, and cuts the list after `top_k` tokens and where
//! the sum reaches `top_p`. Then it walks the list until the sum passes a random number. Sorting 128,000
//! tokens takes several milliseconds, and is not needed. The two limits keep exactly the tokens that are not
//! worse than some token, the *cut*, and the draw can walk these in the order of their ids.
//!
//! * The `k`-th best of a list is found without sorting (selection). Whatever is worse than the `k`-th best
//!   of the blocks' maxima cannot be among the `k` best, and is not even put into the list.
//! * For `top_p` the list is halved by selection; the half in which the sum is reached is halved again, and
//!   so on: linear in all, and bounded for any input. A token of weight below `(1 - p)` of the whole, shared
//!   out evenly, is never kept, and all such are left out first.
//! * The draw looks at the sums of blocks of tokens, then at one block.
//!
//! The random number is a hash of the seed and the step alone. So a draw can be repeated, and draws of
//! different rows do not depend on the batch that they are in.

use crate::apply::Processor;
use crate::choose::{Scratch, each_row, find_maximum, first_of_maximum};
use crate::error::ApplyError;
use crate::layout::Layout;
use crate::logit::Logit;
use crate::weights::{self, BLOCK, Cut, Row, Scale};

/// How a token is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Sampling {
    /// Logits are divided by it. 0 takes the best token, as [`argmax`](crate::argmax) does. Default 1.
    pub temperature: f32,
    /// Only this many of the best tokens are kept; of equal ones those with smaller ids. 0, the default, keeps
    /// all.
    pub top_k: u32,
    /// Of what `top_k` kept, only the best tokens are kept whose probabilities just reach this share of the
    /// whole. Above 0; 1, the default, keeps all.
    pub top_p: f32,
    /// Chooses the random numbers. Default 0.
    pub seed: u64,
    /// The number of this draw among those of the seed: the same seed and step draw the same. Default 0.
    pub step: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { temperature: 1.0, top_k: 0, top_p: 1.0, seed: 0, step: 0 }
    }
}

impl Sampling {
    /// Sets [`temperature`](Self::temperature).
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = temperature;
        self
    }

    /// Sets [`top_k`](Self::top_k).
    #[must_use]
    pub fn top_k(mut self, top_k: u32) -> Self {
        self.top_k = top_k;
        self
    }

    /// Sets [`top_p`](Self::top_p).
    #[must_use]
    pub fn top_p(mut self, top_p: f32) -> Self {
        self.top_p = top_p;
        self
    }

    /// Sets [`seed`](Self::seed).
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets [`step`](Self::step).
    #[must_use]
    pub fn step(mut self, step: u64) -> Self {
        self.step = step;
        self
    }

    pub(crate) fn check(&self) -> Result<(), ApplyError> {
        if !(self.temperature >= 0.0 && self.temperature.is_finite()) {
            return Err(ApplyError::setting("the temperature must be a finite number of at least 0"));
        }
        if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            return Err(ApplyError::setting("top_p must be above 0 and at most 1"));
        }
        Ok(())
    }

    /// At least 0 and below 1, the same for the same seed and step.
    pub(crate) fn draw(&self) -> f64 {
        let mixed = mix(mix(self.seed).wrapping_add(self.step));
        // The 53 bits that an `f64` holds exactly.
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit of the result depends on every bit
/// given.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// Draws one token for each selected row, with settings of its own.
///
/// `settings` and `out` have [`Layout::selected`] places each. Logits are not written. NaN and minus infinity
/// are never drawn; where logits are plus infinity, one of those is drawn, all with the same probability.
///
/// # Errors
///
/// When the layout does not fit the slices, a setting is out of its range, a mask allows nothing, or all that
/// it allows is minus infinity or NaN.
pub fn sample<T: Logit>(
    processor: Processor,
    logits: &[T],
    masks: &[u32],
    layout: &Layout<'_>,
    settings: &[Sampling],
    out: &mut [u32],
) -> Result<(), ApplyError> {
    if settings.len() != layout.selected() {
        return Err(ApplyError::setting(format!(
            "{} rows are selected and there are settings for {}",
            layout.selected(),
            settings.len()
        )));
    }
    each_row(processor, logits, masks, layout, out, 1, |row, index, scratch, out: &mut [u32]| {
        out[0] = sample_row(processor, row, &settings[index], scratch)?;
        Ok(())
    })
}

fn sample_row<T: Logit>(
    processor: Processor,
    row: &Row<'_, T>,
    sampling: &Sampling,
    scratch: &mut Scratch,
) -> Result<u32, ApplyError> {
    sampling.check()?;
    let maximum = find_maximum(processor, row, scratch)?;
    if sampling.temperature == 0.0 || sampling.top_k == 1 {
        return Ok(first_of_maximum(row, maximum, scratch));
    }
    let inverse_temperature = 1.0 / sampling.temperature;
    let mut scale = Scale { maximum, inverse_temperature, cut: Cut::NONE };
    if sampling.top_k > 0 {
        scale.cut = cut_to_top_k(row, sampling.top_k, scratch);
    }
    weights::sums(processor.instructions, row, scale, &mut scratch.sums);
    if sampling.top_p < 1.0 {
        scale.cut = cut_to_top_p(row, scale, sampling.top_p, scratch);
        weights::sums(processor.instructions, row, scale, &mut scratch.sums);
    }
    Ok(draw(row, scale, sampling.draw(), &scratch.sums))
}

/// Better tokens first. There is no NaN among candidates.
fn better_first(a: &(f32, u32), b: &(f32, u32)) -> std::cmp::Ordering {
    b.0.partial_cmp(&a.0).unwrap_or(std::cmp::Ordering::Equal).then(a.1.cmp(&b.1))
}

/// The `count`-th best token, or no cut where there are fewer.
fn cut_to_top_k<T: Logit>(row: &Row<'_, T>, count: u32, scratch: &mut Scratch) -> Cut {
    let last = count as usize - 1;
    let Scratch { maxima, candidates, .. } = scratch;
    let threshold = match maxima.get(last) {
        // At least `count` tokens are as good as the `count`-th best maximum.
        Some(_) => {
            let mut sorted = maxima.clone();
            *sorted.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1
        }
        None => f32::NEG_INFINITY,
    };
    gather(row, threshold, maxima, candidates);
    if candidates.len() <= last {
        return Cut::NONE;
    }
    let (logit, token) = *candidates.select_nth_unstable_by(last, better_first).1;
    Cut { logit, token }
}

/// The worst of the best tokens that together reach the share `top_p` of all weights that the present cut
/// keeps. The sums of the blocks are in `scratch`.
fn cut_to_top_p<T: Logit>(row: &Row<'_, T>, scale: Scale, top_p: f32, scratch: &mut Scratch) -> Cut {
    let Scratch { maxima, sums, candidates } = scratch;
    let total: f64 = sums.iter().sum();
    let mut missing = f64::from(top_p) * total;
    // The tokens that are left out here weigh less than `(1 - top_p) * total / 2`, so the others reach the
    // share; the half pays for rounding.
    let light = (1.0 - f64::from(top_p)) * total / row.count_allowed().max(1) as f64 / 2.0;
    let threshold = f64::from(scale.maximum) + light.ln() / f64::from(scale.inverse_temperature);
    // For an infinite maximum this is infinite or NaN, and only what is infinite has any weight.
    let threshold = if scale.maximum == f32::INFINITY { f32::INFINITY } else { threshold as f32 };
    gather(row, threshold.min(scale.maximum).max(scale.cut.logit), maxima, candidates);

    let mut kept = 0;
    let mut rest = candidates.as_mut_slice();
    while rest.len() > 1 {
        let middle = rest.len() / 2;
        rest.select_nth_unstable_by(middle, better_first);
        let (better, worse) = rest.split_at_mut(middle);
        let sum: f64 = better.iter().map(|&(logit, token)| f64::from(scale.weight(logit, token))).sum();
        rest = if sum >= missing {
            better
        } else {
            missing -= sum;
            kept += middle;
            worse
        };
    }
    match candidates.get(kept) {
        Some(&(logit, token)) if scale.weight(logit, token) > 0.0 => Cut { logit, token },
        _ => scale.cut,
    }
}

/// All allowed tokens whose logits reach a threshold, minus infinity excepted.
fn gather<T: Logit>(row: &Row<'_, T>, threshold: f32, maxima: &[f32], candidates: &mut Vec<(f32, u32)>) {
    candidates.clear();
    for (block, &maximum) in maxima.iter().enumerate() {
        if maximum >= threshold {
            row.for_each_allowed(block, |logit, token| {
                if logit >= threshold && logit > f32::NEG_INFINITY {
                    candidates.push((logit, token));
                }
            });
        }
    }
}

/// The token at which the sum of weights, in the order of ids, passes `fraction` of the whole.
fn draw<T: Logit>(row: &Row<'_, T>, scale: Scale, fraction: f64, sums: &[f64]) -> u32 {
    let mut left = fraction * sums.iter().sum::<f64>();
    let mut chosen = 0;
    for (block, &sum) in sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0) {
        chosen = block;
        if left < sum {
            break;
        }
        left -= sum;
    }
    // Where rounding carries past the last token, it is the last one that has any weight.
    let (mut token, mut is_found) = ((chosen * BLOCK) as u32, false);
    row.for_each_allowed(chosen, |logit, candidate| {
        let weight = f64::from(scale.weight(logit, candidate));
        if !is_found && weight > 0.0 {
            token = candidate;
            is_found = left < weight;
            left -= weight;
        }
    });
    token
}
