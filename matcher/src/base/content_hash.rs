//! Hashes of long texts, under a key of the process.

use grammask_grammar_ir::hash::hash_of;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// For shorter texts the hasher of all other data is as fast, because `xxh3` makes its secret anew for each
/// text. At 300 bytes the two take 290 instructions and 440, at 2,000 bytes 1,670 and 1,600.
const LONG: usize = 1 << 11;

/// The hash of texts, each as a whole. Callers that look something up by it compare the texts, because it is
/// not cryptographic. For a document of 16 KB it takes 11,000 instructions, and `ahash` 27,000 where the
/// processor's AES is not compiled in.
pub(crate) fn content_hash<const N: usize>(parts: [impl AsRef<[u8]>; N]) -> u64 {
    let key = hash_of(N);
    parts.iter().fold(key, |key, part| match part.as_ref() {
        short if short.len() < LONG => hash_of((key, short)),
        long => xxh3_64_with_seed(long, key),
    })
}
