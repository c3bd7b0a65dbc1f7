//! Random grammars and texts.

use grammask_fsm::TextLimits;
use grammask_fsm::text::TextAutomaton;
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, RuleId};
use proptest::prelude::*;

use crate::{check, naive};

#[derive(Clone, Debug)]
enum Tree {
    Empty,
    Literal(&'static str),
    Class(Vec<(char, char)>),
    Sequence(Vec<Tree>),
    Choice(Vec<Tree>),
    Repeat(Box<Tree>, u32, Option<u32>),
    /// A rule by number; above operators only.
    Rule(usize),
    /// Both, or the first but not the second.
    Both(Box<Tree>, Box<Tree>),
    Complement(Box<Tree>),
    Escaped(Box<Tree>),
}

const PIECES: [&str; 22] = [
    "a",
    "b",
    "ab",
    "aa",
    "abb",
    "c",
    "\\",
    "\"",
    "u",
    "0",
    "\\u0061",
    "\\u00e9",
    "\\u00E9",
    "\\n",
    "\n",
    "é",
    "€",
    "\u{1D11E}",
    "\\ud834\\uDD1E",
    "\\/",
    "/",
    "\\\\",
];

fn leaf() -> impl Strategy<Value = Tree> {
    let ranges = prop::collection::vec(
        prop::sample::select(vec![
            ('a', 'b'),
            ('a', 'a'),
            ('b', 'z'),
            ('\0', '\u{1F}'),
            ('"', '/'),
            ('\\', '\\'),
            ('\u{80}', '\u{FFFF}'),
            ('\u{E9}', '\u{E9}'),
            ('\u{D000}', '\u{10FFFF}'),
            ('\0', '\u{10FFFF}'),
        ]),
        0..3,
    );
    prop_oneof![
        1 => Just(Tree::Empty),
        5 => prop::sample::select(PIECES.to_vec()).prop_map(Tree::Literal),
        3 => ranges.prop_map(Tree::Class),
    ]
}

fn bounds() -> impl Strategy<Value = (u32, Option<u32>)> {
    let bounded = (0u32..4, 0u32..4).prop_map(|(min, more)| (min, Some(min + more)));
    let special = prop::sample::select(vec![
        (0, None),
        (1, None),
        (2, None),
        (0, Some(1)),
        (40, None),
        (0, Some(1_000)),
        (2, Some(2_000)),
        (300, Some(900)),
    ]);
    prop_oneof![bounded, special]
}

/// Trees; `operators` allows regular operators, which must not hold rules.
fn tree(with_rules: Option<usize>) -> BoxedStrategy<Tree> {
    let base = match with_rules {
        Some(count) => prop_oneof![3 => leaf(), 2 => (0..count).prop_map(Tree::Rule)].boxed(),
        None => leaf().boxed(),
    };
    let rules = with_rules.is_some();
    base.prop_recursive(4, 24, 3, move |inner| {
        let parts = prop::collection::vec(inner.clone(), 1..4);
        let plain = prop_oneof![
            3 => parts.clone().prop_map(Tree::Sequence),
            3 => parts.prop_map(Tree::Choice),
            2 => (inner.clone(), bounds()).prop_map(|(body, (min, max))| Tree::Repeat(Box::new(body), min, max)),
        ];
        if rules {
            return prop_oneof![5 => plain, 1 => small_regular()].boxed();
        }
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            4 => plain,
            1 => pair.prop_map(|(left, right)| Tree::Both(Box::new(left), Box::new(right))),
            1 => inner.clone().prop_map(|operand| Tree::Complement(Box::new(operand))),
            1 => inner.prop_map(|operand| Tree::Escaped(Box::new(operand))),
        ]
        .boxed()
    })
    .boxed()
}

fn small_regular() -> impl Strategy<Value = Tree> {
    prop_oneof![
        leaf().prop_map(|operand| Tree::Complement(Box::new(operand))),
        (leaf(), leaf()).prop_map(|(left, right)| Tree::Both(Box::new(left), Box::new(right))),
        (leaf(), bounds()).prop_map(|(body, (min, max))| {
            Tree::Escaped(Box::new(Tree::Repeat(Box::new(body), min, max)))
        }),
    ]
}

fn write(tree: &Tree, builder: &mut GrammarBuilder, rules: &[RuleId]) -> ExprId {
    match tree {
        Tree::Empty => builder.empty(),
        Tree::Literal(text) => builder.literal(text),
        Tree::Class(ranges) => builder.class(ranges.iter().copied()),
        Tree::Sequence(parts) => {
            let parts: Vec<ExprId> = parts.iter().map(|part| write(part, builder, rules)).collect();
            builder.sequence(parts)
        }
        Tree::Choice(parts) => {
            let parts: Vec<ExprId> = parts.iter().map(|part| write(part, builder, rules)).collect();
            builder.choice(parts)
        }
        Tree::Repeat(body, min, max) => {
            let body = write(body, builder, rules);
            builder.repeat(body, *min, *max)
        }
        Tree::Rule(number) => builder.rule(rules[number % rules.len()]),
        Tree::Both(left, right) => {
            let operands = [write(left, builder, rules), write(right, builder, rules)];
            builder.intersection(operands)
        }
        Tree::Complement(operand) => {
            let operand = write(operand, builder, rules);
            builder.complement(operand)
        }
        Tree::Escaped(operand) => {
            let operand = write(operand, builder, rules);
            builder.json_escaped(operand)
        }
    }
}

fn grammar(trees: &[Tree]) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let rules: Vec<RuleId> =
        (0..trees.len()).map(|number| builder.declare(&format!("r{number}")).expect("new")).collect();
    for (tree, &rule) in trees.iter().zip(&rules) {
        let body = write(tree, &mut builder, &rules);
        builder.define(rule, body).expect("defined once");
    }
    builder.finish(rules[0]).expect("a good grammar")
}

fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop_oneof![
        30 => prop::sample::select(PIECES.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::sample::select(vec![0xC3u8, 0x80, 0xED, 0xFF]).prop_map(|byte| vec![byte]),
    ];
    let text = prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat());
    prop::collection::vec(text, 8)
}

/// Nested spelling and unrolled counters can pass the default limits; such grammars say nothing.
fn fits(grammar: &Grammar) -> bool {
    let options = grammask_fsm::CompileOptions::default()
        .max_states(20_000)
        .text(TextLimits::default().max_states(2_000).max_steps(200_000));
    let error = grammask_fsm::compile(grammar, &options).err();
    error.is_none_or(|error| error.cause() != grammask_fsm::Cause::LimitReached)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn recursive_grammars(trees in prop::collection::vec(tree(Some(4)), 1..5), texts in texts()) {
        let grammar = grammar(&trees);
        prop_assume!(fits(&grammar));
        check(&grammar, texts.iter().map(Vec::as_slice));
    }

    #[test]
    fn regular_grammars(tree in tree(None), texts in texts()) {
        let grammar = grammar(&[tree]);
        prop_assume!(fits(&grammar));
        check(&grammar, texts.iter().map(Vec::as_slice));
    }

    #[test]
    fn rules_below_operators(one in tree(None), other in tree(None), texts in texts()) {
        let rule = |number| Box::new(Tree::Rule(number));
        let difference = Tree::Both(rule(1), Box::new(Tree::Complement(rule(2))));
        let twice = Tree::Escaped(Box::new(Tree::Sequence(vec![Tree::Rule(1), Tree::Rule(2), Tree::Rule(1)])));
        let root = Tree::Choice(vec![difference, twice, Tree::Rule(2)]);
        let grammar = grammar(&[root, one, other]);
        prop_assume!(fits(&grammar));
        check(&grammar, texts.iter().map(Vec::as_slice));
    }

    #[test]
    fn text_automata(tree in tree(None), texts in texts()) {
        let grammar = grammar(&[tree]);
        let body = grammar.rule(grammar.root()).body();
        let limits = TextLimits::default().max_states(5_000).max_steps(500_000);
        let Ok(automaton) = TextAutomaton::from_expr(&grammar, body, &limits) else { return Ok(()) };
        for text in texts.iter().filter_map(|text| std::str::from_utf8(text).ok()) {
            prop_assert_eq!(automaton.accepts(text), naive::accepts(&grammar, text.as_bytes()), "{:?}", text);
        }
        prop_assert_eq!(&automaton.complement().complement(), &automaton);
        if let Some(text) = automaton.shortest_text() {
            prop_assert!(automaton.accepts(&text));
            prop_assert_eq!(automaton.length_range().map(|range| range.0), Some(text.chars().count() as u32));
        }
        prop_assert_eq!(automaton.shortest_text().is_none(), automaton.is_empty());
        let any = TextAutomaton::any_in(&grammar, body, &limits);
        prop_assert!(any.is_ok_and(|any| any != automaton.is_empty()));
    }

    #[test]
    fn texts_in_common(one in tree(None), other in tree(None), third in tree(None)) {
        let both = Tree::Both(Box::new(one.clone()), Box::new(Tree::Complement(Box::new(other.clone()))));
        for tree in [Tree::Both(Box::new(one), Box::new(other)), Tree::Both(Box::new(both), Box::new(third))] {
            let grammar = grammar(&[tree]);
            let body = grammar.rule(grammar.root()).body();
            let limits = TextLimits::default().max_states(5_000).max_steps(500_000);
            let Ok(automaton) = TextAutomaton::from_expr(&grammar, body, &limits) else { continue };
            let any = TextAutomaton::any_in(&grammar, body, &limits);
            prop_assert!(any.is_ok_and(|any| any != automaton.is_empty()));
        }
    }

    #[test]
    fn texts_in_common_of_many(all in prop::collection::vec((leaf(), any::<bool>()), 2..8)) {
        let mut builder = GrammarBuilder::new();
        let mut operands = Vec::new();
        for (tree, is_held) in &all {
            // Somewhere in the text, so that most operands have texts in common.
            let any = Tree::Repeat(Box::new(Tree::Class(vec![('\0', char::MAX)])), 0, None);
            let tree = Tree::Sequence(vec![any.clone(), tree.clone(), any]);
            let text = write(&tree, &mut builder, &[]);
            operands.push(if *is_held { text } else { builder.complement(text) });
        }
        let body = builder.intersection(operands);
        let rule = builder.add_rule("root", body).unwrap();
        let grammar = builder.finish(rule).unwrap();
        let body = grammar.rule(rule).body();
        let limits = TextLimits::default().max_states(5_000).max_steps(500_000);
        if let Ok(automaton) = TextAutomaton::from_expr(&grammar, body, &limits) {
            let any = TextAutomaton::any_in(&grammar, body, &limits);
            prop_assert!(any.is_ok_and(|any| any != automaton.is_empty()));
        }
    }
}
