//! Passes: what they do, and that they keep the language.

use grammask_grammar_ir::passes::{
    InlineOptions, PassOptions, concat, drop_unreachable, inline, optimize, simplify, union,
};
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, Span};
use grammask_oracle::{Recogniser, random};
use insta::assert_snapshot;

use crate::{grammar, rules};

fn simplified(make: impl FnOnce(&mut GrammarBuilder) -> ExprId) -> String {
    let text = simplify(&grammar(make)).unwrap().to_string();
    text.strip_prefix("root ::= ").unwrap().trim_end_matches('\n').to_owned()
}

#[test]
fn literals_merge() {
    let text = simplified(|builder| {
        let (a, b, single) = (builder.literal("a"), builder.bytes(b"\xC3"), builder.class([('x', 'x')]));
        let rest = builder.bytes(b"\xA9");
        let many = builder.repeat(single, 0, None);
        builder.sequence([a, b, rest, single, many, a])
    });
    assert_snapshot!(text, @r#""aéx" "x"* "a""#);
}

#[test]
fn choices_flatten_and_merge_characters() {
    let text = simplified(|builder| {
        let [a, b, word, again] = ["a", "b", "word", "word"].map(|text| builder.literal(text));
        let digits = builder.class([('0', '9')]);
        let (never, empty) = (builder.never(), builder.empty());
        let inner = builder.choice([b, never, again, empty]);
        let dead = builder.sequence([a, never]);
        builder.choice([word, a, inner, digits, dead, inner])
    });
    assert_snapshot!(text, @r#""word" | [0-9ab] | """#);
    assert_snapshot!(simplified(|builder| {
        let [a, b] = ["a", "a"].map(|text| builder.literal(text));
        builder.choice([a, b])
    }), @r#""a""#);
    assert_snapshot!(simplified(|builder| {
        let never = builder.never();
        let dead = builder.repeat(never, 2, None);
        builder.choice([never, dead])
    }), @"[]");
}

#[test]
fn repeats_of_repeats_merge_where_no_count_is_left_out() {
    let check = |inner: (u32, Option<u32>), outer: (u32, Option<u32>)| {
        simplified(|builder| {
            let word = builder.literal("a");
            let body = builder.repeat(word, inner.0, inner.1);
            builder.repeat(body, outer.0, outer.1)
        })
    };
    assert_snapshot!(check((0, Some(1)), (0, None)), @r#""a"*"#);
    assert_snapshot!(check((0, Some(1)), (1, None)), @r#""a"*"#);
    assert_snapshot!(check((1, None), (0, Some(1))), @r#""a"*"#);
    assert_snapshot!(check((2, Some(2)), (3, Some(3))), @r#""a"{6}"#);
    assert_snapshot!(check((2, Some(3)), (1, Some(4))), @r#""a"{2,12}"#);
    assert_snapshot!(check((3, Some(4)), (1, Some(4))), @r#"("a"{3,4}){1,4}"#);
    assert_snapshot!(check((3, Some(4)), (2, Some(4))), @r#""a"{6,16}"#);
    assert_snapshot!(check((2, None), (3, Some(5))), @r#""a"{6,}"#);
    assert_snapshot!(check((2, Some(2)), (0, None)), @r#"("a"{2})*"#);
    assert_snapshot!(check((2, None), (0, Some(1))), @r#"("a"{2,})?"#);
    assert_snapshot!(
        check((1 << 16, None), (1 << 16, None)),
        @r#"("a"{65536,}){65536,}"#
    );
}

#[test]
fn bounds_of_repeats_of_repeats_are_exact() {
    // All small bounds, judged by counting.
    let bounds = || (0..4u32).flat_map(|min| (min.max(1)..5).map(move |max| (min, max)));
    for inner in bounds() {
        for outer in bounds() {
            let written = grammar(|builder| {
                let a = builder.literal("a");
                let body = builder.repeat(a, inner.0, Some(inner.1));
                builder.repeat(body, outer.0, Some(outer.1))
            });
            let plainer = Recogniser::new(&simplify(&written).unwrap());
            for length in 0..20u32 {
                let expected =
                    (outer.0..=outer.1).any(|times| (times * inner.0..=times * inner.1).contains(&length));
                assert_eq!(plainer.accepts(&vec![b'a'; length as usize]), expected, "{inner:?} {outer:?}");
            }
        }
    }
}

#[test]
fn regular_operators_simplify() {
    let text = simplified(|builder| {
        let a = builder.literal("ab");
        let complement = builder.complement(a);
        let twice = builder.complement(complement);
        let both = builder.intersection([twice, a]);
        let (empty, never) = (builder.empty(), builder.never());
        let nothing = builder.json_escaped(empty);
        let dead = builder.intersection([a, never]);
        let alternatives = builder.choice([dead, both]);
        builder.sequence([nothing, alternatives])
    });
    assert_snapshot!(text, @r#""ab""#);
}

#[test]
fn only_small_rules_without_recursion_are_inlined() {
    let grammar = rules(&["root", "small", "large", "loops"], |builder, references| {
        let [_, small, large, loops] = *references else { panic!("four rules") };
        let x = builder.literal("x");
        let many: Vec<_> = (0..20).map(|index| builder.literal(&format!("word{index}"))).collect();
        let nested = builder.sequence([x, small]);
        let tail = builder.choice([nested, loops]);
        vec![builder.sequence([small, large, loops]), builder.choice([x, x]), builder.choice(many), tail]
    });
    let inlined = inline(&grammar, &InlineOptions::default()).unwrap();
    let text = drop_unreachable(&inlined).unwrap().to_string();
    assert_eq!(
        text.lines().filter(|line| !line.starts_with("large")).collect::<Vec<_>>(),
        [r#"root ::= ("x" | "x") large loops"#, r#"loops ::= "x" ("x" | "x") | loops"#]
    );
    let mut options = InlineOptions::default();
    options.max_size = 0;
    assert!(inline(&grammar, &options).unwrap().is_same(&grammar));
}

#[test]
fn what_is_kept_keeps_name_span_and_lookahead() {
    let mut builder = GrammarBuilder::new();
    let [unused, root, seen] = ["unused", "root", "seen"].map(|name| builder.declare(name).unwrap());
    let (x, reference) = (builder.literal("x"), builder.rule(seen));
    for rule in [unused, root, seen] {
        builder.define(rule, x).unwrap();
    }
    builder.set_lookahead(root, reference);
    builder.set_span(root, Span::new(1, 2));
    let optimized = optimize(&builder.finish(root).unwrap(), &PassOptions::default()).unwrap();
    assert_eq!(optimized.rule(optimized.root()).span(), Some(Span::new(1, 2)));
    // A lookahead's references are inlined like others, and the rule behind is not needed any more.
    assert_snapshot!(optimized, @r#"root ::= "x" (=("x"))"#);
}

#[test]
fn passes_can_be_switched_off() {
    for seed in 0..50 {
        let grammar = random::any_grammar(&mut random::Rng::new(seed), &Default::default());
        assert_eq!(optimize(&grammar, &PassOptions::none()).unwrap(), grammar);
    }
}

/// Whether two grammars allow the same bytes, and end at the same places, along random texts of the first.
fn check_same_language(seed: u64, before: &Grammar, after: &Grammar) {
    let (ours, theirs) = (Recogniser::new(before), Recogniser::new(after));
    let context = || format!("seed {seed}\n{before}\n{after}");
    assert_eq!(ours.is_language_empty(), theirs.is_language_empty(), "{}", context());
    let mut rng = random::Rng::new(seed);
    for _ in 0..4 {
        let text = random::walk(&mut rng, &ours, 10);
        let (mut our_chart, mut their_chart) = (ours.begin(), theirs.begin());
        for &byte in &text {
            assert_eq!(our_chart.is_complete(), their_chart.is_complete(), "{text:?} {}", context());
            assert_eq!(our_chart.next_bytes(), their_chart.next_bytes(), "{text:?} {}", context());
            assert!(our_chart.push(byte) && their_chart.push(byte));
        }
        assert_eq!(our_chart.is_complete(), their_chart.is_complete(), "{text:?} {}", context());
    }
}

#[test]
fn random_grammars_keep_their_language() {
    for seed in 0..800 {
        let options = random::GrammarOptions::default();
        let grammar = random::any_grammar(&mut random::Rng::new(seed), &options);
        let after = match seed % 4 {
            0 => simplify(&grammar).unwrap(),
            1 => inline(&grammar, &InlineOptions::default()).unwrap(),
            2 => drop_unreachable(&grammar).unwrap(),
            _ => optimize(&grammar, &PassOptions::default()).unwrap(),
        };
        check_same_language(seed, &grammar, &after);
        // A second run finds nothing more to do that would change what is printed.
        if seed % 4 == 0 {
            assert_eq!(simplify(&after).unwrap().to_string(), after.to_string(), "{seed}: {grammar}");
        }
    }
}

#[test]
fn grammars_combine() {
    let one = grammar(|builder| {
        let a = builder.literal("a");
        builder.repeat(a, 1, None)
    });
    let two = grammar(|builder| {
        let b = builder.literal("b");
        let body = builder.choice([b]);
        let rule = builder.add_rule("tail", body).unwrap();
        let tail = builder.rule(rule);
        builder.optional(tail)
    });
    assert_snapshot!(concat(&[&one, &two, &one]).unwrap().to_string(), @r#"
    root ::= root_1 root_2 root_4
    root_1 ::= "a"+
    root_2 ::= tail?
    tail ::= "b"
    root_4 ::= "a"+
    "#);
    assert_snapshot!(union(&[&one, &two]).unwrap().to_string(), @r#"
    root ::= root_1 | root_2
    root_1 ::= "a"+
    root_2 ::= tail?
    tail ::= "b"
    "#);
    assert_snapshot!(concat(&[]).unwrap().to_string(), @r#"root ::= """#);
    assert_snapshot!(union(&[]).unwrap().to_string(), @"root ::= []");
}
