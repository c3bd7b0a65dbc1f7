//! The results that a compiler makes and keeps: in memory, and in a directory where the caller names one.

use std::sync::Arc;

use grammask::{CompileCache, CompileError, CompiledGrammar, Compiler, StoreDirectory};

use crate::compiled::size;
use crate::engines::Engine;
use crate::source::{LazyGrammar, Source};

/// Files of this version only: another one may read the same source as another grammar.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A compiled structure.
pub(crate) struct Kept<B: Engine> {
    pub(crate) compiled: CompiledGrammar<B>,
    pub(crate) grammar: Arc<LazyGrammar>,
    pub(crate) warnings: Arc<[String]>,
}

impl<B: Engine> Clone for Kept<B> {
    fn clone(&self) -> Self {
        let Self { compiled, grammar, warnings } = self;
        Self { compiled: compiled.clone(), grammar: Arc::clone(grammar), warnings: Arc::clone(warnings) }
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

/// Why nothing is written to the directory.
enum Unwritten<B: Engine> {
    Failed(CompileError),
    /// Warnings would be lost when it is read back.
    WithWarnings(Box<Kept<B>>),
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
        let outcome = directory.get_or_try(compiler, &key, || {
            let kept = compile_into(compiler, &grammar).map_err(Unwritten::Failed)?;
            match kept.warnings.is_empty() {
                true => Ok(kept.compiled),
                false => Err(Unwritten::WithWarnings(Box::new(kept))),
            }
        });
        match outcome {
            Ok(compiled) => Ok(Kept { compiled, grammar, warnings: Arc::default() }),
            Err(Unwritten::WithWarnings(kept)) => Ok(*kept),
            Err(Unwritten::Failed(error)) => Err(error),
        }
    }
}

fn compile<B: Engine>(compiler: &Compiler<B>, source: Source) -> Result<Kept<B>, CompileError> {
    compile_into(compiler, &Arc::new(LazyGrammar::new(source)))
}

fn compile_into<B: Engine>(
    compiler: &Compiler<B>,
    grammar: &Arc<LazyGrammar>,
) -> Result<Kept<B>, CompileError> {
    // Not by way of its grammar: tags that another structure had are known, and schemas wait until they are called.
    if let Source::Tag { text, options } = grammar.source() {
        let compiled = compiler.structural_tag(text, options)?;
        return Ok(Kept { compiled, grammar: Arc::clone(grammar), warnings: Arc::default() });
    }
    let (read, warnings) = grammar.source().read(compiler.interrupt())?;
    let compiled = compiler.grammar(&read).map_err(|error| match grammar.source().text() {
        Some(text) => error.located(text, &read),
        None => error,
    })?;
    grammar.set(Arc::new(read));
    Ok(Kept { compiled, grammar: Arc::clone(grammar), warnings: warnings.into() })
}
