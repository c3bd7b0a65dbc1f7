//! Tests of the oracle: it must be right before it may judge.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod enumerate;
mod hand;
mod operators;
mod random;
mod regular;

use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder};

/// A grammar of one rule, `root`, which the body may refer to.
fn grammar(body: impl FnOnce(&mut GrammarBuilder, ExprId) -> ExprId) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    let this = builder.rule(root);
    let body = body(&mut builder, this);
    builder.define(root, body).unwrap();
    builder.finish(root).unwrap()
}
