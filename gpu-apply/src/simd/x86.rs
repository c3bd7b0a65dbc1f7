//! AVX2 and AVX-512.
#![expect(unsafe_code, reason = "vector loads and stores take pointers; measured in docs/benchmarks.md")]

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_and_si256, _mm256_blendv_epi8, _mm256_cmpeq_epi16, _mm256_cmpeq_epi32,
    _mm256_loadu_si256, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setr_epi16, _mm256_setr_epi32,
    _mm256_storeu_si256, _mm512_loadu_si512, _mm512_mask_blend_epi16, _mm512_mask_blend_epi32,
    _mm512_set1_epi16, _mm512_set1_epi32, _mm512_storeu_si512,
};

use super::scalar;

pub(super) fn avx512_32(lanes: &mut [u32], words: &[u32], fill: u32) {
    let (whole, rest) = lanes.as_chunks_mut::<32>();
    let (words, rest_words) = words.split_at(whole.len().min(words.len()));
    // SAFETY: the caller asked `is_available`.
    unsafe { avx512_32_words(whole, words, fill) };
    scalar::fill(rest, rest_words, fill);
}

pub(super) fn avx512_16(lanes: &mut [u16], words: &[u32], fill: u16) {
    let (whole, rest) = lanes.as_chunks_mut::<32>();
    let (words, rest_words) = words.split_at(whole.len().min(words.len()));
    // SAFETY: the caller asked `is_available`.
    unsafe { avx512_16_words(whole, words, fill) };
    scalar::fill(rest, rest_words, fill);
}

pub(super) fn avx2_32(lanes: &mut [u32], words: &[u32], fill: u32) {
    let (whole, rest) = lanes.as_chunks_mut::<32>();
    let (words, rest_words) = words.split_at(whole.len().min(words.len()));
    // SAFETY: the caller asked `is_available`.
    unsafe { avx2_32_words(whole, words, fill) };
    scalar::fill(rest, rest_words, fill);
}

pub(super) fn avx2_16(lanes: &mut [u16], words: &[u32], fill: u16) {
    let (whole, rest) = lanes.as_chunks_mut::<32>();
    let (words, rest_words) = words.split_at(whole.len().min(words.len()));
    // SAFETY: the caller asked `is_available`.
    unsafe { avx2_16_words(whole, words, fill) };
    scalar::fill(rest, rest_words, fill);
}

#[target_feature(enable = "avx512f,avx512bw")]
fn avx512_32_words(lanes: &mut [[u32; 32]], words: &[u32], fill: u32) {
    let fill = _mm512_set1_epi32(fill.cast_signed());
    for (lanes, &word) in lanes.iter_mut().zip(words) {
        if word == u32::MAX {
            continue;
        }
        let at: *mut __m512i = lanes.as_mut_ptr().cast();
        // SAFETY: `at` begins 32 lanes of 4 bytes, two vectors; unaligned loads and stores need no more.
        unsafe {
            let (low, high) = (_mm512_loadu_si512(at), _mm512_loadu_si512(at.add(1)));
            _mm512_storeu_si512(at, _mm512_mask_blend_epi32(word as u16, fill, low));
            _mm512_storeu_si512(at.add(1), _mm512_mask_blend_epi32((word >> 16) as u16, fill, high));
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn avx512_16_words(lanes: &mut [[u16; 32]], words: &[u32], fill: u16) {
    let fill = _mm512_set1_epi16(fill.cast_signed());
    for (lanes, &word) in lanes.iter_mut().zip(words) {
        if word == u32::MAX {
            continue;
        }
        let at: *mut __m512i = lanes.as_mut_ptr().cast();
        // SAFETY: `at` begins 32 lanes of 2 bytes, one vector; unaligned loads and stores need no more.
        unsafe { _mm512_storeu_si512(at, _mm512_mask_blend_epi16(word, fill, _mm512_loadu_si512(at))) };
    }
}

/// Each lane of a vector looks at its own bit of the byte: copied to all lanes, compared with one bit a lane.
#[target_feature(enable = "avx2")]
fn avx2_32_words(lanes: &mut [[u32; 32]], words: &[u32], fill: u32) {
    let fill = _mm256_set1_epi32(fill.cast_signed());
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (lanes, &word) in lanes.iter_mut().zip(words) {
        if word == u32::MAX {
            continue;
        }
        let at: *mut __m256i = lanes.as_mut_ptr().cast();
        for part in 0..4 {
            let byte = _mm256_set1_epi32((word >> (8 * part)).cast_signed());
            let allowed = _mm256_cmpeq_epi32(_mm256_and_si256(byte, bits), bits);
            // SAFETY: `at` begins 32 lanes of 4 bytes, four vectors of which `part` names one; unaligned
            // loads and stores need no more.
            unsafe {
                let at = at.add(part);
                _mm256_storeu_si256(at, _mm256_blendv_epi8(fill, _mm256_loadu_si256(at), allowed));
            }
        }
    }
}

#[target_feature(enable = "avx2")]
fn avx2_16_words(lanes: &mut [[u16; 32]], words: &[u32], fill: u16) {
    let fill = _mm256_set1_epi16(fill.cast_signed());
    let last = i16::MIN;
    let bits = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, last);
    for (lanes, &word) in lanes.iter_mut().zip(words) {
        if word == u32::MAX {
            continue;
        }
        let at: *mut __m256i = lanes.as_mut_ptr().cast();
        for part in 0..2 {
            let half = _mm256_set1_epi16((word >> (16 * part)) as i16);
            let allowed = _mm256_cmpeq_epi16(_mm256_and_si256(half, bits), bits);
            // SAFETY: `at` begins 32 lanes of 2 bytes, two vectors of which `part` names one; unaligned loads
            // and stores need no more.
            unsafe {
                let at = at.add(part);
                _mm256_storeu_si256(at, _mm256_blendv_epi8(fill, _mm256_loadu_si256(at), allowed));
            }
        }
    }
}
