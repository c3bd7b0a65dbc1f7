//! Counters of a grammar, a text and a compiler.
//!
//! Counting must not cost what it counts. A matcher counts for itself, in memory that no other thread writes.
//! It adds its numbers to those of its grammar when a mask has to be computed and when it is dropped. So the
//! numbers of a grammar may lack the last steps of texts in progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use grammask_fsm::SubProgramCounts;
use grammask_grammar_frontends::json::JsonValue;
use grammask_mask_cache::{MaskCounters, MaskCounts, WayCount};
use grammask_parser_backend::TableCounts;
use serde_json::{Value, json};

/// Numbers of one text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatcherStats {
    /// Tokens accepted, and calls of `accept_bytes`. Those that were taken back count too.
    pub steps: u64,
    /// Masks that equalled the one before: nothing was looked up.
    pub unchanged: u64,
    /// Masks that were known.
    pub hits: u64,
    /// Masks that had to be computed.
    pub misses: u64,
    /// Times that the text moved over to new tables.
    pub moves: u64,
    /// Steps that were read again for a rollback past those whose states the tables have.
    pub read_again: u64,
}

/// Numbers of one grammar, of all texts on it so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrammarStats {
    /// A number by which a router may send equal grammars to the same replica. `None` if there are no
    /// automata, and as long as some are deferred and [the fingerprint](crate::CompiledGrammar::fingerprint)
    /// was not asked for.
    pub fingerprint: Option<u128>,
    /// The time of compiling, by stages; 0 on targets without a clock. Deferred compilation does not
    /// count.
    pub compile: CompileTimes,
    /// Programs that its automata refer to, and how many of them are compiled.
    pub sub_programs: SubProgramCounts,
    /// Counters of its texts.
    pub texts: MatcherStats,
    /// How masks were computed.
    pub masks: MaskCounts,
    /// The sizes of the backend's tables now.
    pub tables: TableCounts,
    /// Sizes in bytes now.
    pub usage: GrammarUsage,
    /// How often tables were begun anew.
    pub generations: u64,
}

/// Sizes of a compiled grammar's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrammarUsage {
    /// Bytes of parser tables.
    pub table_bytes: usize,
    /// Bytes of masks.
    pub mask_bytes: usize,
    /// Number of masks kept.
    pub masks: usize,
}

/// How long the stages of a compilation took; 0 on targets without a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompileTimes {
    /// From the source to a grammar.
    pub frontend: Duration,
    /// From the grammar to automata.
    pub automata: Duration,
    /// From automata to the backend's first tables.
    pub backend: Duration,
}

/// Numbers of one compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompilerStats {
    /// Sources that were compiled before.
    pub cache_hits: u64,
    /// Sources that were compiled.
    pub cache_misses: u64,
    /// Schemas of structural tags that were compiled before, in whatever tag.
    pub schema_hits: u64,
    /// Schemas of structural tags that were compiled.
    pub schema_misses: u64,
    /// Grammars that are kept.
    pub cache_entries: usize,
    /// How often a grammar was dropped to keep the bound of the cache.
    pub cache_evicted: u64,
    /// Masks that grammars share.
    pub pool_masks: usize,
    /// Bytes of them.
    pub pool_bytes: usize,
    /// Bytes of all tables and masks that count for the compiler's budget.
    pub budget_bytes: usize,
    /// The most of them.
    pub budget_max_bytes: usize,
    /// How often a grammar or its tables were dropped to keep that bound.
    pub budget_evicted: u64,
}

impl MatcherStats {
    /// As JSON.
    pub fn to_json(&self) -> JsonValue {
        let Self { steps, unchanged, hits, misses, moves, read_again } = self;
        json!({"steps": steps, "unchanged": unchanged, "hits": hits, "misses": misses, "moves": moves, "read_again": read_again}).into()
    }

    fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.unchanged += other.unchanged;
        self.hits += other.hits;
        self.misses += other.misses;
        self.moves += other.moves;
        self.read_again += other.read_again;
    }
}

impl GrammarStats {
    /// As JSON; the fingerprint in hexadecimal digits, times in nanoseconds.
    pub fn to_json(&self) -> JsonValue {
        let Self { fingerprint, compile, sub_programs, texts, masks, tables, usage, generations } = self;
        json!({
            "fingerprint": fingerprint.map(|fingerprint| format!("{fingerprint:032x}")),
            "compile_ns": {
                "frontend": nanoseconds(compile.frontend),
                "automata": nanoseconds(compile.automata),
                "backend": nanoseconds(compile.backend),
            },
            "sub_programs": {"all": sub_programs.all, "compiled": sub_programs.compiled},
            "texts": texts.to_json(),
            "masks": {
                "differences": way(&masks.differences),
                "local_parts": way(&masks.local_parts),
                "slices": way(&masks.slices),
                "walks": way(&masks.walks),
                "local_hits": masks.local_hits,
                "local_misses": masks.local_misses,
                "cross_grammar_hits": masks.cross_grammar_hits,
                "uncertain": masks.uncertain,
                "uncertain_left": masks.uncertain_left,
                "evicted": masks.evicted,
            },
            "tables": {"sets": tables.sets, "contexts": tables.contexts},
            "usage": {
                "table_bytes": usage.table_bytes,
                "mask_bytes": usage.mask_bytes,
                "masks": usage.masks,
            },
            "generations": generations,
        })
        .into()
    }
}

impl CompilerStats {
    /// As JSON.
    pub fn to_json(&self) -> JsonValue {
        json!({
            "cache": {
                "hits": self.cache_hits,
                "misses": self.cache_misses,
                "entries": self.cache_entries,
                "evicted": self.cache_evicted,
            },
            "schemas": {"hits": self.schema_hits, "misses": self.schema_misses},
            "pool": {"masks": self.pool_masks, "bytes": self.pool_bytes},
            "budget": {
                "bytes": self.budget_bytes,
                "max_bytes": self.budget_max_bytes,
                "evicted": self.budget_evicted,
            },
        })
        .into()
    }
}

fn way(count: &WayCount) -> Value {
    json!({"masks": count.masks, "ns": nanoseconds(count.time)})
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Where the texts of a grammar put their numbers together.
#[derive(Debug, Default)]
pub(crate) struct GrammarCounters {
    pub(crate) masks: Arc<MaskCounters>,
    pub(crate) generations: AtomicU64,
    steps: AtomicU64,
    unchanged: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
    moves: AtomicU64,
    read_again: AtomicU64,
}

impl GrammarCounters {
    pub(crate) fn new(masks: MaskCounters) -> Self {
        Self { masks: Arc::new(masks), ..Self::default() }
    }

    pub(crate) fn texts(&self) -> MatcherStats {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Self { steps, unchanged, hits, misses, moves, read_again, .. } = self;
        MatcherStats {
            steps: load(steps),
            unchanged: load(unchanged),
            hits: load(hits),
            misses: load(misses),
            moves: load(moves),
            read_again: load(read_again),
        }
    }

    fn add(&self, stats: &MatcherStats) {
        let MatcherStats { steps, unchanged, hits, misses, moves, read_again } = *stats;
        for (counter, count) in [
            (&self.steps, steps),
            (&self.unchanged, unchanged),
            (&self.hits, hits),
            (&self.misses, misses),
            (&self.moves, moves),
            (&self.read_again, read_again),
        ] {
            if count > 0 {
                counter.fetch_add(count, Ordering::Relaxed);
            }
        }
    }
}

/// The counters that a matcher keeps for itself.
#[derive(Debug)]
pub(crate) struct LocalCounts {
    /// Since they were last put to those of the grammar.
    pub(crate) unpublished: MatcherStats,
    published: MatcherStats,
    counters: Arc<GrammarCounters>,
}

impl LocalCounts {
    pub(crate) fn new(counters: Arc<GrammarCounters>) -> Self {
        Self { unpublished: MatcherStats::default(), published: MatcherStats::default(), counters }
    }

    /// Puts the numbers to those of the grammar.
    pub(crate) fn publish(&mut self) {
        let unpublished = self.unpublished.take();
        self.counters.add(&unpublished);
        self.published.add(&unpublished);
    }

    /// Continues with the numbers of another matcher. Its own are lost.
    pub(crate) fn take_over(&mut self, others: &mut Self) {
        self.unpublished = MatcherStats::default();
        std::mem::swap(self, others);
    }

    /// All of the matcher's numbers.
    pub(crate) fn all(&self) -> MatcherStats {
        let mut all = self.published;
        all.add(&self.unpublished);
        all
    }
}

/// A copy counts for itself, from 0 on.
impl Clone for LocalCounts {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.counters))
    }
}

impl Drop for LocalCounts {
    fn drop(&mut self) {
        self.counters.add(&self.unpublished);
    }
}
