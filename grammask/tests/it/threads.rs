//! Matchers on many threads share tables, and see what one alone would see.

use std::sync::Barrier;

use grammask::ebnf::EbnfOptions;
use grammask::json_schema::JsonSchemaOptions;
use grammask::{CompileError, CompiledGrammar, Compiler, Limits, TokenId, TokenMask};

use crate::common::compiler;

const THREADS: usize = 8;

/// A walk through a grammar: the masks, and the tokens that were accepted.
struct Trace {
    masks: Vec<TokenMask>,
    tokens: Vec<TokenId>,
    ending: Vec<u8>,
}

fn record(grammar: &CompiledGrammar, seed: u64) -> Trace {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut matcher = grammar.matcher();
    let mut trace = Trace { masks: Vec::new(), tokens: Vec::new(), ending: Vec::new() };
    for _ in 0..60 {
        let mask = matcher.mask().unwrap().to_mask();
        let stop = |id: &TokenId| grammar.vocabulary().is_stop(*id);
        let allowed: Vec<TokenId> = mask.iter().filter(|id| !stop(id)).collect();
        trace.masks.push(mask);
        if allowed.is_empty() {
            break;
        }
        let token = allowed[random.usize(..allowed.len())];
        matcher.accept_token(token).unwrap();
        trace.tokens.push(token);
    }
    trace.ending = matcher.shortest_ending(10_000).unwrap().unwrap();
    trace
}

/// Follows a trace, and goes over parts of it again.
fn replay(grammar: &CompiledGrammar, trace: &Trace, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut matcher = grammar.matcher();
    let mut mask = TokenMask::new(grammar.vocabulary().len());
    loop {
        let step = matcher.steps();
        let Some(expected) = trace.masks.get(step) else { break };
        matcher.fill_mask(&mut mask).unwrap();
        assert_eq!(&mask, expected, "step {step}");
        let Some(&token) = trace.tokens.get(step) else { break };
        matcher.accept_token(token).unwrap();
        match random.u8(..20) {
            0 => matcher.rollback(random.usize(..=matcher.steps().min(5))).unwrap(),
            1 => matcher = matcher.fork(),
            2 => {
                let mut fork = matcher.fork();
                let forced = fork.jump_forward().unwrap();
                fork.accept_bytes(&forced).unwrap();
            }
            _ => {}
        }
    }
    assert_eq!(matcher.shortest_ending(10_000).unwrap().as_ref(), Some(&trace.ending));
}

/// Compares threads that share a grammar under limits with one that has a grammar of its own without.
fn check(limits: Limits, compile: impl Fn(&Compiler) -> Result<CompiledGrammar, CompileError>) {
    let alone = compile(compiler()).unwrap();
    let traces: Vec<Trace> = (0..THREADS as u64).map(|seed| record(&alone, seed)).collect();
    let limited = Compiler::builder(compiler().vocabulary().clone()).limits(limits).build();
    let shared = compile(&limited).unwrap();
    let barrier = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (traces, shared, barrier) = (&traces, &shared, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for round in 0..4 {
                    // Some threads follow the same text at the same time, some another one.
                    replay(shared, &traces[(thread * round) % THREADS], (thread + round) as u64);
                }
            });
        }
    });
    let usage = shared.usage();
    assert!(usage.mask_bytes <= limits.max_mask_bytes, "{usage:?}");
    // Otherwise nothing was begun anew, and the test would show nothing.
    assert!(limits == Limits::default() || shared.stats().generations > 1, "{:?}", shared.stats());
}

const TREE: &str = r##"{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties":
    {"value": {"type": "integer"}, "name": {"type": "string", "maxLength": 30}, "list": {"type": "array",
    "items": {"$ref": "#/$defs/tree"}}}, "required": ["value"]}}}"##;

const SUM: &str = r#"root ::= sum
sum ::= sum [+-] product | product
product ::= product [*/] atom | atom
atom ::= [0-9]{1,3} | "(" sum ")" | [a-z]{2,4} "(" sum ")""#;

#[test]
fn with_room() {
    check(Limits::default(), |compiler| compiler.json_schema(TREE, &JsonSchemaOptions::default()));
    check(Limits::default(), |compiler| compiler.ebnf(SUM, &EbnfOptions::default()));
}

#[test]
fn tables_and_masks_that_are_begun_anew() {
    for max_table_bytes in [40 << 10, 50 << 10] {
        let limits =
            Limits::default().max_table_bytes(max_table_bytes).max_mask_bytes(3_000).max_pool_bytes(3_000);
        check(limits, |compiler| compiler.json_schema(TREE, &JsonSchemaOptions::default()));
        check(limits, |compiler| compiler.ebnf(SUM, &EbnfOptions::default()));
    }
}

/// The bytes of all grammars together are what is short: grammars that are followed at the same time take tables
/// from one another.
#[test]
fn a_budget_that_many_grammars_share() {
    for max_total_bytes in [60 << 10, 90 << 10] {
        let limits = Limits::default().max_total_bytes(max_total_bytes).max_cache_bytes(30 << 10);
        check(limits, |compiler| compiler.json_schema(TREE, &JsonSchemaOptions::default()));
        check(limits, |compiler| compiler.ebnf(SUM, &EbnfOptions::default()));
    }
}
