//! Messages for people. Each report shows the place and says what to write instead.

use grammask_grammar_frontends::regex::{Matching, RegexOptions};
use grammask_grammar_frontends::{Color, ebnf, gbnf, regex};
use insta::assert_snapshot;

fn ebnf(source: &str) -> String {
    let error = ebnf::parse(source, &ebnf::EbnfOptions::default()).unwrap_err();
    error.render(source, "grammar.ebnf", Color::Never)
}

fn gbnf(source: &str) -> String {
    let error = gbnf::parse(source, &ebnf::EbnfOptions::default()).unwrap_err();
    error.render(source, "grammar.gbnf", Color::Never)
}

/// Options are written before `::=`. After a name they are no class of their letters.
#[test]
fn options_in_a_body() {
    let error =
        ebnf::parse("root ::= x[capture] \"a\"\nx ::= \"b\"", &ebnf::EbnfOptions::default()).unwrap_err();
    assert_snapshot!(error, @"1:11: error: `[capture]` reads as options, which a rule has where it is defined; write `name[capture] ::= ...` there; for a class, write its characters in another order");
    for options in ["lazy", " capture = \"n\" ", "max_tokens=3", "temperature=0.7, lazy", "distinct=items"] {
        for source in
            [format!("root ::= x[{options}]\nx ::= \"b\""), format!("root ::= x [{options}]\nx ::= \"b\"")]
        {
            let error = ebnf::parse(&source, &ebnf::EbnfOptions::default()).unwrap_err();
            assert_eq!(error.iter().next().map(|one| one.code()), Some("ebnf/rule-options"), "{source}");
        }
    }
    for class in ["x[a-z]", "x[alyz]", "x[lazy bones]", "\"b\"[lazy]", "x[capture-z]", "x[lazy?]"] {
        let source = format!("root ::= {class}\nx ::= \"b\"");
        assert!(ebnf::parse(&source, &ebnf::EbnfOptions::default()).is_ok(), "{source}");
    }
    let gbnf_source = "root ::= x[lazy]\nx ::= \"b\"";
    assert!(gbnf::parse(gbnf_source, &ebnf::EbnfOptions::default()).is_ok());
}

#[test]
fn rules() {
    assert_snapshot!(ebnf("root ::= \"a\" itme\nitem ::= \"b\""), @r#"
    [ebnf/undefined-rule] Error: rule `itme` is not defined
       ╭─[ grammar.ebnf:1:14 ]
       │
     1 │ root ::= "a" itme
       │              ──┬─
       │                ╰─── no rule has this name
       │
       │ Help: did you mean `item`?
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= a\na ::= \"a\"\nb ::= \"b\"\n\na ::= \"c\""), @r#"
    [ebnf/duplicate-rule] Error: rule `a` is defined twice
       ╭─[ grammar.ebnf:5:1 ]
       │
     2 │ a ::= "a"
       │ ┬
       │ ╰── first defined here
       │
     5 │ a ::= "c"
       │ ┬
       │ ╰── defined again here
       │
       │ Help: rename one of the two, or join them with `|`
    ───╯
    "#);
    assert_snapshot!(ebnf("Root ::= \"a\""), @r#"
    [ebnf/missing-root] Error: there is no rule `root` to start from
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ Root ::= "a"
       │ ──┬─
       │   ╰─── the first rule is this one
       │
       │ Help: did you mean `Root`? name it `root`, or say that it is the root
    ───╯
    "#);
    assert_snapshot!(ebnf(""), @r"
    [ebnf/missing-root] Error: there is no rule `root` to start from
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │
       │ ┬
       │ ╰── no rules
       │
       │ Help: name the start rule `root`, or say which rule is the root
    ───╯
    ");
    assert_snapshot!(ebnf("root ::= \"a\" b ::= \"b\""), @r#"
    [ebnf/rule] Error: the rule `b` does not start on a line of its own
       ╭─[ grammar.ebnf:1:14 ]
       │
     1 │ root ::= "a" b ::= "b"
       │              ┬
       │              ╰── here
       │
       │ Help: put a line break before it
    ───╯
    "#);
    assert_snapshot!(ebnf("root = \"a\""), @r#"
    [ebnf/rule] Error: `=` is not how a rule's name and body are joined
       ╭─[ grammar.ebnf:1:6 ]
       │
     1 │ root = "a"
       │      ┬
       │      ╰── here
       │
       │ Help: write `name ::= body`
    ───╯
    "#);
    assert_snapshot!(ebnf("\"a\"\nroot ::= \"a\""), @r#"
    [ebnf/rule] Error: `"a"` stands before the first rule
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ "a"
       │ ─┬─
       │  ╰─── here
       │
       │ Help: start with a rule: `root ::= ...`
    ───╯
    "#);
    assert_snapshot!(ebnf("root[max_token=5] ::= a\na[lazy, lazy] ::= b\nb[temperature=-1] ::= \"a\""), @r#"
    [ebnf/rule-options] Error: there is no option `max_token`
       ╭─[ grammar.ebnf:1:6 ]
       │
     1 │ root[max_token=5] ::= a
       │      ────┬────
       │          ╰────── here
       │
       │ Help: the options are max_tokens, max_chars, lazy, capture, stop_capture, temperature and distinct, with commas between
    ───╯

    [ebnf/rule-options] Error: the option `lazy` stands there twice
       ╭─[ grammar.ebnf:2:9 ]
       │
     2 │ a[lazy, lazy] ::= b
       │         ──┬─
       │           ╰─── here
       │
       │ Help: leave one out
    ───╯

    [ebnf/rule-options] Error: this option has another kind of value
       ╭─[ grammar.ebnf:3:15 ]
       │
     3 │ b[temperature=-1] ::= "a"
       │               ─┬
       │                ╰── here
       │
       │ Help: write `max_tokens=100` (from 1 on), `max_chars=100`, `lazy`, `capture`, `capture="name"`, `stop_capture="name", stop_capture_bytes=8`, `temperature=0.7`, `distinct=items` or `distinct=names`
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= 1st\n1st ::= \"a\""), @r#"
    [ebnf/name] Error: the name `1st` starts with a digit
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= 1st
       │          ─┬─
       │           ╰─── here
       │
       │ Help: start it with a letter or `_`
    ───╯

    [ebnf/name] Error: the name `1st` starts with a digit
       ╭─[ grammar.ebnf:2:1 ]
       │
     2 │ 1st ::= "a"
       │ ─┬─
       │  ╰─── here
       │
       │ Help: start it with a letter or `_`
    ───╯
    "#);
}

#[test]
fn literals() {
    assert_snapshot!(ebnf(r#"root ::= "a\q""#), @r#"
    [ebnf/escape] Error: there is no escape `\q`
       ╭─[ grammar.ebnf:1:12 ]
       │
     1 │ root ::= "a\q"
       │            ─┬
       │             ╰── here
       │
       │ Help: the escapes are \" \' \? \\ \/ \a \b \f \n \r \t \v \0 \e \xH... \uHHHH \UHHHHHHHH
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= "\u12" "\xg" "\ud83d""#), @r#"
    [ebnf/escape] Error: the escape `\u12` lacks hexadecimal digits
       ╭─[ grammar.ebnf:1:11 ]
       │
     1 │ root ::= "\u12" "\xg" "\ud83d"
       │           ──┬─
       │             ╰─── here
       │
       │ Help: write \xHH, \uHHHH (four digits) or \UHHHHHHHH (eight digits)
    ───╯

    [ebnf/escape] Error: the escape `\x` lacks hexadecimal digits
       ╭─[ grammar.ebnf:1:18 ]
       │
     1 │ root ::= "\u12" "\xg" "\ud83d"
       │                  ─┬
       │                   ╰── here
       │
       │ Help: write \xHH, \uHHHH (four digits) or \UHHHHHHHH (eight digits)
    ───╯

    [ebnf/escape] Error: the escape `\ud83d` names no character
       ╭─[ grammar.ebnf:1:24 ]
       │
     1 │ root ::= "\u12" "\xg" "\ud83d"
       │                        ───┬──
       │                           ╰──── here
       │
       │ Help: characters are 0 to D7FF and E000 to 10FFFF; write \U0001F600 in place of a surrogate pair
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= \"a | b\nb ::= \"x\""), @r#"
    [ebnf/string] Error: this string is not closed
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= "a | b
       │          ┬
       │          ╰── here
       │
       │ Help: add a `"`; line breaks inside are written `\n`
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= [a-z\n"), @r#"
    [ebnf/unclosed-class] Error: this character class is not closed
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= [a-z
       │          ┬
       │          ╰── here
       │
       │ Help: add a `]` on the same line, or write `"["` for the character
    ───╯
    "#);
    assert_snapshot!(ebnf(r"root ::= [z-a] [\d]"), @r"
    [ebnf/class] Error: the range `z-a` starts after its end
       ╭─[ grammar.ebnf:1:11 ]
       │
     1 │ root ::= [z-a] [\d]
       │           ─┬─
       │            ╰─── here
       │
       │ Help: swap the two characters, or put `-` first or last for a dash
    ───╯

    [ebnf/class] Error: the class escape `\d` is not supported in this dialect
       ╭─[ grammar.ebnf:1:17 ]
       │
     1 │ root ::= [z-a] [\d]
       │                 ─┬
       │                  ╰── here
       │
       │ Help: write the characters, such as `0-9` for \d and `0-9A-Za-z_` for \w
    ───╯
    ");
    assert_snapshot!(ebnf(r#"root ::= Bytes("\xf" "é")"#), @r#"
    [ebnf/escape] Error: `\xf` does not stand for one byte
       ╭─[ grammar.ebnf:1:17 ]
       │
     1 │ root ::= Bytes("\xf" "é")
       │                 ─┬─
       │                  ╰─── here
       │
       │ Help: write each byte as itself (ASCII) or as `\xHH`, two digits
    ───╯

    [ebnf/unexpected] Error: `"é"` cannot stand here
       ╭─[ grammar.ebnf:1:22 ]
       │
     1 │ root ::= Bytes("\xf" "é")
       │                      ─┬─
       │                       ╰─── here
       │
       │ Help: expected a string, a character class, a rule's name, a group or `|`
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= 'a'"), @r#"
    [ebnf/string] Error: `'a'` stands in quotes of another language
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= 'a'
       │          ─┬─
       │           ╰─── here
       │
       │ Help: strings stand in double quotes: `"text"`
    ───╯
    "#);
}

#[test]
fn structure() {
    assert_snapshot!(ebnf("root ::= (\"a\" | \"b\"\nb ::= \"b\""), @r#"
    [ebnf/group] Error: this parenthesis is not closed
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= ("a" | "b"
       │          ┬
       │          ╰── here
       │
       │ Help: add a `)` before the next rule
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= \"a\" ) \"b\""), @r#"
    [ebnf/group] Error: this `)` closes nothing
       ╭─[ grammar.ebnf:1:14 ]
       │
     1 │ root ::= "a" ) "b"
       │              ┬
       │              ╰── here
       │
       │ Help: leave it out, or add a `(` before it
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= \"a\"++ | * \"b\""), @r#"
    [ebnf/quantifier] Error: the repeat `+` stands directly after a repeat
       ╭─[ grammar.ebnf:1:14 ]
       │
     1 │ root ::= "a"++ | * "b"
       │              ┬
       │              ╰── here
       │
       │ Help: put what is before it in parentheses: `(a+)*`
    ───╯

    [ebnf/quantifier] Error: there is nothing before the repeat `*`
       ╭─[ grammar.ebnf:1:18 ]
       │
     1 │ root ::= "a"++ | * "b"
       │                  ┬
       │                  ╰── here
       │
       │ Help: put it after what it repeats, or write `"*"` for the characters
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= \"a\"{3,1} \"b\"{,2} \"c\"{x} \"d\"{99999999999} \"e\"{1"), @r#"
    [ebnf/quantifier] Error: the repeat `{3,1}` has a least number greater than its greatest
       ╭─[ grammar.ebnf:1:13 ]
       │
     1 │ root ::= "a"{3,1} "b"{,2} "c"{x} "d"{99999999999} "e"{1
       │             ──┬──
       │               ╰──── here
       │
       │ Help: swap the two numbers
    ───╯

    [ebnf/quantifier] Error: this repeat has no least number
       ╭─[ grammar.ebnf:1:22 ]
       │
     1 │ root ::= "a"{3,1} "b"{,2} "c"{x} "d"{99999999999} "e"{1
       │                      ──┬─
       │                        ╰─── here
       │
       │ Help: write it out: `{0,m}` for at most m times
    ───╯

    [ebnf/quantifier] Error: this is not a number of repeats
       ╭─[ grammar.ebnf:1:30 ]
       │
     1 │ root ::= "a"{3,1} "b"{,2} "c"{x} "d"{99999999999} "e"{1
       │                              ─┬─
       │                               ╰─── here
       │
       │ Help: write `{n}`, `{n,}` or `{n,m}`
    ───╯

    [ebnf/quantifier] Error: the number 99999999999 is too large
       ╭─[ grammar.ebnf:1:38 ]
       │
     1 │ root ::= "a"{3,1} "b"{,2} "c"{x} "d"{99999999999} "e"{1
       │                                      ─────┬─────
       │                                           ╰─────── here
       │
       │ Help: write at most 4294967295, or leave the bound out: `{n,}`
    ───╯

    [ebnf/quantifier] Error: this is not a number of repeats
       ╭─[ grammar.ebnf:1:54 ]
       │
     1 │ root ::= "a"{3,1} "b"{,2} "c"{x} "d"{99999999999} "e"{1
       │                                                      ─┬
       │                                                       ╰── here
       │
       │ Help: write `{n}`, `{n,}` or `{n,m}`
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= \"a\" |"), @r#"
    [ebnf/empty-alternative] Error: there is nothing here to match
       ╭─[ grammar.ebnf:1:15 ]
       │
     1 │ root ::= "a" |
       │               ┬
       │               ╰── here
       │
       │ Help: write `""` for the empty text
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= TagDispatch((\"<a>\", \"b\", root)) Token() Regex(\"a\")"), @r#"
    [ebnf/macro] Error: these are not the arguments of this macro
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= TagDispatch(("<a>", "b", root)) Token() Regex("a")
       │          ─────┬─────
       │               ╰─────── here
       │
       │ Help: write `TagDispatch(("tag", e), loop_after_dispatch=true, excludes=("s",))`; tags are not empty
    ───╯

    [ebnf/macro] Error: these are not the arguments of this macro
       ╭─[ grammar.ebnf:1:42 ]
       │
     1 │ root ::= TagDispatch(("<a>", "b", root)) Token() Regex("a")
       │                                          ──┬──
       │                                            ╰──── here
       │
       │ Help: write `Token(5, "<name>")`: ids and names of tokens
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= Regex(\"a(\") Regex(\"a\", flags=\"x\") Substring(5)"), @r#"
    [regex/syntax] Error: the regular expression is refused: this group is not closed
       ╭─[ grammar.ebnf:1:16 ]
       │
     1 │ root ::= Regex("a(") Regex("a", flags="x") Substring(5)
       │          ──┬── ──┬─
       │            ╰───────── in this macro
       │                  │
       │                  ╰─── here
       │
       │ Help: add a `)`, or write `\(`
    ───╯

    [ebnf/macro] Error: these are not the arguments of this macro
       ╭─[ grammar.ebnf:1:22 ]
       │
     1 │ root ::= Regex("a(") Regex("a", flags="x") Substring(5)
       │                      ──┬──
       │                        ╰──── here
       │
       │ Help: write `Regex("pattern", flags="is", json_string=true)`; the flags are i (case), s (`.` is any character) and u
    ───╯

    [ebnf/macro] Error: these are not the arguments of this macro
       ╭─[ grammar.ebnf:1:44 ]
       │
     1 │ root ::= Regex("a(") Regex("a", flags="x") Substring(5)
       │                                            ────┬────
       │                                                ╰────── here
       │
       │ Help: write `Substring("chunk", "chunk")`: strings
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= Complement(\"a\", \"b\") Intersection() Bytes(root)"), @r#"
    [ebnf/macro] Error: these are not the arguments of this macro
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= Complement("a", "b") Intersection() Bytes(root)
       │          ─────┬────
       │               ╰────── here
       │
       │ Help: write `Intersection(e, e)`, `Complement(e)`, `JsonEscaped(e)`, `JsonPrinted(e)`, `JsonNeeded(e)`, `JsonAscii(e)` or `Bytes("..")`
    ───╯

    [ebnf/empty-alternative] Error: there is nothing here to match
       ╭─[ grammar.ebnf:1:44 ]
       │
     1 │ root ::= Complement("a", "b") Intersection() Bytes(root)
       │                                            ┬
       │                                            ╰── here
       │
       │ Help: write `""` for the empty text
    ───╯

    [ebnf/macro] Error: these are not the arguments of this macro
       ╭─[ grammar.ebnf:1:46 ]
       │
     1 │ root ::= Complement("a", "b") Intersection() Bytes(root)
       │                                              ──┬──
       │                                                ╰──── here
       │
       │ Help: write `Intersection(e, e)`, `Complement(e)`, `JsonEscaped(e)`, `JsonPrinted(e)`, `JsonNeeded(e)`, `JsonAscii(e)` or `Bytes("..")`
    ───╯

    [ebnf/unexpected] Error: `root` cannot stand here
       ╭─[ grammar.ebnf:1:52 ]
       │
     1 │ root ::= Complement("a", "b") Intersection() Bytes(root)
       │                                                    ──┬─
       │                                                      ╰─── here
       │
       │ Help: expected a string, a character class, a rule's name, a group or `|`
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= \"a\" (=\"b\" | \"c\")"), @r#"
    [ebnf/lookahead] Error: alternatives in a lookahead are not supported
       ╭─[ grammar.ebnf:1:14 ]
       │
     1 │ root ::= "a" (="b" | "c")
       │              ─┬
       │               ╰── here
       │
       │ Help: put them in parentheses: `(=("a" | "b"))`
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= \"a\" (=\"b\") \"c\""), @r#"
    [ebnf/lookahead] Error: a lookahead `(=...)` stands only once, at the end of a rule
       ╭─[ grammar.ebnf:1:21 ]
       │
     1 │ root ::= "a" (="b") "c"
       │                     ─┬─
       │                      ╰─── here
       │
       │ Help: move it to the end of the rule, or leave it out; it is computed anyway
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= Complement(root) | \"a\""), @r#"
    [grammar] Error: rule `root`: a complement is only defined for regular expressions, but its operand refers to rule `root`, which is recursive; write the operand without recursion
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ root ::= Complement(root) | "a"
       │ ──┬─
       │   ╰─── here
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= \"a\" , 5 } \"b\""), @r#"
    [ebnf/unexpected] Error: `,` cannot stand here
       ╭─[ grammar.ebnf:1:14 ]
       │
     1 │ root ::= "a" , 5 } "b"
       │              ┬
       │              ╰── here
       │
       │ Help: expected a string, a character class, a rule's name, a group or `|`
    ───╯

    [ebnf/unexpected] Error: `5` cannot stand here
       ╭─[ grammar.ebnf:1:16 ]
       │
     1 │ root ::= "a" , 5 } "b"
       │                ┬
       │                ╰── here
       │
       │ Help: expected a string, a character class, a rule's name, a group or `|`
    ───╯

    [ebnf/unexpected] Error: `}` cannot stand here
       ╭─[ grammar.ebnf:1:18 ]
       │
     1 │ root ::= "a" , 5 } "b"
       │                  ┬
       │                  ╰── here
       │
       │ Help: expected a string, a character class, a rule's name, a group or `|`
    ───╯
    "#);
}

#[test]
fn several_at_once() {
    assert_snapshot!(ebnf("root ::= a \"\\q\" | (b\na ::= \"a\"+* c\na ::= [z-a"), @r#"
    [ebnf/escape] Error: there is no escape `\q`
       ╭─[ grammar.ebnf:1:13 ]
       │
     1 │ root ::= a "\q" | (b
       │             ─┬
       │              ╰── here
       │
       │ Help: the escapes are \" \' \? \\ \/ \a \b \f \n \r \t \v \0 \e \xH... \uHHHH \UHHHHHHHH
    ───╯

    [ebnf/group] Error: this parenthesis is not closed
       ╭─[ grammar.ebnf:1:19 ]
       │
     1 │ root ::= a "\q" | (b
       │                   ┬
       │                   ╰── here
       │
       │ Help: add a `)` before the next rule
    ───╯

    [ebnf/undefined-rule] Error: rule `b` is not defined
       ╭─[ grammar.ebnf:1:20 ]
       │
     1 │ root ::= a "\q" | (b
       │                    ┬
       │                    ╰── no rule has this name
       │
       │ Help: define it (`b ::= ...`), or put it in double quotes if it is text
    ───╯

    [ebnf/quantifier] Error: the repeat `*` stands directly after a repeat
       ╭─[ grammar.ebnf:2:11 ]
       │
     2 │ a ::= "a"+* c
       │           ┬
       │           ╰── here
       │
       │ Help: put what is before it in parentheses: `(a+)*`
    ───╯

    [ebnf/undefined-rule] Error: rule `c` is not defined
       ╭─[ grammar.ebnf:2:13 ]
       │
     2 │ a ::= "a"+* c
       │             ┬
       │             ╰── no rule has this name
       │
       │ Help: define it (`c ::= ...`), or put it in double quotes if it is text
    ───╯

    [ebnf/duplicate-rule] Error: rule `a` is defined twice
       ╭─[ grammar.ebnf:3:1 ]
       │
     2 │ a ::= "a"+* c
       │ ┬
       │ ╰── first defined here
     3 │ a ::= [z-a
       │ ┬
       │ ╰── defined again here
       │
       │ Help: rename one of the two, or join them with `|`
    ───╯

    [ebnf/unclosed-class] Error: this character class is not closed
       ╭─[ grammar.ebnf:3:7 ]
       │
     3 │ a ::= [z-a
       │       ┬
       │       ╰── here
       │
       │ Help: add a `]` on the same line, or write `"["` for the character
    ───╯
    "#);
}

#[test]
fn gbnf_reports() {
    assert_snapshot!(gbnf("root ::= \"a\"\n  \"b\"\nb ::= \"c\""), @r#"
    [gbnf/line] Error: the rule ended with its line, and `"b"` starts no new one
       ╭─[ grammar.gbnf:2:3 ]
       │
     2 │   "b"
       │   ─┬─
       │    ╰─── here
       │
       │ Help: continue a rule inside parentheses or after `|`, or write `name ::=`
    ───╯
    "#);
    assert_snapshot!(gbnf("root ::= <think> [^<]* !<[1000]>"), @r"
    [gbnf/token] Error: token terminals such as `<think>` are not supported in this dialect
       ╭─[ grammar.gbnf:1:10 ]
       │
     1 │ root ::= <think> [^<]* !<[1000]>
       │          ───┬───
       │             ╰───── here
       │
       │ Help: write the token's text as a string
    ───╯

    [gbnf/token] Error: token terminals such as `!<[1000]>` are not supported in this dialect
       ╭─[ grammar.gbnf:1:24 ]
       │
     1 │ root ::= <think> [^<]* !<[1000]>
       │                        ────┬────
       │                            ╰────── here
       │
       │ Help: write the token's text as a string
    ───╯
    ");
    assert_snapshot!(gbnf(r#"root ::= "\e" (="a")"#), @r#"
    [ebnf/escape] Error: there is no escape `\e`
       ╭─[ grammar.gbnf:1:11 ]
       │
     1 │ root ::= "\e" (="a")
       │           ─┬
       │            ╰── here
       │
       │ Help: the escapes are \" \\ \[ \] \- \n \r \t \xHH \uHHHH \UHHHHHHHH
    ───╯

    [ebnf/lookahead] Error: GBNF has no lookahead `(=...)`
       ╭─[ grammar.gbnf:1:15 ]
       │
     1 │ root ::= "\e" (="a")
       │               ─┬
       │                ╰── here
       │
       │ Help: leave it out; it is computed anyway
    ───╯
    "#);
}

#[test]
fn long_lines_are_cut_and_odd_characters_replaced() {
    let padding = "\"padding\" ".repeat(100);
    assert_snapshot!(ebnf(&format!("root ::= {padding} nope {padding}\n")), @r#"
    [ebnf/undefined-rule] Error: rule `nope` is not defined
       ╭─[ grammar.ebnf:1:1011 ]
       │
     1 │ …padding" "padding" "padding" "padding" "padding" "padding"  nope "padding" "padding" "padding" "padding" "padding" "padd…
       │                                                              ──┬─
       │                                                                ╰─── no rule has this name
       │
       │ Help: define it (`nope ::= ...`), or put it in double quotes if it is text
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::=\t\"\u{1b}[31m\u{2028}\" nope"), @r#"
    [ebnf/undefined-rule] Error: rule `nope` is not defined
       ╭─[ grammar.ebnf:1:19 ]
       │
     1 │ root ::= "␛[31m�" nope
       │                   ──┬─
       │                     ╰─── no rule has this name
       │
       │ Help: define it (`nope ::= ...`), or put it in double quotes if it is text
    ───╯
    "#);
}

#[test]
fn limits() {
    let limits = ebnf::EbnfLimits::default().source_bytes(10);
    let options = ebnf::EbnfOptions::default().limits(limits);
    assert_snapshot!(ebnf::parse("root ::= \"aaa\"", &options).unwrap_err(), @"error: the grammar is 14 bytes long, more than 10; shorten it or raise the limit `source_bytes`");
    assert_snapshot!(ebnf(&format!("root ::= {}", "(".repeat(2_000))), @r"
    [ebnf/limit] Error: parentheses nest more than 1000 levels deep
       ╭─[ grammar.ebnf:1:1010 ]
       │
     1 │ …((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((…
       │                                                              ┬
       │                                                              ╰── here
       │
       │ Help: give inner parts a rule of their own
    ───╯
    ");
}

#[test]
fn machine_readable() {
    let error = ebnf::parse("a ::= \"a\"\na ::= b", &ebnf::EbnfOptions::default()).unwrap_err();
    assert_snapshot!(serde_json::to_string_pretty(&error.to_json()).unwrap(), @r#"
    [
      {
        "severity": "error",
        "code": "ebnf/missing-root",
        "message": "there is no rule `root` to start from",
        "line": 1,
        "column": 1,
        "start": 0,
        "end": 1,
        "label": "the first rule is this one",
        "hint": "name the start rule `root`, or say which rule is the root"
      },
      {
        "severity": "error",
        "code": "ebnf/duplicate-rule",
        "message": "rule `a` is defined twice",
        "line": 2,
        "column": 1,
        "start": 10,
        "end": 11,
        "label": "defined again here",
        "related": [
          {
            "line": 1,
            "column": 1,
            "start": 0,
            "end": 1,
            "label": "first defined here"
          }
        ],
        "hint": "rename one of the two, or join them with `|`"
      },
      {
        "severity": "error",
        "code": "ebnf/undefined-rule",
        "message": "rule `b` is not defined",
        "line": 2,
        "column": 7,
        "start": 16,
        "end": 17,
        "label": "no rule has this name",
        "hint": "define it (`b ::= ...`), or put it in double quotes if it is text"
      }
    ]
    "#);
}

#[test]
fn an_empty_language_is_a_grammar() {
    for matching in [Matching::Whole, Matching::Search] {
        let grammar = regex::parse("a^b", &RegexOptions::default().matching(matching)).unwrap();
        assert_eq!(grammar.to_string(), "root ::= []\n");
    }
}
