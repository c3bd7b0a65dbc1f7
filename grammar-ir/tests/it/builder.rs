//! Inputs that the builder refuses, and the normal forms that it keeps.

use grammask_grammar_ir::{Expr, ExprId, GrammarBuilder, Occurrence, RuleId, Span};

use crate::{grammar, rules};

#[track_caller]
fn check_error(build: impl FnOnce(&mut GrammarBuilder, RuleId) -> ExprId, expected: &str) {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    builder.set_span(root, Span::new(3, 9));
    let body = build(&mut builder, root);
    builder.define(root, body).unwrap();
    let error = builder.finish(root).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.span(), Some(Span { start: 3, end: 9 }));
}

#[test]
fn rules_are_defined_once() {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    assert_eq!(
        builder.declare("root").unwrap_err().to_string(),
        "rule `root` is defined twice; give one of the two another name"
    );
    let body = builder.empty();
    builder.define(root, body).unwrap();
    assert!(builder.define(root, body).is_err());
    builder.declare_fresh("root").unwrap();
    assert_eq!(
        builder.finish(root).unwrap_err().to_string(),
        "rule `root_1` is not defined; define it or correct the reference"
    );
}

#[test]
fn swapped_bounds_are_refused_wherever_they_stand() {
    let message = "rule `root`: a repeat of at least 3 and at most 2 times is empty; swap the bounds";
    check_error(
        |builder, _| {
            let a = builder.literal("a");
            builder.repeat(a, 3, Some(2))
        },
        message,
    );
    check_error(
        |builder, _| {
            let a = builder.literal("a");
            let swapped = builder.repeat(a, 3, Some(2));
            let complement = builder.complement(swapped);
            builder.json_escaped(complement)
        },
        message,
    );
}

#[test]
fn recursion_below_operators_is_refused() {
    check_error(
        |builder, root| {
            let (a, this) = (builder.literal("a"), builder.rule(root));
            let both = builder.sequence([a, this]);
            builder.complement(both)
        },
        "rule `root`: a complement is only defined for regular expressions, but its operand refers to rule \
         `root`, which is recursive; write the operand without recursion",
    );
    // The shared expression is met twice on the way round, and first outside of the rule that closes the cycle.
    check_error(
        |builder, _| {
            let other = builder.declare("other").unwrap();
            let (a, reference) = (builder.literal("a"), builder.rule(other));
            let shared = builder.sequence([a, reference]);
            let body = builder.choice([shared, a]);
            builder.define(other, body).unwrap();
            builder.intersection([shared, a])
        },
        "rule `root`: an intersection (`&`, or a bound on characters) is only defined for regular expressions, but its operand refers to rule \
         `other`, which is recursive; write the operand without recursion",
    );
}

#[test]
fn sharing_below_operators_is_not_recursion() {
    let grammar = rules(&["root", "leaf"], |builder, references| {
        let twice = builder.sequence([references[1], references[1]]);
        let operator = builder.intersection([twice, references[1], twice]);
        vec![operator, builder.literal("x")]
    });
    assert_eq!(grammar.to_string(), "root ::= Intersection(leaf leaf, leaf, leaf leaf)\nleaf ::= \"x\"\n");
}

#[test]
fn operands_must_be_text() {
    check_error(
        |builder, _| {
            let raw = builder.bytes(b"a\xFF");
            builder.json_escaped(raw)
        },
        "rule `root`: JSON escaping is only defined for text, but its operand holds the literal \"a\\xff\", \
         which is not UTF-8; write whole characters",
    );
}

#[test]
fn sequences_are_flat_and_appending_shares_them() {
    let grammar = grammar(|builder| {
        let parts: Vec<_> = ["a", "b", "c", "d"].map(|text| builder.literal(text)).into();
        let empty = builder.empty();
        let ab = builder.sequence([parts[0], empty, parts[1]]);
        let abc = builder.sequence([ab, parts[2]]);
        let abd = builder.sequence([empty, ab, parts[3]]);
        let only = builder.sequence([empty, abc]);
        assert_eq!(only, abc);
        assert_eq!(builder.expr(abc), Expr::Sequence(&parts[..3]));
        assert_eq!(builder.expr(abd), Expr::Sequence(&[parts[0], parts[1], parts[3]]));
        builder.sequence([abd, abc, ab])
    });
    assert_eq!(grammar.to_string(), "root ::= \"a\" \"b\" \"d\" \"a\" \"b\" \"c\" \"a\" \"b\"\n");
}

#[test]
fn trivial_expressions_have_one_form() {
    grammar(|builder| {
        let a = builder.literal("a");
        let nothing = builder.literal("");
        assert_eq!(builder.expr(nothing), Expr::Empty);
        assert_eq!(builder.repeat(a, 1, Some(1)), a);
        let zero = builder.repeat(a, 0, Some(0));
        assert_eq!(builder.expr(zero), Expr::Empty);
        let never = builder.choice([]);
        assert_eq!(builder.expr(never), Expr::Class(&[]));
        let merged = builder.class([('c', 'd'), ('a', 'b')]);
        assert_eq!(builder.expr(merged), Expr::Class(&[('a', 'd')]));
        assert_eq!(builder.choice([a]), a);
        a
    });
}

#[test]
fn sameness_ignores_sharing_and_spans_only() {
    let shared = grammar(|builder| {
        let a = builder.literal("a");
        builder.choice([a, a])
    });
    let written_out = grammar(|builder| {
        let (a, b) = (builder.literal("a"), builder.literal("a"));
        builder.choice([a, b])
    });
    assert_ne!(shared, written_out);
    assert!(shared.is_same(&written_out));
    let renamed = rules(&["start"], |builder, _| {
        let a = builder.literal("a");
        vec![builder.choice([a, a])]
    });
    assert!(!shared.is_same(&renamed));
    assert!(shared.is_same_up_to_names(&renamed));
    let longer = grammar(|builder| {
        let a = builder.literal("a");
        builder.choice([a, a, a])
    });
    assert!(!shared.is_same_up_to_names(&longer));
}

#[test]
fn bounds_of_parts_in_any_order_say_no_more_than_the_parts() {
    let mut builder = GrammarBuilder::new();
    let [a, b, comma] = ["a", "b", ","].map(|text| builder.literal(text));
    let parts = [(b, Occurrence::Optional), (a, Occurrence::Required)];
    let wide = builder.permutation(comma, parts, 0, Some(7));
    let Expr::Permutation(permutation) = builder.expr(wide) else { panic!("it has two parts") };
    assert_eq!((permutation.parts(), permutation.min(), permutation.max()), (&[a, b][..], 1, None));
    assert_eq!(
        (permutation.occurrence(0), permutation.occurrence(1)),
        (Occurrence::Required, Occurrence::Optional)
    );
    let impossible = builder.permutation(comma, parts, 3, None);
    assert_eq!(builder.expr(impossible), Expr::Class(&[]));
}

#[test]
fn parts_in_any_order_are_not_empty_and_not_below_operators() {
    let refused = |build: &dyn Fn(&mut GrammarBuilder) -> ExprId| {
        let mut builder = GrammarBuilder::new();
        let body = build(&mut builder);
        let root = builder.add_rule("root", body).unwrap();
        builder.finish(root).unwrap_err().to_string()
    };
    let message = refused(&|builder| {
        let a = builder.literal("a");
        let part = builder.optional(a);
        builder.permutation(a, [(part, Occurrence::Optional)], 0, None)
    });
    assert_eq!(
        message,
        "rule `root`: a part that stands in any order among others may be empty; make it optional instead"
    );
    let message = refused(&|builder| {
        let a = builder.literal("a");
        let whole = builder.permutation(a, [(a, Occurrence::Optional)], 0, None);
        builder.complement(whole)
    });
    assert!(message.contains("a complement is only defined for regular expressions"), "{message}");
}
