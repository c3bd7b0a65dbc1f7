//! The meter that counts work on automata over text against limits.

use grammask_grammar_ir::Interrupt;

use crate::error::{AutomataError, Failure};
use crate::options::TextLimits;

/// Counts work against limits.
pub(crate) struct Meter {
    limits: TextLimits,
    spent: usize,
    /// Work that was spent on the same grammar before.
    before: usize,
    interrupt: Interrupt,
}

/// Steps of work between two looks at the interrupt, some 0.1 ms.
const STEPS_BETWEEN_CHECKS: usize = 1 << 13;

impl Meter {
    pub(crate) fn new(limits: TextLimits) -> Self {
        // Numbers of states stay well inside 32 bits.
        let max_states = limits.max_states.min(1 << 28);
        Self {
            limits: TextLimits { max_states, ..limits },
            spent: 0,
            before: 0,
            interrupt: Interrupt::never(),
        }
    }

    /// A meter for another text of a grammar on which work was spent.
    pub(crate) fn after(before: usize, limits: TextLimits, interrupt: &Interrupt) -> Self {
        Self { before, interrupt: interrupt.clone(), ..Self::new(limits) }
    }

    /// All work that was spent on the grammar.
    pub(crate) fn total(&self) -> usize {
        self.before.saturating_add(self.spent)
    }

    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), Failure> {
        let checks = self.spent / STEPS_BETWEEN_CHECKS;
        self.spent = self.spent.saturating_add(steps);
        if self.spent / STEPS_BETWEEN_CHECKS != checks {
            self.interrupt.check()?;
        }
        let limit = self.limits.max_steps;
        let failure =
            Failure::Limit { what: "steps of work on its text", limit, knob: Some("text.max_steps") };
        if self.spent > limit {
            return Err(failure);
        }
        check_total(self.total(), &self.limits)
    }

    pub(crate) fn states(&self, states: usize) -> Result<(), Failure> {
        self.check(states, self.limits.max_states)
    }

    /// States of a product with a bound on the length, which grows with the bound and not faster.
    pub(crate) fn counted_states(&self, states: usize) -> Result<(), Failure> {
        self.check(states, 8 * self.limits.max_states)
    }

    pub(crate) fn nondeterministic_states(&self, states: usize) -> Result<(), Failure> {
        self.check(states, 4 * self.limits.max_states)
    }

    fn check(&self, states: usize, limit: usize) -> Result<(), Failure> {
        let failure = Failure::Limit { what: "states for its text", limit, knob: Some("text.max_states") };
        if states > limit { Err(failure) } else { Ok(()) }
    }
}

fn check_total(steps: usize, limits: &TextLimits) -> Result<(), Failure> {
    let (what, knob) =
        ("steps of work on the grammar's intersections and complements", "text.max_total_steps");
    let limit = limits.max_total_steps;
    if steps > limit { Err(Failure::Limit { what, limit, knob: Some(knob) }) } else { Ok(()) }
}

impl TextLimits {
    /// Whether programs that together took so many [steps](crate::BuildCost::text_steps) are within the limit on all
    /// of a grammar.
    ///
    /// # Errors
    ///
    /// As one grammar that takes so many.
    pub fn check_total(&self, steps: usize) -> Result<(), AutomataError> {
        check_total(steps, self).map_err(Failure::alone)
    }
}
