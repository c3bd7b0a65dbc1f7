//! Engine-independent test cases as data, and the runner that puts them to a backend.
//!
//! A *case* is a grammar in one of the concrete syntaxes with texts: sentences, other texts with the byte at
//! which they die, and forced text. In place of texts it may have the refusal that building must end in.
//! Cases live in `cases/*.toml` and name no engine. The naive recogniser judges them first: a case that it
//! contradicts is a mistake in the data. Then every backend runs all of them. Known mistakes of a backend are
//! listed in `gaps.toml`, and a gap that has been mended fails until it is taken off that list.
//!
//! [`hostile`] makes inputs that are dear for their size, of every kind of source, and puts them to a compiler.
//!
//! Not for anything but tests: the crate reads its files from the source tree.
//!
//! # A case
//!
//! ```toml
//! [[case]]
//! name = "sums"                       # unique in its file
//! kind = "ebnf"                       # or gbnf, lark, regex, json_schema, tools
//! source = 'root ::= "1" ("+1")*'     # or file = "..." out of examples/grammars
//! accepted = ["1", "1+1"]
//! rejected = [["1+", "+1"]]           # what is still a prefix, and the rest, whose first byte is refused
//! incomplete = ["", "1+"]             # every byte is fine, and the text is no sentence
//! forced = [["1+", "1"], ["1", ""]]   # after this text, the longest text that every sentence goes on with
//! ```
//!
//! `error = "..."` instead of texts: the grammar is refused with that in the message, by its frontend or when
//! it is compiled. `unescape = true`: backslash escapes in texts are read (`\xFF`, `\n`, `\\`; see
//! [`unescape`]). `options = [...]`: how a regex or a schema is read, see [`FrontendOption`].
//!
//! Cases of the kind `tools` are in `tool_turns`: the source is the name of a model family, and the texts are its answers to
//! `tool_turns/request.json`. `tool_turns/render.py` makes them with the vendors' templates.
//!
//! # Example
//!
//! ```
//! let cases = grammask_corpus::cases()?;
//! let sums = cases.iter().find(|case| case.id() == "recursion/left").expect("a case of that name");
//! assert!(grammask_oracle::Recogniser::new(&sums.grammar()?).accepts(b"baa"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors and limits
//!
//! A file that cannot be read or does not follow the form is a [`CorpusError`] that names it. The runner keeps
//! going after a failure and reports at most a few per case.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

// In the order in which they build on one another.

// They import nothing of this crate.
mod byte_set;
mod escape;
mod minimise;
// Cases as data.
mod case;
mod frontend;
mod gaps;
// The subjects that run the cases.
mod subject;
// Running cases.
mod report;
mod runner;
// The backends of this workspace, and random comparisons.
pub mod documents;
pub mod hostile;
pub mod random;
pub mod schemas;
pub mod subjects;

pub use byte_set::ByteSet;
pub use case::{Case, CorpusError, Expectation, Forced, FrontendOption, Kind, Rejected, cases, tool_turns};
pub use escape::{UnescapeError, unescape};
pub use frontend::FrontendError;
pub use gaps::{Gap, gaps};
pub use minimise::minimise;
pub use report::{CaseFailure, Report, table};
pub use runner::{check_backend, check_case, check_matcher, check_oracle};
pub use subject::{BackendSubject, MatcherSubject, OracleSubject, Subject, asks_to_differ};
