//! The JSON values of schemas, which carry the fingerprints of [`equality`].

use bumpalo::Bump;

use super::equality;
pub(crate) use crate::json::borrowed::{Members, Value};
use crate::json::{JsonError, JsonValue, borrowed};

/// Reads a schema.
pub(crate) fn parse<'t>(text: &'t str, arena: &'t Bump) -> Result<Value<'t>, JsonError> {
    crate::json::parse(text, arena, equality::fingerprint)
}

/// A schema as another tree holds it.
pub(crate) fn borrowed<'t>(value: &'t JsonValue, arena: &'t Bump) -> Value<'t> {
    borrowed::borrowed(value, arena, equality::fingerprint)
}

/// A schema that borrows from the arena alone.
pub(crate) fn owned<'t>(value: &JsonValue, arena: &'t Bump) -> Value<'t> {
    borrowed::owned(value, arena, equality::fingerprint)
}
