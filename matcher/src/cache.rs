//! Compiled structures, kept by their content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps what was compiled under a key that spells its content: the syntax, the options and the source.
///
/// Threads that ask for the same key at the same time compile it once. Keys are compared in full, so different
/// sources can never share an entry. What fails is not kept.
///
/// The size of an entry is asked for anew whenever there is something to add, because compiled grammars grow
/// while they are used; the entries that were not used for longest go first.
#[derive(Debug)]
pub struct CompileCache<V> {
    max_bytes: Option<usize>,
    inner: Mutex<Inner<V>>,
}

#[derive(Debug)]
struct Inner<V> {
    entries: HashMap<Arc<str>, Entry<V>, ahash::RandomState>,
    clock: u64,
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
        Self { max_bytes, inner: Mutex::new(Inner { entries: HashMap::default(), clock: 0 }) }
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
        let mut value = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*value {
            return Ok(value.clone());
        }
        let made = compile();
        match &made {
            Ok(made) => *value = Some(made.clone()),
            Err(_) => self.forget(key, &place),
        }
        drop(value);
        if made.is_ok() {
            self.shrink(size);
        }
        made
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

    fn shrink(&self, size: impl Fn(&V) -> usize) {
        let Some(max_bytes) = self.max_bytes else { return };
        let mut inner = self.lock();
        let mut sized: Vec<(u64, usize, Arc<str>)> = inner
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
            inner.entries.remove(&key);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner<V>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
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
