//! Constructs that only GBNF has.

use grammask_grammar_frontends::ebnf::{EbnfOptions, parse as parse_ebnf};
use grammask_grammar_frontends::gbnf::parse;

/// A GBNF grammar and an EBNF one that means the same.
#[track_caller]
fn check(gbnf: &str, ebnf: &str) {
    let ours = parse(gbnf, &EbnfOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let theirs = parse_ebnf(ebnf, &EbnfOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(ours.is_same_up_to_names(&theirs), "{ours}\n{theirs}");
}

#[test]
fn lines_end_rules() {
    check(
        "# a list\nroot ::= (\n  item\n  \",\" # comma\n)+ |\n  \"none\"\nitem ::=\n  [a-z]+",
        "root ::= (item \",\")+ | \"none\"\nitem ::= [a-z]+",
    );
    check("root ::= \"a\"\r\n\r\n", "root ::= \"a\"");
}

#[test]
fn names_and_dots() {
    check(
        "root ::= a-b . 1st 2\na-b ::= \"x\"\n1st ::= [^.]\n2 ::= .{2}",
        "root ::= a-b [^] first second\na-b ::= \"x\"\nfirst ::= [^.]\nsecond ::= [^]{2}",
    );
}

#[test]
fn escapes() {
    check(
        r#"root ::= "\x41B\u00e9\U0001F600\n\[\]\"\\" [\x30-\x39\]\\a-]"#,
        r#"root ::= "AB\u00e9\U0001F600\n[]\"\\" [0-9\]\\a\-]"#,
    );
}

#[test]
fn empty_alternatives_and_repeats() {
    check(
        "root ::= (\"a\" | ) \"b\"{2} \"c\"{1,} \"d\"{0,3}",
        "root ::= (\"a\" | \"\") \"b\"{2} \"c\"+ \"d\"{0,3}",
    );
    check("root ::=", "root ::= \"\"");
}
