//! From a structure in some syntax to a compiled grammar.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use grammask_earley::Engine;
use grammask_fsm::{CompileOptions, LinkedProgram, Program, compile_deferred, compile_with};
use grammask_grammar_frontends::ebnf::{self, EbnfOptions};
use grammask_grammar_frontends::gbnf::{self, GbnfOptions};
use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions, Report};
use grammask_grammar_frontends::lark::{self, LarkOptions};
use grammask_grammar_frontends::regex::{self, RegexOptions};
use grammask_grammar_frontends::structural_tag::{SchemaCache, TagText};
use grammask_grammar_ir::passes::{ResolveTokensError, SpecialNames, mentions_tokens, resolve_tokens_with};
use grammask_grammar_ir::{Grammar, Interrupt, Pattern, PatternPart, TokenRef};
use grammask_mask_cache::{Clock, LocalPool, MaskCounters, MaskOptions, TokenSets, Vocabulary};
use grammask_parser_backend::{BuildError, Requirement};

use crate::budget::Cache;
use crate::cache::Key;
use crate::compile_tags::SchemaPrograms;
use crate::spelled::SpelledOptions;
use crate::stats::Counters;
use crate::tag_pieces::KnownPieces;
use crate::token_names::Names;
use crate::trace::span;
use crate::{
    BackendSettings, Budget, BuildBackend, CompileCache, CompileError, CompileTimes, CompiledGrammar,
    CompilerStats, Limits, Threads,
};

/// Compiles structures for one vocabulary. Immutable and `Sync`; one a process is enough.
///
/// `B` is the parser backend that grammars are compiled for; see [`CompilerBuilder::backend`].
pub struct Compiler<B: BuildBackend = Engine> {
    parts: Parts,
    /// What was compiled from a source. A clone of the compiler shares it too.
    cache: Arc<Grammars<B>>,
}

/// Edges of automata that a schema may have for each of its bytes, and for each a state; those of objects with short
/// names, one in the other, have half as many.
const EDGES_OF_BYTE: usize = 4;

/// Grammars by the content of their source.
type Grammars<B> = CompileCache<CompiledGrammar<B>>;

/// All of a compiler but its backend.
#[derive(Clone, Debug)]
struct Parts {
    vocabulary: Arc<Vocabulary>,
    /// Keeps what is computed from the vocabulary, for all grammars over it.
    token_sets: Arc<TokenSets>,
    limits: Limits,
    automata: CompileOptions,
    masks: MaskOptions,
    /// Masks that all grammars of the compiler share. A clone of the compiler shares it too.
    pool: Arc<LocalPool>,
    threads: Arc<Threads>,
    /// The automata of schemas that structures have in common. A clone of the compiler shares them too.
    schemas: Arc<SchemaPrograms>,
    /// The schemas themselves, by their texts. Shared with clones, too.
    known: Arc<SchemaCache>,
    /// Tags of structures, compiled, by their texts. Shared with clones, too.
    pieces: Arc<KnownPieces>,
    /// The names of the vocabulary's special tokens, once a grammar names tokens.
    names: Arc<OnceLock<SpecialNames>>,
    spelled: Arc<SpelledOptions>,
    /// What tables and masks of all grammars count for.
    budget: Arc<Budget>,
    clock: Clock,
    /// Stops what this clone compiles.
    interrupt: Interrupt,
}

impl<B: BuildBackend> Clone for Compiler<B> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone(), cache: Arc::clone(&self.cache) }
    }
}

impl<B: BuildBackend> std::fmt::Debug for Compiler<B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Compiler");
        shown.field("backend", &std::any::type_name::<B>()).field("parts", &self.parts).finish()
    }
}

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
    /// Bounds on what is compiled later. A [`budget`](Self::budget) that is shared is given after it.
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

    /// The parser backend, in place of the Earley engine. Masks do not depend on it; what it costs to find them
    /// does, and which grammars are served.
    #[must_use]
    pub fn backend<C: BuildBackend>(self) -> CompilerBuilder<C> {
        let mut parts = self.compiler.parts;
        let cache = Arc::new(CompileCache::new(Some(parts.limits.max_cache_bytes)));
        // Descriptions of local parts are compared between engines of one kind only.
        parts.pool = Arc::new(LocalPool::new(parts.limits.max_pool_bytes));
        CompilerBuilder { compiler: Compiler { parts, cache } }
    }

    /// The bytes that tables and masks count for, in place of
    /// [`Limits::max_total_bytes`] of the compiler's own: give all compilers of a process the same one.
    #[must_use]
    pub fn budget(mut self, budget: Arc<Budget>) -> Self {
        self.compiler.parts.budget = budget;
        self
    }

    /// A clock, for the times in [`Stats`](crate::Stats); there are none without. It tells the time since some
    /// moment: `let start = Instant::now(); Clock::new(move || start.elapsed())`.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.compiler.parts.clock = clock;
        self
    }

    /// The threads for work in the background, which other compilers and batches may share; at most four of its
    /// own by default. None starts before there is something to do.
    #[must_use]
    pub fn threads(mut self, threads: Arc<Threads>) -> Self {
        self.compiler.parts.threads = threads;
        self
    }

    /// The compiler. Prepares the vocabulary, which takes some 50 ms for 128,000 tokens, once.
    pub fn build(mut self) -> Compiler<B> {
        let Parts { token_sets, budget, .. } = &self.compiler.parts;
        let limits = self.compiler.parts.limits;
        token_sets.prepare();
        // Builders may be copied before their settings differ; what is kept depends on the settings.
        let cache = Arc::new(CompileCache::new(Some(limits.max_cache_bytes)));
        let as_cache: Arc<dyn Cache> = Arc::clone(&cache) as Arc<dyn Cache>;
        let weak: Weak<dyn Cache> = Arc::downgrade(&as_cache);
        budget.add_cache(weak);
        let schemas = SchemaPrograms::new(Some(limits.max_cache_bytes / 4));
        let known = SchemaCache::new(limits.max_cache_bytes / 16);
        self.compiler.cache = cache;
        self.compiler.parts.schemas = Arc::new(schemas);
        self.compiler.parts.known = Arc::new(known);
        // Whoever compiles first does not wait for it. What is wrong with the names is told when they are needed.
        let _ = self.compiler.resolver().names();
        self.compiler.parts.pieces = Arc::new(KnownPieces::new(limits.max_cache_bytes / 4));
        self.compiler
    }
}

impl Compiler {
    /// A builder with the default limits and the Earley engine.
    pub fn builder(vocabulary: impl Into<Arc<Vocabulary>>) -> CompilerBuilder {
        let vocabulary = vocabulary.into();
        let parts = Parts {
            token_sets: TokenSets::shared(&vocabulary),
            vocabulary,
            limits: Limits::default(),
            automata: CompileOptions::default(),
            masks: MaskOptions::default(),
            pool: Arc::new(LocalPool::new(Limits::default().max_pool_bytes)),
            threads: Arc::default(),
            schemas: Arc::new(SchemaPrograms::new(Some(0))),
            known: Arc::new(SchemaCache::new(0)),
            pieces: Arc::new(KnownPieces::new(0)),
            names: Arc::default(),
            spelled: Arc::default(),
            budget: Arc::new(Budget::new(Limits::default().max_total_bytes)),
            clock: Clock::none(),
            interrupt: Interrupt::never(),
        };
        let cache = Arc::new(CompileCache::new(Some(parts.limits.max_cache_bytes)));
        CompilerBuilder { compiler: Compiler { parts, cache } }
    }

    /// A compiler with the default limits and the Earley engine.
    pub fn new(vocabulary: impl Into<Arc<Vocabulary>>) -> Self {
        Self::builder(vocabulary).build()
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

    /// The same compiler, under an interrupt (in place of one in the options of a call): what it compiles ends
    /// early, with an error that says so ([`CompileError::interrupted`]). Mostly that is well below a millisecond
    /// after the interrupt comes; single passes over large automata take some tens of milliseconds, and reading an
    /// EBNF source is not interrupted, which takes 0.1 s for a megabyte. Everything else is shared with this
    /// compiler.
    #[must_use]
    pub fn with_interrupt(&self, interrupt: Interrupt) -> Self {
        let parts = Parts { interrupt, ..self.parts.clone() };
        Self { parts, cache: Arc::clone(&self.cache) }
    }

    /// The numbers of this compiler and those that share its cache.
    pub fn stats(&self) -> CompilerStats {
        let Parts { pool, budget, .. } = &self.parts;
        let (cache_hits, cache_misses) = self.cache.hits_and_misses();
        let (schema_hits, schema_misses) = self.schemas().hits_and_misses();
        CompilerStats {
            cache_hits,
            cache_misses,
            schema_hits,
            schema_misses,
            cache_entries: self.cache.len(),
            pool_masks: pool.len(),
            pool_bytes: pool.memory_usage(),
            budget_bytes: budget.memory_usage(),
            budget_max_bytes: budget.max_bytes(),
            budget_evicted: budget.evicted(),
        }
    }

    /// What the tables and masks of the grammars count for.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.parts.budget
    }

    /// How options were spelled.
    pub(crate) fn spelled(&self) -> &SpelledOptions {
        &self.parts.spelled
    }

    /// The automata of schemas, which structures share.
    pub(crate) fn schemas(&self) -> &Arc<SchemaPrograms> {
        &self.parts.schemas
    }

    /// The schemas that structures share.
    pub(crate) fn known_schemas(&self) -> &SchemaCache {
        &self.parts.known
    }

    /// The tags that structures share.
    pub(crate) fn known_pieces(&self) -> &Arc<KnownPieces> {
        &self.parts.pieces
    }

    pub(crate) fn automata(&self) -> &CompileOptions {
        &self.parts.automata
    }

    pub(crate) fn now(&self) -> Duration {
        self.parts.clock.now()
    }

    /// Drops the grammars that are kept by their sources. Those in use elsewhere stay valid.
    pub fn clear_cache(&self) {
        self.cache.clear();
        self.parts.schemas.clear();
        self.parts.known.clear();
        self.parts.pieces.clear();
    }

    /// What stops this compiler's work.
    pub fn interrupt(&self) -> &Interrupt {
        &self.parts.interrupt
    }

    /// Compiles a JSON Schema given as JSON text. Equal schemas with equal options are compiled once, also where
    /// several threads ask at the same time, and share their tables; so it is with the other syntaxes. Where
    /// options hold functions (a retriever of documents, an interrupt), every call compiles.
    ///
    /// # Errors
    ///
    /// Where the text is no schema, uses a keyword that is not enforced, or cannot be satisfied; with the JSON
    /// pointer and the keyword.
    pub fn json_schema(
        &self,
        schema: &str,
        options: &JsonSchemaOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let key = is_plain(options).then(|| self.spelled().schemas.of(options));
        self.kept_as("json schema", key.as_deref(), schema, || {
            let read = || {
                Ok(match *self.interrupt() == Interrupt::never() {
                    true => json_schema::compile_grammar(schema, options)?,
                    false => json_schema::compile_grammar(schema, &self.interrupted_by(options))?,
                })
            };
            let automata = self.automata_of_schema(schema);
            self.timed(read, &automata, |error, _| error.in_schema(schema, options, &automata))
        })
    }

    /// Large schemas of many small parts are ordinary: their automata may grow with the text.
    fn automata_of_schema(&self, schema: &str) -> CompileOptions {
        let mut automata = self.automata_under_interrupt();
        automata.max_states = automata.max_states.max(schema.len());
        automata.max_edges = automata.max_edges.max(schema.len().saturating_mul(EDGES_OF_BYTE));
        automata
    }

    /// Compiles a JSON Schema, and says of every keyword what became of it. What was compiled before is not used.
    pub fn json_schema_with_report(
        &self,
        schema: &str,
        options: &JsonSchemaOptions,
    ) -> Result<(CompiledGrammar<B>, Report), CompileError> {
        let compiled = match *self.interrupt() == Interrupt::never() {
            true => json_schema::compile(schema, options)?,
            false => json_schema::compile(schema, &self.interrupted_by(options))?,
        };
        let automata = self.automata_of_schema(schema);
        let grammar = self.grammar_late(&Arc::new(compiled.grammar), &automata, Duration::ZERO);
        Ok((grammar.map_err(|error| error.in_schema(schema, options, &automata))?, compiled.report))
    }

    fn interrupted_by(&self, options: &JsonSchemaOptions) -> JsonSchemaOptions {
        options.clone().interrupt(self.interrupt().clone())
    }

    /// Compiles a grammar in EBNF.
    ///
    /// # Errors
    ///
    /// Where the source is not a grammar: all faults at once, each with its line and column.
    pub fn ebnf(&self, source: &str, options: &EbnfOptions) -> Result<CompiledGrammar<B>, CompileError> {
        self.kept("ebnf", Some(options), source, || {
            self.read_from(source, || Ok(ebnf::parse(source, options)?))
        })
    }

    /// Compiles a grammar in GBNF, the dialect of llama.cpp.
    ///
    /// # Errors
    ///
    /// As for [`ebnf`](Self::ebnf).
    pub fn gbnf(&self, source: &str, options: &GbnfOptions) -> Result<CompiledGrammar<B>, CompileError> {
        self.kept("gbnf", Some(options), source, || {
            self.read_from(source, || Ok(gbnf::parse(source, options)?))
        })
    }

    /// Compiles a grammar in Lark's notation.
    ///
    /// # Errors
    ///
    /// As for [`ebnf`](Self::ebnf).
    pub fn lark(&self, source: &str, options: &LarkOptions) -> Result<CompiledGrammar<B>, CompileError> {
        // Grammars as data are not spelled by what options print.
        let is_plain = options.named.is_empty() && is_plain(&options.json_schema);
        self.kept("lark", is_plain.then_some(options), source, || {
            self.read_from(source, || Ok(lark::parse(source, options)?))
        })
    }

    /// Compiles a regular expression, which the whole text must match by default.
    ///
    /// # Errors
    ///
    /// Where the pattern is malformed or uses look-around, back-references or word boundaries.
    pub fn regex(&self, pattern: &str, options: &RegexOptions) -> Result<CompiledGrammar<B>, CompileError> {
        self.kept("regex", Some(options), pattern, || {
            self.read_from(pattern, || Ok(regex::parse(pattern, options)?))
        })
    }

    /// What was compiled of a source before, or is compiled now. The key spells the whole content; without options
    /// to spell there is none.
    pub(crate) fn kept<O: Debug>(
        &self,
        syntax: &'static str,
        options: Option<&O>,
        source: &str,
        compile: impl FnOnce() -> Result<CompiledGrammar<B>, CompileError>,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let spelled = options.filter(|_| self.keeps()).map(|options| format!("{options:?}"));
        self.kept_as(syntax, spelled.as_deref(), source, compile)
    }

    pub(crate) fn keeps(&self) -> bool {
        self.parts.limits.max_cache_bytes > 0
    }

    /// As [`kept`](Self::kept), under options that are spelled already.
    pub(crate) fn kept_as(
        &self,
        syntax: &'static str,
        options: Option<&str>,
        source: &str,
        compile: impl FnOnce() -> Result<CompiledGrammar<B>, CompileError>,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let Some(options) = options.filter(|_| self.keeps()) else { return compile() };
        let key = Key([syntax, options, source]);
        self.cache.get_or_compile_until(key, self.interrupt(), CompiledGrammar::memory_usage, compile)
    }

    /// Compiles a grammar that is read from a source whose places its rules know.
    fn read_from(
        &self,
        source: &str,
        read: impl FnOnce() -> Result<Grammar, CompileError>,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        self.timed(read, &self.automata_under_interrupt(), |error, grammar| error.located(source, grammar))
    }

    /// Compiles a grammar that is read first.
    pub(crate) fn timed(
        &self,
        read: impl FnOnce() -> Result<Grammar, CompileError>,
        automata: &CompileOptions,
        locate: impl FnOnce(CompileError, &Grammar) -> CompileError,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let start = self.parts.clock.now();
        let grammar = Arc::new({
            span!("frontend");
            read()?
        });
        let frontend = self.parts.clock.now().saturating_sub(start);
        self.grammar_late(&grammar, automata, frontend).map_err(|error| locate(error, &grammar))
    }

    /// Compiles a grammar given as data. Every call compiles.
    ///
    /// # Errors
    ///
    /// Where the grammar derives nothing, passes a limit, or is one that the backend does not serve.
    pub fn grammar(&self, grammar: &Grammar) -> Result<CompiledGrammar<B>, CompileError> {
        let automata = self.automata_under_interrupt();
        let compile =
            |grammar: &Grammar| compile_deferred(grammar, &automata, |whole| Arc::new(whole.clone()));
        self.compiled(grammar, compile, Duration::ZERO)
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
        self.compiled(grammar, compile, frontend)
    }

    /// Compiles a grammar of which some may wait until it is read.
    fn grammar_late(
        &self,
        grammar: &Arc<Grammar>,
        automata: &CompileOptions,
        frontend: Duration,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let share = |whole: &Grammar| match std::ptr::eq(whole, &**grammar) {
            true => Arc::clone(grammar),
            false => Arc::new(whole.clone()),
        };
        self.compiled(grammar, |grammar| compile_deferred(grammar, automata, share), frontend)
    }

    fn compiled(
        &self,
        grammar: &Grammar,
        compile: impl FnOnce(&Grammar) -> Result<Program, grammask_fsm::BuildError>,
        frontend: Duration,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let start = self.now();
        let program = {
            span!("automata");
            let grammar = self.resolver().resolve(grammar)?;
            compile(&grammar)?
        };
        let automata = self.now().saturating_sub(start);
        self.program_after(Arc::new(program), CompileTimes { frontend, automata, ..CompileTimes::default() })
    }

    /// What puts ids in the place of tokens' names.
    pub(crate) fn resolver(&self) -> Resolver {
        Resolver { vocabulary: Arc::clone(&self.parts.vocabulary), names: Arc::clone(&self.parts.names) }
    }

    /// Puts automata that were compiled before over the vocabulary. Their token ids must be of this vocabulary.
    ///
    /// # Errors
    ///
    /// Where the backend does not serve them.
    pub fn program(&self, program: Arc<Program>) -> Result<CompiledGrammar<B>, CompileError> {
        self.program_after(program, CompileTimes::default())
    }

    pub(crate) fn program_after(
        &self,
        program: Arc<Program>,
        times: CompileTimes,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        span!("backend");
        let Parts { vocabulary, limits, masks, pool, interrupt, budget, clock, .. } = &self.parts;
        let settings = BackendSettings {
            longest_token: u32::try_from(vocabulary.max_token_len()).unwrap_or(u32::MAX),
            max_table_bytes: limits.max_table_bytes,
            max_items_per_set: limits.max_items_per_set,
        };
        let start = clock.now();
        let engine = B::build(Arc::clone(&program), &settings)?;
        if program.has_options(|options| options.max_tokens > 0) && !engine.serves(Requirement::Attributes) {
            return Err(BuildError::new(
                "this backend does not count the tokens of a rule (`max_tokens`); use the Earley engine, or `max_chars`",
            )
            .into());
        }
        if program.has_options(|options| options.distinct.is_some()) {
            check_distinct(&program, &engine)?;
        }
        let times = CompileTimes { backend: clock.now().saturating_sub(start), ..times };
        interrupt.check()?;
        let parts = crate::compiled::Parts {
            vocabulary: Arc::clone(vocabulary),
            limits: *limits,
            ways: *masks,
            pool: Arc::clone(pool),
            budget: Arc::clone(budget),
            counters: Arc::new(Counters::new(MaskCounters::new(clock.clone()))),
            program: Some(program),
        };
        Ok(CompiledGrammar::from_parts(engine, parts, times))
    }
}

/// Items and names that must differ are compared beside the backend, which has to say where they are.
fn check_distinct<B: BuildBackend>(program: &Program, engine: &B) -> Result<(), BuildError> {
    let message = if !engine.serves(Requirement::Distinct) {
        "this backend does not say where items or names must differ (`distinct`); use the Earley engine"
    } else if !program.labels().is_empty() {
        "a grammar that names tokens cannot have rules with the option `distinct`; leave one out"
    } else if program.has_options(|options| options.max_tokens > 0) {
        "a grammar with bounds on tokens (`max_tokens`) cannot have rules with the option `distinct`; leave one out"
    } else {
        return Ok(());
    };
    Err(BuildError::new(message))
}

/// A vocabulary, and the names of its special tokens once they are needed.
pub(crate) struct Resolver {
    vocabulary: Arc<Vocabulary>,
    names: Arc<OnceLock<SpecialNames>>,
}

impl Resolver {
    /// The grammar with ids in place of tokens' names. Rules keep their numbers.
    pub(crate) fn resolve<'g>(&self, grammar: &'g Grammar) -> Result<Cow<'g, Grammar>, CompileError> {
        if !mentions_tokens(grammar) {
            return Ok(Cow::Borrowed(grammar));
        }
        let tokens = Names(&self.vocabulary);
        Ok(Cow::Owned(resolve_tokens_with(grammar, &tokens, self.names()?)?))
    }

    /// As [`resolve`](Self::resolve); nothing is copied where no token is named.
    pub(crate) fn resolve_owned(&self, grammar: Grammar) -> Result<Grammar, CompileError> {
        match self.resolve(&grammar)? {
            Cow::Owned(resolved) => Ok(resolved),
            Cow::Borrowed(_) => Ok(grammar),
        }
    }

    /// A text of a tag with ids in place of tokens' names. `None` where a token is not there.
    pub(crate) fn text(&self, text: &TagText) -> Option<Vec<PatternPart>> {
        let names = self.names().ok()?;
        match text {
            TagText::Text(text) => Some(names.split(text)),
            TagText::Token(token) => {
                let id = names.id(token, &Names(&self.vocabulary))?;
                Some(vec![PatternPart::Token(TokenRef::Id(id))])
            }
        }
    }

    /// Whether two texts one after the other are the texts and tokens that each is by itself.
    pub(crate) fn may_cut(&self, one: &str, other: &str) -> Option<bool> {
        let names = self.names().ok()?;
        let apart: Pattern = [one, other].into_iter().flat_map(|text| names.split(text)).collect();
        Some(names.split(&[one, other].concat()).into_iter().collect::<Pattern>() == apart)
    }

    fn names(&self) -> Result<&SpecialNames, ResolveTokensError> {
        match self.names.get() {
            Some(names) => Ok(names),
            None => {
                let names = SpecialNames::new(&Names(&self.vocabulary))?;
                Ok(self.names.get_or_init(|| names))
            }
        }
    }
}

/// Whether what options print is all that they are.
pub(crate) fn is_plain(options: &JsonSchemaOptions) -> bool {
    options.retriever.is_none() && options.interrupt == Interrupt::never()
}

impl<B: BuildBackend> Cache for Grammars<B> {
    fn drop_unused(&self, is_passed: &dyn Fn() -> bool) -> u64 {
        self.drop_while(is_passed, CompiledGrammar::is_held_once)
    }
}
