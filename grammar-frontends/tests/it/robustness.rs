//! Hostile input is answered quickly, and never with a panic.

use std::time::Duration;

use grammask_grammar_frontends::regex::{Dialect, RegexLimits, RegexOptions};
use grammask_grammar_frontends::{Color, Diagnostics, ebnf, gbnf, json_schema, lark, regex};
use grammask_oracle::random::Rng;
use proptest::prelude::*;

use crate::thread_time;

/// Slow machines and unoptimised builds get room; what must not happen takes minutes.
const LONGEST: Duration = Duration::from_secs(4);

fn within<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let before = thread_time();
    let result = run();
    let elapsed = thread_time() - before;
    assert!(elapsed < LONGEST, "{what} took {elapsed:?}");
    result
}

fn everything(source: &str) -> Vec<Diagnostics> {
    let mut errors = Vec::new();
    errors.extend(ebnf::parse(source, &ebnf::EbnfOptions::default()).err());
    errors.extend(gbnf::parse(source, &ebnf::EbnfOptions::default()).err());
    for dialect in [Dialect::Perl, Dialect::Ecma] {
        errors.extend(regex::parse(source, &RegexOptions::default().dialect(dialect)).err());
    }
    for error in &errors {
        let rendered = error.render(source, "fuzz", Color::Never);
        assert!(!rendered.contains('\u{1b}'), "no control characters reach the terminal");
        error.render(source, "fuzz", Color::Always);
        error.to_json();
        assert_eq!(error.to_string().lines().count(), error.iter().count(), "one line each: {error}");
    }
    errors
}

#[test]
fn a_mebibyte_of_noise() {
    let mut rng = Rng::new(7);
    let bytes: Vec<u8> = (0..1 << 20).map(|_| rng.below(256) as u8).collect();
    let noise = String::from_utf8_lossy(&bytes);
    let errors = within("noise", || everything(&noise));
    assert!(errors.iter().all(|error| error.iter().count() <= 20));
    let ascii: String = bytes.iter().map(|&byte| char::from(byte % 95 + 32)).collect();
    within("ASCII noise", || everything(&ascii));
    let shuffled: String = bytes
        .iter()
        .map(|&byte| {
            ["(", ")", "|", "a", "\"b\"", "+", "{", "}", ",", "[c]", "\n", " "][usize::from(byte) % 12]
        })
        .collect();
    within("shuffled tokens", || everything(&format!("root ::= {shuffled}")));
}

#[test]
fn deep_nesting() {
    for (open, close) in
        [("(", ")"), ("(=", ")"), ("[", "]"), ("{", "}"), ("\"a\"(", ")+"), ("Complement(", ")")]
    {
        for source in [
            format!("root ::= {}{}", open.repeat(100_000), close.repeat(100_000)),
            format!("root ::= {}", open.repeat(100_000)),
            format!("root ::= {}", close.repeat(100_000)),
        ] {
            within(open, || everything(&source));
        }
    }
    let options = RegexOptions::default().limits(RegexLimits::default().pattern_bytes(1 << 20));
    for (open, close) in [("(", ")"), ("[", "]"), ("(?:a|", ")*")] {
        let pattern = format!("{}{}", open.repeat(100_000), close.repeat(100_000));
        within(open, || regex::parse(&pattern, &options).unwrap_err());
    }
    let deepest = format!("root ::= {}\"a\"{}", "(".repeat(1_000), ")*".repeat(1_000));
    assert!(ebnf::parse(&deepest, &ebnf::EbnfOptions::default()).is_ok());
}

#[test]
fn a_megabyte_of_rules() {
    let mut source = String::from("root ::= rule0\n");
    let mut number = 0;
    while source.len() < 1 << 20 {
        let next = number + 1;
        source +=
            &format!("rule{number} ::= (\"key{number}\" [a-z0-9]{{1,20}} | rule{next}*)? \"\\u00e9\"\n");
        number = next;
    }
    source += &format!("rule{number} ::= \"end\"\n");
    let grammar = within("rules", || ebnf::parse(&source, &ebnf::EbnfOptions::default()).unwrap());
    assert_eq!(grammar.rule_count(), number + 2);
    assert!(gbnf::parse(&source, &ebnf::EbnfOptions::default()).unwrap().is_same(&grammar));

    let one_rule = format!("root ::= {}\"a\"", "\"text\" | [a-z]+ root ".repeat(50_000));
    within("one rule", || ebnf::parse(&one_rule, &ebnf::EbnfOptions::default()).unwrap());
}

#[test]
fn large_counts_stay_counts() {
    let grammar = regex::parse("(ab?){0,1000000000}", &RegexOptions::default()).unwrap();
    assert!(grammar.expr_count() < 10);
    let grammar = ebnf::parse("root ::= \"a\"{1000000000,}", &ebnf::EbnfOptions::default()).unwrap();
    assert!(grammar.expr_count() < 5);
}

#[test]
fn anchors_that_multiply_are_refused() {
    let options = RegexOptions::default();
    let pattern = "(a|$)".repeat(10_000);
    let error = within("anchors", || regex::parse(&pattern, &options).unwrap_err());
    assert!(error.to_string().contains("more than 500000 expressions"), "{error}");
    let pattern = format!("{}a{}", "(".repeat(80), "|^|$)*".repeat(80));
    within("nested anchors", || regex::parse(&pattern, &options).is_ok());
    let pattern = r"\w".repeat(30_000);
    within("classes", || regex::parse(&pattern, &options).unwrap_err());
    for class in ["[b-\u{10FFFE}]", r"\p{L}", "[a[^b]]", r"[\W]", "[^a&&b]", "[[:^alpha:]]"] {
        let pattern = format!("(?i){}", class.repeat(5_000));
        let error = within(class, || regex::parse(&pattern, &options).unwrap_err());
        assert!(error.to_string().contains("ignores case in too many large classes"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(source in any::<String>()) {
        everything(&source);
    }

    #[test]
    fn any_tokens(tokens in prop::collection::vec(prop::sample::select(vec![
        "root ::= ", "\n", " ", "a", "b ::= ", "\"x\"", "\"", "[a-z]", "[", "]", "(", ")", "(=", "|", "*", "+", "?", "{", "}",
        "{2}", "{3,1}", "{1,", ",", "=", "::=", "Bytes(\"\\xff\")", "Complement(", "Intersection(", "Regex(", "\\", "\\u12",
        "\u{e9}", "#", "-1", "99999999999", ".", "<think>", "^", "$", "\\d", "(?", "\\p{L}", "\\b", "[^", "\r\n", "\u{2028}",
    ]), 0..40)) {
        everything(&tokens.concat());
    }
}

/// A schema of up to this depth that refers to itself below conditions which exclude one another.
fn recursive_schema(rng: &mut Rng, depth: usize) -> String {
    if depth == 0 || rng.below(5) == 0 {
        let leaves = [
            r##"{"$ref":"#"}"##,
            r#"{"type":"object"}"#,
            r#"{"minLength":2}"#,
            r#"{"const":{}}"#,
            r#"{"required":["a"]}"#,
            "true",
        ];
        return leaves[rng.below(leaves.len())].to_owned();
    }
    let mut inner = || recursive_schema(rng, depth - 1);
    let parts = [
        format!(r#""additionalProperties":{}"#, inner()),
        format!(r#""properties":{{"a":{},"b":{}}}"#, inner(), inner()),
        format!(r#""patternProperties":{{"^\\w*$":{}}}"#, inner()),
        format!(r#""oneOf":[{},{}]"#, inner(), inner()),
        format!(r#""not":{}"#, inner()),
        format!(r#""if":{},"else":{}"#, inner(), inner()),
        format!(r#""minProperties":{}"#, rng.below(3)),
        format!(r#""maxProperties":{}"#, rng.below(4)),
    ];
    let chosen: Vec<String> = parts.into_iter().filter(|_| rng.below(4) == 0).collect();
    format!("{{{}}}", chosen.join(","))
}

#[test]
fn patterns_fit_small_stacks_under_any_limit() {
    let compile_all = || {
        let limits = RegexLimits::default().nesting(u32::MAX).pattern_bytes(1 << 20);
        let options = RegexOptions::json_schema().limits(limits);
        for open in ["(?:", "(?=", "(?!"] {
            let nested = |depth: usize| format!("{}a{}a", open.repeat(depth), ")".repeat(depth));
            assert!(regex::parse(&nested(900), &options).is_ok(), "{open}");
            let refused = regex::parse(&nested(20_000), &options).unwrap_err().to_string();
            assert!(refused.contains("more than 1000 levels"), "{refused}");
        }
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(compile_all).unwrap().join().unwrap();
}

/// Repeats of assertions are written out, one inside the other.
#[test]
fn schemas_with_assertions_in_repeats_fit_small_stacks() {
    let compile_all = || {
        let options = json_schema::JsonSchemaOptions::default();
        let compile = |pattern: &str| {
            json_schema::compile(&serde_json::json!({ "pattern": pattern }).to_string(), &options)
        };
        for pattern in [r"^(\b[a-z]{1,9}\b ?){1,30}$", r"^((?!b)a?|-){64}$", r"^(\ba?\b|-){64}$"] {
            assert!(compile(pattern).is_ok(), "{pattern}");
        }
        // As deep as they may be.
        for part in [r"(a|b\b)", r"(?=a|b)"] {
            let refusal = |times: usize| {
                compile(&format!("^{}[ab]*$", part.repeat(times))).err().map(|error| error.to_string())
            };
            let is_too_deep =
                |times: usize| refusal(times).is_some_and(|error| error.contains("nest too deep"));
            assert_eq!(refusal(150), None, "{part}");
            assert!(is_too_deep(4_000), "{part}");
            assert!((150..4_000).step_by(50).rev().any(|times| !is_too_deep(times)), "{part}");
        }
        for pattern in [r"^(((?=a)a?|-){64}){64}$", r"^((\ba?\b|-){64}){64}$", r"^([a-]*\b){60}$"] {
            if let Err(error) = compile(pattern) {
                assert!(
                    ["needs more than", "nest too deep"]
                        .iter()
                        .any(|limit| error.to_string().contains(limit)),
                    "{pattern}: {error}"
                );
            }
        }
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(compile_all).unwrap().join().unwrap();
}

/// Alternatives share what follows them, which a walk that forgets would look at twice in every round.
#[test]
fn lengths_of_assertions_in_repeats_take_time_in_proportion() {
    let options = json_schema::JsonSchemaOptions::default();
    for pattern in [r"^(\ba?\b|-){64}$", r"^((?!b)a?|-){64}$", &format!("^{}$", "(a|(?=b)b)".repeat(64))] {
        let schema = serde_json::json!({ "pattern": pattern, "maxLength": 70 }).to_string();
        let result = within(pattern, || json_schema::compile(&schema, &options));
        assert!(result.is_ok(), "{pattern}: {result:?}");
    }
}

/// Proofs that alternatives exclude each other ask for normal forms, which ask for proofs.
#[test]
fn schemas_that_refer_to_themselves_fit_small_stacks() {
    let compile_all = || {
        let options = json_schema::JsonSchemaOptions::default();
        let known = [
            r##"{"additionalProperties":{"additionalProperties":{"type":"object"},"oneOf":[{"$ref":"#"},{"required":["a"]}]},"maxProperties":3}"##,
            r##"{"additionalProperties":{"properties":{"ab":{},"c":{"minLength":2}},"minProperties":2,"not":{"$ref":"#"}}}"##,
            r##"{"oneOf":[{"oneOf":[{"additionalProperties":{"required":[]}},{"properties":{"a":{"const":{}}}}]},{"properties":{"b":{"$ref":"#"}}}]}"##,
            r##"{"if":{"properties":{"a":{"$ref":"#"},"ab":{"type":"integer"}}},"else":{"oneOf":[{"$ref":"#/$defs/p"}]},"$defs":{"p":{"additionalProperties":{"c":false}}}}"##,
        ];
        for schema in known {
            let _ = json_schema::compile(schema, &options);
        }
        let mut rng = Rng::new(11);
        (0..400).filter(|_| json_schema::compile(&recursive_schema(&mut rng, 3), &options).is_ok()).count()
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(compile_all).unwrap();
    let compiled = thread.join().unwrap();
    assert!(compiled > 200, "{compiled} of 400 schemas compile");
}

/// The ends of all rules of a grammar share a limit on what it takes to write them out.
#[test]
fn ends_of_rules_share_a_limit() {
    let rules: String =
        (0..60).map(|at| format!("x{at}[stop=/[ab]*a[ab]{{11}}{at}c/, max_tokens=5]: /[^<]*/\n")).collect();
    let names: Vec<String> = (0..60).map(|at| format!("x{at}")).collect();
    let source = format!("start: {}\n{rules}", names.join(" | "));
    let error = lark::parse(&source, &lark::LarkOptions::default()).unwrap_err();
    assert!(error.iter().any(|found| found.message().contains("too much work")), "{error}");
}
