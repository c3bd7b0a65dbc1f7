//! Structures, or texts, of any size: what should not grow faster than its input.

use serde_json::{Map, Value, json};

/// A structure, and a text that obeys it.
pub(crate) struct GrowingCase {
    pub(crate) source: Source,
    pub(crate) text: String,
}

/// A structure in one of the dialects.
pub(crate) enum Source {
    Schema(String),
    Regex(String),
    Ebnf(String),
}

/// One of this many strings.
pub(crate) fn long_enum(size: usize) -> GrowingCase {
    let words: Vec<String> = (0..size).map(word).collect();
    let text = format!("\"{}\"", words[size / 2]);
    schema(&json!({"enum": words}), text)
}

/// One of this many objects.
pub(crate) fn any_of(size: usize) -> GrowingCase {
    let object = |number: usize| {
        json!({"type": "object", "properties": {"kind": {"const": word(number)}, "n": {"type": "integer"},
               "text": {"type": "string"}}, "required": ["kind"], "additionalProperties": false})
    };
    let objects: Vec<Value> = (0..size).map(object).collect();
    let text = format!(r#"{{"kind": "{}", "n": 17, "text": "some text"}}"#, word(size / 2));
    schema(&json!({"anyOf": objects}), text)
}

/// An object with this many optional properties. The text has four of them.
pub(crate) fn wide_object(size: usize) -> GrowingCase {
    let properties: Map<String, Value> =
        (0..size).map(|number| (format!("{}_{number}", word(number)), json!({"type": "integer"}))).collect();
    // As the schema lists them: its text keeps no other order.
    let names: Vec<&String> = properties.keys().collect();
    let members: Vec<String> =
        [0, size / 3, size / 2, size - 1].iter().map(|&at| format!("\"{}\": {at}", names[at])).collect();
    let text = format!("{{{}}}", members.join(", "));
    schema(&json!({"type": "object", "properties": properties, "additionalProperties": false}), text)
}

/// A string of at most this many characters.
pub(crate) fn max_length(size: usize) -> GrowingCase {
    // Every size is read up to its bound, but for those that would take minutes.
    let text = "The quick brown fox; ".chars().cycle().take(size.min(65_536)).collect::<String>();
    schema(&json!({"type": "string", "maxLength": size}), format!("\"{text}\""))
}

/// A list of at most this many integers, full.
pub(crate) fn max_items(size: usize) -> GrowingCase {
    let items: Vec<String> = (0..size).map(|number| (number % 100).to_string()).collect();
    let text = format!("[{}]", items.join(", "));
    schema(&json!({"type": "array", "items": {"type": "integer"}, "maxItems": size}), text)
}

/// At most this many words, full.
pub(crate) fn nested_repeats(size: usize) -> GrowingCase {
    let text = "abcdef-".repeat(size) + "2026";
    GrowingCase { source: Source::Regex(format!("(?:[a-z]{{2,20}}-){{3,{size}}}[0-9]{{4}}")), text }
}

/// Lists nested so deep.
pub(crate) fn nested_arrays(size: usize) -> GrowingCase {
    let text = "[".repeat(size) + &"]".repeat(size);
    schema(
        &json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}}),
        text,
    )
}

/// A text of this many bytes that can be read in very many ways.
pub(crate) fn ambiguous(size: usize) -> GrowingCase {
    GrowingCase { source: Source::Ebnf("root ::= root root | \"a\"".to_owned()), text: "a".repeat(size) }
}

/// A string of this many bytes.
pub(crate) fn long_string(size: usize) -> GrowingCase {
    let text = "The quick brown fox jumps over the lazy dog. ".chars().cycle().take(size).collect::<String>();
    schema(&json!({"type": "string"}), format!("\"{text}\""))
}

fn schema(schema: &Value, text: String) -> GrowingCase {
    GrowingCase { source: Source::Schema(schema.to_string()), text }
}

fn word(number: usize) -> String {
    const SYLLABLES: [&str; 8] = ["ka", "lo", "mi", "ne", "ru", "sa", "ti", "vo"];
    let mixed = number.wrapping_mul(2_654_435_761) % (1 << 24);
    (0..8).map(|place| SYLLABLES[mixed >> (3 * place) & 7]).collect()
}
