//! A map with a budget that evicts the least recently used entries and is read without locks.
//!
//! The naive way keeps the entries in the order of their uses under a lock, and so writes to memory that all
//! threads share each time one is read. Here time is counted in *ages*: one ends when an eighth of the budget
//! was added. An entry knows the age of its last use, which is written only if it is another one, so that
//! reads in one age write at most once. When the budget is used up, the entries of the oldest ages are
//! evicted, a quarter of the budget at once. So the search for them costs little for each one added.
//!
//! A lock that is only ever read is still a counter that every reader writes. With all threads on one grammar
//! its cache line wanders from core to core at every step. So readers hold on to a *table* for as long as
//! they look (an [`ArcSwap`], whose readers write to memory of their own thread). The slots of a table are
//! written once. A writer takes a lock, updates its counts, and writes the next free slot of the entry's
//! probe sequence. A table that is full, or from which entries are evicted, is replaced by a new one, and
//! freed when the last reader lets go of it.
//!
//! Each compiled grammar has several of these maps, most of them with a handful of entries. Concurrent maps
//! that free their entries by epochs or hazards keep some kilobytes a map for the records of each thread.
//! That was 48 KB a grammar, which had to be cleared while it was compiled, and a dozen system calls. Here an
//! empty map holds nothing.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use arc_swap::ArcSwap;
use grammask_grammar_ir::PerProcess;

/// The part of the budget that is added in one age.
const AGES: usize = 8;

/// The part of the budget that may be held by entries that were replaced.
const STALE_SHARE: usize = 64;

/// Slots of the first table that holds something.
const MIN_SLOTS: usize = 8;

/// A map with a budget in bytes. Values are handed out as clones and outlive their entry.
pub(crate) struct LruMap<K, V> {
    table: ArcSwap<SlotTable<K, V>>,
    hasher: ahash::RandomState,
    /// Held while entries are changed.
    writer: PerProcess<Mutex<WriterState>>,
    /// The current age.
    age: AtomicU32,
    bytes: AtomicUsize,
    len: AtomicUsize,
    max_bytes: usize,
}

/// Counts that only writers need.
struct WriterState {
    /// Bytes added in the current age.
    added: usize,
    /// Slots of the current table that are written; more than there can be where they were not counted.
    slots: usize,
    /// Bytes of its entries that were replaced.
    stale: usize,
}

/// For a table of unknown state: the next entry begins a new one.
impl Default for WriterState {
    fn default() -> Self {
        Self { added: 0, slots: usize::MAX, stale: 0 }
    }
}

/// Entries in a power of two of slots, at most three quarters of them written. An entry is found between the
/// slot of its hash and the next empty one.
struct SlotTable<K, V> {
    slots: Box<[Slot<K, V>]>,
}

type Slot<K, V> = OnceLock<Arc<MapEntry<K, V>>>;

struct MapEntry<K, V> {
    hash: u64,
    key: K,
    value: V,
    bytes: usize,
    /// The age of the last use.
    used: AtomicU32,
    /// Whether another entry with the key has taken its place.
    is_stale: AtomicBool,
}

impl<K, V> fmt::Debug for LruMap<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LruMap")
            .field("bytes", &self.bytes)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

impl<K, V> SlotTable<K, V> {
    /// A table with capacity for a number of entries.
    fn with_capacity(entries: usize) -> Self {
        let slots = match entries {
            0 => 0,
            entries => (entries + entries / 3 + 1).next_power_of_two().max(MIN_SLOTS),
        };
        Self { slots: (0..slots).map(|_| OnceLock::new()).collect() }
    }

    /// The greatest number of written slots: at least one stays empty, where a search ends.
    fn capacity(&self) -> usize {
        self.slots.len() / 4 * 3
    }

    /// The slots from that of a hash on, each once.
    fn probe(&self, hash: u64) -> impl Iterator<Item = &Slot<K, V>> {
        let first = if self.slots.is_empty() { 0 } else { hash as usize & (self.slots.len() - 1) };
        self.slots[first..].iter().chain(&self.slots[..first])
    }

    fn find<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<&Arc<MapEntry<K, V>>>
    where
        K: Borrow<Q>,
    {
        // A slot is written once and never emptied, so the first empty slot ends the search: an entry that is
        // added later is one that this reader may miss.
        self.probe(hash).map_while(OnceLock::get).find(|entry| {
            entry.hash == hash && entry.key.borrow() == key && !entry.is_stale.load(Ordering::Acquire)
        })
    }

    /// Adds an entry. The caller holds the lock, and has made sure that a slot is free.
    fn add(&self, entry: Arc<MapEntry<K, V>>) {
        if let Some(slot) = self.probe(entry.hash).find(|slot| slot.get().is_none()) {
            // Only the holder of the lock adds, so the slot that was free a moment ago is free now.
            let _ = slot.set(entry);
        }
    }

    /// The entries that are found.
    fn entries(&self) -> impl Iterator<Item = &Arc<MapEntry<K, V>>> {
        let entries = self.slots.iter().filter_map(OnceLock::get);
        entries.filter(|entry| !entry.is_stale.load(Ordering::Acquire))
    }
}

impl<K: Hash + Eq, V: Clone> LruMap<K, V> {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            table: ArcSwap::from_pointee(SlotTable::with_capacity(0)),
            hasher: ahash::RandomState::default(),
            writer: PerProcess::default(),
            age: AtomicU32::new(0),
            bytes: AtomicUsize::new(0),
            len: AtomicUsize::new(0),
            max_bytes,
        }
    }

    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        // Most maps of most grammars are empty: this saves the hash and the load of the table.
        if self.len() == 0 {
            return None;
        }
        // A guard, and not a clone of the `Arc`: readers write no memory that they share. The table stays
        // alive until the guard is dropped, even if a writer replaces it.
        let table = self.table.load();
        let entry = table.find(self.hasher.hash_one(key), key)?;
        // Relaxed: an age that is a little old only changes which entry is evicted first. The value itself
        // was published by its slot.
        let age = self.age.load(Ordering::Relaxed);
        if entry.used.load(Ordering::Relaxed) != age {
            entry.used.store(age, Ordering::Relaxed);
        }
        Some(entry.value.clone())
    }

    /// Adds an entry with its number of bytes, instead of one with the same key. An entry larger than the
    /// whole budget is not kept. Returns the number of evicted entries.
    pub(crate) fn keep(&self, key: K, value: V, bytes: usize) -> u64 {
        if bytes > self.max_bytes {
            return 0;
        }
        let mut writer = self.writer.lock();
        // Room is made before the entry is added, so the sum never passes the budget, not even for a moment
        // that a reader could see.
        let fits = self.memory_usage() + bytes <= self.max_bytes;
        let evicted = if fits { 0 } else { self.shrink(&mut writer, bytes) };
        writer.added += bytes;
        if writer.added > self.max_bytes / AGES {
            writer.added = 0;
            self.age.fetch_add(1, Ordering::Relaxed);
        }
        let hash = self.hasher.hash_one(&key);
        let mut table = self.table.load_full();
        // After a possible eviction, because that may have evicted the older entry.
        let before = table.find(hash, &key).cloned();
        if writer.slots >= table.capacity() {
            // Twice as many as there are, so that entries are moved once on average.
            table = self.rebuild(&mut writer, table.entries(), 2 * self.len().max(1));
        }
        let used = AtomicU32::new(self.age.load(Ordering::Relaxed));
        // The entry becomes visible when its slot is set, which `OnceLock` orders after the writes of its fields. The
        // older entry is marked stale afterwards, so that a reader always finds one of the two.
        table.add(Arc::new(MapEntry { hash, key, value, bytes, used, is_stale: AtomicBool::new(false) }));
        writer.slots += 1;
        let mut total = self.memory_usage() + bytes;
        match before {
            Some(before) => {
                before.is_stale.store(true, Ordering::Release);
                total -= before.bytes;
                writer.stale += before.bytes;
                if writer.stale > self.max_bytes / STALE_SHARE {
                    self.rebuild(&mut writer, table.entries(), self.len());
                }
            }
            None => {
                // After the entry: a reader that sees the new length and goes on finds the entry.
                self.len.fetch_add(1, Ordering::Release);
            }
        }
        self.bytes.store(total, Ordering::Relaxed);
        evicted
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Bytes of all entries, as given when they were added.
    pub(crate) fn memory_usage(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn all(&self) -> Vec<(K, V)>
    where
        K: Clone,
    {
        self.table.load().entries().map(|entry| (entry.key.clone(), entry.value.clone())).collect()
    }

    /// Evicts the least recently used entries, until there is room for this many bytes and a quarter of the
    /// budget is free.
    fn shrink(&self, writer: &mut WriterState, capacity: usize) -> u64 {
        let target = self.max_bytes - (self.max_bytes / 4).max(capacity);
        // Writers hold a lock, so the table stays the same here. Readers may still set times of use; a little
        // disorder in the ages is harmless.
        let table = self.table.load_full();
        let mut oldest_first: Vec<_> =
            table.entries().map(|entry| (entry.used.load(Ordering::Relaxed), entry)).collect();
        oldest_first.sort_by_key(|&(age, _)| age);
        let mut total = self.memory_usage();
        let mut count = 0;
        for (_, entry) in &oldest_first {
            if total <= target {
                break;
            }
            total -= entry.bytes;
            count += 1;
        }
        // Slots are never emptied one by one: a reader could be on its way past them. A new table takes the
        // place of the old one.
        let kept = &oldest_first[count..];
        self.rebuild(writer, kept.iter().map(|&(_, entry)| entry), 2 * kept.len());
        self.len.store(kept.len(), Ordering::Release);
        self.bytes.store(total, Ordering::Relaxed);
        count as u64
    }

    /// Replaces the current table by one with these entries and this capacity.
    fn rebuild<'e>(
        &self,
        writer: &mut WriterState,
        entries: impl Iterator<Item = &'e Arc<MapEntry<K, V>>>,
        capacity: usize,
    ) -> Arc<SlotTable<K, V>>
    where
        K: 'e,
        V: 'e,
    {
        // If the process is forked in the middle of this, the child gets a new writer, whose default makes it
        // build a table of its own.
        let table = SlotTable::with_capacity(capacity);
        (writer.slots, writer.stale) = (0, 0);
        for entry in entries {
            table.add(Arc::clone(entry));
            writer.slots += 1;
        }
        let table = Arc::new(table);
        // Readers of the old table finish with it; entries are shared by both.
        self.table.store(Arc::clone(&table));
        table
    }
}
