//! Grammars in Lark's notation, in the dialect that llguidance and xgrammar read.
//!
//! ```text
//! start: "<call>" call "</call>" | answer
//! call: NAME "(" %json {"type": "object"} ")"
//! answer[suffix="\n\n"]: /(.|\n)*/
//! NAME: /[a-z_]+/ & ~KEYWORD
//! KEYWORD: "if" | "else"
//! %import common.WS
//! %ignore WS
//! ```
//!
//! # The language
//!
//! - Each statement is on a line of its own; lines that begin with `|`, `&` or `->` go on with the one before.
//!   Comments begin with `//` or `#`. The text is what the rule `start` derives.
//! - Names in lower case are rules, names in upper case terminals; leading underscores do not count. Terminals
//!   are made of strings, regular expressions and terminals.
//! - `"text"` with JSON's escapes and `\xHH`, `"text"i` without regard to case, `"a".."z"`.
//!   `/pattern/flags` in the syntax of the `regex` crate with the flags `i`, `s` and `u`.
//! - `a b`, `a | b`, `(a)`, `[a]` and `a?`, `a*`, `a+`, `a{n}`, `a{n,}`, `a{,m}`, `a{n,m}`, `a~n`, `a~n..m`. On terminals
//!   also `a & b` (both match) and `~a` (does not match), which binds tighter than repeats: `~a*` is `(~a)*`.
//! - `%ignore X` allows `X` any number of times after every terminal and literal of a rule; before the
//!   first one only with `%grammar_options {"allow_initial_skip": true}` (`%llguidance` does the same).
//!   With `{"ignore_once": true}` only once.
//! - `%import common.NAME`, `%import common.NAME -> OTHER`, `%import common (A, B)`.
//! - In rules: `<name>` is a special token, `<[5,7-9]>` are tokens by id, `<[^5]>` all others, `<[*]>` any.
//!   `%json {...}` is JSON that satisfies a schema, `%lark { ... }` a grammar with names of its own, `@name`
//!   a grammar given with the options.
//! - In rules and terminals: `%regex {"substring_chunks": [...]}`, `%regex {"substring_words": "..."}` and
//!   `%regex {"substring_chars": "..."}` are stretches of a text. Words are runs of letters, digits and `_`; the
//!   white space and the other characters between them stand alone.
//! - Attributes, `name[a, b=1]: ...`, on rules whose body is like a terminal's. `lazy` keeps the shortest
//!   match; `suffix="..."` and `stop=/.../` (which are one attribute) end the rule where such a text first
//!   ends. All three *commit*: where such a rule may begin and its text has been read, nothing else that
//!   could begin there goes on. In `start: call* rest` a text that begins a call is no part of the rest.
//!   Where that cannot be enforced, the grammar is refused (`lark/lazy`). A rule with `lazy` alone may end with the name of
//!   a special token: `head[lazy]: TEXT <tool_call>`. Then all tokens with names are special, and a vocabulary in which one
//!   is text is refused. Attribute `max_chars=n` bounds the
//!   characters of the text before that end, or of the whole where there is none. By itself it also bounds
//!   rules made of rules, if no rule of the grammar commits; special tokens in them are no characters. Such a bound over
//!   recursion or rules with options is refused with its place.
//! - Attributes on any rule: `max_tokens=n`, `temperature=t`, `capture` and `capture="name"`, as the options of
//!   [`ebnf`](crate::ebnf). A `suffix` or `stop` is no part of what is captured or of what `max_tokens` bounds;
//!   `stop_capture="name"` hands it out. A text that can be cut in several ways is cut where its end begins first.
//! - `name::_: ...` is a rule that carries a number of 64 bits; `name::0x1f` in another rule says which.
//!   In rules that carry one, references may give `_` (the same), `set_bit(n)`, `clear_bit(n)`, `bit_and(n)`,
//!   `bit_or(n)`, `incr(_)` and `decr(_)`. An alternative may end with `%if` and a condition:
//!   - on bits: `bit_set(n)`, `bit_clear(n)`, `is_ones(_)`, `is_zeros(_)`;
//!   - on the number: `eq(_, n)`, `ne`, `lt`, `le`, `gt`, `ge`; on how many ones it has: `bit_count_eq(_, n)` and so on;
//!   - on conditions: `true`, `not(c)`, `and(c, d)`, `or(c, d)`.
//!
//!   In place of `_` in brackets, `[0:3]` are the bits 0, 1 and 2. Where these are all ones, `incr` changes nothing;
//!   where they are zeros, `decr` does not.
//!
//! The parts must be separable. So `capture` and `stop_capture` need an end whose possible lengths are few,
//! and `max_tokens` one before which the same texts may be whatever its form. Every string is such an end,
//! and `/[.!?]/`; `/[ab]b/` is not.
//!
//! `?` and `!` before a rule's name and `-> name` after an alternative shape parse trees, which do not exist
//! here; they are read and mean nothing.
//!
//! # No lexer
//!
//! Other implementations cut the text into terminals first, longest match first, and so refuse texts that the
//! grammar describes (`A: "a"+` in `start: A "ab"`). Here a grammar stands for the texts that can be read in
//! some way. The other side of it concerns a name and a keyword that overlap, or two names that nothing has
//! to separate. A text may then be read in more ways than a lexer would. Be explicit then: `NAME: /[a-z]+/ &
//! ~KEYWORD`.
//!
//! # Errors and limits
//!
//! [`Diagnostics`](crate::Diagnostics) with the line, its place and what to write instead; priorities, templates and
//! `%declare` are refused. [`LarkLimits`] bounds what is read, and what is written out: a rule that carries a number becomes a
//! rule for each number that references give it.
//!
//! # In this folder
//!
//! A source and [`LarkOptions`] come in, a [`Grammar`](grammask_grammar_ir::Grammar) or all mistakes in the
//! source go out. `token` is the lexer, `syntax` the parser, with `number` for what stands after `::` and `%if`.
//! `lower` writes rules, with `numbered` for those that carry a number and `terminator` for those that end with a
//! `suffix` or `stop`. `commit` removes from terminals the texts that lazy rules take
//! over, by the `places` where they begin. Each stage can be changed alone. Imports `diagnostic`, `language`,
//! `regex` and `json_schema`.

mod attributes;
mod commit;
mod common_terminals;
mod fault;
mod literals;
mod lower;
mod number;
mod numbered;
mod options;
mod parse;
mod places;
mod syntax;
mod terminated;
mod terminator;
mod token;

pub use options::{LarkLimits, LarkOptions, NamedGrammar};
pub use parse::{parse, parse_with_warnings};
