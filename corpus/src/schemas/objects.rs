//! Random schemas of objects that are hard to tell apart, and small values for them.
//!
//! Schemas over all keywords seldom hold two objects that share names, and a mistake about alternatives shows
//! only where a value is near to several of them. Here few names and values are in use, and most objects are
//! closed, owe names that another one declares, or count their members. They are operands of `oneOf`, `not`,
//! `if` and conjunctions of these. Values are as small and come from the same few, so that most of them are
//! near to some alternative.

use super::pools::Members;
use grammask_oracle::random::Rng;
use serde_json::{Value, json};

/// Names of members. `ab` is found by the patterns that find `a` and `b`.
const NAMES: &[&str] = &["a", "b", "c", "ab", "d"];

/// Patterns of names; they overlap.
const PATTERNS: &[&str] = &["^a", "b", "^[ab]$", "^.$", "^.b?$", "c|d"];

/// A random schema about objects.
pub(super) fn random_schema(rng: &mut Rng) -> Value {
    let mut writer = ObjectWriter { rng, refers: false };
    let mut schema = writer.combination(2);
    if writer.refers {
        let definitions = json!({ "x": writer.operand(0), "y": writer.object(1) });
        // The targets of references occur in the definitions alone.
        if let Value::Object(members) = &mut schema {
            members.insert("$defs".to_owned(), definitions);
        }
    }
    schema
}

/// A value that such schemas speak about.
pub(super) fn random_value(rng: &mut Rng) -> Value {
    match rng.below(12) {
        0 => scalar(rng),
        1 | 2 => items(rng),
        _ => members(rng, 1),
    }
}

fn members(rng: &mut Rng, depth: usize) -> Value {
    let count = rng.weighted(&[3, 8, 8, 5, 2]).unwrap_or(0);
    let mut members = Members::new();
    for _ in 0..count {
        let name = rng.pick(NAMES).copied().unwrap_or_default();
        let value = match rng.below(8) {
            0 if depth > 0 => self::members(rng, depth - 1),
            1 | 2 if depth > 0 => items(rng),
            _ => scalar(rng),
        };
        members.insert(name.to_owned(), value);
    }
    Value::Object(members)
}

fn items(rng: &mut Rng) -> Value {
    (0..rng.below(4)).map(|_| if rng.percent(25) { members(rng, 0) } else { scalar(rng) }).collect()
}

fn scalar(rng: &mut Rng) -> Value {
    [json!(1), json!(2), json!("u"), json!("v"), Value::Null, json!(true)][rng.below(6)].clone()
}

struct ObjectWriter<'r> {
    rng: &'r mut Rng,
    refers: bool,
}

impl ObjectWriter<'_> {
    fn name(&mut self) -> String {
        self.rng.pick(NAMES).copied().unwrap_or_default().to_owned()
    }

    fn names(&mut self, most: usize) -> Value {
        let mut names: Vec<String> = (0..self.rng.between(1, most)).map(|_| self.name()).collect();
        names.sort_unstable();
        names.dedup();
        json!(names)
    }

    /// A schema that combines others, now and then with keywords of its own beside them.
    fn combination(&mut self, depth: usize) -> Value {
        let below = depth.saturating_sub(1);
        let mut members = match self.rng.percent(30) {
            true => self.object_members(0),
            false => Members::new(),
        };
        let keyword = ["oneOf", "oneOf", "oneOf", "allOf", "anyOf", "not", "if"][self.rng.below(7)];
        match keyword {
            "not" => {
                members.insert("not".to_owned(), self.operand(below));
            }
            "if" => {
                members.insert("if".to_owned(), self.operand(below));
                for keyword in ["then", "else"] {
                    if self.rng.percent(80) {
                        members.insert(keyword.to_owned(), self.operand(below));
                    }
                }
            }
            _ => {
                let count = if keyword == "oneOf" { self.rng.between(2, 4) } else { 2 };
                let parts = (0..count).map(|_| self.operand(below)).collect();
                members.insert(keyword.to_owned(), parts);
            }
        }
        if self.rng.percent(6) {
            members.insert("unevaluatedProperties".to_owned(), json!(false));
        }
        Value::Object(members)
    }

    /// The operand of a combining keyword.
    fn operand(&mut self, depth: usize) -> Value {
        match self.rng.below(20) {
            0..=1 if depth > 0 => self.combination(depth),
            2..=4 => json!({ "not": self.object(depth) }),
            5 => json!({ "type": "object", "not": self.object(depth) }),
            6 if depth > 0 => {
                self.refers = true;
                json!({ "$ref": if self.rng.percent(50) { "#/$defs/x" } else { "#/$defs/y" } })
            }
            7 if depth > 0 => json!({ "allOf": [self.object(0), self.object(0)] }),
            8 | 9 => self.array(depth),
            _ => self.object(depth),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut members = self.object_members(depth);
        if self.rng.percent(60) {
            members.insert("type".to_owned(), json!("object"));
        }
        Value::Object(members)
    }

    fn object_members(&mut self, depth: usize) -> Members {
        let mut members = Members::new();
        let mut set = |keyword: &str, value: Value| members.insert(keyword.to_owned(), value);
        if self.rng.percent(70) {
            let count = self.rng.between(1, 3);
            let declared: Members = (0..count).map(|_| (self.name(), self.value(depth))).collect();
            set("properties", Value::Object(declared));
        }
        if self.rng.percent(45) {
            set("required", self.names(2));
        }
        match self.rng.below(10) {
            0..=3 => drop(set("additionalProperties", json!(false))),
            4 | 5 => drop(set("additionalProperties", self.value(depth))),
            _ => {}
        }
        if self.rng.percent(18) {
            let count = self.rng.between(1, 2);
            let patterns = |writer: &mut Self| {
                let pattern = writer.rng.pick(PATTERNS).copied().unwrap_or_default();
                (pattern.to_owned(), writer.value(depth))
            };
            let patterns: Members = (0..count).map(|_| patterns(self)).collect();
            set("patternProperties", Value::Object(patterns));
        }
        if self.rng.percent(6) {
            set("minProperties", json!(self.rng.between(1, 3)));
        }
        if self.rng.percent(6) {
            set("maxProperties", json!(self.rng.between(1, 3)));
        }
        if self.rng.percent(10) {
            set("dependentRequired", json!({ self.name(): self.names(2) }));
        }
        if depth > 0 && self.rng.percent(5) {
            set("dependentSchemas", json!({ self.name(): self.object(0) }));
        }
        match self.rng.below(20) {
            0 => drop(set("propertyNames", json!({ "pattern": self.rng.pick(PATTERNS) }))),
            1 => drop(set("propertyNames", json!({ "enum": self.names(3) }))),
            _ => {}
        }
        members
    }

    /// An array whose items differ, or are objects.
    fn array(&mut self, depth: usize) -> Value {
        let mut schema = json!({ "type": "array" });
        let mut set = |keyword: &str, value: Value| schema[keyword] = value;
        if self.rng.percent(35) {
            set("uniqueItems", json!(true));
        }
        match self.rng.below(4) {
            0 if depth > 0 => set("items", self.object(0)),
            1 => set("contains", self.value(0)),
            _ => set("items", self.value(0)),
        }
        if self.rng.percent(20) {
            set("minItems", json!(self.rng.between(1, 2)));
        }
        if self.rng.percent(30) {
            set("maxItems", json!(self.rng.between(1, 3)));
        }
        schema
    }

    /// A schema for a member.
    fn value(&mut self, depth: usize) -> Value {
        match self.rng.below(16) {
            0..=2 => json!(true),
            3 => json!(false),
            4 | 5 => json!({ "const": 1 }),
            6 => json!({ "enum": [1, "u", null] }),
            7 => json!({ "type": "integer" }),
            8 | 9 => json!({ "type": "string" }),
            10 => json!({ "type": ["null", "string"] }),
            11 => json!({ "not": { "const": 1 } }),
            12 if depth > 0 => self.object(0),
            13..=15 if depth > 0 => self.array(0),
            _ => json!({ "type": "null" }),
        }
    }
}
