//! A few bits of a mask, as words with their places.
//!
//! The naive way lists ids. But a tokenizer numbers similar tokens together. The thousand numbers of three
//! digits are in 33 words of a mask. So "any digits" is set and taken back with a few dozen writes in place
//! of 1,300. Where ids lie apart, a word with its place takes twice the memory of an id and the same time.

use super::bits::words_for;

/// Bits, by the words in which any is set; each place once, in no order. The place is the upper half of a number,
/// the word the lower: a slice of numbers is hashed and compared as one piece of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SparseWords(Box<[u64]>);

/// Up to this many ids find their words fastest by comparing.
const MAX_COMPARED: usize = 16;

fn pack(place: u32, word: u32) -> u64 {
    u64::from(place) << 32 | u64::from(word)
}

fn unpack(packed: u64) -> (u32, u32) {
    ((packed >> 32) as u32, packed as u32)
}

impl SparseWords {
    /// The bits of ids, in any order. `zeros` is working memory: words that are 0, and are 0 again at the
    /// end.
    pub(crate) fn from_ids(ids: &[u32], vocabulary_len: usize, zeros: &mut Vec<u32>) -> Self {
        match ids.len() <= MAX_COMPARED {
            true => Self::from_few(ids),
            false => Self::from_many(ids, vocabulary_len, zeros),
        }
    }

    /// The bits of others and of ids, as [`from_ids`](Self::from_ids). One of the others has most of the words, as a rule, and
    /// is copied; `zeros` holds meanwhile where the word of each place is, counted from 1.
    pub(crate) fn joined(others: &[&Self], ids: &[u32], vocabulary_len: usize, zeros: &mut Vec<u32>) -> Self {
        let Some((longest, first)) = others.iter().enumerate().max_by_key(|(_, other)| other.words()) else {
            return Self::from_ids(ids, vocabulary_len, zeros);
        };
        // `zeros` becomes an index from places to words, and is cleared at the end by the places that were
        // used, not as a whole.
        if zeros.len() < words_for(vocabulary_len) {
            zeros.resize(words_for(vocabulary_len), 0);
        }
        let capacity = others.iter().map(|other| other.words()).sum::<usize>() + ids.len();
        let mut words: Vec<u64> = Vec::with_capacity(capacity);
        words.extend_from_slice(&first.0);
        for (&packed, number) in words.iter().zip(1..) {
            if let Some(at) = zeros.get_mut(unpack(packed).0 as usize) {
                *at = number;
            }
        }
        let mut add = |packed: u64| {
            if let Some(at) = zeros.get_mut(unpack(packed).0 as usize) {
                match words.get_mut((*at as usize).wrapping_sub(1)) {
                    Some(word) => *word |= packed,
                    None => {
                        words.push(packed);
                        *at = words.len() as u32;
                    }
                }
            }
        };
        let shorter = others.iter().enumerate().filter(|&(number, _)| number != longest);
        shorter.for_each(|(_, other)| other.0.iter().for_each(|&packed| add(packed)));
        ids.iter().for_each(|&id| add(pack(id / 32, 1 << (id % 32))));
        for &packed in &words {
            if let Some(at) = zeros.get_mut(unpack(packed).0 as usize) {
                *at = 0;
            }
        }
        Self(words.into())
    }

    /// As [`from_ids`](Self::from_ids).
    fn from_many(ids: &[u32], vocabulary_len: usize, zeros: &mut Vec<u32>) -> Self {
        if zeros.len() < words_for(vocabulary_len) {
            zeros.resize(words_for(vocabulary_len), 0);
        }
        // A place is written for each id, and stays where its word is new, which nothing foresees.
        let mut places = vec![0; ids.len().min(zeros.len()) + 1];
        let mut len = 0;
        for &id in ids {
            let place = id / 32;
            if let Some(word) = zeros.get_mut(place as usize) {
                places[len] = place;
                len += usize::from(*word == 0);
                *word |= 1 << (id % 32);
            }
        }
        let words =
            places[..len].iter().map(|&place| pack(place, std::mem::take(&mut zeros[place as usize])));
        Self(words.collect())
    }

    /// As [`from_ids`](Self::from_ids), without words to work in.
    fn from_few(ids: &[u32]) -> Self {
        let mut words: Vec<u64> = Vec::with_capacity(ids.len());
        for &id in ids {
            let (place, bit) = (id / 32, 1 << (id % 32));
            match words.iter_mut().find(|packed| unpack(**packed).0 == place) {
                Some(packed) => *packed |= bit,
                None => words.push(pack(place, bit as u32)),
            }
        }
        Self(words.into())
    }

    fn iter(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.0.iter().map(|&packed| {
            let (place, word) = unpack(packed);
            (place as usize, word)
        })
    }

    /// Number of words in which any bit is set.
    pub(crate) fn words(&self) -> usize {
        self.0.len()
    }

    /// Number of bits.
    pub(crate) fn count(&self) -> usize {
        self.iter().map(|(_, word)| word.count_ones() as usize).sum()
    }

    /// The only bit, if there is just one.
    pub(crate) fn single(&self) -> Option<u32> {
        let [packed] = *self.0 else { return None };
        let (place, word) = unpack(packed);
        word.is_power_of_two().then(|| place * 32 + word.trailing_zeros())
    }

    /// The positions of the bits.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&packed| {
            let (place, word) = unpack(packed);
            (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place * 32 + bit)
        })
    }

    /// Sets the bits.
    pub(crate) fn set(&self, words: &mut [u32]) {
        for (place, bits) in self.iter() {
            if let Some(word) = words.get_mut(place) {
                *word |= bits;
            }
        }
    }

    /// Clears the bits.
    pub(crate) fn clear(&self, words: &mut [u32]) {
        for (place, bits) in self.iter() {
            if let Some(word) = words.get_mut(place) {
                *word &= !bits;
            }
        }
    }

    /// Sets the words in which any bit is set to the words of `under`, 0 past its end.
    pub(crate) fn restore_from(&self, under: &[u32], words: &mut [u32]) {
        for (place, _) in self.iter() {
            if let Some(word) = words.get_mut(place) {
                *word = under.get(place).copied().unwrap_or(0);
            }
        }
    }

    /// Bytes of memory held.
    pub(crate) fn memory_usage(&self) -> usize {
        size_of_val(&*self.0)
    }
}
