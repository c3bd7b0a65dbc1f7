//! Patterns in the Perl dialect mean what the `regex` crate says they mean, anchors in any place included.

use std::collections::HashSet;

use grammask_grammar_frontends::regex::{LetterCase, Matching, RegexOptions, parse};
use grammask_grammar_ir::{Expr, Grammar};
use grammask_oracle::Recogniser;
use proptest::prelude::*;

/// All texts of up to `longest` characters out of `alphabet`.
pub(crate) fn texts(alphabet: &[char], longest: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for index in from..to {
            for character in alphabet {
                all.push(format!("{}{character}", all[index]));
            }
        }
        from = to;
    }
    all
}

fn check(pattern: &str, texts: &[String]) {
    for (matching, judge) in
        [(Matching::Whole, format!(r"\A(?:{pattern})\z")), (Matching::Search, format!("(?:{pattern})"))]
    {
        let options = RegexOptions::default().matching(matching);
        let grammar = parse(pattern, &options).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        let recogniser = Recogniser::new(&grammar);
        let judge = regex::Regex::new(&judge).unwrap();
        for text in texts {
            assert_eq!(
                recogniser.accepts(text.as_bytes()),
                judge.is_match(text),
                "pattern {pattern:?}, {matching:?}, text {text:?}, grammar {grammar}"
            );
        }
    }
}

#[test]
fn anchors_in_odd_places() {
    let texts = texts(&['a', 'b', 'x', 'y'], 4);
    for pattern in [
        "^a|b$",
        "(^a|b)x",
        "a$b",
        "(^|x)y",
        "(x|^)*y",
        "y(x|$)",
        "(a|$)(^|b)",
        "^^a$$",
        "(^)*a",
        "($)*a",
        "a(^)?",
        "(^|$)",
        "(^|$){2}",
        "(^a|b)*",
        "(^a|b){2,3}",
        "(a$|b)*",
        "(a|b$){2}",
        "(^a$|b){2}",
        "(^a$|$|b){3}",
        "(^|a|b$){2,}",
        "(^|$|a){4}x",
        "((^|x)a(y|$))+",
        "((^a|x)?b)*y$",
        r"\Aa|b\z",
        "a^",
        "$a",
        "^$",
        "$^",
        "x*$|^y",
        "(^|x)(^|y)",
        "(a|$)($|b)",
        "(|^a)b",
        "(a{2}|^){2}",
        "(^b|a{0,2}$)*",
        "(?:^|a)+(?:$|b)+",
        "(a|(^|b)$)",
    ] {
        check(pattern, &texts);
    }
}

#[test]
fn plain_patterns() {
    let texts = texts(&['a', 'B', '\n', '\u{e9}', '1'], 3);
    for pattern in [
        "",
        "a",
        "aB",
        "a|B",
        "[aB]*",
        "[^a]",
        ".",
        "(?s).",
        "(?s:.)*",
        r"\d",
        r"\w+",
        r"\s",
        r"\PL",
        r"\p{Lu}",
        "(?i)A",
        "(?i:b)a",
        "(?x) a # comment\n B",
        "a{2}",
        "a{2,}",
        "a{0,1}B",
        "(a|B){0}",
        "(?U)a+",
        r"\x61",
        r"[\w--1]",
        "[a-z&&[^b]]",
        "(?P<name>a)",
        "(?<name>a)",
        "a*?",
        r"\u{e9}",
        r"[[:digit:]]",
        "(?-u:a)",
        "é*",
        r"[a&&b]|B",
    ] {
        check(pattern, &texts);
    }
}

#[test]
fn word_boundaries() {
    let texts = texts(&['a', '-', '\u{e9}'], 4);
    for pattern in [
        r"\ba",
        r"a\b",
        r"\B",
        r"^\b",
        r"\b$",
        r"(?-u:\b)a",
        r"a(?-u:\B)",
        r"\b{start}a+\b{end}",
        r"\b{start-half}\w*\b{end-half}",
        r"(\ba\b-?){1,2}",
        r"a*\b-*",
        r"\b\b-",
        r"\b\Ba",
        r"(a|-|\b)\b(a|-)?",
        r"([a&&-]a)?\b$",
        r"^a[a&&-]*\b|^-",
        r"(-|[a&&-]){2}\b",
    ] {
        check(pattern, &texts);
    }
}

/// Expressions as often as they are written out; those inside of operators once.
fn written(grammar: &Grammar) -> usize {
    let (mut count, mut operators) = (0, HashSet::new());
    let mut stack = vec![grammar.rule(grammar.root()).body()];
    while let Some(id) = stack.pop() {
        count += 1;
        let is_operator = matches!(grammar.expr(id), Expr::Intersection(_) | Expr::Complement(_));
        if !is_operator || operators.insert(id) {
            stack.extend_from_slice(grammar.operands(id));
        }
    }
    count
}

#[test]
fn alternatives_with_boundaries_share_their_rest() {
    for (repeat, last) in [("{3}", ""), ("{0,3}", "x"), ("{3}", r"\b")] {
        let size = |count: usize| {
            let alternatives: String =
                (0..count).map(|number| format!(r"a\b-{number}|b\Ba{number}|")).collect();
            let pattern = format!("({alternatives}c-){repeat}{last}");
            written(&parse(&pattern, &RegexOptions::default()).unwrap())
        };
        let (few, many) = (size(20), size(200));
        assert!(many < 11 * few, "{repeat}{last}: {few} expressions and {many}");
    }
}

/// Each round refers to the texts after it from several places.
#[test]
fn rounds_with_boundaries_do_not_multiply() {
    for body in [r"a\b|-|", r"\Ba|\b\w-|-a", r"\w?\b|-a|\B-"] {
        let size =
            |rounds| written(&parse(&format!("({body}){{{rounds}}}a"), &RegexOptions::default()).unwrap());
        let (few, many) = (size(6), size(60));
        assert!(many < 15 * few, "{body}: {few} expressions and {many}");
    }
}

#[test]
fn letter_case_can_be_ignored() {
    let options = RegexOptions::default().letter_case(LetterCase::Ignored);
    let recogniser = Recogniser::new(&parse("stra\u{df}e|k", &options).unwrap());
    for (text, accepted) in [("STRA\u{1e9e}E", true), ("\u{212a}", true), ("STRASSE", false)] {
        assert_eq!(recogniser.accepts(text.as_bytes()), accepted, "{text}");
    }
}

/// Leaves of patterns over the letters `a` and `b`.
fn letters() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("a".to_owned()),
        4 => Just("b".to_owned()),
        2 => Just("^".to_owned()),
        2 => Just("$".to_owned()),
        1 => Just(r"\A".to_owned()),
        1 => Just(r"\z".to_owned()),
        1 => Just(String::new()),
        1 => Just("[ab]".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just("[^a]".to_owned()),
        1 => Just("[a&&b]".to_owned()),
    ]
}

/// Leaves with word boundaries. The letter `a` belongs to words, and `-` does not.
fn boundaries() -> impl Strategy<Value = String> {
    let leaves = ["a", "-", "^", "$", "[a-]", "a*", "-+", "[a-]*", "(?:a-?)*", "[a&&-]", ""];
    prop_oneof![
        3 => Just(r"\b".to_owned()),
        2 => Just(r"\B".to_owned()),
        1 => prop::sample::select(vec![r"\b{start}", r"\b{end}", r"\b{start-half}", r"\b{end-half}"])
            .prop_map(str::to_owned),
        6 => prop::sample::select(leaves.to_vec()).prop_map(str::to_owned),
    ]
}

/// Patterns over some leaves in which every operator meets every other.
fn patterns(
    leaf: impl Strategy<Value = String> + 'static,
    repeats: &'static [&'static str],
) -> impl Strategy<Value = String> {
    leaf.prop_recursive(4, 16, 3, move |inner| {
        let group = inner.clone().prop_map(|inner| format!("({inner})"));
        prop_oneof![
            3 => prop::collection::vec(group.clone(), 2..=3).prop_map(|parts| parts.concat()),
            3 => prop::collection::vec(inner.clone(), 2..=3).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            1 => (group.clone(), prop::sample::select(repeats))
                .prop_map(|(group, repeat)| group + repeat),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_patterns(pattern in patterns(letters(), &["?", "*", "+", "{2}", "{1,2}", "{2,}", "{0,3}", "{3}"])) {
        check(&pattern, &texts(&['a', 'b'], 4));
    }

    #[test]
    fn random_patterns_with_word_boundaries(pattern in patterns(boundaries(), &["?", "{2}", "{1,2}", "{0,3}"])) {
        check(&pattern, &texts(&['a', '-'], 5));
    }
}

/// No character lies between U+D7FF and U+E000, so a class that has both has no gap there.
#[test]
fn negated_classes_with_both_sides_of_the_surrogates() {
    let texts: Vec<String> =
        "\u{0}\n a\u{D7FC}\u{D7FE}\u{D7FF}\u{E000}\u{E001}\u{FFFD}\u{FFFE}\u{10000}\u{10FFFF}"
            .chars()
            .map(String::from)
            .collect();
    type Case = (&'static str, fn(char) -> bool);
    let no_text = |_| false;
    let cases: [Case; 10] = [
        (r"[^\x{D7FF}\x{E000}]", |c| !matches!(c, '\u{D7FF}' | '\u{E000}')),
        ("[^\u{D7FF}\u{E000}]", |c| !matches!(c, '\u{D7FF}' | '\u{E000}')),
        (r"(?i)[^\x{D7FF}\x{E000}A]", |c| !matches!(c, '\u{D7FF}' | '\u{E000}' | 'a')),
        (r"(?x)[ ^ \x{D7 FF}\x{E000}]", |c| !matches!(c, '\u{D7FF}' | '\u{E000}')),
        (r"[^\p{Co}\p{Cn}]", |c| matches!(c, '\0' | '\n' | ' ' | 'a' | '\u{FFFD}' | '\u{10000}')),
        (r"[^[^\x{D7FF}\x{E000}]]", |c| matches!(c, '\u{D7FF}' | '\u{E000}')),
        (r"[^\t\n\r\x20-\x{D7FF}\x{E000}-\x{FFFD}\x{10000}-\x{10FFFF}]", |c| matches!(c, '\0' | '\u{FFFE}')),
        (r"[^\x00-\x{D7FF}\x{E000}-\x{10FFFF}]|ab", no_text),
        (r"[^[^\x{E000}]\x{E000}]|ab", no_text),
        (r"(?:[a[^\x{D7FF}\p{Co}]&&[^\n]])", |c| !matches!(c, '\n' | '\u{D7FF}' | '\u{E000}' | '\u{E001}')),
    ];
    let perl = cases.map(|(pattern, is_matched)| (pattern, is_matched, RegexOptions::default()));
    let whole = RegexOptions::json_schema().matching(Matching::Whole);
    let ecma = [(r"[^\uD7FF\uE000]", cases[0].1, whole)];
    for (pattern, is_matched, options) in perl.into_iter().chain(ecma) {
        let grammar = parse(pattern, &options).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        let recogniser = Recogniser::new(&grammar);
        for text in &texts {
            let expected = text.chars().all(is_matched);
            assert_eq!(recogniser.accepts(text.as_bytes()), expected, "pattern {pattern:?}, text {text:?}");
        }
    }
}
