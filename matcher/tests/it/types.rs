//! Rust types as structures: what is written under them comes back as the type.

use std::collections::BTreeMap;
use std::fmt::Debug;

use grammask_grammar_frontends::json_schema::JsonSchemaOptions;
use grammask_grammar_frontends::structural_tag::StructuralTagOptions;
use grammask_grammar_frontends::tool_formats::{Reasoning, ToolFormat};
use grammask_mask_cache::{TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{Compiler, Matcher, Tools};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A vocabulary of bytes.
fn compiler() -> Compiler {
    let tokens = (0..=255_u8).map(|byte| Some([byte])).chain([None]);
    let options = VocabularyOptions::default().stop_ids([256]);
    Compiler::new(Vocabulary::from_tokens(tokens, &options).unwrap())
}

/// A text of random allowed bytes, brought to its shortest ending after 200 of them.
fn write(mut matcher: Matcher, random: &mut fastrand::Rng) -> Vec<u8> {
    let vocabulary = std::sync::Arc::clone(matcher.grammar().vocabulary());
    let mut mask = TokenMask::new(vocabulary.len());
    let mut text = Vec::new();
    while text.len() < 200 {
        matcher.fill_mask(&mut mask).unwrap();
        let allowed: Vec<_> = mask.iter().collect();
        let id = allowed[random.usize(..allowed.len())];
        matcher.accept_token(id).unwrap();
        if matcher.is_terminated() {
            return text;
        }
        text.extend_from_slice(vocabulary.token_bytes(id));
    }
    text.extend(matcher.shortest_ending(10_000).unwrap().unwrap());
    text
}

/// Random texts of the type's grammar are values of the type, and a value's own text is one of them.
#[track_caller]
fn check<T: JsonSchema + DeserializeOwned + Serialize + PartialEq + Debug>(value: &T) {
    let grammar = compiler().json_type::<T>(&JsonSchemaOptions::default()).unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..50 {
        let text = write(grammar.grammar().matcher(), &mut random);
        let read = grammar.read(&text);
        assert!(read.is_ok(), "{}: {read:?}", String::from_utf8_lossy(&text));
    }
    let text = serde_json::to_vec(value).unwrap();
    let mut matcher = grammar.grammar().matcher();
    matcher.accept_bytes(&text).unwrap();
    assert!(matcher.is_completed());
    assert_eq!(&grammar.read(&text).unwrap(), value);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// Documentation becomes a description.
    drink: Drink,
    #[schemars(range(min = 1, max = 4))]
    cups: u8,
    note: Option<String>,
    extras: Vec<Extra>,
    after: Option<Box<Order>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Drink {
    Coffee,
    Tea,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Extra {
    Milk { grams: u32 },
    Sugar,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Integers(i8, u8, i16, u16, i32, u32, i64, u64, isize, usize);

#[test]
fn values_come_back_as_their_types() {
    check(&Order {
        drink: Drink::Tea,
        cups: 2,
        note: Some("hot \u{e9}\n".to_owned()),
        extras: vec![Extra::Milk { grams: 5 }, Extra::Sugar],
        after: None,
    });
    check(&BTreeMap::from([("a".to_owned(), (true, 'x', -1.5))]));
}

/// The greatest and the least integers are in, and no others.
#[test]
fn integers_are_bounded_as_their_types_are() {
    let least = Integers(i8::MIN, 0, i16::MIN, 0, i32::MIN, 0, i64::MIN, 0, isize::MIN, 0);
    let (i8, u8, i16, u16) = (i8::MAX, u8::MAX, i16::MAX, u16::MAX);
    check(&least);
    check(&Integers(i8, u8, i16, u16, i32::MAX, u32::MAX, i64::MAX, u64::MAX, isize::MAX, usize::MAX));
    let grammar = compiler().json_type::<(i64, u32)>(&JsonSchemaOptions::default()).unwrap();
    for text in ["[9223372036854775808,0]", "[-9223372036854775809,0]", "[0,4294967296]", "[0,-1]"] {
        assert!(grammar.grammar().matcher().accept_bytes(text.as_bytes()).is_err(), "{text}");
    }
    check(&(Some(i32::MIN), Some(u64::MAX), None::<u32>));
    let grammar = compiler().json_type::<(Option<i64>, Option<u32>)>(&JsonSchemaOptions::default()).unwrap();
    for text in ["[9223372036854775808,null]", "[null,4294967296]", "[null,-1]"] {
        assert!(grammar.grammar().matcher().accept_bytes(text.as_bytes()).is_err(), "{text}");
    }
}

/// JSON Schema counts `3.0` and `3e0` as integers, and a type that is read does not.
#[test]
fn whole_numbers_are_written_plainly() {
    let grammar = compiler().json_type::<serde_json::Value>(&JsonSchemaOptions::default()).unwrap();
    let show = |number: &str| grammar.read(number.as_bytes()).unwrap().to_string();
    for number in
        ["12", "-5", "1.5", "15e-1", "1e-7", "1e+39", "1e+999999999999999999999", "0.05e+1", "123.4e+0"]
    {
        assert_eq!(show(number), number);
    }
    for (number, expected) in [
        ("12.0", "12"),
        ("-3.00", "-3"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0e5", "0"),
        ("1e3", "1000"),
        ("1.5e1", "15"),
        ("0.05e2", "5"),
        ("120e-1", "12"),
        ("2E+17", "200000000000000000"),
        ("1.8446744073709551615e19", "18446744073709551615"),
        ("1e38", "100000000000000000000000000000000000000"),
    ] {
        assert_eq!(show(number), expected, "{number}");
    }
}

#[test]
fn texts_of_other_types_are_errors() {
    let grammar = compiler().json_type::<Order>(&JsonSchemaOptions::default()).unwrap();
    let error = grammar.read(br#"{"drink": "tea"}"#).unwrap_err();
    assert_eq!(error.to_string(), "the text is no value of the type: missing field `cups`");
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "name", content = "arguments", rename_all = "snake_case")]
enum Tool {
    /// The weather of some days.
    GetWeather {
        #[schemars(length(max = 20))]
        city: String,
        days: u8,
    },
    /// The time.
    GetTime,
    PlaceOrder(Order),
}

#[test]
fn calls_come_back_as_variants() {
    let tools = Tools::<Tool>::new().unwrap();
    let request = tools.request().unwrap().reasoning(Reasoning::Disabled);
    let structure = ToolFormat::named("hermes").unwrap().structure(&request).unwrap();
    let grammar = compiler().tag(&structure, &StructuralTagOptions::default()).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    for name in ["get_weather", "get_time", "place_order"] {
        for _ in 0..20 {
            let mut matcher = grammar.matcher();
            let begin = format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": ");
            matcher.accept_bytes(begin.as_bytes()).unwrap();
            let rest = write(matcher, &mut random);
            let rest = String::from_utf8(rest).unwrap();
            let (arguments, _) = rest.split_once("}\n</tool_call>").unwrap();
            let call = tools.read(name, arguments.as_bytes());
            assert!(call.is_ok(), "{name}({arguments}): {call:?}");
        }
    }
    assert_eq!(tools.read("get_time", b"{}").unwrap(), Tool::GetTime);
    assert!(tools.read("get_tim", b"{}").is_err());
    assert!(tools.read("get_weather", b"{}").is_err());
}

#[test]
fn enums_of_another_kind_are_no_tools() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(tag = "name", content = "arguments")]
    #[expect(dead_code, reason = "a type is enough")]
    enum Number {
        Good { value: u8 },
        Bad(u8),
    }
    let message = |error: Option<grammask_matcher::ToolsError>| error.map(|error| error.to_string());
    assert_eq!(
        message(Tools::<Number>::new().err()).as_deref(),
        Some(
            "variant 1 of the type is no tool: its content has to be an object; give it fields with names, or a type that has them"
        )
    );
    assert!(Tools::<Drink>::new().is_err());
    assert!(Tools::<Order>::new().is_err());
}
