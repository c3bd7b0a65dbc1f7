//! Writing minus infinity over forbidden logits, with the widest instructions that the processor has.
//!
//! The naive way asks for every token whether its bit is set and writes if not: for masks without a pattern
//! the branch is mispredicted half of the time, some 5 nanoseconds a token. Without the branch (write what is
//! chosen between the logit and minus infinity) a compiler still shifts bits one by one. The instruction sets
//! can do better: AVX-512 takes bits of a word of the mask as they are and stores under them, AVX2 and NEON
//! widen them to lanes with one comparison and blend. A whole word of ones costs nothing, so that nearly full
//! masks read little more than the mask.

#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

/// Instructions that masks are applied with. All give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Instructions {
    /// No vector instructions beyond what the program was compiled for.
    Scalar,
    /// 128-bit vectors of aarch64.
    Neon,
    /// 256-bit vectors of x86-64.
    Avx2,
    /// 512-bit vectors of x86-64 with the parts F, BW, DQ and VL.
    Avx512,
}

impl Instructions {
    /// All that this program knows, worst first.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512];

    /// The best that this processor has.
    #[must_use]
    pub fn detect() -> Self {
        Self::ALL.into_iter().rev().find(|instructions| instructions.is_available()).unwrap_or(Self::Scalar)
    }

    /// Whether this processor has them.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx2")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[allow(unreachable_patterns, reason = "which arms exist depends on the target")]
            _ => false,
        }
    }
}

/// The bits of a logit: `u32` or `u16`.
pub trait Lane: Copy + Send + Sync + Default + PartialEq + 'static {
    /// Overwrites with `fill` every lane whose bit is 0. `words` has a bit for each lane.
    #[doc(hidden)]
    fn fill_forbidden(instructions: Instructions, lanes: &mut [Self], words: &[u32], fill: Self);
}

impl Lane for u32 {
    #[inline]
    fn fill_forbidden(instructions: Instructions, lanes: &mut [Self], words: &[u32], fill: Self) {
        match instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 if instructions.is_available() => x86::avx512_32(lanes, words, fill),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 if instructions.is_available() => x86::avx2_32(lanes, words, fill),
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon if instructions.is_available() => neon::neon_32(lanes, words, fill),
            _ => scalar::fill(lanes, words, fill),
        }
    }
}

impl Lane for u16 {
    #[inline]
    fn fill_forbidden(instructions: Instructions, lanes: &mut [Self], words: &[u32], fill: Self) {
        match instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 if instructions.is_available() => x86::avx512_16(lanes, words, fill),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 if instructions.is_available() => x86::avx2_16(lanes, words, fill),
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon if instructions.is_available() => neon::neon_16(lanes, words, fill),
            _ => scalar::fill(lanes, words, fill),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, as the definition says.
    fn reference<L: Lane>(lanes: &mut [L], words: &[u32], fill: L) {
        for (index, lane) in lanes.iter_mut().enumerate() {
            if words[index / 32] >> (index % 32) & 1 == 0 {
                *lane = fill;
            }
        }
    }

    fn check<L: Lane + std::fmt::Debug>(fill: L, make: impl Fn(u64) -> L) {
        let mut random = fastrand::Rng::with_seed(7);
        for instructions in Instructions::ALL.into_iter().filter(|one| one.is_available()) {
            for length in (0..200).chain([1000, 1024, 4099]) {
                for density in 0..5 {
                    let words: Vec<u32> = (0..usize::div_ceil(length, 32))
                        .map(|_| match density {
                            0 => 0,
                            1 => u32::MAX,
                            2 => random.u32(..) & random.u32(..) & random.u32(..) & random.u32(..),
                            3 => random.u32(..) | random.u32(..) | random.u32(..) | random.u32(..),
                            _ => random.u32(..),
                        })
                        .collect();
                    let offset = random.usize(..4);
                    let memory: Vec<L> = (0..length + offset).map(|_| make(random.u64(..))).collect();
                    let (mut ours, mut theirs) = (memory.clone(), memory);
                    L::fill_forbidden(instructions, &mut ours[offset..], &words, fill);
                    reference(&mut theirs[offset..], &words, fill);
                    assert_eq!(ours, theirs, "{instructions:?}, {length} lanes");
                }
            }
        }
    }

    #[test]
    fn all_instruction_sets_write_the_same() {
        check(0xff80_0000_u32, |bits| bits as u32);
        check(0xfc00_u16, |bits| bits as u16);
        check(0xff80_u16, |bits| bits as u16);
    }
}
