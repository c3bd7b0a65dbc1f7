//! The meaning of EBNF sources, and reading printed grammars back.

use grammask_grammar_frontends::ebnf::{EbnfOptions, parse};
use grammask_grammar_frontends::lark::{self, LarkOptions};
use grammask_oracle::Recogniser;
use grammask_oracle::random::{GrammarOptions, Rng, any_grammar};
use insta::assert_snapshot;

#[track_caller]
fn grammar(source: &str) -> grammask_grammar_ir::Grammar {
    parse(source, &EbnfOptions::default()).unwrap_or_else(|error| panic!("{source}\n{error}"))
}

/// The grammar in the printer's form.
#[track_caller]
fn printed(source: &str) -> String {
    let grammar = grammar(source);
    let text = grammar.to_string();
    assert!(parse(&text, &EbnfOptions::default()).unwrap().is_same(&grammar), "{text}");
    text
}

#[test]
fn every_construct() {
    assert_snapshot!(printed(r#"
        # A comment.
        root ::= "a" "" () ("b" | [c-e]) |  # another
            rest? rest* rest+ rest{2} rest{2,} rest{2, -1} rest{2,5} rest{0} rest{1} rest{0,1}
            | [] [^] [^a] | .name
        rest ::= root (=("a" | "b") "c")
        .name ::= Intersection([a-z]{3}, "abc" | Complement("x")) JsonEscaped([^]*) Bytes("a\xff\x00\"")
    "#), @r#"
    root ::= "a" ("b" | [c-e]) | rest? rest* rest+ rest{2} rest{2,} rest{2,} rest{2,5} rest rest? | [] [^] [^a] | .name
    rest ::= root (=(("a" | "b") "c"))
    .name ::= Intersection([a-z]{3}, "abc" | Complement("x")) JsonEscaped([^]*) Bytes("a\xFF\x00\x22")
    "#);
}

#[test]
fn parts_in_any_order() {
    assert_snapshot!(
        printed(r#"root ::= Permutation(",", Repeatable("c"), Optional("b" | "d"), Required("a"), ""{2,3})"#),
        @r#"root ::= Permutation(",", Required("a"), Optional("b" | "d"), Repeatable("c"), ""{2,3})"#
    );
    assert_snapshot!(printed(r#"root ::= Permutation("", Optional("b"))"#), @r#"root ::= Permutation("", Optional("b"))"#);
    // At least one part occurs, so a bound of none would not hold.
    for misplaced in [r#"root ::= Optional("b")"#, r#"root ::= Permutation(",", Optional("b"), ""{0,1})"#] {
        let refused = grammask_grammar_frontends::ebnf::parse(misplaced, &Default::default());
        assert!(refused.unwrap_err().to_string().contains("arguments"), "{misplaced}");
    }
}

#[test]
fn patterns_and_stretches() {
    assert_snapshot!(printed(r#"
        root ::= Regex("[a-c]{2,3}\\d") Regex("a.", flags="is") Regex("x", json_string=true) Substring("a ", "b ", "a ")
    "#), @r#"
    root ::= [a-c]{2,3} [0-9] [Aa] [^] JsonEscaped("x") substring
    substring ::= "" | "a " substring_2 | "b " substring_3
    substring_2 ::= "" | "b " substring_3
    substring_3 ::= "" | "a " substring_4
    substring_4 ::= ""
    "#);
    let judge = |source: &str, sentences: &[&str], others: &[&str]| {
        let grammar = grammar(source);
        let recogniser = Recogniser::new(&grammar);
        sentences.iter().for_each(|text| assert!(recogniser.accepts(text.as_bytes()), "{source} {text:?}"));
        others.iter().for_each(|text| assert!(!recogniser.accepts(text.as_bytes()), "{source} {text:?}"));
    };
    judge(r#"root ::= Regex("\\d+", flags="u")"#, &["7", "12"], &["", "a", "\u{661}"]);
    judge(r#"root ::= Regex("a.", flags="is")"#, &["aB", "A\n"], &["a", "bb"]);
    judge(
        r#"root ::= "\"" Regex("a\"?.", json_string=true) "\"""#,
        &[r#""ab""#, r#""a\"b""#, r#""a\\""#],
        &[r#""a"""#],
    );
    judge(
        r#"root ::= Substring("one ", "two ", "three")"#,
        &["", "one ", "two three", "one two three"],
        &["one three", "on", "three two "],
    );
    judge("root ::= \"a\" Substring()", &["a"], &["", "ab"]);
}

#[test]
fn options_of_rules() {
    assert_snapshot!(printed(r#"
        root[capture] ::= thought_2 answer
        thought[max_tokens = 9, temperature=0.25] ::= [^<]* "</think>"
        thought_2[stop_capture="\u005D", stop_capture_bytes=2, temperature=1] ::= thought
        answer [capture="the \u005D\"answer", capture_hidden_suffix_bytes=1 , lazy] ::= [a-z]* "."
    "#), @r##"
    root[capture="root"] ::= thought_2 answer
    thought[max_tokens=9, temperature=0.25] ::= [^<]* "</think>"
    thought_2[stop_capture="\u005D", stop_capture_bytes=2, temperature=1] ::= thought
    answer[capture="the \u005D\"answer", capture_hidden_suffix_bytes=1] ::= Intersection([a-z]* ".", Complement([a-z]* "." [^]+))
    "##);
    let judge = |source: &str, sentences: &[&str], others: &[&str]| {
        let grammar = grammar(source);
        let recogniser = Recogniser::new(&grammar);
        sentences.iter().for_each(|text| assert!(recogniser.accepts(text.as_bytes()), "{source} {text:?}"));
        others.iter().for_each(|text| assert!(!recogniser.accepts(text.as_bytes()), "{source} {text:?}"));
    };
    judge("root ::= a \"x\"\na[max_chars=2] ::= [aé]*", &["x", "aéx"], &["aaax", "ééé"]);
    judge("root ::= a [ab]*\na[lazy] ::= \"a\"+ \"b\"?", &["a", "aab"], &["", "b"]);
    judge("root ::= a \"b\"\na[lazy] ::= \"a\" | \"ab\"", &["ab"], &["abb", "a"]);
    for (source, reason) in [
        ("root[lazy] ::= \"a\" root | \"b\"", "recursive"),
        ("root[max_chars=5] ::= \"a\" root | \"b\"", "recursive"),
        ("root ::= Complement(a)\na[capture] ::= \"a\"", "has options"),
        ("root[max_tokens=0] ::= \"a\"", "another kind of value"),
        ("root[capture=x] ::= \"a\"", "another kind of value"),
        ("root[capture=\"\\q\"] ::= \"a\"", "escape"),
        ("root[lazy=1] ::= \"a\"", "another kind of value"),
        ("root[lazy capture] ::= \"a\"", "no option"),
        ("root[] ::= \"a\"", "no option"),
        ("root[stop_capture=\"x\"] ::= \"a\"", "another kind of value"),
        ("root[stop_capture_bytes=3] ::= \"a\"", "another kind of value"),
        ("root[capture_hidden_suffix_bytes=3] ::= \"a\"", "another kind of value"),
        ("root[capture, stop_captur=\"x\"] ::= \"a\"", "no option"),
        ("root[temperature=] ::= \"a\"", "another kind of value"),
        ("root[temperature=1e99] ::= \"a\"", "another kind of value"),
    ] {
        let error = parse(source, &EbnfOptions::default()).unwrap_err().to_string();
        assert!(error.contains(reason), "{source}: {error}");
        assert!(error.starts_with("1:") || error.starts_with("2:"), "it has a place: {error}");
    }
}

#[test]
fn tokens_and_tags() {
    assert_snapshot!(printed(r#"
        root ::= TagDispatch(("<f=", args), ("<g>", "x" | "y"), loop_after_dispatch=true, excludes=("<t>",))
            TagDispatch(("a" Token(5) "b", args), stop_str=("</r>", Token("<|s|>")), stop_eos=false,
                loop_after_dispatch=false)
            TagDispatch(("a", args), at_least_one=true) TagDispatch()
        args ::= Token(7, 5, "<|n|>", 7) ExcludeToken(3) ExcludeToken() TagText("<|n|>\"\\")
            | TokenTagDispatch((5, args), ("<|n|>", "b"), excludes=(6,))
            | TokenTagDispatch((5, args), loop_after_dispatch=false,)
    "#), @r#"
    root ::= TagDispatch(("<f=", args), ("<g>", "x" | "y"), excludes=("<t>",)) TagDispatch(("a" Token(5) "b", args), stop_str=("</r>",Token("<|s|>"),), loop_after_dispatch=false, stop_eos=false) TagDispatch(("a", args), loop_after_dispatch=false, at_least_one=true) TagDispatch(("a", args)) TagDispatch()
    args ::= Token(5, 7, "<|n|>") ExcludeToken(3) ExcludeToken() TagText("<|n|>\"\\") | (Token(5) args | Token("<|n|>") "b" | ExcludeToken(5, 6, "<|n|>"))* | ExcludeToken(5)* (Token(5) args)?
    "#);
    let refused = [
        "TagDispatch(\"a\")",
        "TagDispatch((\"a\", root, root))",
        "TagDispatch((\"\", root))",
        "TagDispatch((root, root))",
        "TagDispatch(excludes=\"a\")",
        "TagDispatch(loop_after_dispatch=1)",
        "TagDispatch(loop=true)",
        "Token(root)",
        "Token((1,))",
        "TagText(1)",
        "TokenTagDispatch((1, root), excludes=(1,))",
        "TokenTagDispatch((root, root))",
        "TagDispatch((\"a\", root)",
        "TagDispatch((\"a\", ))",
        "TagDispatch((\"ab\", root), (\"a\", root))",
    ];
    for source in refused {
        assert!(parse(&format!("root ::= {source}"), &EbnfOptions::default()).is_err(), "{source}");
    }
}

#[test]
fn escapes() {
    assert_snapshot!(
        printed(r#"root ::= "\"\'\?\\\/\a\b\f\n\r\t\v\0\e\x41\xe9\x01F600\u00e9\U0001F600" [\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/\-\x41]"#),
        @r#"root ::= "\"'?\\/\u0007\u0008\u000C\n\r\t\u000B\u0000\u001BAé😀é😀" [$(-+\--/?A\[-\^{-}]"#
    );
    // A `\x` takes every hexadecimal digit that follows.
    assert_snapshot!(printed(r#"root ::= "\xe9a" "\x0000000000000041""#), @r#"root ::= "ບ" "A""#);
    assert_snapshot!(printed("root ::= [a-] [-a] [a-c-] [+--] [^^]"), @"root ::= [\\-a] [\\-a] [\\-a-c] [+-\\-] [^\\^]");
}

#[test]
fn comments_end_where_lines_do() {
    let plain = printed("root ::= \"a\" | b\nb ::= \"b\"");
    for end in ["\n", "\r", "\r\n"] {
        for source in ["# c$root ::= \"a\" # c$ | b # c$b ::= \"b\"$", "root ::= \"a\" | b$b ::= \"b\""] {
            assert_eq!(printed(&source.replace('$', end)), plain, "{source} with {end:?}");
        }
    }
}

#[test]
fn line_breaks_are_blanks() {
    assert!(
        grammar("root\n::=\n\"a\"\n\n|\nb # c\nb ::= ( \n ) ")
            .is_same(&grammar("root ::= \"a\" | b\nb ::= \"\""))
    );
    assert!(grammar("root ::= \"a\"\r\nb ::= \"b\"\r\n").is_same(&grammar("root ::= \"a\"\nb ::= \"b\"")));
}

#[test]
fn one_mistake_is_told_once() {
    let error = parse("root ::= \"a\" ::= \"b\"", &EbnfOptions::default()).unwrap_err();
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
}

#[test]
fn the_root_can_have_another_name() {
    let options = EbnfOptions::default().root("start");
    let grammar = parse("a ::= \"a\"\nstart ::= a", &options).unwrap();
    assert_eq!(grammar.rule(grammar.root()).name(), "start");
}

#[test]
fn rules_keep_their_places() {
    let grammar = grammar("root ::= a\n\n a ::= \"x\"");
    let rule = grammar.rule(grammar.rule_by_name("a").unwrap());
    assert_eq!(rule.span().unwrap().range(), 13..14);
}

#[test]
fn sentences() {
    let recogniser = Recogniser::new(&grammar(
        r#"root ::= object
           object ::= "{" (pair ("," pair)*)? "}"
           pair ::= "\"" [a-z]+ "\":" (object | [0-9]{1,3} | "\"" [^"\x00-\x1f]* "\"")"#,
    ));
    for (text, accepted) in [
        ("{}", true),
        (r#"{"a":12,"bc":{"d":"é"}}"#, true),
        (r#"{"a":1234}"#, false),
        (r#"{"a":1,}"#, false),
        ("{\"a\":\"\n\"}", false),
    ] {
        assert_eq!(recogniser.accepts(text.as_bytes()), accepted, "{text}");
    }
}

#[test]
fn random_grammars_are_printed_and_read_back() {
    for options in [GrammarOptions::default(), GrammarOptions::regular(), GrammarOptions::with_tokens(5)] {
        let options = GrammarOptions { unicode_percent: 50, raw_bytes_percent: 20, ..options };
        for seed in 0..1_000 {
            let grammar = any_grammar(&mut Rng::new(seed), &options);
            let text = grammar.to_string();
            let back =
                parse(&text, &EbnfOptions::default()).unwrap_or_else(|error| panic!("{text}\n{error}"));
            assert!(back.is_same(&grammar), "{text}\n{back}");
        }
    }
}

#[test]
fn random_sources_are_read_the_same_with_other_blanks() {
    for seed in 0..200 {
        let text = any_grammar(&mut Rng::new(seed), &GrammarOptions::default()).to_string();
        let spread = text.replace(" | ", "\n  # or\n  |\t").replace(", ", ",\r\n");
        let [one, other] = [text, spread].map(|text| parse(&text, &EbnfOptions::default()).unwrap());
        assert!(one.is_same(&other));
    }
}

/// Bounds on characters, and intersections, over texts with tokens that are taken as a whole: all texts of up to six symbols
/// are judged by a sentence about them. `T` and `U` stand for two tokens.
#[test]
fn tokens_are_no_characters() {
    type Rule = fn(&str) -> bool;
    let cases: [(&str, &str, Rule); 5] = [
        ("lark", "start: a \"b\"\na[max_chars=2]: /[ac]*/ <[5]> /[ac]*/", |text| {
            let Some((before, after)) = text.strip_suffix('b').and_then(|text| text.split_once('T')) else {
                return false;
            };
            before.len() + after.len() <= 2
                && before.chars().chain(after.chars()).all(|letter| "ac".contains(letter))
        }),
        ("lark", "start: a \"b\"\na[max_chars=2]: part*\npart: \"a\" | <[5]> | \"c\" <[6]>", |text| {
            let Some(text) = text.strip_suffix('b') else { return false };
            text.matches(['a', 'c']).count() <= 2
                && text.replace("cU", "").chars().all(|symbol| "aT".contains(symbol))
        }),
        ("ebnf", "root[max_chars=1] ::= ([ab] | ExcludeToken(5))*", |text| {
            text.matches(['a', 'b']).count() <= 1 && !text.contains(['c', 'T'])
        }),
        ("ebnf", "root ::= (\"a\" | Token(5, 6))* & ([ab] | ExcludeToken(6))* & ~(\"a\" | \"aa\")", |text| {
            // A complement is about texts, which have no tokens.
            text.chars().all(|symbol| symbol == 'a') && text != "a" && text != "aa"
        }),
        ("ebnf", "root ::= (\"a\" Token(5, 6))* \"b\" & ([ab] | ExcludeToken(6))*", |text| {
            text.strip_suffix('b').is_some_and(|text| text.replace("aT", "").is_empty())
        }),
    ];
    for (notation, source, is_sentence) in cases {
        let grammar = match notation {
            "lark" => lark::parse(source, &LarkOptions::default()).unwrap(),
            _ => grammar(source),
        };
        assert!(parse(&grammar.to_string(), &EbnfOptions::default()).unwrap().is_same(&grammar), "{grammar}");
        let recogniser = Recogniser::new(&grammar);
        let mut accepted = 0;
        let mut texts = vec![String::new()];
        while let Some(text) = texts.pop() {
            let mut chart = recogniser.begin();
            let is_read = text.chars().all(|symbol| match symbol {
                'T' => chart.push_token(5),
                'U' => chart.push_token(6),
                letter => chart.push(letter as u8),
            });
            let is_accepted = is_read && chart.is_complete();
            assert_eq!(is_accepted, is_sentence(&text), "{source} {text}");
            accepted += usize::from(is_accepted);
            if text.len() < 6 {
                texts.extend("abcTU".chars().map(|symbol| format!("{text}{symbol}")));
            }
        }
        assert!(accepted > 2, "{source}");
    }
}
