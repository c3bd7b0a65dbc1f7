//! Texts that fill tables faster than they are read.

use grammask::ebnf::EbnfOptions;
use grammask::json_schema::{JsonSchemaOptions, KeyOrder};
use grammask::{CompiledGrammar, Compiler, Limits, Matcher, TokenId, TokenMask};

use super::{MEBIBYTE, bounded, is_full, sized};
use crate::common;
use crate::memory::peak_of;

/// Small ones, where tests are to take seconds.
fn limits() -> Limits {
    let table_bytes = if is_full() { 8 * MEBIBYTE } else { MEBIBYTE };
    Limits::default().max_table_bytes(table_bytes).max_mask_bytes(table_bytes)
}

fn compiler() -> Compiler {
    Compiler::builder(common::vocabulary()).limits(limits()).build()
}

/// The text before each token can be read back to front after it, so that all of it is in the state.
fn palindromes() -> String {
    let pairs: Vec<String> = ('a'..='z').map(|byte| format!(r#""{byte}" root "{byte}""#)).collect();
    format!(r#"root ::= {} | [a-z] | """#, pairs.join(" | "))
}

fn grammars() -> [(&'static str, CompiledGrammar); 2] {
    let pattern = r#"{"type": "string", "pattern": "^[a-z]*a[a-z]{3000}$"}"#;
    [
        ("palindromes", compiler().ebnf(&palindromes(), &EbnfOptions::default()).unwrap()),
        ("a pattern", compiler().json_schema(pattern, &JsonSchemaOptions::default()).unwrap()),
    ]
}

/// Follows a random text with a mask for each token, and asserts of each step how much is held. Returns the most.
fn follow(what: &str, matcher: &mut Matcher, tokens: usize) -> usize {
    let grammar = matcher.grammar().clone();
    // One generation, and one that the next step may take its place with.
    let limits = grammar.limits();
    let most = 2 * limits.max_table_bytes + limits.max_mask_bytes;
    let mut random = fastrand::Rng::with_seed(3);
    let mut mask = TokenMask::new(grammar.vocabulary().len());
    let mut most_held = 0;
    for _ in 0..tokens {
        let (_, peak) = peak_of(|| {
            matcher.fill_mask(&mut mask).unwrap();
            let allowed: Vec<TokenId> = mask.iter().collect();
            let token = allowed[random.usize(..allowed.len())];
            matcher.accept_token(token).unwrap();
            if matcher.is_terminated() {
                matcher.rollback(1).unwrap();
            }
        });
        assert!(peak < most + most / 2, "{what}: one step took {peak} bytes");
        let held = grammar.budget().memory_usage();
        assert!(held < most, "{what}: {held} bytes are held after {} steps", matcher.steps());
        most_held = most_held.max(held);
    }
    most_held
}

#[test]
fn a_text_holds_one_generation_of_tables() {
    for (what, grammar) in grammars() {
        let mut matcher = grammar.matcher();
        matcher.accept_bytes(if what == "palindromes" { b"" } else { b"\"" }).unwrap();
        let held = follow(what, &mut matcher, if is_full() { 400 } else { 100 });
        println!("{:>7.1} MiB  {what}, {:?}", held as f64 / MEBIBYTE as f64, matcher.stats());
        assert!(matcher.stats().moves > 1, "{what}: {:?}", matcher.stats());
        // Back and forth over the last edge: nothing is begun anew for it, and nothing read again.
        let moves = matcher.stats().moves;
        bounded(&format!("{what}: back and forth"), || {
            for _ in 0..1_000 {
                matcher.rollback(2).unwrap();
                matcher.accept_bytes(b"a").unwrap();
                matcher.accept_bytes(b"b").unwrap();
            }
        });
        assert!(matcher.stats().moves <= moves + 1, "{what}: {:?}", matcher.stats());
        let steps = matcher.steps();
        bounded(&format!("{what}: all of it"), || matcher.rollback(steps)).unwrap();
    }
}

/// A fork shares what was read: it takes the same after a million steps as after a few.
#[test]
fn forks_do_not_grow_with_the_text() {
    let unique = r#"{"type": "array", "items": {"type": "integer"}, "uniqueItems": true}"#;
    let captures = "root ::= x*\nx[capture=\"x\"] ::= [0-9] | \",\"";
    let grammars = [
        ("plain", compiler().ebnf("root ::= [0-9,]*", &EbnfOptions::default()), 1_000_000),
        ("captures", compiler().ebnf(captures, &EbnfOptions::default()), 1_000_000),
        ("unique", compiler().json_schema(unique, &JsonSchemaOptions::default()), 20_000),
    ];
    for (what, grammar, most) in grammars {
        let mut matcher = grammar.unwrap().matcher();
        if what == "unique" {
            matcher.accept_bytes(b"[").unwrap();
        }
        let mut forks = Vec::new();
        for steps in [200, sized(most)] {
            while matcher.steps() < steps {
                matcher.accept_bytes(format!("{},", matcher.steps()).as_bytes()).unwrap();
            }
            let (fork, bytes) = peak_of(|| matcher.fork());
            assert_eq!(fork.steps(), steps);
            forks.push(bytes);
        }
        println!("{what}: {forks:?} bytes");
        assert!(forks[1] < forks[0] + 16_384, "{what}: {forks:?} bytes");
        // The values that have occurred are shared until one of the two adds or takes back some.
        if what != "unique" {
            let (_, back) = peak_of(|| matcher.fork().rollback(100).unwrap());
            assert!(back < forks[0] + 16_384, "{what}: {back} bytes");
        }
    }
}

/// Bounds on the tokens of rules need a second parse of the text. Forks that read on share it, but for its end.
#[test]
fn forks_that_read_on_share_the_second_parse() {
    let source = "root ::= item*\nitem[max_tokens=50] ::= \"<\" [a-z<>]* \">\"";
    let grammar = common::compiler().ebnf(source, &EbnfOptions::default()).unwrap();
    let mut matcher = grammar.matcher();
    let read = |matcher: &mut Matcher, times: usize| {
        for &byte in b"<ab>".iter().cycle().take(times) {
            // The first tokens are the bytes.
            matcher.accept_token(TokenId::new(u32::from(byte)).unwrap()).unwrap();
        }
    };
    let mut taken = Vec::new();
    for steps in [300, 3_000] {
        let further = steps - matcher.steps();
        read(&mut matcher, further);
        let mut fork = matcher.fork();
        let (_, bytes) = peak_of(|| read(&mut fork, 4));
        let (_, back) = peak_of(|| matcher.fork().rollback(100).unwrap());
        taken.push(bytes.max(back));
    }
    println!("{taken:?} bytes");
    assert!(taken[1] < taken[0] + 65_536, "{taken:?} bytes");
}

/// Rules that go on in others at random are loops of loops, so that each position of a text has all of them again. The same
/// can follow each position: none has to be kept beside the last one.
#[test]
fn positions_of_many_rules_are_one() {
    let rules = 1_000;
    let mut random = fastrand::Rng::with_seed(3);
    let mut source = "root ::= r0\n".to_owned();
    for rule in 0..rules {
        let (next, other) = (rule + 1, random.usize(..rules));
        source += &format!("r{rule} ::= ((r{next} | r{other})* \"a\")* | \"b\"\n");
    }
    source += &format!("r{rules} ::= \"a\"");
    let limits = Limits::default().max_work_per_call(1_000_000);
    let compiler = Compiler::builder(common::vocabulary()).limits(limits).build();
    let mut matcher = compiler.ebnf(&source, &EbnfOptions::default()).unwrap().matcher();
    matcher.accept_bytes(&[b'a'; 100]).unwrap();
}

/// Each required member may be the next one. Only of the members that are read the set of all read before is kept.
#[test]
fn members_that_may_come_hold_no_sets() {
    let names = 1_000;
    let required: Vec<String> = (0..names).map(|name| format!("\"k{name}\"")).collect();
    let schema = format!(r#"{{"type": "object", "required": [{}]}}"#, required.join(", "));
    let options = JsonSchemaOptions::default().key_order(KeyOrder::Any);
    let grammar = Compiler::builder(common::vocabulary()).build().json_schema(&schema, &options).unwrap();
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(b"{").unwrap();
    let before = grammar.budget().memory_usage();
    let members = 20;
    for name in 0..members {
        matcher.accept_bytes(format!("\"k{}\": 1, ", 37 * name).as_bytes()).unwrap();
    }
    let held = grammar.budget().memory_usage() - before;
    assert!(held < 250 * names * members, "{held} bytes are held");
}
