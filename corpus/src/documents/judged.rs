//! Values as a validator judges them rightly.

use serde_json::Value;

/// The value with the members of its objects sorted by name.
///
/// Validators that compare constants member by member take the order in which they were read for a difference;
/// sorted, in the schema and in the instance, equal objects are equal lists. Recursion is bounded as
/// [`Spelled::new`](super::Spelled::new) is.
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut pairs: Vec<(&String, &Value)> = members.iter().collect();
            pairs.sort_unstable_by_key(|(name, _)| *name);
            Value::Object(pairs.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect())
        }
        other => other.clone(),
    }
}

/// Digits of the number that has the most of them, written without an exponent.
fn most_digits(value: &Value) -> usize {
    let mut most = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Number(number) => {
                let text = number.to_string();
                let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
                let digits = digits.chars().filter(char::is_ascii_digit).skip_while(|&digit| digit == '0');
                let exponent = exponent.parse::<i32>().map_or(usize::MAX, |by| by.unsigned_abs() as usize);
                most = most.max(digits.count().saturating_add(exponent));
            }
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    most
}

/// Whether a keyword stands anywhere in a schema; names of members count as keywords.
fn mentions(schema: &Value, keyword: &str) -> bool {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if members.contains_key(keyword) {
                    return true;
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    false
}

/// Whether validators judge the value rightly under the schema.
///
/// * Numbers: they divide by `multipleOf` in machine numbers, which hold 15 digits, and write out powers of ten
///   elsewhere.
/// * Blanks: `\s` matches U+FEFF and not U+0085 in ECMA-262 (section 22.2, `CharacterClassEscape`), and some take
///   Unicode's property for it, where it is the other way round.
pub fn is_judged_rightly(schema: &Value, value: &Value) -> bool {
    let most = if mentions(schema, "multipleOf") || mentions(schema, "divisibleBy") { 15 } else { 300 };
    most_digits(value) <= most && !(has_disputed_blank(value) && speaks_of_blanks(schema))
}

fn has_disputed_blank(value: &Value) -> bool {
    let is_disputed = |text: &str| text.contains(['\u{85}', '\u{FEFF}']);
    match value {
        Value::String(text) => is_disputed(text),
        Value::Array(items) => items.iter().any(has_disputed_blank),
        Value::Object(members) => {
            members.iter().any(|(name, value)| is_disputed(name) || has_disputed_blank(value))
        }
        _ => false,
    }
}

/// Whether a pattern may do so. In JSON a backslash is written twice.
fn speaks_of_blanks(schema: &Value) -> bool {
    let text = schema.to_string();
    text.contains(r"\\s") || text.contains(r"\\S")
}

/// Whether validators judge by the schema as its draft says: in 2019-09 what `contains` finds counts as unevaluated, and
/// some take it for evaluated, as it is from 2020-12 on.
pub fn is_schema_judged_rightly(schema: &Value) -> bool {
    let draft = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    !(draft.contains("2019-09") && mentions(schema, "contains") && mentions(schema, "unevaluatedItems"))
}

#[cfg(test)]
mod tests {
    use super::{Value, is_judged_rightly, most_digits, sorted};

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn digits_are_counted_without_an_exponent() {
        let digits = ["[1, 0.25]", "1e20", "1e-5", "{\"a\": 12345678901234567890}", "\"123\""];
        assert_eq!(digits.map(|text| most_digits(&read(text))), [2, 21, 6, 20, 0]);
    }

    #[test]
    fn blanks_are_disputed_where_a_pattern_speaks_of_them() {
        let (spaces, others) = (read(r#"{"pattern": "^\\s*$"}"#), read(r#"{"pattern": "^[ s]*$"}"#));
        for disputed in ["\u{FEFF}", "\u{85}"] {
            let value = Value::Array(vec![Value::String(format!(" {disputed}"))]);
            assert!(!is_judged_rightly(&spaces, &value));
            assert!(is_judged_rightly(&others, &value));
        }
        assert!(is_judged_rightly(&spaces, &read("\" \u{3000}\"")));
    }

    #[test]
    fn members_are_sorted_at_every_depth() {
        let value = sorted(&read(r#"{"b": [{"d": 1, "c": 2}], "a": 0}"#));
        assert_eq!(value.to_string(), r#"{"a":0,"b":[{"c":2,"d":1}]}"#);
    }
}
