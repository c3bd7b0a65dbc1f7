//! Instances made by reading the schema, without an engine.
//!
//! A guide follows one way through the alternatives and collects the schemas that speak about one value; it tries
//! to please all of them, and does not look back. Many of its instances are valid, and a judge says which.

use grammask_oracle::random::Rng;
use serde_json::Value;

use super::pools::{FORMATS, Members, PATTERNS};
use crate::documents::{NAMES, number, random_value};

/// Schemas that are followed for one value, at most.
const MAX_FACTS: usize = 40;

/// Makes instances of one schema.
pub(super) struct Guide<'s, 'r> {
    pub(super) root: &'s Value,
    pub(super) rng: &'r mut Rng,
}

impl<'s> Guide<'s, '_> {
    pub(super) fn instance(&mut self) -> Value {
        self.value(&[self.root], 4)
    }

    fn value(&mut self, schemas: &[&'s Value], depth: usize) -> Value {
        let mut facts = Vec::new();
        for schema in schemas {
            self.collect(schema, &mut facts);
        }
        let chosen = facts.iter().find_map(|fact| match (fact.get("const"), fact.get("enum")) {
            (Some(value), _) => Some(value.clone()),
            (None, Some(Value::Array(values))) => self.rng.pick(values).cloned(),
            _ => None,
        });
        if let Some(value) = chosen {
            return value;
        }
        match self.type_of(&facts) {
            "null" => Value::Null,
            "boolean" => Value::Bool(self.rng.percent(50)),
            "integer" => self.number(&facts, true),
            "number" => self.number(&facts, false),
            "string" => self.string(&facts),
            "array" if depth > 0 => self.array(&facts, depth - 1),
            "object" if depth > 0 => self.object(&facts, depth - 1),
            "array" => Value::Array(Vec::new()),
            "object" => Value::Object(Members::new()),
            _ => random_value(self.rng, 1),
        }
    }

    /// The schemas with keywords that a value has to obey on one way through the alternatives.
    fn collect(&mut self, schema: &'s Value, facts: &mut Vec<&'s Members>) {
        let mut open = vec![schema];
        while let Some(schema) = open.pop() {
            let Value::Object(members) = schema else { continue };
            if facts.len() >= MAX_FACTS {
                return;
            }
            facts.push(members);
            for (keyword, value) in members {
                match (keyword.as_str(), value) {
                    ("$ref", Value::String(place)) => {
                        open.extend(place.strip_prefix('#').and_then(|place| self.root.pointer(place)));
                    }
                    ("$dynamicRef" | "$recursiveRef", _) => open.push(self.root),
                    ("allOf", Value::Array(parts)) => open.extend(parts),
                    ("anyOf" | "oneOf", Value::Array(parts)) => open.extend(self.rng.pick(parts)),
                    ("if", condition) if self.rng.percent(50) => {
                        open.push(condition);
                        open.extend(members.get("then"));
                    }
                    ("if", _) => open.extend(members.get("else")),
                    ("dependentSchemas" | "dependencies", Value::Object(parts)) if self.rng.percent(50) => {
                        open.extend(parts.values());
                    }
                    _ => {}
                }
            }
        }
    }

    fn type_of(&mut self, facts: &[&'s Members]) -> &'s str {
        let mut types: Option<Vec<&'s str>> = None;
        for fact in facts {
            let named: Vec<&'s str> = match fact.get("type") {
                Some(Value::String(name)) => vec![name],
                Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
                _ => continue,
            };
            types = Some(match types {
                None => named,
                Some(before) => before
                    .into_iter()
                    .filter_map(|one| {
                        named
                            .iter()
                            .find(|other| one == **other || one == "number" && **other == "integer")
                            .copied()
                    })
                    .collect(),
            });
        }
        if let Some(types) = types {
            return self.rng.pick(&types).copied().unwrap_or("any");
        }
        let spoken: Vec<&'static str> =
            facts.iter().flat_map(|fact| fact.keys()).filter_map(|keyword| speaks_of(keyword)).collect();
        if self.rng.percent(20) { "any" } else { self.rng.pick(&spoken).copied().unwrap_or("any") }
    }

    fn number(&mut self, facts: &[&'s Members], integer: bool) -> Value {
        let all = |keywords: &[&str]| -> Vec<String> {
            let values =
                facts.iter().flat_map(|fact| keywords.iter().filter_map(|keyword| fact.get(*keyword)));
            values.filter(|value| value.is_number()).map(Value::to_string).collect()
        };
        let low = all(&["minimum", "exclusiveMinimum"]);
        let high = all(&["maximum", "exclusiveMaximum"]);
        let steps = all(&["multipleOf"]);
        let as_float = |text: &String| text.parse::<f64>().unwrap_or(0.0);
        let least = low.iter().map(as_float).fold(f64::NEG_INFINITY, f64::max);
        let most = high.iter().map(as_float).fold(f64::INFINITY, f64::min);
        let mut candidates: Vec<String> = Vec::new();
        let times = |step: &str, factor: i64| -> Option<String> {
            let (whole, fraction) = step.split_once('.').unwrap_or((step, ""));
            let digits: i64 = format!("{whole}{fraction}").parse().ok()?;
            Some(scaled(digits.checked_mul(factor)?, fraction.len()))
        };
        for base in low.iter().chain(&high).chain([&"0".to_owned()]) {
            for factor in -3..=3 {
                candidates.extend(times("0.5", factor + (as_float(base) * 2.0) as i64));
                for step in &steps {
                    candidates.extend(times(step, factor + (as_float(base) / as_float(step)) as i64));
                }
            }
            candidates.push(base.clone());
        }
        let fits = |text: &&String| {
            let value = as_float(text);
            least <= value && value <= most && !(integer && value.fract() != 0.0)
        };
        let fitting: Vec<&String> = candidates.iter().filter(fits).collect();
        number(self.rng.pick(&fitting).map_or("0", |text| text.as_str()))
    }

    fn string(&mut self, facts: &[&'s Members]) -> Value {
        for fact in facts {
            for (keyword, pool) in [("pattern", PATTERNS), ("format", FORMATS)] {
                let Some(Value::String(name)) = fact.get(keyword) else { continue };
                let examples =
                    pool.iter().find(|(known, _)| known == name).map_or(&[][..], |(_, texts)| texts);
                if let Some(text) = self.rng.pick(examples) {
                    return Value::from(*text);
                }
            }
        }
        let (least, most) = bounds(facts, "minLength", "maxLength", 3);
        let length = self.rng.between(least, most.max(least));
        (0..length).map(|_| ['a', 'b', 'x', '1', 'é', '𝄞'][self.rng.below(6)]).collect::<String>().into()
    }

    fn array(&mut self, facts: &[&'s Members], depth: usize) -> Value {
        let (least, most) = bounds(facts, "minItems", "maxItems", 3);
        let length = self.rng.between(least, most.max(least));
        let contained: Vec<&'s Value> = facts.iter().filter_map(|fact| fact.get("contains")).collect();
        let items = (0..length).map(|index| {
            let mut schemas: Vec<&'s Value> = Vec::new();
            for fact in facts {
                let listed = [fact.get("prefixItems"), fact.get("items")];
                let prefix = listed.into_iter().flatten().find_map(Value::as_array);
                let rest = match (fact.get("items"), fact.get("additionalItems")) {
                    (Some(Value::Array(_)), rest) => rest,
                    (rest, _) => rest,
                };
                let here = prefix.and_then(|prefix| prefix.get(index));
                schemas.extend(here.or(rest).or(fact.get("unevaluatedItems")));
            }
            if self.rng.percent(50) {
                schemas.extend(self.rng.pick(&contained).copied());
            }
            self.value(&schemas, depth)
        });
        Value::Array(items.collect())
    }

    fn object(&mut self, facts: &[&'s Members], depth: usize) -> Value {
        let mut names: Vec<&str> = Vec::new();
        for fact in facts {
            names.extend(strings(fact.get("required")));
            for name in keys(fact.get("properties")) {
                if self.rng.percent(50) {
                    names.push(name);
                }
            }
            for pattern in keys(fact.get("patternProperties")) {
                if self.rng.percent(40) {
                    let known = PATTERNS.iter().find(|(known, _)| *known == pattern);
                    names.extend(known.and_then(|(_, texts)| self.rng.pick(texts)).copied());
                }
            }
        }
        let (least, most) = bounds(facts, "minProperties", "maxProperties", 4);
        while names.len() < least || self.rng.percent(25) {
            names.push(self.rng.pick(NAMES).copied().unwrap_or_default());
        }
        for fact in facts {
            for keyword in ["dependentRequired", "dependencies"] {
                let Some(Value::Object(needs)) = fact.get(keyword) else { continue };
                let owed = needs.iter().filter(|(name, _)| names.contains(&name.as_str()));
                let owed: Vec<&str> = owed.flat_map(|(_, needed)| strings(Some(needed))).collect();
                names.extend(owed);
            }
        }
        names.truncate(most.max(least));
        let mut members = Members::new();
        for name in names {
            let schemas = member_schemas(facts, name);
            members.insert(name.to_owned(), self.value(&schemas, depth));
        }
        Value::Object(members)
    }
}

fn member_schemas<'s>(facts: &[&'s Members], name: &str) -> Vec<&'s Value> {
    let mut schemas = Vec::new();
    for fact in facts {
        let before = schemas.len();
        schemas.extend(fact.get("properties").and_then(|members| members.get(name)));
        if let Some(Value::Object(patterns)) = fact.get("patternProperties") {
            // Which names a pattern finds is known of its examples only; the judge sees to the others.
            let finds = |pattern: &str| {
                PATTERNS.iter().any(|(known, texts)| *known == pattern && texts.contains(&name))
            };
            schemas.extend(patterns.iter().filter(|(pattern, _)| finds(pattern)).map(|(_, schema)| schema));
        }
        if schemas.len() == before {
            schemas.extend(fact.get("additionalProperties").or(fact.get("unevaluatedProperties")));
        }
    }
    schemas
}

/// The type that a keyword speaks about.
fn speaks_of(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => "number",
        "minLength" | "maxLength" | "pattern" | "format" => "string",
        "items" | "prefixItems" | "contains" | "minItems" | "maxItems" | "uniqueItems"
        | "unevaluatedItems" => "array",
        "properties"
        | "required"
        | "patternProperties"
        | "additionalProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "unevaluatedProperties" => "object",
        _ => return None,
    })
}

fn bounds(facts: &[&Members], least: &str, most: &str, usual: usize) -> (usize, usize) {
    let all = |keyword: &str| {
        let values = facts.iter().filter_map(|fact| fact.get(keyword)?.as_u64());
        values.map(|bound| usize::try_from(bound).unwrap_or(usize::MAX)).collect::<Vec<_>>()
    };
    let least = all(least).into_iter().max().unwrap_or(0);
    (least.min(8), all(most).into_iter().min().unwrap_or(least.saturating_add(usual)).min(8))
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn keys(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_object).into_iter().flat_map(|members| members.keys().map(String::as_str))
}

/// Digits with a point before the last `places` of them, without zeros at the end of the fraction.
fn scaled(digits: i64, places: usize) -> String {
    let sign = if digits < 0 { "-" } else { "" };
    let padded = format!("{:0>width$}", digits.unsigned_abs(), width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn points_are_put_where_they_belong() {
        assert_eq!([scaled(-5, 1), scaled(20, 1), scaled(7, 0), scaled(0, 2)], ["-0.5", "2", "7", "0"]);
    }
}
