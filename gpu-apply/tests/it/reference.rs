//! Definitions, as slow as they are plain, and random batches to try them on.

use fastrand::Rng;
use grammask_gpu_apply::half::{bf16, f16};
use grammask_gpu_apply::{Instructions, Layout, Logit, Padding, Processor, Rows, Threading};

/// Operations on a logit that tests need and the crate does not.
pub(crate) trait Bits: Logit + std::fmt::Debug {
    const GONE: Self;
    fn from_f32(value: f32) -> Self;
    fn bits(self) -> u32;
    /// Any bits, NaN with payloads included.
    fn any(random: &mut Rng) -> Self;
}

impl Bits for f32 {
    const GONE: Self = f32::NEG_INFINITY;
    fn from_f32(value: f32) -> Self {
        value
    }
    fn bits(self) -> u32 {
        self.to_bits()
    }
    fn any(random: &mut Rng) -> Self {
        f32::from_bits(random.u32(..))
    }
}

impl Bits for f16 {
    const GONE: Self = f16::NEG_INFINITY;
    fn from_f32(value: f32) -> Self {
        f16::from_f32(value)
    }
    fn bits(self) -> u32 {
        self.to_bits().into()
    }
    fn any(random: &mut Rng) -> Self {
        f16::from_bits(random.u16(..))
    }
}

impl Bits for bf16 {
    const GONE: Self = bf16::NEG_INFINITY;
    fn from_f32(value: f32) -> Self {
        bf16::from_f32(value)
    }
    fn bits(self) -> u32 {
        self.to_bits().into()
    }
    fn any(random: &mut Rng) -> Self {
        bf16::from_bits(random.u16(..))
    }
}

/// A layout in plain numbers.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) row_stride: usize,
    pub(crate) column_stride: usize,
    pub(crate) vocabulary: usize,
    pub(crate) mask_stride: usize,
    pub(crate) packed: Option<bool>,
    pub(crate) list: Vec<u32>,
    pub(crate) padding: Padding,
}

impl Shape {
    pub(crate) fn random(random: &mut Rng, most_columns: usize) -> Self {
        let (rows, columns) = (random.usize(1..6), random.usize(1..most_columns));
        let vocabulary = if random.bool() { columns } else { random.usize(1..columns + 70) };
        // Column-major one time in six.
        let (row_stride, column_stride) = match random.u8(..6) {
            0 => (random.usize(1..3), rows * 3),
            1 => (columns * 2 + random.usize(..9), 2),
            _ => (columns + random.usize(..9), 1),
        };
        let mut list: Vec<u32> = (0..rows as u32).collect();
        random.shuffle(&mut list);
        list.truncate(random.usize(0..=rows));
        Self {
            rows,
            columns,
            row_stride,
            column_stride,
            vocabulary,
            mask_stride: if random.u8(..5) == 0 { 0 } else { vocabulary.div_ceil(32) + random.usize(..3) },
            packed: [None, Some(false), Some(true)][random.usize(..3)],
            list,
            padding: if random.bool() { Padding::Forbid } else { Padding::Keep },
        }
    }

    pub(crate) fn layout(&self) -> Layout<'_> {
        Layout::new(self.rows, self.columns)
            .row_stride(self.row_stride as isize)
            .column_stride(self.column_stride as isize)
            .vocabulary(self.vocabulary)
            .mask_stride(self.mask_stride)
            .padding(self.padding)
            .select(match self.packed {
                None => Rows::All,
                Some(false) => Rows::Same(&self.list),
                Some(true) => Rows::Packed(&self.list),
            })
    }

    pub(crate) fn logits(&self) -> usize {
        (self.rows - 1) * self.row_stride + (self.columns - 1) * self.column_stride + 1
    }

    pub(crate) fn words(&self) -> usize {
        (self.rows - 1) * self.mask_stride + self.vocabulary.div_ceil(32)
    }

    /// Pairs of a row of logits and its mask row.
    pub(crate) fn pairs(&self) -> Vec<(usize, usize)> {
        let list = || self.list.iter().map(|&row| row as usize);
        match self.packed {
            None => (0..self.rows).map(|row| (row, row)).collect(),
            Some(false) => list().map(|row| (row, row)).collect(),
            Some(true) => list().enumerate().map(|(index, row)| (row, index)).collect(),
        }
    }

    pub(crate) fn is_allowed(&self, masks: &[u32], mask_row: usize, token: usize) -> bool {
        if token >= self.vocabulary {
            return self.padding == Padding::Keep;
        }
        masks[mask_row * self.mask_stride + token / 32] >> (token % 32) & 1 == 1
    }

    pub(crate) fn place(&self, row: usize, token: usize) -> usize {
        row * self.row_stride + token * self.column_stride
    }

    /// The allowed tokens of a row with their logits, NaN counted as minus infinity.
    pub(crate) fn allowed<T: Bits>(
        &self,
        logits: &[T],
        masks: &[u32],
        (row, mask_row): (usize, usize),
    ) -> Vec<(u32, f32)> {
        (0..self.columns)
            .filter(|&token| self.is_allowed(masks, mask_row, token))
            .map(|token| (token as u32, logits[self.place(row, token)].to_f32()))
            .map(|(token, logit)| (token, if logit.is_nan() { f32::NEG_INFINITY } else { logit }))
            .collect()
    }
}

/// Words of which `sixteenths` of the bits are about set.
pub(crate) fn random_words(random: &mut Rng, count: usize, sixteenths: u8) -> Vec<u32> {
    let bit = |random: &mut Rng| u32::from(random.u8(..16) < sixteenths);
    (0..count).map(|_| (0..32).fold(0, |word, _| word << 1 | bit(random))).collect()
}

/// Every way of computing that this machine has.
pub(crate) fn processors() -> Vec<Processor> {
    let mut processors: Vec<Processor> = Instructions::ALL
        .into_iter()
        .filter(|instructions| instructions.is_available())
        .map(|instructions| Processor { instructions, threads: Threading::Caller })
        .collect();
    processors.push(Processor::default());
    processors
}
