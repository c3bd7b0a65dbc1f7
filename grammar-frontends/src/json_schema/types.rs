//! `type`, and schemas that have no other keyword.
//!
//! Most schemas are such. They have one normal form a type, which is found once: to look for fifty keywords that are not
//! there is most of what reading one of them takes.

use super::array_shape::ArrayShape;
use super::document::{Document, Draft, NodeId, member};
use super::goal::Atom;
use super::json::Value;
use super::keywords::{Fallible, Normalizer};
use super::norm::Norm;
use super::number_shape::{Kind, NumberShape};
use super::object_shape::ObjectShape;
use super::string_shape::StringShape;

/// Types whose values a schema can leave as they are.
pub(super) const PLAIN_TYPES: [&str; 5] = ["string", "number", "integer", "boolean", "null"];

impl<'s> Normalizer<'s> {
    /// Which of [`PLAIN_TYPES`] a schema names that says nothing else.
    pub(super) fn plain_type(&self, atom: Atom) -> Option<usize> {
        let Atom::Schema(node) = atom else { return None };
        let Value::Object(members) = self.document.value(node) else { return None };
        let name = member(members, "type")?.as_str()?;
        let plain = PLAIN_TYPES.iter().position(|&plain| plain == name)?;
        let says_nothing =
            |key: &str| matches!(key, "type" | "title" | "description" | "default" | "examples");
        // A report names every keyword, and what is an integer is a matter of the draft.
        let alike = self.report.is_none() && self.document.draft(node) == self.document.draft(Document::ROOT);
        (alike && members.keys().all(says_nothing)).then_some(plain)
    }

    /// All values of the types that are named.
    pub(super) fn types(&mut self, node: NodeId, value: &Value<'_>) -> Fallible<Norm<'s>> {
        let mut norm = Norm::never();
        let names = match value {
            Value::Array(names) => names,
            _ => std::slice::from_ref(value),
        };
        for name in names {
            match name.as_str() {
                Some("null") => norm.null = true,
                Some("boolean") => norm.booleans = [true, true],
                Some("number") => norm.numbers = vec![NumberShape::any()],
                Some("integer") if self.integers_differ(node) => {
                    let reason =
                        "draft 4 does not take `1.0` as an integer, and the schema around this one does";
                    let hint = "name one draft in `$schema` everywhere";
                    self.unsupported(node, "type", reason, hint)?;
                    norm.numbers = vec![NumberShape::any()];
                }
                Some("integer") if norm.numbers.is_empty() => {
                    norm.numbers = vec![NumberShape::of_kind(Kind::Integer)];
                }
                Some("integer") => {}
                Some("string") => norm.strings = vec![StringShape::any()],
                Some("array") => norm.arrays = vec![ArrayShape::any()],
                Some("object") => norm.objects = vec![ObjectShape::any()],
                Some("any") if self.document.draft(node) == Draft::Draft4 => norm = Norm::any(),
                _ => {
                    let expected = "`null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a \
                                    list of these";
                    return Err(self.malformed(node, "type", expected));
                }
            }
        }
        Ok(norm)
    }

    /// Whether numbers are spelled after a later draft than the one that a schema of draft 4 is in.
    fn integers_differ(&self, node: NodeId) -> bool {
        self.document.draft(node) == Draft::Draft4 && self.document.draft(Document::ROOT) != Draft::Draft4
    }
}
