//! Analyses, by hand and against the oracle.

use grammask_grammar_ir::{Expr, Grammar, analysis};
use grammask_oracle::{Recogniser, random};

use crate::{grammar, rules};

fn bytes_of(set: [u64; 4]) -> Vec<u8> {
    (0..=255u8).filter(|&byte| set[usize::from(byte) / 64] >> (byte % 64) & 1 == 1).collect()
}

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
fn left_recursion_goes_through_what_is_nullable() {
    // a ::= "x"? b | "y"    b ::= c*  a "z"    c ::= "c"    d ::= "d" d    e ::= e
    let grammar = rules(&["a", "b", "c", "d", "e", "f"], |builder, references| {
        let [a, b, c, d, e, _] = *references else { panic!("six rules") };
        let texts = ["x", "y", "z", "c", "d"].map(|text| builder.literal(text));
        let optional = builder.optional(texts[0]);
        let nullable_first = builder.sequence([optional, b]);
        let many = builder.repeat(c, 0, None);
        vec![
            builder.choice([nullable_first, texts[1]]),
            builder.sequence([many, a, texts[2]]),
            texts[3],
            builder.sequence([texts[4], d]),
            e,
            // It begins like `a` and is not recursive itself.
            nullable_first,
        ]
    });
    let recursion = analysis::left_recursion(&grammar);
    let names = |group: &[_]| group.iter().map(|&rule| grammar.rule(rule).name()).collect::<Vec<_>>();
    assert_eq!(recursion.groups().map(names).collect::<Vec<_>>(), [vec!["a", "b"], vec!["e"]]);
    let rule = |name| grammar.rule_by_name(name).unwrap();
    assert!(
        recursion.contains(rule("b")) && !recursion.contains(rule("d")) && !recursion.contains(rule("f"))
    );
    assert_eq!(recursion.group(rule("e")), Some(&[rule("e")][..]));
    assert_eq!(recursion.group(rule("c")), None);
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
    assert_eq!(bytes_of(analysis::first_bytes(&grammar).rule(grammar.root())), [b'x']);
}

#[test]
fn first_bytes_of_classes_are_leads_of_encodings() {
    let grammar = grammar(|builder| builder.class([('y', 'é'), ('€', '😀')]));
    let expected: Vec<u8> = (b'y'..=0x7F).chain([0xC2, 0xC3]).chain(0xE2..=0xF0).collect();
    assert_eq!(bytes_of(analysis::first_bytes(&grammar).rule(grammar.root())), expected);
}

fn has_operators(grammar: &Grammar) -> bool {
    let text = grammar.to_string();
    ["Intersection", "Complement", "JsonEscaped"].iter().any(|word| text.contains(word))
}

#[test]
fn random_grammars_agree_with_the_oracle() {
    let mut exact = 0;
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
        let first = bytes_of(analysis::first_bytes(&grammar).rule(root));
        let expected = chart.next_bytes();
        match has_operators(&grammar) {
            true => assert!(expected.iter().all(|byte| first.contains(byte)), "{seed}: {grammar}"),
            false => {
                assert_eq!(first, expected, "{seed}: {grammar}");
                exact += 1;
            }
        }
    }
    assert!(exact > 300, "{exact}");
}
