//! The members that schemas allow where others ask for them, as data; see `closing`.

use grammask_grammar_ir::hash::HashMap;

use super::evaluated::EvaluatedMembers;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::document::json::Value;

/// Members that may occur; `None` is all of them.
pub(super) type Allowed<'s> = Option<EvaluatedMembers<'s>>;

/// Members that schemas allow for the sake of others.
#[derive(Default)]
pub(super) struct Closings<'s> {
    /// By their numbers.
    pub(super) beside: Vec<Allowed<'s>>,
    numbers: HashMap<Allowed<'s>, u32>,
    /// The parts of a schema, by its place.
    pub(super) parts: HashMap<NodeId, Parts<'s>>,
}

/// A part of a schema that is about the same object.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum PartId<'s> {
    /// The schema's own keywords, but for the others.
    Own,
    /// Those that ask for members beside others.
    Dependent,
    /// A schema in it, or a list of alternatives, by its address.
    Schemas(*const Value<'s>),
}

/// Members that the parts of a schema mention which are about the same object.
pub(super) struct Parts<'s> {
    pub(super) mentioned: Vec<(PartId<'s>, Allowed<'s>)>,
    /// The number of all together, once it was asked for.
    pub(super) all: Option<u32>,
}

impl<'s> Closings<'s> {
    pub(super) fn number(&mut self, allowed: Allowed<'s>) -> u32 {
        let next = u32::try_from(self.beside.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(allowed.clone()).or_insert(next);
        if number == next {
            self.beside.push(allowed);
        }
        number
    }
}
