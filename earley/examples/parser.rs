//! A parser for a language that no automaton reads: where a text goes wrong, what could have come, and how it ends.

use std::sync::Arc;

use grammask_earley::fsm::{CompileOptions, compile};
use grammask_earley::ir::{Grammar, GrammarBuilder, GrammarError};
use grammask_earley::parser_backend::{Backend, Fuel, StepError, Tables};
use grammask_earley::{Config, Engine};

/// sum ::= sum "+" sum | "(" sum ")" | "x"
///
/// It is left recursive and ambiguous, and read as it is.
fn sums() -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let sum = builder.declare("sum")?;
    let (operand, plus) = (builder.rule(sum), builder.literal("+"));
    let added = builder.sequence([operand, plus, operand]);
    let (open, close) = (builder.literal("("), builder.literal(")"));
    let grouped = builder.sequence([open, operand, close]);
    let name = builder.literal("x");
    let body = builder.choice([added, grouped, name]);
    builder.define(sum, body)?;
    builder.finish(sum)
}

/// The bytes that may follow a text; or the place of the byte that may not stand where it does.
fn read(engine: &Engine, text: &str) -> Result<Result<String, usize>, StepError> {
    // So much work may one text take.
    let mut fuel = Fuel::new(1_000_000);
    let mut state = engine.start();
    for (place, byte) in text.bytes().enumerate() {
        match engine.step(state, byte, &mut fuel)? {
            Some(next) => state = next,
            None => return Ok(Err(place)),
        }
    }
    let words = engine.next_bytes(state);
    let may_follow = |byte: &u8| words[usize::from(byte / 64)] >> (byte % 64) & 1 == 1;
    let mut bytes: String = (0..=255).filter(may_follow).map(char::from).collect();
    if engine.is_complete(state) {
        bytes.push('$');
    }
    Ok(Ok(bytes))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = compile(&sums()?, &CompileOptions::default())?;
    let engine = Engine::new(Arc::new(program), Config::default())?;

    assert_eq!(read(&engine, "")?, Ok("(x".to_owned()));
    assert_eq!(read(&engine, "(x+x")?, Ok(")+".to_owned()));
    assert_eq!(read(&engine, "(x+x)")?, Ok("+$".to_owned()));
    assert_eq!(read(&engine, "(x+)")?, Err(3));

    // A long text has many parses and few states: those of the places in it are shared.
    let long = "x+".repeat(10_000) + "x";
    let states = engine.memory_usage();
    assert_eq!(read(&engine, &long)?, Ok("+$".to_owned()));
    assert!(engine.memory_usage() - states < 100_000);
    Ok(())
}
