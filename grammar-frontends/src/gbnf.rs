//! Grammars in GBNF, the dialect of llama.cpp.
//!
//! It is read by the parser of [`ebnf`](crate::ebnf), whose page describes what both have in common. GBNF
//! differs in these points:
//!
//! - A rule ends with its line. It goes on inside parentheses and after `|`.
//! - Names are made of `A-Z a-z 0-9 _ -`; they may start with a digit and hold no dot.
//! - `.` is any one character.
//! - The escapes are `\" \\ \[ \] \- \n \r \t`, `\xHH` (two digits), `\uHHHH` and `\UHHHHHHHH`. Strings and
//!   classes may hold line breaks.
//! - Alternatives may be empty.
//! - There are no macros, no `&` and `~`, no rule options and no lookahead. Token terminals (`<think>`, `<[1000]>`) are refused
//!   by name.
//!
//! ```
//! use grammask_grammar_frontends::ebnf::EbnfOptions;
//! use grammask_grammar_frontends::gbnf::parse;
//!
//! let grammar = parse(
//!     r#"
//!     root ::= item+      # a list
//!     item ::= "- " [^\n]{1,80} "\n" |
//!              "\n"
//!     "#,
//!     &EbnfOptions::default(),
//! )?;
//! assert_eq!(grammar.rule_count(), 2);
//! # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
//! ```

use grammask_grammar_ir::Grammar;

use crate::diagnostic::Diagnostics;
use crate::ebnf::{Dialect, EbnfOptions, parse_dialect};

/// Reads a grammar.
///
/// # Errors
///
/// Everything that is wrong, up to [`EbnfLimits::reports`](crate::ebnf::EbnfLimits::reports) mistakes, in the order of the source.
pub fn parse(source: &str, options: &EbnfOptions) -> Result<Grammar, Diagnostics> {
    parse_dialect(source, Dialect::Gbnf, options)
}
