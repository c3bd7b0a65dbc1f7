//! What a compiler makes and keeps: in memory, and in a directory where the caller names one.

use std::sync::Arc;

use grammask::{CompileCache, CompileError, Compiler, StoreDirectory};

use crate::compiled::size;
use crate::grammar::structural_tag_options;
use crate::source::{LazyGrammar, Source};

/// Files of this version only: another one may read the same source as another grammar.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A compiled structure.
#[derive(Clone)]
pub(crate) struct Kept {
    pub(crate) compiled: grammask::CompiledGrammar,
    pub(crate) grammar: Arc<LazyGrammar>,
    pub(crate) warnings: Arc<[String]>,
}

impl Kept {
    pub(crate) fn size(&self) -> usize {
        size(&self.compiled, &self.grammar)
    }
}

/// Where compiled structures are kept. Shared with the threads that compile in the background.
pub(crate) struct Shelf {
    pub(crate) memory: Option<CompileCache<Kept>>,
    pub(crate) directory: Option<StoreDirectory>,
}

/// Why nothing is written to the directory.
enum Unwritten {
    Failed(CompileError),
    /// Warnings would be lost when it is read back.
    WithWarnings(Box<Kept>),
}

impl Shelf {
    /// What is kept under the source's content, or what is compiled now.
    pub(crate) fn get(&self, compiler: &Compiler, source: Source) -> Result<Kept, CompileError> {
        let key = (self.memory.is_some() || self.directory.is_some()).then(|| source.key()).flatten();
        let Some(key) = key else { return compile(compiler, source) };
        match &self.memory {
            Some(memory) => {
                memory.get_or_compile(&key, Kept::size, || self.read_or_compile(compiler, &key, source))
            }
            None => self.read_or_compile(compiler, &key, source),
        }
    }

    fn read_or_compile(&self, compiler: &Compiler, key: &str, source: Source) -> Result<Kept, CompileError> {
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

fn compile(compiler: &Compiler, source: Source) -> Result<Kept, CompileError> {
    compile_into(compiler, &Arc::new(LazyGrammar::new(source)))
}

fn compile_into(compiler: &Compiler, grammar: &Arc<LazyGrammar>) -> Result<Kept, CompileError> {
    // Not by way of its grammar: tags that another structure had are known, and schemas wait until they are called.
    if let Source::Tag(document) = grammar.source() {
        let compiled = compiler.structural_tag(document, &structural_tag_options())?;
        return Ok(Kept { compiled, grammar: Arc::clone(grammar), warnings: Arc::default() });
    }
    let (read, warnings) = grammar.source().read(compiler.interrupt())?;
    let compiled = compiler.grammar(&read)?;
    grammar.set(Arc::new(read));
    Ok(Kept { compiled, grammar: Arc::clone(grammar), warnings: warnings.into() })
}
