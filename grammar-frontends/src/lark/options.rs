//! How a grammar is read, and bounds on it.

use std::collections::BTreeMap;

use grammask_grammar_ir::{Grammar, setters};

use crate::json_schema::{Escapes, JsonSchemaOptions, Whitespace};
use crate::regex::RegexLimits;

/// How to read a grammar, and how much of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LarkOptions {
    /// The rule that the text begins with; `start` by default.
    pub start: String,
    /// Grammars that `@name` stands for; none by default.
    pub named: BTreeMap<String, NamedGrammar>,
    /// How `%json` schemas are read, unless an `x-guidance` in them says otherwise. By default as llguidance reads them:
    /// with at most 64 characters of whitespace in a row, and with escapes where they are needed. Its interrupt stops the reading of the whole grammar.
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
            json_schema: JsonSchemaOptions::default()
                .whitespace(Whitespace::Free { max_run: Some(64) })
                .escapes(Escapes::Needed),
            regex: RegexLimits::default(),
            limits: LarkLimits::default(),
        }
    }
}

impl LarkOptions {
    /// Sets [`start`](Self::start).
    #[must_use]
    pub fn start(mut self, start: impl Into<String>) -> Self {
        self.start = start.into();
        self
    }
}

setters! { LarkOptions {
    named: BTreeMap<String, NamedGrammar>,
    json_schema: JsonSchemaOptions,
    regex: RegexLimits,
    limits: LarkLimits,
} }

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
#[non_exhaustive]
pub struct LarkLimits {
    /// Longest source in bytes, those of named grammars each for itself; 16 MiB by default.
    pub source_bytes: usize,
    /// Most names, literals and signs in a source; 2,000,000 by default. Rules that carry a number have at most as many
    /// parts when they are written out, all of them together.
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
            nesting: MAX_NESTING,
            chunks: 1 << 16,
            ends: 1000,
            reports: 20,
        }
    }
}

setters! { LarkLimits {
    source_bytes: usize,
    tokens: usize,
    nesting: usize,
    chunks: usize,
    ends: usize,
    reports: usize,
} }

/// Trees of this depth are walked with recursion.
pub(super) const MAX_NESTING: usize = 200;
