//! Programs that are compiled when they are first read.

use std::sync::Arc;

use grammask_fsm::{Cause, CompileOptions, LazyProgram, Pass};
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, Interrupt, RuleId, RuleOptions};

use crate::{grammar, recursive_grammar};

fn lazy(grammar: &Grammar) -> LazyProgram {
    LazyProgram::new(grammar.clone(), &CompileOptions { lazy_units: Pass::On, ..CompileOptions::default() })
        .unwrap()
}

/// Whether a grammar can wait. Compiled at once or late, it is the same.
fn waits(grammar: &Grammar) -> bool {
    let late = lazy(grammar);
    let waits = !late.is_made();
    let at_once = CompileOptions { lazy_units: Pass::Off, ..CompileOptions::default() };
    let at_once = LazyProgram::new(grammar.clone(), &at_once).unwrap();
    assert!(at_once.is_made());
    assert_eq!(late.program().unwrap().fingerprint(), at_once.program().unwrap().fingerprint());
    assert!(late.is_made());
    waits
}

fn json_string(builder: &mut GrammarBuilder, inside: ExprId) -> ExprId {
    let quote = builder.literal("\"");
    let inside = builder.json_escaped(inside);
    builder.sequence([quote, inside, quote])
}

#[test]
fn what_one_look_explains_waits() {
    assert!(waits(&grammar(|builder| builder.literal("ab"))));
    assert!(waits(&grammar(|builder| {
        let any = builder.any_char();
        let text = builder.repeat(any, 0, Some(1_000));
        json_string(builder, text)
    })));
    // Names that differ from others.
    assert!(waits(&grammar(|builder| {
        let names = [builder.literal("name"), builder.literal("no\"te")];
        let names = builder.choice(names);
        let others = builder.complement(names);
        json_string(builder, others)
    })));
    // A list of lists, of characters that share bytes with others.
    assert!(waits(&recursive_grammar(|builder, root| {
        let again = builder.rule(root);
        let item = builder.class([('\u{E9}', '\u{20AC}'), ('x', 'z')]);
        let item = builder.choice([again, item]);
        let items = builder.repeat(item, 0, None);
        let (open, close) = (builder.literal("["), builder.literal("]"));
        builder.sequence([open, items, close])
    })));
}

#[test]
fn what_takes_automata_to_decide_does_not_wait() {
    // It may read nothing.
    assert!(!waits(&grammar(|builder| {
        let one = builder.literal("a");
        builder.repeat(one, 0, None)
    })));
    // It begins with itself, behind what may be empty.
    assert!(!waits(&recursive_grammar(|builder, root| {
        let again = builder.rule(root);
        let (maybe, end) = (builder.literal("a"), builder.literal("b"));
        let maybe = builder.optional(maybe);
        let more = builder.sequence([maybe, again, end]);
        builder.choice([more, end])
    })));
    // So does a rule to which its own body refers by the expression that the root is.
    assert!(!waits(&{
        let mut builder = GrammarBuilder::new();
        let (root, list) = (builder.declare("root").unwrap(), builder.declare("list").unwrap());
        let (again, item) = (builder.rule(list), builder.literal("a"));
        let body = builder.choice([item, again]);
        builder.define(list, body).unwrap();
        builder.define(root, again).unwrap();
        builder.finish(root).unwrap()
    }));
    // Who knows what is left of an intersection?
    assert!(!waits(&grammar(|builder| {
        let (one, any) = (builder.literal("ab"), builder.any_char());
        let two = builder.repeat(any, 2, Some(2));
        builder.intersection([one, two])
    })));
    // Whoever reads it has to keep more than its states.
    assert!(!waits(&grammar(|builder| {
        let one = builder.literal("a");
        let options = RuleOptions { max_tokens: std::num::NonZeroU32::new(3), ..RuleOptions::default() };
        let rule = builder.add_rule("bounded", one).unwrap();
        builder.set_options(rule, options);
        let (open, rule) = (builder.literal("("), builder.rule(rule));
        builder.sequence([open, rule])
    })));
}

#[test]
fn a_language_that_is_empty_is_refused_at_once() {
    let loops = recursive_grammar(|builder, root: RuleId| {
        let (again, open) = (builder.rule(root), builder.literal("["));
        builder.sequence([open, again])
    });
    let late = CompileOptions { lazy_units: Pass::On, ..CompileOptions::default() };
    let error = LazyProgram::new(loops, &late).unwrap_err();
    assert_eq!(error.cause(), Cause::EmptyLanguage);
}

/// What is shared and doubled grows beyond what may wait, and past the limits is refused at once.
#[test]
fn what_grows_too_large_is_compiled_at_once() {
    let doubled = grammar(|builder| {
        let mut part = builder.literal("ab");
        for _ in 0..40 {
            let twice = builder.sequence([part, part]);
            part = builder.optional(twice);
        }
        let begin = builder.literal("x");
        builder.sequence([begin, part])
    });
    let options = CompileOptions { lazy_units: Pass::On, max_states: 10_000, ..CompileOptions::default() };
    let error = LazyProgram::new(doubled, &options).unwrap_err();
    assert_eq!(error.cause(), Cause::LimitReached);
}

#[test]
fn an_interrupt_has_no_say_later() {
    let simple = grammar(|builder| builder.literal("ab"));
    let stopped = CompileOptions {
        lazy_units: Pass::On,
        interrupt: Interrupt::when(|| true),
        ..CompileOptions::default()
    };
    assert!(LazyProgram::new(simple, &stopped).unwrap().program().is_ok());
}

#[test]
fn threads_that_come_at_once_compile_once() {
    let many = grammar(|builder| {
        let words: Vec<ExprId> = (0..500).map(|number| builder.literal(&format!("word {number}"))).collect();
        builder.choice(words)
    });
    let late = lazy(&many);
    assert!(!late.is_made());
    let programs: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| Arc::clone(late.program().unwrap()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(programs.iter().all(|program| Arc::ptr_eq(program, &programs[0])));
}
