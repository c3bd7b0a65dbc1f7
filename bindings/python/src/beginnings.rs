//! How xgrammar's messages begin, for programs that look for that.

use grammask::{Diagnostic, JsonObject, JsonValue};

/// The fixed beginnings of xgrammar's messages about schemas, and about patterns and grammars inside of something else, as
/// running it shows them. Each has a part of our code for the fault, and a part of what we say with the place. Of several
/// that fit the first is meant. A number follows those that end in a space.
const INNER_BEGINNINGS: [(&str, &str, &str); 47] = [
    ("/malformed", "`type` must be", "Unsupported type"),
    ("/malformed", "`$ref` must be", "$ref must be a string"),
    ("/malformed", "`enum` must be a list", "enum must be an array"),
    ("/malformed", "`anyOf` must be", "anyOf must be an array"),
    ("/malformed", "`oneOf` must be", "oneOf must be an array"),
    ("/malformed", "`allOf` must be", "allOf must be an array"),
    ("/malformed", "`properties` must be", "properties must be an object"),
    ("/malformed", "`patternProperties` must be", "patternProperties must be an object"),
    ("/malformed", "`required` must be", "required must be an array"),
    ("/malformed", "`prefixItems` must be", "prefixItems must be an array"),
    ("/malformed", "`minLength` must be", "minLength must be an integer"),
    ("/malformed", "`maxLength` must be", "maxLength must be an integer"),
    ("/malformed", "`minItems` must be", "minItems must be an integer"),
    ("/malformed", "`maxItems` must be", "maxItems must be a non-negative integer"),
    ("/malformed", "`minContains` must be", "minContains must be an integer"),
    ("/malformed", "`maxContains` must be", "maxContains must be an integer"),
    ("/malformed", "`minProperties` must be", "minProperties must be an integer"),
    ("/malformed", "`maxProperties` must be", "maxProperties must be an integer"),
    ("json-schema/malformed", "`pattern` must be", NO_STRING),
    ("json-schema/malformed", "`format` must be", NO_STRING),
    ("/malformed", "`multipleOf` must be a number above", "multipleOf must be greater than 0"),
    ("/malformed", "`multipleOf` must be", "Value must be a number"),
    ("/malformed", "`minimum` must be", "Value must be a number"),
    ("/malformed", "`maximum` must be", "Value must be a number"),
    ("/malformed", "`exclusiveMinimum` must be", "Value must be a number"),
    ("/malformed", "`exclusiveMaximum` must be", "Value must be a number"),
    ("structural-tag/malformed", "max_whitespace_cnt must be a positive", NOT_POSITIVE),
    ("structural-tag/malformed", "max_whitespace_cnt must be a non-negative", NOT_POSITIVE),
    ("ebnf/", "the grammar, column ", "EBNF parser error at line 1, column "),
    // A value in the place of a schema. Members of these names are no keywords.
    ("/malformed", "/properties/items`", "Schema should be an object or bool"),
    ("/malformed", "/properties/unevaluatedItems`", "Schema should be an object or bool"),
    ("/malformed", "/properties/propertyNames`", "Schema should be an object or bool"),
    ("/malformed", "/items`", "items must be a boolean or an object"),
    ("/malformed", "/unevaluatedItems`", "unevaluatedItems must be a boolean or an object"),
    ("/malformed", "/propertyNames`", "propertyNames must be an object"),
    ("/malformed", "/prefixItems/`", "prefixItems must be an array of objects or booleans"),
    ("/malformed", "this must be a schema", "Schema should be an object or bool"),
    ("/reference", "leads to nothing in this document", "Cannot find field"),
    ("/unsatisfiable", "no number satisfies", "Invalid range"),
    ("/unsatisfiable", "`minLength` and `maxLength`", "minLength is greater than maxLength"),
    ("/unsatisfiable", "`minItems` and `maxItems`", "minItems is greater than maxItems"),
    (
        "/unsatisfiable",
        "`items` and `minItems`",
        "minItems is greater than the number of prefixItems, but additional items are not allowed",
    ),
    ("/unsatisfiable", "`prefixItems` and `minItems`", "prefixItems contains false"),
    ("/unsatisfiable", "`minProperties` and `maxProperties`", "minProperties is greater than maxProperties"),
    (
        "/unsatisfiable",
        "`required` and `maxProperties`",
        "maxProperties is less than the number of required properties",
    ),
    (
        "/unsatisfiable",
        "`additionalProperties` and `minProperties`",
        "minProperties is greater than the number of properties, but additional properties aren't allowed",
    ),
    ("/unsatisfiable", "an `enum` without values", "enum array must not be empty"),
];

const NOT_POSITIVE: &str = "max_whitespace_cnt must be positive.";

const UNKNOWN_TOKEN: &str =
    "Check failed: (info.TokenIds()[i] >= 0 && info.TokenIds()[i] < vocab_size) is false: Token id ";

/// xgrammar's JSON library says this about a value that is no string.
const NO_STRING: &str = r#""type mismatch! call is<type>() before get<type>()" && is<std::string>()"#;

/// Faults of patterns that xgrammar finds when it reads the pattern as a grammar.
const FOUND_IN_EBNF: [&str; 3] = [
    "the first character of this range comes after",
    "the least number of repeats is greater",
    "there is nothing before this repeat",
];

/// The beginning of a message about a fault at a column of a pattern.
pub(crate) fn pattern_beginning(message: &str, column: u32) -> String {
    const BEFORE: u32 = "root ::= ".len() as u32;
    match FOUND_IN_EBNF.iter().any(|fault| message.contains(fault)) {
        true => format!("EBNF parser error at line 1, column {}", BEFORE + column),
        false => format!("Regex parsing error at position {column}"),
    }
}

/// See [`INNER_BEGINNINGS`]. A schema that no value obeys is `false` by another name.
pub(crate) fn inner_beginning(diagnostic: &Diagnostic) -> Option<String> {
    // Places in lists are told apart by nothing but their numbers.
    let place =
        diagnostic.pointer().unwrap_or_default().trim_end_matches(|digit: char| digit.is_ascii_digit());
    let said = format!("{} at `{place}`", diagnostic.message());
    let code = diagnostic.code();
    let number_after = |part: &str| {
        let rest = said.split(part).nth(1)?;
        rest.split(|one: char| !one.is_ascii_digit()).next()?.parse::<u32>().ok()
    };
    if code.contains("regex/")
        && let Some(column) = number_after("pattern, column ")
    {
        return Some(pattern_beginning(&said, column));
    }
    let found = INNER_BEGINNINGS.iter().find(|(part, ours, _)| code.contains(part) && said.contains(ours));
    // Numbers alone are out of range.
    let found = found.filter(|(.., theirs)| {
        *theirs != NOT_POSITIVE || diagnostic.found().is_some_and(|found| found.parse::<i64>().is_ok())
    });
    let Some((_, ours, theirs)) = found else {
        let is_false = code == "json-schema/unsatisfiable";
        return is_false.then(|| "Schema 'false' cannot accept any value".to_owned());
    };
    if let Some(found) = diagnostic.found().and_then(|found| found.parse().ok())
        && let Some(exact) = with_value(theirs, &found)
    {
        return Some(exact);
    }
    let number = number_after(ours).filter(|_| theirs.ends_with(' '));
    let theirs = if is_of_lexer(code) { theirs.replace("parser", "lexer") } else { (*theirs).to_owned() };
    Some(number.map_or_else(|| theirs.clone(), |number| format!("{theirs}{number}")))
}

/// A beginning that depends on the value at the place: that of the keyword, or the schema whose keywords contradict one
/// another.
fn with_value(beginning: &str, found: &JsonValue) -> Option<String> {
    let integer = |name: &str| found.get(name).and_then(JsonValue::as_i64);
    let is_negative = || found.as_i64().is_some_and(|number| number < 0);
    let pair = |one: i64, other: i64| format!("{beginning}: {one} > {other}");
    Some(match beginning {
        "Unsupported type" => match found {
            JsonValue::String(_) => format!("{beginning} {found}"),
            JsonValue::Array(names) if names.iter().all(|name| name.as_str().is_some()) => {
                beginning.to_owned()
            }
            JsonValue::Array(_) => "type must be a string or an array of strings".to_owned(),
            _ => "Type should be a string".to_owned(),
        },
        "minProperties must be an integer" | "maxProperties must be an integer" if is_negative() => {
            beginning.replace("an integer", "a non-negative integer")
        }
        "required must be an array" if found.as_array().is_some() => NO_STRING.to_owned(),
        "minLength must be an integer" if is_negative() => {
            "Check failed: (lower >= 0 && (upper == -1 || upper >= lower)) is false: Invalid repetition range"
                .to_owned()
        }
        "minLength must be an integer" => format!("{beginning} not exceeding 2147483647"),
        "minLength is greater than maxLength" => {
            format!("minLength {} is greater than maxLength {}", integer("minLength")?, integer("maxLength")?)
        }
        "minItems is greater than maxItems" => pair(integer("minItems")?, integer("maxItems")?),
        "minProperties is greater than maxProperties" => {
            pair(integer("minProperties")?, integer("maxProperties")?)
        }
        "maxProperties is less than the number of required properties" => {
            let required = found.get("required").and_then(JsonValue::as_array)?.len();
            format!("{beginning}: {} < {required}", integer("maxProperties")?)
        }
        _ if beginning.starts_with("minItems is greater than the number of prefixItems") => {
            let items = found.get("prefixItems").and_then(JsonValue::as_array).map_or(0, <[_]>::len);
            pair(integer("minItems")?, i64::try_from(items).ok()?)
        }
        _ if beginning.starts_with("minProperties is greater than the number of properties") => {
            let members = found.get("properties").and_then(JsonValue::as_object).map_or(0, JsonObject::len);
            pair(integer("minProperties")?, i64::try_from(members).ok()?)
        }
        "Invalid range" if found["type"] == "number" => format!("{beginning}: empty range"),
        "Invalid range" if found["type"] == "integer" => {
            let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].into_iter();
            let mut bounds = bounds.filter_map(|name| found.get(name).and_then(JsonValue::as_number));
            match bounds.all(|bound| bound.parse::<i64>().is_ok()) {
                true => format!("{beginning}: minimum greater than maximum"),
                false => "Integer constraint must be a whole number".to_owned(),
            }
        }
        "Schema should be an object or bool" => format!("{beginning}, but got {found}"),
        _ => return None,
    })
}

/// The beginning of the message about a token that the vocabulary does not have.
pub(crate) fn unknown_token(code: &str, message: &str) -> Option<String> {
    let named = (code == "grammar/token").then(|| message.split("has no token ").nth(1))??;
    let id = named.split(|one: char| !one.is_ascii_digit()).next().filter(|id| !id.is_empty())?;
    Some(format!("{UNKNOWN_TOKEN}{id} in the grammar is out of the vocabulary range"))
}

/// Whether xgrammar's lexer finds this fault of a grammar, and not its parser.
pub(crate) fn is_of_lexer(code: &str) -> bool {
    matches!(
        code,
        "ebnf/character"
            | "ebnf/escape"
            | "ebnf/name"
            | "ebnf/rule"
            | "ebnf/rule-options"
            | "ebnf/string"
            | "ebnf/unclosed-class"
    )
}
