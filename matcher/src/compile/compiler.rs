//! The compiler: the state that all compilations of a process share, and the way from a grammar to its first
//! tables.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use grammask_earley::Engine;
use grammask_fsm::{CompileOptions, LinkedProgram, Program, TokenLabel, TokenSide, compile_with};
use grammask_grammar_ir::passes::SpecialNames;
use grammask_grammar_ir::{Grammar, Interrupt, TokenRef};
use grammask_mask_cache::{Clock, LocalPool, MaskCounters, MaskOptions, TokenSets, Vocabulary};
use grammask_parser_backend::{BuildError, DistinctScope, DistinctScopes, TokenEdges};

use super::backend::{BackendSettings, BuildBackend};
use super::kept::{Kept, SourceCache};
use super::token_names::TokenResolver;
use crate::base::error::CompileError;
use crate::base::limits::Limits;
use crate::base::stats::{CompileTimes, CompilerStats, GrammarCounters};
use crate::base::threads::Threads;
use crate::base::trace::span;
use crate::cache::budget::Budget;
use crate::cache::compile_cache::{EntryKind, SourceKey};
#[cfg(feature = "json-schema")]
use crate::cache::options_key::OptionsKeys;
use crate::grammar::compiled::CompiledGrammar;
use crate::grammar::generation::GrammarParts;

/// Compiles structures for one vocabulary. Immutable and `Sync`; one a process is enough.
///
/// `B` is the parser backend that grammars are compiled for; see [`CompilerBuilder::backend`](crate::CompilerBuilder::backend).
pub struct Compiler<B: BuildBackend = Engine> {
    pub(super) parts: CompilerParts,
    /// Grammars and the parts of structural tags by their sources. A clone of the compiler shares them, too.
    pub(super) cache: Arc<SourceCache<B>>,
    /// Where grammars are kept between processes.
    pub(super) store: Option<Arc<dyn GrammarStore<B>>>,
}

/// A place that keeps grammars longer than a process.
pub(crate) trait GrammarStore<B: BuildBackend>: Send + Sync {
    /// The grammar under a key, or what `compile` makes, which is kept.
    fn get_or_compile(
        &self,
        compiler: &Compiler<B>,
        key: &str,
        compile: &mut dyn FnMut() -> Result<CompiledGrammar<B>, CompileError>,
    ) -> Result<CompiledGrammar<B>, CompileError>;
}

/// All of a compiler but its backend.
#[derive(Clone, Debug)]
pub(super) struct CompilerParts {
    pub(super) vocabulary: Arc<Vocabulary>,
    /// Keeps the tables that are computed from the vocabulary, for all grammars over it.
    pub(super) token_sets: Arc<TokenSets>,
    pub(super) limits: Limits,
    pub(super) automata: CompileOptions,
    pub(super) masks: MaskOptions,
    /// Masks that all grammars of the compiler share. A clone of the compiler shares it too.
    pub(super) pool: Arc<LocalPool>,
    pub(super) threads: Arc<Threads>,
    /// The names of the vocabulary's special tokens, once a grammar names tokens.
    pub(super) names: Arc<OnceLock<SpecialNames>>,
    #[cfg(feature = "json-schema")]
    pub(super) options_keys: Arc<OptionsKeys>,
    /// The budget that tables and masks of all grammars count against.
    pub(super) budget: Arc<Budget>,
    pub(super) compile_clock: Clock,
    pub(super) mask_clock: Clock,
    /// Stops the compilations of this clone.
    pub(super) interrupt: Interrupt,
}

impl<B: BuildBackend> Clone for Compiler<B> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone(), cache: Arc::clone(&self.cache), store: self.store.clone() }
    }
}

impl<B: BuildBackend> std::fmt::Debug for Compiler<B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Compiler");
        shown.field("backend", &std::any::type_name::<B>()).field("parts", &self.parts).finish()
    }
}

impl<B: BuildBackend> Compiler<B> {
    /// The vocabulary that masks are for.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.parts.vocabulary
    }

    /// Masks that the grammars of this compiler share.
    #[cfg(feature = "store")]
    pub(crate) fn pool(&self) -> &Arc<LocalPool> {
        &self.parts.pool
    }

    /// The threads for work in the background.
    pub fn threads(&self) -> &Arc<Threads> {
        &self.parts.threads
    }

    /// The same compiler, under an interrupt (instead of one in the options of a call): its compilations end
    /// early, with an error that says so ([`CompileError::interrupted`]). Mostly that is well below a
    /// millisecond after the interrupt comes. To read the JSON of a schema, to sort its parts and to free them takes some
    /// tens of milliseconds for a megabyte. Everything else is shared with this compiler.
    #[must_use]
    pub fn with_interrupt(&self, interrupt: Interrupt) -> Self {
        let parts = CompilerParts { interrupt, ..self.parts.clone() };
        Self { parts, cache: Arc::clone(&self.cache), store: self.store.clone() }
    }

    /// The numbers of this compiler and those that share its cache.
    pub fn stats(&self) -> CompilerStats {
        let CompilerParts { pool, budget, .. } = &self.parts;
        let (cache_hits, cache_misses) = self.cache.hits_and_misses();
        let (schema_hits, schema_misses) = self.cache.hits_and_misses_of(EntryKind::Schema);
        CompilerStats {
            cache_hits,
            cache_misses,
            schema_hits,
            schema_misses,
            cache_entries: self.cache.len_of(EntryKind::Grammar),
            cache_evicted: self.cache.evicted(),
            pool_masks: pool.len(),
            pool_bytes: pool.memory_usage(),
            budget_bytes: budget.memory_usage(),
            budget_max_bytes: budget.max_bytes(),
            budget_evicted: budget.evicted(),
        }
    }

    /// The budget that the tables and masks of the grammars count against.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.parts.budget
    }

    /// The keys of options.
    #[cfg(feature = "json-schema")]
    pub(crate) fn options_keys(&self) -> &OptionsKeys {
        &self.parts.options_keys
    }

    pub(crate) fn automata(&self) -> &CompileOptions {
        &self.parts.automata
    }

    /// How automata are compiled, under the compiler's interrupt.
    pub(crate) fn automata_under_interrupt(&self) -> CompileOptions {
        let automata = self.automata();
        match *self.interrupt() == Interrupt::never() {
            true => automata.clone(),
            false => automata.clone().interrupt(self.interrupt().clone()),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.parts.compile_clock.now()
    }

    /// Drops the grammars that are kept by their sources, and the parts of structural tags. Those in use elsewhere stay valid.
    pub fn clear_cache(&self) {
        self.cache.clear();
    }

    /// The interrupt that stops this compiler's work.
    pub fn interrupt(&self) -> &Interrupt {
        &self.parts.interrupt
    }

    /// The grammar of a source, from the cache or compiled now. The key holds the whole content; without options
    /// to print there is none.
    pub(crate) fn cached_by_options<O: Debug>(
        &self,
        syntax: &'static str,
        options: Option<&O>,
        source: &str,
        compile: impl FnOnce() -> Result<CompiledGrammar<B>, CompileError>,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let is_kept = self.caches_sources() || self.store.is_some();
        let spelled = options.filter(|_| is_kept).map(|options| format!("{options:?}"));
        self.cached(syntax, spelled.as_deref(), source, compile)
    }

    pub(crate) fn caches_sources(&self) -> bool {
        self.parts.limits.max_cache_bytes > 0
    }

    /// As [`cached_by_options`](Self::cached_by_options), under options that are printed already.
    pub(crate) fn cached(
        &self,
        syntax: &'static str,
        options: Option<&str>,
        source: &str,
        compile: impl FnOnce() -> Result<CompiledGrammar<B>, CompileError>,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let Some(options) = options else { return compile() };
        let compile = || self.stored([syntax, options, source], compile);
        if !self.caches_sources() {
            return compile();
        }
        let key = SourceKey { kind: EntryKind::Grammar, parts: [syntax, options, source] };
        let compile = || Ok(Kept::Grammar(compile()?));
        let (cache, interrupt) = (&self.cache, self.interrupt());
        let kept: Kept<_> =
            cache.get_or_compile_key_until::<CompileError>(key, interrupt, Kept::memory_usage, compile)?;
        kept.grammar().ok_or_else(CompileError::no_outcome)
    }

    /// The grammar of a source, from the store or compiled now.
    fn stored(
        &self,
        source: [&str; 3],
        compile: impl FnOnce() -> Result<CompiledGrammar<B>, CompileError>,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let Some(store) = &self.store else { return compile() };
        let [syntax, options, source] = source;
        // Another version may read the same source in another way.
        let version = env!("CARGO_PKG_VERSION");
        let automata = self.parts.automata.clone().interrupt(Interrupt::never());
        let key = format!("grammask {version} {syntax} {options} {automata:?}\n{source}");
        let mut compile = Some(compile);
        store.get_or_compile(self, &key, &mut || match compile.take() {
            Some(compile) => compile(),
            None => Err(CompileError::no_outcome()),
        })
    }

    /// Compiles a grammar, some of whose rules were compiled before.
    pub(crate) fn grammar_with(
        &self,
        grammar: &Grammar,
        parts: &[LinkedProgram<'_>],
        frontend: Duration,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let automata = self.automata_under_interrupt();
        let compile = |grammar: &Grammar| compile_with(grammar, &automata, parts);
        self.compile_grammar(grammar, compile, frontend)
    }

    pub(super) fn compile_grammar(
        &self,
        grammar: &Grammar,
        compile: impl FnOnce(&Grammar) -> Result<Program, grammask_fsm::AutomataError>,
        frontend: Duration,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let start = self.now();
        let program = {
            span!("automata");
            let grammar = self.resolver().resolve(grammar)?;
            compile(&grammar)?
        };
        let automata = self.now().saturating_sub(start);
        self.build_grammar(Arc::new(program), CompileTimes { frontend, automata, ..CompileTimes::default() })
    }

    /// The resolver that replaces names of tokens by ids.
    pub(crate) fn resolver(&self) -> TokenResolver {
        TokenResolver::new(Arc::clone(&self.parts.vocabulary), Arc::clone(&self.parts.names))
    }

    /// Puts automata that were compiled before over the vocabulary. Their token ids must be of this vocabulary.
    ///
    /// # Errors
    ///
    /// Where the backend does not serve them.
    pub fn program(&self, program: Arc<Program>) -> Result<CompiledGrammar<B>, CompileError> {
        self.build_grammar(program, CompileTimes::default())
    }

    pub(crate) fn build_grammar(
        &self,
        program: Arc<Program>,
        times: CompileTimes,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        span!("backend");
        let CompilerParts { vocabulary, limits, masks, pool, interrupt, budget, mask_clock, .. } =
            &self.parts;
        let settings = BackendSettings {
            longest_token: u32::try_from(vocabulary.max_token_len()).unwrap_or(u32::MAX),
            max_table_bytes: limits.max_table_bytes,
            max_items_per_set: limits.max_items_per_set,
        };
        let start = self.now();
        let engine = B::build(Arc::clone(&program), &settings)?;
        if program.has_options(|options| options.max_tokens > 0) && engine.configurations().is_none() {
            return Err(BuildError::new(
                "this backend does not count the tokens of a rule (`max_tokens`); use the Earley engine, or `max_chars`",
            )
            .into());
        }
        if program.has_options(|options| options.distinct.is_some()) {
            check_distinct(&program, &engine)?;
        }
        let times = CompileTimes { backend: self.now().saturating_sub(start), ..times };
        interrupt.check()?;
        let parts = GrammarParts {
            vocabulary: Arc::clone(vocabulary),
            limits: *limits,
            mask_options: *masks,
            pool: Arc::clone(pool),
            budget: Arc::clone(budget),
            counters: Arc::new(GrammarCounters::new(MaskCounters::new(mask_clock.clone()))),
            program: Some(program),
        };
        Ok(CompiledGrammar::from_parts(engine, parts, times))
    }
}

/// Whether a label stands for no token, but for a value that has occurred twice.
fn stands_for_repeats(label: &TokenLabel) -> bool {
    *label.ids == [TokenRef::REPEATED] && label.side == TokenSide::Inside
}

/// Items and names that must differ are compared outside of the backend, which has to say where they are.
fn check_distinct<B: BuildBackend>(program: &Program, engine: &B) -> Result<(), BuildError> {
    let Some(scopes) = engine.distinct_scopes() else {
        return Err(BuildError::new(
            "this backend does not say where items or names must differ (`distinct`); use the Earley engine",
        ));
    };
    // Structures that were joined may begin with such an array or object and with another one.
    let is_unclear = |bracket| scopes.distinct_scope_at(engine.start(), bracket) == DistinctScope::Ambiguous;
    let tells_repeats = engine.token_edges().token_set(0).names(TokenRef::REPEATED);
    let message = if !tells_repeats && (is_unclear(b'[') || is_unclear(b'{')) {
        "the text begins in several ways, and not in all of them must the items or names differ (`distinct`); make one \
         schema of them, with `anyOf`"
    } else if !program.labels().iter().all(stands_for_repeats) {
        "a grammar that names tokens cannot have rules with the option `distinct`; leave one out"
    } else if program.has_options(|options| options.max_tokens > 0) {
        "a grammar with bounds on tokens (`max_tokens`) cannot have rules with the option `distinct`; leave one out"
    } else {
        return Ok(());
    };
    Err(BuildError::new(message))
}
