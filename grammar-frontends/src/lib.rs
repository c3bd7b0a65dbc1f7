//! Concrete syntaxes for grammask: EBNF, GBNF, regular expressions and JSON Schema
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod diagnostic;
pub mod ebnf;
pub mod gbnf;
pub mod json_schema;
pub mod regex;

pub use diagnostic::{Color, Diagnostic, Diagnostics, Label, Severity};
