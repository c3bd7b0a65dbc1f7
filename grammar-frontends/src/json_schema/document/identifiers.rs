//! The names that a document gives to its schemas: `$id`, `$anchor` and their kin.

use grammask_grammar_ir::hash::HashMap;

use super::ids::{Draft, NodeId};
use super::json::{Members, Value};
use super::pointer::escape;
use super::subschema_keywords::{SCHEMA_MAPS, SCHEMAS};
use super::uri;
use crate::json_schema::work::Work;

/// The name under which `$recursiveAnchor` is kept. No anchor can have it.
pub(crate) const RECURSIVE: &str = "#recursive";

/// The place of a schema.
#[derive(Clone, Debug)]
pub(crate) struct SchemaLocation<'s> {
    pub(crate) value: &'s Value<'s>,
    /// The root of its document.
    pub(crate) root: NodeId,
    /// From the root on.
    pub(crate) pointer: String,
}

/// An anchor that a dynamic reference can lead to.
#[derive(Clone, Debug)]
pub(crate) struct DynamicAnchor<'s> {
    pub(crate) name: String,
    pub(crate) place: SchemaLocation<'s>,
    /// Its number among all.
    pub(crate) number: u32,
}

/// Schemas with names, found by one pass over each document.
#[derive(Default)]
pub(crate) struct Identifiers<'s> {
    /// By absolute URI without fragment.
    pub(crate) resources: HashMap<String, SchemaLocation<'s>>,
    /// By absolute URI with the anchor as fragment.
    pub(crate) anchors: HashMap<String, SchemaLocation<'s>>,
    /// By the address of the resource's root.
    dynamic: HashMap<*const Value<'s>, Vec<DynamicAnchor<'s>>>,
    dynamic_places: Vec<SchemaLocation<'s>>,
}

impl<'s> Identifiers<'s> {
    /// The dynamic anchors of a resource.
    pub(crate) fn dynamic_anchors(&self, resource: *const Value<'s>) -> &[DynamicAnchor<'s>] {
        self.dynamic.get(&resource).map_or(&[], Vec::as_slice)
    }

    /// The place of the dynamic anchor of a number.
    pub(crate) fn dynamic_place(&self, number: u32) -> Option<SchemaLocation<'s>> {
        self.dynamic_places.get(number as usize).cloned()
    }

    /// Finds the names in all schemas of a document. The value of any other keyword is no schema,
    /// even if it looks like one.
    pub(crate) fn collect(
        &mut self,
        value: &'s Value<'s>,
        root: NodeId,
        address: &str,
        draft: Draft,
        work: &Work,
    ) {
        let first = SchemaLocation { value, root, pointer: String::new() };
        self.resources.entry(address.to_owned()).or_insert_with(|| first.clone());
        let resource = std::ptr::from_ref(value);
        let mut stack = vec![Visit { place: first, base: address.to_owned(), draft, resource }];
        while let Some(mut visit) = stack.pop() {
            let Value::Object(members) = visit.place.value else { continue };
            if visit.place.pointer.is_empty() {
                // The root's dialect is known; a fetched document's address is its name, too.
                if let Some(id) = embedded_id(visit.place.value, draft) {
                    visit.enter(id, draft);
                    self.resources.entry(visit.base.clone()).or_insert_with(|| visit.place.clone());
                }
            } else if let (Some(id), draft) = resource_of(&visit) {
                visit.enter(id, draft);
                self.resources.entry(visit.base.clone()).or_insert_with(|| visit.place.clone());
            }
            self.anchors_of(members, &visit);
            work.charge(2 + visit.base.len() / 16);
            visit.children(members, &mut stack, work);
        }
    }

    fn anchors_of(&mut self, members: &Members<'s>, visit: &Visit<'s>) {
        let text = |keyword: &str| members.get(keyword).and_then(Value::as_str);
        let old = visit.draft.ref_hides_siblings();
        let fragment = text(visit.draft.id_keyword()).and_then(|id| id.strip_prefix('#')).filter(|_| old);
        let dynamic = text("$dynamicAnchor").filter(|_| visit.draft >= Draft::Draft2020);
        let fixed = text("$anchor").filter(|_| !old);
        for anchor in [fixed, dynamic, fragment].into_iter().flatten() {
            let entry = self.anchors.entry(format!("{}#{anchor}", visit.base));
            entry.or_insert_with(|| visit.place.clone());
        }
        let recursive = visit.draft == Draft::Draft2019
            && members.get("$recursiveAnchor").is_some_and(Value::is_true)
            && std::ptr::eq(visit.place.value, visit.resource);
        for name in dynamic.into_iter().chain(recursive.then_some(RECURSIVE)) {
            // Every anchor comes from a keyword of a bounded document.
            let number = u32::try_from(self.dynamic_places.len()).unwrap_or(u32::MAX);
            let place = visit.place.clone();
            self.dynamic_places.push(place.clone());
            let anchor = DynamicAnchor { name: name.to_owned(), place, number };
            self.dynamic.entry(visit.resource).or_default().push(anchor);
        }
    }
}

/// A schema to look into.
struct Visit<'s> {
    place: SchemaLocation<'s>,
    base: String,
    draft: Draft,
    /// The root of the resource that it belongs to.
    resource: *const Value<'s>,
}

impl<'s> Visit<'s> {
    fn enter(&mut self, id: &str, draft: Draft) {
        self.base = uri::resolve(&self.base, id);
        self.base.truncate(self.base.find('#').unwrap_or(self.base.len()));
        self.resource = self.place.value;
        self.draft = draft;
    }

    fn children(&self, members: &'s Members<'s>, stack: &mut Vec<Visit<'s>>, work: &Work) {
        for (keyword, member) in members {
            let mut push = |value, step: &str| {
                work.charge(2 + (self.place.pointer.len() + self.base.len()) / 16);
                if work.is_spent() {
                    return;
                }
                let pointer = format!("{}/{keyword}{step}", self.place.pointer);
                let place = SchemaLocation { value, root: self.place.root, pointer };
                let Visit { draft, resource, .. } = *self;
                stack.push(Visit { place, base: self.base.clone(), draft, resource });
            };
            match member {
                Value::Object(schemas) if SCHEMA_MAPS.contains(&keyword) => {
                    let schemas = schemas.into_iter().filter(|(_, schema)| schema.is_object());
                    schemas.for_each(|(name, schema)| push(schema, &format!("/{}", escape(name))));
                }
                Value::Object(_) if SCHEMAS.contains(&keyword) => push(member, ""),
                Value::Array(schemas) if SCHEMAS.contains(&keyword) => {
                    let schemas = schemas.iter().enumerate().filter(|(_, schema)| schema.is_object());
                    schemas.for_each(|(index, schema)| push(schema, &format!("/{index}")));
                }
                _ => {}
            }
        }
    }
}

fn resource_of<'s>(visit: &Visit<'s>) -> (Option<&'s str>, Draft) {
    resource(visit.place.value, visit.draft)
}

/// The `$id` of a schema that is a resource of its own, and the dialect in force in it: what its `$schema`
/// says, else the one around it.
pub(crate) fn resource<'s>(value: &'s Value<'_>, around: Draft) -> (Option<&'s str>, Draft) {
    if let Some(declared) = declared_draft(value).filter(|&declared| declared != around)
        && let Some(id) = embedded_id(value, declared)
    {
        return (Some(id), declared);
    }
    (embedded_id(value, around), around)
}

/// The dialect that a schema names, if it is known.
pub(crate) fn declared_draft(value: &Value<'_>) -> Option<Draft> {
    Draft::from_uri(value.as_object()?.get("$schema")?.as_str()?)
}

/// The `$id` that makes a schema a resource of its own; an `$id` that is only a fragment is an anchor.
pub(crate) fn embedded_id<'s>(value: &'s Value<'_>, draft: Draft) -> Option<&'s str> {
    let object = value.as_object()?;
    let id = object.get(draft.id_keyword())?;
    if draft.ref_hides_siblings() && object.get("$ref").is_some() {
        return None;
    }
    id.as_str().filter(|id| !id.starts_with('#') && !id.is_empty())
}

/// Whether a keyword of dynamic references occurs anywhere.
pub(crate) fn has_dynamic_keywords(root: &Value<'_>) -> bool {
    let mut stack = vec![root];
    while let Some(value) = stack.pop() {
        match value {
            Value::Object(members) => {
                for (keyword, value) in *members {
                    if keyword.starts_with('$') && ["$dynamicRef", "$recursiveRef"].contains(&keyword) {
                        return true;
                    }
                    if value.is_container() {
                        stack.push(value);
                    }
                }
            }
            Value::Array(items) => {
                stack.extend(items.iter().filter(|value| value.is_container()));
            }
            _ => {}
        }
    }
    false
}

/// Whether a document has at most this many values.
pub(crate) fn holds_at_most(root: &Value<'_>, limit: usize) -> bool {
    let (mut stack, mut count) = (vec![root], 0);
    while let Some(value) = stack.pop() {
        count += 1;
        if count > limit {
            return false;
        }
        match value {
            Value::Object(members) => stack.extend(members.values()),
            Value::Array(items) => stack.extend(*items),
            _ => {}
        }
    }
    true
}
