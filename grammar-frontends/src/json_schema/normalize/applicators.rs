//! The keywords that apply to values of every type: `enum` and `const`, references, and the in-place applicators.

use grammask_grammar_ir::shorten;

use super::normalizer::{KeywordAt, Normalizer};
use super::{arrays, objects};
use crate::diagnostic::{Diagnostic, Result};
use crate::json_schema::document::equality;
use crate::json_schema::document::ids::{Draft, NodeId};
use crate::json_schema::document::json::{Members, Value};
use crate::json_schema::document::nodes::{Document, PathStep, RefError};
use crate::json_schema::error::limit_error;
use crate::json_schema::report::{ReportEntry, Treatment};
use crate::json_schema::sets::decimal::Decimal;
use crate::json_schema::sets::goals::{Atom, GoalId};
use crate::json_schema::sets::normal_form::{NormalForm, TooManyAlternatives};
use crate::json_schema::sets::number_shape::NumberShape;
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::union::Union;

/// The first three keywords of a schema that may assert something.
fn assertions<'s>(schema: &'s Value<'s>) -> [Option<(&'s str, &'s Value<'s>)>; 3] {
    let mut members = schema.as_object().into_iter().flat_map(equality::asserting_members);
    [members.next(), members.next(), members.next()]
}

type KeywordReader = for<'n, 's> fn(&'n mut Normalizer<'s>, KeywordAt<'s>) -> Result<NormalForm<'s>>;

/// Keywords that apply to every type, in the order in which they are conjoined: what narrows most comes
/// first. With each the first draft that has it.
pub(crate) const UNTYPED_KEYWORDS: &[(&str, Draft, KeywordReader)] = &[
    ("enum", Draft::Draft4, enumeration),
    ("const", Draft::Draft6, constant),
    ("$ref", Draft::Draft4, referenced),
    ("allOf", Draft::Draft4, all_of_alone),
    ("anyOf", Draft::Draft4, any_of),
    ("oneOf", Draft::Draft4, one_of),
    ("not", Draft::Draft4, not),
    ("if", Draft::Draft7, conditional),
    ("dependencies", Draft::Draft4, objects::dependent),
    ("dependentRequired", Draft::Draft2019, objects::dependent),
    ("dependentSchemas", Draft::Draft2019, objects::dependent),
    ("$dynamicRef", Draft::Draft2020, referenced),
    ("$recursiveRef", Draft::Draft2019, recursive_reference),
];

/// Items of a list between two looks at the interrupt.
const ITEMS_BETWEEN_CHECKS: usize = 1 << 10;

fn enumeration<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<NormalForm<'s>> {
    let KeywordAt { node, value, .. } = at;
    let Value::Array(items) = value else {
        return Err(n.malformed(node, "enum", "a list of values"));
    };
    let mut union = Union::new();
    for (index, item) in items.iter().enumerate() {
        if index.is_multiple_of(ITEMS_BETWEEN_CHECKS) {
            n.check_work()?;
        }
        match item {
            Value::Array(_) | Value::Object(_) => {
                let child = n.document.child(node, PathStep::Index("enum", index), item);
                let part = n.const_norm(child)?;
                if union.add(part, &mut n.algebra).is_err() {
                    n.too_many(node, Some("enum"))?;
                    return Ok(NormalForm::any());
                }
            }
            scalar if add_scalar(&mut union, scalar) => {}
            _ => return Err(n.malformed(node, "enum", "numbers of a sensible size")),
        }
    }
    n.finished(union, node, Some("enum"))
}

/// Adds a constant that is no array and no object. `false` where it is none, or a number that cannot be written.
fn add_scalar<'s>(union: &mut Union<'s>, value: &'s Value<'s>) -> bool {
    match value {
        Value::Null => union.add_null(),
        Value::Bool(value) => union.add_boolean(*value),
        Value::String(text) => union.add_text(text),
        Value::Number(number) => match Decimal::parse(number) {
            Some(number) => union.add_number(number),
            None => return false,
        },
        Value::Array(_) | Value::Object(_) => return false,
    }
    true
}

fn constant<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<NormalForm<'s>> {
    let KeywordAt { node, value, .. } = at;
    let child = n.document.child(node, PathStep::Keyword("const"), value);
    n.const_norm(child)
}

fn referenced<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<NormalForm<'s>> {
    let goal = n.reference(at.node, at.keyword, at.value)?;
    n.norm_copy(goal)
}

/// Without a context; [`schema_norm`](Normalizer::schema_norm) gives one.
fn all_of_alone<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<NormalForm<'s>> {
    all_of(n, at, NormalForm::any())
}

/// The values of a context that satisfy all branches. A branch with `oneOf` is read within the context and the branches
/// before it.
pub(crate) fn all_of<'s>(
    n: &mut Normalizer<'s>,
    at: KeywordAt<'s>,
    mut context: NormalForm<'s>,
) -> Result<NormalForm<'s>> {
    let KeywordAt { node, value, .. } = at;
    let mut norm = NormalForm::any();
    // Texts that are excluded one by one are conjoined at once.
    let mut excluded: Vec<&'s str> = Vec::new();
    for branch in n.branches(node, "allOf", value)? {
        if let Some(schema) = n.with_one_of(branch)
            && let Ok(both) = n.conjoin(&context, &norm)
            && let Ok(within) = n.one_of_within(schema, &both)?
        {
            (context, norm) = (within, NormalForm::any());
            continue;
        }
        let part = n.norm(branch)?;
        if let Some(texts) = part.only_excluded_texts() {
            n.algebra.work.charge(1 + texts.len());
            excluded.extend_from_slice(texts);
            continue;
        }
        match n.conjoin(&norm, &part) {
            Ok(both) => norm = both,
            Err(TooManyAlternatives) => n.too_many(node, Some("allOf"))?,
        }
    }
    if !excluded.is_empty() {
        let strings = vec![StringShape::without(excluded)];
        match n.conjoin(&norm, &NormalForm { strings, ..NormalForm::any() }) {
            Ok(both) => norm = both,
            Err(TooManyAlternatives) => n.too_many(node, Some("allOf"))?,
        }
    }
    match n.conjoin(&context, &norm) {
        Ok(both) => context = both,
        Err(TooManyAlternatives) => n.too_many(node, Some("allOf"))?,
    }
    Ok(context)
}

fn any_of<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<NormalForm<'s>> {
    let KeywordAt { node, value, .. } = at;
    let Value::Array(items) = value else {
        return Err(n.malformed(node, "anyOf", "a list of schemas"));
    };
    n.allow_written_alternatives(items.len());
    let mut union = Union::new();
    for (index, item) in items.iter().enumerate() {
        if n.add_constants(&mut union, node, item) {
            continue;
        }
        let branch = n.subschema(node, PathStep::Index("anyOf", index), item)?;
        let part = n.norm_copy(branch)?;
        if union.add(part, &mut n.algebra).is_err() {
            n.too_many(node, Some("anyOf"))?;
            return Ok(NormalForm::any());
        }
    }
    n.finished(union, node, Some("anyOf"))
}

/// Without a context; [`schema_norm`](Normalizer::schema_norm) gives one.
fn one_of<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<NormalForm<'s>> {
    let KeywordAt { node, value, .. } = at;
    n.one_of(node, value, &NormalForm::any())
}

fn not<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<NormalForm<'s>> {
    let KeywordAt { node, value, .. } = at;
    let goal = n.subschema(node, PathStep::Keyword("not"), value)?;
    let goal = n.algebra.goals.not(goal);
    n.norm_copy(goal)
}

fn conditional<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<NormalForm<'s>> {
    let KeywordAt { node, members, value, .. } = at;
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
    let parts = [n.norm_copy(parts[0])?, n.norm_copy(parts[1])?];
    n.union_of(parts, node, Some("if"))
}

fn recursive_reference<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<NormalForm<'s>> {
    // Draft 2020-12 has `$dynamicRef` in its place.
    if n.document.draft(at.node) != Draft::Draft2019 {
        return Ok(NormalForm::any());
    }
    referenced(n, at)
}

impl<'s> Normalizer<'s> {
    /// The goal of a reference's target.
    pub(crate) fn reference(&mut self, node: NodeId, keyword: &str, value: &'s Value<'s>) -> Result<GoalId> {
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
                _ => {
                    let closing = self.closing_below(node, &PathStep::Keyword("$ref"), value)?;
                    let target = self.closed(target, closing);
                    self.algebra.goals.atom(Atom::Schema(target))
                }
            }),
            Err(error) => {
                self.check_work()?;
                let is_remote = matches!(error, RefError::Remote);
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
                if is_remote && self.report.goes_on() {
                    self.report.push(Treatment::Refused, || ReportEntry {
                        pointer: format!("{}/{keyword}", self.document.short_pointer(node)),
                        keyword: keyword.to_owned(),
                        treatment: Treatment::Refused,
                        note: Some(shorten(&message).into_owned()),
                    });
                    return Ok(GoalId::ANY);
                }
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

    /// The normal form of a goal, to be changed.
    pub(crate) fn norm_copy(&mut self, goal: GoalId) -> Result<NormalForm<'s>> {
        let norm = self.norm(goal)?;
        self.algebra.work.charge(norm.size());
        Ok((*norm).clone())
    }

    /// The target of a schema that refers to another one and says nothing else.
    pub(crate) fn only_reference(&mut self, node: NodeId) -> Result<Option<GoalId>> {
        let value = self.document.value(node);
        let ([Some(("$ref", reference)), None, None], Value::Object(members)) = (assertions(value), value)
        else {
            return Ok(None);
        };
        self.report_keywords(node, members);
        self.reference(node, "$ref", reference).map(Some)
    }

    /// The union of some sets.
    pub(crate) fn union_of(
        &mut self,
        parts: impl IntoIterator<Item = NormalForm<'s>>,
        node: NodeId,
        keyword: Option<&'static str>,
    ) -> Result<NormalForm<'s>> {
        let mut union = Union::new();
        for part in parts {
            if union.add(part, &mut self.algebra).is_err() {
                self.too_many(node, keyword)?;
                return Ok(NormalForm::any());
            }
        }
        self.finished(union, node, keyword)
    }

    fn finished(
        &mut self,
        union: Union<'s>,
        node: NodeId,
        keyword: Option<&'static str>,
    ) -> Result<NormalForm<'s>> {
        match union.finish(&mut self.algebra) {
            Ok(norm) => Ok(norm),
            Err(TooManyAlternatives) => self.too_many(node, keyword).map(|()| NormalForm::any()),
        }
    }

    /// Adds the constants of a schema that lists nothing else, or refers to one that does. A tool writes an enumeration
    /// with a title for each value like this, and a node and a goal for each would be most of the work.
    fn add_constants(&mut self, union: &mut Union<'s>, node: NodeId, schema: &'s Value<'s>) -> bool {
        // A whole report has an entry for every place, and so has an index of places.
        if self.report.is_whole() || self.rule_origins.is_some() {
            return false;
        }
        self.algebra.work.charge(4);
        let mut draft = self.document.draft(node);
        let mut members = assertions(schema);
        if let [Some(("$ref", Value::String(reference))), None, None] = members
            && reference.starts_with("#/")
        {
            let Ok(target) = self.document.resolve(node, reference) else { return false };
            draft = self.document.draft(target);
            members = assertions(self.document.value(target));
        }
        // In draft 4 there is no `const`, and an integer is spelled as such.
        let (listing, kind) = match members {
            [Some(one), None, None] => (one, None),
            [Some(("type", Value::String(kind))), Some(one), None]
            | [Some(one), Some(("type", Value::String(kind))), None] => (one, Some(*kind)),
            _ => return false,
        };
        let values = match listing {
            ("const", value) => std::slice::from_ref(value),
            ("enum", Value::Array(items)) => items,
            _ => return false,
        };
        // All of them or none: what is refused is read again, for the error.
        let is_added = |value: &Value<'_>| match (value, kind) {
            (Value::Number(number), None | Some("number" | "integer")) => {
                Decimal::parse(number).is_some_and(|number| kind != Some("integer") || number.is_integer())
            }
            (Value::String(_), kind) => kind.is_none_or(|kind| kind == "string"),
            (Value::Null | Value::Bool(_), None) => true,
            _ => false,
        };
        draft >= Draft::Draft6
            && values.iter().all(is_added)
            && values.iter().all(|value| add_scalar(union, value))
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
