//! Closed objects, where an option asks for them: the members that a schema allows beside those that it declares.
//!
//! The naive way is to read every schema that declares members as if it said `additionalProperties: false`. Schemas for one
//! object (`allOf`, `then`, what `$ref` leads to) then exclude the members of each other. In a condition (`not`, `if`,
//! `contains`, an alternative of `oneOf` that must fail) fewer objects satisfy the schema, so that more values are let
//! through. So conditions stay open, and a schema also allows the members that other schemas for the same object mention.
//! Those of a list of alternatives do not count for one another. All values that are left satisfy the open schemas.

use grammask_grammar_ir::hash::HashSet;

use super::applicators::UNTYPED_KEYWORDS;
use super::evaluated::EvaluatedMembers;
use super::members_beside::{Allowed, PartId, Parts};
use super::normalizer::Normalizer;
use super::strings::pattern_test;
use crate::diagnostic::Result;
use crate::json_schema::document::dynamic_scope::Closing;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::document::json::{Members, Value};
use crate::json_schema::document::nodes::PathStep;
use crate::json_schema::document::pointer::escape;
use crate::json_schema::document::subschema_keywords::{SCHEMA_MAPS, SCHEMAS};
use crate::json_schema::options::Objects;
use crate::json_schema::sets::goals::{Atom, GoalId};

/// Parts of a schema from which on each also allows what it mentions itself, to whatever schema inside of it.
const MANY_PARTS: usize = 32;

/// Keywords whose schemas are about the same object: those of one schema, those of a list, those of an object.
const ONE: [&str; 3] = ["if", "then", "else"];
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const BY_NAME: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Keywords with names of members that must be there beside others.
const DEPENDENT_NAMES: [&str; 2] = ["dependentRequired", "dependencies"];

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords with which a schema may say of members that it does not declare what they are. Where a dynamic reference leads
/// depends on more than its place.
const SAYS_OF_OTHERS: [&str; 4] =
    ["additionalProperties", "unevaluatedProperties", "$dynamicRef", "$recursiveRef"];

/// Whether a keyword has schemas for the value or for parts of it.
fn is_about_parts(keyword: &str) -> bool {
    REFERENCES.contains(&keyword) || SCHEMAS.contains(&keyword) || SCHEMA_MAPS.contains(&keyword)
}

/// Whether each object that satisfies a schema satisfies one inside of it that is closed by itself.
fn has_closed_part(members: &Members<'_>) -> bool {
    let all = |keyword: &str| members.get(keyword).and_then(Value::as_array).unwrap_or_default();
    let is_closed = |schema: &Value<'_>| schema.as_object().is_some_and(is_closed_alone);
    let is_list_closed = |schemas: &[Value<'_>]| !schemas.is_empty() && schemas.iter().all(is_closed);
    all("allOf").iter().any(is_closed) || is_list_closed(all("anyOf")) || is_list_closed(all("oneOf"))
}

/// Whether the option closes a schema by itself, or no object satisfies it.
fn is_closed_alone(members: &Members<'_>) -> bool {
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| members.contains_key(keyword));
    let is_other_type = || members.get("type").and_then(Value::as_str).is_some_and(|name| name != "object");
    // In old drafts a reference hides the keywords beside it.
    !has(&["$ref"]) && (is_other_type() || has(&["properties", "patternProperties"]) && !has(&SAYS_OF_OTHERS))
}

fn is_about_same_object(keyword: &str) -> bool {
    keyword == "$ref"
        || ONE.contains(&keyword)
        || LISTS.contains(&keyword)
        || BY_NAME.contains(&keyword)
        || DEPENDENT_NAMES.contains(&keyword)
}

fn texts<'s>(value: &'s Value<'s>) -> impl Iterator<Item = &'s str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

impl<'s> Normalizer<'s> {
    /// The goal of a sub-schema, as a condition.
    pub(super) fn as_condition(&mut self, goal: GoalId) -> GoalId {
        match *self.algebra.goals.atoms(goal) {
            [Atom::Schema(node)] if self.options.objects == Objects::Closed => {
                let condition = self.closed(node, Closing::Never);
                self.algebra.goals.atom(Atom::Schema(condition))
            }
            _ => goal,
        }
    }

    /// The same schema where objects are closed in another way, if that makes a difference to it.
    pub(super) fn closed(&mut self, node: NodeId, closing: Closing) -> NodeId {
        let is_plain = closing != Closing::Alone
            && self
                .document
                .value(node)
                .as_object()
                .is_some_and(|members| !members.keys().any(is_about_parts));
        self.document.with_closing(node, if is_plain { Closing::Alone } else { closing })
    }

    /// The members that the option lets a schema have which are not its own; `None` where it does not close the schema.
    pub(super) fn members_beside(&mut self, node: NodeId) -> Result<Allowed<'s>> {
        let members = self.document.value(node).as_object();
        let has = |is_one: fn(&str) -> bool| members.is_some_and(|members| members.keys().any(is_one));
        match self.document.closing(node) {
            Closing::Never => Ok(None),
            _ if has(|keyword| SAYS_OF_OTHERS.contains(&keyword)) => Ok(None),
            Closing::Alone if !has(is_about_same_object) => Ok(Some(EvaluatedMembers::default())),
            // The part that is closed allows no more members than the whole would.
            _ if members.is_some_and(has_closed_part) => Ok(None),
            _ => Ok(self.beside_part(node, Some(PartId::Own))?.map(EvaluatedMembers::sorted)),
        }
    }

    /// How objects are closed in a sub-schema, or in the target of a reference.
    pub(super) fn closing_below(
        &mut self,
        node: NodeId,
        step: &PathStep<'s>,
        value: &'s Value<'s>,
    ) -> Result<Closing> {
        if self.options.objects == Objects::Open {
            return Ok(Closing::Alone);
        }
        if self.document.closing(node) == Closing::Never {
            return Ok(Closing::Never);
        }
        let part = match *step {
            PathStep::Keyword("not" | "if" | "contains") => return Ok(Closing::Never),
            PathStep::Keyword("$ref" | "then" | "else") | PathStep::Index("allOf", _) => {
                PartId::Schemas(value)
            }
            PathStep::Member(keyword, _) if BY_NAME.contains(&keyword) => PartId::Schemas(value),
            PathStep::Index(keyword @ ("anyOf" | "oneOf"), _) => {
                let members = self.document.value(node).as_object();
                members
                    .and_then(|members| members.get(keyword))
                    .map_or(PartId::Own, |list| PartId::Schemas(list))
            }
            _ => return Ok(Closing::Alone),
        };
        let number = self.number_beside_part(node, part)?;
        let is_alone = self.closings.beside[number as usize].as_ref().is_some_and(EvaluatedMembers::is_empty);
        Ok(if is_alone { Closing::Alone } else { Closing::Beside(number) })
    }

    fn number_beside_part(&mut self, node: NodeId, part: PartId<'s>) -> Result<u32> {
        self.read_parts(node)?;
        let place = self.document.place(node);
        let are_many =
            self.closings.parts.get(&place).is_some_and(|parts| parts.mentioned.len() > MANY_PARTS);
        let is_alone = self.document.closing(node) == Closing::Alone;
        if are_many
            && is_alone
            && let Some(known) = self.closings.parts.get(&place).and_then(|parts| parts.all)
        {
            return Ok(known);
        }
        let allowed = self.beside_part(node, (!are_many).then_some(part))?;
        let number = self.closings.number(allowed.map(EvaluatedMembers::sorted));
        if let Some(parts) = self.closings.parts.get_mut(&place).filter(|_| are_many && is_alone) {
            parts.all = Some(number);
        }
        Ok(number)
    }

    /// Members that the parts of a schema mention, but for one of them, and schemas that the schema itself is a part of.
    fn beside_part(&mut self, node: NodeId, part: Option<PartId<'s>>) -> Result<Allowed<'s>> {
        self.read_parts(node)?;
        let mut allowed = match self.document.closing(node) {
            Closing::Beside(number) => self.closings.beside[number as usize].clone(),
            Closing::Alone | Closing::Never => Some(EvaluatedMembers::default()),
        };
        let parts = self.closings.parts.get(&self.document.place(node));
        for (other, mentioned) in parts.into_iter().flat_map(|parts| &parts.mentioned) {
            if Some(*other) == part {
                continue;
            }
            let both = allowed.as_mut().zip(mentioned.as_ref());
            let Some((allowed, mentioned)) = both else { return Ok(None) };
            self.algebra.work.charge(1 + mentioned.size());
            self.check_spent()?;
            allowed.extend(mentioned);
        }
        Ok(allowed)
    }

    fn read_parts(&mut self, node: NodeId) -> Result<()> {
        let place = self.document.place(node);
        if self.closings.parts.contains_key(&place) {
            return Ok(());
        }
        let (own, dependent) = (self.own_members(place)?, self.dependent_members(place));
        let mut mentioned = vec![(PartId::Own, own), (PartId::Dependent, Some(dependent))];
        let schemas = self.schemas_of_same_object(place)?;
        // Those of one part are neighbours.
        for part in schemas.chunk_by(|one, other| one.0 == other.0) {
            let members = self.mentioned(part.iter().map(|&(_, schema)| schema).collect())?;
            mentioned.push((part[0].0, members));
        }
        self.closings.parts.insert(place, Parts { mentioned, all: None });
        Ok(())
    }

    /// Members that schemas mention, and schemas inside of them that are about the same object.
    fn mentioned(&mut self, mut open: Vec<NodeId>) -> Result<Allowed<'s>> {
        let mut met: HashSet<NodeId> = open.iter().copied().collect();
        let mut all = EvaluatedMembers::default();
        while let Some(place) = open.pop() {
            let Some(members) = self.own_members(place)? else { return Ok(None) };
            self.algebra.work.charge(20 + 2 * members.size());
            self.check_spent()?;
            all.extend(&members);
            all.extend(&self.dependent_members(place));
            let schemas = self.schemas_of_same_object(place)?.into_iter().map(|(_, schema)| schema);
            open.extend(schemas.filter(|&schema| met.insert(schema)));
        }
        Ok(Some(all.sorted()))
    }

    /// The members of a schema, unless a reference hides them.
    fn shown_members(&self, place: NodeId) -> Option<&'s Members<'s>> {
        let members = self.document.value(place).as_object()?;
        let are_hidden = members.contains_key("$ref") && self.document.draft(place).ref_hides_siblings();
        (!are_hidden).then_some(members)
    }

    /// Whether the draft of a schema has a keyword, one of those that speak about every type.
    fn is_keyword_at(&self, place: NodeId, keyword: &str) -> bool {
        let since = UNTYPED_KEYWORDS.iter().find(|(name, ..)| *name == keyword).map(|&(_, since, _)| since);
        since.is_some_and(|since| self.document.draft(place) >= since)
    }

    /// The members that a schema mentions itself; `None` where it says of all others what they may be.
    fn own_members(&mut self, place: NodeId) -> Result<Allowed<'s>> {
        let mut all = EvaluatedMembers::default();
        let Some(members) = self.shown_members(place) else { return Ok(Some(all)) };
        if SAYS_OF_OTHERS.iter().any(|keyword| members.contains_key(keyword)) {
            return Ok(None);
        }
        let object = |keyword: &str| members.get(keyword).and_then(Value::as_object).into_iter().flatten();
        all.names.extend(object("properties").map(|(name, _)| name));
        all.names.extend(members.get("required").into_iter().flat_map(texts));
        for (pattern, _) in object("patternProperties") {
            let keyword = format!("patternProperties/{}", escape(pattern));
            let Some(test) = pattern_test(self, place, &keyword, pattern)? else { return Ok(None) };
            all.tests.push(test.test);
        }
        Ok(Some(all))
    }

    /// The members that a schema asks for beside others.
    fn dependent_members(&self, place: NodeId) -> EvaluatedMembers<'s> {
        let mut all = EvaluatedMembers::default();
        let members = self.shown_members(place);
        for keyword in DEPENDENT_NAMES.into_iter().filter(|keyword| self.is_keyword_at(place, keyword)) {
            let names = members.and_then(|members| members.get(keyword)).and_then(Value::as_object);
            all.names.extend(names.into_iter().flatten().flat_map(|(_, names)| texts(names)));
        }
        all
    }

    /// The schemas inside of one that are about the same object, each with the part that it belongs to.
    fn schemas_of_same_object(&mut self, place: NodeId) -> Result<Vec<(PartId<'s>, NodeId)>> {
        let Value::Object(members) = self.document.value(place) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        if let Some(value) = members.get("$ref")
            && let Some(reference) = value.as_str()
            // A reference that leads nowhere is reported where it is read.
            && let Ok(target) = self.document.resolve(place, reference)
        {
            found.push((PartId::Schemas(value), self.document.place(target)));
        }
        let Some(members) = self.shown_members(place) else { return Ok(found) };
        let mut steps = Vec::new();
        let are_conditions_read = self.is_keyword_at(place, "if");
        for keyword in ONE.into_iter().filter(|_| are_conditions_read) {
            steps.extend(members.get(keyword).map(|value| (value, PathStep::Keyword(keyword), value)));
        }
        for keyword in LISTS {
            let Some(list) = members.get(keyword) else { continue };
            let schemas = list.as_array().into_iter().flatten().enumerate();
            let part = |schema| if keyword == "allOf" { schema } else { list };
            steps.extend(schemas.map(|(at, schema)| (part(schema), PathStep::Index(keyword, at), schema)));
        }
        for keyword in BY_NAME.into_iter().filter(|keyword| self.is_keyword_at(place, keyword)) {
            let schemas = members.get(keyword).and_then(Value::as_object).into_iter().flatten();
            steps.extend(schemas.map(|(name, schema)| (schema, PathStep::Member(keyword, name), schema)));
        }
        for (part, step, schema) in steps.into_iter().filter(|(.., schema)| schema.as_object().is_some()) {
            let child = self.document.child(place, step, schema);
            found.push((PartId::Schemas(part), self.document.place(child)));
        }
        self.check_goals()?;
        Ok(found)
    }
}
