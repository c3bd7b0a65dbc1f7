//! Tests of the grammar as data, through its public face.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod analysis;
mod builder;
mod deep;
mod passes;
mod print;
mod tokens;

use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder};

/// A grammar of one rule.
fn grammar(body: impl FnOnce(&mut GrammarBuilder) -> ExprId) -> Grammar {
    rules(&["root"], |builder, _| vec![body(builder)])
}

/// A grammar of some rules, the first of which is the root; `bodies` gets a reference to each.
fn rules(names: &[&str], bodies: impl FnOnce(&mut GrammarBuilder, &[ExprId]) -> Vec<ExprId>) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let ids: Vec<_> = names.iter().map(|name| builder.declare(name).unwrap()).collect();
    let references: Vec<_> = ids.iter().map(|&id| builder.rule(id)).collect();
    let bodies = bodies(&mut builder, &references);
    assert_eq!(bodies.len(), ids.len());
    for (&id, &body) in ids.iter().zip(&bodies) {
        builder.define(id, body).unwrap();
    }
    builder.finish(ids[0]).unwrap()
}
