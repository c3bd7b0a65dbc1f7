//! Grammars as data, as requests carry them.

use std::fmt;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Grammars that refer to one another as `@name`. A text is what the first one derives.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct TopLevelGrammar {
    /// The grammars.
    pub grammars: Vec<GrammarWithLexer>,
    /// Most tokens of a text; the one that ends it is not counted.
    pub max_tokens: Option<usize>,
}

impl TopLevelGrammar {
    /// A grammar in Lark's notation; or, if the text begins with `{`, a list of grammars in JSON.
    ///
    /// # Errors
    ///
    /// If the text is empty, or is no such JSON.
    pub fn from_lark_or_grammar_list(text: &str) -> Result<Self> {
        match text.trim_start().chars().next() {
            None => bail!("the grammar is empty; write a grammar in Lark's notation, or a list in JSON"),
            Some('{') => Ok(serde_json::from_str(text)?),
            Some(_) => Ok(Self::from_lark(text.to_owned())),
        }
    }

    /// A regular expression, which the whole text matches.
    pub fn from_regex(pattern: &str) -> Self {
        Self::from_grammar(GrammarWithLexer::from_regex(pattern))
    }

    /// A grammar in Lark's notation.
    pub fn from_lark(lark_grammar: String) -> Self {
        Self::from_grammar(GrammarWithLexer::from_lark(lark_grammar))
    }

    /// A JSON Schema.
    pub fn from_json_schema(json_schema: Value) -> Self {
        Self::from_grammar(GrammarWithLexer::from_json_schema(json_schema))
    }

    /// A list of one grammar.
    pub fn from_grammar(grammar: GrammarWithLexer) -> Self {
        Self { grammars: vec![grammar], max_tokens: None }
    }

    /// A grammar of some kind: `regex`; `json` or `json_schema`; `json_object`, whatever the data; `lark`; `llguidance`
    /// or `guidance` for [`from_lark_or_grammar_list`](Self::from_lark_or_grammar_list).
    ///
    /// # Errors
    ///
    /// If the kind is none of these, or the data is not JSON where it has to be.
    pub fn from_tagged_str(kind: &str, data: &str) -> Result<Self> {
        Ok(match kind {
            "regex" => Self::from_regex(data),
            "json" | "json_schema" => Self::from_json_schema(serde_json::from_str(data)?),
            "json_object" => Self::from_json_schema(json!({"type": "object"})),
            "lark" => Self::from_lark(data.to_owned()),
            "llguidance" | "guidance" => Self::from_lark_or_grammar_list(data)?,
            _ => bail!("unknown constraint type: {kind}"),
        })
    }
}

/// A grammar: either a JSON Schema or a text in Lark's notation.
#[derive(Serialize, Deserialize, Clone, Debug, Default)]
pub struct GrammarWithLexer {
    /// The name that others refer to.
    pub name: Option<String>,
    /// A JSON Schema.
    pub json_schema: Option<Value>,
    /// A text in Lark's notation.
    pub lark_grammar: Option<String>,
}

impl GrammarWithLexer {
    /// A grammar in Lark's notation, by the name `lark_grammar`.
    pub fn from_lark(lark_grammar: String) -> Self {
        Self { name: Some("lark_grammar".to_owned()), lark_grammar: Some(lark_grammar), ..Self::default() }
    }

    /// A JSON Schema, by the name `json_schema`.
    pub fn from_json_schema(json_schema: Value) -> Self {
        Self { name: Some("json_schema".to_owned()), json_schema: Some(json_schema), ..Self::default() }
    }

    /// A regular expression, by the name `regex`.
    pub fn from_regex(pattern: &str) -> Self {
        let name = Some("regex".to_owned());
        Self { name, ..Self::from_lark(format!("start: /{}/", between_slashes(pattern))) }
    }
}

/// A pattern as Lark's notation has it between slashes. A line break in a pattern that may have the flag `x` would not
/// mean the same as its escape: it stays, and is an error of the grammar.
fn between_slashes(pattern: &str) -> String {
    if pattern.is_empty() {
        return "(?:)".to_owned();
    }
    let has_comments = pattern.split("(?").skip(1).any(|flags| {
        flags.chars().take_while(|flag| flag.is_ascii_alphabetic() || *flag == '-').any(|flag| flag == 'x')
    });
    let mut escaped = String::with_capacity(pattern.len() + 8);
    let mut is_escape = false;
    for character in pattern.chars() {
        match character {
            '/' if !is_escape => escaped.push_str("\\/"),
            '\n' if !is_escape && !has_comments => escaped.push_str("\\n"),
            other => escaped.push(other),
        }
        is_escape = character == '\\' && !is_escape;
    }
    escaped
}

/// Why a text is at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// It is not.
    NotStopped,
    /// It has as many tokens as it may have.
    MaxTokensTotal,
    /// Never given; it is here because llguidance has it.
    MaxTokensParser,
    /// The text is whole, and nothing can follow but its end.
    NoExtension,
    /// Never given; it is here because llguidance has it.
    NoExtensionBias,
    /// A token that ends the text was accepted.
    EndOfSentence,
    /// The grammar or a token was refused.
    InternalError,
    /// Never given; it is here because llguidance has it.
    LexerTooComplex,
    /// A limit was reached.
    ParserTooComplex,
    /// Never given; it is here because llguidance has it.
    Cancelled,
}

impl StopReason {
    /// Whether the text is as the grammar wants it, so far.
    pub fn is_ok(&self) -> bool {
        matches!(self, Self::NotStopped | Self::EndOfSentence | Self::NoExtension | Self::NoExtensionBias)
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}
