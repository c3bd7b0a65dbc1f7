//! Equal schemas, which are read once: schemas that assert the same.
//!
//! A tool that writes schemas out writes the same ones again and again. In a generated document of a hundred
//! kilobytes a third of the schemas occur earlier in it, but for their annotations. Each would be read,
//! brought to its normal form and lowered, only to meet an equal shape at the end, or none, since shapes are
//! compared by the goals inside. So a schema that is equal to one that was met before *is* that one. Equality
//! is found by fingerprints, which are taken while the document is parsed, and then checked member by member.
//!
//! The assertions of a schema depend on its place by its base URI and its dialect alone. So this holds in one resource,
//! and not where a schema has an identifier or a dynamic reference.

use super::json::{Members, Value};
use super::subschema_keywords::{SCHEMA_MAPS, SCHEMAS};

/// In place of a fingerprint, for members whose equals are not to be looked for.
pub(crate) const NO_FINGERPRINT: u32 = 0;

/// Annotations: keywords that assert nothing, whatever their value.
const ANNOTATIONS: &[&str] =
    &["description", "title", "default", "examples", "$comment", "readOnly", "writeOnly"];

/// Keywords that identify a schema, or whose meaning depends on the path of evaluation.
const IDENTIFYING: &[&str] = &[
    "$id",
    "id",
    "$schema",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
];

fn is_annotation(name: &str) -> bool {
    // Other tools' own keywords, by convention.
    name.starts_with("x-") || ANNOTATIONS.contains(&name)
}

/// The keywords of a schema that may assert something.
pub(crate) fn asserting_members<'v, 't>(
    schema: &'v Members<'t>,
) -> impl Iterator<Item = (&'v str, &'v Value<'t>)> {
    schema.into_iter().filter(|(name, _)| !is_annotation(name))
}

/// Whether a schema asserts nothing, by the names of its keywords.
pub(crate) fn asserts_nothing(schema: &Members<'_>) -> bool {
    asserting_members(schema).next().is_none()
}

/// The fingerprint of an object: equal for schemas that assert the same.
pub(crate) fn fingerprint(entries: &[(&str, Value<'_>)]) -> u32 {
    let mut sum = 1u64;
    for (name, value) in entries {
        if is_annotation(name) {
            continue;
        }
        // A property may have such a name: then it has a schema.
        if !value.is_object() && IDENTIFYING.contains(name) {
            return NO_FINGERPRINT;
        }
        sum = mix(sum, text_fingerprint(name));
        match value_fingerprint(value) {
            Some(value) => sum = mix(sum, value),
            None => return NO_FINGERPRINT,
        }
    }
    ((sum >> 32) as u32).max(1)
}

/// `None` where a fingerprint of [`NO_FINGERPRINT`] is inside. Objects have theirs, so that this looks into arrays only.
fn value_fingerprint(value: &Value<'_>) -> Option<u64> {
    Some(match value {
        Value::Null => 1,
        Value::Bool(value) => 2 + u64::from(*value),
        Value::Number(text) | Value::String(text) => text_fingerprint(text),
        Value::Array(items) => {
            let mut sum = 5;
            for item in *items {
                sum = mix(sum, value_fingerprint(item)?);
            }
            sum
        }
        Value::Object(members) => {
            u64::from(Some(members.fingerprint()).filter(|&print| print != NO_FINGERPRINT)?)
        }
    })
}

/// The length and the ends of a text: texts that are equal by that are compared.
fn text_fingerprint(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let ends = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(17),
        _ => bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    };
    mix(bytes.len() as u64, ends)
}

fn mix(sum: u64, value: u64) -> u64 {
    // As FxHash, with the high bits folded down.
    let sum = (sum ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    sum ^ sum >> 29
}

/// How a value is to be compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ComparedAs {
    Schema,
    /// Names and their schemas.
    SchemaMap,
    Constant,
}

/// Whether two schemas assert the same in every place of one resource.
pub(crate) fn schemas_equal<'v, 't>(left: &'v Members<'t>, right: &'v Members<'t>) -> bool {
    let mut pending: Vec<(&Value<'t>, &Value<'t>, ComparedAs)> = Vec::new();
    if !members(left, right, ComparedAs::Schema, &mut pending) {
        return false;
    }
    while let Some((left, right, kind)) = pending.pop() {
        let is_same = match (left, right) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Number(left), Value::Number(right)) | (Value::String(left), Value::String(right)) => {
                left == right
            }
            (Value::Array(left), Value::Array(right)) => {
                pending.extend(left.iter().zip(*right).map(|(left, right)| (left, right, kind)));
                left.len() == right.len()
            }
            (Value::Object(left), Value::Object(right)) => members(left, right, kind, &mut pending),
            _ => false,
        };
        if !is_same {
            return false;
        }
    }
    true
}

/// Compares names, and leaves the values to be compared.
fn members<'v, 't>(
    left: &'v Members<'t>,
    right: &'v Members<'t>,
    kind: ComparedAs,
    pending: &mut Vec<(&'v Value<'t>, &'v Value<'t>, ComparedAs)>,
) -> bool {
    if left.fingerprint() != right.fingerprint() {
        return false;
    }
    let asserts = |(name, _): &(&str, &Value<'t>)| kind != ComparedAs::Schema || !is_annotation(name);
    let (mut lefts, mut rights) = (left.into_iter().filter(asserts), right.into_iter().filter(asserts));
    loop {
        match (lefts.next(), rights.next()) {
            (None, None) => return true,
            (Some((name, left)), Some((other, right))) if name == other => {
                let inside = match kind {
                    ComparedAs::SchemaMap => ComparedAs::Schema,
                    ComparedAs::Schema if SCHEMAS.contains(&name) => ComparedAs::Schema,
                    ComparedAs::Schema if SCHEMA_MAPS.contains(&name) && left.is_object() => {
                        ComparedAs::SchemaMap
                    }
                    _ => ComparedAs::Constant,
                };
                pending.push((left, right, inside));
            }
            _ => return false,
        }
    }
}
