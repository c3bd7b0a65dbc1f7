//! What a matcher keeps for grammars whose rules have options: the text, and its derivations.
//!
//! The text is written down as it is accepted. It is read a second time ([`Derivations`]) only when there is something to
//! find out: captures and temperatures when somebody asks, bounds on tokens once as many tokens were accepted as the
//! least of them. From then on it is read step by step.

use std::sync::Arc;

use grammask_earley::{Captured, Derivations, InputUnit, WholeToken};
use grammask_fsm::Program;
use grammask_mask_cache::{TokenId, TokenKind, Vocabulary};
use grammask_parser_backend::{Backend, Configuration, Fuel, StepError};

use super::Matcher;
use crate::{Limits, MatchError};

/// A part of the text that a rule has read, under the name that the rule's option `capture` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The name.
    pub name: String,
    /// The bytes; those that the grammar hides (a stop string) are left out, and tokens without bytes have none.
    pub bytes: Vec<u8>,
    /// Their place in all that was accepted, in bytes.
    pub range: std::ops::Range<usize>,
}

/// Which captures are told of a rule that was read from one place in several ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureEnds {
    /// The longest.
    #[default]
    Longest,
    /// All.
    All,
}

/// What the rules of a grammar ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestedAttributes {
    /// The least bound on tokens; `None` where no rule has one.
    least_tokens: Option<usize>,
    /// Whether some rule has a temperature.
    temperatures: bool,
}

impl RequestedAttributes {
    /// What a program's rules ask for, if anything.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        // What differs is kept apart elsewhere.
        let is_followed = |options: &grammask_fsm::Options| {
            let has_name = options.capture.is_some() || options.end_capture.is_some();
            options.max_tokens > 0 || has_name || options.temperature.is_some()
        };
        if !program.has_options(is_followed) {
            return None;
        }
        let temperatures = program.has_options(|options| options.temperature.is_some());
        let options = program.fragments().filter_map(|fragment| fragment.options.as_deref());
        let bounds = options.map(|options| options.max_tokens as usize).filter(|&most| most > 0);
        Some(Self { least_tokens: bounds.min(), temperatures })
    }
}

/// A step of the text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A token that was read.
    Token(TokenId),
    /// Bytes that need not be tokens.
    Bytes,
    /// A token that ended the text.
    Stop,
}

/// The text, and its derivations so far.
#[derive(Clone, Debug)]
pub(super) struct Following {
    asked: RequestedAttributes,
    bytes: Vec<u8>,
    /// Each step, with the number of bytes up to its end.
    steps: Vec<(Step, usize)>,
    /// How many steps are tokens that were read.
    tokens: usize,
    derivations: Option<Derivations>,
    /// For each step that was read: the position after it, and how many tokens began before.
    read: Vec<(u32, usize)>,
    /// Where tokens began.
    starts: Vec<u32>,
}

impl Following {
    pub(super) fn new(asked: RequestedAttributes) -> Self {
        Self {
            asked,
            bytes: Vec::new(),
            steps: Vec::new(),
            tokens: 0,
            derivations: None,
            read: Vec::new(),
            starts: Vec::new(),
        }
    }

    fn record(&mut self, step: Step, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.steps.push((step, self.bytes.len()));
        self.tokens += usize::from(matches!(step, Step::Token(_)));
    }

    /// Forgets all steps but the first.
    pub(super) fn truncate(&mut self, steps: usize) {
        for (step, _) in self.steps.drain(steps.min(self.steps.len())..) {
            self.tokens -= usize::from(matches!(step, Step::Token(_)));
        }
        self.bytes.truncate(self.steps.last().map_or(0, |&(_, end)| end));
        if self.read.len() > steps {
            self.read.truncate(steps);
            let (position, tokens) = self.read.last().copied().unwrap_or((0, 0));
            self.starts.truncate(tokens);
            if let Some(derivations) = &mut self.derivations {
                derivations.truncate(position);
            }
        }
    }

    /// Whether some bound on tokens may be reached.
    fn may_be_spent(&self) -> bool {
        self.asked.least_tokens.is_some_and(|least| self.tokens >= least)
    }

    /// Reads what was not read yet. Says whether the last step left rules whose tokens are spent.
    fn catch_up(
        &mut self,
        program: &Arc<Program>,
        vocabulary: &Vocabulary,
        limits: &Limits,
    ) -> Result<(&Derivations, &[u8], Spent), StepError> {
        let fuel = || Fuel::new(limits.max_work_per_call);
        if self.derivations.is_none() {
            self.derivations =
                Some(Derivations::new(Arc::clone(program), limits.max_table_bytes, &mut fuel())?);
        }
        let Some(derivations) = &mut self.derivations else { return Err(StepError::OutOfWork { limit: 0 }) };
        let mut spent = Spent::None;
        while let Some(&(step, end)) = self.steps.get(self.read.len()) {
            let begin = self.read.len().checked_sub(1).map_or(0, |before| self.steps[before].1);
            let bytes = &self.bytes[begin..end];
            let start = derivations.position();
            let unit = InputUnit { bytes, token: whole_token(step, vocabulary) };
            let is_read =
                unit.bytes.is_empty() && unit.token.is_none() || derivations.push(unit, &mut fuel())?;
            // The backend has read it, from the same automata.
            debug_assert!(is_read, "all that was accepted has a reading");
            if !is_read {
                return Err(StepError::OutOfWork { limit: 0 });
            }
            if let Step::Token(_) = step {
                self.starts.push(start);
            }
            let dropped = self.asked.least_tokens.is_some() && derivations.spend(&self.starts);
            spent = if dropped { Spent::Some } else { Spent::None };
            self.read.push((derivations.position(), self.starts.len()));
        }
        Ok((derivations, &self.bytes, spent))
    }
}

/// Whether rules have ended because their tokens are spent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spent {
    None,
    Some,
}

/// The token of a step, as far as a grammar may read it as a whole.
fn whole_token(step: Step, vocabulary: &Vocabulary) -> Option<WholeToken> {
    let Step::Token(id) = step else { return None };
    match vocabulary.kind(id) {
        TokenKind::Empty => None,
        TokenKind::Stop => Some(WholeToken::Listed(id.get())),
        TokenKind::Text | TokenKind::Special => Some(WholeToken::Any(id.get())),
    }
}

impl<B: Backend> Matcher<B> {
    /// The parts of the text that rules with the option `capture` have read, by where they end, inner ones first.
    ///
    /// A rule counts where it has ended in some reading of the text so far that can go on, or in which the text is whole.
    /// So what is told may still change while the text goes on: of `[0-9]+`, `12` is told before it is `123`. Rules that
    /// are open are not told.
    ///
    /// The text is read once more for this, in time that grows with the text (a fraction of a millisecond for a KB); what
    /// was read then is kept for the next call.
    ///
    /// # Errors
    ///
    /// Where a limit is reached: [`Limits::max_work_per_call`] for a step, or [`Limits::max_table_bytes`] for the derivations.
    pub fn captures(&mut self, ends: CaptureEnds) -> Result<Vec<Capture>, MatchError> {
        let (Some(program), Some(following)) = (self.grammar.program(), self.following.as_deref_mut()) else {
            return Ok(Vec::new());
        };
        let limits = self.grammar.limits();
        let (derivations, text, _) = following.catch_up(program, self.grammar.vocabulary(), limits)?;
        let ends = match ends {
            CaptureEnds::Longest => grammask_earley::CaptureEnds::Longest,
            CaptureEnds::All => grammask_earley::CaptureEnds::All,
        };
        let found = derivations.captures(ends, &mut Fuel::new(limits.max_work_per_call))?;
        let captured = found.into_iter().map(|Captured { name, start, end }| Capture {
            name: name.into(),
            bytes: text[start..end].to_vec(),
            range: start..end,
        });
        Ok(captured.collect())
    }

    /// The temperature to sample the next token with: that of the innermost rule around it with the option `temperature`.
    /// Where the text can go on in several ways, the greatest. `None` where no rule around it has one.
    ///
    /// # Errors
    ///
    /// As for [`captures`](Self::captures).
    pub fn temperature(&mut self) -> Result<Option<f32>, MatchError> {
        let (Some(program), Some(following)) = (self.grammar.program(), self.following.as_deref_mut()) else {
            return Ok(None);
        };
        if !following.asked.temperatures {
            return Ok(None);
        }
        let (derivations, ..) =
            following.catch_up(program, self.grammar.vocabulary(), self.grammar.limits())?;
        Ok(derivations.temperature())
    }

    /// Whether some rule has a temperature.
    pub(super) fn has_temperatures(&self) -> bool {
        self.following.as_deref().is_some_and(|following| following.asked.temperatures)
    }

    /// Writes down a step whose state was pushed, and drops the ways on in rules whose tokens are spent. Where that
    /// fails the step is taken back.
    pub(super) fn follow(&mut self, step: Step, bytes: &[u8]) -> Result<(), MatchError> {
        let Some(following) = self.following.as_deref_mut() else { return Ok(()) };
        following.record(step, bytes);
        if !following.may_be_spent() {
            return Ok(());
        }
        let kept = self.drop_spent();
        if kept.is_err() {
            self.states.pop();
            let steps = self.steps();
            if let Some(scopes) = self.scopes.as_deref_mut() {
                scopes.truncate(steps);
            }
            if let Some(following) = self.following.as_deref_mut() {
                following.truncate(steps);
            }
            self.leave_unused();
        }
        kept
    }

    #[cold]
    fn drop_spent(&mut self) -> Result<(), MatchError> {
        let (Some(program), Some(following)) = (self.grammar.program(), self.following.as_deref_mut()) else {
            return Ok(());
        };
        let (vocabulary, limits) = (self.grammar.vocabulary(), self.grammar.limits());
        let (derivations, _, spent) = following.catch_up(program, vocabulary, limits)?;
        if spent == Spent::None {
            return Ok(());
        }
        let configuration = derivations.configuration();
        let state =
            self.with_tables(|generation, _, _, fuel| assemble(&generation.engine, &configuration, fuel))?;
        let last = self.states.len() - 1;
        self.states[last] = state;
        Ok(())
    }
}

/// The state of a configuration, which every backend that serves bounds on tokens has.
fn assemble<B: Backend>(
    engine: &B,
    configuration: &Configuration,
    fuel: &mut Fuel,
) -> Result<B::State, StepError> {
    engine.assemble(configuration, fuel)?.ok_or(StepError::OutOfWork { limit: 0 })
}
