//! `unevaluatedProperties` and `unevaluatedItems`.
//!
//! The unevaluated part depends on which of the schemas beside the keyword hold for a value. The naive way
//! asks for each subset of them that it holds and that all others fail. Here a schema becomes *cases*: a
//! normal form, and what is evaluated wherever it holds. It need not be said that the others fail. If more
//! schemas hold, more is evaluated and the keyword demands less, so a value that obeys the keyword in one
//! case obeys it in all that hold for it. Hence an `anyOf` of alternatives that exclude each other has one
//! case for each of them. Two that hold together are a case of their own only if they evaluate more than one
//! does.

use std::rc::Rc;

use super::applicators::UNTYPED_KEYWORDS;
use super::evaluated::{Evaluated, EvaluatedItems, EvaluationCase};
use super::normalizer::{KeywordAt, Normalizer};
use super::objects;
use super::proofs::MAX_PROOF_DEPTH;
use super::strings::pattern_test;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::{Draft, NodeId};
use crate::json_schema::document::json::{Members, Value};
use crate::json_schema::document::nodes::PathStep;
use crate::json_schema::error::limit_error;
use crate::json_schema::options::OneOf;
use crate::json_schema::sets::array_shape::ArrayShape;
use crate::json_schema::sets::goals::{Atom, GoalId};
use crate::json_schema::sets::normal_form::NormalForm;
use crate::json_schema::sets::object_shape::{ObjectShape, Presence};

/// Whether a schema has one of the keywords, with an assertion.
pub(crate) fn has_unevaluated_keyword(members: &Members<'_>, draft: Draft) -> bool {
    draft >= Draft::Draft2019
        && ["unevaluatedProperties", "unevaluatedItems"]
            .iter()
            .any(|&keyword| members.get(keyword).is_some_and(|value| !value.is_true()))
}

/// The normal form of a schema with one of the keywords.
pub(crate) fn schema_norm<'s>(n: &mut Normalizer<'s>, node: NodeId) -> Result<NormalForm<'s>> {
    let cases = cases(n, node)?;
    n.union_of(cases.iter().map(|case| case.norm.clone()), node, None)
}

/// The cases of a schema.
fn cases<'s>(n: &mut Normalizer<'s>, node: NodeId) -> Result<Rc<Vec<EvaluationCase<'s>>>> {
    if let Some(known) = n.cases.get(&node) {
        return Ok(Rc::clone(known));
    }
    let limit = n.options.limits.depth;
    if n.open.len() + n.evaluating.len() >= limit {
        return Err(Box::new(limit_error("depth", limit).with_pointer(n.document.pointer(node))));
    }
    if !n.evaluating.insert(node) {
        return Err(n.refers_to_itself(node));
    }
    n.check_work()?;
    let cases = schema_cases(n, node);
    n.evaluating.remove(&node);
    let cases = Rc::new(cases?);
    n.cases.insert(node, Rc::clone(&cases));
    Ok(cases)
}

fn schema_cases<'s>(n: &mut Normalizer<'s>, node: NodeId) -> Result<Vec<EvaluationCase<'s>>> {
    let Value::Object(members) = n.document.value(node) else {
        let goal = n.algebra.goals.atom(Atom::Schema(node));
        return Ok(vec![EvaluationCase { norm: n.norm_copy(goal)?, evaluated: Evaluated::nothing() }]);
    };
    n.report_keywords(node, members);
    let draft = n.document.draft(node);
    if let Some(reference) = members.get("$ref").filter(|_| draft.ref_hides_siblings()) {
        let goal = n.reference(node, "$ref", reference)?;
        return goal_cases(n, goal);
    }
    let norm = n.typed_keywords(node, members)?;
    let mut cases = vec![EvaluationCase { norm, evaluated: evaluated_locally(n, node, members)? }];
    for &(keyword, since, read) in UNTYPED_KEYWORDS {
        let Some(value) = members.get(keyword).filter(|_| draft >= since) else { continue };
        let at = KeywordAt { node, members, keyword, value };
        let parts = match keyword {
            "allOf" => {
                cases = all_of(n, node, value, cases)?;
                continue;
            }
            "$ref" | "$dynamicRef" => {
                let goal = n.reference(node, keyword, value)?;
                goal_cases(n, goal)?
            }
            "$recursiveRef" if draft == Draft::Draft2019 => {
                let goal = n.reference(node, keyword, value)?;
                goal_cases(n, goal)?
            }
            "anyOf" => any_of(n, node, keyword, value)?,
            "oneOf" if n.options.one_of == OneOf::AsAnyOf => any_of(n, node, keyword, value)?,
            "oneOf" => one_of(n, node, value, &cases)?,
            "if" => conditional(n, node, members, value)?,
            "dependentSchemas" | "dependencies" => dependent(n, at)?,
            _ => vec![EvaluationCase { norm: read(n, at)?, evaluated: Evaluated::nothing() }],
        };
        cases = product(n, node, keyword, &cases, &parts)?;
    }
    // Last, as the specification has it: these see what all other keywords of the schema have evaluated.
    for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
        if let Some(value) = members.get(keyword).filter(|_| draft >= Draft::Draft2019) {
            let goal = n.subschema(node, PathStep::Keyword(keyword), value)?;
            for case in &mut cases {
                apply_to_unevaluated(n, node, case, keyword, goal)?;
            }
        }
    }
    Ok(cases)
}

/// Members and items that the keywords of a schema evaluate without its in-place applicators.
fn evaluated_locally<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
) -> Result<Evaluated<'s>> {
    let draft = n.document.draft(node);
    let mut evaluated = Evaluated::nothing();
    let object = |keyword: &str| members.get(keyword).and_then(Value::as_object).into_iter().flatten();
    if members.get("additionalProperties").is_some() {
        evaluated.members = None;
    }
    for (pattern, _) in object("patternProperties") {
        let keyword = format!("patternProperties/{}", crate::json_schema::document::pointer::escape(pattern));
        match (pattern_test(n, node, &keyword, pattern)?, &mut evaluated.members) {
            (Some(test), Some(some)) => some.tests.push(test.test),
            // Where the caller wants to go on without the pattern, nothing is known of the names.
            _ => evaluated.members = None,
        }
    }
    if let Some(some) = &mut evaluated.members {
        some.names.extend(object("properties").map(|(name, _)| name));
    }
    let prefix = members.get("prefixItems").and_then(Value::as_array).filter(|_| draft >= Draft::Draft2020);
    let mut some = EvaluatedItems { first: prefix.map_or(0, <[_]>::len), that: Vec::new() };
    match members.get("items") {
        Some(Value::Array(items)) if some.first == 0 => {
            some.first = items.len();
            if members.get("additionalItems").is_some() {
                evaluated.items = None;
            }
        }
        Some(_) => evaluated.items = None,
        None => {}
    }
    if let Some(value) = members.get("contains").filter(|_| draft >= Draft::Draft2020) {
        some.that.push(n.subschema(node, PathStep::Keyword("contains"), value)?);
    }
    if evaluated.items.is_some() {
        evaluated.items = Some(some);
    }
    Ok(evaluated)
}

/// The cases of a branch or of the target of a reference.
fn goal_cases<'s>(n: &mut Normalizer<'s>, goal: GoalId) -> Result<Vec<EvaluationCase<'s>>> {
    match *n.algebra.goals.atoms(goal) {
        [Atom::Schema(node)] => {
            let cases = cases(n, node)?;
            let size = |case: &EvaluationCase<'s>| case.norm.size() + case.evaluated.size();
            n.algebra.work.charge(cases.iter().map(size).sum());
            Ok((*cases).clone())
        }
        _ => Ok(vec![EvaluationCase { norm: n.norm_copy(goal)?, evaluated: Evaluated::nothing() }]),
    }
}

/// The product of two lists of cases.
fn product<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    keyword: &'static str,
    left: &[EvaluationCase<'s>],
    right: &[EvaluationCase<'s>],
) -> Result<Vec<EvaluationCase<'s>>> {
    let mut cases = Vec::new();
    // Those of several conditions on one member exclude each other for the most part.
    let are_many = left.len() > 1 && right.len() > 1;
    for one in left {
        for other in right {
            n.algebra.work.charge(one.evaluated.cost_beside(&other.evaluated));
            n.check_spent()?;
            let evaluated = one.evaluated.or(&other.evaluated);
            let norm = match n.conjoin(&one.norm, &other.norm) {
                Ok(norm) => norm,
                Err(_) => {
                    n.too_many(node, Some(keyword))?;
                    one.norm.clone()
                }
            };
            if !(norm.is_never() || are_many && n.surely_empty(&norm, MAX_PROOF_DEPTH)) {
                cases.push(EvaluationCase { norm, evaluated });
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
    cases: &mut Vec<EvaluationCase<'s>>,
) -> Result<()> {
    n.check_work()?;
    if cases.len() > n.options.limits.alternatives {
        n.too_many(node, Some(keyword))?;
        *cases = vec![EvaluationCase { norm: NormalForm::any(), evaluated: Evaluated::ALL }];
    }
    Ok(())
}

/// Some cases, and all branches. The cases tell those of the branches apart.
fn all_of<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    value: &'s Value<'s>,
    mut cases: Vec<EvaluationCase<'s>>,
) -> Result<Vec<EvaluationCase<'s>>> {
    for branch in n.branches(node, "allOf", value)? {
        let parts = goal_cases(n, branch)?;
        cases = product(n, node, "allOf", &cases, &parts)?;
    }
    Ok(cases)
}

/// One branch or more.
fn any_of<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    keyword: &'static str,
    value: &'s Value<'s>,
) -> Result<Vec<EvaluationCase<'s>>> {
    let mut all: Vec<EvaluationCase<'s>> = Vec::new();
    for branch in n.branches(node, keyword, value)? {
        let parts = goal_cases(n, branch)?;
        let mut joined = Vec::new();
        for case in &all {
            for part in &parts {
                n.algebra.work.charge(case.evaluated.cost_beside(&part.evaluated));
                n.check_spent()?;
                joined.extend(conjoin_cases(n, node, case, part)?);
            }
        }
        all.extend(parts);
        all.extend(joined);
        bounded(n, node, keyword, &mut all)?;
    }
    Ok(all)
}

/// Where both hold, as far as that evaluates more than one of them.
fn conjoin_cases<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    one: &EvaluationCase<'s>,
    other: &EvaluationCase<'s>,
) -> Result<Option<EvaluationCase<'s>>> {
    let settled = |covers: fn(&Evaluated<'s>, &Evaluated<'s>) -> bool| {
        covers(&one.evaluated, &other.evaluated) || covers(&other.evaluated, &one.evaluated)
    };
    let kinds = |norm: &NormalForm<'s>| {
        let mut kinds = NormalForm::never();
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
    let is_empty = n.surely_empty(&norm, MAX_PROOF_DEPTH);
    Ok((!is_empty).then(|| EvaluationCase { norm, evaluated: one.evaluated.or(&other.evaluated) }))
}

/// One branch, and none of those others that it may hold together with beside the cases so far.
fn one_of<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    value: &'s Value<'s>,
    beside: &[EvaluationCase<'s>],
) -> Result<Vec<EvaluationCase<'s>>> {
    let any = NormalForm::any();
    let context = if let [case] = beside { &case.norm } else { &any };
    let Some(branches) = n.viable_branches(node, value, context)? else {
        return Ok(vec![EvaluationCase { norm: any, evaluated: Evaluated::ALL }]);
    };
    let mut all = Vec::new();
    for branch in branches {
        let parts = goal_cases(n, branch.goal)?;
        let norm = n.without_rivals(node, &branch)?;
        let alone = EvaluationCase { norm, evaluated: Evaluated::nothing() };
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
) -> Result<Vec<EvaluationCase<'s>>> {
    let mut branch = |keyword: &'static str| match members.get(keyword) {
        Some(value) => n.subschema(node, PathStep::Keyword(keyword), value),
        None => Ok(GoalId::ANY),
    };
    let (then, otherwise) = (branch("then")?, branch("else")?);
    let condition = n.subschema(node, PathStep::Keyword("if"), value)?;
    let holds = goal_cases(n, condition)?;
    let consequence = goal_cases(n, then)?;
    let mut all = product(n, node, "if", &holds, &consequence)?;
    let fails = if (then, otherwise) == (GoalId::ANY, GoalId::ANY) {
        // The condition asserts nothing, and failing it evaluates nothing.
        GoalId::ANY
    } else {
        n.algebra.goals.not(condition)
    };
    let fails = EvaluationCase { norm: n.norm_copy(fails)?, evaluated: Evaluated::nothing() };
    let otherwise = goal_cases(n, otherwise)?;
    all.extend(product(n, node, "if", &[fails], &otherwise)?);
    Ok(all)
}

/// For each name: it is absent, or it is there and what depends on it holds.
fn dependent<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<Vec<EvaluationCase<'s>>> {
    let KeywordAt { node, keyword, value, .. } = at;
    let plain = |norm: NormalForm<'s>| EvaluationCase { norm, evaluated: Evaluated::nothing() };
    // The reader says what is malformed.
    let whole = objects::dependent(n, at)?;
    let mut cases = vec![plain(whole)];
    for (name, schema) in value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_array()) {
        let goal = n.subschema(node, PathStep::Member(keyword, name), schema)?;
        let with = |value: GoalId, presence: Presence| {
            let objects = vec![ObjectShape::with_property(name, value, presence)];
            plain(NormalForm { objects, ..NormalForm::any() })
        };
        let holds = goal_cases(n, goal)?;
        let mut parts = product(n, node, keyword, &[with(GoalId::ANY, Presence::Required)], &holds)?;
        // Of what is no object, the schema says nothing.
        for part in &mut parts {
            part.norm = NormalForm { objects: std::mem::take(&mut part.norm.objects), ..NormalForm::never() };
        }
        parts.push(with(GoalId::NEVER, Presence::Optional));
        cases = product(n, node, keyword, &cases, &parts)?;
    }
    Ok(cases)
}

/// Applies a goal to the members or items that a case leaves unevaluated.
fn apply_to_unevaluated<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    case: &mut EvaluationCase<'s>,
    keyword: &'static str,
    goal: GoalId,
) -> Result<()> {
    let mut rest = NormalForm::any();
    if keyword == "unevaluatedProperties" {
        // Taken away: after this keyword everything is evaluated, for schemas around this one.
        let Some(some) = case.evaluated.members.take() else { return Ok(()) };
        rest.objects = vec![some.with_others(goal)];
    } else {
        let Some(some) = case.evaluated.items.take() else { return Ok(()) };
        let goals = &mut n.algebra.goals;
        // An item may be one that was evaluated, or satisfy the goal. That is: not every condition fails.
        let mut fails = goals.not(goal);
        for &other in &some.that {
            fails = goals.without(fails, other);
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
