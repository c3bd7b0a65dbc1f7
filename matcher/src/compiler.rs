//! From a structure in some syntax to a compiled grammar.

use std::marker::PhantomData;
use std::sync::Arc;

use grammask_earley::Engine;
use grammask_fsm::{CompileOptions, Program};
use grammask_grammar_frontends::ebnf::{self, EbnfOptions};
use grammask_grammar_frontends::gbnf::{self, GbnfOptions};
use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions, Report};
use grammask_grammar_frontends::lark::{self, LarkOptions};
use grammask_grammar_frontends::regex::{self, RegexOptions};
use grammask_grammar_ir::passes::resolve_tokens;
use grammask_grammar_ir::{Grammar, Interrupt};
use grammask_mask_cache::{LocalPool, MaskOptions, Vocabulary};

use crate::token_names::Names;
use crate::{BackendSettings, BuildBackend, CompileError, CompiledGrammar, Limits, Threads};

/// Compiles structures for one vocabulary. Immutable and `Sync`; one a process is enough.
///
/// `B` is the parser backend that grammars are compiled for; see [`CompilerBuilder::backend`].
pub struct Compiler<B: BuildBackend = Engine> {
    parts: Parts,
    backend: PhantomData<fn() -> B>,
}

/// All of a compiler but its backend.
#[derive(Clone, Debug)]
struct Parts {
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
    automata: CompileOptions,
    masks: MaskOptions,
    /// Masks that all grammars of the compiler share. A clone of the compiler shares it too.
    pool: Arc<LocalPool>,
    threads: Arc<Threads>,
    /// Stops what this clone compiles.
    interrupt: Interrupt,
}

impl<B: BuildBackend> Clone for Compiler<B> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone(), backend: PhantomData }
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
    /// Bounds on what is compiled later.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
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
        // Descriptions of local parts are compared between engines of one kind only.
        parts.pool = Arc::new(LocalPool::new(parts.limits.max_pool_bytes));
        CompilerBuilder { compiler: Compiler { parts, backend: PhantomData } }
    }

    /// The threads for work in the background, which other compilers and batches may share; at most four of its
    /// own by default. None starts before there is something to do.
    #[must_use]
    pub fn threads(mut self, threads: Arc<Threads>) -> Self {
        self.compiler.parts.threads = threads;
        self
    }

    /// The compiler. Prepares the vocabulary, which takes some 50 ms for 128,000 tokens, once.
    pub fn build(self) -> Compiler<B> {
        self.compiler.parts.vocabulary.prepare();
        self.compiler
    }
}

impl Compiler {
    /// A builder with the default limits and the Earley engine.
    pub fn builder(vocabulary: impl Into<Arc<Vocabulary>>) -> CompilerBuilder {
        let parts = Parts {
            vocabulary: vocabulary.into(),
            limits: Limits::default(),
            automata: CompileOptions::default(),
            masks: MaskOptions::default(),
            pool: Arc::new(LocalPool::new(Limits::default().max_pool_bytes)),
            threads: Arc::default(),
            interrupt: Interrupt::never(),
        };
        CompilerBuilder { compiler: Compiler { parts, backend: PhantomData } }
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
        Self { parts, backend: PhantomData }
    }

    /// What stops this compiler's work.
    pub fn interrupt(&self) -> &Interrupt {
        &self.parts.interrupt
    }

    /// Compiles a JSON Schema given as JSON text.
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
        self.json_schema_with_report(schema, options).map(|(grammar, _)| grammar)
    }

    /// Compiles a JSON Schema, and says of every keyword what became of it.
    pub fn json_schema_with_report(
        &self,
        schema: &str,
        options: &JsonSchemaOptions,
    ) -> Result<(CompiledGrammar<B>, Report), CompileError> {
        let interrupt = self.interrupt();
        let compiled = match *interrupt == Interrupt::never() {
            true => json_schema::compile(schema, options)?,
            false => json_schema::compile(schema, &options.clone().interrupt(interrupt.clone()))?,
        };
        Ok((self.grammar(&compiled.grammar)?, compiled.report))
    }

    /// Compiles a grammar in EBNF.
    ///
    /// # Errors
    ///
    /// Where the source is not a grammar: all faults at once, each with its line and column.
    pub fn ebnf(&self, source: &str, options: &EbnfOptions) -> Result<CompiledGrammar<B>, CompileError> {
        self.read_from(source, &ebnf::parse(source, options)?)
    }

    /// Compiles a grammar in GBNF, the dialect of llama.cpp.
    ///
    /// # Errors
    ///
    /// As for [`ebnf`](Self::ebnf).
    pub fn gbnf(&self, source: &str, options: &GbnfOptions) -> Result<CompiledGrammar<B>, CompileError> {
        self.read_from(source, &gbnf::parse(source, options)?)
    }

    /// Compiles a grammar in Lark's notation.
    ///
    /// # Errors
    ///
    /// As for [`ebnf`](Self::ebnf).
    pub fn lark(&self, source: &str, options: &LarkOptions) -> Result<CompiledGrammar<B>, CompileError> {
        self.read_from(source, &lark::parse(source, options)?)
    }

    /// Compiles a regular expression, which the whole text must match by default.
    ///
    /// # Errors
    ///
    /// Where the pattern is malformed or uses look-around, back-references or word boundaries.
    pub fn regex(&self, pattern: &str, options: &RegexOptions) -> Result<CompiledGrammar<B>, CompileError> {
        self.read_from(pattern, &regex::parse(pattern, options)?)
    }

    /// Compiles a grammar that was read from a source whose places its rules know.
    fn read_from(&self, source: &str, grammar: &Grammar) -> Result<CompiledGrammar<B>, CompileError> {
        self.grammar(grammar).map_err(|error| error.located(source, grammar))
    }

    /// Compiles a grammar given as data.
    ///
    /// # Errors
    ///
    /// Where the grammar derives nothing, passes a limit, or is one that the backend does not serve.
    pub fn grammar(&self, grammar: &Grammar) -> Result<CompiledGrammar<B>, CompileError> {
        let Parts { vocabulary, automata, interrupt, .. } = &self.parts;
        let grammar = resolve_tokens(grammar, &Names(vocabulary))?;
        let program = match *interrupt == Interrupt::never() {
            true => grammask_fsm::compile(&grammar, automata)?,
            false => {
                let interrupt = interrupt.clone();
                grammask_fsm::compile(&grammar, &CompileOptions { interrupt, ..automata.clone() })?
            }
        };
        self.program(Arc::new(program))
    }

    /// Puts automata that were compiled before over the vocabulary. Their token ids must be of this vocabulary.
    ///
    /// # Errors
    ///
    /// Where the backend does not serve them.
    pub fn program(&self, program: Arc<Program>) -> Result<CompiledGrammar<B>, CompileError> {
        let Parts { vocabulary, limits, masks, pool, interrupt, .. } = &self.parts;
        let settings = BackendSettings {
            longest_token: u32::try_from(vocabulary.max_token_len()).unwrap_or(u32::MAX),
            max_table_bytes: limits.max_table_bytes,
            max_items_per_set: limits.max_items_per_set,
        };
        let engine = B::build(Arc::clone(&program), &settings)?;
        interrupt.check()?;
        let (vocabulary, pool) = (Arc::clone(vocabulary), Arc::clone(pool));
        Ok(CompiledGrammar::from_program(engine, program, vocabulary, pool, (*limits, *masks)))
    }
}
