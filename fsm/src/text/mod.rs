//! Regular languages over characters: the algebra that intersections and complements need.
//!
//! Automata over bytes cannot be complemented for text: the complement would hold byte strings that are not
//! UTF-8, and the product of two spellings of one text (a JSON string's escapes) would be empty. So the
//! algebra works on characters, and bytes come last.
//!
//! Characters are numbered without the surrogates, 0 to 0x10F7FF, so that the neighbours U+D7FF and U+E000
//! have neighbouring numbers and a range never has a hole. Arcs carry ranges; there is no alphabet table.

mod acyclic;
mod automaton;
mod counted;
mod dfa;
mod evaluate;
mod letters;
mod lists;
mod minimize;
mod nfa;
mod witness;

pub use automaton::{ClassRun, TextAutomaton};
pub(crate) use dfa::RangeDfa;
pub(crate) use evaluate::{Evaluator, Value};
pub(crate) use letters::Lettered;
pub(crate) use minimize::minimize;
pub(crate) use nfa::Nfa;

use grammask_grammar_ir::Interrupt;

use crate::TextLimits;
use crate::error::Failure;

/// The greatest scalar number.
pub(crate) const MAX_SCALAR: u32 = 0x10_F7FF;

/// A character's number among the characters.
pub(crate) fn scalar(character: char) -> u32 {
    let code = u32::from(character);
    if code < 0xD800 { code } else { code - 0x800 }
}

/// The code point of a scalar number.
pub(crate) fn code_point(scalar: u32) -> u32 {
    if scalar < 0xD800 { scalar } else { scalar + 0x800 }
}

/// The character of a scalar number; numbers past the last character are clamped to it.
pub(crate) fn character(scalar: u32) -> char {
    char::from_u32(code_point(scalar)).unwrap_or(char::MAX)
}

/// Counts work against limits.
pub(crate) struct Meter {
    limits: TextLimits,
    spent: usize,
    /// What was spent on the same grammar before.
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

    /// What was spent on the grammar.
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
        let limit = self.limits.max_total_steps;
        let (what, knob) =
            ("steps of work on the grammar's intersections and complements", "text.max_total_steps");
        if self.total() > limit { Err(Failure::Limit { what, limit, knob: Some(knob) }) } else { Ok(()) }
    }

    pub(crate) fn states(&self, states: usize) -> Result<(), Failure> {
        self.check(states, self.limits.max_states)
    }

    pub(crate) fn nondeterministic_states(&self, states: usize) -> Result<(), Failure> {
        self.check(states, 4 * self.limits.max_states)
    }

    fn check(&self, states: usize, limit: usize) -> Result<(), Failure> {
        let failure = Failure::Limit { what: "states for its text", limit, knob: Some("text.max_states") };
        if states > limit { Err(failure) } else { Ok(()) }
    }
}
