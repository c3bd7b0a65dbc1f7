//! `unevaluatedProperties` and `unevaluatedItems`.
//!
//! What is unevaluated depends on which of the schemas beside the keyword hold for a value. The naive way
//! asks for each subset of them that it holds and that all others fail. Here a schema becomes *cases*: a
//! normal form, and what is evaluated wherever it holds. That the others fail need not be said: where more
//! schemas hold, more is evaluated and the keyword demands less, so a value that obeys the keyword in one case
//! obeys it in all that hold for it. Hence an `anyOf` of alternatives that exclude each other has one case for
//! each of them, and two that hold together are a case of their own only where they evaluate more than one
//! does.

use std::rc::Rc;

use super::document::{Draft, NodeId, Step, member};
use super::goal::{Atom, GoalId};
use super::json::{Members, Value};
use super::keywords::{COMBINATORS, Fallible, Normalizer, limit_error};
use super::norm::Norm;
use super::object_shape::{ObjectShape, Origin, Presence, Property};
use super::proof::PROOF_DEPTH;
use super::string_keywords::pattern_test;
use super::text_tests::{Sense, TestId, TextTest};
use super::{array_shape::ArrayShape, object_keywords};
use crate::Diagnostic;

/// Values, and what of them is evaluated.
#[derive(Clone)]
pub(super) struct Case<'s> {
    norm: Norm<'s>,
    seen: Evaluated<'s>,
}

/// What is evaluated. `None` for a kind is all of it.
#[derive(Clone, Default)]
struct Evaluated<'s> {
    members: Option<SomeMembers<'s>>,
    items: Option<SomeItems>,
}

/// Members by their names.
#[derive(Clone, Default)]
struct SomeMembers<'s> {
    names: Vec<&'s str>,
    tests: Vec<TestId>,
}

/// The first items, and those that satisfy one of some goals.
#[derive(Clone, Default)]
struct SomeItems {
    first: usize,
    that: Vec<GoalId>,
}

impl<'s> Evaluated<'s> {
    const ALL: Self = Self { members: None, items: None };

    fn nothing() -> Self {
        Self { members: Some(SomeMembers::default()), items: Some(SomeItems::default()) }
    }

    fn or(&self, other: &Self) -> Self {
        let members = self.members.as_ref().zip(other.members.as_ref()).map(|(left, right)| {
            let mut all = left.clone();
            all.names.extend(right.names.iter().filter(|name| !left.names.contains(name)));
            all.tests.extend(right.tests.iter().filter(|test| !left.tests.contains(test)));
            all
        });
        let items = self.items.as_ref().zip(other.items.as_ref()).map(|(left, right)| {
            let mut all = left.clone();
            all.first = left.first.max(right.first);
            all.that.extend(right.that.iter().filter(|goal| !left.that.contains(goal)));
            all
        });
        Self { members, items }
    }

    fn covers_members(&self, other: &Self) -> bool {
        match (&self.members, &other.members) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(all), Some(some)) => {
                some.names.iter().all(|name| all.names.contains(name))
                    && some.tests.iter().all(|test| all.tests.contains(test))
            }
        }
    }

    fn covers_items(&self, other: &Self) -> bool {
        match (&self.items, &other.items) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(all), Some(some)) => {
                some.first <= all.first && some.that.iter().all(|goal| all.that.contains(goal))
            }
        }
    }
}

/// Whether a schema has one of the keywords and it says something.
pub(super) fn is_in(members: &Members<'_>, draft: Draft) -> bool {
    draft >= Draft::Draft2019
        && ["unevaluatedProperties", "unevaluatedItems"]
            .iter()
            .any(|&keyword| member(members, keyword).is_some_and(|value| !value.is_true()))
}

/// The normal form of a schema with one of the keywords.
pub(super) fn schema_norm<'s>(n: &mut Normalizer<'s>, node: NodeId) -> Fallible<Norm<'s>> {
    let mut norm = Norm::never();
    for case in cases(n, node)?.iter() {
        if norm.or(&case.norm, &mut n.algebra).is_err() {
            n.too_many(node, None)?;
        }
    }
    Ok(norm)
}

/// The cases of a schema.
fn cases<'s>(n: &mut Normalizer<'s>, node: NodeId) -> Fallible<Rc<Vec<Case<'s>>>> {
    if let Some(known) = n.cases.get(&node) {
        return Ok(Rc::clone(known));
    }
    let limit = n.options.limits.depth;
    if n.open.len() + n.evaluating.len() >= limit {
        return Err(Box::new(limit_error("depth", limit).with_pointer(n.document.pointer(node))));
    }
    if !n.evaluating.insert(node) {
        let message = "this schema refers to itself without a step into an item or a property, so it says \
                       nothing";
        return Err(Box::new(
            Diagnostic::error("json-schema/reference", message)
                .with_pointer(n.document.pointer(node))
                .with_hint("remove the reference that leads back here"),
        ));
    }
    n.check_work()?;
    let cases = schema_cases(n, node);
    n.evaluating.remove(&node);
    let cases = Rc::new(cases?);
    n.cases.insert(node, Rc::clone(&cases));
    Ok(cases)
}

fn schema_cases<'s>(n: &mut Normalizer<'s>, node: NodeId) -> Fallible<Vec<Case<'s>>> {
    let Value::Object(members) = n.document.value(node) else {
        let goal = n.algebra.goals.atom(Atom::Schema(node));
        return Ok(vec![Case { norm: (*n.norm(goal)?).clone(), seen: Evaluated::nothing() }]);
    };
    n.report_keywords(node, members);
    let draft = n.document.draft(node);
    if let Some(reference) = member(members, "$ref").filter(|_| draft.ref_hides_siblings()) {
        let goal = n.reference(node, "$ref", reference)?;
        return goal_cases(n, goal);
    }
    let norm = n.typed_keywords(node, members)?;
    let mut cases = vec![Case { norm, seen: own(n, node, members)? }];
    for &(keyword, since, read) in COMBINATORS {
        let Some(value) = member(members, keyword).filter(|_| draft >= since) else { continue };
        let parts = match keyword {
            "$ref" | "$dynamicRef" => {
                let goal = n.reference(node, keyword, value)?;
                goal_cases(n, goal)?
            }
            "$recursiveRef" if draft == Draft::Draft2019 => {
                let goal = n.reference(node, keyword, value)?;
                goal_cases(n, goal)?
            }
            "allOf" => all_of(n, node, value)?,
            "anyOf" => any_of(n, node, value)?,
            "oneOf" => one_of(n, node, value)?,
            "if" => conditional(n, node, members, value)?,
            "dependentSchemas" | "dependencies" => dependent(n, node, keyword, members, value)?,
            _ => vec![Case { norm: read(n, node, members, value)?, seen: Evaluated::nothing() }],
        };
        cases = product(n, node, keyword, &cases, &parts)?;
    }
    for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
        if let Some(value) = member(members, keyword).filter(|_| draft >= Draft::Draft2019) {
            let goal = n.subschema(node, Step::Keyword(keyword), value)?;
            for case in &mut cases {
                demand(n, node, case, keyword, goal)?;
            }
        }
    }
    Ok(cases)
}

/// What the keywords of a schema evaluate themselves.
fn own<'s>(n: &mut Normalizer<'s>, node: NodeId, members: &'s Members<'s>) -> Fallible<Evaluated<'s>> {
    let draft = n.document.draft(node);
    let mut seen = Evaluated::nothing();
    let object = |keyword: &str| member(members, keyword).and_then(Value::as_object).into_iter().flatten();
    if member(members, "additionalProperties").is_some() {
        seen.members = None;
    }
    for (pattern, _) in object("patternProperties") {
        let keyword = format!("patternProperties/{}", super::document::escape(pattern));
        match (pattern_test(n, node, &keyword, pattern)?, &mut seen.members) {
            (Some(test), Some(some)) => some.tests.push(test.test),
            // Where the caller wants to go on without the pattern, nothing is known of the names.
            _ => seen.members = None,
        }
    }
    if let Some(some) = &mut seen.members {
        some.names.extend(object("properties").map(|(name, _)| name));
    }
    let prefix =
        member(members, "prefixItems").and_then(Value::as_array).filter(|_| draft >= Draft::Draft2020);
    let mut some = SomeItems { first: prefix.map_or(0, <[_]>::len), that: Vec::new() };
    match member(members, "items") {
        Some(Value::Array(items)) if some.first == 0 => {
            some.first = items.len();
            if member(members, "additionalItems").is_some() {
                seen.items = None;
            }
        }
        Some(_) => seen.items = None,
        None => {}
    }
    if let Some(value) = member(members, "contains").filter(|_| draft >= Draft::Draft2020) {
        some.that.push(n.subschema(node, Step::Keyword("contains"), value)?);
    }
    if seen.items.is_some() {
        seen.items = Some(some);
    }
    Ok(seen)
}

/// The cases of a branch or of what a reference leads to.
fn goal_cases<'s>(n: &mut Normalizer<'s>, goal: GoalId) -> Fallible<Vec<Case<'s>>> {
    match *n.algebra.goals.atoms(goal) {
        [Atom::Schema(node)] => Ok((*cases(n, node)?).clone()),
        _ => Ok(vec![Case { norm: (*n.norm(goal)?).clone(), seen: Evaluated::nothing() }]),
    }
}

/// What belongs to a case of both lists.
fn product<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    keyword: &'static str,
    left: &[Case<'s>],
    right: &[Case<'s>],
) -> Fallible<Vec<Case<'s>>> {
    let mut cases = Vec::new();
    for one in left {
        for other in right {
            let seen = one.seen.or(&other.seen);
            let norm = match n.conjoin(&one.norm, &other.norm) {
                Ok(norm) => norm,
                Err(_) => {
                    n.too_many(node, Some(keyword))?;
                    one.norm.clone()
                }
            };
            if !norm.is_never() {
                cases.push(Case { norm, seen });
            }
        }
        bounded(n, node, keyword, &mut cases)?;
    }
    Ok(cases)
}

/// Refuses too many cases; where the caller wants to go on, nothing counts as unevaluated.
fn bounded<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    keyword: &'static str,
    cases: &mut Vec<Case<'s>>,
) -> Fallible<()> {
    n.check_work()?;
    if cases.len() > n.options.limits.alternatives {
        n.too_many(node, Some(keyword))?;
        *cases = vec![Case { norm: Norm::any(), seen: Evaluated::ALL }];
    }
    Ok(())
}

fn all_of<'s>(n: &mut Normalizer<'s>, node: NodeId, value: &'s Value<'s>) -> Fallible<Vec<Case<'s>>> {
    let mut cases = vec![Case { norm: Norm::any(), seen: Evaluated::nothing() }];
    for branch in n.branches(node, "allOf", value)? {
        let parts = goal_cases(n, branch)?;
        cases = product(n, node, "allOf", &cases, &parts)?;
    }
    Ok(cases)
}

/// One branch or more.
fn any_of<'s>(n: &mut Normalizer<'s>, node: NodeId, value: &'s Value<'s>) -> Fallible<Vec<Case<'s>>> {
    let mut all: Vec<Case<'s>> = Vec::new();
    for branch in n.branches(node, "anyOf", value)? {
        let parts = goal_cases(n, branch)?;
        let mut joined = Vec::new();
        for case in &all {
            for part in &parts {
                joined.extend(together(n, node, case, part)?);
            }
        }
        all.extend(parts);
        all.extend(joined);
        bounded(n, node, "anyOf", &mut all)?;
    }
    Ok(all)
}

/// Where both hold, as far as that evaluates more than one of them.
fn together<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    one: &Case<'s>,
    other: &Case<'s>,
) -> Fallible<Option<Case<'s>>> {
    let settled = |covers: fn(&Evaluated<'s>, &Evaluated<'s>) -> bool| {
        covers(&one.seen, &other.seen) || covers(&other.seen, &one.seen)
    };
    let kinds = |norm: &Norm<'s>| {
        let mut kinds = Norm::never();
        if !settled(Evaluated::covers_members) {
            kinds.objects.clone_from(&norm.objects);
        }
        if !settled(Evaluated::covers_items) {
            kinds.arrays.clone_from(&norm.arrays);
        }
        kinds
    };
    let Ok(norm) = kinds(&one.norm).and(&kinds(&other.norm), &mut n.algebra) else {
        n.too_many(node, Some("anyOf"))?;
        return Ok(None);
    };
    let is_empty = n.surely_empty(&norm, PROOF_DEPTH);
    Ok((!is_empty).then(|| Case { norm, seen: one.seen.or(&other.seen) }))
}

/// One branch, and none of those others that it may hold together with.
fn one_of<'s>(n: &mut Normalizer<'s>, node: NodeId, value: &'s Value<'s>) -> Fallible<Vec<Case<'s>>> {
    let Some(branches) = n.told_apart(node, value, &Norm::any())? else {
        return Ok(vec![Case { norm: Norm::any(), seen: Evaluated::ALL }]);
    };
    let mut all = Vec::new();
    for branch in branches {
        let exclusive = n.algebra.goals.all(GoalId::ANY, &branch.others_fail);
        let alone = Case { norm: (*n.norm(exclusive)?).clone(), seen: Evaluated::nothing() };
        let parts = goal_cases(n, branch.goal)?;
        all.extend(product(n, node, "oneOf", &parts, &[alone])?);
        bounded(n, node, "oneOf", &mut all)?;
    }
    Ok(all)
}

fn conditional<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Vec<Case<'s>>> {
    let mut branch = |keyword: &'static str| match member(members, keyword) {
        Some(value) => n.subschema(node, Step::Keyword(keyword), value),
        None => Ok(GoalId::ANY),
    };
    let (then, otherwise) = (branch("then")?, branch("else")?);
    let condition = n.subschema(node, Step::Keyword("if"), value)?;
    let holds = goal_cases(n, condition)?;
    let consequence = goal_cases(n, then)?;
    let mut all = product(n, node, "if", &holds, &consequence)?;
    let fails = if (then, otherwise) == (GoalId::ANY, GoalId::ANY) {
        // The condition asserts nothing, and failing it evaluates nothing.
        GoalId::ANY
    } else {
        n.algebra.goals.not(condition)
    };
    let fails = Case { norm: (*n.norm(fails)?).clone(), seen: Evaluated::nothing() };
    let otherwise = goal_cases(n, otherwise)?;
    all.extend(product(n, node, "if", &[fails], &otherwise)?);
    Ok(all)
}

/// For each name: it is absent, or it is there and what depends on it holds.
fn dependent<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    keyword: &'static str,
    members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Vec<Case<'s>>> {
    let plain = |norm: Norm<'s>| Case { norm, seen: Evaluated::nothing() };
    // The reader says what is malformed.
    let whole = object_keywords::dependent(n, node, members, keyword)?;
    let mut cases = vec![plain(whole)];
    for (name, schema) in value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_array()) {
        let goal = n.subschema(node, Step::Member(keyword, name), schema)?;
        let with = |value: GoalId, presence: Presence| {
            let objects = vec![ObjectShape::with_property(name, value, presence)];
            plain(Norm { objects, ..Norm::any() })
        };
        let holds = goal_cases(n, goal)?;
        let mut parts = product(n, node, keyword, &[with(GoalId::ANY, Presence::Required)], &holds)?;
        // Of what is no object, the schema says nothing.
        for part in &mut parts {
            part.norm = Norm { objects: std::mem::take(&mut part.norm.objects), ..Norm::never() };
        }
        parts.push(with(GoalId::NEVER, Presence::Optional));
        cases = product(n, node, keyword, &cases, &parts)?;
    }
    Ok(cases)
}

/// Demands a goal of what a case left over.
fn demand<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    case: &mut Case<'s>,
    keyword: &'static str,
    goal: GoalId,
) -> Fallible<()> {
    let mut rest = Norm::any();
    if keyword == "unevaluatedProperties" {
        let Some(some) = case.seen.members.take() else { return Ok(()) };
        let mut shape = ObjectShape::with_rest(goal);
        for &test in &some.tests {
            shape.split_matching(TextTest { test, sense: Sense::Fails }, goal);
        }
        shape.properties.extend(some.names.iter().map(|&name| {
            let (presence, origin) = (Presence::Optional, Origin::Mentioned);
            Property { name, value: GoalId::ANY, presence, origin }
        }));
        rest.objects = vec![shape.normalized()];
    } else {
        let Some(some) = case.seen.items.take() else { return Ok(()) };
        let goals = &mut n.algebra.goals;
        let mut fails = goals.not(goal);
        for &other in &some.that {
            let other = goals.not(other);
            fails = goals.and(fails, other);
        }
        let shape =
            ArrayShape { prefix: vec![GoalId::ANY; some.first], rest: goals.not(fails), ..ArrayShape::any() };
        rest.arrays = vec![shape.normalized()];
    }
    match case.norm.and(&rest, &mut n.algebra) {
        Ok(norm) => case.norm = norm,
        Err(_) => n.too_many(node, Some(keyword))?,
    }
    Ok(())
}
