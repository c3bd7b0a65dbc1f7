//! Random texts of a grammar, and texts that are slightly wrong.

use super::Rng;
use crate::recogniser::Recogniser;

/// A text of at most `longest` bytes that begins some sentence, made by taking allowed bytes one by one. It is
/// shorter only where a sentence has no way on.
pub fn walk(rng: &mut Rng, recogniser: &Recogniser, longest: usize) -> Vec<u8> {
    walk_marking_ends(rng, recogniser, longest).0
}

/// A sentence of at most `longest` bytes, if a few random walks find one.
pub fn sentence(rng: &mut Rng, recogniser: &Recogniser, longest: usize) -> Option<Vec<u8>> {
    for _ in 0..4 {
        let (mut text, ends) = walk_marking_ends(rng, recogniser, longest);
        if let Some(&end) = rng.pick(&ends) {
            text.truncate(end);
            return Some(text);
        }
    }
    None
}

/// A text with one to three small changes: bytes left out, repeated, replaced, put in or swapped.
pub fn mutate(rng: &mut Rng, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..rng.between(1, 3) {
        let at = rng.below(text.len());
        let byte = match rng.percent(70) {
            true => *rng.pick(b"abc01\"\\{}[]:,-u \xC3\xA9").unwrap_or(&b'a'),
            false => rng.below(256) as u8,
        };
        match rng.below(5) {
            _ if text.is_empty() => text.push(byte),
            0 => _ = text.remove(at),
            1 => text.insert(at, text[at]),
            2 => text[at] = byte,
            3 => text.insert(at, byte),
            _ => {
                let other = rng.below(text.len());
                text.swap(at, other);
            }
        }
    }
    text
}

/// A walk, and the lengths at which it was a sentence.
fn walk_marking_ends(rng: &mut Rng, recogniser: &Recogniser, longest: usize) -> (Vec<u8>, Vec<usize>) {
    let mut chart = recogniser.begin();
    let mut text = Vec::new();
    let mut ends = Vec::new();
    loop {
        if chart.is_complete() {
            ends.push(text.len());
        }
        if text.len() >= longest {
            return (text, ends);
        }
        let allowed = chart.next_bytes();
        // Wide classes allow some 200 bytes, most of them parts of characters that nothing else mentions.
        let plain: Vec<u8> = allowed.iter().copied().filter(|byte| b"abc01\"\\".contains(byte)).collect();
        let from = if !plain.is_empty() && rng.percent(80) { &plain } else { &allowed };
        let Some(&byte) = rng.pick(from) else {
            return (text, ends);
        };
        chart.push(byte);
        text.push(byte);
    }
}
