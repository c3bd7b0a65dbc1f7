//! The masks of a pool, to be kept for another process.
//!
//! Computing the local part of a JSON string takes some milliseconds, and every process that serves JSON
//! needs it. The saved form is no copy of memory: bits become the lengths of runs, the trie of suffixes the
//! list of them. Saved data become a mask only if they could be one over this vocabulary. Bits must mean text
//! tokens, suffixes must end the tokens that they are listed for, and ids with equal bytes must have equal
//! bits.

use std::fmt;
use std::sync::Arc;

use super::local_pool::LocalPool;
use crate::compute::local_part::{LocalPartMask, UncertainSuffixes};
use crate::ids::{TokenId, TokenKind};
use crate::mask::bits::{self, words_for};
use crate::vocabulary::tokens::Vocabulary;

/// The content of a [`LocalPool`], to be written with any serde format.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SavedPool {
    masks: Vec<SavedMask>,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct SavedMask {
    structure: Vec<u32>,
    /// Lengths of runs of ids, in turns not accepted and accepted.
    runs: Vec<u32>,
    /// Ascending.
    suffixes: Vec<SavedSuffix>,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct SavedSuffix {
    bytes: Vec<u8>,
    ids: Vec<u32>,
}

/// The saved data are not the masks of a pool over this vocabulary; nothing of them is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPoolError {
    what: &'static str,
}

impl fmt::Display for SavedPoolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the saved masks do not fit the vocabulary ({}); save them anew", self.what)
    }
}

impl std::error::Error for SavedPoolError {}

impl SavedPool {
    /// How many masks there are.
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }
}

impl LocalPool {
    /// The content of the pool, in an order that depends on the content alone.
    pub fn save(&self) -> SavedPool {
        let mut masks: Vec<SavedMask> =
            self.all().into_iter().map(|(structure, mask)| SavedMask::new(structure, &mask)).collect();
        masks.sort_unstable_by(|a, b| a.structure.cmp(&b.structure));
        SavedPool { masks }
    }

    /// Adds the masks that were saved from a pool over the same vocabulary and the same kind of backend.
    /// Returns the number of masks in the saved pool; the pool's budget decides how many of them are kept.
    ///
    /// # Errors
    ///
    /// Where a mask cannot be one of the vocabulary. Other damage is not noticed, so the place where the
    /// saved masks are kept must be trusted.
    pub fn restore(&self, saved: &SavedPool, vocabulary: &Vocabulary) -> Result<usize, SavedPoolError> {
        let read = saved.masks.iter().map(|mask| Ok((mask.structure.clone(), mask.read(vocabulary)?)));
        // All masks are checked before the first is kept, so an error leaves the pool as it was.
        let read = read.collect::<Result<Vec<_>, SavedPoolError>>()?;
        let count = read.len();
        for (structure, mask) in read {
            self.keep(structure, &Arc::new(mask));
        }
        Ok(count)
    }
}

fn require(holds: bool, what: &'static str) -> Result<(), SavedPoolError> {
    if holds { Ok(()) } else { Err(SavedPoolError { what }) }
}

impl SavedMask {
    fn new(structure: Box<[u32]>, mask: &LocalPartMask) -> Self {
        let suffixes = mask.suffixes.list().into_iter();
        let suffixes = suffixes.map(|(bytes, ids)| SavedSuffix { bytes, ids: ids.to_vec() }).collect();
        Self { structure: structure.into(), runs: runs(&mask.words), suffixes }
    }

    fn read(&self, vocabulary: &Vocabulary) -> Result<LocalPartMask, SavedPoolError> {
        let words = words(&self.runs, vocabulary)?;
        let mut before: &[u8] = &[];
        let mut left = Vec::new();
        for SavedSuffix { bytes, ids } in &self.suffixes {
            require(before < bytes.as_slice() && !ids.is_empty(), "the order of suffixes")?;
            require(ids.is_sorted_by(|a, b| a < b), "the order of tokens")?;
            for &id in ids {
                let id = vocabulary.id(id).ok_or(SavedPoolError { what: "a token" })?;
                let token = vocabulary.token_bytes(id);
                let ends = token.len() > bytes.len() && token.ends_with(bytes);
                // An accepted token is allowed whatever follows, so it cannot be uncertain, too.
                require(ends && !bits::contains(&words, id.index()), "the token of a suffix")?;
                left.push((bytes.as_slice(), id));
            }
            before = bytes;
        }
        let suffixes =
            UncertainSuffixes::from_sorted(&left).ok_or(SavedPoolError { what: "too many suffixes" })?;
        Ok(LocalPartMask { words: words.into(), suffixes })
    }
}

fn runs(words: &[u32]) -> Vec<u32> {
    let mut runs = Vec::new();
    let (mut side, mut length) = (0, 0);
    for word in words {
        let (mut bits, mut left) = (*word, u32::BITS);
        while left > 0 {
            // Runs alternate between zeros and ones, zeros first. A run may go over the end of a word.
            let same = if side == 0 { bits.trailing_zeros() } else { bits.trailing_ones() }.min(left);
            length += same;
            left -= same;
            bits = bits.checked_shr(same).unwrap_or(0);
            if left > 0 {
                runs.push(std::mem::take(&mut length));
                side ^= 1;
            }
        }
    }
    if side == 1 {
        runs.push(length);
    }
    runs
}

fn words(runs: &[u32], vocabulary: &Vocabulary) -> Result<Vec<u32>, SavedPoolError> {
    let mut words = vec![0; words_for(vocabulary.len())];
    let mut place: usize = 0;
    for (number, &length) in runs.iter().enumerate() {
        let end = place.saturating_add(length as usize);
        require(end <= vocabulary.len(), "more tokens than there are")?;
        if number % 2 == 1 {
            for id in place..end {
                let text = u32::try_from(id).ok().and_then(TokenId::new);
                let text = text.is_some_and(|id| vocabulary.kind(id) == TokenKind::Text);
                require(text, "a token that is no text")?;
                bits::set(&mut words, id);
            }
        }
        place = end;
    }
    // An invariant of all masks: ids with equal bytes have equal bits.
    let is_equal = |&(first, other): &(TokenId, TokenId)| {
        bits::contains(&words, first.index()) == bits::contains(&words, other.index())
    };
    require(vocabulary.trie().duplicates().iter().all(is_equal), "tokens with equal bytes")?;
    Ok(words)
}
