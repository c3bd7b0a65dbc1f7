//! A few bits of a mask, as words with their places.
//!
//! The naive way lists ids. But a tokenizer numbers like tokens together: the thousand numbers of three digits stand
//! in 33 words of a mask, so that "any digits" is set and taken back with a few dozen writes in place of 1,300. Where
//! ids lie apart, a word with its place takes twice the memory of an id and the same time.

use crate::{bits, words_for};

/// Bits, by the words in which any is set; each place once, in no order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Sparse(Box<[WordAt]>);

/// So many ids find their words fastest by comparing.
const FEW: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct WordAt {
    place: u32,
    word: u32,
}

impl Sparse {
    /// The bits of ids, in any order. `scratch` is what it works in: a word for each 32 ids of the vocabulary.
    pub(crate) fn from_ids(ids: &[u32], vocabulary_len: usize, scratch: &mut Vec<u32>) -> Self {
        if ids.len() <= FEW {
            return Self::from_few(ids);
        }
        scratch.clear();
        scratch.resize(words_for(vocabulary_len), 0);
        let mut places = Vec::with_capacity(ids.len().min(scratch.len()));
        for &id in ids {
            if let Some(word) = scratch.get_mut(id as usize / 32) {
                if *word == 0 {
                    places.push(id / 32);
                }
                *word |= 1 << (id % 32);
            }
        }
        Self(places.into_iter().map(|place| WordAt { place, word: scratch[place as usize] }).collect())
    }

    /// As [`from_ids`](Self::from_ids), without clearing as many words as the vocabulary needs.
    fn from_few(ids: &[u32]) -> Self {
        let mut words: Vec<WordAt> = Vec::with_capacity(ids.len());
        for &id in ids {
            let (place, bit) = (id / 32, 1 << (id % 32));
            match words.iter_mut().find(|at| at.place == place) {
                Some(at) => at.word |= bit,
                None => words.push(WordAt { place, word: bit }),
            }
        }
        Self(words.into())
    }

    /// Number of words in which any bit is set.
    pub(crate) fn words(&self) -> usize {
        self.0.len()
    }

    /// Number of bits.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|at| at.word.count_ones() as usize).sum()
    }

    /// The only bit, if there is just one.
    pub(crate) fn single(&self) -> Option<u32> {
        match *self.0 {
            [WordAt { place, word }] if word.is_power_of_two() => Some(place * 32 + word.trailing_zeros()),
            _ => None,
        }
    }

    /// The positions of the bits.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.0
            .iter()
            .flat_map(|at| bits::iter(std::slice::from_ref(&at.word)).map(|bit| at.place * 32 + bit as u32))
    }

    /// Sets the bits.
    pub(crate) fn set(&self, words: &mut [u32]) {
        for at in &self.0 {
            if let Some(word) = words.get_mut(at.place as usize) {
                *word |= at.word;
            }
        }
    }

    /// Clears the bits.
    pub(crate) fn clear(&self, words: &mut [u32]) {
        for at in &self.0 {
            if let Some(word) = words.get_mut(at.place as usize) {
                *word &= !at.word;
            }
        }
    }

    /// Makes the words in which any bit is set what `under` has there: 0 past its end.
    pub(crate) fn take_back(&self, under: &[u32], words: &mut [u32]) {
        for at in &self.0 {
            if let Some(word) = words.get_mut(at.place as usize) {
                *word = under.get(at.place as usize).copied().unwrap_or(0);
            }
        }
    }

    /// Bytes of memory held.
    pub(crate) fn memory_usage(&self) -> usize {
        size_of_val(&*self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_ids() {
        let mut scratch = Vec::new();
        let many: Vec<u32> = (0..40).map(|number| number * 7 % 100).chain([3, 3]).collect();
        for ids in [&[][..], &[0], &[99], &[31, 32], &[5, 64, 7, 6, 64, 95, 96], &many] {
            let sparse = Sparse::from_ids(ids, 100, &mut scratch);
            let mut expected = vec![0; words_for(100)];
            ids.iter().for_each(|&id| bits::set(&mut expected, id as usize));
            let mut words = vec![0; words_for(100)];
            sparse.set(&mut words);
            assert_eq!(words, expected);
            let mut found: Vec<u32> = sparse.ids().collect();
            found.sort_unstable();
            assert_eq!(found, bits::iter(&expected).map(|id| id as u32).collect::<Vec<_>>());
            assert_eq!(sparse.count(), found.len());
            assert_eq!(sparse.single(), (found.len() == 1).then(|| found[0]));
            sparse.clear(&mut words);
            assert_eq!(words, [0; 4]);
        }
    }

    #[test]
    fn what_lies_under_comes_back() {
        let sparse = Sparse::from_ids(&[1, 40, 70], 100, &mut Vec::new());
        let mut words = [0b111, 9, 9, 9];
        sparse.take_back(&[0b10, 3], &mut words);
        assert_eq!(words, [0b10, 3, 0, 9]);
    }
}
