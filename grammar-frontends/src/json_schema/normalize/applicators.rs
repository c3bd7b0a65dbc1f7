//! The keywords that apply to values of every type: `enum` and `const`, references, and the in-place applicators.

use super::normalizer::Normalizer;
use super::{arrays, objects};
use crate::diagnostic::{Diagnostic, Result};
use crate::json_schema::document::ids::{Draft, NodeId};
use crate::json_schema::document::json::{Members, Value};
use crate::json_schema::document::nodes::{Document, PathStep, RefError};
use crate::json_schema::error::limit_error;
use crate::json_schema::sets::decimal::Decimal;
use crate::json_schema::sets::goals::{Atom, GoalId};
use crate::json_schema::sets::normal_form::{NormalForm, TooManyAlternatives};
use crate::json_schema::sets::number_shape::NumberShape;
use crate::json_schema::sets::string_shape::StringShape;

type KeywordReader =
    for<'n, 's> fn(&'n mut Normalizer<'s>, NodeId, &'s Members<'s>, &'s Value<'s>) -> Result<NormalForm<'s>>;

/// Keywords that apply to every type, in the order in which they are conjoined: what narrows most comes
/// first. With each the first draft that has it.
pub(crate) const UNTYPED_KEYWORDS: &[(&str, Draft, KeywordReader)] = &[
    ("enum", Draft::Draft4, enumeration),
    ("const", Draft::Draft6, constant),
    ("$ref", Draft::Draft4, referenced),
    ("allOf", Draft::Draft4, all_of),
    ("anyOf", Draft::Draft4, any_of),
    ("oneOf", Draft::Draft4, one_of),
    ("not", Draft::Draft4, not),
    ("if", Draft::Draft7, conditional),
    ("dependencies", Draft::Draft4, objects::dependencies),
    ("dependentRequired", Draft::Draft2019, objects::dependent_required),
    ("dependentSchemas", Draft::Draft2019, objects::dependent_schemas),
    ("$dynamicRef", Draft::Draft2020, dynamic_reference),
    ("$recursiveRef", Draft::Draft2019, recursive_reference),
];

fn enumeration<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Result<NormalForm<'s>> {
    let Value::Array(items) = value else {
        return Err(n.malformed(node, "enum", "a list of values"));
    };
    let (mut norm, mut numbers, mut strings) = (NormalForm::never(), Vec::new(), Vec::new());
    for (index, item) in items.iter().enumerate() {
        match item {
            Value::String(text) => strings.push(&**text),
            Value::Number(number) => {
                let value = Decimal::parse(number);
                numbers.push(value.ok_or_else(|| n.malformed(node, "enum", "numbers of a sensible size"))?);
            }
            _ => {
                let child = n.document.child(node, PathStep::Index("enum", index), item);
                let part = n.const_norm(child)?;
                if norm.or(&part, &mut n.algebra).is_err() {
                    n.too_many(node, Some("enum"))?;
                    return Ok(NormalForm::any());
                }
            }
        }
    }
    if !numbers.is_empty() {
        norm.numbers.push(NumberShape::finite(numbers));
    }
    if !strings.is_empty() {
        norm.strings.push(StringShape::finite(strings));
    }
    Ok(norm)
}

fn constant<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Result<NormalForm<'s>> {
    let child = n.document.child(node, PathStep::Keyword("const"), value);
    n.const_norm(child)
}

fn referenced<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Result<NormalForm<'s>> {
    let goal = n.reference(node, "$ref", value)?;
    Ok((*n.norm(goal)?).clone())
}

fn all_of<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Result<NormalForm<'s>> {
    let mut norm = NormalForm::any();
    for branch in n.branches(node, "allOf", value)? {
        let part = n.norm(branch)?;
        match n.conjoin(&norm, &part) {
            Ok(both) => norm = both,
            Err(TooManyAlternatives) => n.too_many(node, Some("allOf"))?,
        }
    }
    Ok(norm)
}

fn any_of<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Result<NormalForm<'s>> {
    let branches = n.branches(node, "anyOf", value)?;
    n.union(node, "anyOf", &branches)
}

/// Without a context; [`schema_norm`](Normalizer::schema_norm) gives one.
fn one_of<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Result<NormalForm<'s>> {
    n.one_of(node, value, &NormalForm::any())
}

fn not<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Result<NormalForm<'s>> {
    let goal = n.subschema(node, PathStep::Keyword("not"), value)?;
    let goal = n.algebra.goals.not(goal);
    Ok((*n.norm(goal)?).clone())
}

fn conditional<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Result<NormalForm<'s>> {
    let mut branch = |keyword: &'static str| match members.get(keyword) {
        Some(value) => n.subschema(node, PathStep::Keyword(keyword), value),
        None => Ok(GoalId::ANY),
    };
    let (then, otherwise) = (branch("then")?, branch("else")?);
    if (then, otherwise) == (GoalId::ANY, GoalId::ANY) {
        return Ok(NormalForm::any());
    }
    let condition = n.subschema(node, PathStep::Keyword("if"), value)?;
    let goals = &mut n.algebra.goals;
    let fails = goals.not(condition);
    let parts = [goals.and(condition, then), goals.and(fails, otherwise)];
    n.union(node, "if", &parts)
}

fn dynamic_reference<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Result<NormalForm<'s>> {
    let goal = n.reference(node, "$dynamicRef", value)?;
    Ok((*n.norm(goal)?).clone())
}

fn recursive_reference<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Result<NormalForm<'s>> {
    // Draft 2020-12 has `$dynamicRef` in its place.
    if n.document.draft(node) != Draft::Draft2019 {
        return Ok(NormalForm::any());
    }
    let goal = n.reference(node, "$recursiveRef", value)?;
    Ok((*n.norm(goal)?).clone())
}

impl<'s> Normalizer<'s> {
    /// The goal of a reference's target.
    pub(crate) fn reference(&mut self, node: NodeId, keyword: &str, value: &Value<'_>) -> Result<GoalId> {
        let Some(reference) = value.as_str() else {
            return Err(self.malformed(node, keyword, "a string"));
        };
        let target = match keyword {
            "$ref" => self.document.resolve(node, reference),
            _ => self.document.resolve_dynamic(node, keyword, reference),
        };
        match target {
            Ok(target) => Ok(match self.document.value(target) {
                Value::Bool(true) => GoalId::ANY,
                Value::Bool(false) => GoalId::NEVER,
                _ => self.algebra.goals.atom(Atom::Schema(target)),
            }),
            Err(error) => {
                let (message, hint) = match error {
                    RefError::Missing => (
                        format!("`{reference}` leads to nothing in this document"),
                        "correct the reference or add what it names",
                    ),
                    RefError::Remote => (
                        format!("`{reference}` leads to another document, and no retriever was given"),
                        "copy the schema under `$defs` and refer to it there, or give a retriever",
                    ),
                    RefError::Retrieval(reason) => (
                        format!("`{reference}` leads to another document, and the retriever says: {reason}"),
                        "correct the reference, or give the document",
                    ),
                    RefError::TooMany(limit) => (
                        format!("references lead to more than {limit} other documents"),
                        "join documents, or raise the limit `documents`",
                    ),
                };
                Err(Box::new(
                    Diagnostic::error("json-schema/reference", message)
                        .with_pointer(format!("{}/{keyword}", self.document.pointer(node)))
                        .with_hint(hint),
                ))
            }
        }
    }

    pub(super) fn const_norm(&mut self, node: NodeId) -> Result<NormalForm<'s>> {
        let mut norm = NormalForm::never();
        match self.document.value(node) {
            Value::Null => norm.null = true,
            Value::Bool(value) => norm.booleans[usize::from(*value)] = true,
            Value::Number(number) => {
                let value = Decimal::parse(number);
                let value = value.ok_or_else(|| self.malformed(node, "", "a number of a sensible size"))?;
                norm.numbers.push(NumberShape::finite(vec![value]));
            }
            Value::String(text) => norm.strings.push(StringShape::finite(vec![text])),
            Value::Array(items) => norm.arrays.push(arrays::constant(self, node, items)),
            Value::Object(members) => norm.objects.push(objects::constant(self, node, members)),
        }
        Ok(norm)
    }

    fn union(&mut self, node: NodeId, keyword: &'static str, parts: &[GoalId]) -> Result<NormalForm<'s>> {
        self.allow_written_alternatives(parts.len());
        let mut norm = NormalForm::never();
        for &part in parts {
            let part = self.norm(part)?;
            match norm.or(&part, &mut self.algebra) {
                Ok(()) => {}
                Err(TooManyAlternatives) => {
                    self.too_many(node, Some(keyword))?;
                    return Ok(NormalForm::any());
                }
            }
        }
        Ok(norm)
    }

    pub(crate) fn branches(
        &mut self,
        node: NodeId,
        keyword: &'static str,
        value: &'s Value<'s>,
    ) -> Result<Vec<GoalId>> {
        let Value::Array(items) = value else {
            return Err(self.malformed(node, keyword, "a list of schemas"));
        };
        let steps = items.iter().enumerate();
        steps.map(|(index, item)| self.subschema(node, PathStep::Index(keyword, index), item)).collect()
    }

    /// A limit that was reached while a schema was read; the keyword that combines schemas there is the likeliest to
    /// have taken the work.
    pub(super) fn limit_here(&self, name: &str, limit: usize) -> Box<Diagnostic> {
        let node = self.at.map_or(Document::ROOT, |atom| self.atom_node(atom));
        let members = self.document.value(node).as_object();
        let combines = |members: &Members<'_>| {
            UNTYPED_KEYWORDS
                .iter()
                .map(|&(keyword, ..)| keyword)
                .find(|keyword| members.contains_key(keyword))
        };
        let keyword = members.and_then(combines).filter(|_| name == "work");
        let pointer = self.document.pointer(node);
        let pointer = keyword.map_or(pointer.clone(), |keyword| format!("{pointer}/{keyword}"));
        Box::new(limit_error(name, limit).with_pointer(pointer))
    }
}
