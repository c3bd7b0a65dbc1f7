//! Which part of a schema a later stage refused.
//!
//! Automata are made of rules, and the compiler of automata knows rules by their names only. Places are needed only
//! after a refusal. So the schema is compiled once more then, and this time with a record of the schema that each rule
//! was made for. Where automata of texts grow too large, each text is tried by itself, to find out which.

use bumpalo::Bump;
use grammask_fsm::TextLimits;
use grammask_grammar_ir::RuleId;

use super::compile::{with_limits_of, with_normalizer};
use super::document::json;
use super::lower::lowering;
use super::normalize::normalizer::Normalizer;
use super::normalize::rule_origins::RuleOrigins;
use super::options::JsonSchemaOptions;
use super::report::Report;
use super::value_syntax::{ItemComparison, ValueSyntax};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Keywords that make large automata, those that do so most often first.
const TEXT_KEYWORDS: [&str; 6] =
    ["pattern", "format", "patternProperties", "propertyNames", "maxLength", "minLength"];

/// The limit on all texts of a grammar together, as messages name it.
const SUM_OF_TEXTS: &str = "text.max_total_steps";

/// A refusal of a later stage, at the place that it concerns: the schema that the rule was made for. `limits` are
/// those of that stage.
///
/// It takes as long as compiling the schema, and where one text is too large, the time that the limits give each.
/// Where all of them together are, none is tried: thousands that are each within the limits took 16 seconds.
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
    let options = with_limits_of(schema, options);
    let found = with_normalizer(&value, &options, Report::of_warnings(), |mut normalizer, root| {
        normalizer.rule_origins = Some(RuleOrigins::new(limits));
        let (grammar, normalizer) =
            lowering::lower(normalizer, root, (ValueSyntax::Json, ItemComparison::Possible), &[])?;
        let rule = rule.and_then(|name| grammar.rule_ids().find(|&id| grammar.rule(id).name() == name));
        Ok(found(&normalizer, rule))
    });
    found.ok().flatten()
}

fn found(normalizer: &Normalizer<'_>, rule: Option<RuleId>) -> Option<(String, Option<&'static str>)> {
    let places = normalizer.rule_origins.as_ref()?;
    let node = places.too_large().or_else(|| places.of_rule(rule?))?;
    let members = normalizer.document.value(node).as_object();
    let keyword = places
        .too_large()
        .and(members)
        .and_then(|members| TEXT_KEYWORDS.into_iter().find(|keyword| members.contains_key(keyword)));
    Some((normalizer.document.pointer(node), keyword))
}
