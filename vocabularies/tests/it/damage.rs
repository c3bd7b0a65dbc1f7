//! Files that were cut, bent and forged: an error or a vocabulary, never a panic, and no memory for what is not there.

use grammask_mask_cache::VocabularyOptions;
use grammask_vocabularies::{Format, load};

use crate::formats::files;

/// Damaged files of each format.
const ROUNDS: usize = 5_000;

#[test]
fn damaged_files_never_panic() {
    let mut random = fastrand::Rng::with_seed(25);
    let options = VocabularyOptions::default().max_tokens(1_000).max_bytes(10_000).stop_ids([]);
    for (format, file) in files() {
        let mut refused = 0;
        for _ in 0..ROUNDS {
            let damaged = damage(&file, &mut random);
            match load(&*damaged, &options) {
                Ok(vocabulary) => assert!(vocabulary.len() <= 1_000),
                Err(error) => {
                    refused += 1;
                    assert!(!error.to_string().is_empty());
                    // An error inside of these files has a place.
                    let is_other = error.format().is_none_or(|format| format == Format::TokenizerJson);
                    let is_placed = is_other || error.place().is_some();
                    assert!(is_placed, "{error}: {}", damaged.escape_ascii());
                }
            }
        }
        assert!(refused > ROUNDS / 4, "{format}: only {refused} were refused");
    }
}

#[test]
fn every_beginning_is_refused_or_read() {
    for (format, file) in files() {
        for length in 0..file.len() {
            let _ = load(&file[..length], &VocabularyOptions::default());
        }
        assert!(load(&file[..file.len() - 3], &VocabularyOptions::default()).is_err(), "{format}");
    }
}

#[test]
fn forged_lengths_take_no_memory() {
    // Each place of eight bytes of the GGUF file in turn says that terabytes follow. Were they reserved, the test would
    // not end.
    let (_, file) = files().swap_remove(1);
    for place in 0..file.len() - 8 {
        for length in [1_u64 << 40, u64::MAX, i64::MAX as u64, 1 << 32] {
            let mut forged = file.clone();
            forged[place..place + 8].copy_from_slice(&length.to_le_bytes());
            let _ = load(&*forged, &VocabularyOptions::default());
        }
    }
}

/// A file with one to three injuries.
fn damage(file: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut damaged = file.to_vec();
    for _ in 0..random.usize(1..4) {
        let place = random.usize(..damaged.len().max(1)).min(damaged.len().saturating_sub(1));
        match random.u8(..7) {
            _ if damaged.is_empty() => {}
            0 => damaged.truncate(place),
            1 => damaged[place] ^= 1 << random.u8(..8),
            2 => damaged[place] = random.u8(..),
            3 => damaged[place] = *random.choice(b"\0\x01\x7f\x80\xff{}[]\",:0").unwrap_or(&0),
            4 => drop(damaged.remove(place)),
            5 => damaged.insert(place, random.u8(..)),
            // A length that claims too much.
            _ => {
                let width = (damaged.len() - place).min(8);
                let length = random.u64(..) >> random.u32(..64);
                damaged[place..place + width].copy_from_slice(&length.to_le_bytes()[..width]);
            }
        }
    }
    damaged
}
