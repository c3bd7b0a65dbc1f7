//! A map with a budget, out of which goes what was not used for longest.
//!
//! The naive way keeps the entries in the order of their uses, and so writes to memory that all threads share each
//! time one is read. Here time is counted in *ages*: one ends when an eighth of the budget was added. An entry knows
//! the age of its last use, which is written only if it is another one, so that reads in one age write at most once.
//! When the budget is used up the entries of the oldest ages go, a quarter of the budget at once, so that looking for
//! them costs little for each one added.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

/// The part of the budget that is added in one age.
const AGES: usize = 8;

/// A map of at most so many bytes. Values are handed out as clones and outlive their entry.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    inner: RwLock<Inner<K, V>>,
    /// The current age.
    age: AtomicU32,
    bytes: AtomicUsize,
    max_bytes: usize,
}

#[derive(Debug)]
struct Inner<K, V> {
    entries: HashMap<K, Entry<V>, ahash::RandomState>,
    /// Bytes added in the current age.
    added: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    /// The age of the last use.
    used: AtomicU32,
}

impl<K: Hash + Eq, V: Clone> Recent<K, V> {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            inner: RwLock::new(Inner { entries: HashMap::default(), added: 0 }),
            age: AtomicU32::new(0),
            bytes: AtomicUsize::new(0),
            max_bytes,
        }
    }

    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let entry = inner.entries.get(key)?;
        let age = self.age.load(Ordering::Relaxed);
        if entry.used.load(Ordering::Relaxed) != age {
            entry.used.store(age, Ordering::Relaxed);
        }
        Some(entry.value.clone())
    }

    /// Adds an entry of so many bytes, in place of one with the same key. What is larger than the whole budget is
    /// not kept. Returns how many entries had to go.
    pub(crate) fn keep(&self, key: K, value: V, bytes: usize) -> u64 {
        if bytes > self.max_bytes {
            return 0;
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let fits = self.memory_usage() + bytes <= self.max_bytes;
        let evicted = if fits { 0 } else { self.shrink(&mut inner, bytes) };
        inner.added += bytes;
        if inner.added > self.max_bytes / AGES {
            inner.added = 0;
            self.age.fetch_add(1, Ordering::Relaxed);
        }
        let used = AtomicU32::new(self.age.load(Ordering::Relaxed));
        let before = inner.entries.insert(key, Entry { value, bytes, used });
        let total = self.memory_usage() + bytes - before.map_or(0, |before| before.bytes);
        self.bytes.store(total, Ordering::Relaxed);
        evicted
    }

    pub(crate) fn len(&self) -> usize {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).entries.len()
    }

    /// Bytes of all entries, as they were said to have.
    pub(crate) fn memory_usage(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn all(&self) -> Vec<(K, V)>
    where
        K: Clone,
    {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.entries.iter().map(|(key, entry)| (key.clone(), entry.value.clone())).collect()
    }

    /// Drops the entries that were not used for longest, until there is room for so many bytes and a quarter of the
    /// budget is free.
    fn shrink(&self, inner: &mut Inner<K, V>, room: usize) -> u64 {
        let most = self.max_bytes - (self.max_bytes / 4).max(room);
        let mut ages: Vec<(u32, usize)> =
            inner.entries.values().map(|entry| (entry.used.load(Ordering::Relaxed), entry.bytes)).collect();
        ages.sort_unstable();
        let mut total = self.memory_usage();
        let (mut oldest, mut of_oldest, mut count) = (0, 0, 0);
        for (age, bytes) in ages {
            if total <= most {
                break;
            }
            total -= bytes;
            count += 1;
            of_oldest = if age == oldest { of_oldest + 1 } else { 1 };
            oldest = age;
        }
        // Of the youngest age among those that go, only so many.
        let mut total = self.memory_usage();
        inner.entries.retain(|_, entry| {
            let used = entry.used.load(Ordering::Relaxed);
            let goes = used < oldest || used == oldest && of_oldest > 0;
            of_oldest -= u32::from(goes && used == oldest);
            total -= if goes { entry.bytes } else { 0 };
            !goes
        });
        self.bytes.store(total, Ordering::Relaxed);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(map: &Recent<u32, u32>) -> Vec<u32> {
        let mut keys: Vec<u32> = map.all().into_iter().map(|(key, _)| key).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn what_was_used_stays_and_the_oldest_goes() {
        let map = Recent::new(1_000);
        for key in 0..10 {
            assert_eq!(map.keep(key, key, 100), 0);
            assert_eq!(map.get(&0), Some(0), "used all the time");
        }
        assert_eq!((map.keep(10, 10, 100), map.memory_usage()), (3, 800));
        assert!(map.get(&0).is_some() && map.get(&10).is_some());
        assert!((1..3).all(|key| map.get(&key).is_none()), "{:?}", keys(&map));
        assert!(map.get(&3).is_some() != map.get(&4).is_some(), "one of the two of an age: {:?}", keys(&map));
        assert!((5..11).all(|key| map.get(&key).is_some()), "{:?}", keys(&map));
    }

    #[test]
    fn the_budget_holds_with_entries_of_any_size() {
        let map = Recent::new(1_000);
        let sizes = [1, 999, 0, 1_000, 7, 500, 501, 1_001, 3, 250];
        for (key, &size) in (0..).zip(sizes.iter().cycle().take(200)) {
            map.keep(key % 37, key, size);
            assert!(map.memory_usage() <= 1_000);
            assert_eq!(map.get(&(key % 37)).is_some_and(|value| value == key), size <= 1_000);
        }
        assert!(map.len() < 37);
    }

    #[test]
    fn an_entry_takes_the_place_of_one_with_its_key() {
        let map = Recent::new(100);
        map.keep(1, 1, 60);
        assert_eq!(map.keep(1, 2, 40), 0);
        assert_eq!((map.get(&1), map.len(), map.memory_usage()), (Some(2), 1, 40));
    }
}
