//! Following one text.

mod draft;
mod following;
mod forced;
mod history;
mod scoped;
mod switch;

use std::sync::Arc;

use grammask_earley::Engine;
use grammask_mask_cache::{
    Scratch, StoredMask, TokenId, TokenMask, TokenTexts, bits, names_token, read_token,
};
use grammask_parser_backend::{Backend, Fuel, MaskKey, StepError};

use crate::compiled::{Generation, is_full};
use crate::distinct::Scopes;
use crate::explain::{Explanation, Tried};
use crate::stats::OwnCounts;
use crate::trace::span;
use crate::{CompiledGrammar, MatchError, MatcherStats, StopTokens};

use following::{Following, Step};

pub use draft::{DraftError, DraftRow, DraftTree, OtherRows};
pub(crate) use following::RequestedAttributes;
pub use following::{Capture, CaptureEnds};
pub use forced::ForcedTokens;
pub use switch::Replay;

use history::History;

/// What a mask says as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskKind {
    /// Every id of the vocabulary is allowed: there is nothing to apply.
    All,
    /// The mask equals the one that this matcher filled last; a copy that was transferred then still holds.
    Unchanged,
    /// One token is allowed.
    Single(TokenId),
    /// Some tokens are allowed.
    Some,
}

/// Follows one text through a compiled grammar.
///
/// A matcher is a pointer to the grammar, the current state, and the states and tokens before it: cloning one (a
/// *fork*) copies the history, rolling back shortens it. Every call that fails leaves the matcher as it was.
// What every token needs comes first, in three cache lines: between two tokens others use the caches.
#[repr(C)]
pub struct Matcher<B: Backend = Engine> {
    /// The state after each step, the start first. Never empty.
    states: Vec<B::State>,
    /// The grammar's, here to save two reads on every token.
    texts: TokenTexts,
    /// The tables in use, and the number of the first state in them.
    current: (usize, Arc<Generation<B>>),
    /// The text, where rules have options.
    following: Option<Box<Following>>,
    /// What has occurred, where items or names must differ.
    scopes: Option<Box<Scopes>>,
    stop: StopTokens,
    /// Whether a stop token was accepted last.
    terminated: bool,
    /// What was read at each step.
    history: History,
    counts: OwnCounts,
    /// The mask that was filled last. Its tables are the current ones.
    last_mask: Option<NamedMask>,
    grammar: CompiledGrammar<B>,
    /// The tables that earlier states of the history belong to, with the number of the first of them.
    former: Vec<(usize, Arc<Generation<B>>)>,
    scratch: Scratch,
}

impl<B: Backend> Clone for Matcher<B> {
    fn clone(&self) -> Self {
        Self {
            grammar: self.grammar.clone(),
            texts: self.texts.clone(),
            current: self.current.clone(),
            former: self.former.clone(),
            states: self.states.clone(),
            history: self.history.clone(),
            terminated: self.terminated,
            stop: self.stop.clone(),
            last_mask: self.last_mask.clone(),
            scratch: Scratch::default(),
            counts: self.counts.clone(),
            following: self.following.clone(),
            scopes: self.scopes.clone(),
        }
    }
}

impl<B: Backend> std::fmt::Debug for Matcher<B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Matcher")
            .field("state", &self.state())
            .field("steps", &self.steps())
            .field("terminated", &self.terminated)
            .finish_non_exhaustive()
    }
}

impl<B: Backend> Matcher<B> {
    pub(crate) fn new(grammar: CompiledGrammar<B>) -> Self {
        let generation = grammar.generation();
        let start = generation.engine.start();
        grammar.touch();
        Self {
            counts: OwnCounts::new(Arc::clone(grammar.counters())),
            following: grammar.asked().map(|asked| Box::new(Following::new(asked))),
            scopes: grammar.scopes().map(Box::new),
            texts: grammar.vocabulary().token_texts().clone(),
            grammar,
            current: (0, generation),
            former: Vec::new(),
            states: vec![start],
            history: History::default(),
            terminated: false,
            stop: StopTokens::default(),
            last_mask: None,
            scratch: Scratch::default(),
        }
    }

    /// Chooses what ends the text, for this matcher and its forks. Default: the vocabulary's stop tokens.
    #[must_use]
    pub fn with_stop_tokens(mut self, stop: StopTokens) -> Self {
        self.stop = stop;
        self.last_mask = None;
        self
    }

    /// What ends the text.
    pub fn stop_tokens(&self) -> &StopTokens {
        &self.stop
    }

    /// The grammar that is followed.
    pub fn grammar(&self) -> &CompiledGrammar<B> {
        &self.grammar
    }

    /// The numbers of this matcher since it was made.
    pub fn stats(&self) -> MatcherStats {
        self.counts.all()
    }

    /// Number of steps taken: tokens accepted, and calls of [`accept_bytes`](Self::accept_bytes).
    pub fn steps(&self) -> usize {
        self.states.len() - 1
    }

    /// Whether the text so far is whole: a stop token may follow.
    pub fn is_completed(&self) -> bool {
        self.generation().engine.is_complete(self.state())
    }

    /// Whether a stop token was accepted.
    pub fn is_terminated(&self) -> bool {
        self.terminated
    }

    /// Accepts a token.
    ///
    /// # Errors
    ///
    /// Where the token is not allowed, has no bytes, or the text has ended; or where a limit is reached.
    pub fn accept_token(&mut self, id: TokenId) -> Result<(), MatchError> {
        if self.terminated {
            return Err(MatchError::Terminated);
        }
        if let Some(next) = self.read_known(id) {
            self.states.push(next);
            self.history.push_token(id);
            self.counts.recent.steps += 1;
            return Ok(());
        }
        self.accept_slowly(id)
    }

    /// The state after a token that is neither a stop token nor named by the grammar, and all of whose bytes are
    /// steps that were taken before: what nearly every call finds. Shared counts, fuel and the tables' budget need no
    /// thought then, nor do options of rules, where no rule has any. `None`: not that simple, or refused.
    #[inline]
    fn read_known(&self, id: TokenId) -> Option<B::State> {
        let (generation, state) = (self.generation(), self.state());
        let bytes = self.texts.get(id);
        // The vocabulary's own stop tokens have no bytes.
        if bytes.is_empty()
            || generation.is_retired()
            || self.following.is_some()
            || self.scopes.is_some()
            || self.stop.own().contains(&id)
            || !generation.engine.token_labels(state).is_empty()
        {
            return None;
        }
        generation.engine.read_known(state, bytes)
    }

    #[inline(never)]
    fn accept_slowly(&mut self, id: TokenId) -> Result<(), MatchError> {
        let vocabulary = Arc::clone(self.grammar.vocabulary());
        let is_stop = self.stop.contains(id, &vocabulary);
        let is_named = names_token(&self.generation().engine, self.state(), id);
        if is_stop && !is_named {
            if !self.is_completed() {
                return Err(MatchError::TokenRefused(id));
            }
            self.states.push(self.state());
            if let Some(scopes) = self.scopes.as_deref_mut() {
                let here = scopes.mark();
                scopes.push_step(here);
            }
            self.follow(Step::Stop, &[])?;
            self.history.push_token(id);
            self.terminated = true;
            self.counts.recent.steps += 1;
            return Ok(());
        }
        let next = match self.scopes.is_some() {
            true => self.read_scoped(vocabulary.token_bytes(id))?,
            false => self.with_tables(|generation, state, _, fuel| {
                read_token(&generation.engine, state, &vocabulary, id, fuel)
            })?,
        };
        self.states.push(next.map_err(|_| MatchError::TokenRefused(id))?);
        if self.following.is_some() {
            self.follow(Step::Token(id), vocabulary.token_bytes(id))?;
        }
        self.history.push_token(id);
        self.counts.recent.steps += 1;
        // A stop token that the grammar names is read like any other, and ends the text if it is whole then.
        self.terminated = is_stop && self.is_completed();
        Ok(())
    }

    /// Accepts bytes that need not be tokens, as one step.
    ///
    /// # Errors
    ///
    /// Where a byte is not allowed, with its offset; or where a limit is reached.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), MatchError> {
        if self.terminated {
            return Err(MatchError::Terminated);
        }
        let next = match self.scopes.is_some() {
            true => self.read_each_scoped(bytes)?,
            false => self.with_tables(|generation, mut state, _, fuel| {
                for (offset, &byte) in bytes.iter().enumerate() {
                    match generation.engine.step(state, byte, fuel)? {
                        Some(next) => state = next,
                        None => return Ok(Err(offset)),
                    }
                }
                Ok(Ok(state))
            })?,
        };
        self.states.push(next.map_err(|offset| MatchError::ByteRefused { offset, byte: bytes[offset] })?);
        self.follow(Step::Bytes, bytes)?;
        self.history.push_bytes(bytes);
        self.counts.recent.steps += 1;
        Ok(())
    }

    /// Writes the mask of the next token: bit `id` is set if and only if [`accept_token`](Self::accept_token)
    /// would accept `id`.
    ///
    /// # Errors
    ///
    /// Where the text has ended, or a limit is reached; the mask is then not written.
    pub fn fill_mask(&mut self, mask: &mut TokenMask) -> Result<MaskKind, MatchError> {
        if self.stop != StopTokens::Vocabulary {
            return self.fill_with_own_stop_tokens(mask.as_mut_words());
        }
        self.fill_with(|stored| mask.load(stored))
    }

    /// As [`fill_mask`](Self::fill_mask), into words that the caller owns: at least
    /// [`words_for`](grammask_mask_cache::words_for)`(vocabulary.len())` of them; what lies behind is cleared. A
    /// [`TokenMask`] knows what it holds and is often filled without a copy; these words are always written.
    pub fn fill_mask_words(&mut self, words: &mut [u32]) -> Result<MaskKind, MatchError> {
        if self.stop != StopTokens::Vocabulary {
            return self.fill_with_own_stop_tokens(words);
        }
        self.fill_with(|stored| stored.write(words))
    }

    /// The mask of the next token, shared and not copied. It goes by the vocabulary's stop tokens, whatever
    /// [`with_stop_tokens`](Self::with_stop_tokens) says: they depend on the matcher, and what is shared cannot.
    ///
    /// # Errors
    ///
    /// As for [`fill_mask`](Self::fill_mask).
    pub fn mask(&mut self) -> Result<Arc<StoredMask>, MatchError> {
        let name = self.mask_name();
        match self.last_mask_if(name).map(|last| Arc::clone(&last.mask)) {
            Some(last) => {
                self.counts.recent.unchanged += 1;
                Ok(last)
            }
            None => self.find_other_mask(name).map(|found| found.mask),
        }
    }

    /// The mask of the next token if it was computed before, in this text or another; as [`mask`](Self::mask),
    /// without ever working for long. For callers that hold a lock others wait for.
    pub fn known_mask(&self) -> Option<Arc<StoredMask>> {
        if self.terminated {
            return None;
        }
        let name = self.mask_name();
        if name.0 == ALTERED { None } else { self.generation().masks.known(&name.1) }
    }

    /// Whether the mask of the next token was computed before. Whatever needs no mask counts as known.
    pub(crate) fn unknown_mask(&self) -> Known {
        let name = self.mask_name();
        match self.terminated || self.generation().masks.known(&name.1).is_some() {
            true => Known::Yes,
            false => Known::No(name),
        }
    }

    /// Fills the mask of the next token if that is only a copy.
    pub(crate) fn fill_known_mask(&mut self, words: &mut [u32]) -> Known {
        if self.terminated || self.stop != StopTokens::Vocabulary {
            return self.unknown_mask();
        }
        let name = self.mask_name();
        let known = if name.0 == ALTERED { None } else { self.generation().masks.known(&name.1) };
        let Some(mask) = known else { return Known::No(name) };
        mask.write(words);
        let found = NamedMask { name, mask };
        let unchanged = self.last_mask.as_ref().is_some_and(|last| last.name == name);
        match unchanged {
            true => self.counts.recent.unchanged += 1,
            false => self.counts.recent.hits += 1,
        }
        let kind = if unchanged { MaskKind::Unchanged } else { found.kind() };
        self.last_mask = Some(found);
        Known::Filled(kind)
    }

    /// How many of the tokens could be accepted one after the other. Nothing is accepted.
    ///
    /// # Errors
    ///
    /// Where a limit is reached before a token is refused.
    pub fn validate_tokens(&mut self, tokens: &[TokenId]) -> Result<usize, MatchError> {
        let mut accepted = 0;
        let mut outcome = Ok(());
        for &id in tokens {
            match self.accept_token(id) {
                Ok(()) => accepted += 1,
                Err(error @ MatchError::Limit(_)) => {
                    outcome = Err(error);
                    break;
                }
                Err(_) => break,
            }
        }
        self.take_back(accepted);
        outcome.map(|()| accepted)
    }

    /// Takes back the last `steps` steps, a stop token counted.
    ///
    /// # Errors
    ///
    /// Where fewer were taken.
    pub fn rollback(&mut self, steps: usize) -> Result<(), MatchError> {
        if steps > self.steps() {
            return Err(MatchError::RollbackTooFar { asked: steps, taken: self.steps() });
        }
        self.take_back(steps);
        Ok(())
    }

    /// Takes back steps of which there are enough.
    fn take_back(&mut self, steps: usize) {
        if steps > 0 {
            self.terminated = false;
        }
        self.states.truncate(self.states.len().saturating_sub(steps).max(1));
        if let Some(scopes) = self.scopes.as_deref_mut() {
            scopes.truncate(self.states.len() - 1);
        }
        if let Some(following) = self.following.as_deref_mut() {
            following.truncate(self.states.len() - 1);
        }
        self.history.truncate(self.states.len() - 1);
        self.leave_unused();
    }

    /// Goes back to the tables that the last state belongs to.
    fn leave_unused(&mut self) {
        while self.current.0 >= self.states.len()
            && let Some(former) = self.former.pop()
        {
            self.current = former;
            self.last_mask = None;
        }
    }

    /// A matcher at the same place, independent from here on.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// Goes back to the beginning, to the newest tables.
    pub fn reset(&mut self) {
        let scratch = std::mem::take(&mut self.scratch);
        let stop = self.stop.clone();
        *self = Self { scratch, stop, ..Self::new(self.grammar.clone()) };
    }

    /// The longest text that every way on begins with: the bytes that are forced here. Empty where the text
    /// may end here or go on in more than one way; at most 64 KiB.
    ///
    /// # Errors
    ///
    /// Where a limit is reached.
    pub fn jump_forward(&mut self) -> Result<Vec<u8>, MatchError> {
        if self.terminated {
            return Ok(Vec::new());
        }
        if self.scopes.is_some() {
            return self.jump_forward_scoped();
        }
        self.with_tables(|generation, mut state, _, fuel| {
            let mut forced = Vec::new();
            let engine = &generation.engine;
            // Where a token may be read as a whole, no byte is forced.
            let may_be_forced = |state| !engine.is_complete(state) && engine.token_labels(state).is_empty();
            while forced.len() < MAX_FORCED && may_be_forced(state) {
                let Some(byte) = only_byte(&generation.engine.next_bytes(state)) else { break };
                let Some(next) = generation.engine.step(state, byte, fuel)? else { break };
                forced.push(byte);
                state = next;
            }
            Ok(forced)
        })
    }

    /// A shortest text that finishes the sentence from here; empty where it is whole. `None` where it takes
    /// more than `max_bytes`. Where items or names must differ, a short one: the shortest may write one of them twice.
    ///
    /// # Errors
    ///
    /// Where a limit is reached.
    pub fn shortest_ending(&mut self, max_bytes: usize) -> Result<Option<Vec<u8>>, MatchError> {
        if self.terminated {
            return Ok(Some(Vec::new()));
        }
        if self.scopes.is_some() {
            return self.short_ending_scoped(max_bytes);
        }
        self.with_tables(|generation, mut state, _, fuel| {
            let engine = &generation.engine;
            let length = engine.shortest_completion_len(state, fuel)?;
            if length > max_bytes as u64 {
                return Ok(None);
            }
            let mut ending = Vec::new();
            for left in (0..length).rev() {
                let bytes = engine.next_bytes(state);
                let mut found = None;
                for byte in allowed_bytes(&bytes) {
                    let Some(next) = engine.step(state, byte, fuel)? else { continue };
                    if engine.shortest_completion_len(next, fuel)? == left {
                        found = Some((byte, next));
                        break;
                    }
                }
                let Some((byte, next)) = found else { return Ok(None) };
                ending.push(byte);
                state = next;
            }
            Ok(Some(ending))
        })
    }

    /// The bytes that may come next: bit `b % 64` of word `b / 64`.
    pub fn next_bytes(&self) -> [u64; 4] {
        if self.terminated {
            return [0; 4];
        }
        let (engine, state) = (&self.generation().engine, self.state());
        match self.scopes.as_deref().filter(|scopes| scopes.is_open()) {
            // Past a limit nothing is decided, and the backend's answer holds what there is.
            Some(scopes) => {
                let mut fuel = Fuel::new(self.grammar.limits().max_work_per_call);
                scopes
                    .here()
                    .next_bytes(engine, state, &mut fuel)
                    .unwrap_or_else(|_| engine.next_bytes(state))
            }
            None => engine.next_bytes(state),
        }
    }

    /// Whether a token is allowed here, and if not, at which of its bytes it dies and what was possible there.
    ///
    /// # Errors
    ///
    /// Where a limit is reached.
    pub fn explain(&mut self, id: TokenId) -> Result<Explanation, MatchError> {
        let vocabulary = Arc::clone(self.grammar.vocabulary());
        let terminated = self.terminated;
        let is_stop = self.stop.contains(id, &vocabulary);
        if self.scopes.is_some() && !is_stop && !terminated {
            return self.explain_scoped(vocabulary.token_bytes(id));
        }
        self.with_tables(|generation, state, _, fuel| {
            let engine = &generation.engine;
            let is_read = !terminated && (!is_stop || names_token(engine, state, id));
            if is_read && read_token(engine, state, &vocabulary, id, fuel)?.is_ok() {
                return Ok(Explanation::Allowed);
            }
            let token = Tried { bytes: vocabulary.token_bytes(id), is_stop };
            crate::explain::explain(engine, state, token, terminated, fuel)
        })
    }

    /// The stored masks know the vocabulary's stop tokens only; those of this matcher are put in their place.
    fn fill_with_own_stop_tokens(&mut self, words: &mut [u32]) -> Result<MaskKind, MatchError> {
        let complete = self.is_completed();
        let name = self.mask_name();
        let last = self.last_mask_if(name).cloned();
        let unchanged = last.is_some();
        let found = match last.map_or_else(|| self.find_other_mask(name), Ok) {
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
        for id in self.stop.own() {
            match complete || is_named(*id) {
                true => bits::set(words, id.index()),
                false => bits::clear(words, id.index()),
            }
        }
        if words.iter().all(|&word| word == 0) {
            return Err(StepError::NoStopToken.into());
        }
        self.counts.recent.unchanged += u64::from(unchanged);
        self.last_mask = found;
        Ok(if unchanged { MaskKind::Unchanged } else { MaskKind::Some })
    }

    fn state(&self) -> B::State {
        self.states[self.states.len() - 1]
    }

    /// The tables in use, and the current state in them.
    pub(crate) fn place(&self) -> (Arc<Generation<B>>, B::State) {
        (Arc::clone(self.generation()), self.state())
    }

    fn generation(&self) -> &Arc<Generation<B>> {
        &self.current.1
    }

    /// Fills the mask of the next token in some way of writing one.
    fn fill_with(&mut self, write: impl FnOnce(&Arc<StoredMask>)) -> Result<MaskKind, MatchError> {
        let name = self.mask_name();
        if let Some(last) = self.last_mask_if(name) {
            write(&last.mask);
            self.counts.recent.unchanged += 1;
            return Ok(MaskKind::Unchanged);
        }
        let found = self.find_other_mask(name)?;
        write(&found.mask);
        // Different states may have equal masks, which are kept once.
        let is_same = self.last_mask.as_ref().is_some_and(|last| Arc::ptr_eq(&last.mask, &found.mask));
        let kind = if is_same { MaskKind::Unchanged } else { found.kind() };
        self.last_mask = Some(found);
        Ok(kind)
    }

    /// The mask that was filled last, if it has this name.
    fn last_mask_if(&self, name: MaskName) -> Option<&NamedMask> {
        self.last_mask.as_ref().filter(|last| !self.terminated && last.name == name && name.0 != ALTERED)
    }

    /// The mask of the current state, of this name, if it is not the one that was filled last.
    fn find_other_mask(&mut self, name: MaskName) -> Result<NamedMask, MatchError> {
        if self.terminated {
            return Err(MatchError::Terminated);
        }
        if name.0 == ALTERED {
            return self.compute_altered_mask();
        }
        match self.generation().masks.known(&name.1) {
            Some(mask) => {
                self.counts.recent.hits += 1;
                Ok(NamedMask { name, mask })
            }
            None => self.compute_mask(),
        }
    }

    #[cold]
    fn compute_mask(&mut self) -> Result<NamedMask, MatchError> {
        span!("mask", step = self.steps());
        self.counts.recent.misses += 1;
        self.counts.publish();
        let mask = self.with_tables(|generation, state, scratch, fuel| {
            generation.masks.mask(&generation.engine, state, scratch, fuel)
        })?;
        self.grammar.grown(self.generation());
        Ok(NamedMask { name: self.mask_name(), mask })
    }

    fn mask_name(&self) -> MaskName {
        let generation = self.generation();
        if self.alters_masks() {
            return (ALTERED, generation.engine.mask_key(self.state()));
        }
        // Generations are kept alive by the history, so the address names one.
        (Arc::as_ptr(generation) as usize, generation.engine.mask_key(self.state()))
    }

    /// Runs a call on the current tables; if they are full, on new ones. Others may fill the new ones before it is
    /// done: then on tables of its own, so that a call that would succeed alone succeeds in company.
    fn with_tables<T>(
        &mut self,
        mut call: impl FnMut(&Generation<B>, B::State, &mut Scratch, &mut Fuel) -> Result<T, StepError>,
    ) -> Result<T, MatchError> {
        let mut fuel = Fuel::new(self.grammar.limits().max_work_per_call);
        if self.generation().is_retired() {
            self.leave_retired();
        }
        let mut generation = Arc::clone(self.generation());
        let mut result = call(&generation, self.state(), &mut self.scratch, &mut fuel);
        for tables in [Tables::Shared, Tables::Own] {
            let Err(error) = &result else { break };
            if !is_full(error) {
                break;
            }
            let next = match tables {
                Tables::Shared => self.grammar.generation_after(&generation),
                Tables::Own => self.grammar.new_generation(&generation),
            };
            let next = next.map_err(|_| error.clone())?;
            match self.move_over(&generation, &next) {
                Ok(()) => {
                    generation = next;
                    result = call(&generation, self.state(), &mut self.scratch, &mut fuel);
                }
                Err(error) => result = Err(error),
            }
        }
        if fuel.burnt() > 0 {
            self.grammar.grown(&generation);
        }
        Ok(result?)
    }

    /// Moves over to the tables that took the place of those of the current state. Where that is not possible the
    /// old ones still serve.
    #[cold]
    fn leave_retired(&mut self) {
        let (old, current) = (Arc::clone(self.generation()), self.grammar.generation());
        if !Arc::ptr_eq(&old, &current) {
            let _ = self.move_over(&old, &current);
        }
    }

    /// Makes the current state one of another generation of tables.
    fn move_over(&mut self, full: &Generation<B>, next: &Arc<Generation<B>>) -> Result<(), StepError> {
        let state = next.engine.import(&full.engine, self.state())?;
        // The tables that the last mask was read off may go now, and others take their address.
        self.last_mask = None;
        let current = self.states.len() - 1;
        let before = std::mem::replace(&mut self.current, (current, Arc::clone(next)));
        if before.0 != current {
            self.former.push(before);
        }
        self.states[current] = state;
        self.counts.recent.moves += 1;
        Ok(())
    }
}

/// In place of an address: the mask of the state is not that of the key.
const ALTERED: usize = 0;

/// What distinguishes masks: the address of a generation of tables, which whoever compares names keeps alive, and
/// the key in it.
type MaskName = (usize, MaskKey);

/// A mask, and what it is the mask of.
#[derive(Clone)]
struct NamedMask {
    name: MaskName,
    mask: Arc<StoredMask>,
}

impl NamedMask {
    fn kind(&self) -> MaskKind {
        match self.mask.single() {
            Some(id) => MaskKind::Single(id),
            None if self.mask.allows_all() => MaskKind::All,
            None => MaskKind::Some,
        }
    }
}

/// Whether a mask is known.
pub(crate) enum Known {
    /// It was, and was written.
    Filled(MaskKind),
    /// It is.
    Yes,
    /// It has to be computed. Equal names, equal masks.
    No(MaskName),
}

/// Which tables a call goes on with.
#[derive(Clone, Copy)]
enum Tables {
    /// Those that all matchers of the grammar share.
    Shared,
    /// New ones that no other matcher uses.
    Own,
}

/// Forced text is cut here: a grammar can force a text without end.
const MAX_FORCED: usize = 64 << 10;

pub(crate) fn allowed_bytes(bits: &[u64; 4]) -> impl Iterator<Item = u8> + '_ {
    (0..=255u8).filter(|&byte| bits[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1)
}

/// The only byte of a set, if it holds just one.
fn only_byte(bits: &[u64; 4]) -> Option<u8> {
    let count: u32 = bits.iter().map(|word| word.count_ones()).sum();
    if count == 1 { allowed_bytes(bits).next() } else { None }
}
