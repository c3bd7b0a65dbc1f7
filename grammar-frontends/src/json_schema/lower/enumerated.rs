//! Finite sets of strings and names, which are listed one by one.
//!
//! `^x[0-9]$` leaves ten names. Declared as such they cannot repeat, and each counts as a member of its own.

use std::borrow::Cow;

use grammask_fsm::TextLimits;
use grammask_fsm::text::TextAutomaton;
use grammask_grammar_ir::{ExprId, GrammarBuilder};

use super::containers::MemberText;
use super::lowering::SchemaLowering;
use super::value_counts::undeclared;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::options::FreeNames;
use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::inhabited;
use crate::json_schema::sets::object_shape::{ObjectShape, Presence};
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::text_tests::Lengths;

/// Names that are listed.
const MAX_NAMES: usize = 256;

/// Steps spent on the automaton of one language, some 10 ns each.
const MAX_STEPS: usize = 500_000;

impl<'s> SchemaLowering<'s> {
    /// The strings of a shape, if there are at most `most`.
    pub(super) fn enumerated(&self, shape: &StringShape<'s>, most: usize) -> Option<Vec<Cow<'s, str>>> {
        if let Some(values) = &shape.values {
            return (values.len() <= most)
                .then(|| values.iter().map(|&value| Cow::Borrowed(value)).collect());
        }
        let shape = shape.with_plain_languages(&self.normalizer.algebra.tests);
        // Without a test one character alone leaves more strings than anybody lists, and so do formats.
        if shape.tests.is_empty() && shape.max.is_none_or(|max| max >= shape.min.max(1))
            || shape.is_format(&self.normalizer.algebra.tests)
        {
            return None;
        }
        let texts = self.text_automaton(&shape, Lengths::Multiplied)?.texts(most)?;
        Some(texts.into_iter().map(Cow::Owned).collect())
    }

    /// The strings of a shape as an automaton, where that takes few steps.
    pub(super) fn text_automaton(&self, shape: &StringShape<'s>, lengths: Lengths) -> Option<TextAutomaton> {
        let mut builder = GrammarBuilder::new();
        let texts =
            inhabited::expression_within(&mut builder, shape, &self.normalizer.algebra.tests, lengths)?;
        self.texts_of(builder, texts)
    }

    /// The texts of an expression without rules; `None` where it takes too much work.
    pub(super) fn texts_of(&self, mut builder: GrammarBuilder, texts: ExprId) -> Option<TextAutomaton> {
        let work = &self.normalizer.algebra.work;
        let rule = builder.add_rule("root", texts).ok()?;
        let grammar = builder.finish(rule).ok()?;
        let body = grammar.rule(grammar.root()).body();
        let limits = TextLimits::default().max_steps(MAX_STEPS);
        work.charge(grammar.expr_count());
        if work.is_spent() {
            return None;
        }
        let (texts, steps) = TextAutomaton::from_expr_counted(&grammar, body, &limits);
        work.charge(steps);
        texts.ok()
    }

    /// Adds the free names of finite sets to the members, where names must be distinguished, and takes them out of the
    /// shape.
    pub(super) fn enumerate_free_names(
        &mut self,
        shape: &mut Cow<'_, ObjectShape<'s>>,
        members: &mut Vec<MemberText>,
        node: NodeId,
    ) -> Result<()> {
        let is_unique = self.normalizer.options.free_names == FreeNames::Unique;
        // Obligations ask for free names.
        if !shape.obligations.is_empty() || !is_unique && shape.min <= shape.required() + 1 {
            return Ok(());
        }
        let mut kept = Vec::with_capacity(shape.cells.len());
        for cell in std::mem::take(&mut shape.to_mut().cells) {
            if cell.value == GoalId::NEVER {
                kept.push(cell);
                continue;
            }
            let names = undeclared(shape, cell.tests.clone(), &[]);
            let Some(names) = self.enumerated(&names, MAX_NAMES) else {
                kept.push(cell);
                continue;
            };
            let Some(value) = self.value(cell.value)? else { continue };
            for name in names {
                let name = self.declared_name(&name, node)?;
                let text = self.builder.sequence([name, self.punctuation.colon, value]);
                members.push(MemberText { text, presence: Presence::Optional });
            }
        }
        shape.to_mut().cells = kept;
        Ok(())
    }

    /// Whether two members of an object may have the same free name.
    pub(super) fn may_repeat_names(&self, shape: &ObjectShape<'s>) -> bool {
        shape.max.is_none_or(|max| max.saturating_sub(shape.required()) > 1)
    }
}
