//! Random vocabularies that fit a grammar, more or less.

use super::{Rng, walk};
use crate::recogniser::Recogniser;

/// Knobs of [`vocabulary`]. Percentages are of tokens.
#[derive(Clone, Debug)]
pub struct VocabularyOptions {
    /// Most tokens. Default 32.
    pub tokens: usize,
    /// Most bytes of a token. Default 6.
    pub token_bytes: usize,
    /// Ids without bytes: holes, padding, special tokens. Default 6.
    pub empty_percent: u32,
    /// Tokens that have the same bytes as an earlier one. Default 6.
    pub equal_percent: u32,
    /// Tokens of arbitrary bytes, most of them not UTF-8. Default 8.
    pub noise_percent: u32,
    /// Tokens that are one byte, whichever; too few to spell everything. Default 20.
    pub single_percent: u32,
}

impl Default for VocabularyOptions {
    fn default() -> Self {
        Self {
            tokens: 32,
            token_bytes: 6,
            empty_percent: 6,
            equal_percent: 6,
            noise_percent: 8,
            single_percent: 20,
        }
    }
}

/// A vocabulary. Most tokens are pieces of texts of the grammar, cut anywhere, also inside characters; some
/// have a wrong byte at the end.
pub fn vocabulary(rng: &mut Rng, recogniser: &Recogniser, options: &VocabularyOptions) -> Vec<Vec<u8>> {
    let count = rng.between(options.tokens.min(1), options.tokens);
    let texts: Vec<Vec<u8>> = (0..4).map(|_| walk(rng, recogniser, 12)).collect();
    let mut tokens: Vec<Vec<u8>> = Vec::with_capacity(count);
    while tokens.len() < count {
        let named =
            [options.empty_percent, options.equal_percent, options.noise_percent, options.single_percent];
        let rest = 100_u32.saturating_sub(named.iter().sum());
        let kind = rng.weighted(&[named[0], named[1], named[2], named[3], rest]);
        let token = match kind {
            Some(0) => Vec::new(),
            Some(1) => rng.pick(&tokens).cloned().unwrap_or_default(),
            Some(2) => (0..rng.between(1, options.token_bytes)).map(|_| rng.below(256) as u8).collect(),
            Some(3) => vec![single(rng, &texts)],
            _ => piece(rng, &texts, options.token_bytes),
        };
        tokens.push(token);
    }
    tokens
}

fn single(rng: &mut Rng, texts: &[Vec<u8>]) -> u8 {
    let letters: Vec<u8> = texts.concat();
    match rng.percent(70) {
        true => rng.pick(&letters).copied().unwrap_or(b'a'),
        false => *rng.pick(b"abc01\"\\{}[]:,-u ").unwrap_or(&b'a'),
    }
}

fn piece(rng: &mut Rng, texts: &[Vec<u8>], longest: usize) -> Vec<u8> {
    let text = rng.pick(texts).map_or(&[][..], |text| text);
    let start = rng.below(text.len());
    let end = rng.between(start, text.len()).min(start + longest);
    let mut token = text[start..end].to_vec();
    if token.len() < longest && rng.percent(25) {
        token.push(single(rng, texts));
    }
    token
}
