//! A compiled grammar: what matchers share.

use std::sync::{Arc, Mutex, PoisonError};

use grammask_earley::Engine;
use grammask_mask_cache::{LocalPool, MaskMemo, MaskOptions, Vocabulary};
use grammask_parser_backend::{Backend, BuildError, StepError};

use crate::{Limits, Matcher};

/// A structure, ready to be followed over one vocabulary. Cheap to clone; shared by any number of matchers on
/// any number of threads, which fill its tables as they go.
///
/// `B` is the parser backend; the default is the Earley engine.
pub struct CompiledGrammar<B: Backend = Engine> {
    shared: Arc<Shared<B>>,
}

impl<B: Backend> Clone for CompiledGrammar<B> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

struct Shared<B: Backend> {
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
    ways: MaskOptions,
    pool: Arc<LocalPool>,
    /// The tables in use. When they are full a new generation takes their place, and matchers move over.
    current: Mutex<Arc<Generation<B>>>,
}

impl<B: Backend> std::fmt::Debug for CompiledGrammar<B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let usage = self.usage();
        formatter.debug_struct("CompiledGrammar").field("usage", &usage).finish_non_exhaustive()
    }
}

/// An engine and the masks of its states.
pub(crate) struct Generation<B: Backend> {
    pub(crate) engine: B,
    pub(crate) masks: MaskMemo,
}

/// Sizes of a compiled grammar's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of parser tables.
    pub table_bytes: usize,
    /// Bytes of masks.
    pub mask_bytes: usize,
    /// Number of masks kept.
    pub masks: usize,
}

impl<B: Backend> CompiledGrammar<B> {
    /// Puts a backend of any kind over a vocabulary. [`Compiler`](crate::Compiler) does this for the Earley
    /// engine.
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
        ways: MaskOptions,
    ) -> Self {
        let masks = MaskMemo::new(Arc::clone(&vocabulary), Arc::clone(&pool), limits.max_mask_bytes)
            .with_options(ways);
        let current = Mutex::new(Arc::new(Generation { engine, masks }));
        Self { shared: Arc::new(Shared { vocabulary, limits, ways, pool, current }) }
    }

    /// A matcher at the beginning of a text.
    pub fn matcher(&self) -> Matcher<B> {
        Matcher::new(self.clone())
    }

    /// The vocabulary that masks are for.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.shared.vocabulary
    }

    /// The bounds that the grammar was compiled with.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// How much memory the tables hold now.
    pub fn usage(&self) -> Usage {
        let generation = self.generation();
        Usage {
            table_bytes: generation.engine.memory_usage(),
            mask_bytes: generation.masks.memory_usage(),
            masks: generation.masks.len(),
        }
    }

    pub(crate) fn generation(&self) -> Arc<Generation<B>> {
        Arc::clone(&self.shared.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The generation after `full`: the current one, or a new one if `full` is still current.
    pub(crate) fn generation_after(
        &self,
        full: &Arc<Generation<B>>,
    ) -> Result<Arc<Generation<B>>, BuildError> {
        let mut current = self.shared.current.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, full) {
            *current = self.new_generation(full)?;
        }
        Ok(Arc::clone(&current))
    }

    /// Empty tables that nobody else uses.
    pub(crate) fn new_generation(&self, like: &Generation<B>) -> Result<Arc<Generation<B>>, BuildError> {
        let engine = like.engine.fresh()?;
        let Shared { vocabulary, pool, limits, ways, .. } = &*self.shared;
        let masks = MaskMemo::new(Arc::clone(vocabulary), Arc::clone(pool), limits.max_mask_bytes)
            .with_options(*ways);
        Ok(Arc::new(Generation { engine, masks }))
    }
}

/// Whether a new generation of tables may help.
pub(crate) fn is_full(error: &StepError) -> bool {
    matches!(error, StepError::OutOfMemory { .. })
}
