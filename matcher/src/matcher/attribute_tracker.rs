//! The state of a matcher for grammars whose rules have options: the text, and its derivations.
//!
//! The text is written down as it is accepted. It is read a second time ([`Derivations`]) only when there is something to
//! find out: captures and temperatures when somebody asks, bounds on tokens once as many tokens were accepted as the
//! least of them. From then on it is read step by step.

use std::sync::Arc;

use grammask_earley::{Derivations, InputUnit, WholeToken};
use grammask_fsm::Program;
use grammask_mask_cache::{TokenId, TokenKind, Vocabulary};
use grammask_parser_backend::{Fuel, StepError};

use crate::base::limits::Limits;
use crate::grammar::requested_attributes::RequestedAttributes;

/// A step of the text.
#[derive(Clone, Copy, Debug)]
pub(super) enum TrackedStep {
    /// A token that was read.
    Token(TokenId),
    /// Bytes that need not be tokens.
    Bytes,
    /// A token that ended the text.
    Stop,
}

/// The text, and its derivations so far.
#[derive(Clone, Debug)]
pub(super) struct AttributeTracker {
    pub(super) requested: RequestedAttributes,
    bytes: Vec<u8>,
    /// Each step, with the number of bytes up to its end.
    steps: Vec<(TrackedStep, usize)>,
    /// How many steps are tokens that were read.
    tokens: usize,
    derivations: Option<Derivations>,
    /// For each step that was read: the position after it, and how many tokens began before.
    read: Vec<(u32, usize)>,
    /// Where tokens began.
    starts: Vec<u32>,
}

impl AttributeTracker {
    pub(super) fn new(requested: RequestedAttributes) -> Self {
        Self {
            requested,
            bytes: Vec::new(),
            steps: Vec::new(),
            tokens: 0,
            derivations: None,
            read: Vec::new(),
            starts: Vec::new(),
        }
    }

    pub(super) fn record(&mut self, step: TrackedStep, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.steps.push((step, self.bytes.len()));
        self.tokens += usize::from(matches!(step, TrackedStep::Token(_)));
    }

    /// Forgets all steps but the first.
    pub(super) fn truncate(&mut self, steps: usize) {
        for (step, _) in self.steps.drain(steps.min(self.steps.len())..) {
            self.tokens -= usize::from(matches!(step, TrackedStep::Token(_)));
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
    pub(super) fn may_exhaust_bounds(&self) -> bool {
        self.requested.min_token_bound.is_some_and(|least| self.tokens >= least)
    }

    /// Reads what was not read yet. Says whether the last step left rules whose tokens are exhausted.
    pub(super) fn catch_up(
        &mut self,
        program: &Arc<Program>,
        vocabulary: &Vocabulary,
        limits: &Limits,
    ) -> Result<(&Derivations, &[u8], Exhausted), StepError> {
        let fuel = || Fuel::new(limits.max_work_per_call);
        if self.derivations.is_none() {
            self.derivations =
                Some(Derivations::new(Arc::clone(program), limits.max_table_bytes, &mut fuel())?);
        }
        let Some(derivations) = &mut self.derivations else { return Err(StepError::OutOfWork { limit: 0 }) };
        let mut exhausted = Exhausted::None;
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
            if let TrackedStep::Token(_) = step {
                self.starts.push(start);
            }
            let dropped = self.requested.min_token_bound.is_some() && derivations.spend(&self.starts);
            exhausted = if dropped { Exhausted::Some } else { Exhausted::None };
            self.read.push((derivations.position(), self.starts.len()));
        }
        Ok((derivations, &self.bytes, exhausted))
    }
}

/// Whether rules have ended because their tokens are exhausted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Exhausted {
    None,
    Some,
}

/// The token of a step, as far as a grammar may read it as a whole.
fn whole_token(step: TrackedStep, vocabulary: &Vocabulary) -> Option<WholeToken> {
    let TrackedStep::Token(id) = step else { return None };
    match vocabulary.kind(id) {
        TokenKind::Empty => None,
        TokenKind::Stop => Some(WholeToken::Listed(id.get())),
        TokenKind::Text | TokenKind::Special => Some(WholeToken::Any(id.get())),
    }
}
