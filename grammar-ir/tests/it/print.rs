//! The printed form.

use grammask_grammar_ir::{ExprId, GrammarBuilder};
use insta::assert_snapshot;

use crate::{grammar, rules};

fn body(make: impl FnOnce(&mut GrammarBuilder) -> ExprId) -> String {
    let text = grammar(make).to_string();
    text.strip_prefix("root ::= ").unwrap().trim_end_matches('\n').to_owned()
}

#[test]
fn leaves() {
    assert_snapshot!(body(|builder| builder.empty()), @r#""""#);
    assert_snapshot!(body(|builder| builder.never()), @"[]");
    assert_snapshot!(body(|builder| builder.any_char()), @"[^]");
    assert_snapshot!(
        body(|builder| builder.literal("a\"\\\n\r\t\0\u{7F}\u{80}é\u{301}\u{FEFF}😀\u{10FFFF}'[")),
        @r#""a\"\\\n\r\t\u0000\u007F\u0080é\u0301\uFEFF😀\U0010FFFF'[""#
    );
    assert_snapshot!(body(|builder| builder.bytes(b"\xC3\xA9")), @r#""é""#);
    assert_snapshot!(body(|builder| builder.bytes(b"a\xFF0\"\\\n")), @r#"Bytes("a\xFF0\x22\x5C\x0A")"#);
}

#[test]
fn classes() {
    assert_snapshot!(body(|builder| builder.class([('a', 'z'), ('0', '1'), ('_', '_')])), @"[01_a-z]");
    assert_snapshot!(
        body(|builder| builder.class([('[', '^'), ('-', '-'), ('\n', '\n')])),
        @r"[\n\-\[-\^]"
    );
    assert_snapshot!(body(|builder| builder.negated_class([('"', '"'), ('\\', '\\')])), @r#"[^"\\]"#);
    assert_snapshot!(
        body(|builder| builder.negated_class([('\0', '\u{1F}'), ('\u{E000}', '\u{E000}')])),
        @r"[^\u0000-\u001F\uE000]"
    );
    assert_snapshot!(body(|builder| builder.class([('\u{D7FF}', '\u{E000}')])), @r"[\uD7FF-\uE000]");
}

#[test]
fn operators_bind_as_written() {
    let nested = body(|builder| {
        let (a, b) = (builder.literal("a"), builder.class([('b', 'c')]));
        let choice = builder.choice([a, b]);
        let sequence = builder.sequence([choice, a]);
        let outer = builder.choice([sequence, choice]);
        let bounds = [(0, Some(1)), (0, None), (1, None), (2, Some(2)), (2, None), (2, Some(3))];
        let repeats: Vec<_> = bounds.map(|(min, max)| builder.repeat(a, min, max)).into();
        let twice = builder.repeat(repeats[0], 0, None);
        let many = builder.sequence(repeats);
        let group = builder.repeat(many, 3, Some(3));
        builder.sequence([outer, group, twice])
    });
    assert_snapshot!(
        nested,
        @r#"(("a" | [bc]) "a" | ("a" | [bc])) ("a"? "a"* "a"+ "a"{2} "a"{2,} "a"{2,3}){3} ("a"?)*"#
    );
    let regular = body(|builder| {
        let (a, b) = (builder.literal("a"), builder.literal("b"));
        let choice = builder.choice([a, b]);
        let complement = builder.complement(choice);
        let both = builder.intersection([complement, choice, b]);
        let escaped = builder.json_escaped(both);
        let many = builder.repeat(escaped, 0, None);
        builder.sequence([many, a])
    });
    assert_snapshot!(regular, @r#"JsonEscaped(Intersection(Complement("a" | "b"), "a" | "b", "b"))* "a""#);
}

#[test]
fn rules_lookaheads_and_names() {
    let mut builder = GrammarBuilder::new();
    let names = ["a b", "a_b", "true", "1", "", "Token", "x.y-z", "é", "ü", "-"];
    let rules: Vec<_> = names.iter().map(|name| builder.declare(name).unwrap()).collect();
    let x = builder.literal("x");
    let lookahead = builder.choice([x, x]);
    for &rule in &rules {
        let reference = builder.rule(rule);
        let body = builder.sequence([x, reference]);
        builder.define(rule, body).unwrap();
    }
    builder.set_lookahead(rules[1], lookahead);
    assert_snapshot!(builder.finish(rules[3]).unwrap(), @r#"
    a_b_3 ::= "x" a_b_3
    a_b ::= "x" a_b (=("x" | "x"))
    true_ ::= "x" true_
    _1 ::= "x" _1
    _ ::= "x" _
    Token_ ::= "x" Token_
    x.y-z ::= "x" x.y-z
    __8 ::= "x" __8
    __9 ::= "x" __9
    - ::= "x" -
    "#);
}

#[test]
fn a_group_after_a_reference_is_no_operand() {
    let grammar = rules(&["root", "a"], |builder, references| {
        let x = builder.literal("x");
        let choice = builder.choice([x, x]);
        vec![builder.sequence([references[1], choice]), x]
    });
    assert_snapshot!(grammar, @r#"
    root ::= a ("x" | "x")
    a ::= "x"
    "#);
}
