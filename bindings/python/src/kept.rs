//! The results that a compiler makes and keeps: in memory, and in a directory where the caller names one.

use std::fmt;
use std::sync::Arc;

use grammask::{BudgetCache, CompileCache, CompileError, CompiledGrammar, Compiler, StoreDirectory};

use crate::compiled::size;
use crate::engines::Engine;
use crate::source::{LazyGrammar, Source};

/// Files of this version only: another one may read the same source as another grammar.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A compiled structure.
pub(crate) struct Kept<B: Engine> {
    pub(crate) compiled: CompiledGrammar<B>,
    pub(crate) grammar: Arc<LazyGrammar>,
}

impl<B: Engine> Clone for Kept<B> {
    fn clone(&self) -> Self {
        Self { compiled: self.compiled.clone(), grammar: Arc::clone(&self.grammar) }
    }
}

impl<B: Engine> Kept<B> {
    pub(crate) fn size(&self) -> usize {
        size(&self.compiled, &self.grammar)
    }
}

/// Where compiled structures are kept. Shared with the threads that compile in the background.
pub(crate) struct Shelf<B: Engine> {
    pub(crate) memory: Option<CompileCache<Kept<B>>>,
    pub(crate) directory: Option<StoreDirectory>,
}

impl<B: Engine> fmt::Debug for Shelf<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shelf").finish_non_exhaustive()
    }
}

impl<B: Engine> BudgetCache for Shelf<B> {
    fn drop_unused(&self, is_passed: &dyn Fn() -> bool) -> u64 {
        let is_unused = |kept: &Kept<B>| kept.compiled.is_unshared();
        self.memory.as_ref().map_or(0, |memory| memory.evict_while(is_passed, is_unused))
    }
}

impl<B: Engine> Shelf<B> {
    /// The result that is kept under the source's content, or one that is compiled now.
    pub(crate) fn get(&self, compiler: &Compiler<B>, source: Source) -> Result<Kept<B>, CompileError> {
        let key = (self.memory.is_some() || self.directory.is_some()).then(|| source.key()).flatten();
        let Some(key) = key else { return compile(compiler, source) };
        match &self.memory {
            Some(memory) => {
                let compile = || self.read_or_compile(compiler, &key, source);
                memory.get_or_compile_until(&key, compiler.interrupt(), Kept::size, compile)
            }
            None => self.read_or_compile(compiler, &key, source),
        }
    }

    fn read_or_compile(
        &self,
        compiler: &Compiler<B>,
        key: &str,
        source: Source,
    ) -> Result<Kept<B>, CompileError> {
        let Some(directory) = &self.directory else { return compile(compiler, source) };
        let grammar = Arc::new(LazyGrammar::new(source));
        let key = format!("{VERSION} {key}");
        let compiled = directory.get_or_compile(compiler, &key, || compile_into(compiler, &grammar))?;
        Ok(Kept { compiled, grammar })
    }
}

fn compile<B: Engine>(compiler: &Compiler<B>, source: Source) -> Result<Kept<B>, CompileError> {
    let grammar = Arc::new(LazyGrammar::new(source));
    Ok(Kept { compiled: compile_into(compiler, &grammar)?, grammar })
}

fn compile_into<B: Engine>(
    compiler: &Compiler<B>,
    grammar: &LazyGrammar,
) -> Result<CompiledGrammar<B>, CompileError> {
    // Not by way of its grammar: tags that another structure had are known, and schemas wait until they are called.
    if let Source::Tag { text, options } = grammar.source() {
        return compiler.structural_tag(text, options);
    }
    let (read, warnings) = grammar.source().read(compiler.interrupt())?;
    let read = Arc::new(read);
    let compiled = match grammar.source() {
        Source::Json { text, options } => compiler.grammar_of_schema(&read, text, options)?,
        source => compiler.grammar(&read).map_err(|error| match source.text() {
            Some(text) => error.located(text, &read),
            None => error,
        })?,
    };
    grammar.set(read);
    Ok(compiled.with_warnings(warnings))
}
