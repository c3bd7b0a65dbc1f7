//! Concrete syntaxes for grammask: each module reads one syntax and hands out a
//! [`Grammar`](grammask_grammar_ir::Grammar), or says where and why not.
//!
//! | module | reads | for |
//! |---|---|---|
//! | [`ebnf`] | extended Backus-Naur form in xgrammar's dialect, with regular operators | grammars written by hand; what a grammar prints |
//! | [`gbnf`] | llama.cpp's GBNF | grammars that exist |
//! | [`lark`] | Lark's notation in the dialect of llguidance | grammars that exist, with JSON and special tokens inside |
//! | [`regex`] | regular expressions, of the `regex` crate or ECMA-262 | one pattern as a whole grammar, or inside one that is being built |
//! | [`json_schema`] | JSON Schema, drafts 4 to 2020-12 | JSON that satisfies a schema |
//! | [`structural_tag`] | structural tags in xgrammar's JSON format | tool calls and reasoning in free text |
//! | [`tool_formats`] | requests in OpenAI's shape | tool calls as each model family writes them |
//!
//! A frontend is exact or refuses: a construct that it cannot express is an error with its place, never
//! left out. It knows no vocabulary and runs no parser; engines take it from the grammar on.
//!
//! Not for matching: to test a text against a pattern or a document against a schema, use a regular
//! expression engine or a validator. These take inputs that no grammar can describe.
//!
//! # Example
//!
//! ```
//! use grammask_grammar_frontends::{Color, ebnf};
//!
//! let source = "root ::= greeting \"!\"\ngreting ::= \"hello\" | \"good day\"\n";
//! let error = ebnf::parse(source, &ebnf::EbnfOptions::default()).unwrap_err();
//!
//! // One line each, for logs:
//! assert_eq!(error.to_string(), "1:10: error: rule `greeting` is not defined; did you mean `greting`?");
//! // With the source line and a caret, for people:
//! let report = error.render(source, "grammar.ebnf", Color::Never);
//! assert!(report.contains("grammar.ebnf:1:10"));
//!
//! let grammar = ebnf::parse(&source.replace("greting", "greeting"), &ebnf::EbnfOptions::default())?;
//! assert_eq!(grammar.rule_count(), 2);
//! # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
//! ```
//!
//! # Errors
//!
//! All frontends fail with [`Diagnostics`]: one or more findings, each with a fixed code, a message and the
//! text to write instead. A finding has a place, which is a span with line and column, or a JSON pointer.
//! They print as plain lines, render with the source, and serialise as JSON.
//!
//! # Limits
//!
//! Input may be hostile. The options of each frontend bound its size, its nesting and its expansion, with
//! documented defaults. Nothing recurses deeper than a limit that is checked first, and counts in repeats
//! cost nothing. Parsing takes time in proportion to the input.
//!
//! # Features
//!
//! Each syntax is a feature, with those that it is made of: `ebnf` (with `gbnf`), `json-schema`, `lark`, `regex`,
//! `structural-tag`, `tool-formats`. All are on by default.
#![deny(missing_docs)]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "lark", feature = "tool-formats")),
    allow(
        dead_code,
        unused_imports,
        reason = "several syntaxes share a module, and some of them are not there"
    )
)]

// In the order in which they build on one another. All of them import `grammask_grammar_ir`; the comments say which
// modules of this crate they may import.

// Nothing.
pub mod json;
// `json`.
mod diagnostic;
// Nothing.
#[cfg(any(feature = "ebnf", feature = "lark"))]
mod language;
// `diagnostic`.
#[cfg(feature = "regex")]
pub mod regex;
// `diagnostic`, `language`, `regex`.
#[cfg(feature = "ebnf")]
pub mod ebnf;
// `ebnf`, `diagnostic`.
#[cfg(feature = "ebnf")]
pub mod gbnf;
// `json`, `diagnostic`, `regex`.
#[cfg(feature = "json-schema")]
pub mod json_schema;
// `json`, `diagnostic`, `language`, `regex`, `json_schema`.
#[cfg(feature = "lark")]
pub mod lark;
// `json`, `diagnostic`, `regex`, `ebnf`, `json_schema`.
#[cfg(feature = "structural-tag")]
pub mod structural_tag;
// `json`, `diagnostic`, `structural_tag`.
#[cfg(feature = "tool-formats")]
pub mod tool_formats;

pub use diagnostic::{Color, Diagnostic, Diagnostics, Label, Severity};
pub use grammask_grammar_ir as ir;
