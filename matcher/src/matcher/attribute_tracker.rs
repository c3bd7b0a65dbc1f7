//! The state of a matcher for grammars whose rules have options: the text, and its derivations.
//!
//! The text is recorded as it is accepted. It is read a second time ([`Derivations`]) only on demand.
//! Captures and temperatures are a demand when the caller asks for them, bounds on tokens once as many tokens
//! were accepted as the least of them. From then on it is read step by step.

use std::sync::Arc;

use grammask_earley::{Derivations, InputUnit, WholeToken};
use grammask_fsm::Program;
use grammask_mask_cache::{TokenId, TokenKind, Vocabulary};
use grammask_parser_backend::{Fuel, SharedVec, StepError};

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
    bytes: SharedVec<u8>,
    /// Each step, with the number of bytes up to its end.
    steps: SharedVec<(TrackedStep, usize)>,
    /// How many steps are tokens that were read.
    tokens: usize,
    /// The steps that were read. Forks share it until one of them reads on, and nearly all of it from then on.
    chart: Option<Arc<Chart>>,
}

/// The derivations of the steps that were read.
#[derive(Clone, Debug)]
struct Chart {
    derivations: Derivations,
    /// For each step that was read: the position after it, and how many tokens began before.
    read: SharedVec<(u32, u32)>,
}

impl AttributeTracker {
    pub(super) fn new(requested: RequestedAttributes) -> Self {
        Self { requested, bytes: SharedVec::default(), steps: SharedVec::default(), tokens: 0, chart: None }
    }

    pub(super) fn record(&mut self, step: TrackedStep, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.bytes.push(byte));
        self.steps.push((step, self.bytes.len()));
        self.tokens += usize::from(matches!(step, TrackedStep::Token(_)));
    }

    /// Forgets all steps but the first.
    pub(super) fn truncate(&mut self, steps: usize) {
        let is_token = |(step, _): &&(TrackedStep, usize)| matches!(step, TrackedStep::Token(_));
        self.tokens -= self.steps.iter_from(steps).filter(is_token).count();
        self.steps.truncate(steps);
        self.bytes.truncate(self.end());
        // The chart is read on demand and may have read less than the text. Only one that is longer than the
        // new text is cut, and only then is a shared one copied.
        if let Some(chart) = self.chart.as_mut().filter(|chart| chart.read.len() > steps) {
            Arc::make_mut(chart).truncate(steps);
        }
    }

    /// The number of bytes.
    fn end(&self) -> usize {
        self.steps.last().map_or(0, |&(_, end)| end)
    }

    /// Whether some bound on tokens may be reached.
    pub(super) fn may_exhaust_bounds(&self) -> bool {
        self.requested.min_token_bound.is_some_and(|least| self.tokens >= least)
    }

    /// Reads all steps that were not read yet, each with the same fuel. Says whether the last step left rules
    /// whose tokens are exhausted.
    pub(super) fn catch_up(
        &mut self,
        program: &Arc<Program>,
        vocabulary: &Vocabulary,
        limits: &Limits,
        fuel: &Fuel,
    ) -> Result<(&Derivations, Exhausted), StepError> {
        let mut chart = match self.chart.take() {
            Some(chart) => chart,
            None => Arc::new(Chart::new(program, limits, &mut fuel.clone())?),
        };
        // The chart is put back before an error is returned: the steps that were read stay read, and a second
        // try begins after them.
        let read = self.read_on(&mut chart, vocabulary, fuel);
        let chart = self.chart.insert(chart);
        Ok((&chart.derivations, read?))
    }

    /// The text.
    pub(super) fn text(&self) -> Vec<u8> {
        self.bytes.iter_from(0).copied().collect()
    }

    fn read_on(
        &self,
        chart: &mut Arc<Chart>,
        vocabulary: &Vocabulary,
        fuel: &Fuel,
    ) -> Result<Exhausted, StepError> {
        let mut exhausted = Exhausted::None;
        let first = chart.read.len();
        if first == self.steps.len() {
            return Ok(exhausted);
        }
        // A fork that shares the chart keeps it as it was.
        let Chart { derivations, read } = Arc::make_mut(chart);
        let mut begin = first.checked_sub(1).map_or(0, |last| self.steps[last].1);
        let mut tokens = read.last().map_or(0, |&(_, tokens)| tokens);
        let mut unread = self.bytes.iter_from(begin);
        for &(step, end) in self.steps.iter_from(first) {
            let bytes: Vec<u8> = unread.by_ref().take(end - begin).copied().collect();
            begin = end;
            tokens += u32::from(matches!(step, TrackedStep::Token(_)));
            let unit = InputUnit { bytes: &bytes, token: whole_token(step, vocabulary), tokens };
            let is_read =
                unit.bytes.is_empty() && unit.token.is_none() || derivations.push(unit, &mut fuel.clone())?;
            // The backend has read it, from the same automata.
            debug_assert!(is_read, "all that was accepted has a reading");
            if !is_read {
                return Err(StepError::OutOfWork { limit: 0 });
            }
            let dropped = self.requested.min_token_bound.is_some() && derivations.spend(tokens);
            // Only the last step counts. The matcher took the drops of earlier steps into its state when it
            // read them.
            exhausted = if dropped { Exhausted::Some } else { Exhausted::None };
            read.push((derivations.position(), tokens));
        }
        Ok(exhausted)
    }
}

impl Chart {
    fn new(program: &Arc<Program>, limits: &Limits, fuel: &mut Fuel) -> Result<Self, StepError> {
        let derivations = Derivations::new(Arc::clone(program), limits.max_table_bytes, fuel)?;
        Ok(Self { derivations, read: SharedVec::default() })
    }

    /// Forgets all steps but the first.
    fn truncate(&mut self, steps: usize) {
        self.read.truncate(steps);
        let (position, _) = self.read.last().copied().unwrap_or((0, 0));
        self.derivations.truncate(position);
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
