//! From a structure in some syntax to a compiled grammar.
//!
//! Source texts and options come in, and a [`CompiledGrammar`](crate::grammar::compiled::CompiledGrammar) goes out.
//! The frontends read, `grammask-fsm` makes automata, and a backend is built for them; all that was compiled before
//! is looked up by its content. A syntax is one method, and a new one needs no change elsewhere. This folder
//! imports `base`, `cache` and `grammar`.

pub(crate) mod backend;
pub(crate) mod builder;
pub(crate) mod compiler;
pub(crate) mod kept;

mod syntaxes;
#[cfg(feature = "structural-tag")]
mod tag_parts;
#[cfg(feature = "structural-tag")]
mod tags;
mod token_names;
