//! The matcher: one text on a compiled grammar.

use std::sync::Arc;

use grammask_earley::Engine;
use grammask_grammar_ir::Interrupt;
use grammask_mask_cache::{Scratch, TokenTexts};
use grammask_parser_backend::{Backend, Fuel};

use super::attribute_tracker::AttributeTracker;
use super::history::History;
use super::mask_kind::NamedMask;
use super::stop_tokens::StopTokens;
use crate::base::stats::{LocalCounts, MatcherStats};
use crate::grammar::compiled::CompiledGrammar;
use crate::grammar::generation::Generation;
use crate::unique::scopes::UniqueScopes;

/// Follows one text through a compiled grammar.
///
/// A matcher is a pointer to the grammar, the current state, and the states and tokens before it: cloning one (a
/// *fork*) shares the history, rolling back shortens it. Every call that fails leaves the matcher as it was.
///
/// It holds one generation of the grammar's tables and masks, and 20 bytes or so for each step.
// The fields that every token needs come first, in three cache lines, because other work uses the caches between tokens.
#[repr(C)]
pub struct Matcher<B: Backend = Engine> {
    pub(super) state: B::State,
    /// The tables that the state belongs to, and all states of the history that are known.
    pub(super) generation: Arc<Generation<B>>,
    /// The grammar's, here to save two reads on every token.
    pub(super) texts: TokenTexts,
    /// The tokens and texts that were read, step by step.
    pub(super) history: History<B::State>,
    /// The text, where rules have options.
    pub(super) tracker: Option<Box<AttributeTracker>>,
    /// The values that have occurred, where items or names must differ.
    pub(super) scopes: Option<Box<UniqueScopes>>,
    pub(super) stop: StopTokens,
    /// Whether a stop token was accepted last.
    pub(super) terminated: bool,
    pub(super) counts: LocalCounts,
    /// The mask that was filled last. Its tables are the current ones.
    pub(super) last_mask: Option<NamedMask>,
    pub(super) grammar: CompiledGrammar<B>,
    /// The interrupt that stops a long call.
    pub(super) interrupt: Interrupt,
    /// The units of work that are left to the call, where it reads a text of many steps again.
    pub(super) work_left: Option<u64>,
    pub(super) scratch: Scratch,
}

impl<B: Backend> Clone for Matcher<B> {
    fn clone(&self) -> Self {
        Self {
            grammar: self.grammar.clone(),
            texts: self.texts.clone(),
            state: self.state,
            generation: Arc::clone(&self.generation),
            history: self.history.clone(),
            terminated: self.terminated,
            stop: self.stop.clone(),
            // The fork has filled none.
            last_mask: None,
            interrupt: self.interrupt.clone(),
            work_left: None,
            scratch: Scratch::default(),
            counts: self.counts.clone(),
            tracker: self.tracker.clone(),
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

impl<B: Backend> CompiledGrammar<B> {
    /// A matcher at the beginning of a text.
    pub fn matcher(&self) -> Matcher<B> {
        Matcher::new(self.clone())
    }
}

impl<B: Backend> Matcher<B> {
    fn new(grammar: CompiledGrammar<B>) -> Self {
        let generation = grammar.generation();
        grammar.mark_used();
        Self {
            counts: LocalCounts::new(Arc::clone(grammar.counters())),
            tracker: grammar.requested_attributes().map(|asked| Box::new(AttributeTracker::new(asked))),
            scopes: grammar
                .has_distinct_rules()
                .then(|| Box::new(UniqueScopes::new(grammar.limits().max_distinct_bytes))),
            texts: grammar.vocabulary().token_texts().clone(),
            grammar,
            state: generation.engine.start(),
            generation,
            history: History::default(),
            terminated: false,
            stop: StopTokens::default(),
            last_mask: None,
            interrupt: Interrupt::never(),
            work_left: None,
            scratch: Scratch::default(),
        }
    }

    /// Chooses the tokens that end the text, for this matcher and its forks, before its first token: a text that is
    /// read again is read under them. Ids that the vocabulary does not have are left out. Default: the vocabulary's
    /// stop tokens.
    #[must_use]
    pub fn with_stop_tokens(mut self, stop: StopTokens) -> Self {
        self.stop = stop.known_to(self.grammar.vocabulary());
        self.last_mask = None;
        self
    }

    /// The tokens that end the text.
    pub fn stop_tokens(&self) -> &StopTokens {
        &self.stop
    }

    /// Sets the interrupt of calls that work for long, for this matcher and its forks: when it comes, the
    /// call fails with [`MatchError::Interrupted`](crate::MatchError::Interrupted) and leaves the matcher as
    /// it was. Calls that find everything in the tables take less time than the question does, and succeed.
    /// Default: none.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// The grammar that is followed.
    pub fn grammar(&self) -> &CompiledGrammar<B> {
        &self.grammar
    }

    /// The numbers of this matcher since it was made or [reset](Self::reset).
    pub fn stats(&self) -> MatcherStats {
        self.counts.all()
    }

    /// Number of steps taken: tokens accepted, and calls of [`accept_bytes`](Self::accept_bytes).
    pub fn steps(&self) -> usize {
        self.history.len()
    }

    /// Whether the text so far is whole: a stop token may follow.
    pub fn is_completed(&self) -> bool {
        self.generation().engine.is_complete(self.state())
    }

    /// Whether a stop token was accepted.
    pub fn is_terminated(&self) -> bool {
        self.terminated
    }

    /// A matcher at the same place, independent from here on. It takes the same time however long the text is.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// Goes back to the beginning, to the newest tables.
    pub fn reset(&mut self) {
        let scratch = std::mem::take(&mut self.scratch);
        let (stop, interrupt) = (self.stop.clone(), self.interrupt.clone());
        *self = Self { scratch, stop, interrupt, ..Self::new(self.grammar.clone()) };
    }

    /// The work that one call may do.
    pub(super) fn fuel(&self) -> Fuel {
        let units = self.work_left.unwrap_or(self.grammar.limits().max_work_per_call);
        if self.interrupt == Interrupt::never() {
            return Fuel::new(units);
        }
        let interrupt = self.interrupt.clone();
        Fuel::stopped_by(units, Arc::new(move || interrupt.check().is_err()))
    }

    pub(super) fn state(&self) -> B::State {
        self.state
    }

    /// The tables in use, and the current state in them.
    pub(crate) fn tables_and_state(&self) -> (Arc<Generation<B>>, B::State) {
        (Arc::clone(self.generation()), self.state())
    }

    pub(super) fn generation(&self) -> &Arc<Generation<B>> {
        &self.generation
    }
}
