//! Masks of the next token.
//!
//! A mask is looked for in three places, the cheapest first. This matcher filled it last, some text needed it
//! before, or it has to be computed.

use std::sync::Arc;

use grammask_grammar_ir::Interrupt;
use grammask_mask_cache::{Scratch, StoredMask, TokenId, TokenMask, bits, names_token};
use grammask_parser_backend::{Backend, Fuel, StepError};

use super::mask_kind::{MaskKind, MaskLookup, MaskName, NARROWED, NamedMask};
use super::matcher::Matcher;
use super::stop_tokens::StopTokens;
use crate::base::error::MatchError;
use crate::base::trace::span;
use crate::grammar::generation::{Generation, is_full};

impl<B: Backend> Matcher<B> {
    /// Writes the mask of the next token: bit `id` is set if and only if [`accept_token`](Self::accept_token)
    /// would accept `id`.
    ///
    /// # Errors
    ///
    /// Where the mask is smaller than the vocabulary, the text has ended, or a limit is reached. The mask is then not
    /// written, or cleared where the matcher has [stop tokens of its own](Self::with_stop_tokens).
    pub fn fill_mask(&mut self, mask: &mut TokenMask) -> Result<MaskKind, MatchError> {
        self.check_room(mask.len())?;
        if self.stop != StopTokens::Vocabulary {
            return self.fill_with_own_stop_tokens(mask.as_mut_words());
        }
        self.fill_with(|stored| mask.load(stored))
    }

    /// As [`fill_mask`](Self::fill_mask), into words that the caller owns: at least
    /// [`words_for`](grammask_mask_cache::words_for)`(vocabulary.len())` of them; any words after these are
    /// cleared. A [`TokenMask`] knows which mask it holds and is often filled without a copy; these words are
    /// always written.
    ///
    /// # Errors
    ///
    /// As for [`fill_mask`](Self::fill_mask).
    pub fn fill_mask_words(&mut self, words: &mut [u32]) -> Result<MaskKind, MatchError> {
        self.check_room(words.len().saturating_mul(32))?;
        if self.stop != StopTokens::Vocabulary {
            return self.fill_with_own_stop_tokens(words);
        }
        self.fill_with(|stored| stored.write(words))
    }

    /// The mask of the next token, shared and not copied. It follows the vocabulary's stop tokens, whatever
    /// [`with_stop_tokens`](Self::with_stop_tokens) says: they depend on the matcher, and a shared mask
    /// cannot.
    ///
    /// # Errors
    ///
    /// As for [`fill_mask`](Self::fill_mask).
    pub fn mask(&mut self) -> Result<Arc<StoredMask>, MatchError> {
        let name = self.mask_name();
        match self.last_mask_named(name).map(|last| Arc::clone(&last.mask)) {
            Some(last) => {
                self.counts.unpublished.unchanged += 1;
                Ok(last)
            }
            None => self.find_mask(name).map(|found| found.mask),
        }
    }

    /// The mask of the next token if it was computed before, in this text or another; as [`mask`](Self::mask),
    /// without ever working for long. For callers that hold a lock others wait for.
    pub fn cached_mask(&mut self) -> Option<Arc<StoredMask>> {
        if self.terminated {
            return None;
        }
        let name = self.mask_name();
        let mask = if name.0 == NARROWED { None } else { self.generation().masks.known(&name.1) };
        self.counts.unpublished.hits += u64::from(mask.is_some());
        mask
    }

    /// Fails if this number of bits cannot hold a mask.
    #[inline]
    fn check_room(&self, given: usize) -> Result<(), MatchError> {
        let needed = self.grammar.vocabulary().len();
        if given < needed { Err(MatchError::MaskTooSmall { needed, given }) } else { Ok(()) }
    }

    /// Fills the mask of the next token if that is only a copy.
    pub(crate) fn fill_if_cached(&mut self, words: &mut [u32]) -> MaskLookup {
        let is_too_small = self.check_room(words.len().saturating_mul(32)).is_err();
        if is_too_small || self.terminated || self.stop != StopTokens::Vocabulary {
            return MaskLookup::Other;
        }
        let name = self.mask_name();
        if name.0 == NARROWED || self.generation().is_retired() {
            return MaskLookup::Other;
        }
        let Some(mask) = self.generation().masks.known(&name.1) else { return MaskLookup::Missing(name) };
        mask.write(words);
        let found = NamedMask { name, mask };
        let unchanged = self.last_mask.as_ref().is_some_and(|last| last.name == name);
        match unchanged {
            true => self.counts.unpublished.unchanged += 1,
            false => self.counts.unpublished.hits += 1,
        }
        let kind = if unchanged { MaskKind::Unchanged } else { found.kind() };
        self.last_mask = Some(found);
        MaskLookup::Filled(kind)
    }

    /// The stored masks know the vocabulary's stop tokens only; those of this matcher are put in their place.
    fn fill_with_own_stop_tokens(&mut self, words: &mut [u32]) -> Result<MaskKind, MatchError> {
        let complete = self.is_completed();
        let name = self.mask_name();
        let last = self.last_mask_named(name).cloned();
        let unchanged = last.is_some();
        let found = match last.map_or_else(|| self.find_mask(name), Ok) {
            Ok(found) => Some(found),
            // Nothing else can follow, but one of this matcher's own stop tokens may.
            Err(MatchError::Limit(StepError::NoStopToken | StepError::Unspellable { .. })) if complete => {
                None
            }
            Err(error) => return Err(error),
        };
        let vocabulary = self.grammar.vocabulary();
        match &found {
            Some(found) => found.mask.write(words),
            None => words.fill(0),
        }
        let engine = &self.generation().engine;
        let is_named = |id: TokenId| names_token(engine, self.state(), id);
        let stops = vocabulary.stop_tokens().iter().filter(|&&id| !is_named(id));
        stops.for_each(|id| bits::clear(words, id.index()));
        // A token that the grammar names has its bit by the grammar; any other stop token by whether the text
        // may end.
        for id in self.stop.own() {
            match complete && !self.stop.never_end() || is_named(*id) {
                true => bits::set(words, id.index()),
                false => bits::clear(words, id.index()),
            }
        }
        let kind = match words.iter().map(|word| word.count_ones() as usize).sum() {
            // Without stop tokens a text ends when nothing can follow.
            0 if self.stop.never_end() => return Err(MatchError::Terminated),
            0 => {
                let next = self.next_bytes().iter().next();
                let unspelled = next.map(|byte| StepError::Unspellable { byte });
                return Err(unspelled.filter(|_| !complete).unwrap_or(StepError::NoStopToken).into());
            }
            1 => bits::iter(words)
                .next()
                .and_then(|id| vocabulary.id(u32::try_from(id).ok()?))
                .map_or(MaskKind::Some, MaskKind::Single),
            count if count == vocabulary.len() => MaskKind::All,
            _ => MaskKind::Some,
        };
        self.counts.unpublished.unchanged += u64::from(unchanged);
        self.last_mask = found;
        Ok(if unchanged { MaskKind::Unchanged } else { kind })
    }

    /// Makes the next mask count as new, whatever was filled before: for callers whose copy of the last one is gone.
    pub fn forget_last_mask(&mut self) {
        self.last_mask = None;
    }

    /// Fills the mask of the next token in some way of writing one.
    fn fill_with(&mut self, write: impl FnOnce(&Arc<StoredMask>)) -> Result<MaskKind, MatchError> {
        let name = self.mask_name();
        if let Some(last) = self.last_mask_named(name) {
            write(&last.mask);
            self.counts.unpublished.unchanged += 1;
            return Ok(MaskKind::Unchanged);
        }
        let found = self.find_mask(name)?;
        write(&found.mask);
        Ok(self.keep_last(found))
    }

    /// Keeps a mask that was filled, and says how it compares with the one before.
    fn keep_last(&mut self, found: NamedMask) -> MaskKind {
        // Different states may have equal masks, which are kept once.
        let is_same = self.last_mask.as_ref().is_some_and(|last| Arc::ptr_eq(&last.mask, &found.mask));
        let kind = if is_same { MaskKind::Unchanged } else { found.kind() };
        self.last_mask = Some(found);
        kind
    }

    /// The work for the mask of the next token, for any thread.
    pub(crate) fn mask_job(&self) -> MaskJob<B> {
        MaskJob {
            generation: Arc::clone(self.generation()),
            state: self.state(),
            units: self.grammar.limits().max_work_per_call,
            interrupt: self.interrupt.clone(),
        }
    }

    /// Fills the mask that a job has found for the next token, into words that [have room](Self::fill_if_cached). Where
    /// it was stopped, or the tables are full, the matcher does the work itself.
    pub(crate) fn fill_computed(
        &mut self,
        computed: Result<Arc<StoredMask>, StepError>,
        words: &mut [u32],
    ) -> Result<MaskKind, MatchError> {
        let mask = match computed {
            Ok(mask) => mask,
            Err(error) if is_full(&error) || error == StepError::Interrupted => {
                return self.fill_mask_words(words);
            }
            Err(error) => return Err(error.into()),
        };
        self.counts.unpublished.misses += 1;
        self.counts.publish();
        self.grammar.account_growth(self.generation());
        mask.write(words);
        Ok(self.keep_last(NamedMask { name: self.mask_name(), mask }))
    }

    /// The mask that was filled last, if it has this name.
    fn last_mask_named(&self, name: MaskName) -> Option<&NamedMask> {
        self.last_mask.as_ref().filter(|last| !self.terminated && last.name == name && name.0 != NARROWED)
    }

    /// The mask of the current state, of this name, if it is not the one that was filled last.
    fn find_mask(&mut self, name: MaskName) -> Result<NamedMask, MatchError> {
        if self.terminated {
            return Err(MatchError::Terminated);
        }
        if name.0 == NARROWED {
            return self.compute_narrowed_mask();
        }
        match self.generation().masks.known(&name.1) {
            Some(mask) => {
                self.counts.unpublished.hits += 1;
                Ok(NamedMask { name, mask })
            }
            None => self.compute_mask(),
        }
    }

    #[cold]
    pub(super) fn compute_mask(&mut self) -> Result<NamedMask, MatchError> {
        span!("mask", step = self.steps());
        self.counts.unpublished.misses += 1;
        self.counts.publish();
        let mask = self.with_tables(|generation, state, scratch, fuel| {
            generation.masks.mask(&generation.engine, state, scratch, fuel)
        })?;
        self.grammar.account_growth(self.generation());
        Ok(NamedMask { name: self.mask_name(), mask })
    }

    fn mask_name(&self) -> MaskName {
        let generation = self.generation();
        if self.narrows_masks() {
            return (NARROWED, generation.engine.mask_key(self.state()));
        }
        // Generations are kept alive by the history, so the address names one.
        (Arc::as_ptr(generation) as usize, generation.engine.mask_key(self.state()))
    }
}

/// The work for a mask, with everything that it needs, so that no matcher waits for the thread that does it.
pub(crate) struct MaskJob<B: Backend> {
    generation: Arc<Generation<B>>,
    state: B::State,
    units: u64,
    interrupt: Interrupt,
}

impl<B: Backend> MaskJob<B> {
    /// The mask, unless one of the interrupts comes.
    pub(crate) fn run(&self, done: &Interrupt) -> Result<Arc<StoredMask>, StepError> {
        let interrupts = [self.interrupt.clone(), done.clone()];
        let must_stop = move || interrupts.iter().any(|interrupt| interrupt.check().is_err());
        let mut fuel = Fuel::stopped_by(self.units, Arc::new(must_stop));
        self.generation.masks.mask(&self.generation.engine, self.state, &mut Scratch::default(), &mut fuel)
    }
}
