//! A compiled grammar: the state that matchers share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use grammask_earley::Engine;
use grammask_fsm::Program;
use grammask_mask_cache::{LocalPool, MaskOptions, Vocabulary};
use grammask_parser_backend::{Backend, BuildError, Tables};
use xxhash_rust::xxh3::xxh3_128;

use super::generation::{Generation, GrammarParts};
use super::requested_attributes::RequestedAttributes;
use crate::base::limits::Limits;
use crate::base::stats::{CompileTimes, GrammarCounters, GrammarStats, GrammarUsage};
use crate::base::trace::span;
use crate::cache::budget::{Budget, BudgetMember, ReleaseTarget};

/// A structure, ready to be followed over one vocabulary. Cheap to clone; shared by any number of matchers on
/// any number of threads, which fill its tables as they go.
///
/// `B` is the parser backend; the default is the Earley engine.
pub struct CompiledGrammar<B: Backend = Engine> {
    shared: Arc<SharedGrammar<B>>,
    warnings: Arc<[String]>,
}

impl<B: Backend> Clone for CompiledGrammar<B> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), warnings: Arc::clone(&self.warnings) }
    }
}

struct SharedGrammar<B: Backend> {
    parts: GrammarParts,
    compile: CompileTimes,
    fingerprint: OnceLock<u128>,
    /// The attributes that the options of rules ask for, if any rule has some.
    requested: Option<RequestedAttributes>,
    /// Whether some items or names must differ.
    has_distinct_rules: bool,
    /// The tables in use. When they are full a new generation takes their place, and matchers move over.
    current: Mutex<Arc<Generation<B>>>,
    /// The number of the last use in the budget.
    last_use: AtomicU64,
}

impl<B: Backend> std::fmt::Debug for CompiledGrammar<B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let usage = self.usage();
        formatter.debug_struct("CompiledGrammar").field("usage", &usage).finish_non_exhaustive()
    }
}

impl<B: Backend> CompiledGrammar<B> {
    /// Puts a backend of any kind over a vocabulary. [`Compiler`](crate::Compiler) does this for the Earley engine.
    /// The origin of the backend is not known then, and so the options of rules are not either: there are no captures,
    /// no temperatures, and no bounds on tokens.
    ///
    /// The pool holds masks that grammars of this vocabulary share; give each grammar the same one.
    pub fn from_backend(
        engine: B,
        vocabulary: Arc<Vocabulary>,
        pool: Arc<LocalPool>,
        limits: Limits,
    ) -> Self {
        Self::with_options(engine, vocabulary, pool, limits, MaskOptions::default())
    }

    /// As [`from_backend`](Self::from_backend), with a choice of the ways to a mask.
    pub fn with_options(
        engine: B,
        vocabulary: Arc<Vocabulary>,
        pool: Arc<LocalPool>,
        limits: Limits,
        mask_options: MaskOptions,
    ) -> Self {
        let budget = Arc::new(Budget::new(limits.max_total_bytes));
        let parts = GrammarParts {
            vocabulary,
            limits,
            mask_options,
            pool,
            budget,
            counters: Arc::default(),
            program: None,
        };
        Self::from_parts(engine, parts, CompileTimes::default())
    }

    pub(crate) fn from_parts(engine: B, parts: GrammarParts, compile: CompileTimes) -> Self {
        let current = Mutex::new(Arc::new(Generation::new(engine, &parts)));
        let last_use = AtomicU64::new(parts.budget.next_use());
        let requested = parts.program.as_deref().and_then(RequestedAttributes::from_program);
        let program = parts.program.as_deref();
        let has_distinct_rules =
            program.is_some_and(|program| program.has_options(|options| options.distinct.is_some()));
        let fingerprint = OnceLock::new();
        let shared = Arc::new(SharedGrammar {
            parts,
            compile,
            fingerprint,
            requested,
            has_distinct_rules,
            current,
            last_use,
        });
        // Weak: the budget must not keep alive what it is to evict.
        let member: Weak<dyn BudgetMember> = Arc::downgrade(&(Arc::clone(&shared) as Arc<dyn BudgetMember>));
        shared.parts.budget.add_grammar(member);
        shared.parts.budget.enforce();
        Self { shared, warnings: Arc::default() }
    }

    /// Warnings of the reader of its source, a sentence each. They name keywords of JSON Schemas that are ignored by request,
    /// and those that mean something in another draft only. They are not written with the grammar, and a store keeps no grammar
    /// that has some.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The same grammar with these [warnings](Self::warnings), for callers who read sources themselves.
    pub fn with_warnings(self, warnings: Vec<String>) -> Self {
        Self { warnings: warnings.into(), ..self }
    }

    /// The vocabulary that masks are for.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.shared.parts.vocabulary
    }

    /// The bounds that the grammar was compiled with.
    pub fn limits(&self) -> &Limits {
        &self.shared.parts.limits
    }

    /// The automata of the structure; `None` where the grammar was made [from a backend](Self::from_backend).
    pub fn program(&self) -> Option<&Arc<Program>> {
        self.shared.parts.program.as_ref()
    }

    /// A hash of the automata and the vocabulary, equal in every process. A router can send requests with
    /// equal fingerprints to the same machine, where their masks are known already. Structures that differ
    /// only in how they are spelled often have one fingerprint. Deferred parts are compiled now.
    ///
    /// It changes with versions that compile structures to other automata. Not cryptographic: see
    /// [`Program::fingerprint`]. `None` where the grammar was made [from a backend](Self::from_backend).
    pub fn fingerprint(&self) -> Option<u128> {
        let program = self.shared.parts.program.as_ref()?;
        let both = || fingerprint(program.fingerprint(), self.shared.parts.vocabulary.fingerprint());
        Some(*self.shared.fingerprint.get_or_init(both))
    }

    /// How much memory the tables hold now.
    pub fn usage(&self) -> GrammarUsage {
        let generation = self.generation();
        GrammarUsage {
            table_bytes: generation.engine.tables().memory_usage(),
            mask_bytes: generation.masks.memory_usage(),
            masks: generation.masks.len(),
        }
    }

    /// The numbers of the grammar and of all texts on it.
    pub fn stats(&self) -> GrammarStats {
        let GrammarParts { counters, program, .. } = &self.shared.parts;
        let sub_programs = program.as_ref().map(|program| program.sub_program_counts()).unwrap_or_default();
        GrammarStats {
            fingerprint: self.shared.fingerprint.get().copied().or_else(|| {
                let is_whole = sub_programs.compiled == sub_programs.all;
                is_whole.then(|| self.fingerprint()).flatten()
            }),
            sub_programs,
            compile: self.shared.compile,
            texts: counters.texts(),
            masks: counters.masks.read(),
            tables: self.generation().engine.tables().counts(),
            usage: self.usage(),
            generations: counters.generations.load(Ordering::Relaxed),
        }
    }

    /// The budget for which the bytes of tables and masks count.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.shared.parts.budget
    }

    /// Bytes of the grammar as a whole.
    pub(crate) fn memory_usage(&self) -> usize {
        size_of::<SharedGrammar<B>>() + self.generation().memory_usage()
    }

    /// The attributes that the options of rules ask for, if any rule has some.
    pub(crate) fn requested_attributes(&self) -> Option<RequestedAttributes> {
        self.shared.requested
    }

    /// Whether some items or names must differ.
    pub(crate) fn has_distinct_rules(&self) -> bool {
        self.shared.has_distinct_rules
    }

    pub(crate) fn counters(&self) -> &Arc<GrammarCounters> {
        &self.shared.parts.counters
    }

    /// Whether the grammar has no other holder: neither a clone nor a text.
    pub fn is_unshared(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }

    /// For a text that begins or goes on with other tables.
    pub(crate) fn generation(&self) -> Arc<Generation<B>> {
        let current = self.shared.current();
        current.add_user();
        Arc::clone(&current)
    }

    /// The grammar is used.
    pub(crate) fn mark_used(&self) {
        self.shared.last_use.store(self.shared.parts.budget.next_use(), Ordering::Relaxed);
    }

    /// Tables have grown. The caller holds no lock of the grammar's.
    pub(crate) fn account_growth(&self, generation: &Generation<B>) {
        // In this order, so that the grammar in use is the last one that is evicted for its own growth.
        generation.report_growth();
        self.mark_used();
        self.shared.parts.budget.enforce();
    }

    /// Bytes that tables may hold before others take their place, because they are full or to keep the budget.
    pub(crate) fn max_bytes_before_release(&self) -> usize {
        let GrammarParts { limits, budget, .. } = &self.shared.parts;
        limits.max_table_bytes.min(budget.max_bytes_before_release())
    }

    /// The tables for a call that had too little room: the current ones, or new ones if those are full.
    pub(crate) fn next_generation(&self) -> Result<Arc<Generation<B>>, BuildError> {
        let mut current = self.shared.current();
        // Another matcher may have begun new tables already. Asking under the lock makes all of them move to the
        // same ones.
        if current.is_full() {
            *current = self.new_generation(&current)?;
        }
        current.add_user();
        Ok(Arc::clone(&current))
    }

    /// Empty tables that are not shared with anyone.
    pub(crate) fn new_generation(&self, like: &Generation<B>) -> Result<Arc<Generation<B>>, BuildError> {
        Ok(Arc::new(Generation::new(like.engine.tables().fresh()?, &self.shared.parts)))
    }
}

impl<B: Backend> SharedGrammar<B> {
    fn current(&self) -> MutexGuard<'_, Arc<Generation<B>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Backend> std::fmt::Debug for SharedGrammar<B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SharedGrammar").field("last_use", &self.last_use).finish_non_exhaustive()
    }
}

impl<B: Backend> BudgetMember for SharedGrammar<B> {
    fn last_use(&self) -> u64 {
        self.last_use.load(Ordering::Relaxed)
    }

    fn release(&self, which: ReleaseTarget) -> bool {
        let mut current = self.current();
        let bytes = current.reported_bytes.load(Ordering::Relaxed);
        let is_worth_it = match which {
            ReleaseTarget::Idle => Arc::strong_count(&current) == 1,
            ReleaseTarget::Larger(min_bytes) => bytes >= min_bytes,
        };
        if !is_worth_it {
            return false;
        }
        span!("evict", bytes = bytes);
        let Ok(engine) = current.engine.tables().fresh() else { return false };
        let fresh = Generation::new(engine, &self.parts);
        // Nothing would be gained, and the next call of the budget would come here again.
        if fresh.reported_bytes.load(Ordering::Relaxed) >= bytes {
            return false;
        }
        // Matchers that hold the old tables go on with them, and move over when they next need work.
        current.retired.store(true, Ordering::Relaxed);
        let before = std::mem::replace(&mut *current, Arc::new(fresh));
        drop(current);
        // Unused tables end here, with the lock free.
        drop(before);
        true
    }
}

fn fingerprint(program: u128, vocabulary: u128) -> u128 {
    let bytes = [program.to_le_bytes(), vocabulary.to_le_bytes()];
    xxh3_128(bytes.as_flattened())
}
