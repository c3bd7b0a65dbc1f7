//! Computed masks, kept by their keys.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use grammask_grammar_ir::byte_set::{self, ByteSet};
use grammask_parser_backend::{Backend, Ended, Fuel, LocalParts, MaskKey, StepError, TokenEdges};

use grammask_grammar_ir::Toggle;

use super::counters::{MaskCounters, Way, count};
use super::local_pool::{Admission, LocalPool};
use super::lru_map::LruMap;
use super::options::MaskOptions;
use crate::compute::allowed_tokens::{allowed_tokens, slice_may_apply, walk_vocabulary};
use crate::compute::context_expansion::expand;
use crate::compute::difference::{MaskDifference, difference, reference};
use crate::compute::local_part::LocalPartMask;
use crate::compute::whole_tokens::WholeTokens;
use crate::mask::bits::{self, words_for};
use crate::mask::stored_mask::{Form, StoredMask};
use crate::token_sets::sets::TokenSets;
use crate::vocabulary::tokens::Vocabulary;
use crate::walk::scratch::Scratch;
use crate::walk::token_trials::try_long_tokens;

/// The state of a local part in the cache.
#[derive(Clone, Debug)]
enum LocalEntry {
    /// It was seen once.
    SeenOnce,
    /// Its mask.
    Mask(Arc<LocalPartMask>),
    /// A mask of it does not pay.
    Rejected,
}

/// A local part, and the bytes that may be read after its rule: bit `b % 64` of word `b / 64` stands for byte `b`.
type LocalKey = (MaskKey, ByteSet);

/// The masks of one engine for one vocabulary.
///
/// A mask is kept under its [`MaskKey`]: positions that allow the same texts share one, in this request or in
/// another. When the masks outgrow their budget, those that were not used for longest go; a caller that still uses one
/// holds it.
pub struct MaskMemo {
    sets: Arc<TokenSets>,
    masks: LruMap<MaskKey, Arc<StoredMask>>,
    /// Gets a quarter of the budget.
    locals: LruMap<LocalKey, LocalEntry>,
    /// The masks by a hash of their content: those of different states are often equal, and a caller's buffer
    /// often holds the shared one already.
    by_content: LruMap<u64, Weak<StoredMask>>,
    hasher: ahash::RandomState,
    pool: Arc<LocalPool>,
    options: MaskOptions,
    counters: Arc<MaskCounters>,
}

/// Words of masks that are merged in the time of a unit of work.
const MERGED_WORDS: usize = 64;

impl MaskMemo {
    /// An empty memo that holds at most about `max_bytes`. The pool is shared with other grammars, of the same
    /// vocabulary only.
    pub fn new(sets: Arc<TokenSets>, pool: Arc<LocalPool>, max_bytes: usize) -> Self {
        Self {
            sets,
            masks: LruMap::new(max_bytes - max_bytes / 4),
            locals: LruMap::new(max_bytes / 4),
            by_content: LruMap::new(max_bytes / 16),
            hasher: ahash::RandomState::default(),
            pool,
            options: MaskOptions::default(),
            counters: Arc::default(),
        }
    }

    /// Chooses the ways to a mask that are taken.
    #[must_use]
    pub fn with_options(mut self, options: MaskOptions) -> Self {
        self.options = options;
        self
    }

    /// Counts there, and by its clock.
    #[must_use]
    pub fn with_counters(mut self, counters: Arc<MaskCounters>) -> Self {
        self.counters = counters;
        self
    }

    /// The vocabulary that the masks are for.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.sets.vocabulary()
    }

    /// The token sets of the vocabulary.
    pub fn token_sets(&self) -> &Arc<TokenSets> {
        &self.sets
    }

    /// The mask of a state, computed if it is not known.
    ///
    /// # Errors
    ///
    /// Fails if the backend reaches a limit, or if the vocabulary has no token that continues although the
    /// grammar does. It also fails if only a stop token could follow and the vocabulary has none.
    pub fn mask<B: Backend>(
        &self,
        backend: &B,
        state: B::State,
        scratch: &mut Scratch,
        fuel: &mut Fuel,
    ) -> Result<Arc<StoredMask>, StepError> {
        if self.options.memo == Toggle::Off {
            return Ok(Arc::new(self.compute(backend, state, scratch, fuel)?));
        }
        let key = backend.mask_key(state);
        if let Some(mask) = self.known(&key) {
            return Ok(mask);
        }
        // Two threads may compute the same mask. Both results are right; the one that is kept last stays.
        let mask = self.equal_or_own(self.compute(backend, state, scratch, fuel)?);
        self.keep(key, &mask);
        Ok(mask)
    }

    /// The mask with a key, if it is kept. Computes nothing.
    pub fn known(&self, key: &MaskKey) -> Option<Arc<StoredMask>> {
        self.masks.get(key)
    }

    /// Bytes of memory that the masks hold.
    pub fn memory_usage(&self) -> usize {
        self.masks.memory_usage() + self.locals.memory_usage() + self.by_content.memory_usage()
    }

    /// How many masks are kept.
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// Whether no mask is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn compute<B: Backend>(
        &self,
        backend: &B,
        state: B::State,
        scratch: &mut Scratch,
        fuel: &mut Fuel,
    ) -> Result<StoredMask, StepError> {
        if let Some(mask) = self.compute_by_readings(backend, state, scratch, fuel)? {
            return Ok(mask);
        }
        let vocabulary = self.sets.vocabulary();
        let whole = WholeTokens::at(backend, state);
        let start = self.counters.clock().now();
        let MaskOptions { slices, local_parts, differences, .. } = self.options;
        // Differences and local parts pay only where a slice may apply: elsewhere a plain walk visits few
        // nodes. A difference comes first, because it is the cheapest, and its base often is a local part.
        if slices == Toggle::On && slice_may_apply(backend, state, &self.sets) {
            if differences == Toggle::On
                && let Some(mask) = self.compute_by_difference(backend, state, scratch, fuel)?
            {
                self.counters.note(Way::Difference, start);
                return Ok(whole.add_to(mask, vocabulary));
            }
            if local_parts == Toggle::On
                && let Some(mask) = self.compute_by_parts(backend, state, scratch, fuel)?
            {
                self.counters.note(Way::LocalPart, start);
                return Ok(whole.add_to(mask, vocabulary));
            }
        }
        let found = allowed_tokens(backend, state, &self.sets, slices, scratch, fuel)?;
        if backend.is_complete(state) {
            found.ids.extend(vocabulary.stop_tokens().iter().map(|id| id.get()));
        }
        // No state is a dead end, so an empty mask means that the vocabulary cannot spell what the grammar
        // allows. That is an error and never a mask.
        if found.is_empty() && !whole.allows_any(vocabulary) {
            return Err(match byte_set::iter(&backend.next_bytes(state)).next() {
                Some(byte) => StepError::Unspellable { byte },
                None => StepError::NoStopToken,
            });
        }
        let way = if found.slice.is_some() { Way::Slice } else { Way::Walk };
        let mask = whole.add_to(found.into_stored(vocabulary.len()), vocabulary);
        self.counters.note(way, start);
        Ok(mask)
    }

    /// The mask of a state with many readings from the masks of each.
    fn compute_by_readings<B: Backend>(
        &self,
        backend: &B,
        state: B::State,
        scratch: &mut Scratch,
        fuel: &mut Fuel,
    ) -> Result<Option<StoredMask>, StepError> {
        let readings = backend.parallel_states(state, fuel)?;
        if readings.is_empty() {
            return Ok(None);
        }
        let (vocabulary, len) = (self.sets.vocabulary(), self.sets.vocabulary().len());
        let mut words = vec![0; words_for(len)];
        let mut of_one = words.clone();
        for reading in readings {
            fuel.burn((words.len() / MERGED_WORDS) as u64 + 1)?;
            match self.mask(backend, reading, scratch, fuel) {
                Ok(mask) => {
                    mask.write(&mut of_one);
                    bits::or(&mut words, &of_one);
                }
                // Another reading may have tokens.
                Err(StepError::Unspellable { .. } | StepError::NoStopToken) => {}
                Err(limit) => return Err(limit),
            }
        }
        if backend.is_complete(state) {
            vocabulary.stop_tokens().iter().for_each(|id| bits::set(&mut words, id.index()));
        }
        let count = bits::count(&words);
        let form = if count <= words.len() / 2 {
            let ids: Vec<u32> = bits::iter(&words).map(|id| id as u32).collect();
            Form::Ids(scratch.sparse_of(&ids, len))
        } else {
            Form::Words(words.into())
        };
        // The plain walk finds the reason for an empty mask.
        Ok((count > 0).then(|| StoredMask { form, len, all: count == len }))
    }

    /// The mask of a state as a difference to that of the state that most letters lead to, if there is such a
    /// state.
    fn compute_by_difference<B: Backend>(
        &self,
        backend: &B,
        state: B::State,
        scratch: &mut Scratch,
        fuel: &mut Fuel,
    ) -> Result<Option<StoredMask>, StepError> {
        let Some(reference) = reference(backend, state, fuel)? else { return Ok(None) };
        // One of many readings of the reference may be this state, whose mask would wait for itself.
        if !backend.parallel_states(reference, fuel)?.is_empty() {
            return Ok(None);
        }
        // Tokens that both read as a whole are in the mask of the reference.
        let edges = backend.token_edges();
        if edges.token_labels(reference) != edges.token_labels(state) {
            return Ok(None);
        }
        // Letters lead the reference to itself, so it has no reference of its own, and this goes one level deep.
        let Ok(base) = self.mask(backend, reference, scratch, fuel) else { return Ok(None) };
        if matches!(base.form, Form::Difference { .. }) {
            return Ok(None);
        }
        let vocabulary = self.sets.vocabulary();
        let Some(found) = difference(backend, state, reference, &self.sets, fuel)? else { return Ok(None) };
        let MaskDifference { added, removed } = found;
        // A difference of this size takes more memory than the words of a mask.
        if added.len() + removed.len() > words_for(vocabulary.len()) {
            return Ok(None);
        }
        let is_left = !added.is_empty() || base.allows_more_than(removed.len());
        let sparse = |ids: &[u32], scratch: &mut Scratch| scratch.sparse_of(ids, vocabulary.len());
        let form =
            Form::Difference { base, added: sparse(&added, scratch), removed: sparse(&removed, scratch) };
        let mask = StoredMask { form, len: vocabulary.len(), all: false };
        // A mask that may be empty is left to the plain walk, which finds the reason.
        let allows_any = || {
            let mut words = vec![0; words_for(vocabulary.len())];
            mask.write(&mut words);
            words.iter().any(|&word| word != 0)
        };
        Ok((is_left || allows_any()).then_some(mask))
    }

    /// The mask of a state from the masks of its local part and of its continuation, if the local part is
    /// known or pays.
    fn compute_by_parts<B: Backend>(
        &self,
        backend: &B,
        state: B::State,
        scratch: &mut Scratch,
        fuel: &mut Fuel,
    ) -> Result<Option<StoredMask>, StepError> {
        let Some(split) = backend.local_parts().split(state, fuel)? else { return Ok(None) };
        // If the rule may already have ended, all tokens of the continuation count, too. Where a slice
        // applies to it, that would be most of the vocabulary, as ids.
        if split.ended == Ended::Maybe && slice_may_apply(backend, split.continuation, &self.sets) {
            return Ok(None);
        }
        let follow = backend.next_bytes(split.continuation);
        let Some(local) = self.local_mask(backend, split.local, follow, scratch, fuel)? else {
            return Ok(None);
        };
        let vocabulary = self.sets.vocabulary();
        // The parts of the mask: bits of the local part, uncertain tokens whose rest the continuation reads,
        // tokens of the continuation itself, and long tokens, which no trie has.
        local.resolve(backend, split.continuation, scratch, fuel)?;
        if split.ended == Ended::Maybe {
            walk_vocabulary(backend, split.continuation, &self.sets, scratch, fuel)?;
        }
        let ids = scratch.ids();
        try_long_tokens(backend, state, vocabulary, ids, fuel)?;
        if backend.is_complete(state) {
            ids.extend(vocabulary.stop_tokens().iter().map(|id| id.get()));
        }
        if ids.is_empty() && local.words.iter().all(|&word| word == 0) {
            // The plain walk finds the reason.
            return Ok(None);
        }
        let ids = scratch.sparse_ids(vocabulary.len());
        let form = Form::LocalPart { accepted: Arc::clone(&local.words), ids };
        Ok(Some(StoredMask { form, len: vocabulary.len(), all: false }))
    }

    /// The mask of a local part, if it is known here or to another grammar; computed when it is asked for the second
    /// time.
    fn local_mask<B: Backend>(
        &self,
        backend: &B,
        local: B::State,
        follow: ByteSet,
        scratch: &mut Scratch,
        fuel: &mut Fuel,
    ) -> Result<Option<Arc<LocalPartMask>>, StepError> {
        let key = (backend.mask_key(local), follow);
        let entry = match self.locals.get(&key) {
            Some(LocalEntry::Mask(mask)) => {
                count(&self.counters.local_hits);
                return Ok(Some(mask));
            }
            Some(LocalEntry::Rejected) => return Ok(None),
            Some(LocalEntry::SeenOnce) => {
                let shared = pool_key(backend, local, &follow);
                self.compute_local(backend, local, &follow, shared, scratch, fuel)?
            }
            // The first time is only noted: many local parts occur once, and their bits cost two or three
            // walks.
            None if self.options.cross_grammar == Toggle::Off => LocalEntry::SeenOnce,
            None => self.shared_local(backend, local, &follow, scratch, fuel)?,
        };
        count(&self.counters.local_misses);
        let mask = match &entry {
            LocalEntry::Mask(mask) => Some(self.expanded(mask, backend, local, fuel)),
            _ => None,
        };
        let entry = mask.clone().map_or(entry, LocalEntry::Mask);
        let size = mask.as_ref().map_or(0, |mask| mask.memory_usage());
        self.locals.keep(key, entry, size + 2 * size_of::<(LocalKey, LocalEntry)>());
        Ok(mask)
    }

    /// The mask of a local part for this grammar alone, with the uncertain tokens that it leaves.
    fn expanded<B: Backend>(
        &self,
        mask: &Arc<LocalPartMask>,
        backend: &B,
        local: B::State,
        fuel: &mut Fuel,
    ) -> Arc<LocalPartMask> {
        // The expansion depends on the whole grammar, so its result goes into this grammar's table and never
        // into the pool.
        let expanded = match self.options.context_expansion {
            Toggle::On => expand(mask, backend, local, fuel),
            Toggle::Off => Arc::clone(mask),
        };
        self.counters.note_uncertain(mask.suffixes.ids.len(), expanded.suffixes.ids.len());
        expanded
    }

    /// The entry of a local part that is new to this grammar: another one may have computed its mask, or seen it once.
    fn shared_local<B: Backend>(
        &self,
        backend: &B,
        local: B::State,
        follow: &ByteSet,
        scratch: &mut Scratch,
        fuel: &mut Fuel,
    ) -> Result<LocalEntry, StepError> {
        // Without a description there is nothing to share, and this grammar counts alone.
        let Some(pool_key) = pool_key(backend, local, follow) else { return Ok(LocalEntry::SeenOnce) };
        if let Some(mask) = self.pool.get(&pool_key) {
            count(&self.counters.cross_grammar_hits);
            return Ok(LocalEntry::Mask(mask));
        }
        match self.pool.admit(&pool_key) {
            Admission::FirstSeen => Ok(LocalEntry::SeenOnce),
            Admission::Rejected => Ok(LocalEntry::Rejected),
            Admission::SeenBefore => {
                self.compute_local(backend, local, follow, Some(pool_key), scratch, fuel)
            }
        }
    }

    /// Computes the mask of a local part, for other grammars too if it has a description.
    fn compute_local<B: Backend>(
        &self,
        backend: &B,
        local: B::State,
        follow: &ByteSet,
        pool_key: Option<Vec<u32>>,
        scratch: &mut Scratch,
        fuel: &mut Fuel,
    ) -> Result<LocalEntry, StepError> {
        let computed = LocalPartMask::new(backend, local, follow, &self.sets, scratch, fuel)?;
        if let (Toggle::On, Some(pool_key)) = (self.options.cross_grammar, pool_key) {
            match &computed {
                Some(mask) => self.pool.keep(pool_key, mask),
                // The next grammar with this part learns at once that it has no mask of its own.
                None => self.pool.reject(&pool_key),
            }
        }
        Ok(computed.map_or(LocalEntry::Rejected, LocalEntry::Mask))
    }

    /// The mask that another state has, if it is equal to this one.
    fn equal_or_own(&self, mask: StoredMask) -> Arc<StoredMask> {
        let hash = self.hasher.hash_one(&mask);
        // The table holds weak references: it finds masks that are alive and keeps none alive. Its key is a
        // hash, so the masks themselves are compared.
        let known = self.by_content.get(&hash).and_then(|known| known.upgrade());
        if let Some(known) = known.filter(|known| **known == mask) {
            return known;
        }
        let mask = Arc::new(mask);
        self.by_content.keep(hash, Arc::downgrade(&mask), 4 * size_of::<u64>() + size_of::<StoredMask>());
        mask
    }

    fn keep(&self, key: MaskKey, mask: &Arc<StoredMask>) {
        let size = mask.memory_usage() + 2 * size_of::<(MaskKey, Arc<StoredMask>)>();
        let evicted = self.masks.keep(key, Arc::clone(mask), size);
        self.counters.evicted.fetch_add(evicted, Ordering::Relaxed);
    }
}

/// All that the mask of a local part depends on, without the numbers of its grammar, if the backend can tell it.
fn pool_key<B: Backend>(backend: &B, local: B::State, follow: &ByteSet) -> Option<Vec<u32>> {
    let mut words = backend.local_parts().canonical_form(local)?;
    words.extend(follow.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]));
    Some(words)
}
