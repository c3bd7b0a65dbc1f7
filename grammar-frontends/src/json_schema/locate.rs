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
use super::work::Work;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Keywords that make large automata, those that do so most often first.
const TEXT_KEYWORDS: [&str; 6] =
    ["pattern", "format", "patternProperties", "propertyNames", "maxLength", "minLength"];

/// Keywords whose schemas are about the same text.
const PARTS: [&str; 7] = ["not", "allOf", "anyOf", "oneOf", "if", "then", "else"];

/// A refusal of a later stage, at the place that it concerns: the schema that the rule was made for. `limits` are
/// those of that stage.
///
/// It takes as long as compiling the schema, and a quarter of the time that the limits give one text. Of texts that
/// are within the limits only some are tried: thousands of them took a minute.
pub fn located(
    schema: &str,
    options: &JsonSchemaOptions,
    rule: Option<&str>,
    limits: &TextLimits,
    (code, message): (&'static str, &str),
) -> Diagnostics {
    let place = match place(schema, options, rule, *limits).map_err(|error| Diagnostics::from(*error)) {
        Err(error) if error.interrupted().is_some() => return error,
        place => place.ok().flatten(),
    };
    let Some((pointer, keyword)) = place else { return Diagnostic::error(code, message).into() };
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
    limits: TextLimits,
) -> Result<Option<(String, Option<&'static str>)>, Box<Diagnostic>> {
    let arena = Bump::new();
    let Ok(value) = json::parse(schema, &arena) else { return Ok(None) };
    let options = with_limits_of(schema, options);
    let work = Work::up_to(options.limits.work as u64);
    with_normalizer(&value, &options, Report::of_warnings(), work, |mut normalizer, root| {
        normalizer.rule_origins = Some(RuleOrigins::new(limits));
        let (grammar, normalizer) =
            lowering::lower(normalizer, root, (ValueSyntax::Json, ItemComparison::Possible), &[])?;
        let rule = rule.and_then(|name| grammar.rule_ids().find(|&id| grammar.rule(id).name() == name));
        Ok(found(&normalizer, rule))
    })
}

fn found(normalizer: &Normalizer<'_>, rule: Option<RuleId>) -> Option<(String, Option<&'static str>)> {
    let places = normalizer.rule_origins.as_ref()?;
    let node = places.too_large().or_else(|| places.of_rule(rule?))?;
    let pointer = normalizer.document.pointer(node);
    match places.too_large() {
        Some(_) => Some(text_keyword(normalizer.document.value(node), pointer)),
        None => Some((pointer, None)),
    }
}

/// The keyword that makes the texts of a schema, in it or in the one part of it that has such keywords.
fn text_keyword(schema: &json::Value<'_>, pointer: String) -> (String, Option<&'static str>) {
    let mut found = Vec::new();
    let mut todo = vec![(schema, pointer.clone())];
    while let Some((schema, pointer)) = todo.pop() {
        let Some(members) = schema.as_object() else { continue };
        if let Some(keyword) = TEXT_KEYWORDS.into_iter().find(|keyword| members.contains_key(keyword)) {
            found.push((pointer, Some(keyword)));
            if found.len() > 1 {
                break;
            }
            continue;
        }
        for keyword in PARTS {
            match members.get(keyword) {
                Some(part) if part.as_array().is_none() => todo.push((part, format!("{pointer}/{keyword}"))),
                parts => {
                    let parts = parts.and_then(|parts| parts.as_array()).into_iter().flatten().enumerate();
                    todo.extend(parts.map(|(at, part)| (part, format!("{pointer}/{keyword}/{at}"))));
                }
            }
        }
    }
    match <[_; 1]>::try_from(found) {
        Ok([only]) => only,
        Err(_) => (pointer, None),
    }
}
