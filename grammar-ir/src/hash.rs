//! Hash tables whose hasher takes no room.
//!
//! A table that brings its own keys takes 32 bytes more, and where it is made seven lines of code, which a compilation
//! runs once and therefore has to fetch: there are some fifty tables, a dozen of which get an entry. Here the keys are the
//! process's, drawn at random as `ahash` draws them, and a new table is four words that are the same for all.

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;

use ahash::{AHasher, RandomState};

/// A map under [`Hashing`].
pub type HashMap<K, V> = hashbrown::HashMap<K, V, Hashing>;

/// A set under [`Hashing`].
pub type HashSet<K> = hashbrown::HashSet<K, Hashing>;

/// Makes hashers with the keys of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hashing;

static KEYS: OnceLock<RandomState> = OnceLock::new();

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
    KEYS.get_or_init(RandomState::new)
}
