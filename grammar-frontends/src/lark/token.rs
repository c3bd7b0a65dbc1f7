//! The lexer.
//!
//! Strings, regular expressions and special tokens are cut out whole, with their escapes still in them. A line
//! break matters only as the place where a statement may end, so that a token knows whether it is the first of its
//! line. The JSON after a directive is read by a JSON parser, as one token.

use grammask_grammar_ir::Span;
use logos::Logos;

use super::fault::Fault;
use crate::json::{self, JsonError, JsonValue};

/// The kinds of tokens. Names and literals are found in the source by their spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Logos)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip("(#|//)[^\n]*", allow_greedy = true))]
pub(super) enum Sort {
    #[token(":")]
    Colon,
    /// Before the number that a rule carries.
    #[token("::")]
    Colons,
    #[token("|")]
    Bar,
    #[token("&")]
    And,
    #[token("~")]
    Tilde,
    #[token("(")]
    OpenGroup,
    #[token(")")]
    CloseGroup,
    #[token("[")]
    OpenOption,
    #[token("]")]
    CloseOption,
    #[token("{")]
    OpenRange,
    #[token("}")]
    CloseRange,
    #[token(",")]
    Comma,
    #[token("=")]
    Equals,
    #[token("?")]
    Question,
    #[token("*")]
    Star,
    #[token("+")]
    Plus,
    #[token("!")]
    Bang,
    #[token(".")]
    Dot,
    #[token("..")]
    Dots,
    #[token("->")]
    Arrow,
    /// Digits.
    #[regex("[0-9]+")]
    Integer,
    /// `0x` and digits.
    #[regex("0[xX][0-9a-fA-F]+")]
    Hexadecimal,
    /// Digits with a fraction, an exponent or both.
    #[regex(r"[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?")]
    #[regex("[0-9]+[eE][+-]?[0-9]+")]
    Decimal,
    /// The name of a rule or of a terminal.
    #[regex("[A-Za-z_][A-Za-z0-9_-]*")]
    Name,
    /// `@name`.
    #[regex("@[A-Za-z_][A-Za-z0-9_-]*")]
    Named,
    /// `%word`.
    #[regex("%[a-z_]+")]
    Directive,
    /// A string with its quotes and the letter after them.
    #[regex(r#""([^"\\\n]|\\[^\n])*"i?"#)]
    String,
    /// A regular expression with its slashes and the letters after them.
    #[regex(r"/([^/\\\n*]|\\[^\n])([^/\\\n]|\\[^\n])*/[a-z]*")]
    Regex,
    /// `<name>`, `<[ids]>`.
    #[regex(r"<[^<>\n \t]+>")]
    #[regex(r"<\[[^<>\n\]]*\]>", priority = 20)]
    Special,
    /// The JSON value after a directive: its place among the values.
    Json(u32),
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct LarkToken {
    pub(super) sort: Sort,
    pub(super) span: Span,
    /// Whether it is the first of its line.
    pub(super) starts_line: bool,
}

/// The source, cut into tokens.
#[derive(Debug, Default)]
pub(super) struct LexedSource {
    pub(super) all: Vec<LarkToken>,
    /// The JSON values, in the order of the source.
    pub(super) values: Vec<JsonValue>,
}

/// Cuts a source into at most `limit` tokens.
pub(super) fn lex(source: &str, limit: usize) -> Result<LexedSource, Fault> {
    let mut tokens = LexedSource::default();
    let mut lexer = Sort::lexer(source);
    let mut last_end = 0;
    while let Some(sort) = lexer.next() {
        let range = lexer.span();
        let starts_line = last_end == 0 || source[last_end..range.start].contains('\n');
        let sort = sort.map_err(|()| unknown(source, range.start))?;
        if tokens.all.len() >= limit {
            return Err(Fault::limit(
                format!("the grammar has more than {limit} names, literals and signs"),
                "shorten it or raise the limit `tokens`",
            ));
        }
        let span = Span::new(range.start, range.end);
        tokens.all.push(LarkToken { sort, span, starts_line });
        last_end = range.end;
        if sort == Sort::Directive && takes_json(&source[range.clone()]) && opens_json(lexer.remainder()) {
            let read = read_json(source, range.end, &mut tokens)?;
            lexer.bump(read - range.end);
            last_end = read;
        }
    }
    Ok(tokens)
}

/// Whether a JSON value follows the directive.
fn takes_json(directive: &str) -> bool {
    matches!(directive, "%json" | "%regex" | "%grammar_options" | "%llguidance" | "%structural_tag")
}

/// Whether what follows can be a JSON value, so that a missing one is reported as that.
fn opens_json(rest: &str) -> bool {
    rest.trim_start().starts_with(['{', '[', 't', 'f', '"'])
}

/// Reads the JSON value after `start`, and says where it ends.
fn read_json(source: &str, start: usize, tokens: &mut LexedSource) -> Result<usize, Fault> {
    let rest = &source[start..];
    let begin = start + (rest.len() - rest.trim_start().len());
    if begin == source.len() {
        return Ok(start);
    }
    let (value, length) =
        json::parse_prefix(&source[begin..]).map_err(|error| json_fault(source, begin, &error))?;
    let end = begin + length;
    let index = u32::try_from(tokens.values.len()).unwrap_or(u32::MAX);
    tokens.values.push(value);
    tokens.all.push(LarkToken { sort: Sort::Json(index), span: Span::new(begin, end), starts_line: false });
    Ok(end)
}

/// Where the JSON is broken.
fn json_fault(source: &str, begin: usize, error: &JsonError) -> Fault {
    let (at, reason) = (begin + error.offset(), error.reason());
    Fault::new(
        "lark/json",
        format!("the JSON is broken: {reason}"),
        "correct the JSON behind the directive",
        one_character(source, at),
    )
}

/// The error where no token begins.
fn unknown(source: &str, at: usize) -> Fault {
    let rest = &source[at..];
    let line = rest.lines().next().unwrap_or_default();
    let span = Span::new(at, at + line.len());
    match rest.chars().next() {
        Some('"') => Fault::new(
            "lark/unclosed",
            "the string is not closed",
            "close it with `\"`; write a line break as `\\n`",
            span,
        ),
        Some('/') => Fault::new(
            "lark/unclosed",
            "the regular expression is not closed",
            "close it with `/`; a `/` inside is written `\\/`",
            span,
        ),
        Some('\'') => Fault::new(
            "lark/syntax",
            "texts stand in double quotes",
            "write `\"...\"`",
            one_character(source, at),
        ),
        Some('<') => Fault::new(
            "lark/syntax",
            "`<` begins a special token, which is not closed",
            "write `<name>` or `<[id,id-id]>`, without blanks in the name",
            one_character(source, at),
        ),
        _ => Fault::new(
            "lark/syntax",
            "nothing begins with this character",
            "remove it, or put it in quotes",
            one_character(source, at),
        ),
    }
}

fn one_character(source: &str, at: usize) -> Span {
    let at = (0..=at.min(source.len())).rev().find(|&at| source.is_char_boundary(at)).unwrap_or(0);
    let length = source[at..].chars().next().map_or(0, char::len_utf8);
    Span::new(at, at + length)
}
