//! The workloads by name.

use std::fmt::Write as _;

use super::growing::{self, GrowingCase, Source};

/// A grammar with texts of it and a text that is none.
#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) grammar: OwnedSource,
    /// Sentences of the grammar.
    pub(crate) texts: Vec<String>,
    /// No sentence, nor the beginning of one.
    pub(crate) refused: String,
    pub(crate) size: Size,
}

/// How long a workload takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    /// Any number of rounds.
    Usual,
    /// Seconds: one round.
    Large,
    /// Seconds for our own engine, and minutes for others, which are left out.
    Huge,
}

/// A grammar in the engines' dialects.
#[derive(Debug)]
pub(crate) enum OwnedSource {
    JsonSchema(String),
    Grammar { ebnf: String, lark: String },
}

/// All workloads.
pub(crate) fn all() -> Vec<Workload> {
    let grammar =
        |ebnf: &str, lark: &str| OwnedSource::Grammar { ebnf: ebnf.to_owned(), lark: lark.to_owned() };
    let large = |name, case: GrowingCase, refused: &str| Workload {
        name,
        grammar: match case.source {
            Source::Schema(schema) => OwnedSource::JsonSchema(schema),
            Source::Regex(pattern) => {
                grammar("root ::= ([a-z]{2,20} \"-\"){3,400} [0-9]{4}", &format!("start: /{pattern}/"))
            }
            Source::Ebnf(source) => grammar(&source, "start: start start | \"a\""),
        },
        texts: vec![case.text],
        refused: refused.to_owned(),
        size: Size::Large,
    };
    vec![
        free_json(),
        long_enum(),
        Workload { size: Size::Usual, ..large("anyOf of 100 objects", growing::any_of(100), "{\"kind\": 1") },
        wide_object(),
        long_string(),
        large("maxItems 10,000", growing::max_items(10_000), "[1,]"),
        large("words, at most 400", growing::nested_repeats(400), "ab-c-"),
        expressions(),
        large("S ::= S S, 4,000 bytes", growing::ambiguous(4_000), "aab"),
        large("16,000 optional properties", growing::wide_object(16_000), "{\"none\""),
        large("arrays nested 10,000 deep", growing::nested_arrays(10_000), "[[1"),
        Workload {
            size: Size::Huge,
            ..large("string of 10 MB", growing::long_string(10_000_000), "\"a\nb\"")
        },
    ]
}

fn free_json() -> Workload {
    let mut text = String::from("{\"items\": [");
    for number in 0..16 {
        let comma = if number > 0 { ", " } else { "" };
        // Writing to a string cannot fail, here and below.
        let _ = write!(
            text,
            "{comma}{{\"id\": {number}, \"name\": \"Item number {number}\", \"price\": {}.5, \"tags\": [\"new\", \
             \"größe {number}\"], \"stock\": {{\"here\": true, \"there\": null}}}}",
            number * 7
        );
    }
    text.push_str("]}");
    Workload {
        name: "free JSON",
        grammar: OwnedSource::JsonSchema("{}".to_owned()),
        texts: vec![text],
        refused: "{\"a\": tru}".to_owned(),
        size: Size::Usual,
    }
}

fn long_enum() -> Workload {
    const SYLLABLES: [&str; 16] = [
        "ka", "lo", "mi", "ne", "ru", "sa", "ti", "vo", "ber", "dan", "fel", "gor", "hin", "jas", "pol",
        "wex",
    ];
    let word = |number: usize| {
        let mut word = String::new();
        let mut rest = number * 2_654_435_761 % 1_048_576;
        for _ in 0..5 {
            word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
            rest /= SYLLABLES.len();
        }
        word
    };
    let words: Vec<String> = (0..2000).map(word).collect();
    let texts = words.iter().step_by(97).map(|word| format!("\"{word}\"")).collect();
    Workload {
        name: "enum of 2,000 strings",
        grammar: OwnedSource::JsonSchema(serde_json::json!({ "enum": words }).to_string()),
        texts,
        refused: "\"zzz\"".to_owned(),
        size: Size::Usual,
    }
}

fn wide_object() -> Workload {
    let mut properties = serde_json::Map::new();
    let mut text = String::from("{");
    for number in 0..30 {
        let (schema, value) = match number % 5 {
            0 => (serde_json::json!({"type": "string"}), format!("\"some text of field {number}\"")),
            1 => (serde_json::json!({"type": "integer", "minimum": 0}), (number * 31).to_string()),
            2 => (serde_json::json!({"enum": ["red", "green", "blue"]}), "\"green\"".to_owned()),
            3 => (serde_json::json!({"type": "array", "items": {"type": "number"}}), "[1.5, -2]".to_owned()),
            _ => (serde_json::json!({"type": "boolean"}), "false".to_owned()),
        };
        properties.insert(format!("field_{number}"), schema);
        let comma = if number > 0 { ", " } else { "" };
        let _ = write!(text, "{comma}\"field_{number}\": {value}");
    }
    text.push('}');
    let required: Vec<String> = (0..30).step_by(2).map(|number| format!("field_{number}")).collect();
    let schema = serde_json::json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    Workload {
        name: "30 properties",
        grammar: OwnedSource::JsonSchema(schema.to_string()),
        texts: vec![text],
        refused: "{\"field_1\": 1, \"field_2\"".to_owned(),
        size: Size::Usual,
    }
}

fn long_string() -> Workload {
    let text = "The quick brown fox jumps over 13 lazy dogs; größer als zuvor. ".repeat(40);
    Workload {
        name: "maxLength 65,536",
        grammar: OwnedSource::JsonSchema(r#"{"type": "string", "maxLength": 65536}"#.to_owned()),
        texts: vec![format!("\"{text}\"")],
        refused: "\"a\nb\"".to_owned(),
        size: Size::Usual,
    }
}

fn expressions() -> Workload {
    const EBNF: &str = r#"root ::= or
or ::= or "||" and | and
and ::= and "&&" bits | bits
bits ::= bits "|" mixed | mixed
mixed ::= mixed "^" masked | masked
masked ::= masked "&" equal | equal
equal ::= equal ("==" | "!=") less | less
less ::= less ("<" | ">" | "<=" | ">=") shift | shift
shift ::= shift ("<<" | ">>") sum | sum
sum ::= sum ("+" | "-") product | product
product ::= product ("*" | "/" | "%") unary | unary
unary ::= ("!" | "-" | "~") unary | postfix
postfix ::= postfix "(" arguments ")" | postfix "[" or "]" | postfix "." name | primary
arguments ::= "" | list
list ::= list "," or | or
primary ::= name | number | "(" or ")"
name ::= [a-z_] [a-z0-9_]*
number ::= [0-9]+
"#;
    const LARK: &str = r#"start: or
or: or "||" and | and
and: and "&&" bits | bits
bits: bits "|" mixed | mixed
mixed: mixed "^" masked | masked
masked: masked "&" equal | equal
equal: equal ("==" | "!=") less | less
less: less ("<" | ">" | "<=" | ">=") shift | shift
shift: shift ("<<" | ">>") sum | sum
sum: sum ("+" | "-") product | product
product: product ("*" | "/" | "%") unary | unary
unary: ("!" | "-" | "~") unary | postfix
postfix: postfix "(" arguments ")" | postfix "[" or "]" | postfix "." NAME | primary
arguments: list?
list: list "," or | or
primary: NAME | NUMBER | "(" or ")"
NAME: /[a-z_][a-z0-9_]*/
NUMBER: /[0-9]+/
"#;
    let unit = "a+b*(count-3)<<2==f(x,y[4].size)&&!flag||~mask&255|limit(n%7)^-q[i][j+1]>=100";
    Workload {
        name: "expressions, 10 levels",
        grammar: OwnedSource::Grammar { ebnf: EBNF.to_owned(), lark: LARK.to_owned() },
        texts: vec![format!("{unit}&&({unit})-g({unit},0)")],
        refused: "a+*b".to_owned(),
        size: Size::Usual,
    }
}
