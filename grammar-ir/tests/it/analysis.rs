//! Analyses, by hand and against the oracle.

use grammask_grammar_ir::{Expr, analysis};
use grammask_oracle::{Recogniser, random};

use crate::{grammar, rules};

#[test]
fn nullable_reads_complements_the_right_way_round() {
    let grammar = grammar(|builder| {
        let (a, empty) = (builder.literal("a"), builder.empty());
        let optional = builder.choice([a, empty]);
        let complement = builder.complement(optional);
        let twice = builder.complement(complement);
        builder.sequence([twice, optional])
    });
    assert!(analysis::nullable(&grammar).rule(grammar.root()));
    let Expr::Sequence(parts) = grammar.expr(grammar.rule(grammar.root()).body()) else {
        panic!("a sequence")
    };
    let inner = grammar.operands(parts[0])[0];
    assert!(!analysis::nullable(&grammar).expr(inner));
}

#[test]
fn productive_needs_a_way_to_end() {
    let grammar = rules(&["root", "endless", "none"], |builder, references| {
        let (x, never) = (builder.literal("x"), builder.never());
        let maybe = builder.optional(references[2]);
        vec![builder.sequence([maybe, x]), builder.sequence([x, references[1]]), builder.sequence([x, never])]
    });
    let productive = analysis::productive(&grammar);
    let answers: Vec<_> = grammar.rule_ids().map(|rule| productive.rule(rule)).collect();
    assert_eq!(answers, [true, false, false]);
    assert_eq!(analysis::reachable(&grammar), [true, false, true]);
}

#[test]
fn random_grammars_agree_with_the_oracle() {
    let mut asked = 0;
    for seed in 0..1200 {
        let grammar = random::any_grammar(&mut random::Rng::new(seed), &Default::default());
        let recogniser = Recogniser::new(&grammar);
        let (root, chart) = (grammar.root(), recogniser.begin());
        let productive = analysis::productive(&grammar).rule(root);
        assert!(productive || recogniser.is_language_empty(), "{seed}: {grammar}");
        if recogniser.is_language_empty() {
            continue;
        }
        assert_eq!(analysis::nullable(&grammar).rule(root), chart.is_complete(), "{seed}: {grammar}");
        asked += 1;
    }
    assert!(asked > 300, "{asked}");
}
