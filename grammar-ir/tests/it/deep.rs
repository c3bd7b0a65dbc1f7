//! Depth and sharing: nothing recurses, and nothing looks at a shared expression once for every way to it.

use grammask_grammar_ir::passes::drop_unreachable;
use grammask_grammar_ir::{Expr, ExprId, Grammar, GrammarBuilder, PrintOptions, analysis, print};

use crate::{grammar, rules};

const DEEP: usize = 100_000;

/// Runs all that walks a grammar.
fn exercise(grammar: &Grammar) -> Grammar {
    let root = grammar.root();
    assert!(analysis::productive(grammar).rule(root));
    analysis::nullable(grammar);
    assert!(analysis::reachable(grammar)[root.index()]);
    assert!(grammar.is_same(&grammar.clone()));
    drop_unreachable(grammar).unwrap()
}

fn nest(wrap: impl Fn(&mut GrammarBuilder, ExprId) -> ExprId) -> Grammar {
    grammar(|builder| {
        let innermost = builder.literal("a");
        (0..DEEP).fold(innermost, |inner, _| wrap(builder, inner))
    })
}

#[test]
fn deep_nests_of_every_kind() {
    let nests = [
        nest(|builder, inner| builder.repeat(inner, 2, Some(3))),
        nest(|builder, inner| builder.complement(inner)),
        nest(|builder, inner| builder.json_escaped(inner)),
        nest(|builder, inner| {
            let (open, close) = (builder.literal("("), builder.literal(")"));
            let nested = builder.sequence([open, inner, close]);
            builder.optional(nested)
        }),
        nest(|builder, inner| {
            let other = builder.literal("bc");
            builder.choice([inner, other])
        }),
        nest(|builder, inner| {
            let other = builder.any_char();
            builder.choice([other, inner])
        }),
        nest(|builder, inner| {
            let other = builder.any_char();
            builder.intersection([other, inner])
        }),
    ];
    for grammar in &nests {
        let copied = exercise(grammar);
        assert!(copied.expr_count() <= grammar.expr_count());
        print(grammar, &PrintOptions::default()).unwrap();
    }
    assert!(nests[3].to_string().len() > DEEP);
}

#[test]
fn appending_to_a_sequence_is_linear() {
    let grammar = nest(|builder, inner| {
        let next = builder.class([('0', '9')]);
        builder.sequence([inner, next])
    });
    exercise(&grammar);
    assert!(
        matches!(grammar.expr(grammar.rule(grammar.root()).body()), Expr::Sequence(parts) if parts.len() == DEEP + 1)
    );
}

#[test]
fn long_chains_of_rules() {
    let names: Vec<String> = (0..20_000).map(|index| format!("r{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let grammar = rules(&names, |builder, references| {
        let x = builder.literal("xyz");
        let mut bodies: Vec<ExprId> =
            references[1..].iter().map(|&next| builder.sequence([x, next, x])).collect();
        bodies.push(x);
        bodies
    });
    exercise(&grammar);
}

#[test]
fn sharing_is_not_unfolded() {
    let doubled = |wrap: fn(&mut GrammarBuilder, [ExprId; 2]) -> ExprId| {
        grammar(|builder| {
            let x = builder.literal("x");
            (0..200).fold(x, |inner, _| {
                let again = builder.repeat(inner, 0, Some(2));
                wrap(builder, [inner, again])
            })
        })
    };
    for grammar in [
        doubled(|builder, parts| builder.choice(parts)),
        doubled(|builder, parts| builder.intersection(parts)),
        doubled(|builder, parts| {
            let sum = builder.choice(parts);
            builder.repeat(sum, 2, None)
        }),
    ] {
        exercise(&grammar);
        let error = print(&grammar, &PrintOptions::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the grammar takes more than 67108864 bytes to print; raise `max_bytes`, or give expressions that \
             it shares a rule of their own"
        );
    }
    let printed = doubled(|builder, parts| builder.choice(parts)).to_string();
    assert!(printed.starts_with("# the grammar takes more"));
}

#[test]
fn doubling_a_sequence_is_an_error_and_not_a_crash() {
    let mut builder = GrammarBuilder::new();
    let x = builder.literal("x");
    let body = (0..64).fold(x, |inner, _| builder.sequence([inner, inner]));
    let root = builder.add_rule("root", body).unwrap();
    assert_eq!(
        builder.finish(root).unwrap_err().to_string(),
        "the grammar holds more than 16777216 operands; split it"
    );
}
