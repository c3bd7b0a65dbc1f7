//! A compiled grammar: what matchers share.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use grammask_earley::Engine;
use grammask_fsm::Program;
use grammask_mask_cache::{LocalPool, MaskMemo, MaskOptions, Vocabulary};
use grammask_parser_backend::{Backend, BuildError, StepError};
use xxhash_rust::xxh3::xxh3_128;

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
    /// What the engine was made of, where a compiler made it.
    program: Option<Arc<Program>>,
    fingerprint: OnceLock<u128>,
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
        let shared =
            Shared { vocabulary, limits, ways, pool, program: None, fingerprint: OnceLock::new(), current };
        Self { shared: Arc::new(shared) }
    }

    /// As [`with_options`](Self::with_options), for an engine made of a program.
    pub(crate) fn from_program(
        engine: B,
        program: Arc<Program>,
        vocabulary: Arc<Vocabulary>,
        pool: Arc<LocalPool>,
        (limits, ways): (Limits, MaskOptions),
    ) -> Self {
        let mut this = Self::with_options(engine, vocabulary, pool, limits, ways);
        if let Some(shared) = Arc::get_mut(&mut this.shared) {
            shared.program = Some(program);
        }
        this
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

    /// The automata of the structure; `None` where the grammar was made [from a backend](Self::from_backend).
    pub fn program(&self) -> Option<&Arc<Program>> {
        self.shared.program.as_ref()
    }

    /// A hash of the automata and the vocabulary, equal in every process: whoever spreads requests over machines can
    /// send those with equal fingerprints to the same one, where their masks are known already. Structures that
    /// differ only in how they are spelled often have one fingerprint.
    ///
    /// It changes with versions that compile structures to other automata. Not cryptographic: see
    /// [`Program::fingerprint`]. `None` where the grammar was made [from a backend](Self::from_backend).
    pub fn fingerprint(&self) -> Option<u128> {
        let program = self.shared.program.as_ref()?;
        let both = || fingerprint(program.fingerprint(), self.shared.vocabulary.fingerprint());
        Some(*self.shared.fingerprint.get_or_init(both))
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

fn fingerprint(program: u128, vocabulary: u128) -> u128 {
    let bytes = [program.to_le_bytes(), vocabulary.to_le_bytes()];
    xxh3_128(bytes.as_flattened())
}

/// Whether a new generation of tables may help.
pub(crate) fn is_full(error: &StepError) -> bool {
    matches!(error, StepError::OutOfMemory { .. })
}
