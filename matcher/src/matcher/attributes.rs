//! Captures, temperatures and bounds on tokens: the options of rules for a text.

use grammask_earley::{CaptureEnds, Captured};
use grammask_parser_backend::{Backend, Configuration, Configurations, Fuel, StepError};

use super::attribute_tracker::{Exhausted, TrackedStep};
use super::matcher::Matcher;
use crate::base::error::MatchError;

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

impl<B: Backend> Matcher<B> {
    /// The parts of the text that rules with the option `capture` have read, by where they end, inner ones first.
    ///
    /// A rule counts if it has ended in some reading of the text so far that can continue, or in which the
    /// text is whole. So the answer may still change while the text continues: of `[0-9]+`, `12` is returned
    /// before it is `123`. Rules that are open are not returned. After a stop token the text is whole.
    ///
    /// The text is read once more for this, in time that grows with the text (a fraction of a millisecond for
    /// a KB). This work is kept for the next call.
    ///
    /// # Errors
    ///
    /// Where a limit is reached: [`max_work_per_call`](crate::Limits::max_work_per_call) for a step, or
    /// [`max_table_bytes`](crate::Limits::max_table_bytes) for the derivations, and for all captures together.
    pub fn captures(&mut self, ends: CaptureEnds) -> Result<Vec<Capture>, MatchError> {
        let fuel = self.fuel();
        let has_ended = self.terminated;
        let (Some(program), Some(tracker)) = (self.grammar.program(), self.tracker.as_deref_mut()) else {
            return Ok(Vec::new());
        };
        let limits = self.grammar.limits();
        let text = tracker.text();
        let (derivations, _) = tracker.catch_up(program, self.grammar.vocabulary(), limits, &fuel)?;
        let found = derivations.captures(ends, has_ended, &mut fuel.clone())?;
        // Captures may lie one inside the other, so that all together are as long as the square of the text.
        let one =
            |captured: &Captured| size_of::<Capture>() + captured.name.len() + captured.end - captured.start;
        let (bytes, limit) = (found.iter().map(one).sum::<usize>(), limits.max_table_bytes);
        if bytes > limit {
            return Err(StepError::OutOfMemory { bytes, limit }.into());
        }
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
        let fuel = self.fuel();
        let (Some(program), Some(tracker)) = (self.grammar.program(), self.tracker.as_deref_mut()) else {
            return Ok(None);
        };
        if !tracker.requested.has_temperature {
            return Ok(None);
        }
        let (derivations, _) =
            tracker.catch_up(program, self.grammar.vocabulary(), self.grammar.limits(), &fuel)?;
        Ok(derivations.temperature())
    }

    /// Whether some rule has a temperature.
    pub(super) fn has_temperatures(&self) -> bool {
        self.tracker.as_deref().is_some_and(|tracker| tracker.requested.has_temperature)
    }

    /// Records a step that leads to a state, and drops the readings in rules whose tokens are exhausted.
    /// Returns the state after that; if it fails, nothing of the step is left.
    pub(super) fn track(
        &mut self,
        step: TrackedStep,
        bytes: &[u8],
        next: B::State,
    ) -> Result<B::State, MatchError> {
        let Some(tracker) = self.tracker.as_deref_mut() else { return Ok(next) };
        tracker.record(step, bytes);
        if !tracker.may_exhaust_bounds() {
            return Ok(next);
        }
        // A state of the backend does not count tokens. Where a bound is used up, the derivations say which
        // readings are left, and the backend makes the state of those.
        let kept = self.drop_exhausted();
        if kept.is_err() {
            // The step is not yet in the history, so its length is that of the text before.
            let steps = self.steps();
            if let Some(scopes) = self.scopes.as_deref_mut() {
                scopes.truncate(steps);
            }
            if let Some(tracker) = self.tracker.as_deref_mut() {
                tracker.truncate(steps);
            }
        }
        kept.map(|dropped| dropped.unwrap_or(next))
    }

    /// The state without the rules whose tokens are exhausted, if there are any.
    #[cold]
    fn drop_exhausted(&mut self) -> Result<Option<B::State>, MatchError> {
        let fuel = self.fuel();
        let (Some(program), Some(tracker)) = (self.grammar.program(), self.tracker.as_deref_mut()) else {
            return Ok(None);
        };
        let (vocabulary, limits) = (self.grammar.vocabulary(), self.grammar.limits());
        let (derivations, exhausted) = tracker.catch_up(program, vocabulary, limits, &fuel)?;
        if exhausted == Exhausted::None {
            return Ok(None);
        }
        let configuration = derivations.configuration();
        self.with_tables(|generation, _, _, fuel| assemble(&generation.engine, &configuration, fuel))
            .map(Some)
    }
}

/// The state of a configuration, which every backend that serves bounds on tokens has.
fn assemble<B: Backend>(
    engine: &B,
    configuration: &Configuration,
    fuel: &mut Fuel,
) -> Result<B::State, StepError> {
    let assembled = match engine.configurations() {
        Some(configurations) => configurations.assemble(configuration, fuel)?,
        None => None,
    };
    assembled.ok_or(StepError::OutOfWork { limit: 0 })
}
