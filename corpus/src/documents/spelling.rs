//! How values are written.

use std::fmt;

use grammask_oracle::random::Rng;
use serde_json::Value;

/// A value written down, but for the order of its objects' members.
#[derive(Clone, Debug)]
pub enum Spelled {
    /// A scalar.
    Scalar(String),
    /// Its items.
    Array(Vec<Spelled>),
    /// Names, with their quotes, and values.
    Object(Vec<(String, Spelled)>),
}

/// Which of the spellings that every schema's grammar has.
#[derive(Debug)]
pub enum Spelling<'r> {
    /// No escape but those that must be; numbers as they came.
    Plain,
    /// As [`Plain`](Self::Plain), and numbers without zeros at the end of a fraction and without a sign before zero.
    Canonical,
    /// As some serialiser prints it, chosen at random for each text and number.
    Printed(&'r mut Rng),
    /// As the one before, but whole numbers as a serialiser prints integers: without a fraction.
    PrintedByType(&'r mut Rng),
    /// Characters escaped at random, some numbers with zeros after the point.
    Random(&'r mut Rng),
}

impl Spelled {
    /// Writes a value. Recursion is bounded: `serde_json` reads no text nested deeper than 128, and random values
    /// are shallow.
    pub fn new(value: &Value, spelling: &mut Spelling<'_>) -> Self {
        match value {
            Value::Array(items) => Self::Array(items.iter().map(|item| Self::new(item, spelling)).collect()),
            Value::Object(members) => {
                let members = members.iter();
                Self::Object(
                    members
                        .map(|(name, value)| (string(name, spelling), Self::new(value, spelling)))
                        .collect(),
                )
            }
            Value::String(text) => Self::Scalar(string(text, spelling)),
            Value::Number(number) => Self::Scalar(with_zeros(number.to_string(), spelling)),
            other => Self::Scalar(other.to_string()),
        }
    }
}

impl Spelled {
    /// The same with the members of every object in an order at random.
    pub fn shuffled(self, rng: &mut Rng) -> Self {
        match self {
            Self::Scalar(text) => Self::Scalar(text),
            Self::Array(items) => Self::Array(items.into_iter().map(|item| item.shuffled(rng)).collect()),
            Self::Object(members) => {
                let mut members: Vec<(String, Self)> =
                    members.into_iter().map(|(name, value)| (name, value.shuffled(rng))).collect();
                for at in (1..members.len()).rev() {
                    members.swap(at, rng.between(0, at));
                }
                Self::Object(members)
            }
        }
    }
}

/// Compact, members in the order of the value.
impl fmt::Display for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(text) => f.write_str(text),
            Self::Array(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{name}:{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn string(text: &str, spelling: &mut Spelling<'_>) -> String {
    let plain = || Value::from(text).to_string();
    let (rng, is_printed) = match spelling {
        Spelling::Printed(rng) | Spelling::PrintedByType(rng) => (rng, true),
        Spelling::Random(rng) => (rng, false),
        Spelling::Plain | Spelling::Canonical => return plain(),
    };
    if !rng.percent(15) {
        return plain();
    }
    let mut written = String::from("\"");
    for character in text.chars() {
        let may_be_number =
            !is_printed || character >= '\u{7f}' || matches!(character, '<' | '>' | '&' | '\u{8}' | '\u{c}');
        if rng.percent(40) && may_be_number {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                written.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            let one = Value::from(character.to_string()).to_string();
            written.push_str(&one[1..one.len() - 1]);
        }
    }
    written + "\""
}

fn with_zeros(number: String, spelling: &mut Spelling<'_>) -> String {
    let rng = match spelling {
        Spelling::Plain => return number,
        Spelling::Canonical | Spelling::PrintedByType(_) => return without_zeros(&number),
        Spelling::Printed(rng) => return printed(&number, rng),
        Spelling::Random(rng) => rng,
    };
    if number.contains(['e', 'E']) || !rng.percent(15) {
        return number;
    }
    let point = if number.contains('.') { "" } else { "." };
    format!("{number}{point}{}", "0".repeat(rng.between(1, 3)))
}

/// A number as a serialiser prints it: whole ones with or without a fraction.
fn printed(number: &str, rng: &mut Rng) -> String {
    if number.contains(['e', 'E']) {
        return number.to_owned();
    }
    let number = without_zeros(number);
    if number.contains('.') || !rng.percent(15) { number } else { format!("{number}.0") }
}

fn without_zeros(number: &str) -> String {
    let number = match number.split_once('.') {
        Some((whole, fraction)) if !fraction.contains(['e', 'E']) => {
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            format!("{whole}{point}{fraction}")
        }
        _ => number.to_owned(),
    };
    if number == "-0" { "0".to_owned() } else { number }
}
