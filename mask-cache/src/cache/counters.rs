//! How often each way to a mask was taken, and how long it took where somebody gives a clock.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Tells the time since some moment, the same for all calls.
#[derive(Clone, Default)]
pub struct Clock {
    now: Option<Arc<dyn Fn() -> Duration + Send + Sync>>,
}

impl Clock {
    /// No clock: times are 0.
    pub const fn none() -> Self {
        Self { now: None }
    }

    /// The clock of the standard library; none where it has none (`wasm32-unknown-unknown`).
    pub fn standard() -> Self {
        if cfg!(all(target_family = "wasm", target_os = "unknown")) {
            return Self::none();
        }
        let start = Instant::now();
        Self::new(move || start.elapsed())
    }

    /// A clock of the caller's. It is read twice for each mask that is computed.
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { now: Some(Arc::new(now)) }
    }

    /// The time; 0 without a clock.
    pub fn now(&self) -> Duration {
        self.now.as_ref().map_or(Duration::ZERO, |now| now())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Clock").field(&self.now.is_some()).finish()
    }
}

/// A way to the mask of a state that had none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Difference,
    LocalPart,
    Slice,
    Walk,
}

/// How often one way to a mask was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WayCount {
    /// How many masks.
    pub masks: u64,
    /// Their time together; 0 if there is no clock.
    pub time: Duration,
}

/// Counts of a memo since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaskCounts {
    /// Masks found as a difference to a known one.
    pub differences: WayCount,
    /// Masks put together from a local part and its continuation.
    pub local_parts: WayCount,
    /// Masks found from a slice of the vocabulary and a walk of the other tokens.
    pub slices: WayCount,
    /// Masks found by a walk alone.
    pub walks: WayCount,
    /// Local parts whose mask this grammar knew.
    pub local_hits: u64,
    /// Local parts that were met for the first time, or made.
    pub local_misses: u64,
    /// Of the misses, those that another grammar of the compiler had made.
    pub cross_grammar_hits: u64,
    /// Uncertain tokens of the local parts whose masks this grammar took: those that end the part's rule in their
    /// middle.
    pub uncertain: u64,
    /// Of these, those that context expansion left.
    pub uncertain_left: u64,
    /// Masks that made room for others.
    pub evicted: u64,
}

impl MaskCounts {
    /// All masks that were computed.
    pub fn computed(&self) -> u64 {
        self.differences.masks + self.local_parts.masks + self.slices.masks + self.walks.masks
    }
}

/// Where memos count. The memos of one grammar, one after the other, may share it.
#[derive(Debug, Default)]
pub struct MaskCounters {
    ways: [WayCounter; 4],
    pub(crate) local_hits: AtomicU64,
    pub(crate) local_misses: AtomicU64,
    pub(crate) cross_grammar_hits: AtomicU64,
    uncertain: AtomicU64,
    uncertain_left: AtomicU64,
    pub(crate) evicted: AtomicU64,
    clock: Clock,
}

#[derive(Debug, Default)]
struct WayCounter {
    masks: AtomicU64,
    nanoseconds: AtomicU64,
}

impl MaskCounters {
    /// Counters that begin at 0, with a clock or without.
    pub fn new(clock: Clock) -> Self {
        Self { clock, ..Self::default() }
    }

    /// The counts now.
    pub fn read(&self) -> MaskCounts {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let way = |way: Way| {
            let WayCounter { masks, nanoseconds } = &self.ways[way as usize];
            WayCount { masks: load(masks), time: Duration::from_nanos(load(nanoseconds)) }
        };
        MaskCounts {
            differences: way(Way::Difference),
            local_parts: way(Way::LocalPart),
            slices: way(Way::Slice),
            walks: way(Way::Walk),
            local_hits: load(&self.local_hits),
            local_misses: load(&self.local_misses),
            cross_grammar_hits: load(&self.cross_grammar_hits),
            uncertain: load(&self.uncertain),
            uncertain_left: load(&self.uncertain_left),
            evicted: load(&self.evicted),
        }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The mask of a local part was taken, with the numbers of its uncertain tokens before context expansion and after.
    pub(crate) fn note_uncertain(&self, before: usize, after: usize) {
        self.uncertain.fetch_add(before as u64, Ordering::Relaxed);
        self.uncertain_left.fetch_add(after as u64, Ordering::Relaxed);
    }

    /// A mask was found, which was begun at `start`.
    pub(crate) fn note(&self, way: Way, start: Duration) {
        let WayCounter { masks, nanoseconds } = &self.ways[way as usize];
        count(masks);
        let took = self.clock.now().saturating_sub(start).as_nanos();
        nanoseconds.fetch_add(u64::try_from(took).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
