//! The pushdown engine: what it declines, how large its tables grow, and what it says of runs and endings. Its steps
//! and masks are judged by the naive recogniser in `corpus` and in the tests of `grammask-matcher`.

use std::sync::Arc;

use grammask_fsm::CompileOptions;
use grammask_grammar_frontends::ebnf;
use grammask_parser_backend::{Backend, BuildError, CharClass, ClassRuns, Fuel, Run, StepError, Tables};
use grammask_pda::{Config, Engine, State};

fn build(source: &str, config: Config) -> Result<Engine, BuildError> {
    let grammar = ebnf::parse(source, &Default::default()).expect("it is a grammar");
    let program = grammask_fsm::compile(&grammar, &CompileOptions::default()).expect("it has sentences");
    Engine::new(Arc::new(program), config)
}

fn engine(source: &str) -> Engine {
    build(source, Config::default()).expect("it is served")
}

/// The state after a text, or the offset of the byte that is refused.
fn read(engine: &Engine, mut state: State, text: &[u8]) -> Result<State, usize> {
    for (offset, &byte) in text.iter().enumerate() {
        state = engine.step(state, byte, &mut Fuel::unlimited()).expect("no limit is near").ok_or(offset)?;
    }
    Ok(state)
}

fn accepts(engine: &Engine, text: &[u8]) -> bool {
    read(engine, engine.start(), text).is_ok_and(|state| engine.is_complete(state))
}

#[test]
fn left_recursion_is_declined_by_name() {
    let check = |source: &str, names: &[&str]| {
        let message = build(source, Config::default()).expect_err("it is left-recursive").to_string();
        assert!(message.starts_with("left recursion: "), "{message}");
        assert!(names.iter().all(|name| message.contains(&format!("`{name}`"))), "{message}");
    };
    check("root ::= sum \".\"\nsum ::= sum \"+\" [0-9] | [0-9]", &["sum"]);
    check("root ::= one \".\"\none ::= two \"a\" | \"b\"\ntwo ::= one \"c\" | \"d\" two", &["one"]);
    check("root ::= maybe root \"a\" | \"b\"\nmaybe ::= \"x\"? \"y\"*", &["root"]);
    let engine = engine(r#"root ::= "a" root "b" | "c""#);
    assert!(accepts(&engine, b"aacbb"));
}

#[test]
fn right_recursion_runs_in_constant_space() {
    let engine = engine(r#"root ::= "a" root | "b" root "," | "c""#);
    let state = read(&engine, engine.start(), &b"a".repeat(5_000)).unwrap();
    assert_eq!((engine.node_count() < 20, engine.list_count() < 10), (true, true), "{engine:?}");
    assert_eq!(engine.stack_count(state), 1);
    let deep = read(&engine, state, &b"b".repeat(5_000)).unwrap();
    assert_eq!(engine.shortest_completion(deep, &mut Fuel::unlimited()).unwrap().0, 5_001);
}

#[test]
fn callers_that_may_end_are_one_stack() {
    let nested = engine(r#"root ::= "a" root | "a" root "b" | "a" root "c" | """#);
    let open = read(&nested, nested.start(), &b"a".repeat(5_000)).unwrap();
    let after = read(&nested, open, &b"bc".repeat(2_000)).unwrap();
    assert!(nested.stack_count(open) <= 3 && nested.stack_count(after) <= 3, "{nested:?}");
    assert!(read(&nested, after, &b"b".repeat(1_000)).is_ok_and(|state| nested.is_complete(state)));
    assert_eq!(read(&nested, after, &b"b".repeat(1_001)), Err(1_000));
    // Callers of other kinds wait between them.
    let mixed = engine(
        r#"root ::= "x" part "y" root? | "!"
part ::= "a" part ("b" | "c")? | "(" root ")""#,
    );
    for (text, is_sentence) in [
        ("xaa(!)y", true),
        ("xaaa(xa(!)by!)bcy!", true),
        ("xaaa(xa(!)bby!)bcy!", false),
        ("xaaa(!)bbbyxa(!)cy", true),
        ("xaaa(!)bbbbyxa(!)cy", false),
    ] {
        assert_eq!(accepts(&mixed, text.as_bytes()), is_sentence, "{text}");
    }
}

#[test]
fn counts_far_from_a_bound_share_a_mask() {
    let engine =
        build("root ::= \"<\" [a-z]{300,65536} \">\"", Config { longest_token: 16, ..Config::default() });
    let engine = engine.expect("counts are served");
    let after =
        |count: usize| read(&engine, engine.start(), format!("<{}", "a".repeat(count)).as_bytes()).unwrap();
    let key = |count: usize| engine.mask_key(after(count));
    assert_eq!(key(10), key(200));
    assert_ne!(key(200), key(290));
    assert_ne!(key(290), key(291));
    assert_eq!(key(300), key(3_000));
    assert!(!accepts(&engine, format!("<{}>", "a".repeat(299)).as_bytes()));
    assert!(accepts(&engine, format!("<{}>", "a".repeat(300)).as_bytes()));
    assert_eq!(engine.shortest_completion(after(10), &mut Fuel::unlimited()).unwrap().0, 291);
    let letters = (b'a'..=b'z').fold(0, |bits, byte| bits | 1u128 << byte);
    let class = CharClass { ascii: letters, non_ascii: false };
    assert_eq!(engine.run_over(after(10), &class, &mut Fuel::unlimited()), Run::AtMost(65_526));
}

#[test]
fn ambiguity_without_end_is_a_limit() {
    let source = "a ::= \"(\" b \")\" | \"(\" c \"]\" | \"x\"\nb ::= a \",\" | \"!\" b\nc ::= a \";\" | \"?\" c\nroot ::= a";
    let engine = build(source, Config { max_stacks: 500, ..Config::default() }).expect("it is served");
    let (mut state, mut depth) = (engine.start(), 0);
    let limit = loop {
        match engine.step(state, b'(', &mut Fuel::unlimited()) {
            Ok(next) => state = next.expect("brackets may open"),
            Err(limit) => break limit,
        }
        depth += 1;
        assert!(depth < 100, "the limit was never reached");
    };
    assert!(matches!(limit, StepError::TooManyItems { limit: 500, .. }), "{limit}");
    assert!(read(&engine, state, b"x,)").is_ok(), "the state before the limit stays valid");
    let short = engine.step(engine.start(), b'(', &mut Fuel::new(1));
    assert!(short.is_ok(), "what is known takes no fuel");
}

#[test]
fn full_tables_are_left_for_fresh_ones() {
    let source = r#"root ::= "(" root ")" root | "a""#;
    let old = build(source, Config { max_bytes: 40_000, ..Config::default() }).expect("it is served");
    let (mut state, mut depth) = (old.start(), 0);
    while let Ok(next) = old.step(state, b'(', &mut Fuel::unlimited()) {
        state = next.expect("brackets may open");
        depth += 1;
        assert!(depth < 10_000, "the budget was never used up");
    }
    let new = old.fresh().expect("it was served before");
    let fuel = &mut Fuel::unlimited();
    let mut moved = new.import(&old, &[state], 0, fuel).expect("the new tables have room")[0];
    assert_eq!(new.shortest_completion(moved, &mut Fuel::unlimited()).unwrap().0, 2 * depth + 1);
    moved = read(&new, moved, b"a)a").unwrap();
    assert!(!new.is_complete(moved));
    assert_eq!(new.shortest_completion(moved, &mut Fuel::unlimited()).unwrap().0, 2 * (depth - 1));
}

#[test]
fn runs_tell_the_truth() {
    let letters = |text: &str| text.bytes().fold(0, |bits, byte| bits | 1u128 << byte);
    let classes = [
        CharClass { ascii: letters("ab"), non_ascii: false },
        CharClass { ascii: letters("abc"), non_ascii: false },
        CharClass { ascii: u128::MAX, non_ascii: true },
    ];
    let grammars = [
        r#"root ::= [abc]* "x""#,
        r#"root ::= "<" [abc]{3,9} "x""#,
        r#"root ::= ([ab]{2,5} | [ab]{4,7}) "x""#,
        r#"root ::= [a-c]{0,4} [a-c]{0,4}"#,
        r#"root ::= ("<" [^]{20,30} "x"){2,40}"#,
        r#"root ::= "a" [^]{37,41} "c""#,
        r#"root ::= [^]*"#,
        r#"root ::= ([ab] | "ab"){5,20} "x""#,
        r#"root ::= ([ab]{40,60} "c"){10}"#,
        r#"root ::= [ab]{34,} "x""#,
    ];
    let mut known = 0;
    for source in grammars {
        let engine = engine(source);
        for prefix in ["", "a", "<", "<a", "<aa", "aa", "ab", "aaaa", "abcab"] {
            let Ok(state) = read(&engine, engine.start(), prefix.as_bytes()) else { continue };
            for class in &classes {
                let run = engine.run_over(state, class, &mut Fuel::unlimited());
                known += usize::from(run != Run::Unknown);
                for text in texts(class) {
                    let length = text.chars().count();
                    let claimed = match run {
                        Run::AtLeast(chars) if length > chars as usize => continue,
                        Run::AtLeast(_) => true,
                        Run::Unbounded => true,
                        Run::AtMost(most) => length <= most as usize,
                        _ => continue,
                    };
                    let allowed = read(&engine, state, text.as_bytes()).is_ok();
                    assert_eq!(allowed, claimed, "{source} after {prefix:?}: {run:?}, {text:?}");
                }
            }
        }
    }
    assert!(known > 40, "{known} runs were known");
}

/// Texts of up to 64 characters over a class.
fn texts(class: &CharClass) -> Vec<String> {
    let mut units = vec!["a", "b", "ab"];
    if class.contains_ascii(b'c') {
        units.extend(["c", "cab"]);
    }
    if class.non_ascii {
        units.extend(["é", "水", "😀a", "\n"]);
    }
    let of_length = |length: usize| units.iter().map(move |unit| unit.chars().cycle().take(length).collect());
    (1..=64).flat_map(of_length).collect()
}
