//! Programs are judged by what they accept, against a naive reading of the grammar.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod common;
mod compile;
mod dispatch;
mod expanded_suffixes;
mod fingerprint;
mod lazy;
mod link;
mod naive;
mod pictures;
mod random;
mod simulate;
mod spelling;
mod tables;
mod template;
mod text;

use grammask_fsm::{AutomataError, CompileOptions, DeferredProgram, Program, Toggle, compile};
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, RuleId};

/// A grammar whose root is the expression that `write` makes.
fn grammar(write: impl FnOnce(&mut GrammarBuilder) -> ExprId) -> Grammar {
    recursive_grammar(|builder, _| write(builder))
}

/// The same for an expression that may refer to the root.
fn recursive_grammar(write: impl FnOnce(&mut GrammarBuilder, RuleId) -> ExprId) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").expect("the name is free");
    let body = write(&mut builder, root);
    builder.define(root, body).expect("defined once");
    builder.finish(root).expect("a good grammar")
}

fn built(grammar: &Grammar) -> Program {
    compile(grammar, &CompileOptions::default()).expect("the grammar compiles")
}

fn refused(grammar: &Grammar) -> AutomataError {
    compile(grammar, &CompileOptions::default()).expect_err("the grammar is refused")
}

/// Every optional pass left out.
fn no_passes() -> CompileOptions {
    CompileOptions::default()
        .literal_tries(Toggle::Off)
        .inlining(Toggle::Off)
        .epsilon_removal(Toggle::Off)
        .prefix_merging(Toggle::Off)
        .suffix_merging(Toggle::Off)
        .shared_rules(Toggle::Off)
        .determinization(Toggle::Off)
}

/// Compiles with and without the optional passes, checks what every program guarantees, and compares what is
/// accepted with the naive reading of the grammar.
fn check<'t>(grammar: &Grammar, texts: impl IntoIterator<Item = &'t [u8]>) {
    let small_counters = CompileOptions::default().expand_states(0);
    let no_epsilon_removal = CompileOptions::default().epsilon_removal(Toggle::Off);
    let only_merging = no_passes().prefix_merging(Toggle::On).suffix_merging(Toggle::On).expand_states(4);
    let joined = CompileOptions::default().min_joined_rules(0);
    let options =
        [CompileOptions::default(), no_passes(), small_counters, no_epsilon_removal, only_merging, joined];
    let programs: Vec<Program> = options
        .iter()
        .filter_map(|options| match compile(grammar, options) {
            Ok(program) => Some(program),
            Err(error) => {
                assert_eq!(error.cause(), grammask_fsm::Cause::EmptyLanguage, "{error}");
                None
            }
        })
        .collect();
    assert!(programs.is_empty() || programs.len() == options.len(), "all options agree on emptiness");
    for (options, program) in options.iter().zip(&programs) {
        let late = DeferredProgram::new(grammar.clone(), options).unwrap();
        assert_eq!(late.program().unwrap().fingerprint(), program.fingerprint());
    }
    assert!(!programs.is_empty() || DeferredProgram::new(grammar.clone(), &options[0]).is_err());
    programs.iter().for_each(simulate::check_invariants);
    for text in texts {
        let expected = naive::accepts(grammar, text);
        for program in &programs {
            let found = simulate::accepts(program, text);
            assert_eq!(found, expected, "text \"{}\", {grammar:#?}, {program:#?}", text.escape_ascii());
        }
        assert!(!(programs.is_empty() && expected), "an empty language holds \"{}\"", text.escape_ascii());
    }
}
