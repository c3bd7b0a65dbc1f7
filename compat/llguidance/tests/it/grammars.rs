//! Grammars as data.

use llguidance::api::{GrammarWithLexer, StopReason, TopLevelGrammar};
use serde_json::json;

use crate::support::{Call, Subject, bytes, environment, lark, ours, theirs};

#[test]
fn json_is_that_of_llguidance() {
    let ordered = json!({"type": "object", "properties": {"b": {}, "a": {}}});
    let pairs = [
        (
            serde_json::to_string(&TopLevelGrammar::from_lark("start: \"a\"".to_owned())),
            serde_json::to_string(&reference::api::TopLevelGrammar::from_lark("start: \"a\"".to_owned())),
        ),
        (
            serde_json::to_string(&TopLevelGrammar::from_json_schema(ordered.clone())),
            serde_json::to_string(&reference::api::TopLevelGrammar::from_json_schema(ordered)),
        ),
    ];
    for (ours, theirs) in pairs {
        let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
        assert_eq!(ours, theirs);
        let back: TopLevelGrammar = serde_json::from_str(&ours).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), ours);
    }
    let read: TopLevelGrammar =
        serde_json::from_str(r#"{"grammars": [{"lark_grammar": "start: \"a\"", "other": 1}], "more": 2}"#)
            .unwrap();
    assert_eq!(read.grammars[0].lark_grammar.as_deref(), Some("start: \"a\""));
    assert_eq!((read.grammars[0].name.as_deref(), read.max_tokens), (None, None));
    assert_eq!(StopReason::NoExtension.to_string(), reference::api::StopReason::NoExtension.to_string());
    assert_eq!(serde_json::to_string(&StopReason::EndOfSentence).unwrap(), "\"EndOfSentence\"");
}

/// Whether a text is all of what a matcher wants.
fn is_whole(matcher: &mut impl Subject, text: &str) -> bool {
    let answer = matcher.answer(&Call::Consume(bytes(text)));
    answer.value.is_some() && answer.is_accepting == Some(true)
}

#[test]
fn patterns_mean_the_same() {
    let environment = environment();
    let patterns: [(&str, &[&str]); 12] = [
        ("a/b", &["a/b", "a\\/b", "ab"]),
        (r"a\/b", &["a/b", "a\\/b"]),
        ("a\nb", &["a\nb", "ab"]),
        ("[/\n]+", &["/\n/", "\\", "n"]),
        (r"\\/", &["\\/", "/"]),
        ("(?i)aB", &["ab", "AB", "a"]),
        ("a|b|", &["", "a", "ab"]),
        ("", &["", "a"]),
        ("/", &["/", ""]),
        (".", &["a", "\n", "é"]),
        ("(?s).", &["a", "\n"]),
        ("(?x)a b /", &["ab/", "a b /"]),
    ];
    for (pattern, texts) in patterns {
        let factory = llguidance::ParserFactory::new_simple(&environment).unwrap();
        let mut one = llguidance::Matcher::new(factory.create_parser(TopLevelGrammar::from_regex(pattern)));
        assert_eq!(one.get_error(), None, "{pattern:?}");
        let factory = reference::ParserFactory::new_simple(&environment).unwrap();
        let grammar = reference::api::TopLevelGrammar::from_regex(pattern);
        let mut other = reference::Matcher::new(factory.create_parser(grammar));
        for text in texts {
            let (one, other) =
                (is_whole(&mut one.deep_clone(), text), is_whole(&mut other.deep_clone(), text));
            assert_eq!(one, other, "{pattern:?} on {text:?}");
        }
        let mask = |list: Option<Vec<u32>>| list.unwrap_or_default();
        assert_eq!(mask(one.call(&Call::Mask)), mask(other.call(&Call::Mask)), "{pattern:?}");
    }
    // A line break that would have to be written as an escape, which the flag `x` gives another meaning.
    let factory = llguidance::ParserFactory::new_simple(&environment).unwrap();
    assert!(factory.create_parser(TopLevelGrammar::from_regex("(?x)a # c\nb")).is_err());
}

#[test]
fn lists_that_are_refused() {
    let environment = environment();
    let requests = [
        r#"{"grammars": []}"#,
        r#"{"grammars": [{}]}"#,
        r#"{"grammars": [{"lark_grammar": "start: \"a\"", "json_schema": {}}]}"#,
        r#"{"grammars": [{"lark_grammar": "start: @b"}]}"#,
        r#"{"grammars": [{"lark_grammar": "start: @a"}, {"name": "a", "json_schema": {}}, {"name": "a", "json_schema": {}}]}"#,
        r#"{"grammars": [{"lark_grammar": "start: <|other|>"}]}"#,
        r#"{"grammars": [{"lark_grammar": "start: \"a"}]}"#,
        r#"{"grammars": [{"json_schema": {"type": "strange"}}]}"#,
        r#"{"grammars": 1}"#,
        "{",
        "  ",
    ];
    for request in requests {
        let (mut one, mut other) = (ours(&environment, request), theirs(&environment, request));
        let (one, other) = (one.state(None), other.state(None));
        assert!(one.is_error, "{request}");
        assert_eq!(one, other, "{request}");
    }
    assert!(TopLevelGrammar::from_tagged_str("ebnf", "").is_err());
}

#[test]
fn every_kind_of_data() {
    let kinds = [
        ("regex", "[ab]", "b"),
        ("json", r#"{"type": "boolean"}"#, "true"),
        ("json_schema", r#"{"const": 12}"#, "12"),
        ("json_object", "anything", r#"{"a": [1, null]}"#),
        ("lark", "%llguidance {}\nstart: %json {\"type\": \"null\"}", "null"),
        ("llguidance", "start: \"a\"", "a"),
        ("guidance", r#" {"grammars": [{"lark_grammar": "start: \"a\""}]}"#, "a"),
    ];
    let environment = environment();
    let factory = llguidance::ParserFactory::new_simple(&environment).unwrap();
    for (kind, data, text) in kinds {
        let grammar = TopLevelGrammar::from_tagged_str(kind, data).unwrap();
        let mut matcher = llguidance::Matcher::new(factory.create_parser(grammar));
        assert!(is_whole(&mut matcher, text), "{kind}: {:?}", matcher.get_error());
    }
}

#[test]
fn strings_mean_the_same() {
    let environment = environment();
    for string in [r#""\x41\x2d\u0042""#, r#""\xe9""#, r#""\\x41""#, r#""\x7A"i"#] {
        let request = lark(&format!("start: {string}"));
        let (mut one, mut other) = (ours(&environment, &request), theirs(&environment, &request));
        assert_eq!(one.state(None), other.state(None), "{string}");
        for text in ["A-B", "é", "\\x41", "A", "z", "Z"] {
            assert_eq!(
                is_whole(&mut one.clone(), text),
                is_whole(&mut other.clone(), text),
                "{string}: {text}"
            );
        }
    }
}

#[test]
fn numbers_are_spelled_as_serialisers_print_them() {
    let environment = environment();
    let factory = llguidance::ParserFactory::new_simple(&environment).unwrap();
    let is_number = |kind: &str, text: &str| {
        let grammar = TopLevelGrammar::from_json_schema(json!({"type": kind}));
        is_whole(&mut llguidance::Matcher::new(factory.create_parser(grammar)), text)
    };
    assert!(["2.5", "2.50", "-3", "64.0"].iter().all(|text| is_number("number", text)));
    assert!(is_number("integer", "64") && !is_number("integer", "64.0"));
    assert!(!is_number("number", "3e4"));
}

/// A grammar may refer to itself, and several to one another.
#[test]
fn grammars_that_refer_in_circles() {
    let environment = environment();
    let list = [("a", r#"start: "(" (@b | @a)? ")""#), ("b", r#"start: "[" @a "]""#)];
    let grammars = list.map(|(name, source)| GrammarWithLexer {
        name: Some(name.to_owned()),
        ..GrammarWithLexer::from_lark(source.to_owned())
    });
    let grammar = TopLevelGrammar { grammars: grammars.to_vec(), max_tokens: None };
    let factory = llguidance::ParserFactory::new_simple(&environment).unwrap();
    let mut matcher = llguidance::Matcher::new(factory.create_parser(grammar));
    assert!(is_whole(&mut matcher, "([(([()]))])"), "{:?}", matcher.get_error());
}
