//! Which part of a schema a later stage refused.
//!
//! Automata are made of rules, and whoever makes them knows rules by their names only. Nobody asks for places unless
//! something is refused, so that the schema is compiled once more then, and this time it is written down which schema
//! each rule stands for. Where automata of texts grow too large, each text is tried by itself, to find out which.

use bumpalo::Bump;
use grammask_fsm::TextLimits;
use grammask_fsm::text::TextAutomaton;
use grammask_grammar_ir::{GrammarBuilder, RuleId};

use super::document::NodeId;
use super::inhabited;
use super::json;
use super::keywords::Normalizer;
use super::string_shape::StringShape;
use super::text_tests::TextTests;
use super::{Comparison, Written, lower, with_normalizer};
use crate::json_schema::JsonSchemaOptions;
use crate::{Diagnostic, Diagnostics};

/// What is written down while a schema is compiled for its places.
pub(super) struct Places {
    /// Those of a text by itself, where one of them was too large.
    limits: Option<TextLimits>,
    /// The first rule that was made for a schema, in the order of the rules; those up to the next one are for it too.
    rules: Vec<(RuleId, NodeId)>,
    /// The first schema whose texts pass the limits.
    too_large: Option<NodeId>,
}

impl Places {
    pub(super) fn rule(&mut self, rule: RuleId, node: NodeId) {
        self.rules.push((rule, node));
    }

    /// Tries the texts of a shape, unless some were found already.
    pub(super) fn text<'s>(&mut self, shape: &StringShape<'s>, tests: &TextTests<'s>, node: NodeId) {
        let Some(limits) = self.limits.filter(|_| self.too_large.is_none()) else { return };
        let mut builder = GrammarBuilder::new();
        let result = inhabited::expression_within(&mut builder, shape, tests).and_then(|text| {
            let rule = builder.add_rule("root", text).ok()?;
            let grammar = builder.finish(rule).ok()?;
            Some(TextAutomaton::from_expr(&grammar, grammar.rule(grammar.root()).body(), &limits))
        });
        if result.is_some_and(|result| result.is_err()) {
            self.too_large = Some(node);
        }
    }

    fn of_rule(&self, rule: RuleId) -> Option<NodeId> {
        let until = |limit: RuleId| self.rules.iter().filter(move |(first, _)| *first <= limit);
        until(rule).max_by_key(|(first, _)| *first).map(|&(_, node)| node)
    }
}

/// Keywords that make large automata, those that do so most often first.
const TEXT_KEYWORDS: [&str; 6] =
    ["pattern", "format", "patternProperties", "propertyNames", "maxLength", "minLength"];

/// The limit on all texts of a grammar together, as messages name it.
const SUM_OF_TEXTS: &str = "text.max_total_steps";

/// What a later stage refused of a schema, at the place of it: the schema that the rule was made for. `limits` are
/// those of that stage.
///
/// It takes as long as compiling the schema, and where one text is too large, the time that the limits give each. Where all
/// of them together are, none is tried: thousands that are each within the limits took 16 seconds.
pub fn located(
    schema: &str,
    options: &JsonSchemaOptions,
    rule: Option<&str>,
    limits: &TextLimits,
    (code, message): (&'static str, &str),
) -> Diagnostics {
    let limits = (!message.contains(SUM_OF_TEXTS)).then_some(*limits);
    let place = place(schema, options, rule, limits);
    let Some((pointer, keyword)) = place else {
        return Diagnostic::error(code, message).into();
    };
    let (pointer, message) = match keyword {
        Some(keyword) => (format!("{pointer}/{keyword}"), format!("`{keyword}`: {message}")),
        None => (pointer, message.to_owned()),
    };
    Diagnostic::error(code, message).with_pointer(pointer).with_json_source(schema).into()
}

/// The pointer of the schema in question, and the keyword.
fn place(
    schema: &str,
    options: &JsonSchemaOptions,
    rule: Option<&str>,
    limits: Option<TextLimits>,
) -> Option<(String, Option<&'static str>)> {
    let arena = Bump::new();
    let value = json::parse(schema, &arena).ok()?;
    let options = super::with_limits_of(schema, options);
    let found = with_normalizer(&value, &options, None, |mut normalizer, root| {
        normalizer.places = Some(Places { limits, rules: Vec::new(), too_large: None });
        let (grammar, normalizer) =
            lower::lower(normalizer, root, (Written::Json, Comparison::Possible), &[])?;
        let rule = rule.and_then(|name| grammar.rule_ids().find(|&id| grammar.rule(id).name() == name));
        Ok(found(&normalizer, rule))
    });
    found.ok().flatten()
}

fn found(normalizer: &Normalizer<'_>, rule: Option<RuleId>) -> Option<(String, Option<&'static str>)> {
    let places = normalizer.places.as_ref()?;
    let node = places.too_large.or_else(|| places.of_rule(rule?))?;
    let members = normalizer.document.value(node).as_object();
    let keyword = places
        .too_large
        .and(members)
        .and_then(|members| TEXT_KEYWORDS.into_iter().find(|keyword| members.contains_key(keyword)));
    Some((normalizer.document.pointer(node), keyword))
}
