//! What sources in Lark's notation mean, and what is said of broken ones.

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
        "start: %regex {\"substring_words\": \"a b\"}\n",
        "start: %lark { item: \"a\" }\n",
        "start: %lark { start: \"a\"\n",
        "start.2: \"a\"\n",
        "start{a}: a\n",
        "start[max_tokens=0]: \"a\"\n",
        "start[capture=5]: \"a\"\n",
        "start[temperature=\"hot\"]: \"a\"\n",
        "start[stop_capture=\"x\", stop=\"b\"]: \"a\"\n",
        "start[capture, stop=/b/]: \"a\"\n",
        "start[max_tokens=3, suffix=\"b\"]: \"a\"\n",
        "start: /a/ & b\nb[capture]: \"a\"\n",
        "start[lasy]: \"a\"\n",
        "start[suffix=]: \"a\"\n",
        "start[suffix=\"\"]: \"a\"\n",
        "start[suffix=\"a\", max_chars=3]: \"a\"\n",
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
    assert_snapshot!(refused("start: \"a\"\n  \"b\"\n"), @"2:3: error: a statement begins with the name of a rule or terminal, or with a directive; write `name: ...`; a line that goes on with the statement before begins with `|`");
    assert_snapshot!(refused("start: %json {\"properties\": {\"a\": {\"type\": \"objct\"}}}\n"), @"1:14: error: the schema is refused at `/properties/a/type`: `type` must be `null`, `boolean`, `number`, `integer`, `string`, `array`, `object`, or a list of these; write such a value, or leave the keyword out");
    assert_snapshot!(refused("start: A\nA: ~A\n"), @"2:1: error: rule `A`: a complement is only defined for regular expressions, but its operand refers to rule `A`, which is recursive; write the operand without recursion");
}

#[test]
fn limits_are_kept() {
    let deep = format!("start: {}\"a\"{}", "(".repeat(300), ")".repeat(300));
    assert_snapshot!(refused(&deep), @r"
    1:1: error: there is no rule `start`; name the rule that the text begins with `start`
    1:208: error: brackets nest more than 200 levels deep; give inner parts a rule of their own
    ");
    let lists = "%lark { start: ".repeat(100_000);
    assert!(refused(&format!("start: {lists}")).contains("error: "));
    for hostile in ["~", "(", "\"a\"?", "[", "{", "a|", "<[", "%json ", "@", "/a", "start:", "!", "a->"] {
        let source = format!("start: {}", hostile.repeat(20_000));
        let _ = parse(&source, &LarkOptions::default());
    }
    let options =
        LarkOptions { limits: LarkLimits { tokens: 3, ..LarkLimits::default() }, ..LarkOptions::default() };
    assert_snapshot!(parse("start: \"a\" \"b\"", &options).unwrap_err(), @"error: the grammar has more than 3 names, literals and signs; shorten it or raise the limit `tokens`");
}
