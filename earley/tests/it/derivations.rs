//! Derivations of a text against the engine, and states that are made of them.

use std::sync::Arc;

use grammask_earley::{Config, Derivations, Engine, InputUnit, State};
use grammask_fsm::CompileOptions;
use grammask_oracle::random::{self, GrammarOptions, VocabularyOptions};
use grammask_parser_backend::{Backend, Configurations, Fuel, StepError};

/// The texts that can be read from a state, up to some bytes deep.
fn ways(engine: &Engine, state: State, depth: u32, found: &mut Vec<u64>) {
    found.push(u64::from(engine.is_complete(state)));
    let next = engine.next_bytes(state);
    found.extend(next);
    if depth == 0 {
        return;
    }
    let bytes = (0..=255u8).filter(|byte| next[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1);
    // Neighbouring bytes mostly lead to one state.
    for byte in bytes.step_by(if depth > 1 { 1 } else { 3 }) {
        let after = engine.step(state, byte, &mut Fuel::unlimited()).unwrap().unwrap();
        ways(engine, after, depth - 1, found);
    }
}

#[test]
fn a_state_made_of_readings_is_that_of_the_text() {
    for seed in 0..400 {
        let options = match seed % 3 {
            0 => GrammarOptions::permutation(),
            1 => GrammarOptions::bounded(),
            _ => GrammarOptions::default(),
        };
        let case = random::case_with(seed, &options, &VocabularyOptions::default());
        // Counts of repeats are written out in every second one, those of characters nowhere.
        let expand_states = if seed % 2 == 0 { 0 } else { 32 };
        let options = CompileOptions::default().expand_states(expand_states).min_counted_pairs(0);
        let program = Arc::new(grammask_fsm::compile(&case.grammar, &options).unwrap());
        let engine = Engine::new(Arc::clone(&program), Config::default()).unwrap();
        let mut derivations = Derivations::new(program, usize::MAX, &mut Fuel::unlimited()).unwrap();
        let mut state = engine.start();
        for at in 0..=case.text.len() {
            let place = || format!("seed {seed} at {at} of {:?}\n{}", case.text, case.grammar);
            let made = engine.assemble(&derivations.configuration(), &mut Fuel::unlimited()).unwrap();
            let (mut from_text, mut from_readings) = (Vec::new(), Vec::new());
            ways(&engine, state, 2, &mut from_text);
            ways(&engine, made.unwrap(), 2, &mut from_readings);
            assert_eq!(from_text, from_readings, "{}", place());
            let Some(&byte) = case.text.get(at) else { break };
            let unit = InputUnit { bytes: &[byte], token: None, tokens: 0 };
            let is_read = derivations.push(unit, &mut Fuel::unlimited()).unwrap();
            let after = engine.step(state, byte, &mut Fuel::unlimited()).unwrap();
            assert_eq!(is_read, after.is_some(), "{}", place());
            let Some(after) = after else { break };
            state = after;
            // Going back and reading again changes nothing.
            if at % 2 == 1 {
                let position = derivations.position();
                derivations.truncate(position - 1);
                assert!(derivations.push(unit, &mut Fuel::unlimited()).unwrap(), "{}", place());
                assert_eq!(derivations.position(), position);
            }
        }
    }
}

#[test]
fn limits_leave_the_readings_as_they_were() {
    let engine = super::engine("root ::= root root | \"a\" | \"b\"");
    let mut derivations =
        Derivations::new(Arc::clone(engine.program()), 1 << 20, &mut Fuel::unlimited()).unwrap();
    let unit = InputUnit { bytes: b"abababababababababab", token: None, tokens: 0 };
    assert!(matches!(derivations.push(unit, &mut Fuel::new(50)), Err(StepError::OutOfWork { .. })));
    assert_eq!(derivations.position(), 0);
    let refused = InputUnit { bytes: b"abc", ..unit };
    assert!(!derivations.push(refused, &mut Fuel::unlimited()).unwrap());
    assert_eq!(derivations.position(), 0);
    assert!(derivations.push(unit, &mut Fuel::unlimited()).unwrap());
    let mut small = Derivations::new(Arc::clone(engine.program()), 100, &mut Fuel::unlimited());
    assert!(matches!(small, Err(StepError::OutOfMemory { .. })));
    small = Derivations::new(Arc::clone(engine.program()), 4_000, &mut Fuel::unlimited());
    let refused = small.unwrap().push(unit, &mut Fuel::unlimited());
    assert!(matches!(refused, Err(StepError::OutOfMemory { .. })));
}
