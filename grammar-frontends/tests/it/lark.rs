//! The meaning of sources in Lark's notation, and the messages for broken ones.

use grammask_grammar_frontends::Color;
use grammask_grammar_frontends::ebnf::{self, EbnfOptions};
use grammask_grammar_frontends::lark::{LarkLimits, LarkOptions, NamedGrammar, parse};
use grammask_grammar_ir::Grammar;
use grammask_oracle::Recogniser;
use insta::assert_snapshot;

#[track_caller]
fn grammar(source: &str) -> Grammar {
    parse(source, &LarkOptions::default()).unwrap_or_else(|error| panic!("{source}\n{error}"))
}

/// Texts that the grammar has, and texts that it has not.
#[track_caller]
fn check(source: &str, sentences: &[&str], others: &[&str]) {
    judge(&grammar(source), sentences, others);
}

#[track_caller]
fn judge(grammar: &Grammar, sentences: &[&str], others: &[&str]) {
    let recogniser = Recogniser::new(grammar);
    for text in sentences {
        assert!(recogniser.accepts(text.as_bytes()), "{text:?} is a sentence\n{grammar}");
    }
    for text in others {
        assert!(!recogniser.accepts(text.as_bytes()), "{text:?} is none\n{grammar}");
    }
}

#[track_caller]
fn refused(source: &str) -> String {
    parse(source, &LarkOptions::default()).unwrap_err().to_string()
}

#[test]
fn every_construct() {
    assert_snapshot!(grammar(
        r#"
        ?start: "a" [b] | C~2 -> pair // comment
          | <|call|> <[1,3-5]> <[^7]> <[*]> # comment
        !b: ("x"i "0".."9") {2,} C{,3} C{4} C~1..2
        C: /[a-c]+/s & ~"ab"
        %import common (DIGIT, CR)
        %import common.LF -> NL
        %ignore DIGIT | NL
        "#,
    ), @r#"
    root ::= start
    start ::= "a" ignored b? | (C ignored){2} | Token("<|call|>") ignored Token(1, 3, 4, 5) ignored ExcludeToken(7) ignored ExcludeToken() ignored
    b ::= ([Xx] ignored [0-9] ignored){2,} (C ignored){0,3} (C ignored){4} (C ignored){1,2}
    C ::= Intersection([a-c]+, Complement("ab"))
    DIGIT ::= [0-9]
    CR ::= "\r"
    NL ::= "\n"
    ignored ::= (DIGIT | NL)*
    "#);
}

#[test]
fn characters_by_their_numbers() {
    check(r#"start: "\x41\x2d\\x41\u0042" "\xe9"i"#, &["A-\\x41Bé"], &["A-AB\u{e9}", "A-\\x41B"]);
    check(r#"start: "\x61"i "\x30".."\x39""#, &["A0", "a9"], &["a"]);
}

#[test]
fn skipped_text_stands_behind_terminals() {
    let source = "start: \"a\" B \"c\"\nB: \"b\" \"b\"\n%ignore \" \"\n";
    check(source, &["abbc", "a bb  c ", "abbc   "], &[" abbc", "ab bc", "abb"]);
    let initial = format!("{source}%grammar_options {{\"allow_initial_skip\": true}}\n");
    check(&initial, &["abbc", "  a bbc"], &["ab bc"]);
}

#[test]
fn there_is_no_lexer() {
    check("start: A \"ab\"\nA: \"a\"+", &["aab", "aaab"], &["ab", "aa"]);
    check(
        "start: STEM SUFFIX\nSTEM: \"list\" | \"listen\"\nSUFFIX: \"ed\"",
        &["listed", "listened"],
        &["listeed"],
    );
    check(
        "start: NAME\nNAME: /[a-z]+/ & ~KEYWORD\nKEYWORD: \"if\" | \"in\"",
        &["i", "iff", "x"],
        &["if", "in", ""],
    );
}

#[test]
fn attributes_bound_a_rule() {
    check("start: \"<\" text\ntext[suffix=\">\"]: /(.|\\n)*/", &["<>", "<ab\n>"], &["<", "<a", "<a>b>"]);
    check("start: text \"x\"\ntext[stop=/[0-9]{2}/]: /.*/", &["a1b12x", "12x"], &["a1x", "a12b34x"]);
    check("start: text /.*/\ntext[lazy]: /a+b*/", &["a", "aab"], &["b"]);
    check("start: text\ntext[lazy]: /a+b/ | /ab?/", &["a"], &["ab", "aab"]);
    check("start: text\ntext[max_chars=3]: /[a\u{e9}]+/", &["a", "\u{e9}\u{e9}a"], &["", "aaaa"]);
    check(
        "start: text \"!\"\ntext[suffix=\".\"]: /[a-z ]*/\n%ignore \" \"",
        &["a b. !", ".!"],
        &[" . . !", "a.b.!"],
    );
}

#[test]
fn characters_of_rules_made_of_rules_are_bounded() {
    let source =
        "start: pair \"!\"\npair[max_chars=4]: word (\",\" word)*\nword: LETTER+ | \"é\"\nLETTER: /[a-z]/";
    check(source, &["ab!", "a,bc!", "abcd!", "é,é!"], &["abcde!", "a,b,c!", "!", "a,!"]);
    // Skipped text counts, too.
    let source = format!("{source}\n%ignore \" \"");
    check(&source, &["a ,b!", "ab !"], &["a , b!", "abcd !"]);
    for (source, part) in [
        ("start: pair\npair[max_chars=4]: pair? \"a\"", "which is recursive"),
        ("start: pair\npair[max_chars=4]: word\nword[capture]: \"a\"", "which has options"),
        ("start: pair end\npair[max_chars=4]: word\nword: \"a\"\nend[lazy]: /b+/", "others are lazy"),
    ] {
        let refused = parse(source, &LarkOptions::default()).unwrap_err().to_string();
        assert!(refused.contains(part) && refused.starts_with("2:"), "{source}: {refused}");
    }
}

#[test]
fn bounds_beside_an_end_are_on_the_text_before_it() {
    check(
        "start: text \"!\"\ntext[suffix=\"</t>\", max_chars=2]: /.*/",
        &["</t>!", "a</t>!", "</</t>!", "éa</t>!"],
        &["abc</t>!", "ab!", "a</t></t>!"],
    );
    check("start: text\ntext[stop=/[.!]+/, max_chars=1]: /.*/", &[".", "a!"], &["..", "ab.", "a!!"]);
    // One where the texts depend on the end.
    check(
        "start: text\ntext[stop=/[ab]b/, max_chars=1]: /.*/",
        &["ab", "cbb", "bb", "aab"],
        &["abb", "ccbb"],
    );
}

/// Texts of at most five letters that the grammar has.
fn texts(source: &str, letters: &str) -> Vec<String> {
    let grammar = grammar(source);
    let recogniser = Recogniser::new(&grammar);
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..5 {
        last = last
            .iter()
            .flat_map(|text| letters.chars().map(move |letter| format!("{text}{letter}")))
            .collect();
        all.extend(last.iter().cloned());
    }
    all.retain(|text| recogniser.accepts(text.as_bytes()));
    all
}

#[test]
fn a_bound_on_tokens_takes_no_text_away() {
    for (body, end, letters) in [
        ("/.*/", "\"ab\"", "abc"),
        ("/.*/", "\"aa\"", "ab"),
        ("/.*/", "\"aba\"", "ab"),
        ("/.*/", "\"aBa\"i", "aB"),
        ("/.*/", "\"aab\"", "ab"),
        ("/[ab]*/", "\"bc\"", "abc"),
        ("/(ab)*/", "\"ab\"", "ab"),
        ("/(aa)*/", "\"aaa\"", "ab"),
        ("/a*/", "/[ab]/", "abc"),
        ("/.*/", "/[ab]c/", "abc"),
        ("/.*/", "/ac|bc/", "abc"),
        ("/.*/", "/b|aa?c/", "abc"),
        ("/.*/", "/[ab]{2}/", "abc"),
        ("/[ac]*/", "/a?b/", "abc"),
        ("/.*/", "/ab|aa/", "abc"),
        ("/b*/", "/a+/", "abc"),
        ("/(a|bb)*/", "/a?/", "ab"),
    ] {
        let with = |bound: &str| {
            let source = format!("start: text\ntext[stop={end}{bound}]: {body}");
            texts(&source, letters)
        };
        let wanted = with("");
        assert!(!wanted.is_empty());
        assert_eq!(with(", max_tokens=1"), wanted, "{body} {end}");
        assert_eq!(with(", max_chars=5"), wanted, "{body} {end}");
        let are_apart = !["/b|aa?c/", "/a?b/"].contains(&end);
        if are_apart {
            assert_eq!(with(", max_tokens=1, capture"), wanted, "{body} {end}");
        }
    }
    assert_snapshot!(grammar("start: text\ntext[suffix=\"aa\", max_tokens=5, stop_capture=\"end\"]: /[a-z]*/"), @r#"
    root ::= start
    start ::= text
    text[stop_capture="end", stop_capture_bytes=2] ::= text_3 "aa"
    text_3[max_tokens=5] ::= Intersection([a-z]*, Complement([a-z]* "aa" [^]*), Complement([a-z]* "a"))
    "#);
    // The text that may precede the end depends on it: after `a` there may be `ab`, but not `bb`.
    for end in ["/[ab]b/", "/b|abc/"] {
        let refused = refused(&format!("start: text\ntext[stop={end}, max_tokens=1]: /.*/"));
        assert!(refused.contains("depends on which end follows"), "{end}: {refused}");
    }
    for end in ["/a+b/", "/a{5000}/", "/.{3000}{3000}/", "/(a|bc|cd){5}/"] {
        let refused = refused(&format!("start: text\ntext[stop={end}, max_tokens=1]: /.*/"));
        assert!(refused.contains("few forms"), "{end}: {refused}");
    }
    // Where its text is handed out, too, it must be clear where the end begins.
    assert_snapshot!(refused("start[stop=/a?b/, max_tokens=1, capture]: /.*/"), @r#"1:19: error: `max_tokens` would have to bound a text that depends on which end follows; name one text that ends the rule: `suffix="..."`"#);
}

#[test]
fn what_ends_a_rule_is_cut_off() {
    assert_snapshot!(grammar(
        "start: a b\na[suffix=\"--\", capture, stop_capture=\"end\"]: /.*/\nb[stop=/;|\\.é/, capture]: /.*/\n%ignore \" \"",
    ), @r#"
    root ::= start
    start ::= a b
    a ::= a_5 ignored
    b ::= b_8 ignored
    ignored ::= " "*
    a_5[capture="a", capture_hidden_suffix_bytes=2, stop_capture="end", stop_capture_bytes=2] ::= Intersection([^\n]* "--", Complement([^\n]* "--" [^]+))
    b_6[capture="b", capture_hidden_suffix_bytes=3] ::= Intersection(Intersection([^\n]* (";" | ".é"), Complement([^\n]* (";" | ".é") [^]+)), [^\n]* ".é")
    b_7[capture="b", capture_hidden_suffix_bytes=1] ::= Intersection(Intersection([^\n]* (";" | ".é"), Complement([^\n]* (";" | ".é") [^]+)), [^\n]* ";", Complement([^\n]* ".é"))
    b_8 ::= b_6 | b_7
    "#);
    assert_snapshot!(refused("start[stop=/ *;/, capture]: /.*/"), @"1:19: error: `capture` needs an end whose possible lengths are few, and those of this one are not; give the end a bound (`/ {0,9};/` in place of `/ *;/`), or give the rule another one around it to capture");
}

#[test]
fn stretches_stand_in_terminals() {
    let stretches = "%regex {\"substring_chunks\": [\"the \", \"cat \", \"the \", \"dog\"]}";
    check(
        &format!("start: QUOTE \".\"\nQUOTE: \"<\" ({stretches} \">\" | \"?\")\n%ignore \" \""),
        &["<>.", "<the cat > .", "<?.", "<the dog>."],
        &["< >.", "<cat dog>.", "<cat .", "<the cat  >."],
    );
    check(
        &format!("start: QUOTE\nQUOTE: {stretches} & ~\"\" & ~/.*the dog/"),
        &["the ", "the cat the ", "dog"],
        &["", "the dog", "cat the dog", "cat dog"],
    );
    check(&format!("start: quote\nquote[max_chars=4]: {stretches}"), &["the ", "dog", ""], &["the cat "]);
    check(
        "start: %regex {\"substring_words\": \"foo  bar-baz... q_x12\\n\u{2003}ö9²e\u{301}\"}",
        &[
            "",
            "foo",
            "  ",
            "foo  bar",
            "bar-",
            "baz... q_x12",
            "...",
            "\n\u{2003}ö9²e",
            "ö9²e\u{301}",
            "\u{301}",
        ],
        &["fo", " bar", "..", "q", "q_", "\n", "ö9", "e\u{301}", "foo bar"],
    );
    check(
        &format!("start: quote\nquote[suffix=\"dog\"]: {stretches}"),
        &["the dog", "cat dog", "dog"],
        &["dogdog", "the "],
    );
}

#[test]
fn attributes_are_kept() {
    assert_snapshot!(grammar(
        r#"
        start[temperature=1]: thought answer
        thought[suffix="</think>", capture="reasoning", temperature=0.25]: /[^<]*/
        answer[capture, max_tokens=100]: "a" | thought
        %ignore " "
        "#,
    ), @r#"
    root ::= start
    start[temperature=1] ::= thought answer
    thought ::= thought_5 ignored
    answer[max_tokens=100, capture="answer"] ::= "a" ignored | thought
    ignored ::= " "*
    thought_5[capture="reasoning", capture_hidden_suffix_bytes=8, temperature=0.25] ::= Intersection([^<]* "</think>", Complement([^<]* "</think>" [^]+))
    "#);
}

#[test]
fn numbers_of_attributes_are_spelled_freely() {
    let start = |number: &str| format!("start[temperature={number}]: \"a\"");
    for number in ["2.0", "20e-1", "0.2e1", "0.2E+1"] {
        assert_eq!(grammar(&start(number)), grammar(&start("2")), "{number}");
    }
    [".2", "2.", "2e", "-2"].iter().for_each(|number| drop(refused(&start(number))));
}

#[test]
fn structures_inside() {
    let source = r#"
        start: "f(" %json {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false} ")" tail
        tail: %lark {
            start: item+
            item: "[" INNER "]"
            INNER: /[a-z]/
        } ";"
        INNER: "never"
    "#;
    check(source, &["f({})[a];", "f({\"a\": 1})[a][b];"], &["f({\"b\":1})[a];", "f({})[never];", "f({});"]);
}

#[test]
fn stretches_of_a_text() {
    check(
        "start: %regex {\"substring_chunks\": [\"the \", \"cat \", \"the \", \"dog\"]} \".\"",
        &[".", "the .", "the cat .", "cat the dog."],
        &["the dog cat.", "he .", "dogthe ."],
    );
    check(
        "start: %regex {\"substring_chars\": \"abcab\"}",
        &["", "ab", "bca", "abcab"],
        &["ac", "aba", "abcabc"],
    );
}

#[test]
fn named_grammars() {
    let mut options = LarkOptions::default();
    let number = ebnf::parse("root ::= [0-9]+", &EbnfOptions::default()).unwrap();
    options.named.insert("number".to_owned(), NamedGrammar::Grammar(number));
    let list = "start: \"[\" [item (\",\" item)*] \"]\"\nitem: @number | @list".to_owned();
    options.named.insert("list".to_owned(), NamedGrammar::Lark(list));
    let grammar = parse("start: @list \"!\" @number", &options).unwrap();
    judge(&grammar, &["[]!1", "[1,[2,[]]]!22"], &["[1,]!1", "[]!", "[[1]!1"]);

    options.named.insert("broken".to_owned(), NamedGrammar::Lark("start:\n  | oops".to_owned()));
    assert_snapshot!(parse("start: @broken", &options).unwrap_err(), @"error: in the grammar named `broken`, line 2, column 5: `oops` is not defined; define it (`oops: ...`), or put it in double quotes if it is text");
    assert_snapshot!(parse("start: @numbr", &options).unwrap_err(), @"1:8: error: no grammar is named `numbr`; did you mean `@number`?");
}

#[test]
fn every_imported_terminal_reads_its_own_kind_of_text() {
    for (name, sentences, others) in [
        ("DIGIT", &["7"][..], &["77", "a"][..]),
        ("HEXDIGIT", &["f", "A"], &["g"]),
        ("INT", &["007"], &["", "+1"]),
        ("SIGNED_INT", &["-1", "1"], &["-"]),
        ("DECIMAL", &["1.", ".5", "1.5"], &["1", "."]),
        ("_EXP", &["e5", "E-5"], &["e"]),
        ("FLOAT", &["1e5", "1.", ".5e1"], &["1"]),
        ("SIGNED_FLOAT", &["-1e5", "1."], &["-1"]),
        ("NUMBER", &["1", "1.5e-3", ".5"], &["-1", ".", "e5"]),
        ("SIGNED_NUMBER", &["+1", "-.5"], &["+"]),
        ("ESCAPED_STRING", &["\"\"", "\"a\\\"b\""], &["\"", "\"\\\"", "\"\n\""]),
        ("LCASE_LETTER", &["a"], &["A"]),
        ("UCASE_LETTER", &["A"], &["a"]),
        ("LETTER", &["a", "A"], &["1"]),
        ("WORD", &["aB"], &["a1", ""]),
        ("CNAME", &["_a1"], &["1a"]),
        ("WS_INLINE", &[" \t"], &["\n"]),
        ("WS", &[" \n"], &["", "\u{b}"]),
        ("CR", &["\r"], &["\n"]),
        ("LF", &["\n"], &["\r"]),
        ("NEWLINE", &["\r\n\n"], &["\r"]),
        ("SH_COMMENT", &["#", "# a"], &["#\n"]),
        ("CPP_COMMENT", &["// a"], &["/"]),
        ("C_COMMENT", &["/**/", "/* * / **/"], &["/*/", "/**/*/"]),
        ("SQL_COMMENT", &["-- a"], &["-"]),
    ] {
        check(&format!("start: {name}\n%import common.{name}\n"), sentences, others);
    }
}

#[test]
fn one_mistake_is_told_once() {
    for (source, mistakes) in [(": \"a\"", 1), (": \"a\"\nstart: \"a\"", 1), ("a: (\nb: \"b\"", 2)] {
        assert_eq!(refused(source).lines().count(), mistakes, "{source}");
    }
}

#[test]
fn reports() {
    let source = "start: \"a\" itm\nitem: \"b\" |\n  ITEM{3\n";
    let error = parse(source, &LarkOptions::default()).unwrap_err();
    assert_snapshot!(error.render(source, "grammar.lark", Color::Never), @r#"
    [lark/undefined] Error: `itm` is not defined
       ╭─[ grammar.lark:1:12 ]
       │
     1 │ start: "a" itm
       │            ─┬─
       │             ╰─── here
       │
       │ Help: did you mean `item`?
    ───╯

    [lark/unsupported] Error: templates are not supported
       ╭─[ grammar.lark:3:7 ]
       │
     3 │   ITEM{3
       │       ┬
       │       ╰── here
       │
       │ Help: write the rule out for each argument
    ───╯
    "#);
    for source in [
        "start: \"a\n",
        "start: /a\n",
        "start: 'a'\n",
        "start: <a b>\n",
        "start \"a\"\n",
        "start: (\"a\"\n",
        "start: \"a\")\n",
        "start: [\"a\"\n",
        "start: \"a\"**\n",
        "start: * \"a\"\n",
        "start: \"a\"{1,b}\n",
        "start: \"a\"{3,2}\n",
        "start: \"a\"{9999999999}\n",
        "start: \"\\q\"\n",
        "start: \"ab\"..\"c\"\n",
        "start: \"c\"..\"a\"\n",
        "start: \"c\"..\n",
        "start: /(?=a)/\n",
        "start: /a/x\n",
        "start: ~\n",
        "start: \"a\" ->\n",
        "start: <[a]>\n",
        "start: <[0-4000000000]>\n",
        "start: %json {\"type\": \"objct\"}\n",
        "start: %json {\"type\": }\n",
        "start: %json\n",
        "start: %if x\n",
        "start: a::0\na::_: \"a\" %if false\n",
        "start: a::0\na::_: \"a\" %if and(true)\n",
        "start: a::0\na::_: \"a\" %if bit_set(64)\n",
        "start: a::0\na::_: \"a\" %if eq(2, 2)\n",
        "start: a::0\na::_: \"a\" %if eq([3:3], 2)\n",
        "start: a::0\na::_: \"a\" %if eq([0:65], 2)\n",
        "start: a::0\na::_: \"a\" %if bit_set(0) %if bit_set(1)\n",
        "start: a::0\na::_: \"a\" a::set_bit(64)\n",
        "start: a::0\na::_: \"a\" a::incr\n",
        "start: a::0\na::_: \"a\" a::shift(1)\n",
        "start: a::-1\na::_: \"a\"\n",
        "start: a::99999999999999999999\na::_: \"a\"\n",
        "start: a::0\na: \"a\"\n",
        "start: a\na::_: \"a\"\n",
        "start: a::0\na::x: \"a\"\n",
        "start: a::_\na::_: \"a\"\n",
        "start: \"a\" %if bit_set(0)\n",
        "start: A::0\nA::_: \"a\"\n",
        "start: A\nA: \"a\" %if true\n",
        "start: A\nA: a::0\na::_: \"a\"\n",
        "start: a::0\na::_[lazy]: /a+/\n",
        "start: a::0\na::_: \"a\"\na: \"b\"\n",
        "start: a::0\na::_: item \"a\" %if bit_set(0) | \"b\"\n",
        "start: \"a\"\na::_: item\n",
        "start: %regex {\"substring_words\": [\"a b\"]}\n",
        "start: %lark { item: \"a\" }\n",
        "start: %lark { start: \"a\"\n",
        "start.2: \"a\"\n",
        "start{a}: a\n",
        "start: a::0\n",
        "start::_: \"a\"\n",
        "start[stop_capture=\"x\"]: \"a\"\n",
        "start[stop_capture, stop=\"b\"]: \"a\"\n",
        "start[stop_capture=\"x\"i, stop=\"b\"]: \"a\"\n",
        "start[stop=\"b\", suffix=\"c\"]: \"a\"\n",
        "start[lazy, lazy]: \"a\"\n",
        "start[max_tokens=0]: \"a\"\n",
        "start[capture=5]: \"a\"\n",
        "start[temperature=\"hot\"]: \"a\"\n",
        "start[capture, stop=/b*a/]: \"a\"\n",
        "start[stop_capture=\"x\", stop=/b*a/]: \"a\"\n",
        "start[max_tokens=3, stop=/b*a/]: \"a\"\n",
        "start: /a/ & b\nb[capture]: \"a\"\n",
        "start[lasy]: \"a\"\n",
        "start[suffix=]: \"a\"\n",
        "start[suffix=\"\"]: \"a\"\n",
        "start[lazy]: item\nitem: \"a\"\n",
        "start: A\nA: <tool>\n",
        "start: A\nA: \"a\"\nA: \"b\"\n",
        "start: A\nA: ~A\n",
        "item: \"a\"\n",
        "",
        "%import python.NAME\nstart: \"a\"\n",
        "%import common.NAME\nstart: \"a\"\n",
        "%import common\nstart: \"a\"\n",
        "%declare A\nstart: \"a\"\n",
        "%override start: \"a\"\nstart: \"a\"\n",
        "%ignor A\nstart: \"a\"\n",
        "%json {}\nstart: \"a\"\n",
        "%grammar_options 5\nstart: \"a\"\n",
        "%grammar_options {\"x\": true}\nstart: \"a\"\n",
        "start: \"a\"\n  \"b\"\n",
    ] {
        let report = refused(source);
        assert!(report.contains("error: ") && report.contains("; "), "{source}{report}");
    }
    let source = "start.2: a\na: \"x\" | item::0x1\nb[stop_capture=\"e\"]: a\nA.12: \"y\"\n";
    let error = parse(source, &LarkOptions::default()).unwrap_err();
    assert_snapshot!(error.render(source, "grammar.lark", Color::Never), @r#"
    [lark/unsupported] Error: priorities are not supported: they choose among the terminals of a lexer, and here there is none; every way to read a text counts
       ╭─[ grammar.lark:1:7 ]
       │
     1 │ start.2: a
       │       ┬
       │       ╰── here
       │
       │ Help: leave the number out, and write `NAME: /[a-z]+/ & ~KEYWORD` where a terminal must not be another one
    ───╯

    [lark/undefined] Error: `item` is not defined
       ╭─[ grammar.lark:2:10 ]
       │
     2 │ a: "x" | item::0x1
       │          ──┬─
       │            ╰─── here
       │
       │ Help: define it (`item: ...`), or put it in double quotes if it is text
    ───╯

    [lark/attribute] Error: `stop_capture` hands out what `suffix` or `stop` has read, and this rule has neither
       ╭─[ grammar.lark:3:3 ]
       │
     3 │ b[stop_capture="e"]: a
       │   ──────┬─────
       │         ╰─────── here
       │
       │ Help: write `suffix="..."` beside it, or `capture` to hand out the rule's text
    ───╯

    [lark/unsupported] Error: priorities are not supported: they choose among the terminals of a lexer, and here there is none; every way to read a text counts
       ╭─[ grammar.lark:4:3 ]
       │
     4 │ A.12: "y"
       │   ─┬
       │    ╰── here
       │
       │ Help: leave the number out, and write `NAME: /[a-z]+/ & ~KEYWORD` where a terminal must not be another one
    ───╯
    "#);
    // Each is told once, at its place.
    for (source, wanted) in [
        ("start: _sep{\"a\", \",\"}\n_sep{x, s}: x (s x)*", "1:12: error: templates\n2:5: error: templates"),
        ("%override start: \"a\"", "1:1: error: imported definitions"),
        ("%extend start: \"a\"", "1:1: error: imported definitions"),
        ("%import unicode.L\nstart: L", "1:9: error: only the library"),
        ("%import common (L)\nstart: L", "1:17: error: the library `common`"),
        ("%declare X Y\nstart: X Y", "1:1: error: `%declare` names"),
        ("start: \"a\"?~2", "1:12: error: there is nothing before this to repeat"),
        ("start: ~ \"a\" ~", "1:14: error: nothing follows this `~`"),
        ("start: \"a\\nb\\x4g\"i", "1:13: error: the string is not written as JSON"),
        ("start: \"\\x41\\q\"", "1:13: error: the string is not written as JSON"),
        ("start: \"a\\u12\"", "1:10: error: the string is not written as JSON"),
        ("start: \"\t\"", "1:8: error: the string is not written as JSON"),
        ("start: %regex {\"substring\": \"a b\"}", "1:15: error: this directive takes"),
        ("start: \"a\" (\"b\"", "1:12: error: this `(` is not closed"),
        ("start ::= \"a\"", "1:7: error: a rule has one `:` behind its name"),
        ("start:\n  \"a\"\n  | \"b\"", "2:3: error: the body of a rule begins on the line"),
        ("start:\n  a\n  | b\na: \"x\"\nb: \"y\"", "2:3: error: the body of a rule begins on the line"),
        ("start[max_tokens: 5]: \"a\"", "1:17: error: this is no attribute"),
        ("start[max_tokens=5", "1:6: error: this `[` is not closed"),
        ("%import common.WS\nWS: \" \"\nstart: WS", "1:16: error: `WS` is defined in the grammar already"),
        ("start: /(ab\\b)*/", "1:12: error: the regular expression is refused: look-around and word"),
        ("start: /.[a-/s", "1:10: error: the regular expression is refused: this character class"),
        ("start[stop=/a(/, max_tokens=5]: /a/", "1:14: error: the regular expression is refused"),
        ("start[stop=/a(/, capture]: /a/", "1:14: error: the regular expression is refused"),
        ("start: /a/ig", "1:12: error: the flag `g` is not supported"),
        ("%llguidance {\"ignore_onc\": true}\nstart: \"a\"", "1:13: error: the option `ignore_onc` with"),
    ] {
        let report = refused(source);
        let lines: Vec<&str> = report.lines().collect();
        let wanted: Vec<&str> = wanted.lines().collect();
        assert_eq!(lines.len(), wanted.len(), "{source}\n{report}");
        for (line, wanted) in lines.iter().zip(wanted) {
            assert!(line.starts_with(wanted), "{source}\n{report}");
        }
    }
    check("start:\nfoo: \"a\"", &[""], &["a"]);
    check("%llguidance {\"ignore_once\": false, \"no_forcing\": true}\nstart: \"a\"", &["a"], &[""]);
    assert_snapshot!(refused("start: \"a\"\n  \"b\"\n"), @"2:3: error: a statement begins with the name of a rule or terminal, or with a directive; write `name: ...`; a line that goes on with the statement before begins with `|`");
    assert_snapshot!(refused("start: %json {\"properties\": {\"a\": {\"type\": \"objct\"}}}\n"), @"1:14: error: the schema is refused at `/properties/a/type`: `type` must be `null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a list of these; write such a value, or leave the keyword out");
    let unsupported =
        r#"start: %json {"type": "array", "items": {"pattern": "^[a-z]{3}$"}, "uniqueItems": true}"#;
    let refusal = parse(unsupported, &LarkOptions::default()).unwrap_err();
    assert_eq!(refusal.iter().map(|one| one.code()).collect::<Vec<_>>(), ["json-schema/unsupported"]);
    assert_snapshot!(refused("start: A\nA: ~A\n"), @"2:1: error: rule `A`: a complement is only defined for regular expressions, but its operand refers to rule `A`, which is recursive; write the operand without recursion");
}

#[test]
fn limits_are_kept() {
    let deep = format!("start: {}\"a\"{}", "(".repeat(300), ")".repeat(300));
    assert_snapshot!(refused(&deep), @"1:208: error: brackets nest more than 200 levels deep; give inner parts a rule of their own");
    let lists = "%lark { start: ".repeat(100_000);
    assert!(refused(&format!("start: {lists}")).contains("error: "));
    for hostile in ["~", "(", "\"a\"?", "[", "{", "a|", "<[", "%json ", "@", "/a", "start:", "!", "a->"] {
        let source = format!("start: {}", hostile.repeat(20_000));
        let _ = parse(&source, &LarkOptions::default());
    }
    let options = LarkOptions::default().limits(LarkLimits::default().tokens(3));
    assert_snapshot!(parse("start: \"a\" \"b\"", &options).unwrap_err(), @"error: the grammar has more than 3 names, literals and signs; shorten it or raise the limit `tokens`");
    let options = LarkOptions::default().limits(LarkLimits::default().ends(1));
    let source = "start: a b\na[stop=/x|y/, capture]: /.*/\nb[stop=/x/, max_tokens=3]: /.*/";
    assert_snapshot!(parse(source, &options).unwrap_err(), @"3:8: error: more than 1 rules say which part of their text is their end; end them with strings, or raise the limit `ends`");
    assert!(parse(source, &LarkOptions::default()).is_ok());
    let flags = format!("start: /a/{}", "s".repeat(1 << 20));
    assert!(parse(&flags, &LarkOptions::default()).is_ok());
}

/// Rules that carry a number are written out.
#[test]
fn rules_carry_numbers() {
    let each_once = r#"
        start: some::0x0 "."
        some::_: "" %if is_ones([0:3])
          | "a" some::set_bit(0) %if bit_clear(0)
          | "b" some::set_bit(1) %if bit_clear(1)
          | "c" some::set_bit(2) %if bit_clear(2)
    "#;
    check(each_once, &["abc.", "acb.", "bca.", "cba."], &["", ".", "ab.", "aab.", "abca.", "abcc."]);
    // A rule is there once for each number that is reached.
    assert_snapshot!(grammar("start: a::3 a::3\na::_[capture]: (/x/ a::decr(_) | <t>)\n  %if gt(_, 1) | \"\" -> b %if true\n"), @r#"
    root ::= start
    start ::= a a
    a[capture="a"] ::= ("x" a_3 | Token("<t>")) | ""
    a_3[capture="a"] ::= ("x" a_4 | Token("<t>")) | ""
    a_4[capture="a"] ::= [] | ""
    "#);
}

/// Each condition and each number that a reference can give, at both sides of its bounds. The values are those of
/// llguidance 1.9.1, as observed.
#[test]
fn numbers_and_conditions() {
    let all = "0xffffffffffffffff";
    for (number, condition, holds) in [
        ("2", "true", true),
        ("2", "not(true)", false),
        ("2", "bit_set(1)", true),
        ("2", "bit_set(0)", false),
        ("2", "bit_clear(1)", false),
        ("2", "bit_clear(63)", true),
        ("7", "is_ones([0:3])", true),
        ("7", "is_ones([0:4])", false),
        (all, "is_ones(_)", true),
        (all, "is_ones([0:64])", true),
        ("8", "is_zeros([0:3])", true),
        ("8", "is_zeros([0:4])", false),
        ("0", "is_zeros(_)", true),
        ("6", "eq([1:3], 3)", true),
        ("6", "eq([1:3], 0x6)", false),
        ("6", "ne(_, 6)", false),
        ("6", "ne(_, 5)", true),
        ("6", "lt(_, 6)", false),
        ("6", "lt(_, 7)", true),
        ("6", "le(_, 6)", true),
        ("6", "le(_, 5)", false),
        ("6", "gt(_, 6)", false),
        ("6", "gt(_, 5)", true),
        ("6", "ge(_, 6)", true),
        ("6", "ge(_, 7)", false),
        ("0b0", "true", false),
        ("6", "bit_count_eq([0:3], 2)", true),
        ("6", "bit_count_ne([0:3], 2)", false),
        ("6", "bit_count_lt([0:2], 2)", true),
        ("6", "bit_count_le(_, 1)", false),
        (all, "bit_count_gt(_, 63)", true),
        (all, "bit_count_ge([60:64], 5)", false),
        ("6", "and(bit_set(1), bit_set(2))", true),
        ("6", "and(bit_set(1), bit_set(0))", false),
        ("6", "or(bit_set(0), bit_set(1))", true),
        ("6", "or(bit_set(0), not(bit_set(1)))", false),
    ] {
        let source = format!("start: a::{number}\na::_: \"x\" %if {condition} | \"y\"\n");
        match number {
            "0b0" => assert!(refused(&source).contains("`b0` is not defined")),
            _ => assert_eq!(Recogniser::new(&grammar(&source)).accepts(b"x"), holds, "{source}"),
        }
    }
    for (number, argument, given) in [
        ("6", "_", "6"),
        ("6", "0X1f", "31"),
        ("6", "set_bit(0)", "7"),
        ("6", "set_bit(1)", "6"),
        ("6", "set_bit(63)", "0x8000000000000006"),
        ("6", "clear_bit(1)", "4"),
        ("6", "clear_bit(0)", "6"),
        ("6", "bit_and(0xb)", "2"),
        ("6", "bit_or(9)", "15"),
        ("255", "incr(_)", "256"),
        (all, "incr(_)", all),
        ("2", "incr([0:2])", "3"),
        ("3", "incr([0:2])", "3"),
        ("3", "incr([1:3])", "5"),
        ("6", "incr([1:3])", "6"),
        (all, "incr([0:64])", all),
        ("0", "decr(_)", "0"),
        (all, "decr(_)", "0xfffffffffffffffe"),
        ("6", "decr([1:3])", "4"),
        ("1", "decr([1:3])", "1"),
        (all, "decr([1:3])", "0xfffffffffffffffd"),
    ] {
        let source = format!("start: a::{number}\na::_: b::{argument}\nb::_: \"x\" %if eq(_, {given})\n");
        check(&source, &["x"], &[]);
    }
    assert_snapshot!(refused("start: a::0\na::_: \"a\" a::incr([3:3])\n"), @"2:19: error: these are no bits of a number; write `_` for all bits, or `[0:3]` for the bits 0, 1 and 2; there are 64");
    assert_snapshot!(refused("start: a::0\na::_: \"a\" %if lt(_ 3)\n"), @"2:20: error: a `,` is missing; write as in `lt([0:3], 5)`");
    assert_snapshot!(refused("start: a::0\na::_: b %if bit_set(0)\nb: a::_\n"), @"3:4: error: this depends on a number, and the rule carries none; write a number, as in `item::0x0`, or let the rule carry one: `name::_: ...`");
    assert_snapshot!(refused("start::_: \"a\"\n"), @"1:1: error: the text begins with this rule, and nothing gives it the number that it carries; begin with a rule that does: `start: item::0x0`");
    // The work is bounded, and a condition that ends it need not be reached.
    assert_snapshot!(refused("start: a::0\na::_: \"a\"\n  | \"b\" a::incr(_)\n"), @"3:9: error: rules that carry a number are written out for each number, with more than 2000000 parts; let fewer numbers be reached, with a condition on this reference, or raise the limit `tokens`");
    let nested = format!("start: a::0\na::_: \"a\" %if {}true{}\n", "not(".repeat(300), ")".repeat(300));
    assert_snapshot!(refused(&nested), @"2:818: error: brackets nest too deep; give inner parts a rule of their own");
}

/// Lazy rules take over from the texts of rules that carry a number, too.
#[test]
fn rules_that_carry_numbers_lose_texts() {
    let source = "start: calls::0\ncalls::_: call calls::set_bit(0) | TEXT %if bit_set(0)\ncall[lazy]: /[a-z]*!/\nTEXT: /[a-z!]*/\n";
    check(source, &["a!", "a!b", "a!b!c", "!!!!"], &["", "ab", "a! ", "a.b"]);
    // Where no call may begin any more, a text may be all.
    check(&source.replace(" | ", " %if bit_clear(0) | "), &["a!", "!a!b!"], &["", "ab", "a! "]);
    // With two calls at most, no place tells whether another one may begin; rules written out by hand are refused, too.
    let source = source.replace("set_bit(0) | TEXT %if bit_set(0)", "incr(_) %if lt(_, 2) | TEXT");
    assert!(refused(&source).contains("begins in other places, too"));
}

/// The pattern by which free text and calls stand side by side in such grammars.
const CALLS: &str = r#"
start: call* rest
call: head body
head[lazy]: TEXT "<tool_call>"
body: %json {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}
rest: TEXT
TEXT: /(.|\n)*/
"#;

#[test]
fn lazy_rules_commit() {
    let sentences =
        ["", "text <tool_cal", "<tool_call>{\"a\": 1}", "x<tool_call>{\"a\": 1}\ny<tool_call>{\"a\": 2} z"];
    let others =
        ["<tool_call>", "x<tool_call>y", "<tool_call>{\"a\": true}", "<tool_call>{\"a\": 1}<tool_call>"];
    check(CALLS, &sentences, &others);
    // As a choice, with two kinds of calls, with a stop in place of the lazy rule, and with skipped text.
    let choice = "start: (call | REST)\ncall: head NUMBER\nhead[lazy]: TEXT \"<n>\"\nREST: TEXT\nTEXT: /(.|\\n)*/\nNUMBER: /[0-9]+/\n";
    check(choice, &["", "x", "a<n>17"], &["a<n>", "<n>x", "<n>1<n>2x"]);
    let two = "start: (a | b)* rest\na: at /[0-9]/\nb: bt /[a-z]/\nat[lazy]: TEXT \"<a>\"\nbt[lazy]: TEXT \"<b>\"\nrest: TEXT\nTEXT: /(.|\\n)*/\n";
    check(two, &["", "<a>1<b>x", "-<b>y-<a>2-"], &["<a>x", "<b>1", "<a>1<a>", "<b><a>1"]);
    let stop =
        "start: (text call)* rest\ntext[stop=\"<n>\"]: TEXT\ncall: /[0-9]/\nrest: TEXT\nTEXT: /(.|\\n)*/\n";
    check(stop, &["", "a<n>1", "a<n>1b<n>2c"], &["<n>x", "<n>1<n>"]);
    let skipped = "start: (head NUMBER)* rest\nhead[lazy]: /[a-z .]*:/\nrest: /[a-z:.]*/\nNUMBER: /[0-9]+/\n%ignore / +/\n";
    check(skipped, &["ab", "a: 12 c: 3 dd", "a:  12"], &["ab: x", "a:12 b:", "a:b"]);
}

/// Tools that each have a mark of their own.
#[test]
fn many_lazy_rules_commit() {
    let tools = |write: &dyn Fn(u32) -> String| (0..40).map(write).collect::<Vec<String>>();
    let names = tools(&|tool| format!("t{tool}")).join(" | ");
    let whole = |tool| format!("t{tool}[suffix=\"</f>\"]: \"<f=get_the_weather_{tool}>\" /(.|\\n)*/\n");
    let source = format!("start: (TXT | {names})*\nTXT: /[^<]+/\n{}", tools(&whole).concat());
    let [one, open] = ["<f=get_the_weather_7>a</f>", "<f=get_the_weather_7>a</f"];
    check(&source, &[one, &format!("text {one} {one}")], &[open, "<f=get_the_weather_40>a</f>"]);
    let head = |tool| {
        format!(
            "t{tool}: h{tool} %json {{\"type\": \"integer\"}}\nh{tool}[lazy]: TEXT \"<f=get_the_weather_{tool}>\"\n"
        )
    };
    let source = format!("start: ({names})* TEXT\nTEXT: /(.|\\n)*/\n{}", tools(&head).concat());
    let (one, other) = ("<f=get_the_weather_3>1", "x<f=get_the_weather_31>2");
    check(&source, &["", &format!("{one}{other} y")], &[&format!("{one}<f=get_the_weather_1>")]);
}

#[test]
fn lazy_rules_that_cannot_commit_are_refused() {
    // A terminal reads one character at a time, so that no terminal contains the texts to remove.
    assert_snapshot!(refused("start: head* CHAR*\nhead[lazy]: CHAR* \"<n>\" /[0-9]/\nCHAR: /(.|\\n)/\n"), @r#"1:14: error: the lazy rule `head` takes the text as soon as it matches, but `CHAR`, which may begin where it does, reads texts that cannot be taken from it; let other text stand in one terminal that ends the rule, as in `start: call* rest`, or leave its texts out of it with `& ~`"#);
    // The rest may also follow a word, and no call may begin there.
    assert_snapshot!(refused("start: head | rest | WORD \";\" rest\nrest: TEXT\nhead[lazy]: TEXT \"<n>\"\nWORD: /[0-9]/\nTEXT: /(.|\\n)*/\n"), @r#"2:7: error: the lazy rule `head` takes the text as soon as it matches, but `TEXT`, which may begin where it does, begins in other places, too; let other text stand in one terminal that ends the rule, as in `start: call* rest`, or leave its texts out of it with `& ~`"#);
    // A call may stand twice at most.
    assert_snapshot!(refused("start: head{0,2} rest\nrest: TEXT\nhead[lazy]: TEXT \"<n>\"\nTEXT: /(.|\\n)*/\n"), @r#"2:7: error: the lazy rule `head` takes the text as soon as it matches, but `TEXT`, which may begin where it does, begins in other places, too; let other text stand in one terminal that ends the rule, as in `start: call* rest`, or leave its texts out of it with `& ~`"#);
    assert_snapshot!(refused("start: head | %json {}\nhead[lazy]: TEXT \"<n>\"\nTEXT: /(.|\\n)*/\n"), @r#"1:21: error: the lazy rule `head` takes the text as soon as it matches, but `{}`, which may begin where it does, reads texts that cannot be taken from it; let other text stand in one terminal that ends the rule, as in `start: call* rest`, or leave its texts out of it with `& ~`"#);
    // Another text follows the rule at each of its places, and other text leads to the second one.
    for source in [
        "start: think \"ok\" | \"<t>\" think \"no\"\nthink[suffix=\"</t>\"]: /(.|\\n)*/\n",
        "start: x \"e\" | \"a\" x \"f\"\nx[suffix=\"c\"]: /[ab]*/\n",
        "start: \"b\"? \"b\" x \"c\"\nx[lazy]: \"b\"\n",
    ] {
        assert!(refused(source).contains("takes the text as soon as it matches"), "{source}");
    }
    assert_snapshot!(refused("start: x \"b\" | /b+/\nx[lazy]: /b*/\n"), @r#"2:1: error: the lazy rule `x` may be empty, so it ends before it has read anything; let it read at least one character (`+` in place of `*`), or say by `suffix="..."` where it ends"#);
    assert_snapshot!(refused("start: (x ~\"1\")+\nx[suffix=\"aab\"]: /[ab]*/\n"), @"2:1: error: the lazy rule `x` takes the text as soon as it matches, but a terminal made of `&` or `~`, which may begin where it does, and what follows it read such texts together; let other text stand in one terminal that ends the rule, as in `start: call* rest`, or leave its texts out of it with `& ~`");
    assert_snapshot!(refused("start: (x | \"b\")*\nx[lazy]: \"  b\"\n%ignore \" \"\n"), @"2:1: error: the lazy rule `x` takes the text as soon as it matches, but the text of `%ignore`, which may begin where it does, reads texts that cannot be taken from it; let other text stand in one terminal that ends the rule, as in `start: call* rest`, or leave its texts out of it with `& ~`");
    // Skipped text that the lazy rule does not begin with is in nobody's way.
    check("start: x \".\" x*\nx[lazy]: /[ab]+;/\n%ignore \" \"\n", &["a; .", "a;.b; a; "], &["a;.b"]);
    // Where nothing is shared, nothing is lost.
    check("start: head | %json {\"type\": \"integer\"}\nhead[lazy]: \"<n>\"\n", &["<n>", "17"], &["<n>1"]);
    check(
        "start: (head | WORD)*\nhead[lazy]: /[^<]*/ \"<n>\"\nWORD: /[^<]+/\n",
        &["", "ab<n>c"],
        &["<", "a<n"],
    );
}
