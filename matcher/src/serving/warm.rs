//! Masks that are computed before they are asked for.
//!
//! There are two naive ways. To compute the masks of all states beforehand, as the first XGrammar paper does,
//! takes seconds for a large grammar, most of them for states that no text will reach. To compute each one
//! when a text reaches it, as this crate does by itself, lets the first text pay. In between there is idle
//! time: while the prompt is read, and while the model computes logits. It suffices for some masks, so the
//! most valuable ones are chosen (the second paper's partial just-in-time compilation):
//!
//! * from the beginning of a text ([`CompiledGrammar::warm_up`]) its way is not known. So all ways from a
//!   state count as equally likely, and a bounded number of states is looked at, the likeliest first. Knowing
//!   a mask saves its cost, by an [estimate](mask_cost), times the likelihood that it is needed. Cost alone
//!   would choose among thousands of costly states that hardly any text reaches, such as the insides of
//!   strings in members that no schema names;
//! * in the middle of a text ([`Matcher::warm_next`]) the next token is one of those that the mask allows. Each
//!   leads to a state; the states that most tokens lead to come first.
//!
//! Nothing of this changes an answer: the masks are kept where they would be kept anyway, and count for the
//! same budgets. Tables are never begun anew to make room for a guess.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::Hash;

use grammask_grammar_ir::Interrupt;
use grammask_grammar_ir::byte_set;
use grammask_mask_cache::{Scratch, mask_cost, read_token};
use grammask_parser_backend::{Backend, Fuel, MaskKey, StepError};

use crate::compile::backend::BuildBackend;
use crate::compile::compiler::Compiler;
use crate::grammar::compiled::CompiledGrammar;
use crate::grammar::generation::Generation;
use crate::matcher::matcher::Matcher;

/// The number of states to look at for each mask that may be computed.
const STATES_PER_MASK: usize = 8;
/// Tokens that are tried to see where they lead, those with the least ids: vocabularies list frequent tokens first.
const MAX_TOKENS_TRIED: usize = 2_048;

impl<B: Backend> CompiledGrammar<B> {
    /// Computes at most this number of masks of states near the beginning of a text: that of the beginning,
    /// then those that are likely to save most. Returns the number of computed masks; fewer if the interrupt
    /// says so or a limit is reached. A mask that is the difference to that of a similar state brings that
    /// one along.
    ///
    /// For idle time before the first token. 16 to 64 are useful numbers: each takes up to a millisecond, most of
    /// them some microseconds.
    pub fn warm_up(&self, masks: usize, interrupt: &Interrupt) -> usize {
        let generation = self.generation();
        let mut fuel = Fuel::new(self.limits().max_work_per_call);
        let max_states = masks.saturating_mul(STATES_PER_MASK);
        let Candidates { states, .. } =
            Candidates::around_start(&generation, max_states, interrupt, &mut fuel);
        let computed = compute_masks(&generation, states, masks, interrupt, self.limits().max_work_per_call);
        self.account_growth(&generation);
        computed
    }
}

impl<B: BuildBackend> Compiler<B> {
    /// As [`CompiledGrammar::warm_up`], on the compiler's threads, until it is done or the compiler's interrupt says
    /// so. False where there are no threads: nothing happens then.
    pub fn warm_up_in_background(&self, grammar: &CompiledGrammar<B>, masks: usize) -> bool {
        let (grammar, interrupt) = (grammar.clone(), self.interrupt().clone());
        self.threads().spawn(move || {
            grammar.warm_up(masks, &interrupt);
        })
    }
}

impl<B: Backend> Matcher<B> {
    /// Computes at most this number of masks of states that the next token may lead to, those that most
    /// tokens lead to first. Returns the number of computed masks; fewer if a limit is reached.
    ///
    /// For idle time between two tokens. A second call continues with the rest.
    pub fn warm_next(&mut self, masks: usize) -> usize {
        if masks == 0 || self.is_terminated() {
            return 0;
        }
        // Without a mask there is no next token.
        let Ok(mask) = self.mask() else { return 0 };
        let grammar = self.grammar().clone();
        let (generation, state) = self.tables_and_state();
        let (vocabulary, engine) = (grammar.vocabulary(), &generation.engine);
        let work = grammar.limits().max_work_per_call;
        let mut fuel = Fuel::new(work);
        let mut candidates = Candidates::default();
        // Small ids first: in most vocabularies these are the common tokens.
        for id in mask.to_mask().iter().take(MAX_TOKENS_TRIED) {
            match read_token(engine, state, vocabulary, id, &mut fuel) {
                Ok(Ok(next)) => candidates.add(&generation, next, |weight| weight + 1),
                Ok(Err(_)) => {}
                Err(_) => break,
            }
        }
        let computed = compute_masks(&generation, candidates.states, masks, &Interrupt::never(), work);
        grammar.account_growth(&generation);
        computed
    }
}

/// States whose masks are not known, each with the value of its mask.
struct Candidates<S> {
    states: Vec<(u64, S)>,
    places: HashMap<MaskKey, usize, ahash::RandomState>,
}

impl<S> Default for Candidates<S> {
    fn default() -> Self {
        Self { states: Vec::new(), places: HashMap::default() }
    }
}

impl<S: Copy + Eq + Hash> Candidates<S> {
    fn add<B: Backend<State = S>>(
        &mut self,
        generation: &Generation<B>,
        state: S,
        weigh: impl FnOnce(u64) -> u64,
    ) {
        let key = generation.engine.mask_key(state);
        // States with one key have one mask, so they count as one candidate.
        if generation.masks.known(&key).is_some() {
            return;
        }
        let place = *self.places.entry(key).or_insert_with(|| {
            self.states.push((0, state));
            self.states.len() - 1
        });
        let weight = &mut self.states[place].0;
        *weight = weigh(*weight);
    }

    /// The likeliest states, at most this number, with the likely savings of their masks.
    fn around_start<B: Backend<State = S>>(
        generation: &Generation<B>,
        max_states: usize,
        interrupt: &Interrupt,
        fuel: &mut Fuel,
    ) -> Self {
        let Generation { engine, masks, .. } = generation;
        let mut candidates = Self::default();
        let mut seen = HashSet::with_hasher(ahash::RandomState::new());
        let mut states = vec![engine.start()];
        let mut left = BinaryHeap::from([(CERTAIN, Reverse(0))]);
        seen.insert(engine.start());
        // A mask that is needed for certain has the greatest value.
        candidates.add(generation, engine.start(), |_| u64::MAX);
        for _ in 0..max_states {
            let Some((likelihood, Reverse(place))) = left.pop() else { break };
            if interrupt.check().is_err() {
                break;
            }
            let Ok(ways) = successors(engine, states[place], fuel) else { break };
            // All states that follow count as equally likely. Integers are exact here, and a likelihood of 0
            // ends a path.
            let each = likelihood / (ways.len() as u64).max(1);
            for next in ways {
                let cost = mask_cost(engine, next, masks.token_sets(), fuel).max(1);
                candidates.add(generation, next, |worth| worth.saturating_add(each.saturating_mul(cost)));
                // A state that is reached again adds to the value of its mask, but is not expanded twice.
                if seen.insert(next) {
                    left.push((each, Reverse(states.len())));
                    states.push(next);
                }
            }
        }
        candidates
    }
}

/// The likelihood of a certain event.
const CERTAIN: u64 = 1 << 40;

/// The states that the next byte may lead to, each once.
fn successors<B: Backend>(engine: &B, state: B::State, fuel: &mut Fuel) -> Result<Vec<B::State>, StepError> {
    let mut ways = Vec::new();
    for byte in byte_set::iter(&engine.next_bytes(state)) {
        // Neighbouring bytes mostly lead to one state, which is then the last one found.
        if let Some(next) = engine.step(state, byte, fuel)?
            && ways.last() != Some(&next)
            && !ways.contains(&next)
        {
            ways.push(next);
        }
    }
    Ok(ways)
}

/// Computes the masks that are worth most. Returns how many.
fn compute_masks<B: Backend>(
    generation: &Generation<B>,
    mut states: Vec<(u64, B::State)>,
    masks: usize,
    interrupt: &Interrupt,
    work: u64,
) -> usize {
    // Among equals those that were found first: the sort is stable.
    states.sort_by_key(|(worth, _)| Reverse(*worth));
    let mut scratch = Scratch::default();
    let mut computed = 0;
    for (_, state) in states {
        if computed == masks || interrupt.check().is_err() {
            break;
        }
        match generation.masks.mask(&generation.engine, state, &mut scratch, &mut Fuel::new(work)) {
            Ok(_) => computed += 1,
            // No token spells a way on from there; no text will come there either.
            Err(StepError::Unspellable { .. } | StepError::NoStopToken) => {}
            Err(_) => break,
        }
    }
    computed
}
