//! Sets of bytes as 256 bits: bit `b % 64` of word `b / 64`.

/// The bytes of a set, the least first.
pub(crate) fn allowed_bytes(bits: &[u64; 4]) -> impl Iterator<Item = u8> + '_ {
    (0..=255u8).filter(|&byte| bits[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1)
}

/// The only byte of a set, if it holds just one.
pub(crate) fn only_byte(bits: &[u64; 4]) -> Option<u8> {
    let count: u32 = bits.iter().map(|word| word.count_ones()).sum();
    if count == 1 { allowed_bytes(bits).next() } else { None }
}
