//! The schema of a type, made as narrow as the type is.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of what a type is read from. Parts that are not recursive stand where they are used.
pub(super) fn schema_of<T: JsonSchema>() -> Schema {
    let mut settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(bound_integers));
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<T>()
}

/// Writes down the bounds of integers, which `schemars` leaves to the name of the format for all but the smallest types.
fn bound_integers(schema: &mut Schema) {
    let bounds = match schema.get("format").and_then(Value::as_str) {
        Some("int32") => [i32::MIN.into(), i32::MAX.into()],
        Some("int64" | "int") => [i64::MIN.into(), i64::MAX.into()],
        Some("uint32") => [0.into(), u32::MAX.into()],
        Some("uint64" | "uint") => [0.into(), u64::MAX.into()],
        _ => return,
    };
    // An `Option` has two types.
    let is_integer = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|one| one == "integer"),
        one => one.is_some_and(|one| one == "integer"),
    };
    if !is_integer {
        return;
    }
    for (name, bound) in ["minimum", "maximum"].into_iter().zip(bounds) {
        schema.ensure_object().entry(name).or_insert(Value::Number(bound));
    }
}
