//! The entry: rows of lanes, written with the instructions that the caller chose.

use super::instructions::Instructions;
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::x86;

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
