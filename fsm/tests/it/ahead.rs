//! Parts that are compiled late, piece by piece while a text comes to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use grammask_fsm::{
    CompileOptions, DeferredProgram, LinkedProgram, Program, SizeEstimate, StateId, compile,
    compile_deferred, compile_with,
};
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, RuleId};

use crate::{grammar, simulate};

/// `[`, some items with commas between them, `]`.
fn list() -> Grammar {
    grammar(|builder| {
        let items = ["ab", "ac", "cab"].map(|item| builder.literal(item));
        let item = builder.choice(items);
        let item = builder.repeat(item, 1, Some(30));
        let comma = builder.literal(",");
        let more = builder.sequence([comma, item]);
        let more = builder.repeat(more, 0, None);
        let (open, close) = (builder.literal("["), builder.literal("]"));
        builder.sequence([open, item, more, close])
    })
}

/// A bit for each character.
fn characters(text: &str) -> u128 {
    text.bytes().fold(0, |bits, byte| bits | 1 << byte)
}

/// A list that is not written before it is read, and a count of how often it was.
fn unwritten() -> (Arc<DeferredProgram>, Arc<AtomicUsize>) {
    let written = Arc::new(AtomicUsize::new(0));
    let write = {
        let written = Arc::clone(&written);
        move || {
            written.fetch_add(1, Ordering::Relaxed);
            Some(list())
        }
    };
    let forecast = SizeEstimate { states: 1_000, characters: characters("abc") };
    (Arc::new(DeferredProgram::from_estimate(&forecast, write, &CompileOptions::default()).unwrap()), written)
}

/// A grammar around rules that stand for parts. The root is its first rule.
fn around(parts: usize, write: impl FnOnce(&mut GrammarBuilder, &[ExprId]) -> ExprId) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    let mut references = Vec::new();
    for _ in 0..parts {
        let rule = builder.declare_fresh("part").unwrap();
        let body = builder.literal("not read");
        builder.define(rule, body).unwrap();
        references.push(builder.rule(rule));
    }
    let body = write(&mut builder, &references);
    builder.define(root, body).unwrap();
    builder.finish(root).unwrap()
}

fn referring(outline: &Grammar, parts: &[Arc<DeferredProgram>]) -> Program {
    let rules = outline.rule_ids().skip(1);
    let parts: Vec<_> = rules.zip(parts).map(|(rule, part)| LinkedProgram::referred(rule, part)).collect();
    compile_with(outline, &CompileOptions::default(), &parts).unwrap()
}

fn start(program: &Program) -> StateId {
    program.fragment(program.root()).start
}

/// The state that a byte leads to, where one edge reads it.
fn after(program: &Program, from: StateId, byte: u8) -> StateId {
    let edges = program.state(from).bytes.iter().filter(|edge| (edge.start..=edge.end).contains(&byte));
    let targets: Vec<StateId> = edges.map(|edge| edge.target).collect();
    assert_eq!(targets.len(), 1);
    targets[0]
}

/// This many pieces until the part behind a state is compiled and read.
fn pieces(program: &Program, from: StateId) -> usize {
    assert_eq!(program.sub_program_counts().compiled, 0);
    let pieces = (1..20).find(|_| {
        program.precompile_step(from);
        program.sub_program_counts().compiled > 0
    });
    pieces.expect("it is compiled")
}

#[test]
fn what_a_text_is_sure_to_come_to_is_compiled_piece_by_piece() {
    let outline = around(1, |builder, parts| {
        let (begin, end) = (builder.literal("<function=list>"), builder.literal("</function>"));
        builder.sequence([begin, parts[0], end])
    });
    let (part, written) = unwritten();
    let program = referring(&outline, &[part]);
    let from = start(&program);
    assert_eq!(written.load(Ordering::Relaxed), 0);
    program.precompile_step(from);
    assert_eq!((written.load(Ordering::Relaxed), program.sub_program_counts().compiled), (1, 0));
    // It was written; its automata are built, the passes run, and it is read.
    assert_eq!(pieces(&program, from), 3);
    assert_eq!(written.load(Ordering::Relaxed), 1);
    program.precompile_step(from);

    let alone = compile_alone();
    let at_once = LinkedProgram::copied(outline.rule_ids().nth(1).unwrap(), &alone);
    let at_once = compile_with(&outline, &CompileOptions::default(), &[at_once]).unwrap();
    assert_eq!(program.fingerprint(), at_once.fingerprint());
    assert!(program.failure().is_none());
    for text in ["<function=list>[ab,cab]</function>", "<function=list>[]</function>", "<function=list>[a"] {
        let found = simulate::accepts(&program, text.as_bytes());
        assert_eq!(found, simulate::accepts(&at_once, text.as_bytes()), "{text}");
    }
}

fn compile_alone() -> Program {
    compile(&list(), &CompileOptions::default()).unwrap()
}

/// Before the last token of a name what is left is halved.
#[test]
fn more_is_done_where_little_time_is_left() {
    let outline = around(1, |builder, parts| {
        let begin = builder.literal("list>");
        builder.sequence([begin, parts[0]])
    });
    let (part, _) = unwritten();
    let program = referring(&outline, &[part]);
    // It is written and built, the passes run, and it is read.
    assert_eq!(pieces(&program, start(&program)), 3);
}

/// Wherever a text stops on its way, what is left is compiled when it is read.
#[test]
fn what_is_begun_is_finished_where_it_is_read() {
    let alone = compile_alone();
    for begun in 0..4 {
        let (part, written) = unwritten();
        let outline = around(1, |builder, parts| {
            let begin = builder.literal("x");
            builder.sequence([begin, parts[0]])
        });
        let program = referring(&outline, &[Arc::clone(&part)]);
        (0..begun).for_each(|_| program.precompile_step(start(&program)));
        assert_eq!(part.program().unwrap().fingerprint(), alone.fingerprint(), "{begun} pieces");
        assert!(simulate::accepts(&program, b"x[abac,cab]"));
        assert_eq!(written.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn what_a_text_may_pass_by_is_not_compiled() {
    let (parts, written): (Vec<_>, Vec<_>) = (0..2).map(|_| unwritten()).unzip();
    let outline = around(2, |builder, parts| {
        let ways = [("ab", parts[0]), ("ad", parts[1])].map(|(name, part)| {
            let name = builder.literal(name);
            builder.sequence([name, part])
        });
        builder.choice(ways)
    });
    let program = referring(&outline, &parts);
    let counts = || [0, 1].map(|at: usize| written[at].load(Ordering::Relaxed));
    let from = start(&program);
    (0..10).for_each(|_| program.precompile_step(from));
    assert_eq!(counts(), [0, 0]);
    // After the letter that tells which of them it is.
    let told = after(&program, after(&program, from, b'a'), b'd');
    program.precompile_step(told);
    assert_eq!(counts(), [0, 1]);
}

#[test]
fn what_stands_in_what_may_be_left_out_is_not_compiled() {
    let (part, written) = unwritten();
    let outline = around(1, |builder, parts| {
        let (begin, comma, end) = (builder.literal("<"), builder.literal(","), builder.literal(">"));
        let more = builder.sequence([comma, parts[0]]);
        let more = builder.repeat(more, 0, Some(60));
        builder.sequence([begin, more, end])
    });
    let program = referring(&outline, &[part]);
    let from = start(&program);
    (0..10).for_each(|_| program.precompile_step(from));
    assert_eq!(written.load(Ordering::Relaxed), 0);
    assert!(simulate::accepts(&program, b"<>") && simulate::accepts(&program, b"<,[ab]>"));
}

/// Of a chain of thousands of bytes only the nearer end is looked at.
#[test]
fn what_is_far_away_is_not_compiled() {
    let (part, written) = unwritten();
    let outline = around(1, |builder, parts| {
        let begin = builder.literal(&"x".repeat(5_000));
        builder.sequence([begin, parts[0]])
    });
    let program = referring(&outline, &[part]);
    program.precompile_step(start(&program));
    assert_eq!(written.load(Ordering::Relaxed), 0);
}

/// Rules of a large grammar that wait are worked at as well.
#[test]
fn rules_that_wait_are_compiled_ahead() {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    let (open, close) = (builder.literal("("), builder.literal(")"));
    let ways: Vec<ExprId> = ["one", "two", "three"]
        .into_iter()
        .map(|name| {
            let text = builder.literal(name);
            let more = builder.repeat(text, 0, None);
            let body = builder.sequence([open, text, more, close]);
            let rule: RuleId = builder.add_rule(&format!("rule_{name}"), body).unwrap();
            let rule = builder.rule(rule);
            builder.sequence([text, rule])
        })
        .collect();
    let body = builder.choice(ways);
    builder.define(root, body).unwrap();
    let grammar = builder.finish(root).unwrap();
    let options = CompileOptions::default().deferred_min_states(0);
    let program = compile_deferred(&grammar, &options, |whole| Arc::new(whole.clone())).unwrap();
    assert_eq!(program.sub_program_counts().all, 3);
    assert_eq!(pieces(&program, after(&program, start(&program), b'o')), 3);
    assert!(simulate::accepts(&program, b"two(twotwo)"));
    assert!(!simulate::accepts(&program, b"two(one)"));
}

/// A job that makes no grammar, or another one, is an error when it is read, as without pieces.
#[test]
fn what_was_foretold_wrongly_is_an_error_where_it_is_read() {
    let forecast = SizeEstimate { states: 20, characters: characters("a") };
    let other = || Some(grammar(|builder| builder.literal(&"az".repeat(20_000))));
    let none = || None;
    let options = CompileOptions::default();
    let parts = [
        DeferredProgram::from_estimate(&forecast, other, &options).unwrap(),
        DeferredProgram::from_estimate(&forecast, none, &options).unwrap(),
    ];
    for part in parts {
        let outline = around(1, |builder, parts| {
            let begin = builder.literal("x");
            builder.sequence([begin, parts[0]])
        });
        let program = referring(&outline, &[Arc::new(part)]);
        (0..10).for_each(|_| program.precompile_step(start(&program)));
        assert!(!simulate::accepts(&program, b"xa"));
        assert!(program.failure().is_some());
    }
}

/// Only the facts must be true. A size that is too small is found out when the program is there, and does no harm.
#[test]
fn a_size_may_be_estimated_wrongly() {
    let forecast = SizeEstimate { states: 20, characters: characters("a") };
    let long = "a".repeat(20_000);
    let text = long.clone();
    let write = move || Some(grammar(|builder| builder.literal(&text)));
    let part = DeferredProgram::from_estimate(&forecast, write, &CompileOptions::default()).unwrap();
    let outline = around(1, |builder, parts| {
        let begin = builder.literal("x");
        builder.sequence([begin, parts[0]])
    });
    let program = referring(&outline, &[Arc::new(part)]);
    assert!(simulate::accepts(&program, format!("x{long}").as_bytes()));
    assert!(!simulate::accepts(&program, format!("x{long}a").as_bytes()));
    assert!(program.failure().is_none());
}

#[test]
fn threads_may_work_ahead_and_read_at_once() {
    for _ in 0..50 {
        let (part, written) = unwritten();
        let outline = around(1, |builder, parts| {
            let begin = builder.literal("x");
            builder.sequence([begin, parts[0]])
        });
        let program = referring(&outline, &[part]);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let program = &program;
                scope.spawn(move || match thread % 2 {
                    0 => (0..5).for_each(|_| program.precompile_step(start(program))),
                    _ => assert!(simulate::accepts(program, b"x[abac,cab]")),
                });
            }
        });
        assert_eq!(written.load(Ordering::Relaxed), 1);
        assert_eq!(program.sub_program_counts().compiled, 1);
    }
}
