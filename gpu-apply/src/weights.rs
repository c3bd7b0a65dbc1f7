//! Passes over one row of logits that read and never write it: maxima and weights, block by block.
//!
//! A *weight* is `exp((logit - maximum) / temperature)`: at most 1, and exactly 1 for the best token, so no
//! sum can overflow or be 0. Sums over blocks of [`BLOCK`] tokens are kept, so that a draw looks at one block
//! only.
//!
//! The exponential is our own, from plain arithmetic: it vectorises, where a call of the mathematics library
//! does not, and gives the same bits with every instruction set. Lanes are added up in one fixed order for
//! the same reason: a seed means the same token on every machine.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "the same loops, compiled for instructions that were asked for at run time"
    )
)]

use std::ops::Range;

use crate::layout::Padding;
use crate::logit::Logit;
use crate::simd::Instructions;

/// Tokens to a block: 32 words of the mask.
pub(crate) const BLOCK: usize = 1024;

/// Lanes that are added up separately, one for each bit of a word.
const LANES: usize = 32;

/// One contiguous row of logits and the words of its mask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a, T> {
    logits: &'a [T],
    words: &'a [u32],
    /// Logits that `words` speaks of; all later ones are allowed.
    masked: usize,
}

impl<'a, T: Logit> Row<'a, T> {
    /// `words` has a bit for each of the first `masked` logits.
    pub(crate) fn new(logits: &'a [T], words: &'a [u32], masked: usize, padding: Padding) -> Self {
        let masked = masked.min(logits.len());
        let logits = match padding {
            Padding::Forbid => &logits[..masked],
            Padding::Keep => logits,
        };
        Self { logits, words: &words[..masked.div_ceil(32)], masked }
    }

    /// Words that cover all logits.
    fn groups(&self) -> usize {
        self.logits.len().div_ceil(LANES)
    }

    /// The groups of each block.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<T> {
        let groups = self.groups();
        (0..groups).step_by(BLOCK / LANES).map(move |first| first..groups.min(first + BLOCK / LANES))
    }

    /// Calls `visit` with the number of each group of a block, its 32 logits, and which of them are allowed.
    ///
    /// Half-precision logits are converted block by block, in a loop that does nothing else: compilers
    /// vectorise that, and what comes after is the same for all types.
    #[inline(always)]
    fn for_each_group(&self, block: Range<usize>, mut visit: impl FnMut(usize, &[f32; LANES], u32)) {
        let spoken_of = self.masked / LANES;
        let whole = block.start.min(spoken_of)..block.end.min(spoken_of);
        let mut buffer = [0.0; BLOCK];
        let floats = T::floats(&self.logits[whole.start * LANES..whole.end * LANES], &mut buffer);
        let (chunks, _) = floats.as_chunks::<LANES>();
        for (index, (logits, &word)) in whole.clone().zip(chunks.iter().zip(&self.words[whole.clone()])) {
            visit(index, logits, word);
        }
        for index in block.start.max(spoken_of)..block.end {
            let (logits, word) = self.last_group(index);
            visit(index, &logits, word);
        }
    }

    #[cold]
    #[inline(never)]
    fn last_group(&self, index: usize) -> ([f32; LANES], u32) {
        let rest = &self.logits[index * LANES..];
        let rest = &rest[..rest.len().min(LANES)];
        let mut group = [0.0; LANES];
        for (float, logit) in group.iter_mut().zip(rest) {
            *float = logit.to_f32();
        }
        let spoken_of = ones(self.masked.saturating_sub(index * LANES));
        let word = self.words.get(index).map_or(0, |word| word & spoken_of);
        (group, (word | !spoken_of) & ones(rest.len()))
    }

    /// Calls `visit` with the logits and ids of all allowed tokens of a block, in order.
    pub(crate) fn for_each_allowed(&self, block: usize, mut visit: impl FnMut(f32, u32)) {
        let first = block * (BLOCK / LANES);
        self.for_each_group(first..self.groups().min(first + BLOCK / LANES), |index, logits, mut word| {
            while word != 0 {
                let lane = word.trailing_zeros();
                word &= word - 1;
                visit(logits[lane as usize], (index * LANES) as u32 + lane);
            }
        });
    }

    pub(crate) fn count_allowed(&self) -> usize {
        let whole = self.masked / LANES;
        let last = (whole..self.groups()).map(|index| self.last_group(index).1);
        self.words[..whole].iter().copied().chain(last).map(|word| word.count_ones() as usize).sum()
    }
}

/// The lowest `count` bits, all of them from 32 on.
fn ones(count: usize) -> u32 {
    if count >= 32 { u32::MAX } else { (1 << count) - 1 }
}

/// The worst token that may still be chosen. Better is a larger logit, then a smaller id.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cut {
    pub(crate) logit: f32,
    pub(crate) token: u32,
}

impl Cut {
    /// Keeps everything.
    pub(crate) const NONE: Self = Self { logit: f32::NEG_INFINITY, token: u32::MAX };

    #[inline(always)]
    fn keeps(self, logit: f32, token: u32) -> bool {
        (logit > self.logit) | ((logit == self.logit) & (token <= self.token))
    }
}

/// From logits to weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) maximum: f32,
    /// One over the temperature.
    pub(crate) inverse_temperature: f32,
    pub(crate) cut: Cut,
}

impl Scale {
    /// The weight of an allowed token. 0 for minus infinity, for NaN, and for what is cut off.
    ///
    /// The best logit has weight 1 by definition rather than by arithmetic, which for infinity would give
    /// NaN.
    #[inline(always)]
    pub(crate) fn weight(self, logit: f32, token: u32) -> f32 {
        let weight = exp_nonpositive((logit - self.maximum) * self.inverse_temperature);
        let weight = if logit == self.maximum { 1.0 } else { weight };
        if self.cut.keeps(logit, token) { weight } else { 0.0 }
    }
}

/// `e^x` for `-87 <= x <= 0`, within 2 units in the last place; 0 for everything else, NaN included.
///
/// `x = n ln 2 + r` with `n` a whole number and `|r| <= ln 2 / 2`; the Taylor polynomial of degree 7 is exact
/// enough there, and `2^n` is made from its bits.
#[inline(always)]
pub(crate) fn exp_nonpositive(x: f32) -> f32 {
    const SMALLEST: f32 = -87.0;
    /// Adding and subtracting it rounds to a whole number: floats of this size are whole.
    const ROUND: f32 = 12_582_912.0;
    /// `ln 2` in two parts, of which the first times a small whole number is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;

    // Comparisons that NaN fails. Forbidden tokens come here too, and may be better than the best allowed
    // one.
    let is_visible = (SMALLEST..=0.0).contains(&x);
    let clamped = if is_visible { x } else { SMALLEST };
    let shifted = clamped * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (clamped - n * LN_2_HIGH) - n * LN_2_LOW;
    let series = 1.0 / 5040.0;
    let series = series * r + 1.0 / 720.0;
    let series = series * r + 1.0 / 120.0;
    let series = series * r + 1.0 / 24.0;
    let series = series * r + 1.0 / 6.0;
    let series = series * r + 0.5;
    let series = series * r * r + r + 1.0;
    // The lowest bits of `shifted` are `n`, and the shift drops all others. -126 <= n <= 0, so the exponent
    // stays in range.
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if is_visible { series * power } else { 0.0 }
}

/// Calls a function of this module, compiled for the given instructions.
///
/// The function must be `#[inline(always)]`, so that its body is compiled anew inside each of the wrappers.
macro_rules! compiled_for {
    ($instructions:expr, $run:ident($($name:ident: $type:ty),*)) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
        fn avx512<T: Logit>($($name: $type),*) {
            $run($($name),*);
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn avx2<T: Logit>($($name: $type),*) {
            $run($($name),*);
        }
        match $instructions {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the instructions.
            Instructions::Avx512 if Instructions::Avx512.is_available() => unsafe { avx512($($name),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the instructions.
            Instructions::Avx2 if Instructions::Avx2.is_available() => unsafe { avx2($($name),*) },
            _ => $run($($name),*),
        }
    }};
}

/// The largest allowed logit of each block; minus infinity where a block has none. NaN is passed over.
pub(crate) fn maxima<T: Logit>(instructions: Instructions, row: &Row<'_, T>, out: &mut Vec<f32>) {
    #[inline(always)]
    fn run<T: Logit>(row: &Row<'_, T>, out: &mut Vec<f32>) {
        for block in row.blocks() {
            let mut lanes = [f32::NEG_INFINITY; LANES];
            row.for_each_group(block, |_, logits, word| {
                for lane in 0..LANES {
                    let logit = logits[lane];
                    let is_better = (word >> lane & 1 == 1) & (logit > lanes[lane]);
                    lanes[lane] = if is_better { logit } else { lanes[lane] };
                }
            });
            out.push(lanes.into_iter().fold(f32::NEG_INFINITY, f32::max));
        }
    }
    out.clear();
    compiled_for!(instructions, run(row: &Row<'_, T>, out: &mut Vec<f32>));
}

/// The sum of the weights of each block.
pub(crate) fn sums<T: Logit>(instructions: Instructions, row: &Row<'_, T>, scale: Scale, out: &mut Vec<f64>) {
    #[inline(always)]
    fn run<T: Logit>(row: &Row<'_, T>, scale: Scale, out: &mut Vec<f64>) {
        for block in row.blocks() {
            let mut lanes = [0.0_f32; LANES];
            row.for_each_group(block, |index, logits, word| {
                for lane in 0..LANES {
                    let weight = scale.weight(logits[lane], (index * LANES + lane) as u32);
                    lanes[lane] += if word >> lane & 1 == 1 { weight } else { 0.0 };
                }
            });
            out.push(lanes.into_iter().map(f64::from).sum());
        }
    }
    out.clear();
    compiled_for!(instructions, run(row: &Row<'_, T>, scale: Scale, out: &mut Vec<f64>));
}

/// The weight of every token times a factor, 0 for forbidden ones. `out` is as long as the row.
pub(crate) fn write<T: Logit>(
    instructions: Instructions,
    row: &Row<'_, T>,
    scale: Scale,
    factor: f32,
    out: &mut [f32],
) {
    #[inline(always)]
    fn run<T: Logit>(row: &Row<'_, T>, scale: Scale, factor: f32, out: &mut [f32]) {
        for block in row.blocks() {
            row.for_each_group(block, |index, logits, word| {
                let mut weights = [0.0; LANES];
                for lane in 0..LANES {
                    let weight = scale.weight(logits[lane], (index * LANES + lane) as u32);
                    weights[lane] = if word >> lane & 1 == 1 { weight * factor } else { 0.0 };
                }
                let out = &mut out[index * LANES..];
                match out.first_chunk_mut() {
                    Some(out) => *out = weights,
                    None => out.copy_from_slice(&weights[..out.len()]),
                }
            });
        }
    }
    let (inside, outside) = out.split_at_mut(row.logits.len().min(out.len()));
    outside.fill(0.0);
    compiled_for!(instructions, run(row: &Row<'_, T>, scale: Scale, factor: f32, inside: &mut [f32]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_close_and_tame() {
        let mut worst = 0.0_f64;
        for step in 0..=870_000 {
            let x = -(step as f32) / 10_000.0;
            let exact = f64::from(x).exp();
            worst = worst.max((f64::from(exp_nonpositive(x)) - exact).abs() / exact);
        }
        assert!(worst < 2.5e-7, "relative error {worst}");
        assert_eq!(exp_nonpositive(0.0), 1.0);
        for x in [f32::NEG_INFINITY, f32::NAN, -1e30, -88.0, 1.0, f32::INFINITY] {
            assert_eq!(exp_nonpositive(x), 0.0);
        }
    }
}
