//! From a text to a value of a type.
//!
//! To JSON Schema `3.0` and `3e0` are integers, and to `serde` they are not. So a text is read into a tree first, whole
//! numbers are written plainly in it, and then the type is read from the tree.

use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use super::error::ReadError;

/// Reads a text.
pub(super) fn parse(text: &[u8]) -> Result<Value, ReadError> {
    let mut tree = serde_json::from_slice(text)?;
    write_plainly(&mut tree);
    Ok(tree)
}

/// Reads a type.
pub(super) fn read<T: DeserializeOwned>(tree: Value) -> Result<T, ReadError> {
    Ok(serde_json::from_value(tree)?)
}

/// Writes whole numbers as integers.
fn write_plainly(tree: &mut Value) {
    let mut stack = vec![tree];
    while let Some(value) = stack.pop() {
        match value {
            Value::Array(items) => stack.extend(items),
            Value::Object(members) => stack.extend(members.values_mut()),
            Value::Number(number) => {
                if let Some(whole) = whole(&number.to_string()) {
                    *number = whole;
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
}

/// Digits of the greatest integer of any type.
const MAX_DIGITS: usize = 39;

/// The integer that a number with a fraction, an exponent or a sign before zero is, if it is one that a type may hold.
fn whole(number: &str) -> Option<Number> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (sign, digits) = mantissa.split_at(usize::from(mantissa.starts_with('-')));
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    if exponent == "0" && after.is_empty() && number != "-0" {
        return None;
    }
    let digits = [before, after].concat();
    // The point stands after so many of the digits.
    let point = exponent.parse::<i64>().ok()?.checked_add(i64::try_from(before.len()).ok()?)?;
    let significant = digits.trim_end_matches('0');
    let leading = significant.len() - significant.trim_start_matches('0').len();
    if significant.is_empty() {
        return Some(Number::from(0));
    }
    let point = usize::try_from(point).ok()?;
    if point < significant.len() || point - leading > MAX_DIGITS {
        return None;
    }
    let zeros = "0".repeat(point - significant.len());
    format!("{sign}{}{zeros}", &significant[leading..]).parse().ok()
}
