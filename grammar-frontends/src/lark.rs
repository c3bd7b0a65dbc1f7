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
//! - A statement stands on a line of its own; lines that begin with `|`, `&` or `->` go on with the one before.
//!   Comments begin with `//` or `#`. The text is what the rule `start` derives.
//! - Names in lower case are rules, names in upper case terminals; leading underscores do not count. Terminals
//!   are made of strings, regular expressions and terminals.
//! - `"text"` with JSON's escapes, `"text"i` without regard to the case of ASCII letters, `"a".."z"`,
//!   `/pattern/flags` in the syntax of the `regex` crate with the flags `i`, `s` and `u`.
//! - `a b`, `a | b`, `(a)`, `[a]` and `a?`, `a*`, `a+`, `a{n}`, `a{n,}`, `a{,m}`, `a{n,m}`, `a~n`, `a~n..m`. On terminals
//!   also `a & b` (both match) and `~a` (does not match).
//! - `%ignore X` lets `X` stand any number of times behind every terminal and literal of a rule; before the
//!   first one only with `%grammar_options {"allow_initial_skip": true}` (`%llguidance` does the same).
//! - `%import common.NAME`, `%import common.NAME -> OTHER`, `%import common (A, B)`.
//! - In rules: `<name>` is a special token, `<[5,7-9]>` are tokens by id, `<[^5]>` all others, `<[*]>` any;
//!   `%json {...}` is JSON that satisfies a schema, `%lark { ... }` a grammar with names of its own, `@name` a
//!   grammar given with the options.
//! - In rules and terminals: `%regex {"substring_chunks": [...]}` and `%regex {"substring_chars": "..."}` are
//!   stretches of a text.
//! - Attributes, `name[a, b=1]: ...`, on rules whose body is as a terminal's: `lazy` keeps the shortest match,
//!   `suffix="..."` and `stop=/.../` (which are one attribute) end the rule where such a text first ends,
//!   `max_chars=n` bounds the characters of what stands before that end, or of the whole where there is none.
//! - Attributes on any rule: `max_tokens=n`, `temperature=t`, `capture` and `capture="name"`, as the options of
//!   [`ebnf`](crate::ebnf). A `suffix` or `stop` is no part of what is captured or of what `max_tokens` bounds;
//!   `stop_capture="name"` hands it out. A text that can be cut in several ways is cut where its end begins first.
//!
//!   So that the parts can be told, `capture` and `stop_capture` need an end whose possible lengths are few, and
//!   `max_tokens` one before which the same texts may stand whatever its form: every string is, and `/[.!?]/`;
//!   `/[ab]b/` is not.
//!
//! `?` and `!` before a rule's name and `-> name` behind an alternative shape parse trees, which do not exist
//! here; they are read and mean nothing.
//!
//! # No lexer
//!
//! Other implementations cut the text into terminals first, longest match first, and so refuse texts that the
//! grammar describes (`A: "a"+` in `start: A "ab"`). Here a grammar stands for the texts that can be read in
//! some way. The other side of it: where a name and a keyword overlap, or nothing has to stand between two names,
//! a text may be read in more ways than a lexer would. Say what is meant: `NAME: /[a-z]+/ & ~KEYWORD`.
//!
//! # Errors and limits
//!
//! [`Diagnostics`] with the line, its place and what to write instead; priorities, templates, rules that carry a
//! number (`name::value`, `%if`), `substring_words` and `%declare` are refused. [`LarkLimits`] bounds what is read.

mod attributes;
mod common;
mod ends;
mod fault;
mod lower;
mod syntax;
mod token;

use std::collections::{BTreeMap, HashMap};

use grammask_grammar_ir::{Grammar, GrammarBuilder, RuleId};

use crate::json_schema::JsonSchemaOptions;
use crate::regex::RegexLimits;
use crate::{Diagnostic, Diagnostics};
use fault::Fault;
use lower::{Origin, Shared};

/// How to read a grammar, and how much of it.
#[derive(Clone, Debug)]
pub struct LarkOptions {
    /// The rule that the text begins with; `start` by default.
    pub start: String,
    /// Grammars that `@name` stands for; none by default.
    pub named: BTreeMap<String, NamedGrammar>,
    /// How `%json` schemas are read.
    pub json_schema: JsonSchemaOptions,
    /// Bounds on each regular expression.
    pub regex: RegexLimits,
    /// Bounds on the grammar.
    pub limits: LarkLimits,
}

impl Default for LarkOptions {
    fn default() -> Self {
        Self {
            start: "start".to_owned(),
            named: BTreeMap::new(),
            json_schema: JsonSchemaOptions::default(),
            regex: RegexLimits::default(),
            limits: LarkLimits::default(),
        }
    }
}

/// A grammar that others refer to as `@name`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NamedGrammar {
    /// As data.
    Grammar(Grammar),
    /// In Lark's notation; it may refer to other names, and to itself.
    Lark(String),
}

/// Bounds on the text of a grammar. Past them it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LarkLimits {
    /// Longest source in bytes, those of named grammars each for itself; 16 MiB by default.
    pub source_bytes: usize,
    /// Most names, literals and signs in a source; 2,000,000 by default.
    pub tokens: usize,
    /// Deepest nesting of brackets; 200 by default, and never more.
    pub nesting: usize,
    /// Most chunks of one `%regex` directive; 65,536 by default. Each makes up to two rules.
    pub chunks: usize,
    /// Most ends of rules that are regular expressions and are written out for `max_tokens`, `max_chars`, `capture` or
    /// `stop_capture`; 1,000 by default. Each takes up to 5 ms.
    pub ends: usize,
    /// Most mistakes that are reported; 20 by default, at least one.
    pub reports: usize,
}

impl Default for LarkLimits {
    fn default() -> Self {
        Self {
            source_bytes: 16 << 20,
            tokens: 2_000_000,
            nesting: DEEPEST,
            chunks: 1 << 16,
            ends: 1000,
            reports: 20,
        }
    }
}

/// Trees of this depth are walked with recursion.
const DEEPEST: usize = 200;

/// Reads a grammar. Its root is `root`.
///
/// # Errors
///
/// Everything that is wrong, up to [`LarkLimits::reports`] mistakes.
///
/// # Examples
///
/// ```
/// use grammask_grammar_frontends::lark::{LarkOptions, parse};
///
/// let grammar = parse("start: \"a\"~2..3 [TAIL]\nTAIL: /[0-9]+/\n", &LarkOptions::default())?;
/// assert_eq!(grammar.rule(grammar.root()).name(), "root");
///
/// let refused = parse("start: NUMBER\n", &LarkOptions::default()).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "1:8: error: `NUMBER` is not defined; write `%import common.NUMBER` on a line of its own"
/// );
/// # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
/// ```
pub fn parse(source: &str, options: &LarkOptions) -> Result<Grammar, Diagnostics> {
    let mut shared = Shared {
        builder: GrammarBuilder::new(),
        options,
        named: HashMap::new(),
        waiting: Vec::new(),
        ends: 0,
        origin: Origin::Main,
    };
    let root =
        shared.builder.declare("root").map_err(|error| Diagnostics::from_grammar_error(source, &error))?;
    let start = read(&mut shared, source).map_err(|faults| located(source, faults, options))?;
    define(&mut shared.builder, root, start)
        .map_err(|error| Diagnostics::from_grammar_error(source, &error))?;
    shared.origin = Origin::Named;
    while let Some((name, named_source, rule)) = shared.waiting.pop() {
        let start = read(&mut shared, named_source).map_err(|faults| {
            let inner = located(named_source, faults, options);
            let about = inner.into_vec().into_iter().map(|inner| {
                let (line, column) = inner.line_and_column().unwrap_or((1, 1));
                let message = format!(
                    "in the grammar named `{name}`, line {line}, column {column}: {}",
                    inner.message()
                );
                let hint = inner.hint().unwrap_or("correct the named grammar").to_owned();
                Diagnostic::error(inner.code(), message).with_hint(hint)
            });
            Diagnostics::from_vec(about.collect()).unwrap_or_else(|| nothing_found(name))
        })?;
        define(&mut shared.builder, rule, start)
            .map_err(|error| Diagnostics::from_grammar_error(source, &error))?;
    }
    shared.builder.finish(root).map_err(|error| Diagnostics::from_grammar_error(source, &error))
}

fn define(
    builder: &mut GrammarBuilder,
    rule: RuleId,
    start: RuleId,
) -> Result<(), grammask_grammar_ir::GrammarError> {
    let body = builder.rule(start);
    builder.define(rule, body)
}

/// Reads one source and hands out its start rule, or all that is wrong with it.
fn read(shared: &mut Shared<'_>, source: &str) -> Result<RuleId, Vec<Fault>> {
    let limits = shared.options.limits;
    if source.len() > limits.source_bytes {
        let message =
            format!("the grammar is {} bytes long, more than {}", source.len(), limits.source_bytes);
        return Err(vec![Fault::limit(message, "shorten it or raise the limit `source_bytes`")]);
    }
    let tokens = token::lex(source, limits.tokens).map_err(|fault| vec![fault])?;
    let most = limits.reports.max(1);
    let mut faults = Vec::new();
    let mut report = |fault| {
        if faults.len() < most {
            faults.push(fault);
        }
    };
    let file = syntax::parse(source, &tokens.all, limits.nesting.min(DEEPEST), &mut report);
    let start = lower::lower(shared, source, &tokens.values, &file, &mut report);
    match start {
        Some(start) if faults.is_empty() => Ok(start),
        _ => Err(faults),
    }
}

fn located(source: &str, faults: Vec<Fault>, options: &LarkOptions) -> Diagnostics {
    let mut found: Vec<Diagnostic> = faults.into_iter().map(|fault| fault.into_diagnostic(source)).collect();
    found.sort_by_key(|diagnostic| diagnostic.span().map(|span| (span.start, span.end)));
    Diagnostics::from_vec(found).unwrap_or_else(|| nothing_found(&options.start))
}

/// Every source that has no start was reported; this is what would be said if one was not.
fn nothing_found(name: &str) -> Diagnostics {
    Diagnostic::error("lark/start", format!("`{name}` has no start rule")).with_hint("define it").into()
}
