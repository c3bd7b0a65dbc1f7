//! Compiled structures, kept by their content.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use grammask_fsm::DeferredProgram;
use grammask_grammar_ir::{Interrupt, Interrupted, PerProcess};
use hashbrown::HashTable;

use crate::base::content_hash::content_hash;

/// Keeps compiled values under keys that hold their content: the syntax, the options and the source.
///
/// Threads that ask for the same key at the same time compile it once. Keys are compared in full, so different
/// sources can never share an entry. Failures are not kept. A forked process keeps the entries of its parent. A source
/// that the parent was still compiling is compiled again.
///
/// The entries that were not used for longest go first. Compiled grammars grow while they are used, so sizes are
/// asked for anew now and then: whenever a sixteenth of the budget was added.
#[derive(Debug)]
pub struct CompileCache<V> {
    max_bytes: Option<usize>,
    inner: PerProcess<Mutex<CacheEntries<V>>>,
}

/// The automata of schemas, by the content of their sources.
pub(crate) type SchemaPrograms = CompileCache<Arc<DeferredProgram>>;

#[derive(Debug)]
struct CacheEntries<V> {
    entries: HashTable<CacheEntry<V>>,
    /// The number of the last use of any entry.
    clock: u64,
    /// Bytes added since sizes were last asked for.
    added_bytes: usize,
    hits: u64,
    misses: u64,
}

/// The value of one key. The first thread that asks for the key holds the lock while it compiles.
type Slot<V> = PerProcess<Mutex<Option<V>>>;

impl<V> Default for CacheEntries<V> {
    fn default() -> Self {
        Self { entries: HashTable::new(), clock: 0, added_bytes: 0, hits: 0, misses: 0 }
    }
}

/// A whole content, in parts. Documents are long: they are not copied to be looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceKey<'k>(pub(crate) [&'k str; 3]);

impl<'k> SourceKey<'k> {
    pub(crate) fn of_text(part: &'k str) -> Self {
        Self(["", "", part])
    }

    fn hash(self) -> u64 {
        content_hash(self.0)
    }

    fn matches<V>(self, entry: &CacheEntry<V>) -> bool {
        let Self([one, two, three]) = self;
        let ends = [one.len(), one.len() + two.len()];
        entry.ends == ends
            && entry.key[ends[1]..] == *three
            && entry.key[ends[0]..ends[1]] == *two
            && entry.key[..ends[0]] == *one
    }
}

#[derive(Debug)]
struct CacheEntry<V> {
    hash: u64,
    /// The parts of the key, one after the other, and the ends of the first two.
    key: Box<str>,
    ends: [usize; 2],
    /// Empty while the first caller compiles; the others wait for its lock.
    value: Arc<Slot<V>>,
    /// No other entry has the same.
    last_use: u64,
}

impl<V: Clone> CompileCache<V> {
    /// An empty cache that holds at most this number of bytes; any number if `None`.
    pub fn new(max_bytes: Option<usize>) -> Self {
        Self { max_bytes, inner: PerProcess::default() }
    }

    /// The most bytes held.
    pub fn max_bytes(&self) -> Option<usize> {
        self.max_bytes
    }

    /// The value under the key, or the result of `compile`, which is then kept.
    ///
    /// # Errors
    ///
    /// Those of `compile`.
    pub fn get_or_compile<E>(
        &self,
        key: &str,
        size: impl Fn(&V) -> usize,
        compile: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        self.get_or_compile_key(SourceKey::of_text(key), size, compile)
    }

    /// As [`get_or_compile`](Self::get_or_compile); waits for another's compilation no longer than until the interrupt.
    ///
    /// # Errors
    ///
    /// Those of `compile`, and where the interrupt comes first.
    pub fn get_or_compile_until<E: From<Interrupted>>(
        &self,
        key: &str,
        interrupt: &Interrupt,
        size: impl Fn(&V) -> usize,
        compile: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        self.get_or_compile_key_until(SourceKey::of_text(key), interrupt, size, compile)
    }

    fn get_or_compile_key<E>(
        &self,
        key: SourceKey<'_>,
        size: impl Fn(&V) -> usize,
        compile: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let (hash, slot) = self.slot(key);
        // The lock of the slot is held while the value is compiled. Callers with the same key wait for it,
        // and callers with other keys do not.
        let value = slot.lock();
        self.fill(hash, &slot, value, size, compile)
    }

    /// As [`get_or_compile_until`](Self::get_or_compile_until), under a key of several parts.
    pub(crate) fn get_or_compile_key_until<E: From<Interrupted>>(
        &self,
        key: SourceKey<'_>,
        interrupt: &Interrupt,
        size: impl Fn(&V) -> usize,
        compile: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        if *interrupt == Interrupt::never() {
            return self.get_or_compile_key(key, size, compile);
        }
        let (hash, slot) = self.slot(key);
        let value = loop {
            match slot.try_lock() {
                Some(value) => break value,
                None => interrupt.check()?,
            }
            std::thread::sleep(POLL_INTERVAL);
        };
        self.fill(hash, &slot, value, size, compile)
    }

    /// The value under the key, if it is compiled already.
    pub(crate) fn get(&self, key: SourceKey<'_>) -> Option<V> {
        let hash = key.hash();
        let mut inner = self.lock();
        inner.clock += 1;
        let now = inner.clock;
        let entry = inner.entries.find_mut(hash, |entry| key.matches(entry))?;
        entry.last_use = now;
        // A locked slot is one that is being compiled, so there is no value yet.
        let value = entry.value.try_lock()?.clone()?;
        inner.hits += 1;
        Some(value)
    }

    /// Counts hits that were found without asking here.
    pub(crate) fn note_hits(&self, hits: u64) {
        if hits > 0 {
            self.lock().hits += hits;
        }
    }

    /// How often something was found, and how often it had to be compiled.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        let inner = self.lock();
        (inner.hits, inner.misses)
    }

    fn fill<E>(
        &self,
        hash: u64,
        slot: &Arc<Slot<V>>,
        mut value: MutexGuard<'_, Option<V>>,
        size: impl Fn(&V) -> usize,
        compile: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        if let Some(value) = &*value {
            self.lock().hits += 1;
            return Ok(value.clone());
        }
        let compiled = compile();
        match &compiled {
            Ok(compiled) => *value = Some(compiled.clone()),
            // Errors are not kept: a caller that waits tries again, under its own interrupt and limits.
            Err(_) => self.forget(hash, slot),
        }
        // Before the lock of the cache, which other threads take while they hold no slot.
        drop(value);
        let evicted = self.note_compiled(hash, slot, compiled.as_ref().ok(), size);
        // To free dozens of grammars takes milliseconds, so the lock is free by then.
        drop(evicted);
        compiled
    }

    /// Drops entries that are not in use elsewhere, those that were not used for longest first, while `is_passed`
    /// says so. How many.
    pub(crate) fn evict_while(&self, is_passed: &dyn Fn() -> bool, is_unused: impl Fn(&V) -> bool) -> u64 {
        let mut inner = self.lock();
        // Times of use are unique, so a time and a hash find one entry.
        let mut oldest: Vec<(u64, u64)> =
            inner.entries.iter().map(|entry| (entry.last_use, entry.hash)).collect();
        oldest.sort_unstable();
        let mut dropped = 0;
        for (last_use, hash) in oldest {
            if !is_passed() {
                break;
            }
            let unused = |entry: &CacheEntry<V>| {
                entry.value.try_lock().is_some_and(|value| value.as_ref().is_some_and(&is_unused))
            };
            if let Ok(entry) = inner.entries.find_entry(hash, |entry| entry.last_use == last_use)
                && unused(entry.get())
            {
                entry.remove();
                dropped += 1;
            }
        }
        dropped
    }

    /// Drops everything. Values that are being compiled are not kept either.
    pub fn clear(&self) {
        self.lock().entries.clear();
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Counts a compiled value. Returns the entries that are evicted for it.
    fn note_compiled(
        &self,
        hash: u64,
        slot: &Arc<Slot<V>>,
        compiled: Option<&V>,
        size: impl Fn(&V) -> usize,
    ) -> Vec<CacheEntry<V>> {
        let mut inner = self.lock();
        inner.misses += 1;
        let (Some(compiled), Some(max_bytes)) = (compiled, self.max_bytes) else { return Vec::new() };
        let key = inner.entries.find(hash, |entry| Arc::ptr_eq(&entry.value, slot));
        let key = key.map_or(0, |entry| entry.key.len());
        inner.added_bytes = inner.added_bytes.saturating_add(key + size(compiled));
        // Sizes are summed up only once in a while, because that visits every entry. The bound is passed by a
        // sixteenth at most, and by the growth of tables since.
        if inner.added_bytes <= max_bytes / 16 {
            return Vec::new();
        }
        inner.added_bytes = 0;
        inner.shrink(max_bytes, size)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held, by the size that the function gives each entry.
    pub fn memory_usage(&self, size: impl Fn(&V) -> usize) -> usize {
        self.lock().entries.iter().map(|entry| entry.key.len() + entry.size(&size)).sum()
    }

    fn slot(&self, key: SourceKey<'_>) -> (u64, Arc<Slot<V>>) {
        let hash = key.hash();
        let mut inner = self.lock();
        inner.clock += 1;
        let now = inner.clock;
        if let Some(entry) = inner.entries.find_mut(hash, |entry| key.matches(entry)) {
            entry.last_use = now;
            return (hash, Arc::clone(&entry.value));
        }
        // The entry is there before its value, so that the second caller finds the slot and waits.
        let value = Arc::<Slot<V>>::default();
        let SourceKey([one, two, _]) = key;
        let entry = CacheEntry {
            hash,
            key: key.0.concat().into(),
            ends: [one.len(), one.len() + two.len()],
            value: Arc::clone(&value),
            last_use: now,
        };
        inner.entries.insert_unique(hash, entry, |entry| entry.hash);
        (hash, value)
    }

    fn forget(&self, hash: u64, slot: &Arc<Slot<V>>) {
        let mut inner = self.lock();
        if let Ok(entry) = inner.entries.find_entry(hash, |entry| Arc::ptr_eq(&entry.value, slot)) {
            entry.remove();
        }
    }

    fn lock(&self) -> MutexGuard<'_, CacheEntries<V>> {
        self.inner.lock()
    }
}

/// The interval at which a caller that waits for another's compilation looks at the interrupt.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

impl<V> CacheEntries<V> {
    /// Removes the least recently used entries.
    fn shrink(&mut self, max_bytes: usize, size: impl Fn(&V) -> usize) -> Vec<CacheEntry<V>> {
        let mut sized: Vec<(u64, usize, u64)> = self
            .entries
            .iter()
            .map(|entry| (entry.last_use, entry.key.len() + entry.size(&size), entry.hash))
            .collect();
        sized.sort_unstable();
        let mut total: usize = sized.iter().map(|(_, bytes, _)| bytes).sum();
        let mut evicted = Vec::new();
        for (last_use, bytes, hash) in sized {
            if total <= max_bytes {
                break;
            }
            total -= bytes;
            if let Ok(entry) = self.entries.find_entry(hash, |entry| entry.last_use == last_use) {
                evicted.push(entry.remove().0);
            }
        }
        evicted
    }
}

impl<V> CacheEntry<V> {
    /// Entries that are being compiled right now count nothing, and are not waited for.
    fn size(&self, size: impl Fn(&V) -> usize) -> usize {
        self.value.try_lock().and_then(|value| value.as_ref().map(size)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn get(cache: &CompileCache<usize>, key: &str, value: usize) -> usize {
        let compiled: Result<usize, Infallible> = cache.get_or_compile(key, |value| *value, || Ok(value));
        compiled.unwrap()
    }

    #[test]
    fn what_was_compiled_is_kept_by_content() {
        let cache = CompileCache::new(None);
        assert_eq!(get(&cache, "a", 1), 1);
        assert_eq!(get(&cache, "a", 2), 1);
        assert_eq!(get(&cache, "b", 3), 3);
        assert_eq!(cache.memory_usage(|value| *value), 1 + 3 + "ab".len());
        cache.clear();
        assert_eq!(get(&cache, "a", 2), 2);
    }

    #[test]
    fn failures_are_not_kept() {
        let cache = CompileCache::<usize>::new(None);
        assert_eq!(cache.get_or_compile("a", |value| *value, || Err("no")), Err("no"));
        assert!(cache.is_empty());
        assert_eq!(get(&cache, "a", 1), 1);
    }

    #[test]
    fn the_oldest_go_first() {
        let cache = CompileCache::new(Some(25));
        get(&cache, "a", 10);
        get(&cache, "b", 10);
        get(&cache, "a", 10);
        get(&cache, "c", 10);
        assert_eq!(cache.len(), 2);
        assert_eq!(get(&cache, "b", 1), 1, "b had not been used for longest");
        assert_eq!(get(&cache, "a", 2), 10);
    }

    #[test]
    fn an_entry_larger_than_the_cache_is_not_kept() {
        let cache = CompileCache::new(Some(5));
        assert_eq!(get(&cache, "a", 10), 10);
        assert!(cache.is_empty());
    }
}
