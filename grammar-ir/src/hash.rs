//! Hash tables whose hasher takes no room.
//!
//! A table with keys of its own takes 32 bytes more, and seven lines of code where it is made. A compilation
//! makes some fifty tables, a dozen of which get an entry, and has to fetch that code. Here the keys are the
//! process's, drawn at random as `ahash` draws them, and a new table is four words that are the same for all.

use std::hash::{BuildHasher, Hash};

use ahash::{AHasher, RandomState};
use once_cell::race::OnceBox;

/// A map under [`Hashing`].
pub type HashMap<K, V> = hashbrown::HashMap<K, V, Hashing>;

/// A set under [`Hashing`].
pub type HashSet<K> = hashbrown::HashSet<K, Hashing>;

/// Makes hashers with the keys of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hashing;

static KEYS: OnceBox<RandomState> = OnceBox::new();

impl BuildHasher for Hashing {
    type Hasher = AHasher;

    #[inline]
    fn build_hasher(&self) -> AHasher {
        KEYS.get().unwrap_or_else(|| draw()).build_hasher()
    }
}

/// The hash of a value, for tables that find their keys elsewhere.
#[inline]
pub fn hash_of(value: impl Hash) -> u64 {
    Hashing.hash_one(value)
}

#[cold]
#[inline(never)]
fn draw() -> &'static RandomState {
    KEYS.get_or_init(|| Box::new(RandomState::new()))
}
