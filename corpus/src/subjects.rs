//! The backends of this workspace, by name.

use std::sync::Arc;

use grammask_earley::{Config, Engine};
use grammask_fsm::{CompileOptions, DeferredProgram, Program};
use grammask_grammar_ir::Grammar;

use crate::case::Case;
use crate::report::Report;
use crate::runner::{check_backend, check_matcher, check_oracle};

/// The Earley backend for a grammar as it stands, compiled late where it can be, with the defaults of the compiler and
/// of the engine.
pub fn earley(grammar: &Grammar) -> Result<Engine, String> {
    let late = DeferredProgram::new(grammar.clone(), &CompileOptions::default());
    let late = late.map_err(|error| error.to_string())?;
    let program = late.program().map_err(|error| error.to_string())?;
    Engine::new(Arc::clone(program), Config::default()).map_err(|error| error.to_string())
}

/// The Earley backend for automata that were written and read.
pub fn earley_stored(grammar: &Grammar) -> Result<Engine, String> {
    earley_stored_with(grammar, &CompileOptions::default())
}

/// As [`earley_stored`], where every bound on the length of a text is counted, and rules are joined where they can be.
pub fn earley_counting(grammar: &Grammar) -> Result<Engine, String> {
    earley_stored_with(grammar, &CompileOptions::default().min_counted_pairs(0).min_joined_rules(0))
}

fn earley_stored_with(grammar: &Grammar, options: &CompileOptions) -> Result<Engine, String> {
    let program = grammask_fsm::compile(grammar, options).map_err(|error| error.to_string())?;
    let bytes = postcard::to_allocvec(&program).map_err(|error| error.to_string())?;
    let program: Program = postcard::from_bytes(&bytes).map_err(|error| error.to_string())?;
    Engine::new(Arc::new(program), Config::default()).map_err(|error| error.to_string())
}

/// The pushdown backend for a grammar as it stands, with the defaults of the compiler. Few stacks: more than
/// these come of ambiguity without end, and to find out takes longer than all the cases.
pub fn pda(grammar: &Grammar) -> Result<grammask_pda::Engine, String> {
    pda_with(grammar, &CompileOptions::default())
}

/// As [`pda`], where every bound on the length of a text is counted, and rules are joined where they can be.
pub fn pda_counting(grammar: &Grammar) -> Result<grammask_pda::Engine, String> {
    pda_with(grammar, &CompileOptions::default().min_counted_pairs(0).min_joined_rules(0))
}

fn pda_with(grammar: &Grammar, options: &CompileOptions) -> Result<grammask_pda::Engine, String> {
    let program = grammask_fsm::compile(grammar, options).map_err(|error| error.to_string())?;
    let config = grammask_pda::Config { max_stacks: 2_000, ..grammask_pda::Config::default() };
    grammask_pda::Engine::new(Arc::new(program), config).map_err(|error| error.to_string())
}

/// Runs cases on the naive recogniser and on every backend.
pub fn check_all(cases: &[Case]) -> Vec<Report> {
    vec![
        check_oracle(cases),
        check_backend("earley", cases, earley),
        check_backend("earley-stored", cases, earley_stored),
        check_backend("pda", cases, pda),
        check_matcher(cases),
    ]
}
