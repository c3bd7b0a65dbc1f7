//! Patterns in the ECMA-262 dialect mean what an ECMAScript engine says they mean.

use grammask_grammar_frontends::regex::{RegexOptions, parse};
use grammask_oracle::Recogniser;

use crate::regex_language::texts;

/// Compares a pattern with an ECMAScript engine in Unicode mode, searching.
fn check(pattern: &str, texts: &[String]) {
    check_with_flags(pattern, "u", texts);
}

fn check_with_flags(pattern: &str, flags: &str, texts: &[String]) {
    let grammar =
        parse(pattern, &RegexOptions::json_schema()).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    let recogniser = Recogniser::new(&grammar);
    let judge =
        regress::Regex::with_flags(pattern, flags).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    for text in texts {
        let expected = judge.find(text).is_some();
        assert_eq!(recogniser.accepts(text.as_bytes()), expected, "pattern {pattern:?}, text {text:?}");
    }
}

#[test]
fn no_text_holds_surrogates() {
    let texts = texts(&['a', '\n', '\u{FFFD}'], 2);
    for name in ["Cs", "Surrogate", "gc=Cs", "General_Category=Surrogate"] {
        for pattern in [r"\p{$}", r"^\P{$}$", r"^[^\p{Cc}\p{$}]*$", r"^[^\P{$}]?$"] {
            check(&pattern.replace('$', name), &texts);
        }
    }
}

/// ECMA-262 takes a property's complement before it compares characters without their case: a class matches a character if
/// it holds the character in any case.
#[test]
fn complements_where_case_is_ignored() {
    let cases =
        [vec!['k', 'K', '\u{212A}'], vec!['\u{1C4}', '\u{1C5}', '\u{1C6}'], vec!['ß', 'ẞ'], vec!['7']];
    for property in ["Lu", "Ll", "Lt", "L", "Script=Latin", "Lowercase", "Any"] {
        for members in [r"\P{$}", r"\P{$}7", r"\p{$}"] {
            let members = members.replace('$', property);
            let exact = regress::Regex::with_flags(&format!("[{members}]"), "u").unwrap();
            let [class, complement, other] = [
                format!("(?i:^[{members}]$)"),
                format!("(?i)^[^{members}]$"),
                format!("(?i:(?-i:^[{members}]$))"),
            ]
            .map(|pattern| Recogniser::new(&parse(&pattern, &RegexOptions::json_schema()).unwrap()));
            for cases in &cases {
                let is_member = |case: &char| exact.find(&case.to_string()).is_some();
                for case in cases {
                    let text = case.to_string();
                    let matches = cases.iter().any(is_member);
                    assert_eq!(class.accepts(text.as_bytes()), matches, "{members} {text}");
                    assert_eq!(complement.accepts(text.as_bytes()), !matches, "[^{members}] {text}");
                    assert_eq!(
                        other.accepts(text.as_bytes()),
                        is_member(case),
                        "{members} {text}, in its case"
                    );
                }
            }
        }
    }
}

#[test]
fn unicode_mode() {
    let alphabet = [
        'a',
        'K',
        '7',
        '_',
        '-',
        '/',
        '.',
        ' ',
        '\t',
        '\n',
        '\u{0}',
        '\u{8}',
        '\u{1}',
        '\u{e9}',
        '\u{3bb}',
        '\u{660}',
        '\u{a0}',
        '\u{feff}',
        '\u{85}',
        '\u{2028}',
        '\u{212a}',
        '\u{1f600}',
    ];
    let texts = texts(&alphabet, 2);
    for pattern in [
        r"^\d$",
        r"^\D$",
        r"^\w$",
        r"^\W$",
        r"^\s$",
        r"^\S$",
        "^.$",
        "^[^]$",
        "[]",
        "[]|a",
        r"^[\s\S]$",
        r"^[\W]$",
        r"^[^\D]$",
        r"^[^\w\s]$",
        r"^\t$",
        r"^\cA$",
        r"^[\cA\b]$",
        r"^\0$",
        r"^\/\.$",
        r"\-|a",
        r"^[\-a]$",
        r"^\x61$",
        r"^\u0061$",
        r"^\u{1F600}$",
        r"^\uD83D\uDE00$",
        r"^[\uD83D\uDE00]$",
        r"^[^\uD800-\uDFFF]$",
        r"\uD83D$",
        r"^[\uD800-\uDFFF]$",
        r"^[\uD83D]|a$",
        r"^\p{L}$",
        r"^\p{Letter}$",
        r"^\P{L}$",
        r"^\p{Lu}$",
        r"^[\p{Ll}\d]$",
        r"^\p{Script=Greek}$",
        r"^\p{sc=Latin}$",
        r"^\p{gc=Nd}$",
        r"^\p{Alphabetic}$",
        r"^\p{ASCII}$",
        r"^[^\P{L}]$",
        r"^(?<name>a)$",
        "^(?:a|K){2}$",
        "^a{0,1}?7$",
        "^a*?$",
        "a|",
        "^$",
        "^[a-]$",
        "^[-a]$",
        "^[.-a]$",
        "^[&&a]$",
        "^[[a]$",
        r"^[\[a]$",
        "^[~+--]$",
        "^[a^]$",
        "^(a|^)7",
        "a{1000000}|K",
        r"^\p{Script_Extensions=Greek}$",
    ] {
        // ECMAScript takes `\-` in Unicode mode in classes only.
        check_with_flags(pattern, if pattern == r"\-|a" { "" } else { "u" }, &texts);
    }
}

#[test]
fn spellings_of_annex_b() {
    let texts = texts(&['a', '-', '.', ']', '{', '}', ',', '1', '@'], 3);
    for pattern in [
        r"^[\w-.]$",
        r"^[.-\w]$",
        r"^[\d-a-]$",
        "^]$",
        "^{$",
        "^}$",
        "^a{$",
        "^a{1$",
        "^{,$",
        r"^\@$",
        r"^a{,$",
        r"^[\w-.-a]$",
        r"^[a-\d-.]$",
        r"^\]$",
        "^{}$",
        "^a{}$",
        r"^[\-\.]$",
        r"^{a}$",
    ] {
        check_with_flags(pattern, "", &texts);
    }
}

#[test]
fn what_ecma_engines_do_not_take() {
    for (ours, theirs) in [
        (r"(?P<name>a)1", "(?<name>a)1"),
        ("(?i)a1", "[aA]1"),
        ("(?i:a)1", "[aA]1"),
        ("(?s).a", "[^]a"),
        ("((?s).)a.", "[^]a."),
        ("(?s:.)a(?-s:.)", "[^]a."),
    ] {
        let [ours, theirs] = [ours, theirs]
            .map(|pattern| Recogniser::new(&parse(pattern, &RegexOptions::json_schema()).unwrap()));
        for text in texts(&['a', 'A', '1', '\n'], 3) {
            assert_eq!(ours.accepts(text.as_bytes()), theirs.accepts(text.as_bytes()), "{text:?}");
        }
    }
}

#[test]
fn unicode_mode_is_meant_where_modes_differ() {
    check("^\u{1f600}$", &["\u{1f600}".to_owned()]);
    check("^.$", &["\u{1f600}".to_owned()]);
    check("^[\u{1f600}-\u{1f64f}]{2}$", &["\u{1f600}\u{1f64f}".to_owned(), "\u{1f600}".to_owned()]);
}

/// The letters of words are those of ASCII.
#[test]
fn word_boundaries() {
    let texts = texts(&['a', '-', '\u{e9}', '.'], 5);
    for pattern in [
        r"\ba",
        r"a\b",
        r"^a\b",
        r"\B-",
        r"^\b",
        r"\b$",
        r"^\B$",
        r"^(\w+\b-?){1,2}$",
        r"\.a{1,3}\b([-a.]*)$",
        r"^[a-]*\b[-.]*$",
        r"^(?!.*\ba\b)[^]*$",
        r"^(?=\B|a)[^]*$",
        r"^((?!\ba\b).)*$",
        r"^((?=\b|-).)*$",
        r"\b(?!a)|\b(?=a-)",
        r"[\b]|^\ba\b",
        r"a^|-(?=^|a)",
    ] {
        check(pattern, &texts);
    }
}

#[test]
fn look_ahead() {
    let texts = texts(&['a', 'b', '-', '\n'], 5);
    for pattern in [
        "^(?!a)",
        "^(?!a).*$",
        "a(?=b)",
        "a(?!b)",
        "^a(?=b)b$",
        "(?=a)b",
        "^(?=.*a)(?=.*b).{2,3}$",
        "^(?!.*--)[ab-]+$",
        "^(?!^a|b)[^]*$",
        "^((?!ab).)*$",
        "^((?!ab)(?!-).)+$",
        "^((?=a|-).)*$",
        "^(?:(?!b$)[^])*$",
        "^(?:a(?!-)|b){1,3}-?",
        "^(?:(?=a)[ab])?-",
        "(?!a|$)[^]*$",
        "^(?!(?=a)ab)",
        "^(?!(?!a))b|^(?!b)",
        "(?:^(?!a)|-(?=b))b",
        "(?=$)|^x",
        "^(?!(?:a|b)$)[ab]*$",
        "b(?=a$)|^(?=-$)",
    ] {
        check(pattern, &texts);
    }
}

#[test]
fn look_behind() {
    let texts = texts(&['a', 'b', '-', '\n'], 5);
    for pattern in [
        "(?<!a)b",
        "(?<=a)b",
        "(?<!^)b",
        "^(?<!a)b",
        "(?<=^|-)a",
        "(?<=a|b-)a$",
        "^[ab-]+(?<!-)$",
        "^[ab-]+(?<!-a)$",
        "[ab-]*(?<!-a)$",
        "^(?!-)[ab-]{1,3}(?<!-)$",
        "^a?(?<=a)[^]*",
        "^a?(?<!a)[^]*$",
        "^(?<=b?)a|b(?<=ab)-",
        "^(?:(?!-)[ab-]{1,2}(?<!-)\n?)+$",
        "^(?:[ab](?<!b))*-",
        "^((?:a|-[^])(?<!b|-))*$",
        "^(?:(?=a)[ab])+-",
        "b(?<=ab)(?=-)(?<!-ab)[^]",
        "^.(?<!a)\\b[^]*$",
        "(?=[^]{2})[ab]+(?<!a)$",
        "^(?!(?:[ab-](?<!b))+$)",
        "(?<!a)",
        "(?<=a)$",
        "(?<![^])a",
    ] {
        check(pattern, &texts);
    }
}
