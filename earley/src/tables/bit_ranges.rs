//! Ranges of bytes as bits, and back.

use std::ops::Range;

use super::ids::index;

/// The set bits, as ranges; a range over the end of a word comes in two pieces.
pub(crate) fn ranges(bits: [u64; 4]) -> impl Iterator<Item = Range<usize>> {
    bits.into_iter().enumerate().flat_map(|(place, word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let first = (left != 0).then(|| left.trailing_zeros())?;
            let end = first + (left >> first).trailing_ones();
            left &= u64::MAX.checked_shl(end).unwrap_or(0);
            Some(place * 64 + index(first)..place * 64 + index(end))
        })
    })
}

/// Sets the bits of `first..=last`.
#[inline]
pub(crate) fn add_range(bits: &mut [u64; 4], first: u8, last: u8) {
    let (low, high) = (usize::from(first >> 6), usize::from(last >> 6));
    let (from, to) = (u64::MAX << (first & 63), u64::MAX >> (63 - (last & 63)));
    if low == high {
        bits[low] |= from & to;
        return;
    }
    bits[low] |= from;
    bits[low + 1..high].fill(u64::MAX);
    bits[high] |= to;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_set_their_bits() {
        for (start, end) in [(0u8, 255u8), (0, 0), (63, 64), (65, 200), (255, 255), (128, 191), (1, 130)] {
            let mut bits = [0; 4];
            add_range(&mut bits, start, end);
            for byte in 0..=255u8 {
                let set = bits[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1;
                assert_eq!(set, (start..=end).contains(&byte), "{start}..={end} at {byte}");
            }
            let range = usize::from(start)..=usize::from(end);
            assert_eq!(ranges(bits).flatten().collect::<Vec<_>>(), range.collect::<Vec<_>>());
        }
    }
}
