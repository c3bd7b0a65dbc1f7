//! Regular expressions.

use insta::assert_snapshot;

use super::regex;

#[test]
fn patterns() {
    assert_snapshot!(regex("("), @r"
    [regex/syntax] Error: this group is not closed
       ╭─[ pattern:1:1 ]
       │
     1 │ (
       │ ┬
       │ ╰── here
       │
       │ Help: add a `)`, or write `\(`
    ───╯
    ");
    assert_snapshot!(regex(")"), @r"
    [regex/syntax] Error: this `)` closes nothing
       ╭─[ pattern:1:1 ]
       │
     1 │ )
       │ ┬
       │ ╰── here
       │
       │ Help: add a `(` before it, or write `\)`
    ───╯
    ");
    assert_snapshot!(regex("a)"), @r"
    [regex/syntax] Error: this `)` closes nothing
       ╭─[ pattern:1:2 ]
       │
     1 │ a)
       │  ┬
       │  ╰── here
       │
       │ Help: add a `(` before it, or write `\)`
    ───╯
    ");
    assert_snapshot!(regex("[a"), @r"
    [regex/syntax] Error: this character class is not closed
       ╭─[ pattern:1:1 ]
       │
     1 │ [a
       │ ┬
       │ ╰── here
       │
       │ Help: add a `]`, or write `\[`
    ───╯
    ");
    assert_snapshot!(regex("[z-a]"), @"
    [regex/syntax] Error: the first character of this range comes after the last
       ╭─[ pattern:1:2 ]
       │
     1 │ [z-a]
       │  ─┬─
       │   ╰─── here
       │
       │ Help: swap the two
    ───╯
    ");
    assert_snapshot!(regex("*a"), @"
    [regex/syntax] Error: there is nothing before this repeat
       ╭─[ pattern:1:1 ]
       │
     1 │ *a
       │ ┬
       │ ╰── here
       │
       │ Help: put it after what it repeats, or escape it
    ───╯
    ");
    assert_snapshot!(regex("a**b("), @r"
    [regex/syntax] Error: this group is not closed
       ╭─[ pattern:1:5 ]
       │
     1 │ a**b(
       │     ┬
       │     ╰── here
       │
       │ Help: add a `)`, or write `\(`
    ───╯
    ");
    assert_snapshot!(regex("a{3,1}"), @"
    [regex/syntax] Error: the least number of repeats is greater than the greatest
       ╭─[ pattern:1:2 ]
       │
     1 │ a{3,1}
       │  ──┬──
       │    ╰──── here
       │
       │ Help: swap the two
    ───╯
    ");
    assert_snapshot!(regex("a{99999999999}"), @"
    [regex/syntax] Error: this number is too large
       ╭─[ pattern:1:3 ]
       │
     1 │ a{99999999999}
       │   ─────┬─────
       │        ╰─────── here
       │
       │ Help: write at most 4294967295, or leave the bound out
    ───╯
    ");
    assert_snapshot!(regex(r#"(a\b)*"#), @r"
    [regex/look-around] Error: look-around and word boundaries are not supported in this repeat without a bound
       ╭─[ pattern:1:3 ]
       │
     1 │ (a\b)*
       │   ─┬
       │    ╰── here
       │
       │ Help: move it out of the repeat, give the repeat a bound of up to 64, or let the parts beside look-around read as many characters as it looks at
    ───╯
    ");
    assert_snapshot!(regex("(?=a)"), @"
    [regex/look-around] Error: look-around is not supported
       ╭─[ pattern:1:1 ]
       │
     1 │ (?=a)
       │ ─┬─
       │  ╰─── here
       │
       │ Help: say with alternatives and classes what the text may be; `Dialect::Ecma` has it, and a grammar `Intersection` and `Complement`
    ───╯
    ");
    assert_snapshot!(regex(r#"(a)\1"#), @r"
    [regex/back-reference] Error: back-references are not supported
       ╭─[ pattern:1:4 ]
       │
     1 │ (a)\1
       │    ─┬
       │     ╰── here
       │
       │ Help: repeat the group's pattern; equality of two parts cannot be enforced
    ───╯
    ");
    assert_snapshot!(regex("(?m)^a$"), @"
    [regex/multi-line] Error: `^` and `$` at line ends (the flag `m`) are not supported
       ╭─[ pattern:1:3 ]
       │
     1 │ (?m)^a$
       │   ┬
       │   ╰── here
       │
       │ Help: leave the flag out, or write out what may stand before and after a line end
    ───╯
    ");
    assert_snapshot!(regex(r#"\p{Nonsense}"#), @r"
    [regex/unicode-property] Error: there is no such Unicode property
       ╭─[ pattern:1:1 ]
       │
     1 │ \p{Nonsense}
       │ ──────┬─────
       │       ╰─────── here
       │
       │ Help: write a general category (`\p{L}`), a script (`\p{Script=Greek}`) or a binary property
    ───╯
    ");
    assert_snapshot!(regex("(?<n>a)(?<n>b)"), @"
    [regex/syntax] Error: this group name is taken
       ╭─[ pattern:1:11 ]
       │
     1 │ (?<n>a)(?<n>b)
       │           ┬
       │           ╰── here
       │
       │ Help: choose another name
    ───╯
    ");
    assert_snapshot!(regex(r#"\"#), @r"
    [regex/syntax] Error: the pattern ends in the middle of an escape
       ╭─[ pattern:1:1 ]
       │
     1 │ \
       │ ┬
       │ ╰── here
       │
       │ Help: write `\\` for a backslash
    ───╯
    ");
    assert_snapshot!(regex("(?P<a"), @"
    [regex/syntax] Error: this group name is not valid
       ╭─[ pattern:1:6 ]
       │
     1 │ (?P<a
       │      ┬
       │      ╰── here
       │
       │ Help: write `(?<name>...)` with letters, digits and `_`
    ───╯
    ");
    assert_snapshot!(regex(r#"\xZZ"#), @r"
    [regex/syntax] Error: this escape does not name a character
       ╭─[ pattern:1:3 ]
       │
     1 │ \xZZ
       │   ┬
       │   ╰── here
       │
       │ Help: write `\xHH`, `\uHHHH` or `\x{H...}`
    ───╯
    ");
    assert_snapshot!(regex("(?z)a"), @"
    [regex/syntax] Error: these flags are not understood
       ╭─[ pattern:1:3 ]
       │
     1 │ (?z)a
       │   ┬
       │   ╰── here
       │
       │ Help: the flags are i, m, s, U, u, x, R
    ───╯
    ");
    assert_snapshot!(regex("a^b"), @"
    [grammar/empty] Error: no text matches it, so the language is empty; give it an alternative that can be finished
       ╭─[ pattern:1:1 ]
       │
     1 │ a^b
       │ ─┬─
       │  ╰─── here
    ───╯
    ");
    assert_snapshot!(regex(r#"[^\s\S]"#), @r"
    [grammar/empty] Error: no text matches it, so the language is empty; give it an alternative that can be finished
       ╭─[ pattern:1:1 ]
       │
     1 │ [^\s\S]
       │ ───┬───
       │    ╰───── here
    ───╯
    ");
}
