//! Compiled structures, kept by their content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use grammask_grammar_ir::{Interrupt, Interrupted};

/// Keeps what was compiled under a key that spells its content: the syntax, the options and the source.
///
/// Threads that ask for the same key at the same time compile it once. Keys are compared in full, so different
/// sources can never share an entry. What fails is not kept.
///
/// The entries that were not used for longest go first. Compiled grammars grow while they are used, so sizes are
/// asked for anew now and then: whenever a sixteenth of the budget was added.
#[derive(Debug)]
pub struct CompileCache<V> {
    max_bytes: Option<usize>,
    inner: Mutex<Inner<V>>,
}

#[derive(Debug)]
struct Inner<V> {
    entries: HashMap<Arc<str>, Entry<V>, ahash::RandomState>,
    clock: u64,
    /// Bytes added since sizes were last asked for.
    added: usize,
    hits: u64,
    misses: u64,
}

impl<V> Default for Inner<V> {
    fn default() -> Self {
        Self { entries: HashMap::default(), clock: 0, added: 0, hits: 0, misses: 0 }
    }
}

#[derive(Debug)]
struct Entry<V> {
    /// Empty while the first who asked compiles; the others wait for its lock.
    value: Arc<Mutex<Option<V>>>,
    last_use: u64,
}

impl<V: Clone> CompileCache<V> {
    /// An empty cache that holds at most so many bytes; any number if `None`.
    pub fn new(max_bytes: Option<usize>) -> Self {
        Self { max_bytes, inner: Mutex::default() }
    }

    /// The most bytes held.
    pub fn max_bytes(&self) -> Option<usize> {
        self.max_bytes
    }

    /// What is kept under the key, or what `compile` makes of it.
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
        let place = self.place(key);
        let value = place.lock().unwrap_or_else(PoisonError::into_inner);
        self.fill(key, &place, value, size, compile)
    }

    /// As [`get_or_compile`](Self::get_or_compile); waits for another's compilation no longer than until the
    /// interrupt.
    pub(crate) fn get_or_compile_until<E: From<Interrupted>>(
        &self,
        key: &str,
        interrupt: &Interrupt,
        size: impl Fn(&V) -> usize,
        compile: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        if *interrupt == Interrupt::never() {
            return self.get_or_compile(key, size, compile);
        }
        let place = self.place(key);
        let value = loop {
            match place.try_lock() {
                Ok(value) => break value,
                Err(TryLockError::Poisoned(value)) => break value.into_inner(),
                Err(TryLockError::WouldBlock) => interrupt.check()?,
            }
            std::thread::sleep(WAIT);
        };
        self.fill(key, &place, value, size, compile)
    }

    /// What is kept under the key and compiled already.
    pub(crate) fn get(&self, key: &str) -> Option<V> {
        let mut inner = self.lock();
        inner.clock += 1;
        let now = inner.clock;
        let entry = inner.entries.get_mut(key)?;
        entry.last_use = now;
        let value = entry.value.try_lock().ok()?.clone()?;
        inner.hits += 1;
        Some(value)
    }

    /// Counts what was found without asking here.
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
        key: &str,
        place: &Arc<Mutex<Option<V>>>,
        mut value: MutexGuard<'_, Option<V>>,
        size: impl Fn(&V) -> usize,
        compile: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        if let Some(value) = &*value {
            self.lock().hits += 1;
            return Ok(value.clone());
        }
        let made = compile();
        match &made {
            Ok(made) => *value = Some(made.clone()),
            Err(_) => self.forget(key, place),
        }
        drop(value);
        let mut inner = self.lock();
        inner.misses += 1;
        if let (Ok(made), Some(max_bytes)) = (&made, self.max_bytes) {
            inner.added = inner.added.saturating_add(key.len() + size(made));
            if inner.added > max_bytes / 16 {
                inner.added = 0;
                inner.shrink(max_bytes, size);
            }
        }
        made
    }

    /// Drops entries that are not in use elsewhere, those that were not used for longest first, while `is_passed`
    /// says so. How many.
    pub(crate) fn drop_while(&self, is_passed: &dyn Fn() -> bool, is_unused: impl Fn(&V) -> bool) -> u64 {
        let mut inner = self.lock();
        let mut oldest: Vec<(u64, Arc<str>)> =
            inner.entries.iter().map(|(key, entry)| (entry.last_use, Arc::clone(key))).collect();
        oldest.sort_unstable();
        let mut dropped = 0;
        for (_, key) in oldest {
            if !is_passed() {
                break;
            }
            let unused = |entry: &Entry<V>| {
                entry.value.try_lock().is_ok_and(|value| value.as_ref().is_some_and(&is_unused))
            };
            if inner.entries.get(&key).is_some_and(unused) {
                inner.entries.remove(&key);
                dropped += 1;
            }
        }
        dropped
    }

    /// Drops everything. What is being compiled is not kept either.
    pub fn clear(&self) {
        self.lock().entries.clear();
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held, by the size that the function gives each entry.
    pub fn memory_usage(&self, size: impl Fn(&V) -> usize) -> usize {
        self.lock().entries.iter().map(|(key, entry)| key.len() + entry.size(&size)).sum()
    }

    fn place(&self, key: &str) -> Arc<Mutex<Option<V>>> {
        let mut inner = self.lock();
        inner.clock += 1;
        let now = inner.clock;
        if let Some(entry) = inner.entries.get_mut(key) {
            entry.last_use = now;
            return Arc::clone(&entry.value);
        }
        let value = Arc::new(Mutex::new(None));
        inner.entries.insert(key.into(), Entry { value: Arc::clone(&value), last_use: now });
        value
    }

    fn forget(&self, key: &str, place: &Arc<Mutex<Option<V>>>) {
        let mut inner = self.lock();
        if inner.entries.get(key).is_some_and(|entry| Arc::ptr_eq(&entry.value, place)) {
            inner.entries.remove(key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<V>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often someone who waits for another's compilation looks at the interrupt.
const WAIT: Duration = Duration::from_micros(200);

impl<V> Inner<V> {
    fn shrink(&mut self, max_bytes: usize, size: impl Fn(&V) -> usize) {
        let mut sized: Vec<(u64, usize, Arc<str>)> = self
            .entries
            .iter()
            .map(|(key, entry)| (entry.last_use, key.len() + entry.size(&size), Arc::clone(key)))
            .collect();
        sized.sort_unstable_by_key(|(last_use, _, _)| *last_use);
        let mut total: usize = sized.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, key) in sized {
            if total <= max_bytes {
                break;
            }
            total -= bytes;
            self.entries.remove(&key);
        }
    }
}

impl<V> Entry<V> {
    /// What is being compiled right now counts nothing, and is not waited for.
    fn size(&self, size: impl Fn(&V) -> usize) -> usize {
        self.value.try_lock().ok().and_then(|value| value.as_ref().map(size)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn get(cache: &CompileCache<usize>, key: &str, value: usize) -> usize {
        let made: Result<usize, Infallible> = cache.get_or_compile(key, |value| *value, || Ok(value));
        made.unwrap()
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
