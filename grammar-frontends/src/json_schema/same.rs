//! Schemas that say the same, and are therefore read once.
//!
//! A tool that writes schemas out writes the same ones again and again: in a generated document of a hundred kilobytes a
//! third of the schemas have stood before, but for what describes them. Each would be read, brought to its normal form
//! and lowered, only to meet an equal shape at the end, or none, since shapes are compared by the goals inside. So a
//! schema that is equal to one that was met before *is* that one. Equality is found by fingerprints, which are taken
//! while the document is parsed, and then checked member by member.
//!
//! What a schema says depends on its place by its base and its dialect alone. So this holds in one resource, and not
//! where a schema names itself or refers to what is dynamic.

use super::json::{Members, Value};
use super::names::{SCHEMA_MAPS, SCHEMAS};

/// Of members whose equals are not to be looked for.
pub(super) const UNIQUE: u32 = 0;

/// Keywords that assert nothing, whatever their value.
const SILENT: &[&str] = &["description", "title", "default", "examples", "$comment", "readOnly", "writeOnly"];

/// Keywords by which a schema is named or means what depends on the way to it.
const NAMING: &[&str] = &[
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

fn is_silent(name: &str) -> bool {
    // Other tools' own keywords, by convention.
    name.starts_with("x-") || SILENT.contains(&name)
}

/// The keywords of a schema that may assert something.
pub(super) fn spoken<'v, 't>(schema: &'v Members<'t>) -> impl Iterator<Item = (&'v str, &'v Value<'t>)> {
    schema.into_iter().filter(|(name, _)| !is_silent(name))
}

/// Whether a schema asserts nothing, by the names of its keywords.
pub(super) fn says_nothing(schema: &Members<'_>) -> bool {
    spoken(schema).next().is_none()
}

/// The fingerprint of an object: equal for schemas that say the same.
pub(super) fn fingerprint(entries: &[(&str, Value<'_>)]) -> u32 {
    let mut sum = 1u64;
    for (name, value) in entries {
        if is_silent(name) {
            continue;
        }
        // A property may have such a name: then it has a schema.
        if !value.is_object() && NAMING.contains(name) {
            return UNIQUE;
        }
        sum = mix(sum, of_text(name));
        match of_value(value) {
            Some(value) => sum = mix(sum, value),
            None => return UNIQUE,
        }
    }
    ((sum >> 32) as u32).max(1)
}

/// `None` where a fingerprint of [`UNIQUE`] is inside. Objects have theirs, so that this looks into arrays only.
fn of_value(value: &Value<'_>) -> Option<u64> {
    Some(match value {
        Value::Null => 1,
        Value::Bool(value) => 2 + u64::from(*value),
        Value::Number(text) | Value::String(text) => of_text(text),
        Value::Array(items) => {
            let mut sum = 5;
            for item in *items {
                sum = mix(sum, of_value(item)?);
            }
            sum
        }
        Value::Object(members) => u64::from(Some(members.fingerprint()).filter(|&print| print != UNIQUE)?),
    })
}

/// The length and the ends of a text: what is the same by that is compared.
fn of_text(text: &str) -> u64 {
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
enum Kind {
    Schema,
    /// Names and their schemas.
    Schemas,
    Constant,
}

/// Whether two schemas say the same in every place of one resource.
pub(super) fn say_the_same<'v, 't>(left: &'v Members<'t>, right: &'v Members<'t>) -> bool {
    let mut pending: Vec<(&Value<'t>, &Value<'t>, Kind)> = Vec::new();
    if !members(left, right, Kind::Schema, &mut pending) {
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
    kind: Kind,
    pending: &mut Vec<(&'v Value<'t>, &'v Value<'t>, Kind)>,
) -> bool {
    if left.fingerprint() != right.fingerprint() {
        return false;
    }
    let speaks = |(name, _): &(&str, &Value<'t>)| kind != Kind::Schema || !is_silent(name);
    let (mut lefts, mut rights) = (left.into_iter().filter(speaks), right.into_iter().filter(speaks));
    loop {
        match (lefts.next(), rights.next()) {
            (None, None) => return true,
            (Some((name, left)), Some((other, right))) if name == other => {
                let inside = match kind {
                    Kind::Schemas => Kind::Schema,
                    Kind::Schema if SCHEMAS.contains(&name) => Kind::Schema,
                    Kind::Schema if SCHEMA_MAPS.contains(&name) && left.is_object() => Kind::Schemas,
                    _ => Kind::Constant,
                };
                pending.push((left, right, inside));
            }
            _ => return false,
        }
    }
}
