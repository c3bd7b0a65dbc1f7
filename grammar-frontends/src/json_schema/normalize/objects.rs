//! `properties`, `required`, `additionalProperties`, `patternProperties`, `propertyNames`, `minProperties`,
//! `maxProperties`, and the dependencies.

use grammask_grammar_ir::hash::{HashMap, HashSet, Hashing};

use super::evaluated::EvaluatedMembers;
use super::normalizer::{KeywordAt, Normalizer};
use super::numbers::count;
use super::strings::pattern_test;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::{Draft, NodeId};
use crate::json_schema::document::json::{Members, Value};
use crate::json_schema::document::nodes::PathStep;
use crate::json_schema::options::Objects;
use crate::json_schema::sets::goals::{Atom, GoalId};
use crate::json_schema::sets::normal_form::{Algebra, NormalForm};
use crate::json_schema::sets::object_shape::{
    Cell, ObjectShape, Presence, Property, PropertyOrigin, join_tests,
};
use crate::json_schema::sets::text_tests::{Polarity, TestId, TextTest};

/// Cells that one schema's patterns may cut the names into.
const MAX_CELLS: usize = 64;

/// Patterns from which on it is looked at whether two of them have a name in common.
const MIN_CHECKED_PATTERNS: usize = 5;

pub(crate) fn read<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
) -> Result<ObjectShape<'s>> {
    let declared = object(n, node, members, "properties")?;
    let patterns = patterns(n, node, members)?;
    let (rest, beside) = rest(n, node, members)?;
    let mut shape = ObjectShape::with_rest(rest);
    split_by_patterns(n, node, &mut shape, &patterns, rest)?;
    let mut places: HashMap<&str, usize> =
        HashMap::with_capacity_and_hasher(declared.map_or(0, |declared| declared.len()), Hashing);
    for (name, value) in declared.into_iter().flatten() {
        let mut goal = n.subschema(node, PathStep::Member("properties", name), value)?;
        for &(test, pattern_goal) in &patterns {
            if n.algebra.tests.passes(TextTest { test, sense: Polarity::Holds }, name) {
                goal = n.algebra.goals.and(goal, pattern_goal);
            }
        }
        places.insert(name, shape.properties.len());
        let presence = Presence::Optional;
        shape.properties.push(Property { name, value: goal, presence, origin: PropertyOrigin::Declared });
    }
    for name in required(n, node, members.get("required"), "required")? {
        match places.get(name) {
            Some(&at) => shape.properties[at].presence = Presence::Required,
            None => {
                let holds = |test| n.algebra.tests.passes(TextTest { test, sense: Polarity::Holds }, name);
                // The schema asks for it, and only the option is in its way.
                let is_let_in = beside.is_some() && !patterns.iter().any(|&(test, _)| holds(test));
                let value = if is_let_in { GoalId::ANY } else { shape.free_value(name, &n.algebra.tests) };
                places.insert(name, shape.properties.len());
                let (presence, origin) = (Presence::Required, PropertyOrigin::Mentioned);
                shape.properties.push(Property { name, value, presence, origin });
            }
        }
    }
    if let Some(value) = members.get("propertyNames").filter(|_| n.document.draft(node) >= Draft::Draft6) {
        restrict_names(n, node, &mut shape, value)?;
    }
    shape.min = count(n, node, members, "minProperties")?.unwrap_or(0);
    shape.max = count(n, node, members, "maxProperties")?;
    let shape = shape.normalized();
    let Some(mut allowed) = beside.filter(|others| !others.is_empty()) else { return Ok(shape) };
    allowed.names.extend(places.keys());
    allowed.tests.extend(patterns.iter().map(|&(test, _)| test));
    // Each pattern splits the names that no pattern before it has found.
    n.algebra.work.charge(allowed.size() + allowed.tests.len().saturating_mul(allowed.tests.len()) / 4);
    n.check_spent()?;
    let Algebra { goals, tests, .. } = &mut n.algebra;
    Ok(shape.and(&allowed.sorted().with_others(GoalId::NEVER), goals, tests))
}

fn object<'s>(
    n: &Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
    keyword: &str,
) -> Result<Option<&'s Members<'s>>> {
    match members.get(keyword) {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(n.malformed(node, keyword, "an object")),
    }
}

fn patterns<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
) -> Result<Vec<(TestId, GoalId)>> {
    let mut patterns: Vec<(TestId, GoalId)> = Vec::new();
    for (pattern, value) in object(n, node, members, "patternProperties")?.into_iter().flatten() {
        let goal = n.subschema(node, PathStep::Member("patternProperties", pattern), value)?;
        let keyword = format!("patternProperties/{}", crate::json_schema::document::pointer::escape(pattern));
        if let Some(test) = pattern_test(n, node, &keyword, pattern)? {
            patterns.push((test.test, goal));
        }
    }
    Ok(patterns)
}

/// The values of members that the schema does not name; and those that it allows beside its own, where an option closes it.
fn rest<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
) -> Result<(GoalId, Option<EvaluatedMembers<'s>>)> {
    if let Some(value) = members.get("additionalProperties") {
        return Ok((n.subschema(node, PathStep::Keyword("additionalProperties"), value)?, None));
    }
    let declares = ["properties", "patternProperties"].iter().any(|&key| members.get(key).is_some());
    if !declares || n.options.objects == Objects::Open {
        return Ok((GoalId::ANY, None));
    }
    let others = n.members_beside(node)?;
    // Beside others the members are closed as a whole, once all of them are known.
    let rest =
        if others.as_ref().is_some_and(EvaluatedMembers::is_empty) { GoalId::NEVER } else { GoalId::ANY };
    Ok((rest, others))
}

/// Cuts the undeclared names by the patterns: a name that matches some gets the goals of all that it
/// matches, and only a name that matches none gets `rest`.
fn split_by_patterns<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    shape: &mut ObjectShape<'s>,
    patterns: &[(TestId, GoalId)],
    rest: GoalId,
) -> Result<()> {
    let is_some = |cell: &Cell| cell.tests.iter().any(|test| test.sense == Polarity::Holds);
    for (at, &(test, goal)) in patterns.iter().enumerate() {
        let apart = match patterns.len() {
            MIN_CHECKED_PATTERNS.. => {
                let before = patterns[..at].iter();
                before.map(|&(other, _)| other).filter(|&other| n.algebra.are_disjoint(test, other)).collect()
            }
            _ => Vec::new(),
        };
        let mut cells = Vec::new();
        for cell in std::mem::take(&mut shape.cells) {
            // A name that matches a pattern apart from this one does not match this one.
            if cell.tests.iter().any(|other| other.sense == Polarity::Holds && apart.contains(&other.test)) {
                cells.push(cell);
                continue;
            }
            for sense in [Polarity::Holds, Polarity::Fails] {
                let Some(tests) = join_tests(&cell.tests, &[TextTest { test, sense }]) else { continue };
                let value = match sense {
                    Polarity::Holds if is_some(&cell) => n.algebra.goals.and(cell.value, goal),
                    Polarity::Holds => goal,
                    Polarity::Fails if is_some(&cell) => cell.value,
                    Polarity::Fails => rest,
                };
                cells.push(Cell { tests, value });
            }
        }
        shape.cells = cells;
        if shape.cells.len() > MAX_CELLS {
            let reason = format!("the patterns may overlap in more than {MAX_CELLS} ways");
            n.unsupported(node, "patternProperties", reason, "use fewer patterns")?;
            *shape = ObjectShape::any();
            return Ok(());
        }
    }
    Ok(())
}

fn required<'s>(
    n: &Normalizer<'s>,
    node: NodeId,
    value: Option<&'s Value<'s>>,
    keyword: &str,
) -> Result<Vec<&'s str>> {
    let names = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(names)) => names.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
        Some(_) => None,
    };
    names.ok_or_else(|| n.malformed(node, keyword, "a list of strings"))
}

fn restrict_names<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    shape: &mut ObjectShape<'s>,
    value: &'s Value<'s>,
) -> Result<()> {
    let goal = n.subschema(node, PathStep::Keyword("propertyNames"), value)?;
    let strings = n.norm(goal)?.strings.clone();
    if strings == NormalForm::any().strings {
        return Ok(());
    }
    // A finite set of names is declared, so that none of them can occur twice.
    if let [only] = strings.as_slice()
        && let Some(values) = &only.values
    {
        let declared: HashSet<&str> = shape.properties.iter().map(|property| property.name).collect();
        for &name in values {
            if !declared.contains(name) {
                let value = shape.free_value(name, &n.algebra.tests);
                let (presence, origin) = (Presence::Optional, PropertyOrigin::Mentioned);
                shape.properties.push(Property { name, value, presence, origin });
            }
        }
        shape.cells = ObjectShape::with_rest(GoalId::NEVER).cells;
    }
    let test = n.algebra.tests.language(strings);
    for property in &mut shape.properties {
        if !n.algebra.tests.passes(TextTest { test, sense: Polarity::Holds }, property.name) {
            property.value = GoalId::NEVER;
        }
    }
    if !shape.is_closed() {
        shape.refine(test, |sense, value| if sense == Polarity::Holds { value } else { GoalId::NEVER });
    }
    Ok(())
}

/// The object that equals a constant.
pub(crate) fn constant<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
) -> ObjectShape<'s> {
    let mut shape = ObjectShape::with_rest(GoalId::NEVER);
    for (name, value) in members {
        let child = n.document.child(node, PathStep::Name(name), value);
        let value = n.algebra.goals.atom(Atom::Const(child));
        let (presence, origin) = (Presence::Required, PropertyOrigin::Declared);
        shape.properties.push(Property { name, value, presence, origin });
    }
    shape
}

/// For each name: it is absent, or it is there and what depends on it holds.
pub(crate) fn dependent<'s>(n: &mut Normalizer<'s>, at: KeywordAt<'s>) -> Result<NormalForm<'s>> {
    let KeywordAt { node, members, keyword, .. } = at;
    let mut norm = NormalForm::any();
    for (name, value) in object(n, node, members, keyword)?.into_iter().flatten() {
        let expected = match keyword {
            "dependentRequired" if !value.is_array() => Some("lists of strings"),
            "dependentSchemas" if value.is_array() => Some("schemas"),
            "dependencies" if !value.is_container() && !value.is_boolean() => {
                Some("schemas and lists of strings")
            }
            _ => None,
        };
        if let Some(expected) = expected {
            let expected = format!("an object of {expected}");
            return Err(n.malformed(node, keyword, &expected));
        }
        let mut holds = NormalForm::any();
        let mut present = ObjectShape::with_property(name, GoalId::ANY, Presence::Required);
        if value.is_array() {
            let mut met = HashSet::from_iter([name]);
            for other in required(n, node, Some(value), keyword)? {
                if met.insert(other) {
                    let (presence, origin) = (Presence::Required, PropertyOrigin::Mentioned);
                    present.properties.push(Property { name: other, value: GoalId::ANY, presence, origin });
                }
            }
            if present.properties.len() == 1 {
                continue;
            }
        } else {
            let goal = n.subschema(node, PathStep::Member(keyword, name), value)?;
            if goal == GoalId::ANY {
                continue;
            }
            holds = n.norm_copy(goal)?;
        }
        // An optional member that nothing satisfies: the name is absent.
        let absent = ObjectShape::with_property(name, GoalId::NEVER, Presence::Optional);
        let mut cases = NormalForm::any();
        if let Some(tag) = tag_of(n, &holds) {
            let others = n.algebra.goals.not(tag.value);
            let other = ObjectShape::with_property(tag.name, others, Presence::Required);
            cases.objects = vec![n.conjoined(&other, &absent)];
            cases.objects.extend(holds.objects);
        } else {
            cases.objects = vec![present];
            let holds = NormalForm { objects: holds.objects, ..NormalForm::any() };
            cases = match cases.and(&holds, &mut n.algebra) {
                Ok(cases) => cases,
                Err(_) => return too_many(n, node, keyword),
            };
            cases.objects.push(absent);
        }
        norm = match n.conjoin(&norm, &cases) {
            Ok(norm) => norm,
            Err(_) => return too_many(n, node, keyword),
        };
    }
    Ok(norm)
}

/// The only member that objects are about, where it is one of some scalars: the kind of the object, mostly. Cases by its
/// values stay few where many names depend on them.
fn tag_of<'s>(n: &mut Normalizer<'s>, norm: &NormalForm<'s>) -> Option<Property<'s>> {
    let [shape] = norm.objects.as_slice() else { return None };
    let [property] = shape.properties.as_slice() else { return None };
    let is_alone = ObjectShape { properties: Vec::new(), ..shape.clone() }.is_any();
    if !is_alone || property.presence == Presence::Required {
        return None;
    }
    let values = n.known_norm(property.value)?;
    (!values.is_never() && values.lists_scalars()).then(|| property.clone())
}

fn too_many<'s>(n: &mut Normalizer<'s>, node: NodeId, keyword: &str) -> Result<NormalForm<'s>> {
    n.check_work()?;
    let reason = "the dependencies have too many combinations";
    n.unsupported(node, keyword, reason, "use fewer dependencies or raise the limit `alternatives`")?;
    Ok(NormalForm::any())
}
