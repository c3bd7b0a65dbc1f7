//! Sets of bytes: bit `b % 64` of word `b / 64` stands for byte `b`.

use std::ops::Range;

/// A set of bytes, as parser backends give them.
pub type ByteSet = [u64; 4];

/// The set of one byte.
#[inline]
pub fn single(byte: u8) -> ByteSet {
    let mut bytes = [0; 4];
    bytes[usize::from(byte >> 6)] = 1 << (byte & 63);
    bytes
}

/// Puts the bytes from `first` to `last` into a set.
#[inline]
pub fn add_range(bytes: &mut ByteSet, first: u8, last: u8) {
    let (low, high) = (usize::from(first >> 6), usize::from(last >> 6));
    let (from, to) = (u64::MAX << (first & 63), u64::MAX >> (63 - (last & 63)));
    if low == high {
        bytes[low] |= from & to;
        return;
    }
    bytes[low] |= from;
    bytes[low + 1..high].fill(u64::MAX);
    bytes[high] |= to;
}

/// Whether a byte is in a set.
#[inline]
pub fn contains(bytes: &ByteSet, byte: u8) -> bool {
    bytes[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
}

/// The bytes of a set that are not in another one.
#[inline]
pub fn difference(bytes: ByteSet, others: ByteSet) -> ByteSet {
    std::array::from_fn(|word| bytes[word] & !others[word])
}

/// The bytes of a set, ascending.
#[inline]
pub fn iter(bytes: &ByteSet) -> impl Iterator<Item = u8> + '_ {
    [0u8, 64, 128, 192].into_iter().zip(bytes).flat_map(|(first, &word)| {
        // Each step takes the lowest bit off the word.
        std::iter::successors((word != 0).then_some(word), |&left| {
            let left = left & (left - 1);
            (left != 0).then_some(left)
        })
        .map(move |left| first + left.trailing_zeros() as u8)
    })
}

/// The bytes of a set as ranges, ascending; one over the end of a word comes in two pieces.
pub fn ranges(bytes: ByteSet) -> impl Iterator<Item = Range<usize>> {
    bytes.into_iter().enumerate().flat_map(|(place, word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let first = (left != 0).then(|| left.trailing_zeros())?;
            let end = first + (left >> first).trailing_ones();
            left &= u64::MAX.checked_shl(end).unwrap_or(0);
            Some(place * 64 + first as usize..place * 64 + end as usize)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_set_their_bits() {
        for (first, last) in [(0u8, 255u8), (0, 0), (63, 64), (65, 200), (255, 255), (128, 191), (1, 130)] {
            let mut bytes = single(first);
            add_range(&mut bytes, first, last);
            let range = first..=last;
            assert!((0..=255).all(|byte| contains(&bytes, byte) == range.contains(&byte)), "{range:?}");
            assert!(iter(&bytes).eq(range.clone()));
            assert!(ranges(bytes).flatten().eq(usize::from(first)..=usize::from(last)));
            assert_eq!(difference(bytes, bytes), [0; 4]);
        }
    }
}
