//! The three types that logits come in.

use half::{bf16, f16};

use crate::simd::Lane;

/// A type of logits: `f32`, [`half::f16`] or [`half::bf16`].
///
/// Sealed: kernels exist for these three alone.
pub trait Logit: Copy + Send + Sync + sealed::Sealed {
    /// The unsigned integer of the same size.
    #[doc(hidden)]
    type Bits: Lane;
    /// Minus infinity, bit by bit.
    #[doc(hidden)]
    const NEGATIVE_INFINITY: Self::Bits;

    /// The value as an `f32`, exactly.
    fn to_f32(self) -> f32;

    /// The values as `f32`s: themselves, or in `buffer`, which is at least as long.
    #[doc(hidden)]
    #[inline(always)]
    fn floats<'a>(logits: &'a [Self], buffer: &'a mut [f32]) -> &'a [f32] {
        let buffer = &mut buffer[..logits.len()];
        for (float, logit) in buffer.iter_mut().zip(logits) {
            *float = logit.to_f32();
        }
        buffer
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for half::f16 {}
    impl Sealed for half::bf16 {}
}

impl Logit for f32 {
    type Bits = u32;
    const NEGATIVE_INFINITY: u32 = 0xff80_0000;

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }

    #[inline(always)]
    fn floats<'a>(logits: &'a [Self], _: &'a mut [f32]) -> &'a [f32] {
        logits
    }
}

impl Logit for bf16 {
    type Bits = u16;
    const NEGATIVE_INFINITY: u16 = 0xff80;

    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}

impl Logit for f16 {
    type Bits = u16;
    const NEGATIVE_INFINITY: u16 = 0xfc00;

    /// `half` asks for the processor's instruction at every call, which keeps loops from being vectorised;
    /// this is arithmetic alone. The bits are moved to where `f32` has them and the exponent is moved by the
    /// difference of the biases (112). Infinities and NaN need that difference twice; subnormals, which have
    /// no leading one, get one and have it subtracted again.
    #[inline(always)]
    fn to_f32(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let magnitude = (bits & 0x7fff) << 13;
        let moved = magnitude + (112 << 23);
        let special = f32::from_bits(moved + (112 << 23));
        let subnormal = f32::from_bits(moved + (1 << 23)) - f32::from_bits(113 << 23);
        let value = match bits & 0x7c00 {
            0x7c00 => special,
            0 => subnormal,
            _ => f32::from_bits(moved),
        };
        f32::from_bits(value.to_bits() | (bits & 0x8000) << 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read_exactly() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (Logit::to_f32(f16::from_bits(bits)), f16::from_bits(bits).to_f32());
            assert!(
                ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()),
                "f16 {bits:#x}"
            );
            let (ours, theirs) = (Logit::to_f32(bf16::from_bits(bits)), bf16::from_bits(bits).to_f32());
            assert!(
                ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()),
                "bf16 {bits:#x}"
            );
        }
    }
}
