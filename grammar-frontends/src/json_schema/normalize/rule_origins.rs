//! Which schema each rule was made for.

use grammask_fsm::TextLimits;
use grammask_fsm::text::TextAutomaton;
use grammask_grammar_ir::{GrammarBuilder, RuleId};

use crate::json_schema::document::ids::NodeId;
use crate::json_schema::sets::inhabited;
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::text_tests::{Lengths, TextTests};

/// The part of the steps of all texts together that is spent on texts that are small enough.
const PART_OF_STEPS: usize = 16;

/// The part of the steps of one text that shows it to be too large: a refusal may not take twice as long as what is
/// refused.
const PART_OF_ONE: usize = 4;

/// The schema of each rule, recorded while a schema is compiled to locate a refusal.
pub(crate) struct RuleOrigins {
    /// Those of a text by itself.
    limits: TextLimits,
    /// Steps that may still be spent on texts that are not.
    steps_left: usize,
    /// The first rule that was made for a schema, in the order of the rules; those up to the next one are for it too.
    rules: Vec<(RuleId, NodeId)>,
    /// The first schema whose texts pass the limits.
    too_large: Option<NodeId>,
}

impl RuleOrigins {
    pub(crate) fn new(limits: TextLimits) -> Self {
        let steps_left = limits.max_total_steps / PART_OF_STEPS;
        let limits = limits.max_steps(limits.max_steps / PART_OF_ONE);
        Self { limits, steps_left, rules: Vec::new(), too_large: None }
    }

    pub(crate) fn too_large(&self) -> Option<NodeId> {
        self.too_large
    }

    pub(crate) fn rule(&mut self, rule: RuleId, node: NodeId) {
        self.rules.push((rule, node));
    }

    /// Tries the texts of a shape, unless some were found already, or many tried.
    pub(crate) fn text<'s>(&mut self, shape: &StringShape<'s>, tests: &TextTests<'s>, node: NodeId) {
        if self.too_large.is_some() || self.steps_left == 0 {
            return;
        }
        let mut builder = GrammarBuilder::new();
        let result =
            inhabited::expression_within(&mut builder, shape, tests, Lengths::Multiplied).and_then(|text| {
                let rule = builder.add_rule("root", text).ok()?;
                let grammar = builder.finish(rule).ok()?;
                let body = grammar.rule(grammar.root()).body();
                Some(TextAutomaton::from_expr_counted(&grammar, body, &self.limits))
            });
        match result {
            Some((Err(_), _)) => self.too_large = Some(node),
            Some((Ok(_), steps)) => self.steps_left = self.steps_left.saturating_sub(steps),
            None => {}
        }
    }

    pub(crate) fn of_rule(&self, rule: RuleId) -> Option<NodeId> {
        let until = |limit: RuleId| self.rules.iter().filter(move |(first, _)| *first <= limit);
        until(rule).max_by_key(|(first, _)| *first).map(|&(_, node)| node)
    }
}
