//! Rules whose automata were compiled before: the whole accepts what it would accept had it been compiled at once.

use std::sync::Arc;

use grammask_fsm::{
    Cause, CompileOptions, DeferredProgram, Distances, LinkedProgram, Program, Toggle, compile, compile_with,
};
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, passes};

use crate::{built, grammar, naive, no_passes, recursive_grammar, simulate};

type Write = fn(&mut GrammarBuilder, &[ExprId]) -> ExprId;

/// Languages over `a`, `b` and `c`: one word, a recursive rule, one that may be empty, long repeats.
fn part_grammars() -> Vec<Grammar> {
    vec![
        grammar(|builder| builder.literal("ab")),
        recursive_grammar(|builder, root| {
            let again = builder.rule(root);
            let (open, close) = (builder.literal("a"), builder.literal("b"));
            let nested = builder.sequence([open, again, close]);
            let end = builder.literal("c");
            builder.choice([nested, end])
        }),
        grammar(|builder| {
            let one = builder.literal("b");
            builder.repeat(one, 0, None)
        }),
        grammar(|builder| {
            let (one, two) = (builder.literal("a"), builder.literal("ca"));
            let body = builder.choice([one, two]);
            let many = builder.repeat(body, 2, Some(400));
            let end = builder.literal("b");
            builder.sequence([many, end])
        }),
        grammar(|builder| {
            let (one, two) = (builder.literal("bc"), builder.literal("b"));
            let one = builder.optional(one);
            builder.sequence([one, two])
        }),
    ]
}

/// How references to the parts stand in the whole.
const WHOLES: &[Write] = &[
    |builder, parts| builder.choice(parts.iter().copied()),
    |builder, parts| builder.sequence([parts[2], parts[0], parts[2], parts[1]]),
    |builder, parts| {
        let one = builder.choice([parts[0], parts[4]]);
        let end = builder.literal("c");
        let many = builder.repeat(one, 0, None);
        builder.sequence([many, end])
    },
    |builder, parts| {
        let end = builder.sequence([parts[3], parts[2]]);
        builder.choice([end, parts[3], parts[4]])
    },
    |_, parts| parts[1],
];

/// The whole with the parts in it, and the whole with rules that stand for them.
fn both(parts: &[Grammar], write: Write) -> (Grammar, Grammar) {
    let inside = {
        let mut builder = GrammarBuilder::new();
        let root = builder.declare("root").unwrap();
        let rules: Vec<_> = parts.iter().map(|part| passes::append(&mut builder, part).unwrap()).collect();
        let references: Vec<_> = rules.into_iter().map(|rule| builder.rule(rule)).collect();
        let body = write(&mut builder, &references);
        builder.define(root, body).unwrap();
        builder.finish(root).unwrap()
    };
    let outline = {
        let mut builder = GrammarBuilder::new();
        let root = builder.declare("root").unwrap();
        let references: Vec<_> = parts
            .iter()
            .map(|_| {
                let rule = builder.declare_fresh("part").unwrap();
                let body = builder.literal("not read");
                builder.define(rule, body).unwrap();
                builder.rule(rule)
            })
            .collect();
        let body = write(&mut builder, &references);
        builder.define(root, body).unwrap();
        builder.finish(root).unwrap()
    };
    (inside, outline)
}

/// The whole with its parts copied, by reference, and by reference before they are compiled.
fn linked(outline: &Grammar, grammars: &[Grammar], options: &CompileOptions) -> [Program; 3] {
    let programs: Vec<Program> = grammars.iter().map(built).collect();
    // The root is the first rule.
    let rules = || outline.rule_ids().skip(1);
    let parts: Vec<_> =
        rules().zip(&programs).map(|(rule, program)| LinkedProgram::copied(rule, program)).collect();
    let copied = compile_with(outline, options, &parts).unwrap();
    let by_reference = [Toggle::Off, Toggle::On].map(|deferred_programs| {
        let options = options.clone().deferred_programs(deferred_programs);
        let lazy = |grammar: &Grammar| Arc::new(DeferredProgram::new(grammar.clone(), &options).unwrap());
        let programs: Vec<Arc<DeferredProgram>> = grammars.iter().map(lazy).collect();
        assert!(deferred_programs == Toggle::On || programs.iter().all(|program| program.is_compiled()));
        let parts: Vec<_> =
            rules().zip(&programs).map(|(rule, program)| LinkedProgram::referred(rule, program)).collect();
        compile_with(outline, &options, &parts).unwrap()
    });
    let [made, late] = by_reference;
    assert!(made.sub_program_counts().compiled == made.sub_program_counts().all);
    assert_eq!(made.sub_program_counts().all, late.sub_program_counts().all);
    [copied, made, late]
}

/// All texts over `a`, `b` and `c` of at most this many bytes.
fn texts(most: usize) -> Vec<Vec<u8>> {
    let mut texts = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..most {
        let to = texts.len();
        for at in from..to {
            for byte in *b"abc" {
                let text = [&texts[at][..], &[byte]].concat();
                texts.push(text);
            }
        }
        from = to;
    }
    texts
}

#[test]
fn linked_parts_accept_what_the_whole_accepts() {
    let grammars = part_grammars();
    let mut late = 0;
    for &write in WHOLES {
        let (inside, outline) = both(&grammars, write);
        for options in [CompileOptions::default(), no_passes()] {
            let programs = linked(&outline, &grammars, &options);
            late += programs[2].sub_program_counts().all - programs[2].sub_program_counts().compiled;
            assert_eq!(programs[1].fingerprint(), programs[2].fingerprint());
            for program in programs {
                simulate::check_invariants(&program.whole().unwrap());
                for text in texts(6) {
                    let found = simulate::accepts(&program, &text);
                    assert_eq!(found, naive::accepts(&inside, &text), "{}", text.escape_ascii());
                }
                assert!(program.failure().is_none());
            }
        }
    }
    // The part that may read nothing is copied.
    assert!(late > 20, "{late}");
}

#[test]
fn what_was_linked_can_be_linked() {
    let grammars = part_grammars();
    let (inside, outline) = both(&grammars, WHOLES[1]);
    let inner = linked(&outline, &grammars, &CompileOptions::default());
    let around: Write = |builder, parts| {
        let (open, close) = (builder.literal("c"), builder.literal("c"));
        builder.sequence([open, parts[0], close])
    };
    let (inside, outline) = both(&[inside], around);
    let rule = outline.rule_ids().nth(1).unwrap();
    for inner in inner {
        let late = Arc::new(DeferredProgram::from(Arc::new(inner.clone())));
        for part in [LinkedProgram::copied(rule, &inner), LinkedProgram::referred(rule, &late)] {
            let program = compile_with(&outline, &CompileOptions::default(), &[part]).unwrap();
            simulate::check_invariants(&program.whole().unwrap());
            for text in texts(7) {
                let found = simulate::accepts(&program, &text);
                assert_eq!(found, naive::accepts(&inside, &text), "{}", text.escape_ascii());
            }
        }
    }
}

#[test]
fn parts_stand_above_operators_only() {
    let grammars = part_grammars();
    let programs: Vec<Program> = grammars.iter().map(built).collect();
    let (_, outline) = both(&grammars, |builder, parts| builder.json_escaped(parts[0]));
    let rule = outline.rule_ids().nth(1).unwrap();
    let late = Arc::new(DeferredProgram::new(grammars[0].clone(), &CompileOptions::default()).unwrap());
    for part in [LinkedProgram::copied(rule, &programs[0]), LinkedProgram::referred(rule, &late)] {
        let error = compile_with(&outline, &CompileOptions::default(), &[part]).unwrap_err();
        assert_eq!(error.cause(), Cause::PartBelowOperator);
    }
}

#[test]
fn limits_count_what_is_linked() {
    let grammars = part_grammars();
    let programs: Vec<Program> = grammars.iter().map(built).collect();
    let (_, outline) = both(&grammars, WHOLES[0]);
    let options = CompileOptions::default().max_states(12);
    assert!(compile(&grammars[0], &options).is_ok());
    let parts: Vec<LinkedProgram<'_>> = outline
        .rule_ids()
        .skip(1)
        .zip(&programs)
        .map(|(rule, program)| LinkedProgram::copied(rule, program))
        .collect();
    let error = compile_with(&outline, &options, &parts).unwrap_err();
    assert_eq!(error.cause(), Cause::LimitReached);
}

/// The parts get their numbers when they are read; what is asked of their states is the same.
#[test]
fn numbers_are_given_when_parts_are_read() {
    let grammars = part_grammars();
    let (_, outline) = both(&grammars, WHOLES[1]);
    let [copied, made, late] = linked(&outline, &grammars, &CompileOptions::default());
    let unread = late.state_count();
    assert_eq!(unread, made.state_count());
    let lengths = |program: &Program| {
        let distances = Distances::new(program);
        let ids = program.fragments_with_ids();
        let mut lengths: Vec<u64> = ids.map(|(id, _)| distances.body(program, id)).collect();
        lengths.sort_unstable();
        lengths
    };
    assert_eq!(lengths(&late), lengths(&made));
    assert_eq!(lengths(&late), lengths(&copied));
    assert!(unread < late.state_count());
    assert_eq!(late.state_count(), made.state_count());
    let past = grammask_fsm::StateId::new(late.state_count()).unwrap();
    assert!(!late.state(past).is_final && late.state(past).bytes.is_empty());
    assert_eq!(Distances::new(&late).to_end(past), u64::MAX);
}
