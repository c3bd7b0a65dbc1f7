//! Tests of the engine through the backend trait, and of how its tables grow.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it does not expect")]

mod derivations;
mod growth;
mod oracle;
mod runs;
mod split;

use std::sync::Arc;

use grammask_earley::{Config, Engine, State};
use grammask_fsm::CompileOptions;
use grammask_grammar_frontends::ebnf;
use grammask_grammar_ir::Grammar;
use grammask_parser_backend::{Backend, Fuel};

/// An engine for a grammar in EBNF.
fn engine(source: &str) -> Engine {
    compile(&ebnf::parse(source, &Default::default()).unwrap(), Config::default())
}

fn compile(grammar: &Grammar, config: Config) -> Engine {
    let program = grammask_fsm::compile(grammar, &CompileOptions::default()).unwrap();
    Engine::new(Arc::new(program), config).unwrap()
}

/// The state after a text, or how many of its bytes were read.
fn read(engine: &Engine, mut state: State, text: &[u8]) -> Result<State, usize> {
    for (offset, &byte) in text.iter().enumerate() {
        state = engine.step(state, byte, &mut Fuel::unlimited()).unwrap().ok_or(offset)?;
    }
    Ok(state)
}

/// Whether an engine accepts a text as a whole.
fn accepts(engine: &Engine, text: &[u8]) -> bool {
    read(engine, engine.start(), text).is_ok_and(|state| engine.is_complete(state))
}
