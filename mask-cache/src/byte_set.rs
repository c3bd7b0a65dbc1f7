//! Sets of bytes: bit `b % 64` of word `b / 64` stands for byte `b`.

/// A set of bytes, as parser backends give them.
pub(crate) type ByteSet = [u64; 4];

/// The set of one byte.
pub(crate) fn single(byte: u8) -> ByteSet {
    let mut bytes = [0; 4];
    bytes[usize::from(byte >> 6)] = 1 << (byte & 63);
    bytes
}

/// Whether a byte is in a set.
#[inline]
pub(crate) fn contains(bytes: &ByteSet, byte: u8) -> bool {
    bytes[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
}

/// The bytes of a set that are not in another one.
pub(crate) fn difference(bytes: ByteSet, others: ByteSet) -> ByteSet {
    std::array::from_fn(|word| bytes[word] & !others[word])
}

/// The bytes of a set, ascending.
pub(crate) fn iter(bytes: &ByteSet) -> impl Iterator<Item = u8> + '_ {
    [0u8, 64, 128, 192].into_iter().zip(bytes).flat_map(|(first, &word)| {
        // Each step takes the lowest bit off the word.
        std::iter::successors((word != 0).then_some(word), |&left| {
            let left = left & (left - 1);
            (left != 0).then_some(left)
        })
        .map(move |left| first + left.trailing_zeros() as u8)
    })
}
