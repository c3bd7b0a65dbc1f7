//! Compiled structures, kept by their content.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use grammask_grammar_ir::{Interrupt, Interrupted, PerProcess};
use hashbrown::HashTable;

use crate::base::content_hash::content_hash;

/// Keeps compiled values under keys that hold their content: the syntax, the options and the source. A compiler keeps
/// grammars in one, and beside them the parts of structural tags: one budget holds for all of them.
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

#[derive(Debug)]
struct CacheEntries<V> {
    entries: HashTable<CacheEntry<V>>,
    /// The number of the last use of any entry.
    clock: u64,
    /// Bytes added since sizes were last asked for.
    added_bytes: usize,
    /// By the kind of the value.
    counts: [HitCounts; 5],
    /// Entries that were dropped to keep the bound.
    evicted: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct HitCounts {
    hits: u64,
    misses: u64,
}

/// The kinds of values of a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Grammar,
    /// The automata of a schema in a structural tag.
    Schema,
    /// A schema in a structural tag, read.
    SchemaText,
    /// The structure around tags.
    Template,
    /// A tag, whose source is a JSON object. A text that begins with the source of a known tag has that tag and no other,
    /// because an object ends where it ends. So a known tag is found without looking for its end.
    Tag,
}

impl EntryKind {
    fn index(self) -> usize {
        match self {
            Self::Grammar => 0,
            Self::Schema => 1,
            Self::SchemaText => 2,
            Self::Template => 3,
            Self::Tag => 4,
        }
    }
}

/// This number of bytes at the beginning of a tag finds it. The tags of a request differ from each other by
/// their names, which are at the front.
const TAG_PREFIX_LEN: usize = 128;

/// Most entries of one hash, such as tags with one such beginning. The one that was not used for longest goes.
const MAX_ENTRIES_PER_HASH: usize = 64;

/// There is no value, or an interrupt came before it.
struct NoValue;

impl From<Interrupted> for NoValue {
    fn from(_: Interrupted) -> Self {
        Self
    }
}

/// Where the value of a key is, or comes to be.
struct EntryPlace<V> {
    hash: u64,
    kind: EntryKind,
    slot: Arc<Slot<V>>,
}

/// The value of one key. The first thread that asks for the key holds the lock while it compiles.
type Slot<V> = PerProcess<Mutex<Option<V>>>;

impl<V> Default for CacheEntries<V> {
    fn default() -> Self {
        Self { entries: HashTable::new(), clock: 0, added_bytes: 0, counts: Default::default(), evicted: 0 }
    }
}

/// A whole content, in parts: syntax, options, source. Documents are long: they are not copied to be looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceKey<'k> {
    pub(crate) kind: EntryKind,
    pub(crate) parts: [&'k str; 3],
}

impl<'k> SourceKey<'k> {
    fn of_text(source: &'k str) -> Self {
        Self { kind: EntryKind::Grammar, parts: ["", "", source] }
    }

    fn hash(self) -> u64 {
        match (self.kind, self.parts) {
            (EntryKind::Tag, [.., source]) => {
                content_hash([&source.as_bytes()[..source.len().min(TAG_PREFIX_LEN)]])
            }
            (_, parts) => content_hash(parts),
        }
    }

    fn matches<V>(self, entry: &CacheEntry<V>) -> bool {
        let [one, two, three] = self.parts;
        let ends = [one.len(), one.len() + two.len()];
        entry.kind == self.kind
            && entry.ends == ends
            && entry.key[ends[1]..] == *three
            && entry.key[ends[0]..ends[1]] == *two
            && entry.key[..ends[0]] == *one
    }
}

#[derive(Debug)]
struct CacheEntry<V> {
    hash: u64,
    kind: EntryKind,
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
        if let Some(value) = self.get(key) {
            return Ok(value);
        }
        let place = self.place(key);
        // The lock of the slot is held while the value is compiled. Callers with the same key wait for it,
        // and callers with other keys do not.
        let value = place.slot.lock();
        self.fill(&place, value, size, compile)
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
        if let Some(value) = self.get(key) {
            return Ok(value);
        }
        let place = self.place(key);
        let value = loop {
            match place.slot.try_lock() {
                Some(value) => break value,
                None => interrupt.check()?,
            }
            std::thread::sleep(POLL_INTERVAL);
        };
        self.fill(&place, value, size, compile)
    }

    /// As [`get_or_compile_until`](Self::get_or_compile_until), where `make` says no more than that there is no value.
    pub(crate) fn get_or_make(
        &self,
        key: SourceKey<'_>,
        interrupt: &Interrupt,
        size: impl Fn(&V) -> usize,
        make: impl FnOnce() -> Option<V>,
    ) -> Option<V> {
        self.get_or_compile_key_until(key, interrupt, size, || make().ok_or(NoValue)).ok()
    }

    /// The value under the key, if it is compiled already.
    pub(crate) fn get(&self, key: SourceKey<'_>) -> Option<V> {
        self.find(key.hash(), |entry| key.matches(entry))
    }

    /// The tag with which a text begins, under some options, if it is known and has the length of the prefix that finds it.
    pub(crate) fn get_tag_at(&self, text: &str) -> Option<V> {
        let prefix = text.as_bytes().get(..TAG_PREFIX_LEN)?;
        // The hash only picks the entries to look at. A tag counts if its whole text is there.
        let is_meant = |entry: &CacheEntry<V>| {
            entry.kind == EntryKind::Tag && text.starts_with(&entry.key[entry.ends[1]..])
        };
        self.find(content_hash([prefix]), is_meant)
    }

    fn find(&self, hash: u64, is_meant: impl Fn(&CacheEntry<V>) -> bool) -> Option<V> {
        let mut inner = self.lock();
        inner.clock += 1;
        let now = inner.clock;
        let entry = inner.entries.find_mut(hash, is_meant)?;
        entry.last_use = now;
        // A locked slot is one that is being compiled, so there is no value yet.
        let value = entry.value.try_lock()?.clone()?;
        let kind = entry.kind;
        inner.counts[kind.index()].hits += 1;
        Some(value)
    }

    /// Counts hits that were found without asking here.
    pub(crate) fn note_hits(&self, kind: EntryKind, hits: u64) {
        if hits > 0 {
            self.lock().counts[kind.index()].hits += hits;
        }
    }

    /// How often something was found, and how often it had to be compiled.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        self.hits_and_misses_of(EntryKind::Grammar)
    }

    /// How many values were dropped to keep the bound of this cache.
    pub fn evicted(&self) -> u64 {
        self.lock().evicted
    }

    /// As [`hits_and_misses`](Self::hits_and_misses), for values of a kind.
    pub(crate) fn hits_and_misses_of(&self, kind: EntryKind) -> (u64, u64) {
        let HitCounts { hits, misses } = self.lock().counts[kind.index()];
        (hits, misses)
    }

    /// How many entries of a kind there are.
    pub(crate) fn len_of(&self, kind: EntryKind) -> usize {
        self.lock().entries.iter().filter(|entry| entry.kind == kind).count()
    }

    fn fill<E>(
        &self,
        place: &EntryPlace<V>,
        mut value: MutexGuard<'_, Option<V>>,
        size: impl Fn(&V) -> usize,
        compile: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        if let Some(value) = &*value {
            self.note_hits(place.kind, 1);
            return Ok(value.clone());
        }
        let compiled = compile();
        match &compiled {
            Ok(compiled) => *value = Some(compiled.clone()),
            // Errors are not kept: a caller that waits tries again, under its own interrupt and limits.
            Err(_) => self.forget(place),
        }
        // Before the lock of the cache, which other threads take while they hold no slot.
        drop(value);
        let evicted = self.note_compiled(place, compiled.as_ref().ok(), size);
        // To free dozens of grammars takes milliseconds, so the lock is free by then.
        drop(evicted);
        compiled
    }

    /// Drops entries that are not in use elsewhere, those that were not used for longest first, while `is_passed`
    /// says so. How many.
    pub fn evict_while(&self, is_passed: &dyn Fn() -> bool, is_unused: impl Fn(&V) -> bool) -> u64 {
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
        place: &EntryPlace<V>,
        compiled: Option<&V>,
        size: impl Fn(&V) -> usize,
    ) -> Vec<CacheEntry<V>> {
        let mut inner = self.lock();
        inner.counts[place.kind.index()].misses += 1;
        let (Some(compiled), Some(max_bytes)) = (compiled, self.max_bytes) else { return Vec::new() };
        let key = inner.entries.find(place.hash, |entry| Arc::ptr_eq(&entry.value, &place.slot));
        let key = key.map_or(0, |entry| entry.key.len());
        inner.added_bytes = inner.added_bytes.saturating_add(key + size(compiled));
        // Sizes are summed up only once in a while, because that visits every entry. The bound is passed by a
        // sixteenth at most, and by the growth of tables since.
        if inner.added_bytes <= max_bytes / 16 {
            return Vec::new();
        }
        inner.added_bytes = 0;
        let evicted = inner.shrink(max_bytes, size);
        inner.evicted += evicted.len() as u64;
        evicted
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held, by the size that the function gives each entry.
    pub fn memory_usage(&self, size: impl Fn(&V) -> usize) -> usize {
        self.lock().entries.iter().map(|entry| entry.key.len() + entry.size(&size)).sum()
    }

    fn place(&self, key: SourceKey<'_>) -> EntryPlace<V> {
        let (hash, kind) = (key.hash(), key.kind);
        let mut inner = self.lock();
        inner.clock += 1;
        let now = inner.clock;
        if let Some(entry) = inner.entries.find_mut(hash, |entry| key.matches(entry)) {
            entry.last_use = now;
            return EntryPlace { hash, kind, slot: Arc::clone(&entry.value) };
        }
        inner.limit_alike(hash);
        // The entry is there before its value, so that the second caller finds the slot and waits.
        let slot = Arc::<Slot<V>>::default();
        let [one, two, _] = key.parts;
        let entry = CacheEntry {
            hash,
            kind,
            key: key.parts.concat().into(),
            ends: [one.len(), one.len() + two.len()],
            value: Arc::clone(&slot),
            last_use: now,
        };
        inner.entries.insert_unique(hash, entry, |entry| entry.hash);
        EntryPlace { hash, kind, slot }
    }

    fn forget(&self, EntryPlace { hash, slot, .. }: &EntryPlace<V>) {
        let mut inner = self.lock();
        if let Ok(entry) = inner.entries.find_entry(*hash, |entry| Arc::ptr_eq(&entry.value, slot)) {
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
    /// Removes the least recently used entry of a hash where there are too many: a look-up reads all of them.
    fn limit_alike(&mut self, hash: u64) {
        let alike = self.entries.iter_hash(hash).filter(|entry| entry.hash == hash);
        let (count, oldest) =
            alike.fold((0, u64::MAX), |(count, oldest), entry| (count + 1, oldest.min(entry.last_use)));
        if count >= MAX_ENTRIES_PER_HASH
            && let Ok(entry) = self.entries.find_entry(hash, |entry| entry.last_use == oldest)
        {
            entry.remove();
        }
    }

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
