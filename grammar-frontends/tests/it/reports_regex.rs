//! Messages about patterns.

use grammask_grammar_frontends::regex::RegexOptions;
use grammask_grammar_frontends::{Color, regex};
use insta::assert_snapshot;

fn perl(pattern: &str) -> String {
    let error = regex::parse(pattern, &RegexOptions::default()).unwrap_err();
    error.render(pattern, "pattern", Color::Never)
}

/// One plain line each.
fn ecma(pattern: &str) -> String {
    regex::parse(pattern, &RegexOptions::json_schema()).unwrap_err().to_string()
}

#[test]
fn patterns() {
    assert_snapshot!(perl("a(?=b)c"), @r"
    [regex/look-around] Error: look-around is not supported
       ╭─[ pattern:1:2 ]
       │
     1 │ a(?=b)c
       │  ─┬─
       │   ╰─── here
       │
       │ Help: say with alternatives and classes what the text may be; `Dialect::Ecma` has it, and a grammar `Intersection` and `Complement`
    ───╯
    ");
    assert_snapshot!(perl(r"(a)\1"), @r"
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
    assert_snapshot!(perl(r"(\bword)*"), @r"
    [regex/look-around] Error: look-around and word boundaries are not supported in this repeat without a bound
       ╭─[ pattern:1:2 ]
       │
     1 │ (\bword)*
       │  ─┬
       │   ╰── here
       │
       │ Help: move it out of the repeat, give the repeat a bound of up to 64, or let the parts beside look-around read as many characters as it looks at
    ───╯
    ");
    assert_snapshot!(perl(r"\b(?-u:\b)"), @r"
    [regex/word-boundary] Error: word boundaries with and without Unicode are not supported in one pattern
       ╭─[ pattern:1:1 ]
       │
     1 │ \b(?-u:\b)
       │ ─┬
       │  ╰── here
       │
       │ Help: leave out `(?-u)`, or write it before the whole pattern
    ───╯
    ");
    assert_snapshot!(perl(r"\b{middle}"), @r"
    [regex/syntax] Error: there is no such word boundary
       ╭─[ pattern:1:4 ]
       │
     1 │ \b{middle}
       │    ───┬──
       │       ╰──── here
       │
       │ Help: write `\b`, `\B`, `\b{start}`, `\b{end}`, `\b{start-half}` or `\b{end-half}`
    ───╯
    ");
    assert_snapshot!(perl("a|(?m)^b"), @r"
    [regex/multi-line] Error: `^` and `$` at line ends (the flag `m`) are not supported
       ╭─[ pattern:1:5 ]
       │
     1 │ a|(?m)^b
       │     ┬
       │     ╰── here
       │
       │ Help: leave the flag out, or write out what may stand before and after a line end
    ───╯
    ");
    assert_snapshot!(perl("(a"), @r"
    [regex/syntax] Error: this group is not closed
       ╭─[ pattern:1:1 ]
       │
     1 │ (a
       │ ┬
       │ ╰── here
       │
       │ Help: add a `)`, or write `\(`
    ───╯
    ");
    assert_snapshot!(perl("[z-a]"), @r"
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
    assert_snapshot!(perl(r"a{3,1}\p{Nope}"), @r"
    [regex/syntax] Error: the least number of repeats is greater than the greatest
       ╭─[ pattern:1:2 ]
       │
     1 │ a{3,1}\p{Nope}
       │  ──┬──
       │    ╰──── here
       │
       │ Help: swap the two
    ───╯
    ");
    assert_snapshot!(perl(&"(".repeat(1_000)), @r"
    [regex/syntax] Error: this group is not closed
       ╭─[ pattern:1:1000 ]
       │
     1 │ …(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
       │                                                              ┬
       │                                                              ╰── here
       │
       │ Help: add a `)`, or write `\(`
    ───╯
    ");
    assert_snapshot!(perl(r"(?-u)\xff"), @r"
    [regex/not-text] Error: without Unicode mode this matches bytes that are not text
       ╭─[ pattern:1:6 ]
       │
     1 │ (?-u)\xff
       │      ──┬─
       │        ╰─── here
       │
       │ Help: leave out the flag `-u`
    ───╯
    ");
}

#[test]
fn ecma_patterns() {
    assert_snapshot!(
        [
            r"^(?:(?!a.)b)*d", r"(b(?<=ab))+", r"b(?<=\b)", r"(a)\1", r"\k<x>", r"(a\b)+", r"(?i)a\b", r"[\B]", r"\Aa\Z", "a++", "*a", "a**", "a{,3}", "[z-a]", "[a", "(a",
            "a)", r"\u12", r"\u{110000}", r"\x1", r"\c1", r"\q", r"\pL", r"\p{Nope}", "(?<1>a)", "(?x)a", r"\07", "a\\",
            "(?m)^a", "a{3,2}", "a{99999999999}",
        ]
        .map(|pattern| format!("{pattern:<10} {}", ecma(pattern)))
        .join("\n"),
        @r"
    ^(?:(?!a.)b)*d 1:5: error: look-around and word boundaries are not supported in this repeat without a bound; move it out of the repeat, give the repeat a bound of up to 64, or let the parts beside look-around read as many characters as it looks at
    (b(?<=ab))+ 1:3: error: look-around and word boundaries are not supported in this repeat without a bound; move it out of the repeat, give the repeat a bound of up to 64, or let the parts beside look-around read as many characters as it looks at
    b(?<=\b)   1:2: error: look-behind is not supported here: it may look past the parts before it in its group, or it holds assertions; write before it, in its group, parts that read at least as many characters as it looks at
    (a)\1      1:4: error: back-references are not supported; repeat the group's pattern; equality of two parts cannot be enforced
    \k<x>      1:1: error: back-references are not supported; repeat the group's pattern; equality of two parts cannot be enforced
    (a\b)+     1:3: error: look-around and word boundaries are not supported in this repeat without a bound; move it out of the repeat, give the repeat a bound of up to 64, or let the parts beside look-around read as many characters as it looks at
    (?i)a\b    1:6: error: word boundaries are not supported where case is ignored; leave out the flag `i`, and list both cases (`[Aa]`)
    [\B]       1:2: error: a class holds no word boundary; put it outside of the class, or write `B` for the character
    \Aa\Z      1:1: error: ECMA-262 has no anchor `\A`; write `^` for the start of the text and `$` for its end
    a++        1:3: error: a repeat directly after a repeat; put the first one in a group, `(?:...)`; possessive repeats are not supported
    *a         1:1: error: there is nothing before this repeat; put it after what it repeats, or write `\*`
    a**        1:3: error: a repeat directly after a repeat; put the first one in a group, `(?:...)`; possessive repeats are not supported
    a{,3}      1:2: error: this repeat has no least number (ECMA-262 would read it as plain characters); write `{0,3}`, or `\{` for the character
    [z-a]      1:2: error: the first character of this range comes after the last; swap the two, or write `\-` for a dash
    [a         1:1: error: this character class is not closed; add a `]`, or write `\[`
    (a         1:1: error: this group is not closed; add a `)`, or write `\(`
    a)         1:2: error: this `)` closes nothing; add a `(` before it, or write `\)`
    \u12       1:1: error: this escape does not name a character; write `\uHHHH`, or `\u{H...}` up to 10FFFF
    \u{110000} 1:1: error: this escape does not name a character; write `\uHHHH`, or `\u{H...}` up to 10FFFF
    \x1        1:1: error: this escape does not name a character; write two hexadecimal digits, `\xHH`
    \c1        1:1: error: `\c` needs a letter; write `\cA` to `\cZ`, or `\xHH`
    \q         1:1: error: ECMA-262 has no escape `\q`; write `q` for the character
    \pL        1:1: error: a Unicode property needs braces; write `\p{L}`, `\p{Script=Greek}` or another Unicode property in braces
    \p{Nope}   1:1: error: there is no such Unicode property; write a general category (`\p{L}`), a script (`\p{Script=Greek}`) or a binary property
    (?<1>a)    1:1: error: this group name is not valid; write `(?<name>...)` with letters, digits and `_`
    (?x)a      1:1: error: this group is not understood; groups are `(...)`, `(?:...)`, `(?<name>...)` and `(?flags:...)` with the flags i and s
    \07        1:1: error: octal escapes are not supported; write `\xHH`
    a\         1:2: error: the pattern ends in the middle of an escape; write `\\` for a backslash
    (?m)^a     1:1: error: `^` and `$` at line ends (the flag `m`) are not supported; leave the flag out, or write out what may stand before and after a line end
    a{3,2}     1:2: error: the least number of repeats is greater than the greatest; swap the two
    a{99999999999} 1:2: error: this number is too large; write at most 4294967295, or leave the bound out
    "
    );
}
