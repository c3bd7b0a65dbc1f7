//! Rust types as structures: values that come back as the type.
//!
//! A type with `schemars::JsonSchema` comes in, and a grammar or a request with tools goes out; and a finished text comes
//! in, and a value goes out. More kinds of types need no change elsewhere. This folder imports `compile` and `grammar`,
//! and only the crate's root imports it.

mod schema;

pub(crate) mod error;

// After `error`, which it uses.
mod read;

pub(crate) mod tools;
pub(crate) mod typed_grammar;
