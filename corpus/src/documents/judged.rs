//! Values as a validator judges them rightly.

use serde_json::{Map, Value};

/// The value with the members of its objects sorted by name.
///
/// Validators that compare constants member by member see a difference in the order of members. If members
/// are sorted, in the schema and in the instance, equal objects are equal lists. Recursion is bounded as
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

/// Whether a keyword occurs anywhere in a schema; names of members count as keywords.
fn mentions(schema: &Value, keyword: &str) -> bool {
    has_object(schema, |members| members.contains_key(keyword))
}

/// Whether some object in a value is of a kind.
fn has_object(value: &Value, is_of_kind: impl Fn(&Map<String, Value>) -> bool) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if is_of_kind(members) {
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
/// * Line ends: `.` matches neither U+000D nor U+2028 nor U+2029 (section 22.2.2, `CharacterSetMatcher`), and some take
///   U+000A alone for the end of a line.
/// * Addresses: the quoted part before `@` may be empty (RFC 5321, section 4.1.2), and some want a character there. Some
///   take characters beyond ASCII (RFC 6531, section 3.3) and some do not, so that it is certain of none that it is no
///   address.
/// * Templates: control characters, noncharacters and tags beyond ASCII are no literals (RFC 6570, section 2.1), and some
///   take all characters there. The apostrophe is a literal (erratum 6937), and some refuse it.
/// * Patterns: `[]` matches nothing and `[^]` any character (ECMA-262, section 22.2.1, `ClassContents`), and some take the
///   bracket that follows for a member of the class. Some nest classes, and know operators in them. Surrogates may be
///   written as escapes, and some refuse them.
pub fn is_judged_rightly(schema: &Value, value: &Value) -> bool {
    let most = if mentions(schema, "multipleOf") || mentions(schema, "divisibleBy") { 15 } else { 300 };
    let has_format = |format: &str| {
        has_object(schema, |members| members.get("format").and_then(Value::as_str) == Some(format))
    };
    most_digits(value) <= most
        && !(has_text(value, &|text| text.contains(['\u{85}', '\u{FEFF}'])) && speaks_of_blanks(schema))
        && !(has_text(value, &|text| text.contains(['\r', '\u{2028}', '\u{2029}'])) && speaks_of_any(schema))
        && !(has_text(value, &is_disputed_address) && has_format("email"))
        && !(has_text(value, &|text| text.contains(is_disputed_literal)) && has_format("uri-template"))
        && !(has_text(value, &is_disputed_pattern) && has_format("regex"))
}

fn is_disputed_pattern(text: &str) -> bool {
    ["[]", "[^]", "&&", "--", "~~", r"\u"].iter().any(|part| text.contains(part))
        || text.split(']').any(|part| part.matches('[').count() > 1)
}

fn is_disputed_address(text: &str) -> bool {
    text.starts_with("\"\"@") || text.contains('@') && !text.is_ascii()
}

fn is_disputed_literal(character: char) -> bool {
    let is_literal = matches!(character, ..'\u{80}' | '\u{A0}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFEF}' | '\u{10000}'..)
        && u32::from(character) & 0xFFFE != 0xFFFE
        && !matches!(character, '\u{E0000}'..='\u{E0FFF}');
    character == '\'' || !is_literal
}

/// Whether some text or name in a value is of a kind.
fn has_text(value: &Value, is_of_kind: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_of_kind(text),
        Value::Array(items) => items.iter().any(|item| has_text(item, is_of_kind)),
        Value::Object(members) => {
            members.iter().any(|(name, value)| is_of_kind(name) || has_text(value, is_of_kind))
        }
        _ => false,
    }
}

/// Whether a pattern may do so. In JSON a backslash is written twice.
fn speaks_of_blanks(schema: &Value) -> bool {
    let text = schema.to_string();
    text.contains(r"\\s") || text.contains(r"\\S")
}

/// Whether a pattern may ask for any character but the end of a line.
fn speaks_of_any(schema: &Value) -> bool {
    let is_any = |pattern: &str| pattern.replace("\\.", "").contains('.');
    has_object(schema, |members| {
        members.get("pattern").and_then(Value::as_str).is_some_and(is_any)
            || matches!(members.get("patternProperties"),
                Some(Value::Object(patterns)) if patterns.keys().any(|pattern| is_any(pattern)))
    })
}

/// Whether validators judge by the schema as its draft says.
///
/// * In 2019-09 what `contains` finds counts as unevaluated, and some take it for evaluated, as it is from 2020-12 on.
/// * Items that a `contains` behind a `$ref` finds are evaluated beside another `contains`, too. So are those
///   that `then` or `else` mentions under an `if` that is `true` or `false`. Some forget about both.
pub fn is_schema_judged_rightly(schema: &Value) -> bool {
    let draft = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let contains = mentions(schema, "contains") && mentions(schema, "unevaluatedItems");
    let refers =
        |members: &Map<String, Value>| members.contains_key("contains") && members.contains_key("$ref");
    let is_decided = |members: &Map<String, Value>| members.get("if").is_some_and(Value::is_boolean);
    let is_left =
        ["unevaluatedItems", "unevaluatedProperties"].iter().any(|keyword| mentions(schema, keyword));
    !(contains && (draft.contains("2019-09") || has_object(schema, refers)))
        && !(is_left && has_object(schema, is_decided))
}

#[cfg(test)]
mod tests {
    use super::{Value, is_judged_rightly, is_schema_judged_rightly, most_digits, sorted};

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
    fn line_ends_are_disputed_where_a_pattern_speaks_of_any_character() {
        let value = read(r#"{"\r": 9}"#);
        for (schema, is_disputed) in [
            (r#"{"patternProperties": {"^.$": false}}"#, true),
            (r#"{"items": {"pattern": "a.b"}}"#, true),
            (r#"{"pattern": "a\\.b", "const": "..."}"#, false),
        ] {
            assert_eq!(!is_judged_rightly(&read(schema), &value), is_disputed, "{schema}");
            assert!(is_judged_rightly(&read(schema), &read(r#"["\n"]"#)), "{schema}");
        }
    }

    #[test]
    fn formats_are_disputed_where_they_stand() {
        for (format, disputed, clear) in [
            ("email", r#""\"\"@a""#, r#""\"b\"@a""#),
            ("email", r#""a@é""#, r#""a@e""#),
            ("uri-template", "\"\u{1FFFE}\"", "\"\u{1FFFD}\""),
            ("uri-template", "\"\u{8D}\"", "\"\u{A0}\""),
            ("uri-template", "\"\u{FDD0}\"", "\"\u{FDF0}\""),
            ("uri-template", "\"\u{FFF0}\"", "\"\u{FFEF}\""),
            ("uri-template", "\"\u{E0FFF}\"", "\"\u{E1000}\""),
            ("uri-template", "\"it's\"", "\"its\""),
            ("regex", r#""a[]b""#, r#""a[b]""#),
            ("regex", r#""[a[]""#, r#""[a][b]""#),
            ("regex", r#""[a&&b]""#, r#""[a&b]""#),
            ("regex", r#""\\ud83d""#, r#""\\xd8""#),
        ] {
            let [schema, other] =
                [format, "uri"].map(|format| read(&format!(r#"{{"items": {{"format": "{format}"}}}}"#)));
            assert!(!is_judged_rightly(&schema, &read(disputed)), "{format}");
            assert!(is_judged_rightly(&schema, &read(clear)), "{format}");
            assert!(is_judged_rightly(&other, &read(disputed)), "{format}");
        }
    }

    #[test]
    fn what_is_evaluated_is_disputed_in_some_places() {
        for (schema, is_right) in [
            (r##"{"contains": {}, "$ref": "#/$defs/a", "unevaluatedItems": false}"##, false),
            (r##"{"contains": {}, "allOf": [{"$ref": "#/$defs/a"}], "unevaluatedItems": false}"##, true),
            (r##"{"contains": {}, "$ref": "#/$defs/a"}"##, true),
            (r#"{"if": false, "else": {"properties": {"a": {}}}, "unevaluatedProperties": false}"#, false),
            (r#"{"if": {}, "else": {"properties": {"a": {}}}, "unevaluatedProperties": false}"#, true),
            (r#"{"if": false, "else": {"properties": {"a": {}}}}"#, true),
        ] {
            assert_eq!(is_schema_judged_rightly(&read(schema)), is_right, "{schema}");
        }
    }

    #[test]
    fn members_are_sorted_at_every_depth() {
        let value = sorted(&read(r#"{"b": [{"d": 1, "c": 2}], "a": 0}"#));
        assert_eq!(value.to_string(), r#"{"a":0,"b":[{"c":2,"d":1}]}"#);
    }
}
