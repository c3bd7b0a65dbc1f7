//! From a structure in some syntax to a compiled grammar.

use std::sync::Arc;

use grammask_earley::{Config, Engine};
use grammask_fsm::CompileOptions;
use grammask_grammar_frontends::ebnf::{self, EbnfOptions};
use grammask_grammar_frontends::gbnf::{self, GbnfOptions};
use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions, Report};
use grammask_grammar_frontends::regex::{self, RegexOptions};
use grammask_grammar_ir::Grammar;
use grammask_mask_cache::{LocalPool, Vocabulary};

use crate::{CompileError, CompiledGrammar, Limits};

/// Compiles structures for one vocabulary. Immutable and `Sync`; one a process is enough.
#[derive(Clone, Debug)]
pub struct Compiler {
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
    automata: CompileOptions,
    /// Masks that all grammars of the compiler share. A clone of the compiler shares it too.
    pool: Arc<LocalPool>,
}

/// Settings of a [`Compiler`].
#[derive(Clone, Debug)]
pub struct CompilerBuilder {
    compiler: Compiler,
}

impl CompilerBuilder {
    /// Bounds on what is compiled later.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.compiler.pool = Arc::new(LocalPool::new(limits.max_pool_bytes));
        self.compiler.limits = limits;
        self
    }

    /// Which passes run on automata, and their bounds.
    #[must_use]
    pub fn automata(mut self, options: CompileOptions) -> Self {
        self.compiler.automata = options;
        self
    }

    /// The compiler. Prepares the vocabulary, which takes some 50 ms for 128,000 tokens, once.
    pub fn build(self) -> Compiler {
        self.compiler.vocabulary.prepare();
        self.compiler
    }
}

impl Compiler {
    /// A builder with the default limits.
    pub fn builder(vocabulary: impl Into<Arc<Vocabulary>>) -> CompilerBuilder {
        let compiler = Self {
            vocabulary: vocabulary.into(),
            limits: Limits::default(),
            automata: CompileOptions::default(),
            pool: Arc::new(LocalPool::new(Limits::default().max_pool_bytes)),
        };
        CompilerBuilder { compiler }
    }

    /// A compiler with the default limits.
    pub fn new(vocabulary: impl Into<Arc<Vocabulary>>) -> Self {
        Self::builder(vocabulary).build()
    }

    /// The vocabulary that masks are for.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
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
    ) -> Result<CompiledGrammar, CompileError> {
        self.json_schema_with_report(schema, options).map(|(grammar, _)| grammar)
    }

    /// Compiles a JSON Schema, and says of every keyword what became of it.
    pub fn json_schema_with_report(
        &self,
        schema: &str,
        options: &JsonSchemaOptions,
    ) -> Result<(CompiledGrammar, Report), CompileError> {
        let compiled = json_schema::compile(schema, options)?;
        Ok((self.grammar(&compiled.grammar)?, compiled.report))
    }

    /// Compiles a grammar in EBNF.
    ///
    /// # Errors
    ///
    /// Where the source is not a grammar: all faults at once, each with its line and column.
    pub fn ebnf(&self, source: &str, options: &EbnfOptions) -> Result<CompiledGrammar, CompileError> {
        self.read_from(source, &ebnf::parse(source, options)?)
    }

    /// Compiles a grammar in GBNF, the dialect of llama.cpp.
    ///
    /// # Errors
    ///
    /// As for [`ebnf`](Self::ebnf).
    pub fn gbnf(&self, source: &str, options: &GbnfOptions) -> Result<CompiledGrammar, CompileError> {
        self.read_from(source, &gbnf::parse(source, options)?)
    }

    /// Compiles a regular expression, which the whole text must match by default.
    ///
    /// # Errors
    ///
    /// Where the pattern is malformed or uses look-around, back-references or word boundaries.
    pub fn regex(&self, pattern: &str, options: &RegexOptions) -> Result<CompiledGrammar, CompileError> {
        self.read_from(pattern, &regex::parse(pattern, options)?)
    }

    /// Compiles a grammar that was read from a source whose places its rules know.
    fn read_from(&self, source: &str, grammar: &Grammar) -> Result<CompiledGrammar, CompileError> {
        self.grammar(grammar).map_err(|error| error.located(source, grammar))
    }

    /// Compiles a grammar given as data.
    ///
    /// # Errors
    ///
    /// Where the grammar derives nothing or passes a limit.
    pub fn grammar(&self, grammar: &Grammar) -> Result<CompiledGrammar, CompileError> {
        let program = grammask_fsm::compile(grammar, &self.automata)?;
        let longest = u32::try_from(self.vocabulary.max_token_len()).unwrap_or(u32::MAX);
        let config = Config {
            longest_token: longest,
            max_bytes: self.limits.max_table_bytes,
            max_items_per_set: self.limits.max_items_per_set,
        };
        let engine = Engine::new(Arc::new(program), config)?;
        let (vocabulary, pool) = (Arc::clone(&self.vocabulary), Arc::clone(&self.pool));
        Ok(CompiledGrammar::from_backend(engine, vocabulary, pool, self.limits))
    }
}
