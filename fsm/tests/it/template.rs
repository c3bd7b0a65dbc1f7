//! Gaps that are filled: the beginnings of all arms are one tree, in which each symbol is one way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use grammask_fsm::{Call, CompileOptions, DeferredProgram, Program, ProgramTemplate, StateId, TemplateArm};
use grammask_grammar_ir::{GrammarBuilder, PatternPart, TokenRef};

use crate::{grammar, simulate};

/// A byte of a text, or the id of a token.
type Symbol = Result<u8, u32>;

fn text(text: &str) -> PatternPart {
    PatternPart::Text(text.into())
}

fn token(id: u32) -> PatternPart {
    PatternPart::Token(TokenRef::Id(id))
}

fn symbols(parts: &[PatternPart]) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for part in parts {
        match part {
            PatternPart::Text(text) => symbols.extend(text.bytes().map(Ok)),
            PatternPart::Token(TokenRef::Id(id)) => symbols.push(Err(*id)),
            PatternPart::Token(_) => panic!("a token without an id"),
        }
    }
    symbols
}

/// The program of `<`, one of the arms, and `>`.
fn linked(arms: &[&TemplateArm]) -> Option<Program> {
    let mut builder = GrammarBuilder::new();
    let [root, gap] = ["root", "gap"].map(|name| builder.declare(name).unwrap());
    let (open, inside, close) = (builder.literal("<"), builder.rule(gap), builder.literal(">"));
    let body = builder.sequence([open, inside, close]);
    builder.define(root, body).unwrap();
    builder.define(gap, open).unwrap();
    let options = CompileOptions::default();
    ProgramTemplate::new(&builder.finish(root).unwrap(), &options, gap).unwrap().link(arms, &options)
}

/// A text, and the call after it.
type Way = (Vec<Symbol>, Option<Call>);

/// All texts that lead from a state to another one, each once, and those that end in a call or a final state.
fn ways(program: &Program, start: StateId) -> (BTreeSet<Vec<Symbol>>, Vec<Way>) {
    let (mut all, mut whole) = (BTreeSet::new(), Vec::new());
    let mut stack = vec![(start, Vec::new())];
    while let Some((at, text)) = stack.pop() {
        let state = program.state(at);
        assert!(text.len() < 100, "{text:?}");
        let longer = |symbol| [&text[..], &[symbol]].concat();
        for edge in state.bytes {
            assert_eq!(edge.start, edge.end);
            stack.push((edge.target, longer(Ok(edge.start))));
        }
        for edge in state.tokens {
            let [id] = *program.labels()[edge.label.index()].ids else { panic!("not one token") };
            stack.push((edge.target, longer(Err(id))));
        }
        whole.extend(state.calls.iter().map(|&call| (text.clone(), Some(call))));
        whole.extend(state.is_final.then(|| (text.clone(), None)));
        assert!(all.insert(text), "two ways of one text");
    }
    (all, whole)
}

/// Links arms of their own content each, and compares the tree with a sorted map.
fn check(begins: &[Vec<PatternPart>]) {
    let content = |at: usize| char::from_u32(0x2000 + at as u32).unwrap().to_string();
    let arms: Vec<TemplateArm> = (0..begins.len())
        .map(|at| {
            let grammar = grammar(|builder| builder.literal(&content(at)));
            let program = DeferredProgram::new(grammar, &CompileOptions::default()).unwrap();
            TemplateArm::new(&begins[at], Arc::new(program), &[text("!")]).unwrap()
        })
        .collect();
    let Some(program) = linked(&arms.iter().collect::<Vec<_>>()) else {
        return assert!(begins.is_empty());
    };
    let mut expected: BTreeMap<Vec<Symbol>, Vec<_>> = BTreeMap::new();
    for (at, begin) in begins.iter().enumerate() {
        expected.entry(symbols(begin)).or_default().push(symbols(&[text(&content(at))]));
    }
    let (_, frame) = ways(&program, program.fragment(program.root()).start);
    let [(open, Some(call))] = &frame[..] else { panic!("{frame:?}") };
    assert_eq!(*open, [Ok(b'<')]);
    assert_eq!(ways(&program, call.target).1, [(vec![Ok(b'>')], None)]);
    let (beginnings, whole) = ways(&program, program.fragment(call.fragment).start);
    let mut found: BTreeMap<Vec<Symbol>, Vec<_>> = BTreeMap::new();
    for (begin, call) in whole {
        let Some(call) = call else { panic!("{begin:?} is a whole arm") };
        let content = ways(&program, program.fragment(call.fragment).start).1.remove(0).0;
        assert_eq!(ways(&program, call.target).1, [(vec![Ok(b'!')], None)]);
        found.entry(begin).or_default().push(content);
    }
    expected.iter().for_each(|(begin, arms)| assert_eq!(found.get(begin), Some(arms), "{begin:?}"));
    let all = expected.keys().flat_map(|begin| (0..=begin.len()).map(|end| begin[..end].to_vec()));
    assert_eq!(beginnings, all.collect());
    simulate::check_invariants(&program.whole().unwrap());
}

#[test]
fn beginnings_are_a_tree() {
    let parts = ["", "a", "\0", "\0\0\0\0\0\0\0\0", "get_weather_of_", "\u{10FFFF}", "ab", "a\0"];
    let mut begins: Vec<Vec<PatternPart>> = Vec::new();
    for one in parts {
        for other in parts {
            begins.push([one, other, one].map(text).to_vec());
            begins.push([other, other].map(text).to_vec());
        }
    }
    for some in [&begins[..], &begins[..40], &begins[3..4], &[]] {
        check(some);
    }
}

#[test]
fn tokens_are_told_apart_as_a_whole() {
    check(&[
        vec![token(7), text("a\u{10FFFF}"), token(u32::MAX), token(0)],
        vec![token(7), text("a\u{10FFFF}"), token(u32::MAX - 1)],
        vec![token(7), text("a\u{10FFFE}")],
        vec![text("ab")],
        vec![text("a"), token(300)],
        vec![text("a"), token(301)],
        vec![token(5), token(300)],
        vec![token(5), token(200_000), text("x")],
        vec![token(5), token(200_000), text("y")],
        vec![token(5), token(300), token(1 << 31)],
        vec![token(5)],
        vec![token(0)],
    ]);
}
