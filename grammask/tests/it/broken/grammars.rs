//! EBNF and GBNF.

use insta::assert_snapshot;

use super::{ebnf, gbnf};

#[test]
fn grammars() {
    assert_snapshot!(ebnf(""), @"
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
    assert_snapshot!(ebnf("# only a comment\n"), @"
    [ebnf/missing-root] Error: there is no rule `root` to start from
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ # only a comment
       │ ┬
       │ ╰── no rules
       │
       │ Help: name the start rule `root`, or say which rule is the root
    ───╯
    ");
    assert_snapshot!(ebnf(r#"root := "a""#), @r#"
    [ebnf/rule] Error: `root` stands before the first rule
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ root := "a"
       │ ──┬─
       │   ╰─── here
       │
       │ Help: start with a rule: `root ::= ...`
    ───╯

    [ebnf/character] Error: `:=` means nothing here
       ╭─[ grammar.ebnf:1:6 ]
       │
     1 │ root := "a"
       │      ─┬
       │       ╰── here
       │
       │ Help: a rule is written `name ::= body`
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root = "a""#), @r#"
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
    assert_snapshot!(ebnf("root ::= "), @r#"
    [ebnf/empty-alternative] Error: there is nothing here to match
       ╭─[ grammar.ebnf:1:9 ]
       │
     1 │ root ::=
       │         ┬
       │         ╰── here
       │
       │ Help: write `""` for the empty text
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= "a" |"#), @r#"
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
    assert_snapshot!(ebnf(r#"root ::= | "a""#), @r#"
    [ebnf/empty-alternative] Error: there is nothing here to match
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= | "a"
       │          ┬
       │          ╰── here
       │
       │ Help: write `""` for the empty text
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= ("a""#), @r#"
    [ebnf/group] Error: this parenthesis is not closed
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= ("a"
       │          ┬
       │          ╰── here
       │
       │ Help: add a `)` before the next rule
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= "a")"#), @r#"
    [ebnf/group] Error: this `)` closes nothing
       ╭─[ grammar.ebnf:1:13 ]
       │
     1 │ root ::= "a")
       │             ┬
       │             ╰── here
       │
       │ Help: leave it out, or add a `(` before it
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= \"a\nb ::= \"b\""), @r#"
    [ebnf/string] Error: this string is not closed
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= "a
       │          ┬
       │          ╰── here
       │
       │ Help: add a `"`; line breaks inside are written `\n`
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= [a-z"), @r#"
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
    assert_snapshot!(ebnf("root ::= [z-a]"), @"
    [ebnf/class] Error: the range `z-a` starts after its end
       ╭─[ grammar.ebnf:1:11 ]
       │
     1 │ root ::= [z-a]
       │           ─┬─
       │            ╰─── here
       │
       │ Help: swap the two characters, or put `-` first or last for a dash
    ───╯
    ");
    assert_snapshot!(ebnf(r#"root ::= "a"{3,1}"#), @r#"
    [ebnf/quantifier] Error: the repeat `{3,1}` has a least number greater than its greatest
       ╭─[ grammar.ebnf:1:13 ]
       │
     1 │ root ::= "a"{3,1}
       │             ──┬──
       │               ╰──── here
       │
       │ Help: swap the two numbers
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= "a"{,}"#), @r#"
    [ebnf/quantifier] Error: this is not a number of repeats
       ╭─[ grammar.ebnf:1:13 ]
       │
     1 │ root ::= "a"{,}
       │             ─┬─
       │              ╰─── here
       │
       │ Help: write `{n}`, `{n,}` or `{n,m}`
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= "a"{x}"#), @r#"
    [ebnf/quantifier] Error: this is not a number of repeats
       ╭─[ grammar.ebnf:1:13 ]
       │
     1 │ root ::= "a"{x}
       │             ─┬─
       │              ╰─── here
       │
       │ Help: write `{n}`, `{n,}` or `{n,m}`
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= "a"**"#), @r#"
    [ebnf/quantifier] Error: the repeat `*` stands directly after a repeat
       ╭─[ grammar.ebnf:1:14 ]
       │
     1 │ root ::= "a"**
       │              ┬
       │              ╰── here
       │
       │ Help: put what is before it in parentheses: `(a+)*`
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= *"), @r#"
    [ebnf/quantifier] Error: there is nothing before the repeat `*`
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= *
       │          ┬
       │          ╰── here
       │
       │ Help: put it after what it repeats, or write `"*"` for the characters
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= "\q""#), @r#"
    [ebnf/escape] Error: there is no escape `\q`
       ╭─[ grammar.ebnf:1:11 ]
       │
     1 │ root ::= "\q"
       │           ─┬
       │            ╰── here
       │
       │ Help: the escapes are \" \' \? \\ \/ \a \b \f \n \r \t \v \0 \e \xH... \uHHHH \UHHHHHHHH
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= "\u12""#), @r#"
    [ebnf/escape] Error: the escape `\u12` lacks hexadecimal digits
       ╭─[ grammar.ebnf:1:11 ]
       │
     1 │ root ::= "\u12"
       │           ──┬─
       │             ╰─── here
       │
       │ Help: write \xHH, \uHHHH (four digits) or \UHHHHHHHH (eight digits)
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
    assert_snapshot!(ebnf("root ::= item\nitme ::= \"a\""), @"
    [ebnf/undefined-rule] Error: rule `item` is not defined
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= item
       │          ──┬─
       │            ╰─── no rule has this name
       │
       │ Help: did you mean `itme`?
    ───╯
    ");
    assert_snapshot!(ebnf("root ::= \"a\"\nroot ::= \"b\""), @r#"
    [ebnf/duplicate-rule] Error: rule `root` is defined twice
       ╭─[ grammar.ebnf:2:1 ]
       │
     1 │ root ::= "a"
       │ ──┬─
       │   ╰─── first defined here
     2 │ root ::= "b"
       │ ──┬─
       │   ╰─── defined again here
       │
       │ Help: rename one of the two, or join them with `|`
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"start ::= "a""#), @r#"
    [ebnf/missing-root] Error: there is no rule `root` to start from
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ start ::= "a"
       │ ──┬──
       │   ╰──── the first rule is this one
       │
       │ Help: name the start rule `root`, or say which rule is the root
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= root"), @"
    [grammar/empty] Error: rule `root`: no text matches it, so the language is empty; give it an alternative that can be finished
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ root ::= root
       │ ──┬─
       │   ╰─── here
    ───╯
    ");
    assert_snapshot!(ebnf(r#"root ::= "a" root"#), @r#"
    [grammar/empty] Error: rule `root`: no text matches it, so the language is empty; give it an alternative that can be finished
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ root ::= "a" root
       │ ──┬─
       │   ╰─── here
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= a\na ::= b \"x\"\nb ::= a \"y\""), @r#"
    [grammar/empty] Error: rule `a`: no text matches it, so the language is empty; give it an alternative that can be finished
       ╭─[ grammar.ebnf:2:1 ]
       │
     2 │ a ::= b "x"
       │ ┬
       │ ╰── here
    ───╯
    "#);
    // The rule that is empty by itself, not those that wait for it or for themselves.
    assert_snapshot!(ebnf("root ::= \"k\" (a | b)\na ::= \"x\" a | c{2,9}\nb ::= a b\nc ::= \"y\" d | \"z\" [] d\nd ::= \"u\" & \"v\""), @r#"
    [grammar/empty] Error: rule `d`: no text matches it, so the language is empty; give it an alternative that can be finished
       ╭─[ grammar.ebnf:5:1 ]
       │
     5 │ d ::= "u" & "v"
       │ ┬
       │ ╰── here
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= Complement("a" root)"#), @r#"
    [grammar] Error: rule `root`: a complement is only defined for regular expressions, but its operand refers to rule `root`, which is recursive; write the operand without recursion
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ root ::= Complement("a" root)
       │ ──┬─
       │   ╰─── here
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= Intersection("a", "b")"#), @r#"
    [grammar/empty] Error: rule `root`: no text matches it, so the language is empty; give it an alternative that can be finished
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ root ::= Intersection("a", "b")
       │ ──┬─
       │   ╰─── here
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= "a" ; "b""#), @r#"
    [ebnf/character] Error: `;` means nothing here
       ╭─[ grammar.ebnf:1:14 ]
       │
     1 │ root ::= "a" ; "b"
       │              ┬
       │              ╰── here
       │
       │ Help: leave it out; rules end where the next one starts
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= /[a-z]+/"), @r#"
    [ebnf/character] Error: `/` means nothing here
       ╭─[ grammar.ebnf:1:10 ]
       │
     1 │ root ::= /[a-z]+/
       │          ┬
       │          ╰── here
       │
       │ Help: a regular expression is written `Regex("pattern")`
    ───╯

    [ebnf/character] Error: `/` means nothing here
       ╭─[ grammar.ebnf:1:17 ]
       │
     1 │ root ::= /[a-z]+/
       │                 ┬
       │                 ╰── here
       │
       │ Help: a regular expression is written `Regex("pattern")`
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= \"a\"\r\n\tx ::= \"\u{e9}\u{4e2d}\" y"), @r#"
    [ebnf/undefined-rule] Error: rule `y` is not defined
       ╭─[ grammar.ebnf:2:13 ]
       │
     2 │  x ::= "é中" y
       │              ┬
       │              ╰── no rule has this name
       │
       │ Help: define it (`y ::= ...`), or put it in double quotes if it is text
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= Bytes("\xff") Complement(Bytes("\xff"))"#), @r#"
    [grammar] Error: rule `root`: a complement is only defined for text, but its operand holds the literal "\xff", which is not UTF-8; write whole characters
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ root ::= Bytes("\xff") Complement(Bytes("\xff"))
       │ ──┬─
       │   ╰─── here
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"root ::= "a" }"#), @r#"
    [ebnf/unexpected] Error: `}` cannot stand here
       ╭─[ grammar.ebnf:1:14 ]
       │
     1 │ root ::= "a" }
       │              ┬
       │              ╰── here
       │
       │ Help: expected a string, a character class, a rule's name, a group or `|`
    ───╯
    "#);
    assert_snapshot!(ebnf(r#"1root ::= "a""#), @r#"
    [ebnf/name] Error: the name `1root` starts with a digit
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ 1root ::= "a"
       │ ──┬──
       │   ╰──── here
       │
       │ Help: start it with a letter or `_`
    ───╯

    [ebnf/missing-root] Error: there is no rule `root` to start from
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ 1root ::= "a"
       │ ──┬──
       │   ╰──── the first rule is this one
       │
       │ Help: did you mean `1root`? name it `root`, or say that it is the root
    ───╯
    "#);
    assert_snapshot!(ebnf("root ::= []"), @"
    [grammar/empty] Error: rule `root`: no text matches it, so the language is empty; give it an alternative that can be finished
       ╭─[ grammar.ebnf:1:1 ]
       │
     1 │ root ::= []
       │ ──┬─
       │   ╰─── here
    ───╯
    ");
}

#[test]
fn llama_grammars() {
    assert_snapshot!(gbnf("root ::= \"a\"\n  \"b\""), @r#"
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
    assert_snapshot!(gbnf(r#"root ::= <think> "a""#), @r#"
    [gbnf/token] Error: token terminals such as `<think>` are not supported in this dialect
       ╭─[ grammar.gbnf:1:10 ]
       │
     1 │ root ::= <think> "a"
       │          ───┬───
       │             ╰───── here
       │
       │ Help: write the token's text as a string
    ───╯
    "#);
    assert_snapshot!(gbnf(r#"root ::= "\d""#), @r#"
    [ebnf/escape] Error: there is no escape `\d`
       ╭─[ grammar.gbnf:1:11 ]
       │
     1 │ root ::= "\d"
       │           ─┬
       │            ╰── here
       │
       │ Help: the escapes are \" \\ \[ \] \- \n \r \t \xHH \uHHHH \UHHHHHHHH
    ───╯
    "#);
    assert_snapshot!(gbnf(r#"root ::= Complement("a")"#), @r#"
    [ebnf/undefined-rule] Error: rule `Complement` is not defined
       ╭─[ grammar.gbnf:1:10 ]
       │
     1 │ root ::= Complement("a")
       │          ─────┬────
       │               ╰────── no rule has this name
       │
       │ Help: define it (`Complement ::= ...`), or put it in double quotes if it is text
    ───╯
    "#);
    assert_snapshot!(gbnf(r#"root.x ::= "a""#), @r#"
    [ebnf/rule] Error: `root` stands before the first rule
       ╭─[ grammar.gbnf:1:1 ]
       │
     1 │ root.x ::= "a"
       │ ──┬─
       │   ╰─── here
       │
       │ Help: start with a rule: `root ::= ...`
    ───╯

    [ebnf/rule] Error: the rule `x` does not start on a line of its own
       ╭─[ grammar.gbnf:1:6 ]
       │
     1 │ root.x ::= "a"
       │      ┬
       │      ╰── here
       │
       │ Help: put a line break before it
    ───╯

    [ebnf/missing-root] Error: there is no rule `root` to start from
       ╭─[ grammar.gbnf:1:6 ]
       │
     1 │ root.x ::= "a"
       │      ┬
       │      ╰── the first rule is this one
       │
       │ Help: name the start rule `root`, or say which rule is the root
    ───╯
    "#);
    assert_snapshot!(gbnf(r#"root ::= "a"{2,1}"#), @r#"
    [ebnf/quantifier] Error: the repeat `{2,1}` has a least number greater than its greatest
       ╭─[ grammar.gbnf:1:13 ]
       │
     1 │ root ::= "a"{2,1}
       │             ──┬──
       │               ╰──── here
       │
       │ Help: swap the two numbers
    ───╯
    "#);
}
