//! Structural tags: what is read, and what is refused where.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use grammask_grammar_frontends::json::JsonValue;
use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
use grammask_grammar_ir::{Interrupt, Interrupted};
use grammask_oracle::Recogniser;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn read(document: &str) -> Result<StructuralTag, String> {
    StructuralTag::parse(document, &StructuralTagOptions::default()).map_err(|error| {
        let first = error.iter().next().unwrap();
        let (pointer, hint) = (first.pointer().unwrap_or("-"), first.hint().unwrap_or("-"));
        format!("{} at `{pointer}`: {} ({hint})", first.code(), first.message())
    })
}

/// The refusal of a document with one format.
#[track_caller]
fn refusal(format: Value) -> String {
    refusal_of(&json!({"type": "structural_tag", "format": format}).to_string())
}

#[track_caller]
fn refusal_of(document: &str) -> String {
    read(document)
        .and_then(|tag| {
            tag.grammar(&StructuralTagOptions::default()).map_err(|error| {
                let first = error.iter().next().unwrap();
                let (pointer, hint) = (first.pointer().unwrap_or("-"), first.hint().unwrap_or("-"));
                format!("{} at `{pointer}`: {} ({hint})", first.code(), first.message())
            })
        })
        .expect_err("it is refused")
}

/// Every format with every field.
fn every_format() -> Value {
    let text = json!({"type": "any_text", "excludes": ["x"], "max_chars": 7});
    let token = json!({"type": "token", "token": 5});
    let tag = json!({"type": "tag", "begin": "<a>", "content": text, "end": "</a>"});
    let ends = json!({"type": "tag", "begin": "<b>", "content": text, "end": ["</a>", "</b>"]});
    let token_tag = json!({"type": "tag", "begin": token, "content": text, "end": token});
    json!({"type": "structural_tag", "format": {"type": "sequence", "elements": [
        {"type": "const_string", "value": ""},
        {"type": "json_schema", "json_schema": {"type": "object"}, "style": "glm_xml", "any_order": true,
         "max_whitespace_cnt": 3, "excludes": ["y"]},
        {"type": "grammar", "grammar": "root ::= \"a\""},
        {"type": "regex", "pattern": "a+"},
        {"type": "any_text"},
        {"type": "or", "elements": [tag, ends, token_tag]},
        {"type": "triggered_tags", "triggers": ["<a", "<b"], "tags": [tag, ends], "at_least_one": true,
         "stop_after_first": true, "excludes": ["z"]},
        {"type": "token_triggered_tags", "trigger_tokens": [5, "<t>"], "tags": [token_tag],
         "at_least_one": true, "exclude_tokens": ["<u>"]},
        {"type": "tags_with_separator", "tags": [tag], "separator": ", ", "stop_after_first": true},
        {"type": "optional", "content": tag},
        {"type": "plus", "content": tag},
        {"type": "star", "content": tag},
        {"type": "repeat", "min": 2, "max": -1, "content": tag},
        {"type": "repeat", "min": 2, "max": 4, "content": tag},
        {"type": "dispatch", "rules": [["<a>", text]], "loop": false, "excludes": ["v"]},
        {"type": "token_dispatch", "rules": [[5, text], ["<t>", text]], "loop": false, "exclude_tokens": [6]},
        {"type": "exclude_token", "exclude_tokens": ["<t>", 7]},
        {"type": "any_tokens", "exclude_tokens": ["<t>"], "max_tokens": 9},
    ]}})
}

#[test]
fn what_is_read_is_written_as_it_was() {
    let document = every_format();
    let tag = read(&document.to_string()).unwrap();
    let document = JsonValue::from(document);
    assert_eq!(tag.to_value(), document);
    assert_eq!(StructuralTag::from_value(&document, &StructuralTagOptions::default()).unwrap(), tag);
}

#[test]
fn types_may_be_left_out_where_fields_tell_them() {
    let short = json!({"format": {"type": "sequence", "elements": [
        {"value": "a"}, {"json_schema": true}, {"grammar": "root ::= \"a\""}, {"pattern": "a"}, {"token": 3},
        {"begin": "<", "content": {"value": "b"}, "end": ">"},
        {"triggers": ["<"], "tags": [{"begin": "<", "content": {"value": "b"}, "end": ">"}]},
        {"separator": ",", "tags": [{"begin": "<", "content": {"value": "b"}, "end": ">"}]},
        {"min": 1, "max": 2, "content": {"value": "c"}},
    ]}});
    let long = serde_json::to_value(read(&short.to_string()).unwrap().to_value()).unwrap();
    let types: Vec<&str> = long["format"]["elements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|format| format["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        [
            "const_string",
            "json_schema",
            "grammar",
            "regex",
            "token",
            "tag",
            "triggered_tags",
            "tags_with_separator",
            "repeat"
        ]
    );
    assert_snapshot!(refusal(json!({"content": {"value": "c"}})), @"structural-tag/malformed at `/format`: the format's `type` is missing, and its fields do not tell it (add `type`)");
}

#[test]
fn the_older_form_is_read() {
    let old = json!({
        "type": "structural_tag",
        "structures": [{"begin": "<f=a>", "schema": {"type": "null"}, "end": "</f>"}],
        "triggers": ["<f="],
    });
    let new = json!({"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<f="], "tags": [
        {"type": "tag", "begin": "<f=a>", "content": {"type": "json_schema", "json_schema": {"type": "null"}},
         "end": "</f>"},
    ]}});
    assert_eq!(read(&old.to_string()).unwrap().to_value(), JsonValue::from(new));
    let broken = json!({
        "structures": [{"begin": "<f=a>", "schema": {"type": "nul"}, "end": "</f>"}],
        "triggers": ["<f="],
    });
    assert_snapshot!(refusal_of(&broken.to_string()), @"json-schema/malformed at `/structures/0/schema/type`: `type` must be `null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a list of these (write such a value, or leave the keyword out)");
}

#[test]
fn malformed_documents() {
    assert_snapshot!(refusal_of("{"), @"structural-tag/syntax at `-`: Failed to parse JSON: EOF while parsing an object at line 1 column 1 (correct the JSON)");
    assert_snapshot!(refusal_of("[]"), @r#"structural-tag/malformed at ``: a structural tag must be an object (write {"type": "structural_tag", "format": ...})"#);
    assert_snapshot!(refusal_of(r#"{"type": "structural", "format": {"value": "a"}}"#), @r#"structural-tag/malformed at `/type`: Structural tag's type must be "structural_tag" (write "structural_tag")"#);
    assert_snapshot!(refusal_of(r#"{"type": "structural_tag"}"#), @"structural-tag/malformed at ``: the field `format` is missing (add it)");
    assert_snapshot!(refusal_of(r#"{"format": {"value": "a"}, "formats": 1}"#), @"structural-tag/malformed at `/formats`: the format `structural_tag` has no field `formats` (did you mean `format`?)");
    assert_snapshot!(refusal(json!([])), @"structural-tag/malformed at `/format`: Format must be an object (write an object with a `type`)");
    assert_snapshot!(refusal(json!({"type": 3})), @"structural-tag/malformed at `/format/type`: `type` must be a string (name one of the format types)");
    assert_snapshot!(refusal(json!({"type": "triggerd_tags"})), @"structural-tag/malformed at `/format/type`: Format type not recognized: triggerd_tags (did you mean `triggered_tags`?)");
    assert_snapshot!(refusal(json!({"type": "const_string", "value": "a", "vallue": "b"})), @"structural-tag/malformed at `/format/vallue`: the format `const_string` has no field `vallue` (did you mean `value`?)");
    assert_snapshot!(refusal(json!({"type": "const_string"})), @"structural-tag/malformed at `/format`: the field `value` is missing (add it)");
    assert_snapshot!(refusal(json!({"type": "sequence", "elements": []})), @"structural-tag/malformed at `/format/elements`: Sequence format must have at least one element (add an element, or write an empty `const_string`)");
    assert_snapshot!(refusal(json!({"type": "or", "elements": []})), @"structural-tag/malformed at `/format/elements`: Or format must have at least one element (add an element, or write an empty `const_string`)");
    assert_snapshot!(refusal(json!({"type": "regex", "pattern": ""})), @"structural-tag/malformed at `/format/pattern`: Regex format's pattern must not be empty (write it)");
    assert_snapshot!(refusal(json!({"type": "any_text", "excludes": [""]})), @"structural-tag/malformed at `/format/excludes/0`: `excludes` must hold non-empty strings only (write a string of at least one character)");
    assert_snapshot!(refusal(json!({"type": "any_text", "max_tokens": -1})), @"structural-tag/malformed at `/format/max_tokens`: max_tokens must be a non-negative 32-bit integer or null (write a number from 0 to 4294967295)");
    assert_snapshot!(refusal(json!({"type": "json_schema", "json_schema": "{}"})), @"structural-tag/malformed at `/format/json_schema`: `json_schema` must be a schema: an object, `true` or `false` (write the schema itself, not its text)");
    assert_snapshot!(refusal(json!({"type": "json_schema", "json_schema": {}, "style": "xml"})), @r#"structural-tag/malformed at `/format/style`: style must be "json", "qwen_xml", "seed_xml", "minimax_xml", "minimax_m3_xml", "deepseek_xml", "deepseek_v4_1_xml", "glm_xml", "hy_3_xml", "kimi_k3_xml", "cohere_xml", "step_3_xml", "atem_xml", "minicpm_xml", "pythonic", "olmo_3", "gemma_3", "gemma_4" (write one of these)"#);
    assert_snapshot!(refusal(json!({"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": 0})), @"structural-tag/malformed at `/format/max_whitespace_cnt`: max_whitespace_cnt must be a positive integer or null (leave it out, or allow at least one character)");
    assert_snapshot!(refusal(json!({"type": "token", "token": -1})), @"structural-tag/malformed at `/format/token`: Token ID must be non-negative (write an id of the vocabulary)");
    assert_snapshot!(refusal(json!({"type": "token", "token": true})), @"structural-tag/malformed at `/format/token`: TokenFormat's token must be an integer or string (write the token's id or its text in the vocabulary)");
    assert_snapshot!(refusal(json!({"type": "repeat", "min": 2, "max": 1, "content": {"value": "a"}})), @"structural-tag/malformed at `/format/max`: Repeat min must be <= max (swap the bounds)");
    assert_snapshot!(refusal(json!({"type": "repeat", "min": 2, "max": -2, "content": {"value": "a"}})), @"structural-tag/malformed at `/format/max`: Repeat max must be -1 (unbounded) or >= 0 (write -1 for any number)");
    assert_snapshot!(refusal(json!({"type": "dispatch", "rules": [["a"]]})), @"structural-tag/malformed at `/format/rules/0`: a rule must be a pair of a trigger and a format (write [trigger, format])");
    assert_snapshot!(refusal(json!({"type": "dispatch", "rules": [["abc", {"value": "a"}]], "excludes": ["ab"]})), @"structural-tag/malformed at `/format/excludes/0`: Exclude string must not be a prefix of trigger string: `ab` is part of `abc`, which could never be written (exclude a longer string, or leave it out)");
}

#[test]
fn malformed_tags() {
    let tag = |begin: Value, end: Value| json!({"type": "tag", "begin": begin, "content": {"type": "any_text"}, "end": end});
    assert_snapshot!(refusal(tag(json!("<a>"), json!(""))), @"structural-tag/malformed at `/format/end`: When the content is unlimited, at least one end string must be non-empty (write the string that ends the tag)");
    assert_snapshot!(refusal(tag(json!("<a>"), json!([]))), @"structural-tag/malformed at `/format/end`: Tag format's end array cannot be empty (write at least one string)");
    assert_snapshot!(refusal(tag(json!("<a>"), json!(3))), @r#"structural-tag/malformed at `/format/end`: `end` must be a string, an array of strings or a token format (write a string, or {"type": "token", "token": ...})"#);
    assert_snapshot!(refusal(tag(json!({"type": "any_text"}), json!("a"))), @r#"structural-tag/malformed at `/format/begin`: `begin` must be a string or a token format (write a string, or {"type": "token", "token": ...})"#);
    let triggered = |triggers: Value, begin: &str| json!({"type": "triggered_tags", "triggers": triggers, "tags": [tag(json!(begin), json!(">"))]});
    assert_snapshot!(refusal(triggered(json!(["<b"]), "<a")), @"structural-tag/malformed at `/format/tags/0/begin`: One tag does not match any trigger in a triggered tags format (add a trigger with which `<a` begins)");
    assert_snapshot!(refusal(triggered(json!(["<", "<a"]), "<a")), @"structural-tag/malformed at `/format/tags/0/begin`: One tag matches multiple triggers in a triggered tags format (leave out `<` or `<a`)");
    assert_snapshot!(refusal(triggered(json!(["<a", "x<a"]), "<a")), @"structural-tag/malformed at `/format/triggers/1`: the trigger `x<a` is never reached, because it contains the trigger `<a` (leave one of the two out)");
    assert_snapshot!(refusal(triggered(json!([]), "<a")), @"structural-tag/malformed at `/format/triggers`: Triggered tags format's triggers must be non-empty (write the strings with which tags begin)");
    assert_snapshot!(refusal(json!({"type": "triggered_tags", "triggers": ["<a"], "excludes": ["<"], "tags": [tag(json!("<a"), json!(">"))]})), @"structural-tag/malformed at `/format/triggers/0`: the trigger `<a` can never be written, because it contains the excluded `<` (exclude a longer string, or leave it out)");
    assert_snapshot!(refusal(json!({"type": "token_triggered_tags", "trigger_tokens": [3], "tags": [tag(json!("<a"), json!(">"))]})), @r#"structural-tag/malformed at `/format/tags/0/begin`: Tags in token_triggered_tags must begin with a token format (write {"type": "token", "token": ...}, or use `triggered_tags`)"#);
    assert_snapshot!(refusal(json!({"type": "token_triggered_tags", "trigger_tokens": [3], "tags": [tag(json!({"token": 4}), json!(">"))]})), @"structural-tag/malformed at `/format/tags/0/begin`: One tag does not match any trigger in a token triggered tags format (add its token to `trigger_tokens`)");
}

#[test]
fn what_is_embedded_is_reported_at_its_place() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "text"}}});
    let tag = json!({"begin": "<a>", "content": {"json_schema": schema}, "end": "</a>"});
    assert_snapshot!(refusal(json!({"type": "sequence", "elements": [{"value": "x"}, tag]})), @"json-schema/malformed at `/format/elements/1/content/json_schema/properties/a/type`: `type` must be `null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a list of these (write such a value, or leave the keyword out)");
    assert_snapshot!(refusal(json!({"type": "regex", "pattern": "b(?<=a$)"})), @"regex/look-around at `/format/pattern`: the pattern, column 2: look-behind is not supported here: it may look past the parts before it in its group, or it holds assertions (write before it, in its group, parts that read at least as many characters as it looks at)");
    assert_snapshot!(refusal(json!({"type": "grammar", "grammar": "root ::= a"})), @"ebnf/undefined-rule at `/format/grammar`: the grammar, column 10: rule `a` is not defined (define it (`a ::= ...`), or put it in double quotes if it is text)");
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| {
        let open = r#"{"type":"optional","content":"#.repeat(depth);
        format!(r#"{{"format":{open}{{"type":"any_text"}}{}}}"#, "}".repeat(depth))
    };
    let tag = read(&nested(99)).unwrap();
    assert!(tag.grammar(&StructuralTagOptions::default()).is_ok());
    assert!(refusal_of(&nested(100)).starts_with("structural-tag/limit at `/format/content/content"));
    assert!(refusal_of(&nested(100_000)).starts_with("structural-tag/syntax"));
}

#[test]
fn keys_in_any_order() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}});
    let schema = json!({"type": "json_schema", "json_schema": schema});
    let mut free = schema.clone();
    free["any_order"] = json!(true);
    let both = json!({"format": {"type": "sequence", "elements": [schema, free]}});
    let options = StructuralTagOptions::default();
    let grammar = read(&both.to_string()).unwrap().grammar(&options).unwrap();
    let recogniser = grammask_oracle::Recogniser::new(&grammar);
    let (declared, other) = (r#"{"a":null,"b":null}"#, r#"{"b":null,"a":null}"#);
    assert!(recogniser.accepts(format!("{declared}{other}").as_bytes()));
    assert!(!recogniser.accepts(format!("{other}{declared}").as_bytes()));
}

#[test]
fn texts_that_strings_do_not_hold_are_refused_where_they_cannot_be_spelled_otherwise() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let format = json!({"json_schema": schema, "style": "pythonic", "excludes": ["x"]});
    assert_snapshot!(refusal(format), @"structural-tag/unsupported at `/format/excludes`: `excludes`: strings in this style cannot be kept from holding others (leave it out, or use the style `json`)");
}

/// Free text that must not hold something may be the last part of a tag without an end, wherever it stands in it.
#[test]
fn text_that_excludes_something_needs_no_end() {
    let free = json!({"type": "any_text", "excludes": ["x"]});
    let q = json!({"type": "const_string", "value": "q"});
    let tag = |content: &Value| json!({"type": "tag", "begin": "<a>", "content": content, "end": ""});
    for (content, right, wrong) in [
        (
            json!({"type": "sequence", "elements": [q, free]}),
            vec!["<a>q", "<a>qab"],
            vec!["<a>", "<a>b", "<a>qxb"],
        ),
        (json!({"type": "or", "elements": [q, free]}), vec!["<a>q", "<a>", "<a>bq"], vec!["<a>qx", "<a>x"]),
        (json!({"type": "optional", "content": free}), vec!["<a>", "<a>b"], vec!["<a>x"]),
    ] {
        let document = json!({"type": "structural_tag", "format": tag(&content)}).to_string();
        let grammar = read(&document).unwrap().grammar(&StructuralTagOptions::default()).unwrap();
        let recogniser = Recogniser::new(&grammar);
        right.iter().for_each(|text| assert!(recogniser.accepts(text.as_bytes()), "{text} {content}"));
        wrong.iter().for_each(|text| assert!(!recogniser.accepts(text.as_bytes()), "{text} {content}"));
    }
    let everything = json!({"type": "any_text"});
    for content in [
        json!({"type": "sequence", "elements": [q, everything]}),
        json!({"type": "or", "elements": [free, everything]}),
    ] {
        assert!(refusal(tag(&content)).contains("When the content is unlimited"), "{content}");
    }
}

/// Whenever the interrupt comes while a tag is read, the answer is that it came.
#[test]
fn interrupts_stop_the_reading() {
    let tag = |number: usize| {
        let content = json!({"type": "regex", "pattern": format!("[a-f]{{3,9}}|{number}(b|c){{2}}d")});
        json!({"begin": format!("<{number}>"), "content": content, "end": format!("</{number}>")})
    };
    let tags: Vec<Value> = (0..400).map(tag).collect();
    let format = json!({"type": "triggered_tags", "triggers": ["<"], "tags": tags});
    let options = StructuralTagOptions::default();
    let source = json!({"type": "structural_tag", "format": format}).to_string();
    let tag = StructuralTag::parse(&source, &options).unwrap();
    let checks = Arc::new(AtomicUsize::new(0));
    let run = |most: usize| {
        checks.store(0, Ordering::Relaxed);
        let checks = Arc::clone(&checks);
        let interrupt = Interrupt::when(move || checks.fetch_add(1, Ordering::Relaxed) >= most);
        tag.grammar(&options.clone().json_schema(options.json_schema.clone().interrupt(interrupt)))
    };
    assert!(run(usize::MAX).is_ok());
    let all = checks.load(Ordering::Relaxed);
    assert!(all > 3, "only {all} checks");
    for most in 0..all {
        assert_eq!(run(most).unwrap_err().interrupted(), Some(Interrupted::Deadline), "{most} of {all}");
    }
}
