//! The automaton of a grammar, walked by hand and drawn. Writes the picture to the path that it is given, if any.

use grammask_fsm::picture::{Scope, dot, svg};
use grammask_fsm::{CompileOptions, compile};
use grammask_grammar_ir::GrammarBuilder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // root ::= [+-]? [0-9]+ ("." [0-9]+)?
    let mut builder = GrammarBuilder::new();
    let sign = builder.class([('+', '+'), ('-', '-')]);
    let sign = builder.optional(sign);
    let digit = builder.class([('0', '9')]);
    let digits = builder.repeat(digit, 1, None);
    let point = builder.literal(".");
    let fraction = builder.sequence([point, digits]);
    let fraction = builder.optional(fraction);
    let body = builder.sequence([sign, digits, fraction]);
    let root = builder.add_rule("root", body)?;
    let program = compile(&builder.finish(root)?, &CompileOptions::default())?;

    // One rule, one automaton, and as few states as there can be: the start, the sign, digits, the point, and the
    // digits behind it.
    assert_eq!((program.fragment_count(), program.state_count()), (1, 5));

    let graph = dot(&program, Scope::Program);
    assert!(graph.starts_with("digraph"));
    let picture = svg(&program, Scope::Program)?;
    assert!(picture.contains("<svg"));
    if let Some(path) = std::env::args_os().nth(1) {
        std::fs::write(path, picture)?;
    }
    Ok(())
}
