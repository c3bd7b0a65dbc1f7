//! Tables must grow with the variety of a text, not with its length.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use grammask_earley::{Config, Engine};
use grammask_grammar_frontends::ebnf;
use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, compile_grammar};
use grammask_parser_backend::{Backend, Fuel, StepError, Tables};

use super::{accepts, compile, engine, read};

/// Reads a text and returns how many sets and contexts were made.
fn sizes(engine: &Engine, text: &[u8]) -> (usize, usize) {
    assert!(accepts(engine, text), "{}", String::from_utf8_lossy(text));
    (engine.set_count(), engine.context_count())
}

/// Asserts that ten times the text makes no more sets and contexts, up to a constant.
#[track_caller]
fn check_flat(source: &str, unit: &str, tail: &str) {
    let text = |times: usize| format!("{}{tail}", unit.repeat(times));
    let (short, long) = (engine(source), engine(source));
    let (sets, contexts) = sizes(&short, text(100).as_bytes());
    let (more_sets, more_contexts) = sizes(&long, text(1_000).as_bytes());
    assert!(more_sets <= sets + 8, "{source}: {sets} sets became {more_sets}");
    assert!(more_contexts <= contexts + 8, "{source}: {contexts} contexts became {more_contexts}");
}

#[test]
fn right_recursion() {
    check_flat(r#"root ::= "a" root | "b""#, "a", "b");
    check_flat("root ::= a\na ::= \"x\" b | \"x\"\nb ::= \"y\" a | \"y\"", "xy", "");
    check_flat("root ::= item \",\" root | item\nitem ::= [0-9]+", "12,", "3");
}

#[test]
fn left_recursion() {
    check_flat(r#"root ::= root "," "a" | "a""#, "a,", "a");
    check_flat("root ::= a \"x\" | \"y\"\na ::= root \"z\" | \"w\"", "", "wx");
    check_flat(
        "e ::= e \"+\" t | t\nt ::= t \"*\" f | f\nf ::= \"n\" | \"(\" e \")\"\nroot ::= e",
        "n*n+",
        "n",
    );
}

#[test]
fn ambiguity() {
    check_flat(r#"root ::= root root | "a""#, "a", "");
    check_flat(r#"root ::= root "+" root | "n""#, "n+", "n");
    check_flat("root ::= a*\na ::= \"x\" | \"x\" \"x\"", "x", "");
}

#[test]
fn counted_repeats() {
    check_flat(r#"root ::= "<" [a-z]{0,65536} ">""#, "", "<a>");
    let strings = engine(r#"root ::= "[" ("'" [a-z]{20,200} "'" ","){10,5000} "]""#);
    let item = format!("'{}',", "q".repeat(150));
    let text = format!("[{}]", item.repeat(900));
    assert!(accepts(&strings, text.as_bytes()));
    assert!(strings.set_count() < 40, "{} sets", strings.set_count());
    assert!(!accepts(&strings, format!("[{}]", item.repeat(9)).as_bytes()));
    assert!(!accepts(&strings, format!("[{}]", item.replace('q', "").repeat(20)).as_bytes()));
}

/// A part that may come has no context for each subset of parts that was read: in its caller the return state names it.
#[test]
fn parts_that_may_come_share_the_context_of_a_subset() {
    let parts: Vec<String> = (0..100).map(|part| format!("Optional(\"a\" | \"a{part};\")")).collect();
    let engine = engine(&format!("root ::= Permutation(\",\", {})", parts.join(", ")));
    let (_, contexts) = sizes(&engine, b"a");
    // 100 subsets of one part were read, and each of 100 parts is called by 99 of them.
    assert!(read(&engine, engine.start(), b"a,").is_ok());
    let more = engine.context_count() - contexts;
    assert!(more <= 2 * 100, "{more} more contexts");
}

#[test]
fn counts_are_exact_at_their_bounds() {
    for (min, max) in [(0, 300), (299, 300), (300, 300), (1, 2_000)] {
        let engine = engine(&format!(r#"root ::= "<" [a-z]{{{min},{max}}} ">""#));
        for length in [0, 1, 2, min - 1, min, min + 1, max - 1, max, max + 1] {
            if length < 0 {
                continue;
            }
            let text = format!("<{}>", "x".repeat(length as usize));
            assert_eq!(
                accepts(&engine, text.as_bytes()),
                (min..=max).contains(&length),
                "{min} {length} {max}"
            );
        }
    }
}

#[test]
fn ambiguous_counts_stay_exact() {
    let engine = engine(r#"root ::= ("a" | "aa"){100,150} "b"{0,400} ("b" | "c"){100,200}"#);
    for (a, b, expected) in [(99, 100, false), (100, 100, true), (300, 500, true), (301, 100, false)] {
        let text = format!("{}{}", "a".repeat(a), "b".repeat(b));
        assert_eq!(accepts(&engine, text.as_bytes()), expected, "{a} {b}");
    }
}

#[test]
fn limits_are_errors_and_leave_the_engine_usable() {
    let grammar = ebnf::parse("root ::= \"(\" root \")\" root | \"a\"", &Default::default()).unwrap();
    let small = compile(&grammar, Config { max_bytes: 20_000, ..Config::default() });
    let mut state = small.start();
    let error = loop {
        match small.step(state, b'(', &mut Fuel::unlimited()) {
            Ok(next) => state = next.unwrap(),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StepError::OutOfMemory { limit: 20_000, .. }), "{error}");
    // A text that was read before can be read again.
    read(&small, small.start(), b"((((").unwrap();
    let error = engine("root ::= \"x\" | \"y\" root").step(small.start(), b'x', &mut Fuel::new(0));
    assert!(matches!(error, Err(StepError::OutOfWork { limit: 0 })));
}

#[test]
fn states_move_to_fresh_engines() {
    let old =
        engine("e ::= e \"+\" t | t\nt ::= \"n\" | \"(\" e \")\" | \"<\" \"x\"{50,99} \">\"\nroot ::= e");
    let fresh = old.fresh().unwrap();
    let before = read(&old, old.start(), format!("n+(n+<{}", "x".repeat(60)).as_bytes()).unwrap();
    let [mut state] = *fresh.import(&old, &[before], 0, &mut Fuel::unlimited()).unwrap() else {
        panic!("the first is always moved")
    };
    assert_eq!(old.next_bytes(before), fresh.next_bytes(state));
    assert_eq!(
        old.shortest_completion(before, &mut Fuel::unlimited()).unwrap().0,
        fresh.shortest_completion(state, &mut Fuel::unlimited()).unwrap().0
    );
    state = read(&fresh, state, format!("{}>)", "x".repeat(39)).as_bytes()).unwrap();
    assert!(fresh.is_complete(state));
    assert_eq!(read(&fresh, state, b")"), Err(0));
}

/// An import reads the other engine's tables and writes its own; two engines may do so with one another.
#[test]
fn engines_import_from_one_another_at_a_time() {
    let one = Arc::new(engine("e ::= e \"+\" t | t\nt ::= \"n\" | \"(\" e \")\"\nroot ::= e"));
    let other = Arc::new(one.fresh().unwrap());
    let (send, done) = mpsc::channel();
    for (from, to) in [(&one, &other), (&other, &one)] {
        let (from, to, send) = (Arc::clone(from), Arc::clone(to), send.clone());
        std::thread::spawn(move || {
            let state = read(&from, from.start(), b"n+(n").unwrap();
            for _ in 0..100_000 {
                let moved = to.import(&from, &[state; 2], usize::MAX, &mut Fuel::unlimited()).unwrap();
                assert!(read(&to, moved[1], b")").is_ok());
            }
            send.send(()).unwrap();
        });
    }
    // Far more than it takes; with the locks in another order it never ends.
    (0..2)
        .for_each(|_| done.recv_timeout(Duration::from_secs(120)).expect("the engines wait for one another"));
}

/// The continuations of a number, another digit or the next item, do not depend on the count of items.
#[test]
fn long_lists_of_numbers() {
    for bounds in [r#""maxItems": 5000"#, r#""minItems": 900"#, r#""minItems": 40, "maxItems": 2000"#] {
        let schema = format!(r#"{{"type": "array", "items": {{"type": "number"}}, {bounds}}}"#);
        let grammar = compile_grammar(&schema, &JsonSchemaOptions::default()).unwrap();
        let engine = compile(&grammar, Config::default());
        let mut state = read(&engine, engine.start(), b"[1").unwrap();
        let mut sets = Vec::new();
        for _ in 0..4 {
            state = read(&engine, state, &b" , -12.5,7".repeat(100)).unwrap();
            sets.push(engine.set_count());
        }
        assert_eq!(sets[0], sets[3], "{bounds}: {sets:?} sets");
        assert!(sets[0] < 200, "{bounds}: {sets:?} sets");
    }
}

/// Every number of items around both bounds, with every kind of item at the end.
#[test]
fn lists_are_exact_at_their_bounds() {
    let schema =
        r#"{"type": "array", "items": {"type": ["integer", "string"]}, "minItems": 3, "maxItems": 40}"#;
    let engine = compile(&compile_grammar(schema, &JsonSchemaOptions::default()).unwrap(), Config::default());
    for items in (0..6).chain(37..44) {
        for (item, separator) in [("17", ","), ("\"a\"", ", "), ("0", " ,\n")] {
            let text = format!("[ {} ]", vec![item; items].join(separator));
            assert_eq!(accepts(&engine, text.as_bytes()), (3..=40).contains(&items), "{text}");
            assert!(
                !accepts(&engine, format!("{}, ]", text.trim_end_matches([']', ' '])).as_bytes()),
                "{text}"
            );
        }
    }
}
