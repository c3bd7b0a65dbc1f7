//! Whole masks from the naive recogniser, affordably.
//!
//! The naive way reads every token from the state at hand: for 128,000 tokens that is half a million steps of
//! an Earley chart a mask. Sorted by bytes, a token shares its beginning with the one before it. So only the
//! new bytes are read, and after a refused byte everything with that beginning is skipped.

use grammask_oracle::Chart;

/// The tokens with bytes of a vocabulary, sorted by bytes.
#[derive(Debug)]
pub(crate) struct SortedVocabulary {
    tokens: Vec<SortedToken>,
}

#[derive(Debug)]
struct SortedToken {
    bytes: Box<[u8]>,
    id: u32,
    /// Bytes shared with the token before.
    shared: usize,
}

impl SortedVocabulary {
    /// Sorts tokens; those without bytes are left out, for they are never allowed.
    pub(crate) fn new(tokens: impl IntoIterator<Item = (u32, Vec<u8>)>) -> Self {
        let mut tokens: Vec<SortedToken> = tokens
            .into_iter()
            .filter(|(_, bytes)| !bytes.is_empty())
            .map(|(id, bytes)| SortedToken { bytes: bytes.into(), id, shared: 0 })
            .collect();
        tokens.sort_by(|a, b| a.bytes.cmp(&b.bytes));
        for position in 1..tokens.len() {
            let (before, here) = (&tokens[position - 1].bytes, &tokens[position].bytes);
            tokens[position].shared = before.iter().zip(here.iter()).take_while(|(a, b)| a == b).count();
        }
        Self { tokens }
    }

    /// Writes the mask of the chart's state, without end tokens. The chart is as before afterwards.
    pub(crate) fn mask(&self, chart: &mut Chart<'_>, words: &mut [u32]) {
        words.fill(0);
        let start = chart.len();
        // How many bytes of the last token that was looked at have been read.
        let mut read = 0;
        for token in &self.tokens {
            if token.shared > read {
                // It begins with the byte at which the last one was refused.
                continue;
            }
            chart.truncate(start + token.shared);
            read = token.shared;
            while read < token.bytes.len() && chart.push(token.bytes[read]) {
                read += 1;
            }
            if read == token.bytes.len() {
                words[(token.id / 32) as usize] |= 1 << (token.id % 32);
            }
        }
        chart.truncate(start);
    }
}

/// Ids of which the bits differ.
pub(crate) fn differences(a: &[u32], b: &[u32]) -> Vec<u32> {
    let words = a.iter().zip(b).enumerate();
    words
        .flat_map(|(index, (a, b))| {
            let differing = a ^ b;
            (0..32).filter(move |bit| differing >> bit & 1 == 1).map(move |bit| index as u32 * 32 + bit)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use grammask_grammar_ir::GrammarBuilder;
    use grammask_oracle::Recogniser;

    use super::*;

    #[test]
    fn shared_beginnings_change_nothing() {
        // root ::= "(" root ")" | "ab"
        let mut builder = GrammarBuilder::new();
        let root = builder.declare("root").unwrap();
        let (open, inner, close) = (builder.literal("("), builder.rule(root), builder.literal(")"));
        let nested = builder.sequence([open, inner, close]);
        let leaf = builder.literal("ab");
        let body = builder.choice([nested, leaf]);
        builder.define(root, body).unwrap();
        let recogniser = Recogniser::new(&builder.finish(root).unwrap());
        let texts: [&str; 12] = ["((", "(", "", "(a", "(ab)", "(ab))", "(ac", "(aca", "a", "ab", "b", "(a"];
        let tokens: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        let vocabulary = SortedVocabulary::new((0..).zip(tokens.clone()));
        for prefix in ["", "(", "((", "(a", "((ab", "ab"] {
            let mut chart = recogniser.read(prefix.as_bytes()).unwrap();
            let mut words = [0];
            vocabulary.mask(&mut chart, &mut words);
            assert_eq!(chart.len(), prefix.len());
            let naive = grammask_oracle::mask(&chart, &tokens);
            let naive = naive.iter().enumerate().fold(0, |word, (id, &bit)| word | u32::from(bit) << id);
            assert_eq!(differences(&words, &[naive]), [0u32; 0], "after {prefix:?}");
        }
    }

    #[test]
    fn differences_are_ids() {
        assert_eq!(differences(&[0b101, 1 << 31], &[0b100, 0]), [0, 63]);
    }
}
