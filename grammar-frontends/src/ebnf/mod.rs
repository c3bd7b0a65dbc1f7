//! Grammars in extended Backus-Naur form: the dialect of xgrammar, with our own operators.
//!
//! ```text
//! root    ::= object | "null"              # a comment
//! object  ::= "{" (pair ("," pair)*)? "}"
//! pair    ::= "\"" [a-z_]{1,20} "\":" [^\x00-\x1f"]*
//! ```
//!
//! # The language
//!
//! - A rule is `name ::= body` and starts on a line of its own. Names are made of `A-Z a-z 0-9 _ . -` and do
//!   not start with a digit. Blanks, line breaks and `#` comments are allowed anywhere else.
//! - `"text"` is a literal, `""` the empty text, and so is `()`.
//! - `[a-z_]` is one character out of a class, `[^a-z]` one outside it; `[]` is none, `[^]` any.
//! - Escapes: `\" \' \? \\ \/ \a \b \f \n \r \t \v \0 \e`, `\xH...` (any number of digits, one character),
//!   `\uHHHH`, `\UHHHHHHHH`; in classes also `\^ \$ \. \* \+ \( \) \[ \] \{ \} \| \-`. A `-` at either end of a
//!   class is itself.
//! - `a b` is a sequence, `a | b` a choice, `(...)` a group.
//! - `a?`, `a*`, `a+`, `a{n}`, `a{n,}`, `a{n,m}`; `a{n, -1}` is `a{n,}`. A repeat of a repeat needs a group.
//! - `a & b` is what both match, and binds tighter than `|`; `~a?` is every text that `a?` does not match. Both need
//!   operands that are regular, as [`Expr::Intersection`](grammask_grammar_ir::Expr::Intersection) says.
//! - `(=a)` at the end of a rule is a lookahead. It is kept and changes nothing.
//! - `Intersection(a, b)`, `Complement(a)`, `JsonEscaped(a)`, `JsonPrinted(a)`, `JsonNeeded(a)`, `JsonAscii(a)` are
//!   the regular operators of [`Expr`](grammask_grammar_ir::Expr), the last four by their
//!   [`JsonEscapes`](grammask_grammar_ir::JsonEscapes). `Bytes("..\xHH..")` is a byte string (exactly two digits a
//!   byte).
//! - `Permutation(s, Required(a), Optional(b), Repeatable(c), ""{1,3})` are parts in any order with `s` between any
//!   two, here one to three of them; the bounds may be left out. There is at least one.
//!
//! - `Token(5, "<|name|>")` is one token of a set, `ExcludeToken(...)` one outside it: ids, or names that the
//!   vocabulary resolves. In both, `SpecialToken("<|name|>")` is a name that no text token may have. `TagText("..")` is a
//!   text in which names of special tokens stand for those tokens.
//! - `TagDispatch(("tag", e), ...)` is free text in which a tag must be followed by its expression. By name:
//!   `loop_after_dispatch` (default true: free text again after the expression), `excludes=("s",)` (strings
//!   that free text cannot hold), `stop_str=("s",)` (strings that end it, and belong to it). Also `stop_eos`
//!   (default true: it may also end after any character) and `at_least_one` (default false). A tag, stop
//!   string or excluded string may hold tokens: `"a" Token(5)`.
//! - `TokenTagDispatch((5, e), ...)` is the same over whole tokens, with `loop_after_dispatch` and
//!   `excludes=(6,)`.
//!
//! - `Regex("pattern", flags="is", json_string=true)` is a regular expression of ECMA-262 that the text
//!   matches as a whole. The flags are `i` (case does not count), `s` (`.` is any character) and `u` (which
//!   changes nothing). With `json_string` it is spelled as the inside of a JSON string, as by `JsonEscaped`.
//!   The string has escapes of its own: `Regex("\\d+")`.
//! - `Substring("one ", "two ", "three")` is any stretch of the chunks, from one to a later one, or nothing.
//! - Options are written between a rule's name and `::=`, as in `thought[max_tokens=100, capture] ::= ...`.
//!   `max_tokens=n` bounds the tokens of each place where the rule is read
//!   ([`RuleOptions`](grammask_grammar_ir::RuleOptions) says how). `capture` or `capture="name"` (with
//!   `\u005D` for `]`) returns its text, without its last n bytes if `capture_hidden_suffix_bytes=n` is
//!   beside it. `stop_capture="name", stop_capture_bytes=n` returns those. `temperature=t` is what to sample
//!   it with. `lazy` keeps the shortest matches, those that do not begin with another one. `max_chars=n` keeps
//!   the matches of at most this many characters; tokens are none. Both need a body that is regular.
//!   `distinct=items` and `distinct=names` say of the inside of an array or object of JSON that its items or
//!   names do not repeat, under the conditions that [`RuleOptions`](grammask_grammar_ir::RuleOptions) lists.
//!
//! The output of `Display` of a [`Grammar`](grammask_grammar_ir::Grammar) is read back as the same grammar.
//!
//! # How it is read
//!
//! A lexer cuts the source into tokens. Tokens are split into rules where a name and `::=` follow one
//! another, so that a mistake in one rule does not reach the next. A parser reads each rule's body. Mistakes
//! of all stages are collected, up to a limit, and reported in the order of the source.
//!
//! # In this folder
//!
//! A source and [`EbnfOptions`] come in, a [`Grammar`](grammask_grammar_ir::Grammar) or all mistakes in the source go
//! out: `token` is the lexer, `syntax` the parser, `lower` writes expressions. Each stage and the wording of mistakes
//! (`fault`) can be changed alone; `gbnf` shares all of it. Imports `diagnostic`, `language` and `regex`.

mod escape;
mod fault;
mod lower;
mod macros;
mod options;
mod parse;
mod rule_options;
mod syntax;
mod token;

pub(crate) use options::Dialect;
pub use options::{EbnfLimits, EbnfOptions};
pub use parse::parse;
pub(crate) use parse::{parse_dialect, parse_part};
