//! Lists of tokens, shortest first, of which a mask takes a prefix: all tokens up to a length.
//!
//! The naive way appends the ids of the prefix to those that a walk finds, and sorts all of them into words of the
//! mask. But a number may begin with any of a thousand tokens, and nearly every mask outside of strings has such a list.
//! So the words of each prefix are computed with the list: the thousand numbers take 33 of them.

use grammask_parser_backend::Run;

use crate::mask::sparse_words::SparseWords;

/// Tokens by their lengths.
#[derive(Debug)]
pub(crate) struct LengthPrefixes {
    /// Each distinct prefix, shortest first.
    words: Box<[SparseWords]>,
    /// For each length the place in `words` of the tokens of at most that length.
    places: Box<[usize]>,
}

impl LengthPrefixes {
    /// The prefixes of a list of tokens with their lengths.
    pub(crate) fn new(mut tokens: Vec<(usize, u32)>, vocabulary_len: usize) -> Self {
        tokens.sort_unstable();
        let mut zeros = Vec::new();
        let mut words: Vec<SparseWords> = Vec::new();
        let mut places = Vec::new();
        let mut ids: Vec<u32> = Vec::with_capacity(tokens.len());
        let longest = tokens.last().map_or(0, |&(length, _)| length);
        for length in 0..=longest {
            let before = ids.len();
            ids.extend(tokens[before..].iter().take_while(|&&(other, _)| other == length).map(|&(_, id)| id));
            // Lengths without a token of their own share the words of the length before.
            if words.is_empty() || before < ids.len() {
                words.push(SparseWords::from_ids(&ids, vocabulary_len, &mut zeros));
            }
            places.push(words.len() - 1);
        }
        Self { words: words.into(), places: places.into() }
    }

    /// Whether there is no token.
    pub(crate) fn is_empty(&self) -> bool {
        self.all().words() == 0
    }

    /// The tokens that are allowed where a run is; `None` where that is not known.
    pub(crate) fn allowed(&self, run: Run) -> Option<&SparseWords> {
        match run {
            Run::Unbounded => Some(self.all()),
            Run::AtMost(length) => Some(self.at_most(length as usize)),
            _ => None,
        }
    }

    /// The tokens of at most a length.
    pub(crate) fn at_most(&self, length: usize) -> &SparseWords {
        self.places.get(length).map_or_else(|| self.all(), |&place| &self.words[place])
    }

    fn all(&self) -> &SparseWords {
        self.words.last().expect("there is a prefix without tokens at least")
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let words = self.words.iter().map(|words| size_of::<SparseWords>() + words.memory_usage());
        words.sum::<usize>() + size_of_val(&*self.places)
    }
}
