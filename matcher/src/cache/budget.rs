//! Memory that many grammars share.
//!
//! Each grammar has a budget of its own, and a server has thousands of grammars. The naive way, one list of
//! all tables in the order of their uses, would be written to by every step of every text. Here the bytes are
//! counted where tables grow, which is rare and slow anyway. Each generation of tables knows how many of its
//! bytes were counted, and adds its growth since then. A grammar's last use is the last time that a text
//! began or its tables grew; texts that only read keep their tables in use by holding them.
//!
//! When the sum passes the budget, grammars that only a compiler's cache holds go first. Then go the tables
//! of grammars without a text, both in the order of their last uses, and then large tables that are in use. A
//! text keeps the tables of its current state, and moves over to new ones when it next needs more of them.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use grammask_grammar_ir::PerProcess;

/// Bytes that the tables and masks of many grammars may hold together: those of one
/// [`Compiler`](crate::Compiler), or of all that are [built](crate::CompilerBuilder::budget) with the same one.
///
/// The bound is one of order, not to the byte: the tables of texts in progress are never taken from them.
#[derive(Debug)]
pub struct Budget {
    max_bytes: usize,
    held: AtomicUsize,
    /// All bytes that ever came to tables, and with how many it is next worth to look for something to drop.
    added: AtomicU64,
    next_check_at: AtomicU64,
    is_checking: AtomicBool,
    uses: AtomicU64,
    evicted: AtomicU64,
    grammars: PerProcess<Mutex<BudgetMembers>>,
    caches: PerProcess<Mutex<Vec<Weak<dyn BudgetCache>>>>,
}

#[derive(Debug, Default)]
struct BudgetMembers {
    list: Vec<Weak<dyn BudgetMember>>,
    /// How long the list may get before those that have gone are taken off it.
    prune_at: usize,
}

/// A grammar whose tables count for a budget.
pub(crate) trait BudgetMember: Send + Sync + std::fmt::Debug {
    /// The number of the last use.
    fn last_use(&self) -> u64;

    /// Puts empty tables in the place of the current ones, if they are of the kind. Whether it was done.
    fn release(&self, which: ReleaseTarget) -> bool;
}

/// A cache of grammars, for [`Budget::add_cache`].
pub trait BudgetCache: Send + Sync + std::fmt::Debug {
    /// Drops grammars that have no other holder, least recently used first, while the budget is passed. Returns their
    /// number. It may be called while a value of the cache is being compiled.
    fn drop_unused(&self, is_passed: &dyn Fn() -> bool) -> u64;
}

/// Which tables are worth to be dropped.
#[derive(Clone, Copy)]
pub(crate) enum ReleaseTarget {
    /// Those that no text is on.
    Idle,
    /// Those of at least this number of bytes. A text on small tables would leave them again and again.
    Larger(usize),
}

impl Budget {
    /// This many bytes.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            held: AtomicUsize::new(0),
            added: AtomicU64::new(0),
            next_check_at: AtomicU64::new(0),
            is_checking: AtomicBool::new(false),
            uses: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            grammars: PerProcess::default(),
            caches: PerProcess::default(),
        }
    }

    /// The most bytes.
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Bytes that tables and masks hold now, those of texts in progress included.
    pub fn memory_usage(&self) -> usize {
        let held = self.held.load(Ordering::Relaxed);
        // Of two changes to one grammar at the same time, the later one may be reported first.
        if held > usize::MAX / 2 { 0 } else { held }
    }

    /// How often a grammar or its tables were dropped to keep the bound.
    pub fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }

    /// Tables in use that hold less are never dropped.
    pub(crate) fn max_bytes_before_release(&self) -> usize {
        self.max_bytes / 16
    }

    pub(crate) fn add_grammar(&self, grammar: Weak<dyn BudgetMember>) {
        let mut members = self.grammars.lock();
        if members.list.len() >= members.prune_at {
            members.list.retain(|member| member.strong_count() > 0);
            members.prune_at = (members.list.len() * 2).max(64);
        }
        members.list.push(grammar);
    }

    /// Has a cache drop grammars when the budget is passed. A compiler's own cache is added when it is built.
    pub fn add_cache(&self, cache: Weak<dyn BudgetCache>) {
        let mut caches = self.caches.lock();
        caches.retain(|cache| cache.strong_count() > 0);
        caches.push(cache);
    }

    /// A number for a use, greater than those of all before.
    pub(crate) fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Reports that tables changed their number of bytes.
    pub(crate) fn change(&self, before: usize, now: usize) {
        if now >= before {
            self.held.fetch_add(now - before, Ordering::Relaxed);
            self.added.fetch_add((now - before) as u64, Ordering::Relaxed);
        } else {
            self.held.fetch_sub(before - now, Ordering::Relaxed);
        }
    }

    /// Evicts the least recently used grammars and tables, if the budget is passed. The caller holds no lock
    /// of a grammar.
    pub(crate) fn enforce(&self) {
        if self.memory_usage() <= self.max_bytes
            || self.added.load(Ordering::Relaxed) < self.next_check_at.load(Ordering::Relaxed)
            // One thread at a time evicts. Others go on, and do not wait: the bound is one of order. Acquire
            // and Release make the evictions of one check visible to the next.
            || self.is_checking.swap(true, Ordering::Acquire)
        {
            return;
        }
        // An eighth more than necessary, so that the next table does not lead to another search.
        let enough = self.max_bytes - self.max_bytes / 8;
        self.shrink_to(enough);
        // Tables that cannot go now may go later; until something is added, another search is useless. The
        // measure is the bytes added, not the bytes held, which fall whenever a text ends.
        let pause = if self.memory_usage() > self.max_bytes { self.max_bytes / 32 } else { 0 };
        self.next_check_at.store(self.added.load(Ordering::Relaxed) + pause as u64, Ordering::Relaxed);
        self.is_checking.store(false, Ordering::Release);
    }

    fn shrink_to(&self, enough: usize) {
        let is_passed = || self.memory_usage() > enough;
        // The lists are copied, and their locks are free while grammars are dropped: dropping a grammar may
        // come back here.
        let caches: Vec<_> = self.caches.lock().clone();
        for cache in caches.iter().filter_map(Weak::upgrade) {
            self.evicted.fetch_add(cache.drop_unused(&is_passed), Ordering::Relaxed);
        }
        if !is_passed() {
            return;
        }
        let list = self.grammars.lock().list.clone();
        let mut grammars: Vec<(u64, Arc<dyn BudgetMember>)> =
            list.iter().filter_map(Weak::upgrade).map(|member| (member.last_use(), member)).collect();
        grammars.sort_unstable_by_key(|(last_use, _)| *last_use);
        // Tables without a text cost a later text only time. Tables in use make their texts move, so they go
        // last, and only if they are large.
        for which in [ReleaseTarget::Idle, ReleaseTarget::Larger(self.max_bytes_before_release())] {
            for (_, grammar) in &grammars {
                if !is_passed() {
                    return;
                }
                let released = grammar.release(which);
                self.evicted.fetch_add(u64::from(released), Ordering::Relaxed);
            }
        }
    }
}
