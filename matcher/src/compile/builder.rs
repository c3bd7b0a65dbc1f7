//! The settings of a compiler.

use std::sync::{Arc, Weak};

use grammask_earley::Engine;
use grammask_fsm::CompileOptions;
use grammask_grammar_ir::Interrupt;
use grammask_mask_cache::{Clock, LocalPool, MaskOptions, TokenSets, Vocabulary};

use super::backend::BuildBackend;
#[cfg(feature = "store")]
use super::compiler::GrammarStore;
use super::compiler::{Compiler, CompilerParts};
use crate::base::limits::Limits;
use crate::base::threads::Threads;
use crate::cache::budget::{Budget, BudgetCache};
use crate::cache::compile_cache::CompileCache;

/// Settings of a [`Compiler`].
pub struct CompilerBuilder<B: BuildBackend = Engine> {
    compiler: Compiler<B>,
}

impl<B: BuildBackend> Clone for CompilerBuilder<B> {
    fn clone(&self) -> Self {
        Self { compiler: self.compiler.clone() }
    }
}

impl<B: BuildBackend> std::fmt::Debug for CompilerBuilder<B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CompilerBuilder").field("compiler", &self.compiler).finish()
    }
}

impl<B: BuildBackend> CompilerBuilder<B> {
    /// Limits for all later compilations. A shared [`budget`](Self::budget) is given after it.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.compiler.parts.budget = Arc::new(Budget::new(limits.max_total_bytes));
        self.compiler.parts.pool = Arc::new(LocalPool::new(limits.max_pool_bytes));
        self.compiler.parts.limits = limits;
        self
    }

    /// Which passes run on automata, and their bounds.
    #[must_use]
    pub fn automata(mut self, options: CompileOptions) -> Self {
        self.compiler.parts.automata = options;
        self
    }

    /// Which ways to a mask are taken. Masks do not depend on it.
    #[must_use]
    pub fn masks(mut self, options: MaskOptions) -> Self {
        self.compiler.parts.masks = options;
        self
    }

    /// The parser backend, instead of the Earley engine. Masks do not depend on it; their cost does, and the
    /// set of grammars that are served. A directory in which grammars are kept (the feature `store`) is given after it.
    #[must_use]
    pub fn backend<C: BuildBackend>(self) -> CompilerBuilder<C> {
        let mut parts = self.compiler.parts;
        let cache = Arc::new(CompileCache::new(Some(parts.limits.max_cache_bytes)));
        // Descriptions of local parts are compared between engines of one kind only.
        parts.pool = Arc::new(LocalPool::new(parts.limits.max_pool_bytes));
        CompilerBuilder { compiler: Compiler { parts, cache, store: None } }
    }

    /// Keeps compiled grammars in a place of its own, and takes them from there.
    #[cfg(feature = "store")]
    pub(crate) fn grammar_store(mut self, store: Arc<dyn GrammarStore<B>>) -> Self {
        self.compiler.store = Some(store);
        self
    }

    /// The budget for which the bytes of tables and masks count, instead of [`Limits::max_total_bytes`] of
    /// the compiler's own. Give all compilers of a process the same one.
    #[must_use]
    pub fn budget(mut self, budget: Arc<Budget>) -> Self {
        self.compiler.parts.budget = budget;
        self
    }

    /// A clock, for the times in [`GrammarStats`](crate::GrammarStats). Without one compilations are timed by
    /// [`Clock::standard`], and masks are not: two readings are a good part of a cheap mask.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.compiler.parts.compile_clock = clock.clone();
        self.compiler.parts.mask_clock = clock;
        self
    }

    /// The threads for work in the background, which other compilers and batches may share; at most four of
    /// its own by default. None starts before there is work.
    #[must_use]
    pub fn threads(mut self, threads: Arc<Threads>) -> Self {
        self.compiler.parts.threads = threads;
        self
    }

    /// The compiler. Prepares the vocabulary, which takes some 30 ms for 128,000 tokens, once.
    pub fn build(mut self) -> Compiler<B> {
        let CompilerParts { token_sets, budget, .. } = &self.compiler.parts;
        let limits = self.compiler.parts.limits;
        token_sets.prepare();
        // Builders may be copied before their settings differ, and the cached values depend on the settings.
        let cache = Arc::new(CompileCache::new(Some(limits.max_cache_bytes)));
        let as_cache: Arc<dyn BudgetCache> = Arc::clone(&cache) as Arc<dyn BudgetCache>;
        let weak: Weak<dyn BudgetCache> = Arc::downgrade(&as_cache);
        budget.add_cache(weak);
        self.compiler.cache = cache;
        // The first compilation does not wait for this. Faults of the names are reported when they are needed.
        let _ = self.compiler.resolver().names();
        self.compiler
    }
}

impl Compiler {
    /// A builder with the default limits and the Earley engine.
    pub fn builder(vocabulary: impl Into<Arc<Vocabulary>>) -> CompilerBuilder {
        let vocabulary = vocabulary.into();
        let parts = CompilerParts {
            token_sets: TokenSets::shared(&vocabulary),
            vocabulary,
            limits: Limits::default(),
            automata: CompileOptions::default(),
            masks: MaskOptions::default(),
            pool: Arc::new(LocalPool::new(Limits::default().max_pool_bytes)),
            threads: Arc::default(),
            names: Arc::default(),
            #[cfg(feature = "json-schema")]
            options_keys: Arc::default(),
            budget: Arc::new(Budget::new(Limits::default().max_total_bytes)),
            compile_clock: Clock::standard(),
            mask_clock: Clock::none(),
            interrupt: Interrupt::never(),
        };
        let cache = Arc::new(CompileCache::new(Some(parts.limits.max_cache_bytes)));
        CompilerBuilder { compiler: Compiler { parts, cache, store: None } }
    }

    /// A compiler with the default limits and the Earley engine.
    pub fn new(vocabulary: impl Into<Arc<Vocabulary>>) -> Self {
        Self::builder(vocabulary).build()
    }
}
