//! Random values, and values with a small change.

use grammask_oracle::random::Rng;
use serde_json::{Map, Number, Value};

/// Names of members. Few, so that they meet those of schemas.
pub(crate) const NAMES: &[&str] = &["a", "b", "c", "ab", "x_1", "é", "", "q\"t"];

/// Texts, some of which patterns and formats know.
const TEXTS: &[&str] =
    &["", "a", "b", "abc", "aaaa", "x_", "é", "zz", "1", "a\nb", "𝄞", "2024-02-29", "::1", "b c"];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "5",
    "10",
    "-1",
    "-2",
    "-7",
    "0.5",
    "1.5",
    "-0.1",
    "2.25",
    "100",
    "1000000",
    "3.0",
    "0.01",
    "123456789012345",
    "0.30",
    "-3.75",
];

/// A number that is spelled so.
pub(crate) fn number(text: &str) -> Value {
    text.parse::<Number>().map_or(Value::Null, Value::Number)
}

/// Any value, of at most this many levels.
pub fn random_value(rng: &mut Rng, depth: usize) -> Value {
    let text = |rng: &mut Rng| Value::from(rng.pick(TEXTS).copied().unwrap_or_default());
    match rng.below(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => Value::Bool(rng.percent(50)),
        2 | 3 => number(rng.pick(NUMBERS).copied().unwrap_or("0")),
        4 | 5 => text(rng),
        6 => (0..rng.below(4)).map(|_| random_value(rng, depth - 1)).collect(),
        _ => {
            let mut members = Map::new();
            for _ in 0..rng.below(4) {
                let name = rng.pick(NAMES).copied().unwrap_or_default();
                members.insert(name.to_owned(), random_value(rng, depth - 1));
            }
            Value::Object(members)
        }
    }
}

/// The value with one place changed.
pub fn mutated(rng: &mut Rng, value: &Value) -> Value {
    let mut changed = value.clone();
    let places = count(value);
    let place = rng.below(places);
    change_at(rng, &mut changed, &mut (place as isize));
    changed
}

/// Recursion is bounded: values come from [`random_value`], or from text that `serde_json` reads.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

fn change_at(rng: &mut Rng, value: &mut Value, left: &mut isize) {
    if *left == 0 {
        change(rng, value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| change_at(rng, item, left)),
        Value::Object(members) => members.values_mut().for_each(|member| change_at(rng, member, left)),
        _ => {}
    }
}

fn change(rng: &mut Rng, value: &mut Value) {
    if rng.percent(15) {
        *value = random_value(rng, 1);
        return;
    }
    match value {
        Value::Null | Value::Bool(_) => *value = random_value(rng, 0),
        Value::Number(_) => *value = neighbour(rng, value),
        Value::String(text) => change_text(rng, text),
        Value::Array(items) => match rng.below(4) {
            0 if !items.is_empty() => drop(items.remove(rng.below(items.len()))),
            1 if !items.is_empty() => {
                let twice = items[rng.below(items.len())].clone();
                items.insert(rng.below(items.len() + 1), twice);
            }
            2 if items.len() > 1 => items.rotate_left(1),
            _ => items.insert(rng.below(items.len() + 1), random_value(rng, 1)),
        },
        Value::Object(members) => {
            let names: Vec<String> = members.keys().cloned().collect();
            match rng.pick(&names) {
                Some(name) if rng.percent(50) => {
                    let member = members.remove(name).unwrap_or_default();
                    if rng.percent(40) {
                        let other = rng.pick(NAMES).copied().unwrap_or_default();
                        members.insert(other.to_owned(), member);
                    }
                }
                _ => {
                    let name = rng.pick(NAMES).copied().unwrap_or_default();
                    members.insert(name.to_owned(), random_value(rng, 1));
                }
            }
        }
    }
}

/// A number near by, or the same number as a fraction or an integer.
fn neighbour(rng: &mut Rng, value: &Value) -> Value {
    let text = value.to_string();
    if let Ok(integer) = text.parse::<i64>()
        && integer.unsigned_abs() < 1 << 50
    {
        return number(&match rng.below(5) {
            0 => (integer + 1).to_string(),
            1 => (integer - 1).to_string(),
            2 => format!("{integer}.5"),
            3 => format!("{integer}.01"),
            _ => (-integer).to_string(),
        });
    }
    number(rng.pick(NUMBERS).copied().unwrap_or("0"))
}

fn change_text(rng: &mut Rng, text: &mut String) {
    match rng.below(4) {
        0 => drop(text.pop()),
        1 => text.push(['a', '1', 'é', ' '][rng.below(4)]),
        2 => text.insert(0, ['b', '0', '𝄞', '-'][rng.below(4)]),
        _ => *text = rng.pick(TEXTS).copied().unwrap_or_default().to_owned(),
    }
}
