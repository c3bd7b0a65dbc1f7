//! The tables of one grammar: an engine and the masks of its states, as one generation that can be replaced.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use grammask_fsm::Program;
use grammask_mask_cache::{LocalPool, MaskMemo, MaskOptions, TokenSets, Vocabulary};
use grammask_parser_backend::{Backend, StepError, Tables};

use crate::base::limits::Limits;
use crate::base::stats::GrammarCounters;
use crate::cache::budget::Budget;

/// The parts of a grammar except for its backend.
pub(crate) struct GrammarParts {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) limits: Limits,
    pub(crate) mask_options: MaskOptions,
    pub(crate) pool: Arc<LocalPool>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) counters: Arc<GrammarCounters>,
    /// The program of the engine, where a compiler made it.
    pub(crate) program: Option<Arc<Program>>,
}

/// An engine and the masks of its states. Their bytes count for a budget as long as somebody holds them.
pub(crate) struct Generation<B: Backend> {
    pub(crate) engine: B,
    pub(crate) masks: MaskMemo,
    budget: Arc<Budget>,
    /// Bytes of the engine before its tables were filled.
    empty_bytes: usize,
    /// Bytes that the budget knows of.
    pub(super) reported_bytes: AtomicUsize,
    /// Whether some call had too little room: the next one that has begins others.
    full: AtomicBool,
    /// How often it was given to a text or another user.
    users: AtomicUsize,
    /// Whether other tables took its place to keep the budget: a matcher that needs more of it moves over.
    pub(super) retired: AtomicBool,
}

impl<B: Backend> Generation<B> {
    pub(super) fn new(engine: B, parts: &GrammarParts) -> Self {
        let GrammarParts { vocabulary, limits, mask_options, pool, budget, counters, .. } = parts;
        let masks = MaskMemo::new(TokenSets::shared(vocabulary), Arc::clone(pool), limits.max_mask_bytes)
            .with_options(*mask_options)
            .with_counters(Arc::clone(&counters.masks));
        counters.generations.fetch_add(1, Ordering::Relaxed);
        let empty_bytes = engine.tables().memory_usage();
        let this = Self {
            engine,
            masks,
            budget: Arc::clone(budget),
            empty_bytes,
            reported_bytes: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            users: AtomicUsize::new(0),
            retired: AtomicBool::new(false),
        };
        this.report_growth();
        this
    }

    pub(super) fn memory_usage(&self) -> usize {
        size_of::<Self>() + self.engine.tables().memory_usage() + self.masks.memory_usage()
    }

    /// Bytes that have come to the engine's tables.
    pub(crate) fn grown_by(&self) -> usize {
        self.engine.tables().memory_usage().saturating_sub(self.empty_bytes)
    }

    /// Reports the growth of the tables since the last time to the budget.
    pub(super) fn report_growth(&self) {
        let now = self.memory_usage();
        // A swap, so that each byte is reported once even if two threads report at the same time. Relaxed,
        // because the sum is an estimate that guards no memory.
        let before = self.reported_bytes.swap(now, Ordering::Relaxed);
        self.budget.change(before, now);
    }

    pub(super) fn add_user(&self) {
        self.users.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether more than one user may have filled the tables.
    pub(crate) fn is_shared(&self) -> bool {
        self.users.load(Ordering::Relaxed) > 1
    }

    /// A call had too little room here.
    pub(crate) fn mark_full(&self) {
        self.full.store(true, Ordering::Relaxed);
    }

    /// Whether some call had too little room. All that the tables hold still serves.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn is_retired(&self) -> bool {
        // A matcher that sees this late moves over at its next call.
        self.retired.load(Ordering::Relaxed)
    }
}

impl<B: Backend> Drop for Generation<B> {
    fn drop(&mut self) {
        self.budget.change(*self.reported_bytes.get_mut(), 0);
    }
}

/// Whether a new generation of tables may help.
pub(crate) fn is_full(error: &StepError) -> bool {
    matches!(error, StepError::OutOfMemory { .. })
}
