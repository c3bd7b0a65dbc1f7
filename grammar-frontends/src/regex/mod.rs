//! Regular expressions, parsed by `regex-syntax`.
//!
//! A pattern is read in one of two [dialects](Dialect) and stands for the texts that it matches
//! [as a whole](Matching::Whole) or [somewhere](Matching::Search). Greediness does not matter to
//! that and is dropped, and so are groups, unless those with names are to be [captured](Groups::Captured). Counted repeats stay counted: `a{1000000000}` is one node of the grammar.
//!
//! Everything in it is exact, anchors in odd places included (`(^a|b)c`, `a$|$`; see `anchors.rs` for the
//! method). Word boundaries (`\b`, `\B`), and look-around in the ECMA dialect, may stand where no repeat without a bound is
//! around them (see `assertions.rs`). Look-around may stand anywhere if the parts beside it read at least as many characters
//! as it looks at. An example is `(?:(?!-)[a-z-]{1,63}(?<!-)\.)+` (see `look_around.rs`). Look-ahead may also stand in a
//! repeat that reads single characters up to the end (`^((?!a).)*$`).
//!
//! Some constructs are refused by name and place. Back-references are beyond regular languages, and multi-line anchors make
//! sense line by line alone. Other look-around and word boundaries would need larger automata than the method makes.
//!
//! ```
//! use grammask_grammar_frontends::regex::{RegexOptions, parse};
//!
//! let grammar = parse(r"[a-z]+(-[0-9]{2,4})?", &RegexOptions::default())?;
//! assert_eq!(grammar.rule(grammar.root()).name(), "root");
//!
//! let refused = parse(r"(?=a)b", &RegexOptions::default()).unwrap_err();
//! assert!(refused.to_string().starts_with("1:1: error: look-around"));
//! # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
//! ```
//!
//! # In this folder
//!
//! A pattern and [`RegexOptions`] come in, and an expression in a grammar builder goes out. `ecma` rewrites the
//! dialect of ECMA-262, `refusal` explains what is refused, `negated_classes` works around a fault of the parser. `anchors`
//! and `assertions` write the expression, the latter with `look_around` and `local`. Each can be
//! changed alone, as long as the language stays the same. Imports `diagnostic` only.

mod anchors;
mod assertions;
mod compile;
mod ecma;
mod local;
mod look_around;
mod negated_classes;
mod options;
mod refusal;
mod translated;

pub use compile::{compile_into, parse};
pub(crate) use compile::{compile_next, parse_next};
pub(crate) use options::PatternBudget;
pub use options::{Dialect, Groups, LetterCase, Matching, RegexLimits, RegexOptions};
