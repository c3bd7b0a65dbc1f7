//! Random schemas over every keyword.
//!
//! Each schema features one keyword, so that none is rare, and has others beside it, around it and inside it.

use grammask_oracle::random::Rng;
use serde_json::{Value, json};

use super::pools::{BOUNDS, FORMATS, Members, PATTERNS, STEPS};
use crate::documents::{NAMES, number, random_value};

/// The assertions and applicators of all drafts that are read. Those that only older drafts have come in schemas
/// that name such a draft.
pub const KEYWORDS: &[&str] = &[
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Those that hardly occur beside others, so that they are featured more often.
const SELDOM: &[&str] = &[
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
    "dependencies",
    "dependentSchemas",
    "else",
    "maxContains",
    "minContains",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The dialect that a schema is written in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Draft7,
    Draft2019,
    Draft2020,
}

/// A random schema.
pub(super) fn random_schema(rng: &mut Rng) -> Value {
    let pool = if rng.percent(40) { SELDOM } else { KEYWORDS };
    let featured = *rng.pick(pool).unwrap_or(&"type");
    let dialect = match featured {
        "additionalItems" | "dependencies" => Dialect::Draft7,
        "$recursiveRef" => Dialect::Draft2019,
        _ if rng.percent(8) => Dialect::Draft7,
        _ if rng.percent(6) => Dialect::Draft2019,
        _ => Dialect::Draft2020,
    };
    let dialect = match (dialect, since(featured)) {
        (Dialect::Draft7, Dialect::Draft2019 | Dialect::Draft2020) => since(featured),
        (Dialect::Draft2019, Dialect::Draft2020) => Dialect::Draft2020,
        _ => dialect,
    };
    let mut writer = SchemaWriter { rng, dialect, refers: false, inside: Inside::Root };
    let mut members = writer.object_schema(2);
    writer.add(&mut members, featured, 2);
    let mut root = writer.wrapped(members);
    let refers = writer.refers;
    if refers {
        writer.inside = Inside::Definition;
        let definitions: Members = ["x", "y"]
            .into_iter()
            .map(|name| (name.to_owned(), Value::Object(writer.definition())))
            .collect();
        let keyword = if dialect == Dialect::Draft7 { "definitions" } else { "$defs" };
        root.insert(keyword.to_owned(), Value::Object(definitions));
    }
    match dialect {
        Dialect::Draft7 => set(&mut root, "$schema", json!("http://json-schema.org/draft-07/schema#")),
        Dialect::Draft2019 => {
            set(&mut root, "$schema", json!("https://json-schema.org/draft/2019-09/schema"))
        }
        Dialect::Draft2020 => {}
    }
    Value::Object(root)
}

/// The first draft of those that are written which has the keyword.
fn since(keyword: &str) -> Dialect {
    match keyword {
        "prefixItems" | "$dynamicRef" => Dialect::Draft2020,
        "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "minContains"
        | "maxContains" => Dialect::Draft2019,
        _ => Dialect::Draft7,
    }
}

/// Where a reference would be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Root,
    /// On the value that a definition speaks about: a reference might lead back without a step.
    Definition,
    /// On a member or an item of it.
    Member,
}

struct SchemaWriter<'r> {
    rng: &'r mut Rng,
    dialect: Dialect,
    refers: bool,
    inside: Inside,
}

fn set(members: &mut Members, keyword: &str, value: Value) {
    members.insert(keyword.to_owned(), value);
}

const TYPES: &[&str] = &["null", "boolean", "integer", "number", "string", "array", "object"];

const OF_NUMBERS: &[&str] = &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const OF_STRINGS: &[&str] = &["minLength", "maxLength", "pattern", "format"];
const OF_ARRAYS: &[&str] = &["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"];
const OF_OBJECTS: &[&str] = &[
    "properties",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
];
const OF_ALL: &[&str] = &["allOf", "anyOf", "oneOf", "not", "if", "$ref", "enum", "const"];

impl SchemaWriter<'_> {
    /// A schema that contains the one with the featured keyword, or that one.
    fn wrapped(&mut self, inner: Members) -> Members {
        let mut outer = Members::new();
        let schema = Value::Object(inner);
        match self.rng.below(8) {
            0 => set(&mut outer, "properties", json!({ "a": schema })),
            1 => set(&mut outer, "items", schema),
            2 => set(&mut outer, "allOf", json!([schema, self.schema(0)])),
            3 => set(&mut outer, "anyOf", json!([schema, self.schema(0)])),
            _ => {
                let Value::Object(inner) = schema else { return outer };
                return inner;
            }
        }
        outer
    }

    fn schema(&mut self, depth: usize) -> Value {
        match self.rng.below(40) {
            0 => Value::Bool(false),
            1 | 2 => Value::Bool(true),
            _ => Value::Object(self.object_schema(depth)),
        }
    }

    /// A type with some of its keywords, now and then one that speaks about every type.
    fn object_schema(&mut self, depth: usize) -> Members {
        let mut members = Members::new();
        let name = *self.rng.pick(TYPES).unwrap_or(&"null");
        if self.rng.percent(70) {
            self.write_type(&mut members, name);
        }
        let keywords = match name {
            "integer" | "number" => OF_NUMBERS,
            "string" => OF_STRINGS,
            "array" => OF_ARRAYS,
            "object" => OF_OBJECTS,
            _ => &[],
        };
        for _ in 0..self.rng.below(3) {
            if let Some(&keyword) = self.rng.pick(keywords) {
                self.add(&mut members, keyword, depth);
            }
        }
        if depth > 0 && self.rng.percent(20) {
            let keyword = self.rng.pick(OF_ALL).copied().unwrap_or("enum");
            self.add(&mut members, keyword, depth);
        }
        members
    }

    /// A schema that needs no definition to be read but on members.
    fn definition(&mut self) -> Members {
        let mut members = self.object_schema(1);
        if self.rng.percent(40) {
            self.add(&mut members, "properties", 1);
        }
        members
    }

    fn write_type(&mut self, members: &mut Members, name: &str) {
        let other = *self.rng.pick(TYPES).unwrap_or(&"null");
        let value = if other != name && self.rng.percent(20) { json!([name, other]) } else { json!(name) };
        set(members, "type", value);
    }

    /// A schema for a member or an item.
    fn member(&mut self, depth: usize) -> Value {
        let around = self.inside;
        if around == Inside::Definition {
            self.inside = Inside::Member;
        }
        let schema = self.schema(depth);
        self.inside = around;
        schema
    }

    fn schemas(&mut self, depth: usize) -> Value {
        (0..self.rng.between(1, 3)).map(|_| self.schema(depth)).collect()
    }

    fn name(&mut self) -> String {
        self.rng.pick(NAMES).copied().unwrap_or_default().to_owned()
    }

    fn names(&mut self) -> Value {
        let mut names: Vec<String> = (0..self.rng.between(1, 2)).map(|_| self.name()).collect();
        names.dedup();
        json!(names)
    }

    fn members(&mut self, depth: usize) -> Value {
        (0..self.rng.between(1, 3)).map(|_| (self.name(), self.member(depth))).collect::<Members>().into()
    }

    fn pattern(&mut self) -> String {
        self.rng.pick(PATTERNS).map_or("", |(pattern, _)| pattern).to_owned()
    }

    /// Adds a keyword, and those without which it would say nothing. Keywords that the draft lacks are left out.
    fn add(&mut self, members: &mut Members, keyword: &str, depth: usize) {
        let below = depth.saturating_sub(1);
        if since(keyword) == Dialect::Draft2020 && self.dialect != Dialect::Draft2020
            || since(keyword) == Dialect::Draft2019 && self.dialect == Dialect::Draft7
        {
            return;
        }
        let value = match keyword {
            "type" => {
                let name = *self.rng.pick(TYPES).unwrap_or(&"null");
                return self.write_type(members, name);
            }
            "const" => random_value(self.rng, 1),
            "enum" => (0..self.rng.between(1, 4)).map(|_| random_value(self.rng, 1)).collect(),
            "allOf" | "anyOf" | "oneOf" => self.schemas(below),
            "not" => self.schema(below),
            "if" | "then" | "else" => return self.add_condition(members, below),
            "$ref" | "$dynamicRef" | "$recursiveRef" => return self.add_reference(members, keyword),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                number(self.rng.pick(BOUNDS).copied().unwrap_or("0"))
            }
            "multipleOf" => number(self.rng.pick(STEPS).copied().unwrap_or("1")),
            "minLength" | "minItems" | "minProperties" => json!(self.rng.below(3)),
            "maxLength" | "maxItems" | "maxProperties" => json!(self.rng.between(1, 4)),
            "pattern" => json!(self.pattern()),
            "format" => {
                // The frontend enforces every format in every draft; a judge only those that the draft knows.
                let old = self.dialect == Dialect::Draft7;
                let known = FORMATS.iter().filter(|(name, _)| !old || !["uuid", "duration"].contains(name));
                let names: Vec<&str> = known.map(|(name, _)| *name).collect();
                json!(self.rng.pick(&names).copied().unwrap_or_default())
            }
            "uniqueItems" => json!(self.rng.percent(90)),
            "minContains" | "maxContains" => {
                set(members, "contains", self.member(0));
                json!(self.rng.below(3))
            }
            "items" if self.dialect != Dialect::Draft2020 && self.rng.percent(40) => {
                (0..self.rng.between(1, 2)).map(|_| self.member(below)).collect()
            }
            "items" | "contains" | "unevaluatedItems" | "additionalProperties" | "unevaluatedProperties" => {
                self.member(below)
            }
            "additionalItems" => {
                let items = (0..self.rng.between(1, 2)).map(|_| self.member(below)).collect();
                set(members, "items", items);
                self.member(below)
            }
            "prefixItems" => (0..self.rng.between(1, 2)).map(|_| self.member(below)).collect(),
            "properties" => self.members(below),
            "patternProperties" => {
                let count = self.rng.between(1, 2);
                (0..count).map(|_| (self.pattern(), self.member(below))).collect::<Members>().into()
            }
            "propertyNames" => self.names_schema(),
            "required" => self.names(),
            "dependentRequired" => json!({ self.name(): self.names() }),
            "dependentSchemas" => json!({ self.name(): self.schema(below) }),
            "dependencies" if self.rng.percent(50) => json!({ self.name(): self.names() }),
            "dependencies" => json!({ self.name(): self.schema(below) }),
            _ => return,
        };
        set(members, keyword, value);
    }

    fn add_condition(&mut self, members: &mut Members, depth: usize) {
        set(members, "if", self.schema(depth));
        set(members, "then", self.schema(depth));
        if self.rng.percent(60) {
            set(members, "else", self.schema(depth));
        }
    }

    fn names_schema(&mut self) -> Value {
        match self.rng.below(4) {
            0 => json!({ "maxLength": self.rng.between(1, 2) }),
            1 => json!({ "enum": ["a", "b", "x_1"] }),
            2 => json!({ "not": { "const": self.name() } }),
            _ => json!({ "pattern": self.pattern() }),
        }
    }

    /// To a definition, or back to the root where a member or an item lies between.
    fn add_reference(&mut self, members: &mut Members, keyword: &str) {
        if self.inside == Inside::Definition {
            return;
        }
        match keyword {
            "$ref" => {
                self.refers = true;
                let name = if self.rng.percent(50) { "x" } else { "y" };
                let folder = if self.dialect == Dialect::Draft7 { "definitions" } else { "$defs" };
                set(members, "$ref", json!(format!("#/{folder}/{name}")));
            }
            "$dynamicRef" => {
                set(members, "$dynamicAnchor", json!("here"));
                set(members, "properties", json!({ "a": { "$dynamicRef": "#here" }, "b": self.member(0) }));
            }
            _ => {
                set(members, "$recursiveAnchor", json!(true));
                set(members, "properties", json!({ "a": { "$recursiveRef": "#" }, "b": self.member(0) }));
            }
        }
    }
}
