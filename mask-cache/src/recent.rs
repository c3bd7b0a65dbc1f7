//! A map with a budget, out of which goes what was not used for longest, and which is read without locks.
//!
//! The naive way keeps the entries in the order of their uses behind a lock, and so writes to memory that all threads
//! share each time one is read. Here time is counted in *ages*: one ends when an eighth of the budget was added. An
//! entry knows the age of its last use, which is written only if it is another one, so that reads in one age write at
//! most once. When the budget is used up the entries of the oldest ages go, a quarter of the budget at once, so that
//! looking for them costs little for each one added.
//!
//! A lock that is only ever read is still a counter that every reader writes: with all threads on one grammar its cache
//! line wanders from core to core at every step. The entries stand in a concurrent map whose readers write nothing that
//! they share. Whoever adds takes a lock, which orders the books; an entry that goes is freed when no reader can
//! hold on to it any more.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use papaya::{HashMap, ResizeMode};

/// The part of the budget that is added in one age.
const AGES: usize = 8;

/// Entries of one thread that went and wait to be freed together: each time costs a system call.
const FREED_TOGETHER: usize = 8;

/// A map of at most so many bytes. Values are handed out as clones and outlive their entry.
pub(crate) struct Recent<K, V> {
    entries: HashMap<K, Entry<V>, ahash::RandomState>,
    /// Bytes added in the current age. Whoever changes entries holds this lock.
    added: Mutex<usize>,
    /// The current age.
    age: AtomicU32,
    bytes: AtomicUsize,
    max_bytes: usize,
}

impl<K, V> fmt::Debug for Recent<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Recent")
            .field("bytes", &self.bytes)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

struct Entry<V> {
    value: V,
    bytes: usize,
    /// The age of the last use.
    used: AtomicU32,
}

impl<K: Hash + Eq, V: Clone> Recent<K, V> {
    pub(crate) fn new(max_bytes: usize) -> Self {
        let entries = HashMap::builder()
            .hasher(ahash::RandomState::default())
            // One thread at a time adds, so nobody else could help to move entries.
            .resize_mode(ResizeMode::Blocking)
            .collector(seize::Collector::new().batch_size(FREED_TOGETHER))
            .build();
        Self { entries, added: Mutex::new(0), age: AtomicU32::new(0), bytes: AtomicUsize::new(0), max_bytes }
    }

    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let entries = self.entries.pin();
        let entry = entries.get(key)?;
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
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = self.memory_usage() + bytes <= self.max_bytes;
        let evicted = if fits { 0 } else { self.shrink(bytes) };
        *added += bytes;
        if *added > self.max_bytes / AGES {
            *added = 0;
            self.age.fetch_add(1, Ordering::Relaxed);
        }
        let used = AtomicU32::new(self.age.load(Ordering::Relaxed));
        let entries = self.entries.pin();
        let before = entries.insert(key, Entry { value, bytes, used });
        let total = self.memory_usage() + bytes - before.map_or(0, |before| before.bytes);
        self.bytes.store(total, Ordering::Relaxed);
        evicted
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of all entries, as they were said to have.
    pub(crate) fn memory_usage(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn all(&self) -> Vec<(K, V)>
    where
        K: Clone,
    {
        let entries = self.entries.pin();
        entries.iter().map(|(key, entry)| (key.clone(), entry.value.clone())).collect()
    }

    /// Drops the entries that were not used for longest, until there is room for so many bytes and a quarter of the
    /// budget is free. The caller holds the lock.
    fn shrink(&self, room: usize) -> u64 {
        let most = self.max_bytes - (self.max_bytes / 4).max(room);
        let entries = self.entries.pin();
        let mut oldest_first: Vec<(u32, &K, usize)> = entries
            .iter()
            .map(|(key, entry)| (entry.used.load(Ordering::Relaxed), key, entry.bytes))
            .collect();
        oldest_first.sort_unstable_by_key(|&(age, ..)| age);
        let mut total = self.memory_usage();
        let mut count = 0;
        for (_, key, bytes) in oldest_first {
            if total <= most {
                break;
            }
            entries.remove(key);
            total -= bytes;
            count += 1;
        }
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

    /// Readers find a value that was kept under their key, or none, while others add and the budget makes entries go.
    #[test]
    fn readers_see_whole_entries_while_entries_come_and_go() {
        const KEYS: u32 = 97;
        let map: Recent<u32, std::sync::Arc<[u32; 4]>> = Recent::new(4_000);
        let (map, wrong) = (&map, &AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                scope.spawn(move || {
                    for step in 0..4_000_u32 {
                        let key = (step * 31 + thread * 7) % KEYS;
                        match map.get(&key) {
                            Some(value) => {
                                wrong.fetch_add(usize::from(*value != [key; 4]), Ordering::Relaxed);
                            }
                            None => {
                                map.keep(key, std::sync::Arc::new([key; 4]), 100);
                            }
                        }
                        wrong.fetch_add(usize::from(map.memory_usage() > 4_000), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(wrong.load(Ordering::Relaxed), 0);
        assert_eq!(map.memory_usage(), 100 * map.len());
    }

    #[test]
    fn what_goes_is_freed() {
        let map = Recent::new(1_000);
        let value = std::sync::Arc::new(());
        for key in 0..1_000 {
            map.keep(key, std::sync::Arc::clone(&value), 10);
        }
        let held = std::sync::Arc::strong_count(&value) - 1;
        assert!(held <= map.len() + FREED_TOGETHER, "{held} held, {} entries", map.len());
        drop(map);
        assert_eq!(std::sync::Arc::strong_count(&value), 1);
    }
}
