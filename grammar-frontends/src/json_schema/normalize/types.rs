//! `type`.

use super::normalizer::Normalizer;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::{Draft, NodeId};
use crate::json_schema::document::json::Value;
use crate::json_schema::document::nodes::Document;
use crate::json_schema::sets::array_shape::ArrayShape;
use crate::json_schema::sets::normal_form::NormalForm;
use crate::json_schema::sets::number_shape::{NumberKind, NumberShape};
use crate::json_schema::sets::object_shape::ObjectShape;
use crate::json_schema::sets::string_shape::StringShape;

impl<'s> Normalizer<'s> {
    /// All values of the types that are named.
    pub(crate) fn types(&mut self, node: NodeId, value: &Value<'_>) -> Result<NormalForm<'s>> {
        let mut norm = NormalForm::never();
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
                    norm.numbers = vec![NumberShape::of_kind(NumberKind::Integer)];
                }
                Some("integer") => {}
                Some("string") => norm.strings = vec![StringShape::any()],
                Some("array") => norm.arrays = vec![ArrayShape::any()],
                Some("object") => norm.objects = vec![ObjectShape::any()],
                Some("any") if self.document.draft(node) == Draft::Draft4 => norm = NormalForm::any(),
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
