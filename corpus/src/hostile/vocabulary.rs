//! A vocabulary with what makes masks dear: every byte, every pair of printable characters, words, runs, cut characters.

use std::sync::Arc;

use grammask_mask_cache::{Vocabulary, VocabularyError, VocabularyOptions};

const SYLLABLES: [&str; 20] = [
    "a", "al", "b", "be", "ch", "de", "en", "ing", "k", "no", "p", "re", "st", "the", "ver", "x", "0", "1",
    "ß", "中",
];

/// The vocabulary that hostile inputs are tried with: some 17,000 tokens, the same each time. Ids below 256 are the bytes
/// of their numbers; the last id is the stop token.
pub fn vocabulary() -> Result<Arc<Vocabulary>, VocabularyError> {
    let mut tokens: Vec<Vec<u8>> = Vec::new();
    for one in b' '..=b'~' {
        tokens.extend((b' '..=b'~').map(|other| vec![one, other]));
    }
    let count = SYLLABLES.len();
    for word in 0..count.pow(3) {
        let parts = [word % count, word / count % count, word / (count * count)];
        let text: String = parts.iter().map(|&part| SYLLABLES[part]).collect();
        tokens.push(format!(" {text}").into_bytes());
        tokens.push(text.into_bytes());
    }
    for length in [2, 3, 4, 8, 16, 32, 64, 100] {
        for part in [" ", "\n", "a", "ab", "[", "{\"a\":", "中", "=", "0"] {
            tokens.push(part.repeat(length).into_bytes());
        }
    }
    for number in 0..1_000 {
        tokens.push(number.to_string().into_bytes());
        tokens.push(format!("k{number}\": ").into_bytes());
    }
    tokens.extend([&b"\xe4\xb8"[..], b"\xad\xe6\x96", b"a\xf0\x9f", b"\xff\xfe"].map(<[u8]>::to_vec));
    tokens.retain(|token| token.len() > 1);
    tokens.sort();
    tokens.dedup();
    let all: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).chain(tokens).collect();
    let stop = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let options = VocabularyOptions::default().stop_ids([stop]);
    Vocabulary::from_tokens(all.into_iter().map(Some).chain([None]), &options).map(Arc::new)
}
