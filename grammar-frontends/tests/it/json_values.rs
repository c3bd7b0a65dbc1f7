//! JSON values: what is read and written, and how texts that are none are refused. The judge is `serde_json`.

use grammask_grammar_frontends::json::JsonValue;
use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, compile, compile_value};
use grammask_oracle::Recogniser;

fn read(text: &str) -> JsonValue {
    text.parse().unwrap()
}

#[test]
fn order_and_spelling_count() {
    assert_ne!(read(r#"{"a": 1, "b": 2}"#), read(r#"{"b": 2, "a": 1}"#));
    assert_ne!(read("1.0"), read("1"));
    assert_eq!(read(r#"{"a": "\u0041"}"#), JsonValue::object([("a", "A".into())]));
    assert_eq!(read(r#"{"a": 1, "b": 2, "a": 3}"#).to_string(), r#"{"a":3,"b":2}"#);
}

#[test]
fn texts_are_written_as_they_are_read() {
    assert_eq!(
        format!("{:#}", read(r#"{"a":[1,{}],"b":[]}"#)),
        "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}"
    );
    for text in [r#"{"b":[1.50,-0,1e999,{}],"a":"\n\"é\u0001"}"#, "[]", "null", "[true,false]"] {
        assert_eq!(read(text).to_string(), text);
    }
    assert_eq!(
        serde_json::to_string(&read("[1, -1, 0.5, 18446744073709551615]")).unwrap(),
        "[1,-1,0.5,18446744073709551615]"
    );
}

#[test]
fn numbers_are_asked_for_as_they_are_written() {
    assert_eq!((read("7").as_u64(), read("7.0").as_u64(), read("-7").as_u64()), (Some(7), None, None));
    assert_eq!((read("-7").as_i64(), read("18446744073709551615").as_i64()), (Some(-7), None));
}

fn check(text: &str) {
    match (text.parse::<JsonValue>(), serde_json::from_str::<serde_json::Value>(text)) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, JsonValue::from(theirs), "{text}"),
        (Err(ours), Err(theirs)) => {
            let half = ["unexpected end of hex escape", "lone leading surrogate in hex escape"];
            let ours_of_half = "an escape is half of a pair of surrogates, which is no character";
            let theirs = half.iter().fold(theirs.to_string(), |all, one| all.replace(one, ours_of_half));
            assert_eq!(ours.to_string(), theirs, "{text}");
        }
        (ours, theirs) => panic!("{text}: {ours:?} and {theirs:?}"),
    }
}

#[test]
fn texts_are_what_they_are_elsewhere() {
    for text in [
        r#" {"a" : [1, -0.5e+3, 0, "x\n\u00e9\ud83d\ude00\/", null, true, false, {}, []], "b": {"c": "d"}} "#,
        r#""plain text that is longer than eight bytes, \"quoted\" and déjà vu""#,
        r#"{"a": 1, "b": 2, "a": 3}"#,
        r#"{"a": 1"#,
        r#"{"a" 1}"#,
        r#"{"a": 01}"#,
        r#"[1, 2,]"#,
        r#"{"a": 1,}"#,
        r#"{,}"#,
        r#"[1 2]"#,
        r#"["\ud800"]"#,
        r#"["\ud800\u0041"]"#,
        r#"["\x"]"#,
        "[\"a\nb\"]",
        "[\"\u{7f}\u{80}\u{2028}\"]",
        "nul",
        "truer",
        "-",
        "1.",
        "1e",
        ".5",
        "",
        "1 1",
        r#""open"#,
        "\u{feff}1",
    ] {
        check(text);
    }
}

#[test]
fn halves_of_pairs_are_read_where_people_read() {
    let read = |text: &str| text.parse::<JsonValue>().map(|value| value.to_string());
    let cut = r#"{"tools": [{"title": "a\ud83d", "description": "\udc00\ud83d\u0041", "type": "b"}]}"#;
    let whole =
        "{\"tools\":[{\"title\":\"a\u{fffd}\",\"description\":\"\u{fffd}\u{fffd}A\",\"type\":\"b\"}]}";
    assert_eq!(read(cut).unwrap(), whole);
    for other in [
        r#"{"pattern": "\ud83d"}"#,
        r#"{"\ud83d": 1}"#,
        r#"{"title": {"a": "\ud83d"}}"#,
        r#"{"dependentRequired": {"title": ["\ud83d"]}}"#,
        r#"{"const": {"title": "\ud83d"}}"#,
        r#"{"title": "\ud83"}"#,
    ] {
        read(other).expect_err(other);
    }
    let error = read(r#"{"title": "\ud83d", "a": 01}"#).unwrap_err();
    assert_eq!(error.to_string(), "invalid JSON at line 1 column 27");
    assert_eq!(read(r#"{"title":"\ud83d"]"#).unwrap_err().to_string(), "invalid JSON at line 1 column 18");
}

#[test]
fn large_objects_and_deep_texts_are_read() {
    let members: Vec<String> = (0..100).map(|at| format!("\"n{}\": {at}", at * 37 % 100)).collect();
    check(&format!("{{{}}}", members.join(",")));
    check(&format!("{{{}, \"n5\": 1}}", members.join(",")));
    for depth in [99, 100, 101, 126, 127, 128, 1000] {
        check(&format!("{}1{}", "[".repeat(depth), "]".repeat(depth)));
    }
}

#[test]
fn every_beginning_of_a_text_is_judged_alike() {
    let text = r#"{"a": [1.5e-7, "b\\\u0041\ud83d\ude00 cdefghijk", {"x": null}], "d": tru"#;
    for end in 0..=text.len() {
        check(&text[..end]);
    }
    for end in 0..text.len() {
        check(&format!("{}{}", &text[..end], &text[end + 1..]));
    }
}

/// References look names up in the objects of a schema, however it came.
#[test]
fn members_are_found_by_their_names() {
    let options = JsonSchemaOptions::default();
    for count in [1, 15, 16, 100] {
        let schema = |last: usize| {
            let names = (0..count).map(|at| at * 37 % count);
            let members: Vec<String> = names.map(|at| format!("\"n{at}\":{{\"const\":{at}}}")).collect();
            let refs: Vec<String> = (0..=last).map(|at| format!("{{\"$ref\":\"#/$defs/n{at}\"}}")).collect();
            format!("{{\"$defs\":{{{}}},\"anyOf\":[{}]}}", members.join(","), refs.join(","))
        };
        let some = schema(count / 2);
        for compiled in [compile(&some, &options), compile_value(&read(&some), &options)] {
            let recogniser = Recogniser::new(&compiled.unwrap().grammar);
            for at in 0..=count {
                assert_eq!(recogniser.accepts(at.to_string().as_bytes()), at <= count / 2, "{at} of {count}");
            }
        }
        assert!(compile(&schema(count), &options).is_err());
    }
}
