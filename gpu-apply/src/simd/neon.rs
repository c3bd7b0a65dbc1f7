//! NEON.
#![expect(unsafe_code, reason = "vector loads and stores take pointers")]

use std::arch::aarch64::{
    vbslq_u16, vbslq_u32, vdupq_n_u16, vdupq_n_u32, vld1q_u16, vld1q_u32, vst1q_u16, vst1q_u32, vtstq_u16,
    vtstq_u32,
};

use super::scalar;

pub(super) fn neon_32(lanes: &mut [u32], words: &[u32], fill: u32) {
    let (whole, rest) = lanes.as_chunks_mut::<32>();
    let (words, rest_words) = words.split_at(whole.len().min(words.len()));
    // SAFETY: the caller asked `is_available`.
    unsafe { neon_32_words(whole, words, fill) };
    scalar::fill(rest, rest_words, fill);
}

pub(super) fn neon_16(lanes: &mut [u16], words: &[u32], fill: u16) {
    let (whole, rest) = lanes.as_chunks_mut::<32>();
    let (words, rest_words) = words.split_at(whole.len().min(words.len()));
    // SAFETY: the caller asked `is_available`.
    unsafe { neon_16_words(whole, words, fill) };
    scalar::fill(rest, rest_words, fill);
}

/// Each lane of a vector looks at its own bit of the mask: the word copied to all lanes, tested with one bit
/// a lane.
#[target_feature(enable = "neon")]
fn neon_32_words(lanes: &mut [[u32; 32]], words: &[u32], fill: u32) {
    let fill = vdupq_n_u32(fill);
    // SAFETY: reads the four lanes of the array.
    let bits = unsafe { vld1q_u32([1, 2, 4, 8].as_ptr()) };
    for (lanes, &word) in lanes.iter_mut().zip(words) {
        if word == u32::MAX {
            continue;
        }
        for part in 0..8 {
            let allowed = vtstq_u32(vdupq_n_u32(word >> (4 * part)), bits);
            // SAFETY: the 32 lanes are eight vectors of which `part` names one.
            unsafe {
                let at = lanes.as_mut_ptr().add(4 * part);
                vst1q_u32(at, vbslq_u32(allowed, vld1q_u32(at), fill));
            }
        }
    }
}

#[target_feature(enable = "neon")]
fn neon_16_words(lanes: &mut [[u16; 32]], words: &[u32], fill: u16) {
    let fill = vdupq_n_u16(fill);
    // SAFETY: reads the eight lanes of the array.
    let bits = unsafe { vld1q_u16([1, 2, 4, 8, 16, 32, 64, 128].as_ptr()) };
    for (lanes, &word) in lanes.iter_mut().zip(words) {
        if word == u32::MAX {
            continue;
        }
        for part in 0..4 {
            let allowed = vtstq_u16(vdupq_n_u16((word >> (8 * part)) as u16), bits);
            // SAFETY: the 32 lanes are four vectors of which `part` names one.
            unsafe {
                let at = lanes.as_mut_ptr().add(8 * part);
                vst1q_u16(at, vbslq_u16(allowed, vld1q_u16(at), fill));
            }
        }
    }
}
