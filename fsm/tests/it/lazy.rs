//! Programs that are compiled when they are first read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use grammask_fsm::{
    Cause, CompileOptions, DeferredProgram, LinkedProgram, Program, SizeEstimate, Toggle, compile,
    compile_deferred, compile_with,
};
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, Interrupt, RuleId, RuleOptions};

use crate::{grammar, naive, recursive_grammar, simulate};

fn lazy(grammar: &Grammar) -> DeferredProgram {
    DeferredProgram::new(grammar.clone(), &CompileOptions::default().deferred_programs(Toggle::On)).unwrap()
}

/// Whether a grammar can wait. Compiled at once or late, it is the same.
fn waits(grammar: &Grammar) -> bool {
    let late = lazy(grammar);
    let waits = !late.is_compiled();
    let at_once = CompileOptions::default().deferred_programs(Toggle::Off);
    let at_once = DeferredProgram::new(grammar.clone(), &at_once).unwrap();
    assert!(at_once.is_compiled());
    assert_eq!(late.program().unwrap().fingerprint(), at_once.program().unwrap().fingerprint());
    assert!(late.is_compiled());
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
    // A reader has to keep more than its states.
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
    let late = CompileOptions::default().deferred_programs(Toggle::On);
    let error = DeferredProgram::new(loops, &late).unwrap_err();
    assert_eq!(error.cause(), Cause::EmptyLanguage);
}

/// A shared part that doubles grows beyond the size that may wait, and past the limits is refused at once.
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
    let options = CompileOptions::default().deferred_programs(Toggle::On).max_states(10_000);
    let error = DeferredProgram::new(doubled, &options).unwrap_err();
    assert_eq!(error.cause(), Cause::LimitReached);
}

#[test]
fn an_interrupt_has_no_say_later() {
    let simple = grammar(|builder| builder.literal("ab"));
    let stopped = CompileOptions::default().deferred_programs(Toggle::On).interrupt(Interrupt::when(|| true));
    assert!(DeferredProgram::new(simple, &stopped).unwrap().program().is_ok());
}

#[test]
fn threads_that_come_at_once_compile_once() {
    let many = grammar(|builder| {
        let words: Vec<ExprId> = (0..500).map(|number| builder.literal(&format!("word {number}"))).collect();
        builder.choice(words)
    });
    let late = lazy(&many);
    assert!(!late.is_compiled());
    let programs: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| Arc::clone(late.program().unwrap()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(programs.iter().all(|program| Arc::ptr_eq(program, &programs[0])));
}

/// A grammar whose rules that can wait do so.
fn late(grammar: &Grammar) -> Program {
    let options = CompileOptions::default().deferred_min_states(0);
    compile_deferred(grammar, &options, |whole| Arc::new(whole.clone())).unwrap()
}

/// `root` is a choice of `(` item `)` for several items, one of which begins with the whole.
fn items() -> Grammar {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    let (open, close) = (builder.literal("("), builder.literal(")"));
    let shared = builder.literal("ab");
    let shared = builder.repeat(shared, 0, None);
    let shared = builder.add_rule("shared", shared).unwrap();
    let shared = builder.rule(shared);
    let own = ["a", "b", "ba"].map(|text| builder.literal(text));
    let again = builder.rule(root);
    let mut ways: Vec<ExprId> = Vec::new();
    for (number, text) in own.into_iter().enumerate() {
        let body = builder.sequence([open, text, shared, text, close]);
        let rule = builder.add_rule(&format!("item{number}"), body).unwrap();
        ways.push(builder.rule(rule));
    }
    let around = builder.sequence([open, again, close]);
    let around = builder.add_rule("around", around).unwrap();
    ways.push(builder.rule(around));
    // Operands of an operator are taken apart.
    let other = builder.literal("bb");
    let any = builder.any_char();
    let any = builder.repeat(any, 2, Some(2));
    let both = builder.intersection([other, any]);
    let both = builder.sequence([open, both]);
    let both = builder.add_rule("both", both).unwrap();
    ways.push(builder.rule(both));
    let body = builder.choice(ways);
    builder.define(root, body).unwrap();
    builder.finish(root).unwrap()
}

#[test]
fn rules_that_are_compiled_late_say_the_same() {
    let grammar = items();
    let program = late(&grammar);
    let units = program.sub_program_counts();
    // A rule that reaches the whole, or that only an automaton can decide, does not wait.
    assert!((3..=4).contains(&units.all) && units.compiled == 0, "{units:?}");
    let texts =
        ["(aa)", "(aaba)", "((bb))", "(bb", "((bb)", "(baabba)", "(baabba", "((aaba))", "((bb", "(ba)", "()"];
    for text in texts {
        let found = simulate::accepts(&program, text.as_bytes());
        assert_eq!(found, naive::accepts(&grammar, text.as_bytes()), "{text}");
    }
    assert!(program.failure().is_none());
    simulate::check_invariants(&program.whole().unwrap());
}

/// Near the limit on states some parts wait and the others are compiled at once; a grammar that may pass it is compiled
/// whole.
#[test]
fn as_many_parts_wait_as_the_limit_allows() {
    let item = |number: usize| format!("[{number:0100}]");
    let grammar = grammar(|builder| {
        let items = (0..200).map(|number| {
            let (open, rest) = (builder.literal("["), builder.literal(&item(number)[1..]));
            let body = builder.sequence([open, rest]);
            let rule = builder.add_rule(&format!("item{number}"), body).unwrap();
            let comma = builder.literal(",");
            let rule = builder.rule(rule);
            let item = builder.sequence([comma, rule]);
            // One that each text reads does not wait where not all can.
            if number == 7 { item } else { builder.optional(item) }
        });
        let items: Vec<ExprId> = items.collect();
        builder.sequence(items)
    });
    let text: String = (0..200).flat_map(|number| [",".to_owned(), item(number)]).collect();
    // Some 22,000 states are written.
    let cases = [(30_000, 200..=200), (8_000, 140..=170), (5_500, 0..=0)];
    for (most, waiting) in cases {
        let options = CompileOptions::default().deferred_min_states(50).max_states(most);
        let share = |whole: &Grammar| Arc::new(whole.clone());
        match compile_deferred(&grammar, &options, share) {
            Ok(program) => {
                let units = program.sub_program_counts();
                assert!(waiting.contains(&units.all) && units.compiled == 0, "{most}: {units:?}");
                assert!(simulate::accepts(&program, text.as_bytes()));
                assert!(!simulate::accepts(&program, text.replacen('9', "8", 1).as_bytes()));
                assert!(program.failure().is_none());
            }
            // All of it is too large.
            Err(error) => {
                assert!(waiting == (0..=0) && error.cause() == Cause::LimitReached, "{error}")
            }
        }
    }
}

/// Small grammars are compiled at once, and so is everything where nothing is to wait.
#[test]
fn what_is_small_does_not_wait() {
    let grammar = items();
    let whole = compile(&grammar, &CompileOptions::default()).unwrap();
    let share = |whole: &Grammar| Arc::new(whole.clone());
    let at_once = CompileOptions::default().deferred_min_states(0).deferred_programs(Toggle::Off);
    for options in [CompileOptions::default(), at_once] {
        let program = compile_deferred(&grammar, &options, share).unwrap();
        assert_eq!(program.sub_program_counts().all, 0);
        assert_eq!(program.fingerprint(), whole.fingerprint());
    }
}

/// A rule that derives nothing is left out where the rest is built, and one without which there is nothing is refused.
#[test]
fn what_derives_nothing_does_not_wait() {
    let mut builder = GrammarBuilder::new();
    let (root, endless) = (builder.declare("root").unwrap(), builder.declare("endless").unwrap());
    let (open, again) = (builder.literal("["), builder.rule(endless));
    let body = builder.sequence([open, again]);
    builder.define(endless, body).unwrap();
    let good = builder.add_rule("good", open).unwrap();
    let good = builder.rule(good);
    let good = builder.sequence([open, good]);
    let good = builder.add_rule("better", good).unwrap();
    let good = builder.rule(good);
    let body = builder.choice([again, good]);
    builder.define(root, body).unwrap();
    let program = late(&builder.finish(root).unwrap());
    assert!(simulate::accepts(&program, b"[["));
    assert!(!simulate::accepts(&program, b"[[["));
}

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
fn unwritten() -> (DeferredProgram, Arc<AtomicUsize>) {
    let written = Arc::new(AtomicUsize::new(0));
    let write = {
        let written = Arc::clone(&written);
        move || {
            written.fetch_add(1, Ordering::Relaxed);
            Some(list())
        }
    };
    let forecast = SizeEstimate { states: 1_000, characters: characters("abc") };
    (DeferredProgram::from_estimate(&forecast, write, &CompileOptions::default()).unwrap(), written)
}

/// `x` and then a part.
fn behind_x(part: DeferredProgram) -> Program {
    let mut builder = GrammarBuilder::new();
    let text = builder.literal("not read");
    let rule = builder.add_rule("part", text).unwrap();
    let (x, reference) = (builder.literal("x"), builder.rule(rule));
    let body = builder.sequence([x, reference]);
    let root = builder.add_rule("root", body).unwrap();
    let outline = builder.finish(root).unwrap();
    let part = Arc::new(part);
    let parts = [LinkedProgram::referred(rule, &part)];
    compile_with(&outline, &CompileOptions::default(), &parts).unwrap()
}

/// A job that makes no grammar, or another one, is an error when it is read.
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
        let program = behind_x(part);
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
    let program = behind_x(part);
    assert!(simulate::accepts(&program, format!("x{long}").as_bytes()));
    assert!(!simulate::accepts(&program, format!("x{long}a").as_bytes()));
    assert!(program.failure().is_none());
}

#[test]
fn a_part_is_compiled_once_for_all_threads() {
    for _ in 0..50 {
        let (part, written) = unwritten();
        let program = behind_x(part);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(simulate::accepts(&program, b"x[abac,cab]")));
            }
        });
        assert_eq!(written.load(Ordering::Relaxed), 1);
        assert_eq!(program.sub_program_counts().compiled, 1);
    }
}
